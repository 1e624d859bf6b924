//! The events of an unpacked recording, with what was odd about the packing among its notes.

use crate::error::Error;
use crate::event::Batch;
use crate::quality::Quality;
use crate::source::Source;
use std::path::{Path, PathBuf};

/// A source whose files lie in a temporary folder. What it says names the packed file instead: the folder will be gone
/// when it is read.
pub struct Unpacked {
    inner: Box<dyn Source>,
    notes: Vec<String>,
    folder: PathBuf,
    name: PathBuf,
}

impl Unpacked {
    /// `folder` is where it lies, `name` what the user calls it.
    pub fn new(inner: Box<dyn Source>, notes: Vec<String>, folder: &Path, name: &Path) -> Unpacked {
        Unpacked { inner, notes, folder: folder.into(), name: name.into() }
    }
}

impl Source for Unpacked {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        self.inner.fill(batch).map_err(|e| e.renamed(&self.folder, &self.name))
    }

    fn position(&self) -> u64 {
        self.inner.position()
    }

    fn size(&self) -> Option<u64> {
        self.inner.size()
    }

    fn quality(&self) -> Quality {
        let mut quality = self.inner.quality();
        let (folder, name) = (self.folder.display().to_string(), self.name.display().to_string());
        let said = std::mem::take(&mut quality.notes);
        let renamed = said.into_iter().map(|note| note.replace(&folder, &name));
        self.notes.iter().cloned().chain(renamed).for_each(|note| quality.note(note));
        quality
    }
}
