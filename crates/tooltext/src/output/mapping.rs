//! Reads `dmsetup table`: the targets of device-mapper devices.
//!
//! ```text
//! vg-root: 0 7813971968 linear 8:2 2048
//! vg-fast: 0 209715200 striped 2 128 259:1 2048 259:5 2048
//! ```
//!
//! Each target's number of arguments is known (Documentation/admin-guide/device-mapper): a line is used if all of them are there,
//! possibly on continuation lines that a mailer made. A truncated table is not used. Keys of dm-crypt, which
//! `--showkeys` prints, are never kept.
//!
//! **Versions**: dmsetup of LVM2 2.03 and the kernel's documents of its targets.

use super::cells::SettingPairs;

/// Limit on parts that a mailer makes of one line.
const MOST_LINES: usize = 24;
/// Limit on words of a table: dm-raid and multipath have some for each device.
const MOST_WORDS: usize = 1024;
/// Digits of the shortest key.
const SHORTEST_KEY: usize = 16;

/// The setting in a line and its number of continuation lines; `None` if it is no table.
pub(super) fn mapping<'t>(text: &str, ahead: impl Iterator<Item = &'t str>) -> Option<(SettingPairs, usize)> {
    let mut words = text.split_whitespace();
    let name = words.next()?.strip_suffix(':')?;
    let mut all: Vec<&str> = words.take(MOST_WORDS).collect();
    all.first()?.parse::<u64>().ok()?;
    let begins = |line: &str| line.split_whitespace().next().is_none_or(|word| word.ends_with(':'));
    let (mut lines, mut best) = (0, None);
    let mut ahead = ahead.take(MOST_LINES);
    loop {
        if all.len() > 2 && !is_table(&all) {
            break;
        }
        if let [_, _, target, arguments @ ..] = &all[..] {
            best = if is_whole(target, arguments) { Some((all.len(), lines)) } else { best };
        }
        let Some(more) = ahead.next().filter(|line| !begins(line) && all.len() < MOST_WORDS) else { break };
        all.extend(more.split_whitespace());
        lines += 1;
    }
    is_table(&all).then_some(())?;
    let is_crypt = all[2] == "crypt";
    let Some((length, lines)) = best else {
        // A key is never kept, even if the table is incomplete.
        let key = |word: &&str| word.len() >= SHORTEST_KEY && word.bytes().all(|b| b.is_ascii_hexdigit());
        let keys = is_crypt && all.iter().any(key);
        return keys.then_some((vec![], lines));
    };
    let mut kept = all[2..length].to_vec();
    if is_crypt && kept.len() > 2 {
        kept.remove(2);
    }
    Some((vec![(format!("dm/{name}"), kept.join(" "))], lines))
}

/// Whether words start like a table: `0 7813971968 linear`.
fn is_table(words: &[&str]) -> bool {
    let number = |word: &str| word.parse::<u64>().is_ok();
    matches!(words, [start, length, target, ..] if number(start) && number(length) && TARGETS.contains(target))
}

/// Targets of device-mapper (`dmsetup targets`).
const TARGETS: [&str; 18] = [
    "linear",
    "striped",
    "crypt",
    "thin",
    "thin-pool",
    "cache",
    "writecache",
    "snapshot",
    "snapshot-origin",
    "mirror",
    "raid",
    "multipath",
    "verity",
    "integrity",
    "delay",
    "vdo",
    "era",
    "zoned",
];

/// Whether these are all arguments of a target.
fn is_whole(target: &str, arguments: &[&str]) -> bool {
    let mut rest = Arguments(arguments);
    let r = &mut rest;
    let read = match target {
        "linear" => r.words("dn"),
        "snapshot-origin" => r.words("d"),
        "era" => r.words("ddn"),
        "thin" => r.words("dn").and_then(|()| r.maybe(|r| r.words("d"))),
        "striped" => r.counted(|r, n| r.words("n").and_then(|()| r.times(n, "dn"))),
        "snapshot" => r.words("ddwn").and_then(|()| r.maybe(Arguments::list)),
        "thin-pool" => r.words("ddnn").and_then(|()| r.maybe(Arguments::list)),
        "crypt" => r.words("wwndn").and_then(|()| r.maybe(Arguments::list)),
        "writecache" => r.words("wddn").and_then(|()| r.list()),
        "integrity" => r.words("dnww").and_then(|()| r.list()),
        "verity" => r.words("wddnnnnwww").and_then(|()| r.maybe(Arguments::list)),
        "delay" => r
            .words("dnn")
            .and_then(|()| r.maybe(|r| r.words("dnn")))
            .and_then(|()| r.maybe(|r| r.words("dnn"))),
        "cache" => {
            r.words("dddn").and_then(|()| r.list()).and_then(|()| r.words("w")).and_then(|()| r.list())
        }
        "raid" => r.words("w").and_then(|()| r.list()).and_then(|()| r.counted(|r, n| r.times(n, "dd"))),
        "mirror" => r
            .words("w")
            .and_then(|()| r.list())
            .and_then(|()| r.counted(|r, n| r.times(n, "dn")))
            .and_then(|()| r.maybe(Arguments::list)),
        "multipath" => r
            .list()
            .and_then(|()| r.list())
            .and_then(|()| r.counted(|r, groups| r.words("n").and_then(|()| r.groups(groups)))),
        // vdo: name-value pairs after the version; zoned: only devices.
        "vdo" => r.words("wdnnnn").and_then(|()| r.pairs()),
        "zoned" => r.words("d").and_then(|()| r.devices()),
        _ => None,
    };
    read.is_some() && rest.0.is_empty()
}

/// The unparsed rest of a table.
struct Arguments<'a, 't>(&'a [&'t str]);

impl Arguments<'_, '_> {
    fn skip(&mut self, count: usize) -> Option<()> {
        self.0 = self.0.get(count..)?;
        Some(())
    }

    /// Parses one word per letter: `d` a device, `n` a number, `w` any word.
    fn words(&mut self, kinds: &str) -> Option<()> {
        kinds.chars().try_for_each(|kind| match kind {
            'd' => self.device(),
            'n' => {
                self.0.first()?.parse::<u64>().ok()?;
                self.skip(1)
            }
            _ => self.skip(1),
        })
    }

    fn times(&mut self, count: usize, kinds: &str) -> Option<()> {
        (0..count).try_for_each(|_| self.words(kinds))
    }

    /// Parses a count, then as many items with `read`.
    fn counted(&mut self, read: impl Fn(&mut Self, usize) -> Option<()>) -> Option<()> {
        let count: u16 = self.0.first()?.parse().ok()?;
        self.skip(1)?;
        read(self, usize::from(count))
    }

    fn list(&mut self) -> Option<()> {
        self.counted(Self::skip)
    }

    /// Parses optional arguments with `read`.
    fn maybe(&mut self, read: impl Fn(&mut Self) -> Option<()>) -> Option<()> {
        if self.0.is_empty() {
            return Some(());
        }
        read(self)
    }

    /// Parses a device: `8:2`, `/dev/sda2`, `-`.
    fn device(&mut self) -> Option<()> {
        let text = *self.0.first()?;
        let numbers =
            text.split_once(':').is_some_and(|(a, b)| a.parse::<u32>().is_ok() && b.parse::<u32>().is_ok());
        (numbers || text.starts_with("/dev/") || text == "-").then_some(())?;
        self.skip(1)
    }

    fn devices(&mut self) -> Option<()> {
        while !self.0.is_empty() {
            self.device()?;
        }
        Some(())
    }

    /// Parses pairs: `maxDiscard 1024 ack 1`.
    fn pairs(&mut self) -> Option<()> {
        while let [name, value, rest @ ..] = self.0 {
            let fits = value.parse::<u64>().is_ok() || ["on", "off"].contains(value);
            (name.starts_with(char::is_alphabetic) && fits).then_some(())?;
            self.0 = rest;
        }
        Some(())
    }

    /// Parses groups of paths: each has a path selector, then paths, each with the same number of arguments.
    fn groups(&mut self, count: usize) -> Option<()> {
        for _ in 0..count {
            self.skip(1)?;
            self.list()?;
            self.counted(|r, paths| {
                r.counted(|r, each| (0..paths).try_for_each(|_| r.device().and_then(|()| r.skip(each))))
            })?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use crate::output::ToolOutput;

    fn of(text: &str) -> Vec<String> {
        let output = ToolOutput::read("text", text.as_bytes());
        output.settings.iter().map(|s| format!("{} = {}", s.name, s.value)).collect()
    }

    const TABLES: [&str; 12] = [
        "vg-root: 0 7813971968 linear 8:2 2048",
        "vg-fast: 0 209715200 striped 2 128 259:1 2048 259:5 2048",
        "vg-thin: 0 209715200 thin 253:4 1",
        "vg-pool: 0 209715200 thin-pool 253:2 253:3 128 32768 2 skip_block_zeroing no_discard_passdown",
        "vg-cached: 0 209715200 cache 253:5 253:6 253:7 512 1 writeback smq 2 migration_threshold 8192",
        "vg-wc: 0 209715200 writecache s 253:5 253:6 4096 4 high_watermark 60 low_watermark 40",
        "vg-snap: 0 41943040 snapshot 253:1 253:2 P 8",
        "vg-origin: 0 41943040 snapshot-origin 253:1",
        "vg-raid: 0 7813971968 raid raid5_ls 3 128 region_size 8192 3 253:0 253:1 253:2 253:3 253:4 253:5",
        "mpatha: 0 41943040 multipath 1 queue_if_no_path 0 2 1 service-time 0 2 2 8:32 1 1 8:64 1 1 service-time 0 1 2 8:96 1 1",
        "vdo0: 0 41943040 vdo V4 /dev/sdb 1048576 4096 32768 16380 maxDiscard 1 ack 1",
        "slow: 0 41943040 delay 8:16 0 500",
    ];

    #[test]
    fn tables_are_whole_on_one_line_and_on_several() {
        for table in TABLES {
            let (name, rest) = table.split_once(": ").unwrap();
            let words: Vec<&str> = rest.split(' ').collect();
            let wanted = vec![format!("dm/{name} = {}", words[2..].join(" "))];
            assert_eq!(of(&format!("{table}\n")), wanted);
            for at in 1..words.len() {
                let wrapped =
                    format!("> {name}: {}\n> {}\n> so it is\n", words[..at].join(" "), words[at..].join(" "));
                assert_eq!(of(&wrapped), wanted, "{wrapped}");
                let cut = format!("{name}: {}\nand that is all there is", words[..at].join(" "));
                let told = of(&cut);
                // Optional arguments may be missing because the text is truncated.
                assert!(
                    told.is_empty() || wanted[0].starts_with(&told[0]) && is_optional(name),
                    "{cut}: {told:?}"
                );
            }
        }
    }

    fn is_optional(name: &str) -> bool {
        ["vg-pool", "vdo0"].contains(&name)
    }

    #[test]
    fn keys_are_never_kept() {
        let key = "0123456789abcdef0123456789abcdef";
        let text = format!("c: 0 781 crypt aes-xts-plain64 {key} 0 259:1 32768 1 no_read_workqueue\n");
        assert_eq!(of(&text), ["dm/c = crypt aes-xts-plain64 0 259:1 32768 1 no_read_workqueue"]);
        for text in
            [text.replace(" 0 259:1 32768 1 no_read_workqueue", ""), text.replace("plain64 ", "plain64\n")]
        {
            let output = ToolOutput::read("text", format!("{text}\nIt is slow:\nsda: r=5\n").as_bytes());
            assert!(!format!("{output:?}").contains(key), "{output:?}");
        }
    }
}
