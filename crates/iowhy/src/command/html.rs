//! The page with the pictures: made for `report --html` and for `view`.

use super::explain::explain_with;
use crate::failure::Failure;
use crate::part::Part;
use crate::reading;
use operation::Follow;
use report::html::{Events, Shown};
use stats::Pictures;
use std::ffi::OsStr;
use std::path::Path;
use trace::Batch;

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
    let (mut follow, mut pictures) = (Follow::default(), Pictures::default());
    let explanation = explain_with(path, part, |batch: &Batch| follow.feed(batch, &mut pictures))?;
    let mut events = Events::of_slowest(&pictures);
    if path != Path::new("-") {
        let again = part.of(reading::open(path)?);
        reading::read(again, path, |batch: &Batch| events.gather(batch))?;
    }
    Ok(Shown { label, explanation, pictures, events })
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
