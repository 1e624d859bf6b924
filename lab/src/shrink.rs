//! A small trace.dat: without what no record of it needs.
//!
//! Most of a short recording is its head: the formats of all events of the kernel, and its 100,000 symbols. Of these is
//! kept what the records need: formats of the events that occur, symbols of the functions on their stacks, names of the
//! tasks that ran. The records themselves are copied as they are.

use crate::outcome::Outcome;
use capture::{Head, Pages, Region};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use trace::tracedat::{open, Step};

/// Where the kernel's half of the addresses begins, on 64-bit machines (Documentation/arch/x86/x86_64/mm.rst).
const KERNEL: u64 = 0xffff_8000_0000_0000;

/// Leaves out of the head what no record needs. `from` is a trace.dat of version 6 as `iowhy record` writes it.
pub fn shrink(from: &Path, to: &Path) -> Outcome {
    let Used { events, addresses, tasks } = used(from)?;
    let mut file = File::open(from)?;
    let (mut head, regions) = Head::read(&mut file, from)?;
    let occurs = |format: &Vec<u8>| {
        let text = String::from_utf8_lossy(format);
        let name = text.lines().find_map(|l| l.strip_prefix("name:")).unwrap_or_default();
        events.contains(name.trim())
    };
    head.ftrace.retain(occurs);
    head.systems.iter_mut().for_each(|(_, formats)| formats.retain(occurs));
    head.systems.retain(|(_, formats)| !formats.is_empty());
    head.symbols = symbols(&head.symbols, &addresses);
    let ran = |line: &&str| {
        line.split(' ').next().and_then(|tid| tid.parse().ok()).is_some_and(|t| tasks.contains(&t))
    };
    head.tasks = head.tasks.lines().filter(ran).map(|line| format!("{line}\n")).collect();
    let cpus = regions.len() as u32;
    let mut pages = Vec::new();
    for Region { cpu, offset, bytes } in regions {
        let mut own = tempfile::tempfile()?;
        let mut source = File::open(from)?;
        std::io::Seek::seek(&mut source, std::io::SeekFrom::Start(offset))?;
        std::io::copy(&mut std::io::Read::take(&mut source, bytes.0), &mut own)?;
        pages.push(Pages { cpu, file: own, bytes });
    }
    head.write(&mut File::create(to)?, to, cpus, &mut pages)?;
    Ok(())
}

/// What the records of a file need.
#[derive(Default)]
struct Used {
    /// Names of the events that occur.
    events: BTreeSet<String>,
    /// All that looks like an address of the kernel.
    addresses: BTreeSet<u64>,
    /// Threads that ran.
    tasks: BTreeSet<u32>,
}

fn used(path: &Path) -> Outcome<Used> {
    let mut dat = open(path)?;
    let mut used = Used::default();
    while let Some(step) = dat.cursor().step()? {
        let Step::Record(r) = step else { continue };
        used.events.insert(r.event.name.to_string());
        used.tasks.insert(r.tid.0);
        for at in (0..r.data.len().saturating_sub(7)).step_by(4) {
            let word = u64::from_le_bytes(r.data[at..at + 8].try_into()?);
            if word >= KERNEL {
                used.addresses.insert(word);
            }
        }
    }
    Ok(used)
}

/// The lines of kallsyms in which the addresses lie, and the last, which marks the end.
fn symbols(text: &[u8], addresses: &BTreeSet<u64>) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let mut lines = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let address = words.next().and_then(|w| u64::from_str_radix(w, 16).ok());
        if let (Some(address), Some("t" | "T" | "w" | "W")) = (address, words.next()) {
            lines.entry(address).or_insert(line);
        }
    }
    let found = addresses.iter().filter_map(|a| lines.range(..=a).next_back());
    let kept: BTreeMap<_, _> = found.chain(lines.last_key_value()).collect();
    kept.values().flat_map(|line| format!("{line}\n").into_bytes()).collect()
}
