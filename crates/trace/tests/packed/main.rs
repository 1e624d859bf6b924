//! A capture in every form that the recorder leaves it in: folder of raw pages, stream, packed file, cut ones, hostile
//! ones. All must give the events of the trace.dat that the same pages make.

mod capture;
mod forms;
mod hostile;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock};
use trace::{Batch, Error, Event, Quality, Recording};

/// Says on the terminal that a test did not run, past the test runner's capture.
fn skip(why: &str) {
    let thread = std::thread::current();
    let _ = writeln!(std::io::stderr(), "SKIPPED in {}: {why}", thread.name().unwrap_or("a test"));
}

/// A folder for temporary files that only one test at a time uses, so that it can look whether all are gone.
struct Temp(PathBuf, #[allow(dead_code)] MutexGuard<'static, ()>);

impl Temp {
    fn new() -> Temp {
        // Nobody drops what is static: so it lies where the next run finds it.
        static FOLDER: OnceLock<PathBuf> = OnceLock::new();
        static ONE: Mutex<()> = Mutex::new(());
        let held = ONE.lock().unwrap_or_else(|e| e.into_inner());
        let folder = FOLDER.get_or_init(|| {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packed");
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(folder.join("tmp")).unwrap();
            std::env::set_var("TMPDIR", folder.join("tmp"));
            folder
        });
        Temp(folder.join("tmp"), held)
    }

    /// Whether nothing is left in it, nor beside it.
    #[track_caller]
    fn assert_empty(&self) {
        let list = |p: &Path| std::fs::read_dir(p).unwrap().flatten().map(|e| e.path()).collect::<Vec<_>>();
        assert_eq!(list(&self.0), Vec::<PathBuf>::new(), "left behind");
        assert_eq!(list(self.0.parent().unwrap()), std::slice::from_ref(&self.0), "written outside");
    }
}

/// What a recording gave.
#[derive(Debug)]
struct Read {
    events: Vec<Event>,
    quality: Quality,
}

fn read(mut recording: Recording) -> Result<Read, Error> {
    let (mut batch, mut events) = (Batch::default(), Vec::new());
    while recording.source.fill(&mut batch)? {
        events.append(&mut batch.events);
    }
    Ok(Read { events, quality: recording.source.quality() })
}

fn open(path: &Path) -> Result<Read, Error> {
    read(trace::open(path)?)
}
