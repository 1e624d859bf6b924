//! The surroundings of a checkup: the machine, the disk's settings, and whether recording is possible.

use crate::fio::Fio;
use crate::place::Place;
use crate::plan::Plan;
use crate::result::{Checkup, Scenario, SCHEMA};
use record::Host;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

/// A result with the facts known at the start: time, place, kernel, settings.
pub fn begin(plan: &Plan, place: &Place, fio: &Fio) -> Checkup {
    let now = record::snapshot(Path::new("/sys"), Path::new("/proc"));
    let mut settings = BTreeMap::new();
    if let Some(disk) = place.disk.as_ref().and_then(|d| now.disks.get(d)) {
        settings.extend(disk.queue.iter().map(|(k, v)| (format!("queue/{k}"), v.clone())));
        settings.extend(
            disk.device
                .iter()
                .filter(|(k, _)| !k.contains("cnt"))
                .map(|(k, v)| (format!("device/{k}"), v.clone())),
        );
        settings.extend(
            disk.md
                .iter()
                .filter(|(k, _)| {
                    ["level", "chunk_size", "raid_disks", "stripe_cache_size"].contains(&k.as_str())
                })
                .map(|(k, v)| (format!("md/{k}"), v.clone())),
        );
    }
    settings.extend(
        now.vm.iter().filter(|(k, _)| k.starts_with("dirty")).map(|(k, v)| (format!("vm/{k}"), v.clone())),
    );
    Checkup {
        schema: SCHEMA.into(),
        when: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        iowhy: env!("CARGO_PKG_VERSION").into(),
        kernel: now.kernel.release.clone(),
        fio: fio.version.clone(),
        place: place.clone(),
        settings,
        recorded: true,
        most_bytes: plan.most_bytes,
        ..Checkup::default()
    }
}

/// The host to record on; if recording is not possible, `None`, and the reason is added to the result.
pub fn recorder(place: &Place, checkup: &mut Checkup) -> Option<Host> {
    let why = if !rustix::process::geteuid().is_root() {
        "recording needs root: there are only the numbers of fio and /proc, not why; run it with sudo"
            .to_string()
    } else if place.device.is_none() {
        format!(
            "{} is not on a block device of this machine: there are only fio's results",
            place.dir.display()
        )
    } else {
        match Host::here() {
            Ok(host) => return Some(host),
            Err(e) => format!("nothing was recorded, there are only fio's results: {e}"),
        }
    };
    checkup.recorded = false;
    checkup.not_seen.push(why);
    None
}

/// Adds remarks on the settings that matter for a scenario.
pub fn remark(s: &mut Scenario, c: &Checkup) {
    let get = |name: &str| c.settings.get(&format!("queue/{name}"));
    match s.number {
        2 => s.remarks.push(match get("wbt_lat_usec").map(String::as_str) {
            None => "writeback throttling: cannot be read on this kernel or disk".into(),
            Some("0") => "writeback throttling is off (wbt_lat_usec 0)".into(),
            Some(us) => format!("writeback throttling is on (wbt_lat_usec {us}); it was not changed"),
        }),
        3 => s.remarks.extend(get("stable_writes").map(|v| {
            format!(
                "the disk {} stable pages (stable_writes {v})",
                if v == "1" { "asks for" } else { "does not ask for" }
            )
        })),
        4 => {
            let words: Vec<String> = ["max_sectors_kb", "max_hw_sectors_kb", "optimal_io_size"]
                .iter()
                .filter_map(|n| Some(format!("{n} {}", get(n)?)))
                .collect();
            if !words.is_empty() {
                s.remarks.push(words.join(", "));
            }
        }
        _ => {}
    }
}
