//! Texts of other tools that belong to an input: those that were named, and those in the recording's folder, which another thread reads.

use super::{in_folder, shorten_names};
use std::path::PathBuf;
use std::thread::{spawn, JoinHandle};
use tooltext::ToolOutput;

/// Texts, some of which may still be read.
#[derive(Default)]
pub(crate) struct Opened {
    named: Vec<ToolOutput>,
    beside: Option<JoinHandle<Vec<ToolOutput>>>,
}

impl Opened {
    /// Texts that were named, and the folder of the recording, if there is one. Settings in it belong to the recorded machine and are read with
    /// the recording.
    pub fn new(named: Vec<ToolOutput>, folder: Option<PathBuf>) -> Opened {
        let read =
            |folder: PathBuf| in_folder(&folder).into_iter().filter(ToolOutput::has_readings).collect();
        Opened { named, beside: folder.map(|folder| spawn(move || read(folder))) }
    }

    /// Number of texts that were named.
    pub fn named(&self) -> usize {
        self.named.len()
    }

    /// All texts, those that were named first; waits until they are read.
    pub fn all(self) -> Vec<ToolOutput> {
        let mut all = self.named;
        match self.beside.map(JoinHandle::join) {
            Some(Ok(beside)) => all.extend(beside),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => {}
        }
        shorten_names(&mut all);
        all
    }
}
