//! Reading a recording: one thread reads and decodes, this one takes in the batches.
//!
//! Batches go round: filled by the reader, emptied here, handed back. Their number bounds the memory and lets
//! the reader run ahead a little.

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use indicatif::{ProgressBar, ProgressStyle};
use stats::Flow;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{channel, sync_channel, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use trace::{Batch, Quality, Recording, Source};

/// Batches in the round: 6 of 360 KB.
const BATCHES: usize = 6;
/// How often an interrupt is looked for while the input has nothing to say.
const PATIENCE: Duration = Duration::from_millis(100);
/// Reading that is over before this shows no progress bar.
const SHORT: Duration = Duration::from_millis(700);

/// What was read of standard input to see what it is. There is one standard input, so one of this.
static GIVEN_BACK: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Gives back what was read of standard input: [`open`] begins with it.
pub fn give_back(start: Vec<u8>) {
    *lock(&GIVEN_BACK) = start;
}

/// Opens a recording.
///
/// The stream of a recorder is read to its end here. Ctrl-C then goes to both programs of the pipe: it ends the
/// recording, and what was recorded is still to be explained; a second one ends this program too.
pub fn open(path: &Path) -> Result<Recording, Failure> {
    let interrupt = (path == Path::new("-")).then(Interrupt::catch);
    let waiting = Waiting::begin(path);
    let recording = match path == Path::new("-") {
        true => trace::open_standard_input(Box::new(
            io::Cursor::new(std::mem::take(&mut *lock(&GIVEN_BACK))).chain(io::stdin()),
        )),
        false => trace::open(path),
    };
    waiting.end();
    if let Some(interrupt) = interrupt {
        interrupt.forget();
    }
    Ok(recording?)
}

/// Reads everything and gives each batch to `take`.
pub fn read(recording: Recording, path: &Path, mut take: impl FnMut(&Batch)) -> Result<Quality, Failure> {
    read_while(recording, path, |batch| {
        take(batch);
        Ok(())
    })
}

/// As [`read`], but stops at the first batch that `take` fails on, as when nobody wants more output.
pub fn read_while(
    recording: Recording,
    path: &Path,
    mut take: impl FnMut(&Batch) -> Result<(), Failure>,
) -> Result<Quality, Failure> {
    Ok(read_all(recording, path, None, &mut take)?.0)
}

/// As [`read_while`], and the reading thread counts what passes by.
pub fn read_counting(
    recording: Recording,
    path: &Path,
    mut take: impl FnMut(&Batch) -> Result<(), Failure>,
) -> Result<(Quality, Flow), Failure> {
    let (quality, flow) = read_all(recording, path, Some(Flow::default()), &mut take)?;
    Ok((quality, flow.unwrap_or_default()))
}

/// Reads everything. The reading thread gives each batch to `flow` if there is one, this thread gives it to `take`. On an
/// interrupt a pipe ends early, with what it brought; a file ends the command.
fn read_all(
    recording: Recording,
    path: &Path,
    flow: Option<Flow>,
    take: &mut dyn FnMut(&Batch) -> Result<(), Failure>,
) -> Result<(Quality, Option<Flow>), Failure> {
    let interrupt = Interrupt::catch();
    let is_pipe = recording.source.size().is_none();
    let position = Arc::new(AtomicU64::new(0));
    let flow = Arc::new(Mutex::new(flow));
    let mut taken = 0;
    let mut progress = Progress::new(recording.source.size(), path);
    let (filled_tx, filled) = sync_channel::<Batch>(BATCHES);
    let (empty, empty_rx) = channel::<Batch>();
    for _ in 0..BATCHES {
        let _ = empty.send(Batch::default());
    }
    let (done_tx, done) = channel();
    let (reader_position, reader_flow) = (position.clone(), flow.clone());
    std::thread::spawn(move || {
        let mut source: Box<dyn Source> = recording.source;
        let outcome = loop {
            let Ok(mut batch) = empty_rx.recv() else { break Ok(()) };
            match source.fill(&mut batch) {
                Ok(true) => {
                    if let Some(flow) = lock(&reader_flow).as_mut() {
                        flow.feed(&batch);
                    }
                    reader_position.store(source.position(), Ordering::Relaxed);
                    if filled_tx.send(batch).is_err() {
                        break Ok(());
                    }
                }
                Ok(false) => break Ok(()),
                Err(e) => break Err(e),
            }
        };
        let _ = done_tx.send((outcome, source.quality()));
    });
    loop {
        match filled.recv_timeout(PATIENCE) {
            Ok(batch) => {
                take(&batch)?;
                taken += batch.events.len() as u64;
                let _ = empty.send(batch);
                progress.at(position.load(Ordering::Relaxed));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if interrupt.came() {
            if is_pipe {
                eprintln!("iowhy: interrupted; what was read so far is explained");
                let notes = vec!["reading was interrupted".into()];
                let quality = Quality { events: taken, notes, ..Quality::default() };
                return Ok((quality, lock(&flow).take()));
            }
            return Err(Failure::Interrupted);
        }
    }
    progress.end();
    let (outcome, quality) = done.recv().map_err(|_| Failure::Other {
        what: "the reading thread died".into(),
        help: Some("this is a bug in iowhy".into()),
    })?;
    outcome?;
    let flow = lock(&flow).take();
    Ok((quality, flow))
}

/// The state, also where a panic has left it locked: its counts are still counts.
fn lock<S>(state: &Mutex<S>) -> MutexGuard<'_, S> {
    state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A sign of life while a recording is opened: a packed one is unpacked first, a stream read to its end.
struct Waiting {
    over: Sender<()>,
    thread: JoinHandle<()>,
}

impl Waiting {
    fn begin(path: &Path) -> Waiting {
        let words = match path == Path::new("-") {
            true => "reading the stream".to_string(),
            false => format!("opening {}", path.display()),
        };
        let (over, wait) = channel();
        let thread = std::thread::spawn(move || {
            if wait.recv_timeout(SHORT).is_err_and(|e| e == RecvTimeoutError::Timeout) {
                let bar = ProgressBar::new_spinner();
                if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
                    bar.set_style(style);
                }
                bar.set_message(words);
                bar.enable_steady_tick(PATIENCE);
                // Until the other end is dropped.
                let _ = wait.recv();
                bar.finish_and_clear();
            }
        });
        Waiting { over, thread }
    }

    fn end(self) {
        drop(self.over);
        let _ = self.thread.join();
    }
}

/// A bar on standard error, if that is a terminal and reading takes a while.
struct Progress {
    bar: Option<ProgressBar>,
    began: Instant,
    size: Option<u64>,
    name: String,
}

impl Progress {
    fn new(size: Option<u64>, path: &Path) -> Progress {
        Progress { bar: None, began: Instant::now(), size, name: path.display().to_string() }
    }

    fn at(&mut self, position: u64) {
        if self.bar.is_none() && self.began.elapsed() > SHORT {
            let (bar, template) = match self.size {
                Some(size) => {
                    (ProgressBar::new(size), "{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left")
                }
                None => (ProgressBar::new_spinner(), "{msg} {bytes} read, {elapsed}"),
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.set_message(format!("reading {}", self.name));
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(position);
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
