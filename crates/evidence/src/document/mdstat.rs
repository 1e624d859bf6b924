//! Reads `/proc/mdstat`: md arrays and their members (`md_seq_show`, drivers/md/md.c).
//!
//! ```text
//! md0 : active raid5 vde[4] vdd[3](F) vdc[2](S) vdb[1] vda[0]
//!       2453504 blocks super 1.2 level 5, 64k chunk, algorithm 2 [5/4] [UUUU_]
//!       [=>...................]  recovery =  8.5% (52224/613376) finish=0.5min speed=17408K/sec
//!       bitmap: 1/1 pages [4KB], 65536KB chunk
//! ```
//!
//! Values are stored under their names in `/sys/block/mdN/md/`.

use super::dev::dev;
use super::kind::Kind;
use crate::fact::At;
use crate::system::System;
use crate::system::MOST_NAMES;

/// The array that the following indented lines belong to.
#[derive(Default)]
pub struct Mdstat {
    array: Option<String>,
}

/// `MD_MAJOR` (include/uapi/linux/major.h): the device number of `mdN` is this major and minor N.
const MD_MAJOR: &str = "9";

impl Kind for Mdstat {
    fn name(&self) -> &'static str {
        "mdstat"
    }

    fn line(&mut self, line: &str, at: &At, system: &mut System) -> bool {
        if line.starts_with("Personalities :") || line.starts_with("unused devices:") {
            self.array = None;
            return true;
        }
        if line.starts_with(' ') {
            return self.array.as_deref().is_some_and(|array| detail(array, line.trim(), at, system));
        }
        self.array = head(line, at, system);
        self.array.is_some()
    }
}

/// Reads the first line of an array; returns its name.
fn head(line: &str, at: &At, system: &mut System) -> Option<String> {
    let (name, rest) = line.split_once(" : ")?;
    let mut words = rest.split_whitespace().peekable();
    if !name.starts_with("md") || !matches!(words.next()?, "active" | "inactive" | "broken") {
        return None;
    }
    words.next_if(|word| matches!(*word, "(read-only)" | "(auto-read-only)"));
    if words.clone().count() > MOST_NAMES {
        return None;
    }
    system.named(name)?;
    if let Some(dev) = name.strip_prefix("md").and_then(|minor| dev(MD_MAJOR, minor)) {
        system.set_dev(name, dev, at);
    }
    for word in words {
        // A member is NAME[NUMBER], optionally followed by (F), (S), (W), (J) or (R); the level has no bracket.
        match word.split_once('[') {
            Some((member, marks)) => {
                if marks.ends_with("(F)") {
                    system.set_attribute(name, &format!("md/dev-{member}/state"), "faulty", at);
                }
                system.set_member(name, member, at)
            }
            None => system.set_attribute(name, "md/level", word, at),
        };
    }
    Some(name.to_owned())
}

/// Reads an indented line of an array.
fn detail(array: &str, line: &str, at: &At, system: &mut System) -> bool {
    if line.starts_with("bitmap:") {
        return system.set_attribute(array, "md/consistency_policy", "bitmap", at);
    }
    if let Some(action) = sync_action(line) {
        if line.ends_with("=PENDING") {
            // It begins with the first write to the array (`status_resync`).
            return system.set_attribute(array, "md/sync_action", "idle", at);
        }
        if line.ends_with("=DELAYED") {
            // As sysfs says it: the array waits until another one on the same disks is done.
            system.set_attribute(array, "md/sync_completed", "delayed", at);
        }
        if let Some(done) = completed(line) {
            system.set_attribute(array, "md/sync_completed", &done, at);
        }
        if let Some(speed) = speed(line) {
            system.set_attribute(array, "md/sync_speed", speed, at);
        }
        return system.set_attribute(array, "md/sync_action", action, at);
    }
    let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    if words.get(1) != Some(&"blocks") {
        return false;
    }
    for pair in words.windows(2) {
        match pair {
            [size, "chunk" | "chunks"] => {
                if let Some(kib) = size.strip_suffix(['k', 'K']).and_then(|n| n.parse::<u64>().ok()) {
                    system.set_attribute(array, "md/chunk_size", &kib.saturating_mul(1024).to_string(), at);
                }
            }
            ["algorithm", number] if number.parse::<u64>().is_ok() => {
                system.set_attribute(array, "md/layout", number, at);
            }
            _ => {}
        }
    }
    // [5/4]: the array has five disks, four are present.
    let disks = words.iter().find_map(|w| w.strip_prefix('[')?.strip_suffix(']')?.split_once('/'));
    if let Some((all, present)) =
        disks.and_then(|(a, p)| Some((a.parse::<u64>().ok()?, p.parse::<u64>().ok()?)))
    {
        system.set_attribute(array, "md/raid_disks", &all.to_string(), at);
        system.set_attribute(array, "md/degraded", &all.saturating_sub(present).to_string(), at);
    }
    true
}

/// The background activity of the array, as a value of `md/sync_action`.
fn sync_action(line: &str) -> Option<&'static str> {
    // After a progress bar `[=>...]`, or first: "resync=DELAYED".
    let words = line.split_whitespace().find(|word| !word.starts_with('['))?;
    match words.split('=').next()? {
        "resync" => Some("resync"),
        "recovery" => Some("recover"),
        "check" => Some("check"),
        "repair" => Some("repair"),
        "reshape" => Some("reshape"),
        _ => None,
    }
}

/// How far it is, as a value of `md/sync_completed`: in sectors, of which mdstat's blocks have two.
fn completed(line: &str) -> Option<String> {
    let (_, rest) = line.split_once('(')?;
    let (done, all) = rest.split_once(')')?.0.split_once('/')?;
    let sectors = |blocks: &str| blocks.parse::<u64>().ok()?.checked_mul(2);
    Some(format!("{} / {}", sectors(done)?, sectors(all)?))
}

/// How fast it is, as a value of `md/sync_speed`: in KiB a second.
fn speed(line: &str) -> Option<&str> {
    let speed = line.split_once("speed=")?.1.strip_suffix("K/sec")?;
    speed.parse::<u64>().is_ok().then_some(speed)
}
