//! The source of an unpacked recording; its notes include those about unpacking.

use crate::error::Error;
use crate::event::Batch;
use crate::quality::Quality;
use crate::source::Source;
use std::path::{Path, PathBuf};

/// A source whose files are in a temporary folder. Its messages name the packed file instead, since the folder is gone
/// when they are read.
pub struct Unpacked {
    inner: Box<dyn Source>,
    notes: Vec<String>,
    folder: PathBuf,
    name: PathBuf,
}

impl Unpacked {
    /// `folder` is the temporary folder, `name` the path that the user gave.
    pub fn new(inner: Box<dyn Source>, notes: Vec<String>, folder: &Path, name: &Path) -> Unpacked {
        Unpacked { inner, notes, folder: folder.into(), name: name.into() }
    }
}

impl Source for Unpacked {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        self.inner.fill(batch).map_err(|e| e.renamed(&self.folder, &self.name))
    }

    fn again(&self) -> Option<Box<dyn Source>> {
        self.inner.again()
    }

    fn without_symbols(&mut self) {
        self.inner.without_symbols();
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
