//! Recordings: whatever they are, they are read to their end.

use crate::scratch::{with_file, with_folder};
use crate::seeds::{pages_of_small, PAGE, SMALL};
use explain::Input;
use report::{Detail, Style};
use std::path::Path;
use trace::Batch;

/// Batches that are read of one input: more would mean that events come from nowhere.
const MOST_BATCHES: usize = 100_000;

fn read(path: &Path) {
    let Ok(mut recording) = trace::open(path) else { return };
    let mut batch = Batch::default();
    let mut batches = 0;
    while let Ok(true) = recording.source.fill(&mut batch) {
        batches += 1;
        assert!(batches < MOST_BATCHES, "a short recording goes on and on");
    }
    let _ = recording.source.quality();
}

/// blktrace's records.
pub fn blktrace(bytes: &[u8]) {
    with_file("vda.blktrace.0", bytes, read);
}

/// trace-cmd's files, versions 6 and 7.
pub fn trace_dat(bytes: &[u8]) {
    with_file("trace.dat", bytes, read);
}

/// perf's files and what it writes to pipes.
pub fn perf_data(bytes: &[u8]) {
    with_file("perf.data", bytes, read);
}

/// Pages of the kernel's ring buffer, in a file whose head is whole.
pub fn pages(bytes: &[u8]) {
    let mut file = SMALL.to_vec();
    for (&place, new) in pages_of_small().iter().zip(bytes.chunks(PAGE)) {
        file[place..place + new.len()].copy_from_slice(new);
    }
    with_file("trace.dat", &file, read);
}

/// A capture in one piece.
pub fn packed(bytes: &[u8]) {
    with_file("capture.tar", bytes, read);
}

/// What `iowhy record -o -` sends.
pub fn stream(bytes: &[u8]) {
    with_folder(|folder| {
        let _ = capture::unpack(bytes, folder);
    });
}

/// A trace that names are taken out of. What comes out is a recording again.
pub fn redact(bytes: &[u8]) {
    with_folder(|folder| {
        let (from, to) = (folder.join("from"), folder.join("to"));
        let made = std::fs::create_dir(&from).and_then(|()| std::fs::create_dir(&to));
        if made.is_ok() && std::fs::write(from.join(capture::TRACE), bytes).is_ok() {
            let _ = capture::redact(&from, &to).map(|_| read(&to));
        }
    });
}

/// Text with an event in each line.
pub fn text(bytes: &[u8]) {
    with_file("events.txt", bytes, read);
}

/// The whole way, from bytes to what is printed: of requests.
pub fn answer(bytes: &[u8]) {
    with_file("vda.blktrace.0", bytes, explained);
}

/// The same of operations, as they are recorded.
pub fn answer_dat(bytes: &[u8]) {
    with_file("trace.dat", bytes, explained);
}

/// The same of operations as text, where numbers, times and whole events change places easily.
pub fn answer_text(bytes: &[u8]) {
    with_file("events.txt", bytes, explained);
}

fn explained(file: &Path) {
    let Ok(explanation) = Input::open(&[file.to_path_buf()]).and_then(Input::explain) else { return };
    let style = Style { detail: Detail::All, ..Style::default() };
    let _ = report::render(&explanation, style);
    let _ = serde_json::to_string(&report::to_json(&explanation));
}
