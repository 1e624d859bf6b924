//! The page with the pictures: made for `report --html` and for `view`.

use super::explain::explain_with;
use crate::failure::Failure;
use crate::part::Part;
use crate::reading;
use life::{Bio, ByClass, Names, Request, Sink};
use operation::{Account, Follow, History, Operation, Over};
use report::html::Shown;
use report::{Slowest, Wanted};
use stats::Pictures;
use std::ffi::OsStr;
use std::path::Path;
use trace::{Batch, DevId, Nanos};

/// Requests that are shown event by event.
const WITH_EVENTS: usize = 24;

/// Makes the page and writes it to a file.
pub fn write(captures: &[&OsStr], part: Part, file: &Path) -> Result<(), Failure> {
    let page = page(captures, part)?;
    std::fs::write(file, page).map_err(Failure::write(&file.display().to_string()))
}

/// The page of some recordings, each a path or LABEL=PATH.
pub fn page(captures: &[&OsStr], part: Part) -> Result<String, Failure> {
    let shown = captures.iter().map(|c| show(c, part)).collect::<Result<Vec<_>, _>>()?;
    Ok(report::html::html(&shown))
}

/// Reads one recording; a second time for the events of its slowest requests, unless it is a pipe.
fn show(capture: &OsStr, part: Part) -> Result<Shown, Failure> {
    let (label, path) = labelled(capture);
    let wanted = Wanted { op: None, task: None, number: WITH_EVENTS };
    let mut follow = Follow::default();
    let mut found = Found {
        pictures: Pictures::default(),
        slowest: Slowest::new(wanted, vec![], evidence::System::default()),
    };
    let explanation = explain_with(path, part, |batch: &Batch| follow.feed(batch, &mut found))?;
    let Found { pictures, mut slowest } = found;
    slowest.chosen();
    if path != Path::new("-") {
        let again = part.of(reading::open(path)?);
        reading::read(again, path, |batch: &Batch| slowest.gather(batch))?;
    }
    Ok(Shown { label, explanation, pictures, events: slowest.json() })
}

/// `before=A` is the recording A, called before. What exists as it stands is a path.
fn labelled(capture: &OsStr) -> (String, &Path) {
    let path = Path::new(capture);
    match capture.to_str().and_then(|c| c.split_once('=')) {
        Some((label, rest)) if !label.is_empty() && !rest.is_empty() && !path.exists() => {
            (label.to_string(), Path::new(rest))
        }
        _ => (capture.to_string_lossy().into_owned(), path),
    }
}

/// Told of everything that is over.
struct Found {
    pictures: Pictures,
    slowest: Slowest,
}

impl Sink for Found {
    fn request(&mut self, request: &Request, names: &Names) {
        self.pictures.request(request, names);
        self.slowest.request(request, names);
    }

    fn bio(&mut self, bio: &Bio, names: &Names) {
        self.pictures.bio(bio, names);
    }

    fn in_flight(&mut self, dev: DevId, now: Nanos, in_flight: &ByClass<u32>) {
        self.pictures.in_flight(dev, now, in_flight);
    }
}

impl Over for Found {
    fn operation(&mut self, o: &Operation, account: Account, names: &Names, history: &History) {
        self.pictures.operation(o, account, names, history);
    }
}
