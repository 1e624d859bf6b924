//! Collects the kernel's descriptions of pages and events for the head of a trace.dat.

use crate::tracefs::Tracefs;
use capture::{Chosen, Head, Result};
use std::fs;

/// Reads the formats of `events` from tracefs. The caller fills in names, symbols, clock and statistics.
pub fn collect(tracefs: &Tracefs, events: &[Chosen]) -> Result<Head> {
    let mut systems: Vec<(String, Vec<Vec<u8>>)> = Vec::new();
    for e in events {
        let format = tracefs.read(&format!("{}/format", e.folder()))?;
        match systems.iter_mut().find(|s| s.0 == e.system) {
            Some(s) => s.1.push(format),
            None => systems.push((e.system.clone(), vec![format])),
        }
    }
    let mut ftrace = Vec::new();
    let folder = tracefs.root().join("events/ftrace");
    let mut names: Vec<_> = fs::read_dir(&folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    names.sort();
    for name in names {
        if let Ok(format) = crate::text::whole(&name.join("format")) {
            ftrace.push(format);
        }
    }
    Ok(Head {
        header_page: tracefs.read("events/header_page")?,
        header_event: tracefs.read("events/header_event")?,
        ftrace,
        systems,
        printk: tracefs.read("printk_formats").unwrap_or_default(),
        page_size: 4096,
        ..Head::default()
    })
}
