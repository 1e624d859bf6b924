//! What tools save for programs: JSON and logs. A file of it is a whole document, where a [mail](crate::Mail) has parts
//! of many; the numbers come out under the same names as from the tool's text.

mod fio_json;
pub(crate) mod fio_log;
mod iostat_json;
mod json;

use crate::mail::reading::Reading;
use crate::mail::Mail;
use json::Document;

/// Reads a text that is JSON of a tool, or has such JSON after other words, as fio's warnings stand before it.
pub(crate) fn read(file: &str, text: &str) -> Option<Mail> {
    let start = match text.trim_start().starts_with('{') {
        true => text.find('{')?,
        false => text.find("\n{")? + 1,
    };
    let document = Document::new(text);
    let mut mail = Mail { file: file.to_owned(), ..Mail::default() };
    let (mut end, mut any) = (start, false);
    for value in document.values(start) {
        let Some(value) = value else {
            // Cut off, or words behind it.
            break;
        };
        let runs = fio_json::runs(&document, value).or_else(|| iostat_json::runs(&document, value))?;
        any = true;
        end = document.end_of(value);
        mail.runs.extend(runs);
        mail.machines.extend(iostat_json::machines(&document, value));
    }
    let left =
        |part: &str| part.split_whitespace().filter(|w| w.starts_with(|c: char| c.is_ascii_digit())).count();
    mail.left_out = left(&text[..start]) + left(&text[end..]);
    mail.first_left_out =
        (mail.left_out > 0).then(|| document.spot(if left(&text[..start]) > 0 { 0 } else { end }));
    mail.words = text.split_whitespace().count();
    mail.understood = text[start..end].split_whitespace().count();
    any.then_some(mail)
}

/// A run of readings, if there are any.
fn run(label: String, readings: Vec<Reading>) -> Option<crate::Run> {
    let at = readings.first()?.at;
    Some(crate::Run { label, at, readings, ..crate::Run::default() })
}
