//! Reads `mdadm --detail`: the array and its members, under the names in `/sys/block/mdN/md/`.
//!
//! ```text
//! /dev/md0:
//!         Raid Level : raid6
//!         Chunk Size : 512K
//! Consistency Policy : bitmap
//!     Number   Major   Minor   RaidDevice State
//!        0       8        1        0      active sync   /dev/sda1
//! ```
//!
//! **Versions**: mdadm 4.2 (`Detail.c`).

/// The array that the following lines belong to.
#[derive(Debug, Default)]
pub(super) struct Detail {
    array: Option<String>,
    /// The number of its disks, if it has all.
    disks: u64,
    members: Vec<String>,
}

/// Names in mdadm and the corresponding files in sysfs.
const NAMES: [(&str, &str); 5] = [
    ("Raid Level", "md/level"),
    ("Chunk Size", "md/chunk_size"),
    ("Consistency Policy", "md/consistency_policy"),
    ("Raid Devices", "md/raid_disks"),
    ("State", "md/array_state"),
];
/// Background activities: mdadm's name and the value of `md/sync_action`.
const ACTIONS: [(&str, &str); 4] = [
    ("Rebuild Status", "recover"),
    ("Resync Status", "resync"),
    ("Reshape Status", "reshape"),
    ("Check Status", "check"),
];
/// Limit on members of an array.
const MOST_MEMBERS: usize = 512;

impl Detail {
    /// The settings in a line, by name and value; `None` if the line is not mdadm's.
    pub fn line(&mut self, line: &str) -> Option<Vec<(String, String)>> {
        let text = line.trim();
        if let Some(name) = text.strip_prefix("/dev/").and_then(|t| t.strip_suffix(':')) {
            let name = name.trim_start_matches("md/");
            let is_array = name.starts_with("md") && evidence::is_device_name(name);
            *self = Detail { array: is_array.then(|| name.to_owned()), ..Detail::default() };
            return is_array.then(Vec::new);
        }
        let array = self.array.as_deref()?;
        if let Some((key, value)) = text.split_once(" : ") {
            if let Some((_, action)) = ACTIONS.iter().find(|(known, _)| *known == key.trim()) {
                return Some(vec![(format!("{array}/md/sync_action"), (*action).to_owned())]);
            }
            if key.trim() == "Active Devices" {
                let missing = self.disks.saturating_sub(value.trim().parse().unwrap_or(self.disks));
                return Some(vec![(format!("{array}/md/degraded"), missing.to_string())]);
            }
            let (_, name) = NAMES.iter().find(|(known, _)| *known == key.trim())?;
            let value = match *name {
                "md/chunk_size" => bytes(value)?.to_string(),
                "md/raid_disks" => {
                    self.disks = value.trim().parse().unwrap_or(0);
                    value.trim().to_owned()
                }
                _ => value.trim().to_owned(),
            };
            return Some(vec![(format!("{array}/{name}"), value)]);
        }
        if text.ends_with("removed") {
            return Some(vec![]);
        }
        // A member: four numbers, its state, its device.
        let words: Vec<&str> = text.split_whitespace().collect();
        let numbers = words.iter().take(4).filter(|w| w.parse::<u32>().is_ok() || **w == "-").count();
        let member = words
            .last()?
            .strip_prefix("/dev/")
            .filter(|name| numbers == 4 && evidence::is_device_name(name))?;
        if self.members.len() < MOST_MEMBERS {
            self.members.push(member.to_owned());
        }
        let state = || (format!("{array}/md/dev-{member}/state"), "faulty".to_owned());
        Some(words.contains(&"faulty").then(state).into_iter().collect())
    }

    /// The members, when the next line is not one.
    pub fn members(&mut self, next: Option<&str>) -> Option<(String, String)> {
        // Slots without a disk may be between members: `- 0 0 1 removed`.
        let more = next.is_some_and(|line| {
            let last = line.trim_end().rsplit([' ', '\t']).next().unwrap_or("");
            last.starts_with("/dev/") && !last.ends_with(':') || last == "removed"
        });
        if more || self.members.is_empty() {
            return None;
        }
        let members = std::mem::take(&mut self.members).join(" ");
        Some((format!("{} members", self.array.as_deref()?), members))
    }
}

/// Parses a size: `512K`, `64K`, `1M`.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(char::is_alphabetic);
    let scale = match &text[digits.len()..] {
        "K" => 1024,
        "M" => 1024 * 1024,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(scale)
}
