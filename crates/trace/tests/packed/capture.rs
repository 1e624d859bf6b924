//! The pages of a real recording, taken apart as the recorder has them before it puts a trace.dat together.

use std::fs;
use std::path::{Path, PathBuf};

/// A recording in parts.
pub struct Parts {
    /// The trace.dat it was.
    pub dat: PathBuf,
    /// `trace.head`.
    pub head: Vec<u8>,
    /// Pages of each CPU.
    pub pages: Vec<Vec<u8>>,
}

/// Bytes of a page of the machine that recorded.
pub const PAGE: usize = 4096;

/// Takes the fixture apart: version 6 ends its head with `flyrecord` and, for each CPU, offset and size of its pages.
pub fn parts() -> Parts {
    let dat = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/loop-v6.dat");
    let bytes = fs::read(&dat).unwrap();
    let mark = b"flyrecord\0";
    let at = bytes.windows(mark.len()).rposition(|w| w == mark).unwrap() + mark.len();
    let word = |i: usize| u64::from_le_bytes(bytes[at + 8 * i..][..8].try_into().unwrap()) as usize;
    let first = word(0);
    let cpus = (0..).take_while(|i| at + 16 * (i + 1) <= first && word(2 * i) >= first).count();
    let pages = (0..cpus).map(|i| bytes[word(2 * i)..][..word(2 * i + 1)].to_vec()).collect();
    let mut head = bytes[..at].to_vec();
    head.resize(at + 16 * cpus, 0);
    Parts { dat, head, pages }
}

impl Parts {
    /// Writes the folder that a killed recorder leaves, or that a full disk does (with `capture.json`).
    pub fn folder(&self, to: &Path, ended: bool) {
        fs::write(to.join("trace.head"), &self.head).unwrap();
        for (cpu, pages) in self.pages.iter().enumerate() {
            fs::write(to.join(format!("trace.cpu{cpu}.raw")), pages).unwrap();
        }
        if ended {
            fs::write(to.join("capture.json"), "{}").unwrap();
        }
    }

    /// The stream of `iowhy record -o -`: names and contents in the order sent, with so many pages in a part.
    pub fn stream(&self, pages_per_part: usize) -> Vec<(String, Vec<u8>)> {
        let file = |name: &str, data: &[u8]| (name.to_string(), data.to_vec());
        let mut out = vec![file("system.json", br#"{"before": {}}"#), file("trace.head", &self.head)];
        let longest = self.pages.iter().map(Vec::len).max().unwrap_or(0);
        for part in 0..longest.div_ceil(pages_per_part * PAGE) {
            for (cpu, pages) in self.pages.iter().enumerate() {
                if let Some(data) = pages.chunks(pages_per_part * PAGE).nth(part) {
                    out.push(file(&format!("trace.cpu{cpu}.raw.{part:05}"), data));
                }
            }
            out.push(file(
                &format!("samples.jsonl.{part:05}"),
                format!("{{\"mono_ns\": {part}}}\n").as_bytes(),
            ));
        }
        out.push(file("trace.head", &self.head));
        out.push(file("system.json", br#"{"before": {}, "after": {}}"#));
        out.push(file("capture.json", b"{}"));
        out
    }
}

/// A tar of these files.
pub fn tar_of(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, data) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(data.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, &data[..]).unwrap();
    }
    tar.into_inner().unwrap()
}
