//! The page with the pictures: made for `report --html` and for `view`.

use super::explain::explain_feeding;
use crate::failure::Failure;
use crate::part::Part;
use crate::reading;
use report::html::{Events, Shown};
use report::Explanation;
use stats::{Analysis, Pictures};
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
    // Only a comparison asks for latencies in their order.
    let analysis = || if captures.len() > 1 { Analysis::in_order() } else { Analysis::default() };
    let shown = captures.iter().map(|c| show(analysis(), c, part)).collect::<Result<Vec<_>, _>>()?;
    Ok(report::html::html(&shown))
}

/// Reads one recording; a second time for the events of its slowest, unless it is a pipe.
fn show(analysis: Analysis, capture: &OsStr, part: Part) -> Result<Shown, Failure> {
    let (label, path) = labelled(capture);
    let (explanation, pictures) = pictured(analysis, path, part)?;
    let mut events = Events::of_slowest(&explanation, &pictures);
    if path != Path::new("-") {
        let again = part.of(reading::open(path)?);
        reading::read(again, path, |batch: &Batch| events.gather(batch))?;
    }
    Ok(Shown { label, explanation, pictures, events })
}

/// Reads a recording once, for its answer and its pictures.
pub fn pictured(analysis: Analysis, path: &Path, part: Part) -> Result<(Explanation, Pictures), Failure> {
    let mut pictures = Pictures::default();
    let take = |analysis: &mut Analysis, batch: &Batch| analysis.feed_with(batch, &mut pictures);
    let explanation = explain_feeding(analysis, reading::open(path)?, path, part, take)?;
    Ok((explanation, pictures))
}

/// `before=A` is the recording A, called before. What exists as it stands is a path.
pub fn labelled(capture: &OsStr) -> (String, &Path) {
    let path = Path::new(capture);
    match capture.to_str().and_then(|c| c.split_once('=')) {
        Some((label, rest)) if !label.is_empty() && !rest.is_empty() && !path.exists() => {
            (label.to_string(), Path::new(rest))
        }
        _ => (capture.to_string_lossy().into_owned(), path),
    }
}
