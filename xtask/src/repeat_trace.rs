//! `repeat` for a trace.dat: its pages again and again, each round later.
//!
//! A page of the kernel's ring buffer begins with the time of its first record; the others only say how much later they
//! are (Documentation/trace/ring-buffer-map.rst, include/linux/ring_buffer.h). So a round is moved by moving the beginnings
//! of its pages, and the few records that carry a whole time. Numbers of tasks, requests and sectors come again: a round
//! begins [`PAUSE_NS`](crate::pause::PAUSE_NS) after the one before, so that all that was in flight is long over.

use crate::cut_trace::convert;
use crate::files::{copy_settings, Size};
use crate::outcome::Outcome;
use crate::pause::PAUSE_NS;
use capture::{raw_name, Head, Pages, Region, Stream, CAPTURE_JSON, HEAD, SAMPLES_JSONL, SYSTEM_JSON};
use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use trace::tracedat::{open, Step};
use trace::Bytes;

/// A part of a stream has at most so many bytes, as the recorder's have.
const LONGEST_PART: usize = 1 << 20;

/// The times and the length of one round.
struct Round {
    first: u64,
    last: u64,
    records: u64,
}

/// Writes the trace.dat in `from` into `to`, `times` times over, not compressed. trace-cmd makes it plain first.
pub fn repeat(from: &Path, to: &Path, times: u32) -> Outcome<Size> {
    let scratch = tempfile::tempdir()?;
    let (source, target) = (scratch.path().join("plain"), to.join("trace.dat"));
    convert(&from.join("trace.dat"), &source, "6", "none")?;
    let round = Round::of(&source)?;
    let (head, regions) = Head::read(&mut File::open(&source)?, &source)?;
    let cpus = regions.len() as u32;
    let mut pages = Vec::new();
    for region in regions {
        pages.push(region_repeated(&source, region, &round, head.page_size as usize, times)?);
    }
    fs::create_dir_all(to)?;
    let mut out = File::create(&target)?;
    head.write(&mut out, &target, cpus, &mut pages)?;
    copy_settings(from, to)?;
    Ok(Size { events: round.records * u64::from(times), bytes: fs::metadata(&target)?.len() })
}

/// Writes the same as a stream of `iowhy record -o -` (docs/decisions/capture-stream.md): after each round the next of every CPU.
pub fn stream(from: &Path, to: &Path, times: u32) -> Outcome {
    let scratch = tempfile::tempdir()?;
    let source = scratch.path().join("plain");
    convert(&from.join("trace.dat"), &source, "6", "none")?;
    let round = Round::of(&source)?;
    let (head, regions) = Head::read(&mut File::open(&source)?, &source)?;
    let out = Stream::new(Box::new(BufWriter::with_capacity(LONGEST_PART, File::create(to)?)));
    let head_alone = head.bytes(regions.len() as u32);
    out.file(HEAD, &head_alone)?;
    let mut cpus = Vec::new();
    for region in regions {
        cpus.push((out.parts(raw_name(region.cpu)), region_bytes(&source, region)?));
    }
    for n in 0..times {
        for (parts, pages) in &mut cpus {
            for part in round.moved(pages, head.page_size as usize, n)?.chunks(LONGEST_PART) {
                parts.write(part)?;
            }
        }
    }
    for name in [SAMPLES_JSONL, SYSTEM_JSON, CAPTURE_JSON] {
        // What was recorded without has none in its stream.
        if let Ok(bytes) = fs::read(from.join(name)) {
            out.file(name, &bytes)?;
        }
    }
    Ok(out.end()?)
}

impl Round {
    /// Pages as they are in round `n`.
    fn moved(&self, pages: &[u8], page: usize, n: u32) -> Outcome<Vec<u8>> {
        let by = (self.last - self.first + PAUSE_NS) * u64::from(n);
        let mut moved = pages.to_vec();
        for page in moved.chunks_exact_mut(page) {
            move_page(page, by)?;
        }
        Ok(moved)
    }

    fn of(path: &Path) -> Outcome<Round> {
        let mut dat = open(path)?;
        let mut round = Round { first: u64::MAX, last: 0, records: 0 };
        while let Some(step) = dat.cursor().step()? {
            if let Step::Record(r) = step {
                round.first = round.first.min(r.time.0);
                round.last = round.last.max(r.time.0);
                round.records += 1;
            }
        }
        match round.records {
            0 => Err(format!("{}: there is no event", path.display()).into()),
            _ => Ok(round),
        }
    }
}

fn region_bytes(source: &Path, region: Region) -> Outcome<Vec<u8>> {
    let mut data = vec![0; region.bytes.0 as usize];
    let mut file = File::open(source)?;
    file.seek(SeekFrom::Start(region.offset))?;
    file.read_exact(&mut data)?;
    Ok(data)
}

fn region_repeated(source: &Path, region: Region, round: &Round, page: usize, times: u32) -> Outcome<Pages> {
    let data = region_bytes(source, region)?;
    let own = tempfile::tempfile()?;
    let mut out = BufWriter::new(own.try_clone()?);
    for n in 0..times {
        out.write_all(&round.moved(&data, page, n)?)?;
    }
    out.flush()?;
    let bytes = Bytes(region.bytes.0 * u64::from(times));
    Ok(Pages { cpu: region.cpu, file: own, bytes })
}

/// Bytes before the first record: time and length (`struct buffer_data_page`, kernel/trace/ring_buffer.c), on 64-bit machines.
const HEADER: usize = 16;
/// Of the length's field, the lower bits are the length; the upper ones mark losses (`RB_MISSED_EVENTS`).
const LENGTH: u64 = (1 << 27) - 1;
/// A whole time has 59 bits, 27 of them in the record's first word (`TS_SHIFT`).
const SHIFT: u32 = 27;
/// The part of a time above those 59 bits is the page's.
const WHOLE: u64 = (1 << 59) - 1;

/// Moves a page and all its records by `by` ns.
fn move_page(page: &mut [u8], by: u64) -> Outcome {
    let word = |page: &[u8], at: usize| -> Outcome<u32> {
        let bytes = page.get(at..at + 4).ok_or("a record ends behind its page")?;
        Ok(u32::from_ne_bytes(bytes.try_into()?))
    };
    let time = u64::from_ne_bytes(page[..8].try_into()?);
    page[..8].copy_from_slice(&(time + by).to_ne_bytes());
    let length = u64::from_ne_bytes(page[8..HEADER].try_into()?) & LENGTH;
    let end = (HEADER + length as usize).min(page.len());
    let mut at = HEADER;
    while at < end {
        let first = word(page, at)?;
        let (kind, delta) = (first & 31, first >> 5);
        at += match kind {
            // The length stands in the next word and counts that word.
            0 => 4 + word(page, at + 4)? as usize,
            29 if delta == 0 => break,
            29 => 4 + word(page, at + 4)? as usize,
            30 => 8,
            31 => {
                let whole = u64::from(word(page, at + 4)?) << SHIFT | u64::from(delta);
                let moved = (whole + by) & WHOLE;
                let low = ((moved & LENGTH) as u32) << 5 | 31;
                page[at..at + 4].copy_from_slice(&low.to_ne_bytes());
                page[at + 4..at + 8].copy_from_slice(&((moved >> SHIFT) as u32).to_ne_bytes());
                8
            }
            words => 4 + 4 * words as usize,
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page with a record of 4 bytes 7 ns after its beginning, a whole time, and a record 5 ns after that.
    fn page(begin: u64, whole: u64) -> Vec<u8> {
        let mut p = begin.to_ne_bytes().to_vec();
        p.extend((24u64 | 1 << 31).to_ne_bytes());
        let records =
            [7 << 5 | 1, 0xabcd, ((whole & LENGTH) as u32) << 5 | 31, (whole >> SHIFT) as u32, 5 << 5 | 1, 1];
        p.extend(records.into_iter().flat_map(u32::to_ne_bytes));
        p.resize(64, 0);
        p
    }

    #[test]
    fn a_page_is_moved_with_the_whole_times_in_it() {
        let mut moved = page(1000, (1 << 40) + 3);
        move_page(&mut moved, 1 << 30).unwrap();
        assert_eq!(moved, page(1000 + (1 << 30), (1 << 40) + 3 + (1 << 30)));
    }

    #[test]
    fn a_recording_three_times_over_has_three_times_the_events_in_order() {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/fsync-slow-mirror");
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("to");
        let one = Round::of(&fixture.join("trace.dat")).unwrap();
        repeat(&fixture, &to, 3).unwrap();
        let three = Round::of(&to.join("trace.dat")).unwrap();
        assert_eq!(three.records, 3 * one.records);
        assert_eq!(three.first, one.first);
        assert_eq!(three.last - three.first, 3 * (one.last - one.first) + 2 * PAUSE_NS);
    }

    #[test]
    fn a_stream_unpacks_to_the_same_recording() {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/fsync-slow-mirror");
        let folder = tempfile::tempdir().unwrap();
        let (tar, to, repeated) =
            (folder.path().join("tar"), folder.path().join("to"), folder.path().join("repeated"));
        stream(&fixture, &tar, 3).unwrap();
        fs::create_dir(&to).unwrap();
        capture::unpack(File::open(&tar).unwrap(), &to).unwrap();
        repeat(&fixture, &repeated, 3).unwrap();
        let (streamed, written) =
            (Round::of(&to.join("trace.dat")).unwrap(), Round::of(&repeated.join("trace.dat")).unwrap());
        assert_eq!(
            (streamed.first, streamed.last, streamed.records),
            (written.first, written.last, written.records)
        );
    }
}
