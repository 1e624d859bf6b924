//! Assembles the capture after tracing has ended: names, symbols, trace.dat and the other files.

use crate::drain::{Destination, Drained};
use crate::keep::Keep;
use crate::plan::Output;
use crate::recorder::Recorded;
use crate::session::Session;
use crate::symbols::Symbols;
use capture::Head;
use capture::{At, Result};
use capture::{Capture, EndedBy, SystemFile, TraceFiles, CAPTURE_JSON, SYSTEM_JSON};
use std::path::Path;

impl Session<'_> {
    /// Assembles the capture from the drained pages.
    pub fn finish(mut self, mut capture: Capture, mut head: Head, drained: Vec<Drained>) -> Result<Recorded> {
        self.tasks.add_living(&self.host.proc);
        head.tasks = self.tasks.text();
        let streamed = matches!(self.keep, Keep::Stream(_));
        let word = usize::from(head.long_size());
        head.symbols = self.symbols(|s| {
            if streamed {
                return Ok(s.all());
            }
            for d in &drained {
                if let Destination::File(f) = &d.destination {
                    s.look(Reading { file: f, at: 0 }, word)
                        .at("reading", Path::new("the recorded pages"))?;
                }
            }
            Ok(s.used())
        });
        let system = SystemFile::new(self.before.take(), Some(self.snapshot()));
        let folder = match self.keep.assemble(&head, self.cpu_count(), drained) {
            Ok(Some(path)) => {
                capture.trace = TraceFiles::Dat;
                path.parent().map(Path::to_path_buf)
            }
            Ok(None) => None,
            Err(e) if self.most_kept.is_some() => return Err(e),
            Err(e) => {
                self.note(format!("{e}; the trace stays in its raw form, which iowhy reads as well"));
                match &self.plan.output {
                    Output::Folder(dir) => Some(dir.clone()),
                    Output::Stream => return Err(e),
                }
            }
        };
        let written = self.keep.file(SYSTEM_JSON, &system.json(), true);
        capture.notes = std::mem::take(&mut self.notes);
        // A full disk was already reported; the trace matters more than these files.
        let written = written
            .and_then(|()| self.keep.file(CAPTURE_JSON, &capture.json(), true))
            .and_then(|()| self.keep.end());
        match written {
            Err(e) if capture.ended_by != EndedBy::OutputFailed => Err(e),
            _ => Ok(Recorded { folder, capture }),
        }
    }

    /// The symbols that `get` selects; on failure, none and a note.
    pub fn symbols(&mut self, get: impl FnOnce(&mut Symbols) -> Result<Vec<u8>>) -> Vec<u8> {
        match Symbols::read(&self.host.proc.join("kallsyms")).and_then(|mut s| get(&mut s)) {
            Ok(text) => text,
            Err(e) => {
                self.note(format!("stacks will have no names: {e}"));
                Vec::new()
            }
        }
    }
}

/// Reads a file from its start without moving the file's own offset.
struct Reading<'f> {
    file: &'f std::fs::File,
    at: u64,
}

impl std::io::Read for Reading<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = std::os::unix::fs::FileExt::read_at(self.file, buffer, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}
