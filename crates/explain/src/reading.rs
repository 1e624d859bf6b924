//! Reads a recording with two threads: one reads and decodes, the caller's thread processes the batches.
//!
//! Batches circulate: the reader fills them, the caller's thread empties and returns them. Their number bounds the memory and lets the
//! reader run slightly ahead. A thread that would have to wait for the other counts tapes meanwhile.

use crate::counting::{lock, Counting};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::progress::{Progress, Waiting};
use crate::stream::Stream;
use stats::{Flow, Served, Tape};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{channel, sync_channel, Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use trace::{Batch, Quality, Recording, Source};

/// Number of batches in circulation: 6 of 360 KB each; 1.4 MB each for a long recording.
const BATCHES: usize = 6;
/// Interval between checks for an interrupt while no input arrives.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long an interrupted pipe is read until it ends; standard input ends earlier (see `stream`).
const ENDS: Duration = Duration::from_secs(3);

/// Opens a recording. `start`: the bytes that were already read from standard input.
///
/// The stream of a recorder is read to its end here. Ctrl-C then goes to both programs of the pipe: it ends the recording, and what was
/// recorded can still be explained. A second Ctrl-C also ends this program.
pub(crate) fn open(path: &Path, start: Vec<u8>) -> Result<Recording> {
    let is_stream = path == Path::new("-");
    let is_open = Arc::new(AtomicBool::new(false));
    let interrupt = is_stream.then(Interrupt::catch);
    let waiting = Waiting::begin(path);
    let recording = match is_stream {
        true => {
            let stream = Stream::of(io::stdin(), is_open.clone());
            trace::open_standard_input(Box::new(io::Cursor::new(start).chain(stream)))
        }
        false => trace::open(path),
    };
    waiting.end();
    is_open.store(true, Ordering::Relaxed);
    if let Some(interrupt) = interrupt {
        interrupt.forget();
    }
    Ok(recording?)
}

/// State that the two threads share.
#[derive(Default)]
struct Shared {
    position: AtomicU64,
    flow: Mutex<Option<Flow>>,
    /// Of a pipe, whose reading may be interrupted: what was lost or not understood so far. `None` for files.
    quality: Option<Mutex<Quality>>,
    counting: Counting,
}

/// The result of reading and the quality of the recording.
type Ended = (std::result::Result<(), trace::Error>, Quality);

/// A recording that another thread reads: it fills batches until all are full.
pub(crate) struct Reading<'p> {
    shared: Arc<Shared>,
    filled: Receiver<Batch>,
    empty: Sender<Batch>,
    done: Receiver<Ended>,
    interrupt: Interrupt,
    /// The input's size in bytes; `None` for a pipe.
    size: Option<u64>,
    path: &'p Path,
}

impl Reading<'_> {
    /// Begins to read; the thread passes each batch to `flow`, if there is one.
    pub fn begin(recording: Recording, path: &Path, flow: Option<Flow>) -> Reading<'_> {
        let interrupt = Interrupt::catch();
        let size = recording.source.size();
        let quality = size.is_none().then(Mutex::default);
        let shared = Arc::new(Shared { flow: Mutex::new(flow), quality, ..Shared::default() });
        let (filled_tx, filled) = sync_channel::<Batch>(BATCHES);
        let (empty, empty_rx) = channel::<Batch>();
        for _ in 0..BATCHES {
            let _ = empty.send(Batch::default());
        }
        let (done_tx, done) = channel();
        let theirs = shared.clone();
        std::thread::spawn(move || fill(recording.source, &theirs, &empty_rx, filled_tx, &done_tx));
        Reading { shared, filled, empty, done, interrupt, size, path }
    }

    /// Reads to the end and passes each batch to `take`, which may stop the reading and whose tape is counted into `served`. An interrupt
    /// ends a pipe early, with what was read so far; it ends a file with an error.
    pub fn all(
        self,
        served: &mut Served,
        take: &mut dyn FnMut(&Batch, &mut Tape) -> ControlFlow<()>,
    ) -> Result<(Quality, Option<Flow>)> {
        let Reading { shared, filled, empty, done, interrupt, size, path } = self;
        shared.counting.begin(served);
        let (mut taken, mut tape) = (0, Tape::default());
        let mut interrupted: Option<Instant> = None;
        let mut progress = Progress::new(size, path);
        loop {
            match next(&filled, &shared.counting) {
                Ok(batch) => {
                    let goes_on = take(&batch, &mut tape).is_continue();
                    shared.counting.hand_over(&mut tape);
                    taken += batch.events.len() as u64;
                    let _ = empty.send(batch);
                    progress.at(shared.position.load(Ordering::Relaxed));
                    if !goes_on {
                        return Ok((Quality::default(), None));
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if interrupt.came() {
                if size.is_some() {
                    return Err(Error::Interrupted);
                }
                if interrupted.is_none() {
                    let _ = writeln!(io::stderr(), "iowhy: interrupted; what was read so far is explained");
                }
                if interrupted.get_or_insert_with(Instant::now).elapsed() > ENDS {
                    let so_far = shared.quality.as_ref().map(|quality| lock(quality).clone());
                    let mut quality = Quality { events: taken, ..so_far.unwrap_or_default() };
                    quality.note("reading was interrupted".into());
                    shared.counting.end(served);
                    return Ok((quality, lock(&shared.flow).take()));
                }
            }
        }
        progress.end();
        let (outcome, mut quality) =
            done.recv().map_err(|_| Error::new("the reading thread died", "this is a bug in iowhy"))?;
        outcome?;
        if interrupted.is_some() {
            quality.note("reading was interrupted".into());
        }
        shared.counting.end(served);
        let flow = lock(&shared.flow).take();
        Ok((quality, flow))
    }
}

/// The next batch; counts tapes until there is one.
fn next(filled: &Receiver<Batch>, counting: &Counting) -> std::result::Result<Batch, RecvTimeoutError> {
    loop {
        match filled.try_recv() {
            Ok(batch) => return Ok(batch),
            Err(TryRecvError::Empty) if counting.count() => {}
            Err(_) => return filled.recv_timeout(PATIENCE),
        }
    }
}

/// The reading thread: fills empty batches until the source ends or the other thread stops; counts tapes while there is no empty batch.
fn fill(
    mut source: Box<dyn Source>,
    shared: &Shared,
    empty: &Receiver<Batch>,
    filled: SyncSender<Batch>,
    done: &Sender<Ended>,
) {
    let mut so_far = 0;
    let outcome = loop {
        let mut batch = match empty.try_recv() {
            Ok(batch) => batch,
            Err(TryRecvError::Empty) if shared.counting.count() => continue,
            Err(_) => match empty.recv() {
                Ok(batch) => batch,
                Err(_) => break Ok(()),
            },
        };
        batch.grow(so_far);
        match source.fill(&mut batch) {
            Ok(true) => {
                so_far += batch.events.len() as u64;
                if let Some(flow) = lock(&shared.flow).as_mut() {
                    flow.feed(&batch);
                }
                if let Some(quality) = &shared.quality {
                    *lock(quality) = source.quality();
                }
                shared.position.store(source.position(), Ordering::Relaxed);
                if filled.send(batch).is_err() {
                    break Ok(());
                }
            }
            Ok(false) => break Ok(()),
            Err(e) => break Err(e),
        }
    };
    let _ = done.send((outcome, source.quality()));
    drop(filled);
    while empty.recv().is_ok() {
        shared.counting.count();
    }
}
