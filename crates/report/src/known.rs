//! What the settings beside a recording say that its events do not: where loop devices lie on disks, which process a
//! thread is of, which files were open when it began.

use evidence::System;
use operation::{Below, Known, KnownFile};
use std::collections::BTreeMap;
use trace::{DevId, Fs};

/// All of it.
pub fn known(system: &System) -> Known {
    let below =
        |p: evidence::Placed| Below { upper: p.upper, at: p.at, len: p.len, lower: p.lower, lies: p.lies };
    let mounted: BTreeMap<DevId, Fs> =
        system.mounts.iter().filter_map(|m| Some((m.dev?, Fs::by_name(&m.fstype)))).collect();
    let file = |f: &evidence::OpenFile| {
        let fs = match f.inode {
            0 => Fs::Block,
            _ => mounted.get(&f.dev).copied().unwrap_or_default(),
        };
        KnownFile { process: f.process, fd: f.fd, fs, dev: f.dev, inode: f.inode }
    };
    Known {
        below: system.placed().into_iter().map(below).collect(),
        processes: system.processes.threads.iter().map(|(tid, process)| (*tid, *process)).collect(),
        files: system.processes.files.iter().map(file).collect(),
    }
}
