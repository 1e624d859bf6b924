//! fio's `read_iolog`, version 3 (fio(1), "Trace file format v3"): the I/O that was submitted to a device, so that fio
//! submits the same again at the same times.
//!
//! ```text
//! fio version 3 iolog
//! 0 replay-vda add
//! 0 replay-vda open
//! 1500 replay-vda read 4096 8192       microseconds since the first, what, offset, length
//! 9000 replay-vda close
//! ```
//!
//! It has the bios when they were queued: before merging and scheduling, which the kernel will do again. Each device
//! has a log and a job file. They name a file beside them, not the device: replaying writes destroys
//! existing data.

use crate::device_names::DeviceNames;
use crate::output::{Failure, Folder, Output};
use life::Op;
use rustc_hash::FxHashMap;
use std::io::Write;
use trace::{Action, Batch, Bytes, DevId, Event, Nanos};

/// Maximal number of devices with files.
const MOST_DEVICES: usize = 1024;

/// An export that is being written.
pub struct Fio {
    folder: Folder,
    name: DeviceNames,
    devices: FxHashMap<DevId, Log>,
    zero: Option<Nanos>,
    failure: Option<Failure>,
    left_out: u64,
}

struct Log {
    /// The device's name as a part of file names: only letters, digits, `-` and `_`.
    name: String,
    out: Output,
    /// The smallest size of a file that has room for all of the I/O.
    size: Bytes,
    last: u64,
    asked: u64,
    under_way: i64,
    most: i64,
    writes: u64,
}

/// The files that were written for one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The name of the job file.
    pub job: String,
    /// The name of the log.
    pub log: String,
    /// Number of bios in the log.
    pub asked: u64,
}

impl Fio {
    /// Starts an export into a folder.
    pub fn create(folder: &Folder, name: DeviceNames) -> Fio {
        let (devices, zero, failure) = Default::default();
        Fio { folder: folder.clone(), name, devices, zero, failure, left_out: 0 }
    }

    /// Writes the bios that were queued in a batch.
    pub fn feed(&mut self, batch: &Batch) {
        for event in &batch.events {
            match event.action {
                Action::Queue => self.asked(event),
                Action::Complete => {
                    if let Some(log) = self.devices.get_mut(&event.dev) {
                        log.under_way = (log.under_way - 1).max(0);
                    }
                }
                _ => {}
            }
        }
    }

    fn asked(&mut self, event: &Event) {
        let what = match Op::of(event) {
            Op::Read => "read",
            Op::Write => "write",
            Op::Discard => "trim",
            Op::Flush => "sync",
            // A command to the device's driver, for which fio has no word.
            Op::Passthrough => return self.left_out += 1,
        };
        let zero = *self.zero.get_or_insert(event.time);
        let Some(log) = self.log(event.dev) else { return self.left_out += 1 };
        let at = (event.time.since(zero).0 / 1000).max(log.last);
        log.last = at;
        log.asked += 1;
        log.under_way += 1;
        log.most = log.most.max(log.under_way);
        log.writes += u64::from(what == "write" || what == "trim");
        let Some(offset) = event.sector.0.checked_mul(trace::SECTOR_BYTES) else { return self.left_out += 1 };
        let (offset, length) = if what == "sync" { (0, 0) } else { (offset, event.bytes.0) };
        log.size = log.size.max(Bytes(offset.saturating_add(length)));
        log.out.entries += 1;
        // An output reports failures only in `finish`.
        let _ = writeln!(log.out, "{at} replay-{} {what} {offset} {length}", log.name);
    }

    fn log(&mut self, dev: DevId) -> Option<&mut Log> {
        if !self.devices.contains_key(&dev) {
            if self.devices.len() >= MOST_DEVICES || self.failure.is_some() {
                return None;
            }
            let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
            let name: String = (self.name)(dev).chars().map(plain).collect();
            match self.folder.file(&format!("{name}.iolog")) {
                Err(failure) => self.failure = Some(failure),
                Ok(mut out) => {
                    let _ = write!(out, "fio version 3 iolog\n0 replay-{name} add\n0 replay-{name} open\n");
                    let (size, last, asked, under_way, most, writes) = Default::default();
                    self.devices.insert(dev, Log { name, out, size, last, asked, under_way, most, writes });
                }
            }
        }
        self.devices.get_mut(&dev)
    }

    /// Finishes the files. Returns those of each device, and the number of bios that are in none of them.
    pub fn finish(self) -> Result<(Vec<Replay>, u64), Failure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let mut logs: Vec<(DevId, Log)> = self.devices.into_iter().collect();
        logs.sort_by_key(|(dev, _)| *dev);
        let mut written = vec![];
        for (_, mut log) in logs {
            let mut job = self.folder.file(&format!("{}.fio", log.name))?;
            let _ = write!(job, "{}", job_text(&log));
            let _ = writeln!(log.out, "{} replay-{} close", log.last, log.name);
            let asked = log.asked;
            let (log, _) = log.out.finish()?;
            let (job, _) = job.finish()?;
            written.push(Replay { job, log, asked });
        }
        Ok((written, self.left_out))
    }
}

/// The maximal `iodepth` of a job: within libaio's default limit (/proc/sys/fs/aio-max-nr is 65536).
const MOST_DEPTH: i64 = 4096;

fn job_text(log: &Log) -> String {
    let Log { name, size, asked, writes, most, .. } = log;
    format!(
        "; The bios sent to {name}, to be replayed at the same times: {asked} bios, {writes} of them writes.\n\
         ; It goes to the file replay-{name} in the folder in which fio is started; make it first:\n\
         ;     truncate -s {} replay-{name}\n\
         ; Of a file without data, reads are not real: fill it, or replay on a disk. What lies there is LOST:\n\
         ;     fio --replay_redirect=/dev/DISK {name}.fio\n\
         ; As fast as it will go, without the pauses: --replay_no_stall=1\n\
         [{name}]\nread_iolog={name}.iolog\nioengine=libaio\ndirect=1\niodepth={}\n",
        size.0.div_ceil(4096) * 4096,
        (*most).clamp(1, MOST_DEPTH),
    )
}
