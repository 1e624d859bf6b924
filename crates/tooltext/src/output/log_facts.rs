//! What other lines of the kernel's log say of the devices that fail: settings of its reading, and errors that are of one moment.
//!
//! ```text
//! scsi 15:0:0:1: Direct-Access     IET      VIRTUAL-DISK     0001      virtual: the data is a target's or a host's
//! scsi host15: iSCSI Initiator over TCP/IP                              likewise
//! sd 0:0:0:0: [sda] Attached SCSI disk                                  the disk of ata1, if no other disk is named
//! ata1: SError: { PHYRdyChg CommWake }                                  power saving: the link had been asleep
//! sd 0:0:0:0: [sda] tag#28 uas_eh_abort_handler 0 uas-tag 10            helped by UAS
//! usb 2-2: New USB device found, idVendor=152d, idProduct=0578          its IDs
//! scsi host6: usb-storage 2-2:1.0                                       the port of its disks; `scsi6 : usb-storage` before Linux 3.18
//! duplicate device fsid:devid for UUID:1 old:/dev/sdb new:/dev/sdc      the new name of sdb (fs/btrfs/volumes.c until Linux 5.4)
//! ```

use super::log_fact::LogFact;
use super::log_time::{of_line, LogTime};
use super::number::Unit;
use super::reading::{Reading, Setting};
use super::run::Run;
use crate::tool::kernel_errors::ERRORS;
use evidence::Spot;
use std::collections::{BTreeMap, BTreeSet};

/// Vendors that targets and hosts give their virtual disks: tgt, LIO (drivers/target), SCST, QEMU, VMware, Hyper-V, VirtualBox, Google.
const VIRTUAL: [&str; 12] = [
    "IET", "LIO-ORG", "SCST_FIO", "SCST_BIO", "QEMU", "VMware", "VMware,", "Msft", "VBOX", "Google",
    "FreeNAS", "TrueNAS",
];

/// Errors of different sectors this close together, in seconds, are no errors of a medium: a disk takes twice as long for half a turn
/// (15,000 a minute), and tries each sector again and again.
const AT_ONCE: f64 = 0.001;
/// This many sectors.
const LEAST_AT_ONCE: usize = 3;
/// Errors whose requests the kernel gave up all at once.
const GIVEN_UP: &str = "errors at once";
/// Limit on what is kept of a log.
const MOST: usize = 1000;

/// Words of a line that are examined.
const LOOKED_AT: usize = 24;

/// The facts in a text.
#[derive(Default)]
struct Facts<'a> {
    /// The disks of each SCSI host, and of each address, with the line.
    disks: BTreeMap<&'a str, (&'a str, u32)>,
    /// Addresses of virtual disks, with what they are called; hosts of iSCSI.
    models: BTreeMap<&'a str, String>,
    iscsi: BTreeSet<&'a str>,
    /// Ports whose link had been asleep.
    asleep: BTreeMap<&'a str, u32>,
    /// Disks, or hosts, that UAS had to help, with the line.
    uas: BTreeMap<&'a str, u32>,
    /// By port: vendor and product.
    usb: BTreeMap<&'a str, String>,
    /// By SCSI host: the port of USB.
    ports: BTreeMap<&'a str, &'a str>,
    /// New names of devices, with the line.
    renamed: BTreeMap<&'a str, (&'a str, u32)>,
    /// The times of errors of each disk, with their sectors.
    errors: BTreeMap<&'a str, Vec<(f64, &'a str)>>,
}

/// Adds the facts of a text to the readings of its log.
pub(super) fn add(text: &str, runs: &mut [Run]) {
    let mut logs: Vec<&mut Reading> =
        runs.iter_mut().flat_map(|run| &mut run.readings).filter(|r| r.tool == "kernel log").collect();
    if logs.is_empty() {
        return;
    }
    let facts = Facts::of(text);
    let at_once: BTreeSet<&str> =
        facts.errors.iter().filter(|(_, all)| at_once(all)).map(|(disk, _)| *disk).collect();
    let rows = logs.iter_mut().flat_map(|reading| &mut reading.rows);
    for row in rows.filter(|row| at_once.contains(evidence::whole_disk(&row.of))) {
        if let Some(n) = row.values.take(ERRORS) {
            row.values.put(GIVEN_UP, n.value, Unit::Count, n.at);
        }
    }
    let was_reset =
        |port: &str| logs.iter().flat_map(|r| &r.rows).any(|row| row.of.strip_prefix("usb ") == Some(port));
    let settings = facts.settings(was_reset);
    logs[0].settings.extend(settings);
}

/// Whether errors, by time and sector, are of different sectors and of one moment.
fn at_once(all: &[(f64, &str)]) -> bool {
    let (first, last) = all.iter().fold((f64::MAX, f64::MIN), |(a, b), (t, _)| (a.min(*t), b.max(*t)));
    let sectors: BTreeSet<&str> = all.iter().map(|(_, sector)| *sector).collect();
    sectors.len() >= LEAST_AT_ONCE && last - first <= AT_ONCE
}

impl<'a> Facts<'a> {
    fn of(text: &'a str) -> Facts<'a> {
        let mut facts = Facts::default();
        for (number, line) in (1u32..).zip(text.lines()) {
            let known = [
                facts.disks.len(),
                facts.models.len(),
                facts.usb.len(),
                facts.errors.len(),
                facts.uas.len(),
                facts.renamed.len(),
                facts.ports.len(),
            ];
            if known.into_iter().max() >= Some(MOST) {
                break;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            for (i, word) in words.iter().enumerate() {
                facts.add(number, word, &words[i + 1..words.len().min(i + LOOKED_AT)]);
            }
            if let Some(LogTime::SinceBoot(time)) = of_line(line) {
                facts.error(time, line);
            }
        }
        facts
    }

    fn add(&mut self, number: u32, word: &'a str, rest: &[&'a str]) {
        if rest.get(1) == Some(&"usb-storage") {
            let host = match word {
                "scsi" => rest[0].strip_prefix("host").and_then(|host| host.strip_suffix(':')),
                _ => word.strip_prefix("scsi").filter(|_| rest[0] == ":"),
            };
            let port = rest.get(2).and_then(|interface| interface.split(':').next());
            self.ports.extend(host.zip(port));
            return;
        }
        if let (Some(port), Some(&"SError:")) = (word.strip_suffix(':'), rest.first()) {
            return self.link(number, port, rest);
        }
        if let ("duplicate", ["device", "fsid:devid", "for", _, old, new, ..]) = (word, rest) {
            return self.renamed(number, old, new);
        }
        let Some(of) = rest.first().and_then(|w| w.strip_suffix(':')) else { return };
        let uas = rest.iter().any(|w| w.starts_with("uas_eh_") || *w == "uas-tag");
        let inner =
            |w: &&'a str| w.strip_prefix('[')?.strip_suffix(']').filter(|n| evidence::is_device_name(n));
        match word {
            "sd" => {
                if let Some(disk) = rest.get(1).and_then(inner) {
                    self.disks.insert(of, (disk, number));
                    self.uas.extend(uas.then_some((disk, number)));
                }
            }
            "scsi" if of.starts_with("host") && uas => {
                self.uas.insert(of, number);
            }
            "scsi" if of.starts_with("host") && rest.get(1) == Some(&"iSCSI") => {
                self.iscsi.extend(of.strip_prefix("host"));
            }
            "scsi" if rest.get(1) == Some(&"Direct-Access") => {
                let vendor = rest.get(2).filter(|vendor| VIRTUAL.contains(vendor));
                let model = rest.get(3).filter(|model| !model.is_empty());
                if let Some((vendor, model)) = vendor.zip(model) {
                    self.models.insert(of, format!("{vendor} {model}"));
                }
            }
            "usb" => {
                let id = |key: &str| {
                    rest.iter().find_map(|w| {
                        w.strip_prefix(key)?.get(..4).filter(|id| id.bytes().all(|b| b.is_ascii_hexdigit()))
                    })
                };
                if let Some((vendor, product)) = id("idVendor=").zip(id("idProduct=")) {
                    self.usb.insert(of, format!("{vendor}:{product}"));
                }
            }
            _ => {}
        }
    }

    /// SError of a link that had to be woken: `CommWake` (drivers/ata/libata-eh.c, `ata_eh_link_report`).
    fn link(&mut self, number: u32, port: &'a str, rest: &[&'a str]) {
        if port.starts_with("ata") && rest.contains(&"CommWake") {
            self.asleep.entry(port.split('.').next().unwrap_or(port)).or_insert(number);
        }
    }

    /// `old:/dev/sdb new:/dev/sdc`
    fn renamed(&mut self, number: u32, old: &'a str, new: &'a str) {
        let of = |text: &'a str, kind| text.strip_prefix(kind).filter(|name| evidence::is_device_name(name));
        if let Some((old, new)) = of(old, "old:/dev/").zip(of(new, "new:/dev/")) {
            self.renamed.insert(old, (new, number));
        }
    }

    /// `I/O error, dev sdb, sector 12`
    fn error(&mut self, time: f64, line: &'a str) {
        let Some((_, rest)) = line.split_once("I/O error, dev ") else { return };
        let Some((disk, rest)) = rest.split_once(", sector ") else { return };
        let all = self.errors.entry(disk).or_default();
        if all.len() < MOST {
            all.push((time, rest.split(' ').next().unwrap_or("")));
        }
    }

    /// What is known of devices, as settings; `was_reset` tells a port of USB.
    fn settings(&self, was_reset: impl Fn(&str) -> bool) -> Vec<Setting> {
        let mut all: Vec<Setting> = vec![];
        let at = |line: &u32| Spot { line: *line, column: 0 };
        let names: BTreeSet<&str> = self.disks.values().map(|(disk, _)| *disk).collect();
        for (address, (disk, line)) in &self.disks {
            let host = address.split(':').next().unwrap_or("");
            let model = self.models.get(address).cloned();
            let iscsi = || self.iscsi.contains(host).then(|| "iSCSI".to_owned());
            let model = model.or_else(iscsi);
            all.extend(model.map(|model| LogFact::Virtual.setting(disk, model, at(line))));
            // libata numbers ports from 1 and SCSI hosts from 0 (drivers/ata/libata-core.c, `ata_host_register`).
            let port =
                host.parse::<u32>().ok().filter(|_| names.len() == 1).map(|host| host.saturating_add(1));
            all.extend(port.map(|n| LogFact::DiskOf.setting(&format!("ata{n}"), *disk, at(line))));
            let on_host = self.disks.keys().filter(|other| other.split(':').next() == Some(host)).count();
            let port = self.ports.get(host).filter(|_| on_host == 1);
            all.extend(port.map(|port| LogFact::DiskOf.setting(&format!("usb {port}"), *disk, at(line))));
        }
        all.extend(self.asleep.iter().map(|(port, line)| LogFact::PowerSaving.setting(port, "", at(line))));
        let only = || self.usb.keys().next().filter(|_| self.usb.len() == 1);
        let port = self.usb.keys().find(|port| was_reset(port)).or_else(only);
        let ids = port.map_or("", |port| self.usb[*port].as_str());
        for (of, line) in &self.uas {
            let its = |address: &str| of.strip_prefix("host") == address.split(':').next();
            let on_host = self.disks.iter().filter(|(address, _)| its(address)).map(|(_, (disk, _))| *disk);
            all.extend(on_host.chain([*of]).map(|of| LogFact::Uas.setting(of, ids, at(line))));
        }
        let named = |(old, (new, line)): (&&str, &(&str, u32))| LogFact::NewName.setting(old, *new, at(line));
        all.extend(self.renamed.iter().map(named));
        all.truncate(MOST);
        all
    }
}
