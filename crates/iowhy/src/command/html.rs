//! Makes the page with the pictures, for `report --html` and for `view`.

use crate::failure::Failure;
use crate::question::Question;
use crate::stdout::print_as_it_is;
use explain::Explanation;
use report::html::{Events, Shown};
use stats::Pictures;
use std::ffi::OsStr;
use std::path::Path;

/// Makes the page and writes it to a file, or to standard output if that is `-`.
pub fn write(captures: &[&OsStr], question: &Question, file: &Path) -> Result<(), Failure> {
    Failure::unless_it_has_a_folder(file)?;
    let inputs: Vec<&Path> = captures.iter().map(|c| labelled(c).1).collect();
    Failure::unless_it_replaces_a_recording(file, &inputs)?;
    let page = page(captures, question)?;
    if file == Path::new("-") {
        return print_as_it_is(&page);
    }
    std::fs::write(file, page).map_err(Failure::write(&file.display().to_string()))
}

/// The page of some recordings, each given as a path or LABEL=PATH.
pub fn page(captures: &[&OsStr], question: &Question) -> Result<String, Failure> {
    // Latencies are kept in order only for a comparison.
    let in_order = captures.len() > 1;
    let shown = captures.iter().map(|c| show(in_order, c, question)).collect::<Result<Vec<_>, _>>()?;
    Ok(report::html::html(&shown))
}

/// Reads one recording; unless it is a pipe, a second time for the events of its slowest requests and operations.
fn show(in_order: bool, capture: &OsStr, question: &Question) -> Result<Shown, Failure> {
    let (label, path) = labelled(capture);
    let (explanation, pictures) = pictured(in_order, path, question)?;
    let mut events = Events::of_slowest(&explanation, &pictures);
    if path != Path::new("-") {
        question.of_recording(path)?.read(|batch| events.gather(batch))?;
    }
    Ok(Shown { label, explanation, pictures, events })
}

/// Reads a recording once, for its explanation and its pictures.
pub fn pictured(
    in_order: bool,
    path: &Path,
    question: &Question,
) -> Result<(Explanation, Pictures), Failure> {
    let mut pictures = Pictures::default();
    let input = question.of_recording(path)?;
    let input = if in_order { input.in_order() } else { input };
    let explanation = input.pictures(&mut pictures).explain()?;
    Ok((explanation, pictures))
}

/// Splits `before=A` into the label `before` and the path A. If the whole argument exists as a path, it is a path.
pub fn labelled(capture: &OsStr) -> (String, &Path) {
    let path = Path::new(capture);
    match capture.to_str().and_then(|c| c.split_once('=')) {
        Some((label, rest)) if !label.is_empty() && !rest.is_empty() && !path.exists() => {
            (label.to_string(), Path::new(rest))
        }
        _ => (capture.to_string_lossy().into_owned(), path),
    }
}
