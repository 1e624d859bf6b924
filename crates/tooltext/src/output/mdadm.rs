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
//! **Versions**: mdadm 4.2 (`Detail.c`), older ones by published texts.

/// The array that the following lines belong to.
#[derive(Debug, Default)]
pub(super) struct Detail {
    array: Option<String>,
    /// The number of its disks, if it has all.
    disks: u64,
    members: Vec<String>,
    /// Whether the line of its state says what it is busy with.
    busy: bool,
}

/// Names in mdadm and the corresponding files in sysfs.
const NAMES: [(&str, &str); 5] = [
    ("Raid Level", "md/level"),
    ("Chunk Size", "md/chunk_size"),
    ("Consistency Policy", "md/consistency_policy"),
    ("Raid Devices", "md/raid_disks"),
    ("State", "md/array_state"),
];
/// Background activities: how mdadm says in the line of the state that one is under way, how it begins the line that tells how far it is,
/// and the value of `md/sync_action`. Old versions begin that line with `Rebuild Status` for a resync, too.
const ACTIONS: [(&str, &str, &str); 4] = [
    ("recovering", "Rebuild Status", "recover"),
    ("resyncing", "Resync Status", "resync"),
    ("reshaping", "Reshape Status", "reshape"),
    ("checking", "Check Status", "check"),
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
            if let Some((.., action)) = ACTIONS.iter().find(|(_, known, _)| *known == key.trim()) {
                let done = percent(value).map(|done| (format!("{array}/md/sync_completed"), done));
                let action = (!self.busy).then(|| (format!("{array}/md/sync_action"), (*action).to_owned()));
                return Some(action.into_iter().chain(done).collect());
            }
            if key.trim() == "Active Devices" {
                let missing = self.disks.saturating_sub(value.trim().parse().unwrap_or(self.disks));
                return Some(vec![(format!("{array}/md/degraded"), missing.to_string())]);
            }
            let (_, name) = NAMES.iter().find(|(known, _)| *known == key.trim())?;
            let mut all = vec![];
            if *name == "md/array_state" {
                all = busy(array, value);
                self.busy = !all.is_empty();
            }
            let value = match *name {
                "md/chunk_size" => bytes(value)?.to_string(),
                "md/raid_disks" => {
                    self.disks = value.trim().parse().unwrap_or(0);
                    value.trim().to_owned()
                }
                _ => value.trim().to_owned(),
            };
            all.insert(0, (format!("{array}/{name}"), value));
            return Some(all);
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

/// What the line of the state says of a background activity: `clean, resyncing`, `active, degraded, recovering (DELAYED)`. One that is
/// pending begins with the first write.
fn busy(array: &str, state: &str) -> Vec<(String, String)> {
    let mut words = state.split([',', ' ']);
    let Some((.., action)) = words.find_map(|word| ACTIONS.iter().find(|(says, ..)| *says == word)) else {
        return vec![];
    };
    let waits = |how: &str| state.trim_end().ends_with(how);
    let action = if waits("(PENDING)") { "idle" } else { action };
    let delayed = waits("(DELAYED)").then(|| (format!("{array}/md/sync_completed"), "delayed".to_owned()));
    std::iter::once((format!("{array}/md/sync_action"), action.to_owned())).chain(delayed).collect()
}

/// How far an activity is: `7 %` of `7% complete`.
fn percent(value: &str) -> Option<String> {
    let done: u8 = value.trim().strip_suffix("% complete")?.parse().ok()?;
    Some(format!("{done} %"))
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

#[cfg(test)]
mod tests {
    use crate::output::ToolOutput;

    /// The last value of a setting of `md0`.
    fn last(text: &str, file: &str) -> Option<String> {
        let output = ToolOutput::read("text", text.as_bytes());
        let name = format!("md0/md/{file}");
        assert_eq!(output.repeated, 0, "{text}");
        output.settings.iter().rfind(|s| s.name == name).map(|s| s.value.clone())
    }

    /// The state's word tells what the array is busy with: old versions call the progress of each a rebuild.
    #[test]
    fn a_resync_is_no_rebuild() {
        let of = |state: &str, status: &str| {
            let text = format!(
                "/dev/md0:\n        Raid Level : raid1\n             State : {state}\n    {status}\n"
            );
            (last(&text, "sync_action"), last(&text, "sync_completed"))
        };
        let told = |action: &str, done: &str| (Some(action.to_owned()), Some(done.to_owned()));
        assert_eq!(of("active, resyncing", "Rebuild Status : 44% complete"), told("resync", "44 %"));
        assert_eq!(of("clean, resyncing", "Resync Status : 3% complete"), told("resync", "3 %"));
        assert_eq!(
            of("clean, degraded, recovering", "Rebuild Status : 61% complete"),
            told("recover", "61 %")
        );
        // Of versions whose state does not say it, the progress does.
        assert_eq!(of("clean", "Check Status : 9% complete"), told("check", "9 %"));
        assert_eq!(of("clean, resyncing (DELAYED)", ""), told("resync", "delayed"));
        assert_eq!(of("clean, resyncing (PENDING)", ""), (Some("idle".to_owned()), None));
        assert_eq!(of("clean", ""), (None, None));
    }
}
