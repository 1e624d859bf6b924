//! Settings in a text beside its numbers: which of them held for a run, in words with their place.
//!
//! A setting holds for a run if it is the last of its name before the run, or the only one in its text; a setting of
//! other texts, only if they agree on one value. A device with another name contributes nothing; if a run names no
//! device, the only one in the texts is meant.

use super::place::In;
use tooltext::{Setting, Spot, ToolOutput};

/// A setting, and the text that contains it.
#[derive(Clone, Copy)]
pub(super) struct Set<'a> {
    output: &'a ToolOutput,
    setting: &'a Setting,
}

/// Settings below `vm.` that decide when buffered data is written back, and how much of it at once.
const DIRTY: [&str; 6] = [
    "vm.dirty_background_bytes",
    "vm.dirty_background_ratio",
    "vm.dirty_bytes",
    "vm.dirty_ratio",
    "vm.dirty_expire_centisecs",
    "vm.dirty_writeback_centisecs",
];

impl Set<'_> {
    pub fn value(&self) -> &str {
        &self.setting.value
    }

    /// The device of the setting: `sda` of `sda/queue/nr_requests`.
    pub fn device(&self) -> &str {
        self.setting.name.split('/').next().unwrap_or("")
    }

    pub fn number(&self) -> Option<f64> {
        self.value().split_whitespace().next()?.parse().ok()
    }

    /// The chosen one of several values, which is in brackets: `deadline` of `noop [deadline] cfq`; else the whole value.
    pub fn chosen(&self) -> &str {
        let inner = |word: &'_ str| word.starts_with('[').then(|| word.trim_matches(['[', ']']).len());
        self.value()
            .split_whitespace()
            .find(|word| inner(word).is_some())
            .map_or(self.value(), |word| word.trim_matches(['[', ']']))
    }

    /// The place of the setting: `output.txt:12`.
    pub fn at(&self) -> String {
        self.output.at(self.setting.at).to_string()
    }

    /// The setting in words: `sda/queue/nr_requests is 64 (output.txt:12)`.
    pub fn words(&self) -> String {
        format!("{} is {} ({})", self.setting.name, self.chosen(), self.at())
    }
}

/// The setting of this name that held at a place of a text; from other texts only if they all agree.
pub(super) fn held<'a>(
    outputs: &'a [ToolOutput],
    output: &'a ToolOutput,
    at: Spot,
    name: &str,
) -> Option<Set<'a>> {
    if let Some(setting) = output.setting(name, at) {
        return Some(Set { output, setting });
    }
    let mut others = outputs.iter().filter(|m| m.file != output.file).flat_map(|output| named(output, name));
    let first = others.next()?;
    others.all(|other| other.value() == first.value()).then_some(first)
}

fn named<'a>(output: &'a ToolOutput, name: &str) -> impl Iterator<Item = Set<'a>> + use<'a> {
    let name = name.to_owned();
    output.settings.iter().filter(move |s| s.name == name).map(move |setting| Set { output, setting })
}

/// A device's setting (`queue/nr_requests`) that held for a run; without a device, that of the only device mentioned.
pub(super) fn of_device<'a>(
    outputs: &'a [ToolOutput],
    place: In<'a>,
    device: Option<&str>,
    path: &str,
) -> Option<Set<'a>> {
    let told: Vec<Set> = all(outputs, path);
    let mut names: Vec<&str> = told.iter().map(Set::device).collect();
    names.sort_unstable();
    names.dedup();
    let name = match device {
        Some(device) => names.into_iter().find(|name| is_of(device, name))?,
        None => match names[..] {
            [only] => only,
            _ => return None,
        },
    };
    held(outputs, place.output, place.run.at, &format!("{name}/{path}"))
}

/// All settings with this path, of any device.
pub(super) fn all<'a>(outputs: &'a [ToolOutput], path: &str) -> Vec<Set<'a>> {
    let of = |output: &'a ToolOutput| {
        let fits = |s: &&Setting| s.name.split_once('/').is_some_and(|(_, rest)| rest == path);
        output.settings.iter().filter(fits).map(move |setting| Set { output, setting })
    };
    outputs.iter().flat_map(of).collect()
}

/// Whether a device is this disk or one of its partitions: `sda1`, `nvme0n1p2`.
fn is_of(device: &str, disk: &str) -> bool {
    let rest = device.strip_prefix(disk).map(|rest| rest.strip_prefix('p').unwrap_or(rest));
    rest.is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
}

/// What decides when data is written back, as far as texts tell: `vm.dirty_ratio is 20 (output.txt:3)`.
pub(super) fn dirty(outputs: &[ToolOutput], place: In) -> Vec<String> {
    let told = DIRTY.iter().filter_map(|name| held(outputs, place.output, place.run.at, name));
    // Of the limits in bytes and in percent, one is 0 and the other one holds.
    told.filter(|set| set.number() != Some(0.0)).map(|set| set.words()).collect()
}

/// How the file systems on a device are mounted: `/mnt is xfs (rw,noatime; output.txt:3)`.
pub(super) fn mounts(outputs: &[ToolOutput], device: &str) -> Vec<String> {
    let mut all = vec![];
    for output in outputs {
        for setting in &output.settings {
            let Some(target) = setting.name.strip_prefix("mount ") else { continue };
            let mut words = setting.value.split(' ');
            let (Some(source), Some(fs), Some(options)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            if source.strip_prefix("/dev/").is_some_and(|name| is_of(name, device)) {
                all.push(format!("{target} is {fs} ({options}; {})", output.at(setting.at)));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_before_a_run_holds_and_of_another_text_the_only_one() {
        let text = "sda/queue/nr_requests:64\nhere it is\nsda/queue/nr_requests:128\nvm.dirty_ratio = 20\n";
        let (output, other) = (ToolOutput::read("a", text.as_bytes()), ToolOutput::read("b", b"Hello"));
        let outputs = [output, other];
        let at = |line| Spot { line, column: 0 };
        let value = |m: usize, line| {
            held(&outputs, &outputs[m], at(line), "sda/queue/nr_requests").map(|s| s.words())
        };
        assert_eq!(value(0, 2).as_deref(), Some("sda/queue/nr_requests is 64 (a:1)"));
        assert_eq!(value(0, 9).as_deref(), Some("sda/queue/nr_requests is 128 (a:3)"));
        assert_eq!(value(1, 1), None);
        assert_eq!(held(&outputs, &outputs[1], at(1), "vm.dirty_ratio").and_then(|s| s.number()), Some(20.0));
    }

    #[test]
    fn a_partition_is_of_its_disk() {
        assert!(is_of("sda1", "sda") && is_of("nvme0n1p2", "nvme0n1") && is_of("sda", "sda"));
        assert!(!is_of("sdab", "sda") && !is_of("sdb", "sda"));
    }
}
