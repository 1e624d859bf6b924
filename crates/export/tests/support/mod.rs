//! Recordings of the repository, as tests of exports read them.
#![allow(dead_code)]

use export::DeviceNames;
use life::{Bio, IoObserver, Names, Request};
use operation::{Account, Follow, History, Operation, OperationObserver, Outside};
use std::path::{Path, PathBuf};
use trace::Batch;

/// A bundled recording.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

/// Gives all of its batches.
pub fn read(path: &Path, mut take: impl FnMut(&Batch)) {
    let mut recording = trace::open(path).expect("a recording");
    let mut batch = Batch::default();
    while recording.source.fill(&mut batch).expect("events") {
        take(&batch);
    }
}

/// Devices by number.
pub fn by_number() -> DeviceNames {
    Box::new(|dev| dev.to_string())
}

/// All lives and operations, kept.
#[derive(Default)]
pub struct All {
    pub requests: Vec<(Request, String)>,
    pub bios: Vec<(Bio, String)>,
    pub operations: Vec<(Operation, Account)>,
}

impl All {
    pub fn of(path: &Path) -> All {
        let (mut follow, mut all) = (Follow::default(), All::default());
        read(path, |batch| follow.feed(batch, &mut all));
        all
    }
}

impl IoObserver for All {
    fn request(&mut self, r: &Request, names: &Names) {
        self.requests.push((*r, names.text(r.task).into()));
    }
    fn bio(&mut self, b: &Bio, names: &Names) {
        self.bios.push((b.clone(), names.text(b.task).into()));
    }
}

impl OperationObserver for All {
    fn operation(&mut self, o: &Operation, account: Account, _: &Names, _: &History) {
        self.operations.push((*o, account));
    }
    fn outside(&mut self, _: &Outside) {}
}
