//! Finds settings pasted into a text: `grep . /sys/block/*/queue/*`, `mount`, `sysctl vm.`, `/proc/mdstat`.
//!
//! The line readers are those for the documents beside a recording. As a mail also has prose around its settings, a line
//! is offered only to the kind whose form it has:
//!
//! ```text
//! > /sys/block/sda/queue/nr_requests:64        sda/queue/nr_requests = 64
//! vm.dirty_ratio is too high                   prose
//! ```
//!
//! A line may have several settings after flattening; `pieces.rs` separates these.
//!
//! **Versions**: Linux 6.1 run, older ones by mails.

use super::arrays;
use super::columns::Columns;
use super::layout::{self, Layout};
use super::mdadm;
use super::pieces::{pieces, Piece, BELOW};
use super::quote::{depth, unquoted};
use super::snapshots::Snapshots;
use super::words::{Word, LONG_LINE};
use super::Setting;
use evidence::Spot;
use evidence::{At, Lines, Place, System};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Limit on settings of a text.
pub(super) const MOST: usize = 10_000;

/// The settings of a text.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// Settings in the order of the text, without duplicates.
    pub all: Vec<Setting>,
    /// Numbers of the lines with settings, from 1.
    pub lines: HashSet<u32>,
    /// Byte ranges of settings that are only part of a line.
    pub parts: Vec<Range<usize>>,
    /// Number of settings that repeat earlier ones.
    pub repeated: usize,
    /// Number of settings above the limit.
    pub too_many: usize,
    snapshots: Snapshots,
}

/// Finds the settings in all lines of a text.
pub(crate) fn settings(text: &str) -> Settings {
    let mut found = Settings::default();
    let mut seen = HashSet::new();
    let mut readers = Lines::default();
    let file: Arc<str> = Arc::from("");
    let mut details = mdadm::Detail::default();
    let (mut columns, mut layout) = (Columns::default(), Layout::default());
    let mut lines = (1u32..).zip(text.lines()).peekable();
    while let Some((number, whole)) = lines.next() {
        let line = unquoted(whole);
        let at = At { file: file.clone(), place: Place::Line(number) };
        let mut told = System::default();
        let mut take = |kind: &str, line: &str, told: &mut System| readers.read(kind, line, &at, told);
        let several = several(whole);
        if !several.is_empty() {
            // Both are slices of the same text, so the difference of their addresses is the offset.
            let offset = whole.as_ptr() as usize - text.as_ptr() as usize;
            for Piece { kind, text, bytes } in several {
                let mut told = System::default();
                if take(kind, &text, &mut told) {
                    let long = whole.len() > LONG_LINE;
                    let column = if long { u32::try_from(bytes.start + 1).unwrap_or(u32::MAX) } else { 0 };
                    let at = Spot { line: number, column };
                    found.begin_array(&text, at, whole);
                    found.add(&told, at, &mut seen);
                    found.parts.push(offset + bytes.start..offset + bytes.end);
                }
            }
            continue;
        }
        if let Some(told) = details.line(line) {
            found.lines.insert(number);
            let at = Spot { line: number, column: 0 };
            let members = details.members(lines.peek().map(|(_, line)| *line));
            let of_state = told.iter().find_map(|(name, _)| name.strip_suffix("/md/array_state"));
            of_state.into_iter().for_each(|array| found.snapshots.begin(array, at, depth(whole)));
            told.into_iter()
                .chain(members)
                .for_each(|(name, value)| found.add_one(name, value, at, &mut seen));
            continue;
        }
        let list = layout::whole_list(line, &mut lines, &mut found.lines);
        let line = list.as_deref().unwrap_or(line);
        let ahead = || lines.clone().map(|(_, line)| unquoted(line));
        if let Some((told, more)) = columns.line(line, ahead()).or_else(|| layout.line(line, ahead())) {
            found.lines.insert(number);
            found.lines.extend(lines.by_ref().take(more).map(|(number, _)| number));
            let at = Spot { line: number, column: 0 };
            told.into_iter().for_each(|(name, value)| found.add_one(name, value, at, &mut seen));
            continue;
        }
        let array = arrays::whole_line(line, &mut lines, &mut found.lines);
        let line = array.as_deref().unwrap_or(line);
        // The indent matters only for lines of mdstat.
        let text = line.trim_start();
        let line = if ["/", "vm."].iter().any(|begin| text.starts_with(begin)) { text } else { line };
        let mut taken = kind_of(line).is_some_and(|kind| take(kind, line.trim_end(), &mut told));
        // Mailers break the long lines of mount(8) before the options.
        if let Some((next, rest)) = lines.peek().copied().filter(|_| !taken && line.contains(" on /")) {
            let whole = format!("{} {}", line.trim_end(), unquoted(rest).trim());
            taken = take("mounts", &whole, &mut told);
            if taken {
                found.lines.insert(next);
                lines.next();
            }
        }
        if !taken {
            continue;
        }
        found.lines.insert(number);
        let at = Spot { line: number, column: 0 };
        found.begin_array(line, at, whole);
        found.add(&told, at, &mut seen);
    }
    let over = std::mem::take(&mut found.snapshots).over();
    found.all.extend(over);
    found.all.sort_by_key(|setting| setting.at);
    found
}

impl Settings {
    /// Removes the words of settings. The words after them start a new paragraph.
    pub fn leave_out(&self, words: &mut Vec<Word>, text: &str) {
        let mut left_out = false;
        words.retain_mut(|word| {
            let offset = word.text.as_ptr() as usize - text.as_ptr() as usize;
            // The last part that starts at or before the word.
            let part = self.parts.partition_point(|part| part.start <= offset);
            let within = part.checked_sub(1).is_some_and(|i| self.parts[i].contains(&offset));
            let keep = !within && !self.lines.contains(&word.spot.line);
            word.paragraph |= keep && left_out;
            left_out = !keep;
            keep
        });
    }

    /// Begins a snapshot if this is the first line of an array; `whole` is the line with its quote marks.
    fn begin_array(&mut self, line: &str, at: Spot, whole: &str) {
        if let Some(array) = arrays::head(line) {
            self.snapshots.begin(array, at, depth(whole));
        }
    }

    fn add(&mut self, told: &System, at: Spot, seen: &mut HashSet<(String, String)>) {
        for (name, value) in listed(told) {
            self.add_one(name, value, at, seen);
        }
    }

    fn add_one(&mut self, name: String, value: String, at: Spot, seen: &mut HashSet<(String, String)>) {
        let new = self.snapshots.is_new(&name, &value);
        if self.all.len() >= MOST {
            self.too_many += 1;
        } else if new.unwrap_or_else(|| seen.insert((name.clone(), value.clone()))) {
            self.all.push(Setting { name, value, at });
        } else {
            self.repeated += 1;
        }
    }
}

/// The settings in a line with more than one, or with one among many other words.
fn several(line: &str) -> Vec<Piece> {
    let may =
        line.contains("vm.") || line.contains(" /") || line.contains("/queue/") || line.contains("blocks");
    let found = if may { pieces(line) } else { vec![] };
    match found.len() {
        1 if line.len() <= LONG_LINE => vec![],
        _ => found,
    }
}

/// The kind of reader for a line; `None` for prose: in a setting, a path or name is followed by a sign and
/// a value, in prose by a verb.
fn kind_of(line: &str) -> Option<&'static str> {
    let value = || line.split_once([':', '=']);
    if line.starts_with("vm.") || line.starts_with("/proc/sys/vm/") {
        let numbers = |text: &str| text.split_whitespace().all(|word| word.parse::<i64>().is_ok());
        return value().is_some_and(|(_, text)| numbers(text)).then_some("sysctl");
    }
    if value().is_some_and(|(path, _)| !path.contains(' ') && BELOW.iter().any(|b| path.contains(b))) {
        return Some("sysfs");
    }
    if MDSTAT.iter().any(|begin| line.starts_with(begin)) {
        return Some("mdstat");
    }
    line.contains(" /").then_some("mounts")
}

/// Beginnings of lines of `/proc/mdstat`.
const MDSTAT: [&str; 4] = ["Personalities :", "unused devices:", "md", "  "];

/// The settings in a parsed line, under their common names.
fn listed(told: &System) -> Vec<(String, String)> {
    let mut all = vec![];
    for (name, device) in &told.devices {
        for (path, fact) in &device.attributes {
            all.push((format!("{name}/{path}"), fact.value.clone()));
        }
        if !device.members.is_empty() {
            let members: Vec<&str> = device.members.iter().map(|m| m.value.as_str()).collect();
            all.push((format!("{name} members"), members.join(" ")));
        }
    }
    all.extend(told.vm.iter().map(|(name, fact)| (format!("vm.{name}"), fact.value.clone())));
    for mount in &told.mounts {
        let value = format!("{} {} {}", mount.source, mount.fstype, mount.options.join(","));
        all.push((format!("mount {}", mount.target), value));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let found = settings(text);
        found.all.iter().map(|s| format!("{}: {} = {}", s.at, s.name, s.value)).collect()
    }

    #[test]
    fn settings_stand_in_quotes_between_words() {
        let text = "Here is what I have:\n\n> /sys/block/sda/queue/nr_requests:64\n> > vm.dirty_ratio = 20\n\
            > /dev/sda1 on /mnt/data type ext4\n> (rw,relatime,data=ordered)\nproc /proc proc rw,nosuid 0 0\n";
        assert_eq!(
            of(text),
            [
                "3: sda/queue/nr_requests = 64",
                "4: vm.dirty_ratio = 20",
                "5: mount /mnt/data = /dev/sda1 ext4 rw,relatime,data=ordered",
                "7: mount /proc = proc proc rw,nosuid",
            ]
        );
    }

    #[test]
    fn mdstat_keeps_its_indent_in_quotes() {
        let text = "> md4 : active raid6 sdc[2] sdb[1] sda[0]\n\
            >       3906764800 blocks super 1.2 level 6, 64k chunk, algorithm 2 [3/3] [UUU]\n\
            >       bitmap: 0/8 pages [0KB], 65536KB chunk\n";
        let all = of(text);
        for wanted in
            ["1: md4/md/level = raid6", "1: md4 members = sdc sdb sda", "2: md4/md/chunk_size = 65536"]
        {
            assert!(all.iter().any(|s| s == wanted), "{wanted} in {all:?}");
        }
        assert!(all.contains(&"3: md4/md/consistency_policy = bitmap".to_string()));
    }

    #[test]
    fn arrays_of_any_size_have_all_their_members() {
        let names: Vec<String> = (0..36)
            .map(|i| format!("sd{}{}1[{i}]", ['a', 'b'][i / 18], char::from(b'a' + (i % 18) as u8)))
            .collect();
        let lines: Vec<String> = names.chunks(5).map(|c| c.join(" ")).collect();
        let of_array =
            |text: &str| of(text).iter().find(|s| s.contains("md0 members")).map(|s| s.split(' ').count());
        let end = "\n      7 blocks super 1.2 level 6, 512k chunk, algorithm 2 [36/36] [UU]\n";
        let wrapped = format!("md0 : active raid6 {}{end}", lines.join("\n      "));
        let whole = format!("> md0 : active raid6 {}{end}", names.join(" "));
        let flat = format!("{} vm.a = 1 vm.b = 2", whole.replace('\n', " "));
        let named: String = wrapped.lines().map(|line| format!("Ada> \t{line}\n")).collect();
        for text in [wrapped, whole, flat, named] {
            assert_eq!(of_array(&text), Some(3 + 1 + 36), "{text}");
        }
    }

    #[test]
    fn an_arrays_lines_may_be_indented_and_wrapped() {
        let text = ">      md3 : active raid6 sdr[0] sdp[11]\n> sds[6]\n>            156257474560 blocks super 1.2 level 6, 1024k chunk, algorithm\n\
            > 2 [3/3] [UUU]\n>\tbitmap: 0/117 pages [0KB], 65536KB chunk\n";
        let all = of(text);
        for wanted in [
            "1: md3 members = sdr sdp sds",
            "3: md3/md/chunk_size = 1048576",
            "5: md3/md/consistency_policy = bitmap",
        ] {
            assert!(all.iter().any(|s| s == wanted), "{wanted} in {all:?}");
        }
    }

    #[test]
    fn mdadm_says_the_same_as_mdstat() {
        let text = "> # mdadm -D /dev/md0\n> /dev/md0:\n>            Version : 1.2\n>         Raid Level : raid6\n>       Raid Devices : 3\n\
            >              State : clean, degraded, recovering\n>         Chunk Size : 512K\n> Consistency Policy : bitmap\n>     Rebuild Status : 33% complete\n>\n\
            >     Number   Major   Minor   RaidDevice State\n>        0       8        1        0      active sync   /dev/sda1\n\
            >        -       0        0        1      removed\n>        2       8       33        2      active sync   /dev/sdc1\n> so it is\n";
        let all = of(text);
        for wanted in [
            "md0/md/level = raid6",
            "md0/md/chunk_size = 524288",
            "md0/md/consistency_policy = bitmap",
            "md0/md/sync_action = recover",
            "md0 members = sda1 sdc1",
        ] {
            assert!(all.iter().any(|s| s.ends_with(wanted)), "{wanted} in {all:?}");
        }
        assert!(of("/dev/md0: is slow\nRaid Level : raid6\n").is_empty());
    }

    #[test]
    fn settings_may_be_indented_and_their_lists_wrapped() {
        for before in ["    ", "> \t", "Ada> "] {
            let text = format!("{before}/sys/block/sda/queue/nr_requests:64\n{before}vm.dirty_ratio = 20\n");
            assert_eq!(of(&text), ["1: sda/queue/nr_requests = 64", "2: vm.dirty_ratio = 20"], "{before}");
        }
        let text = "> Filesystem magic number:  0xEF53\n> Filesystem features:      has_journal ext_attr\n> resize_inode extent\n> Block size:  4096\n";
        assert_eq!(
            of(text),
            ["2: ext4/features = has_journal ext_attr resize_inode extent", "4: ext4/block_size = 4096"]
        );
    }

    #[test]
    fn what_could_not_be_read_is_no_setting() {
        for text in [
            "/sys/block/sda/queue/wbt_lat_usec: Invalid argument",
            "grep: /sys/block/sdb/queue/wbt_lat_usec: Invalid argument",
            "cat: /sys/block/sda/queue/io_poll: Permission denied",
            "/sys/block/sdz/queue/nr_requests: No such file or directory",
            "/sys/block/sdc/queue/nr_zones:cat: Permission denied",
        ] {
            assert_eq!(of(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn flattened_settings_have_their_column() {
        let long = "word ".repeat(100);
        let all = of(&format!("{long}/sys/block/sda/queue/nr_requests:64 vm.dirty_ratio = 20 as I said"));
        assert_eq!(all, ["1:501: sda/queue/nr_requests = 64", "1:537: vm.dirty_ratio = 20"]);
        assert_eq!(of("vm.a = 1 vm.b = 2 I think"), ["1: vm.a = 1", "1: vm.b = 2"]);
    }

    #[test]
    fn prose_sets_nothing() {
        for prose in [
            "vm.dirty_ratio was 20 = too high",
            "vm.dirty_ratio: I left it alone",
            "set /sys/block/sda/queue/nr_requests: 64 is enough",
            "/sys/block/<dev>/queue/max_sectors_kb",
            "the disk on / type it in",
            "md4 is slow",
            "  check = 5",
        ] {
            assert_eq!(of(prose), Vec::<String>::new(), "{prose}");
        }
    }

    #[test]
    fn what_a_quote_says_again_is_counted() {
        let found = settings("vm.swappiness = 60\n> vm.swappiness = 60\nvm.swappiness = 10\n");
        assert_eq!((found.all.len(), found.repeated), (2, 1));
    }
}
