//! The input of a command: a recording, texts of other tools, or both; opened once.
//!
//! The recording stays open. The bytes that were read from standard input to detect its type are kept with it. Options (a window, a
//! filter, pictures, an observer of each batch) are set before it is read.

mod judged;

use crate::beginning::Beginning;
use crate::error::{Error, Result};
use crate::places::Places;
use crate::reading::{self, Reading};
use crate::texts::{self, Opened, Sorted};
use crate::which::Which;
use events::Window;
use evidence::{Samples, System};
use operation::{Asking, Follow, Scope};
use stats::{Analysis, Pictures, Served, Tape};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use trace::{Batch, DevId, Place, Quality, Recording};
use waits::Those;

/// An observer of each batch.
type OnBatch<'a> = Box<dyn FnMut(&Batch) + 'a>;

/// An opened input with its options.
#[derive(Default)]
pub struct Input<'a> {
    /// The recording and its path as given; `None` if there are only texts.
    recording: Option<(Recording, PathBuf)>,
    texts: Opened,
    window: Option<Window>,
    analysis: Analysis,
    pictures: Option<&'a mut Pictures>,
    also: Option<OnBatch<'a>>,
    predicts: bool,
    asking: Asking,
    which: Which,
}

impl<'a> Input<'a> {
    /// Opens a recording, texts of other tools or a folder of texts, or a recording and texts; `-` is standard input.
    pub fn open(paths: &[PathBuf]) -> Result<Input<'a>> {
        let Sorted { recording, start, outputs } = texts::sort(paths)?;
        let texts = Opened::new(outputs, recording.clone().filter(|path| path.is_dir()));
        let recording = match recording {
            Some(path) => {
                let recording = reading::open(&path, start).map_err(|e| known_shape(e, &path))?;
                Some((recording, path))
            }
            None => None,
        };
        Ok(Input { recording, texts, ..Input::default() })
    }

    /// Opens a recording without texts; `-` is standard input.
    pub fn recording(path: &Path) -> Result<Input<'a>> {
        let recording = reading::open(path, Vec::new()).map_err(|e| text_of(path, &e).unwrap_or(e))?;
        Ok(Input { recording: Some((recording, path.to_owned())), ..Input::default() })
    }

    /// Reads only this part of the recording; `None` reads all of it.
    pub fn window(mut self, window: Option<Window>) -> Input<'a> {
        let Some(Window { start, end }) = window else { return self };
        self.window = window;
        self.recording = self.recording.map(|(recording, path)| {
            let source = Box::new(trace::Part::new(recording.source, &path, start, end));
            (Recording { source, ..recording }, path)
        });
        self
    }

    /// Keeps latencies in their order, as a comparison needs them.
    pub fn in_order(self) -> Input<'a> {
        Input { analysis: Analysis::in_order(), ..self }
    }

    /// Fills `pictures` in the same pass.
    pub fn pictures(self, pictures: &'a mut Pictures) -> Input<'a> {
        Input { pictures: Some(pictures), ..self }
    }

    /// Gives each batch to `also`, too.
    pub fn also(self, also: impl FnMut(&Batch) + 'a) -> Input<'a> {
        Input { also: Some(Box::new(also)), ..self }
    }

    /// Predicts the effects of remedies; this reads the recording once more.
    pub fn predict(self, predicts: bool) -> Input<'a> {
        Input { predicts, ..self }
    }

    /// Sets a filter for victims.
    pub fn asks(self, asking: Asking) -> Input<'a> {
        Input { asking, ..self }
    }

    /// Selects all operations or the slowest.
    pub fn which(self, which: Which) -> Input<'a> {
        Input { which, ..self }
    }

    /// Tracks what would be without these tasks.
    pub fn without(mut self, those: Those) -> Input<'a> {
        self.analysis.follows(those);
        self
    }

    /// The filter, resolved with the recording's names; `None` if it selects everything.
    pub fn scope(&self) -> Option<Scope> {
        // Names are read from all files beside the recording; without a filter they are not needed.
        if self.asking.is_all() {
            return None;
        }
        Scope::of(self.asking.clone(), Box::new(self.places()))
    }

    /// The recording's format, as `explain` names it; empty if there is no recording.
    pub fn format(&self) -> &'static str {
        self.recording.as_ref().map_or("", |(recording, _)| recording.format)
    }

    /// Device names that are derived from the recording's file names.
    pub fn names(&self) -> Vec<(DevId, String)> {
        self.recording.as_ref().map(|(recording, _)| recording.names.clone()).unwrap_or_default()
    }

    /// The recording's location, from which it can be opened again; `None` for a pipe.
    pub fn place(&self) -> Option<Place> {
        self.recording.as_ref()?.0.place.clone()
    }

    /// Names of the recording's devices: from its file names and from the settings beside it.
    pub fn places(&self) -> Places {
        let Some((recording, _)) = &self.recording else { return Places::default() };
        let system = recording.place.as_deref().map(System::read).unwrap_or_default();
        Places { names: recording.names.clone(), system, ..Places::default() }
    }

    /// A tracker of operations that starts from the files beside the recording (open files, processes, mounts) and what its first part shows,
    /// limited to `scope`.
    pub fn follow(&self, scope: Option<Scope>) -> Follow {
        let mut follow = Follow::default();
        let place = self.place();
        let samples =
            place.as_deref().and_then(|place| Samples::read(place).ok().flatten()).unwrap_or_default();
        let again = self.recording.as_ref().and_then(|(recording, _)| recording.source.again());
        let system = self.places().system;
        let beginning = Beginning::of(place.as_deref(), again, &system, &samples, self.window);
        beginning.tell(&mut follow);
        follow.asks(scope);
        follow
    }

    /// Reads the recording and passes each batch to `take`.
    pub fn read(self, mut take: impl FnMut(&Batch)) -> Result<Quality> {
        self.read_while(|batch| {
            take(batch);
            Ok(())
        })
    }

    /// Like [`Input::read`], but stops at the first batch for which `take` fails, as when no more output is wanted.
    pub fn read_while<E: From<crate::error::Error>>(
        self,
        mut take: impl FnMut(&Batch) -> std::result::Result<(), E>,
    ) -> std::result::Result<Quality, E> {
        let Some((recording, path)) = self.recording else { return Ok(Quality::default()) };
        let mut failed = None;
        let mut give = |batch: &Batch, _: &mut Tape| match take(batch) {
            Ok(()) => ControlFlow::Continue(()),
            Err(e) => {
                failed = Some(e);
                ControlFlow::Break(())
            }
        };
        let (quality, _) = Reading::begin(recording, &path, None).all(&mut Served::default(), &mut give)?;
        failed.map_or(Ok(quality), Err)
    }
}

/// The error for a text of another tool in place of a recording.
fn text_of(path: &Path, error: &Error) -> Option<Error> {
    let unknown = matches!(error, Error::Trace(e) if e.is_unrecognised());
    let output = unknown.then(|| texts::read(path)).flatten()?;
    let tools = match texts::tools(std::slice::from_ref(&output))[..] {
        [] => "settings".to_string(),
        ref tools => format!("text of {}", tools.join(", ")),
    };
    let file = path.display();
    Some(Error::new(
        format!("{file}: {tools}, which has no single I/Os; a recording is needed here"),
        format!("what the text shows: iowhy explain {file}; what changed: iowhy compare BEFORE AFTER"),
    ))
}

/// Replaces the error for an unrecognised file by one that says what the file looks like.
fn known_shape(error: Error, path: &Path) -> Error {
    let unknown = matches!(&error, Error::Trace(e) if e.is_unrecognised());
    let no_trace = matches!(&error, Error::Trace(trace::Error::NotATrace { .. }));
    let known = || texts::unrecognised(path).or_else(|| texts::nothing_in(path));
    let file = (unknown && path.is_file()).then(known).flatten();
    file.or_else(|| texts::ctf_folder(path).filter(|_| no_trace)).unwrap_or(error)
}
