//! Reads the layout of file systems: xfs_info (and mkfs.xfs), tune2fs -l (and dumpe2fs -h); `mapping.rs` reads mappings.
//!
//! ```text
//! meta-data=/dev/sdb1              isize=512    agcount=4, agsize=61047662 blks
//! data     =                       bsize=4096   blocks=244190646, imaxpct=25
//!          =                       sunit=128    swidth=512 blks
//! log      =internal log           bsize=4096   blocks=2560, version=2
//! Filesystem magic number:  0xEF53
//! RAID stripe width:        512
//! ```
//!
//! **Versions**: xfsprogs 6.1 and e2fsprogs 1.47 run.

use super::cells::SettingPairs;
use super::mapping::mapping;
use super::quote::unquoted;
use std::collections::HashSet;
use std::iter::Peekable;

/// Lines of tune2fs and their names here.
const EXT: [(&str, &str); 8] = [
    ("Filesystem features", "features"),
    ("Default mount options", "default_mount_options"),
    ("Block size", "block_size"),
    ("RAID stride", "raid_stride"),
    ("RAID stripe width", "raid_stripe_width"),
    ("Journal size", "journal_size"),
    ("Total journal size", "journal_size"),
    ("Journal features", "journal_features"),
];
/// Limit on parts that a mailer makes of one line.
const MOST_LINES: usize = 16;
/// Features of ext4 without an underscore, which look like ordinary words (e2fsprogs, lib/e2p/feature.c).
const FEATURES: [&str; 10] =
    ["extent", "extents", "64bit", "filetype", "quota", "project", "encrypt", "casefold", "verity", "mmp"];
/// The document that the following lines belong to.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// The device of xfs_info, and the current section: `data`, `log`.
    xfs: Option<(String, String)>,
    /// Block size in bytes of that section.
    block: u64,
    ext: bool,
}

/// Rejoins tune2fs's line of features, which is longer than a mail's lines; `None` for any other line.
pub(super) fn whole_list<'t>(
    line: &str,
    lines: &mut Peekable<impl Iterator<Item = (u32, &'t str)>>,
    taken: &mut HashSet<u32>,
) -> Option<String> {
    line.trim_start().starts_with("Filesystem features:").then_some(())?;
    let mut whole = line.to_owned();
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let feature = |word: &str| word.chars().all(letter) && (word.contains('_') || FEATURES.contains(&word));
    let more = |line: &str| !line.is_empty() && line.split_whitespace().all(feature);
    for _ in 0..MOST_LINES {
        let Some((number, next)) = lines.next_if(|(_, next)| more(unquoted(next).trim())) else { break };
        whole = format!("{} {}", whole.trim_end(), unquoted(next).trim());
        taken.insert(number);
    }
    Some(whole)
}

impl Layout {
    /// The settings in a line and its number of continuation lines; `None` if the line is none of these.
    pub fn line<'t>(
        &mut self,
        line: &str,
        ahead: impl Iterator<Item = &'t str>,
    ) -> Option<(SettingPairs, usize)> {
        let text = line.trim();
        let alone = self.xfs_line(text).or_else(|| self.ext_line(text));
        alone.map(|told| (told, 0)).or_else(|| mapping(text, ahead))
    }

    fn xfs_line(&mut self, text: &str) -> Option<SettingPairs> {
        let (section, rest) = text.split_once('=')?;
        if section.trim() == "meta-data" {
            let device = rest.split_whitespace().next()?.rsplit('/').next()?.to_owned();
            self.xfs = Some((device, "meta-data".into()));
        } else if ["data", "naming", "log", "realtime"].contains(&section.trim()) {
            self.xfs.as_mut()?.1 = section.trim().to_owned();
            self.block = 0;
        } else if !section.trim().is_empty()
            || !rest.trim_start().starts_with(|c: char| c.is_ascii_lowercase())
        {
            return None;
        }
        let (device, section) = self.xfs.as_ref()?;
        let number = |name: &str| {
            let all = rest.split([' ', ',']).filter_map(|word| word.split_once('='));
            all.filter(|(key, _)| *key == name).find_map(|(_, value)| value.parse::<u64>().ok())
        };
        self.block = number("bsize").unwrap_or(self.block);
        let bytes = |name: &str| Some(number(name)?.checked_mul(self.block)?).filter(|n| *n > 0);
        let told = match section.as_str() {
            "meta-data" => vec![("agcount", number("agcount"))],
            "data" => vec![("stripe_unit_bytes", bytes("sunit")), ("stripe_width_bytes", bytes("swidth"))],
            "log" => vec![("log_bytes", bytes("blocks"))],
            _ => vec![],
        };
        let named =
            |(name, value): (&str, Option<u64>)| Some((format!("{device}/xfs/{name}"), value?.to_string()));
        Some(told.into_iter().filter_map(named).collect())
    }

    fn ext_line(&mut self, text: &str) -> Option<SettingPairs> {
        let Some((key, value)) = text.split_once(':') else {
            self.ext = false;
            return None;
        };
        let value = value.trim();
        if key == "Filesystem magic number" && value == "0xEF53" {
            self.ext = true;
            return Some(vec![]);
        }
        let (_, name) = EXT.iter().find(|(known, _)| self.ext && *known == key)?;
        Some(vec![(format!("ext4/{name}"), value.to_owned())])
    }
}

#[cfg(test)]
mod tests {
    use crate::output::ToolOutput;

    fn of(text: &str) -> Vec<String> {
        let output = ToolOutput::read("text", text.as_bytes());
        output.settings.iter().map(|s| format!("{} = {}", s.name, s.value)).collect()
    }

    #[test]
    fn xfs_has_its_stripes_and_log_in_bytes() {
        let text = "> meta-data=/dev/sdb1              isize=512    agcount=4, agsize=61047662 blks\n\
            >          =                       sectsz=4096  attr=2, projid32bit=1\n\
            > data     =                       bsize=4096   blocks=244190646, imaxpct=25\n\
            >          =                       sunit=128    swidth=512 blks\n\
            > log      =internal log           bsize=4096   blocks=2560, version=2\n\
            >          =                       sectsz=4096  sunit=1 blks, lazy-count=1\n\
            > realtime =none                   extsz=4096   blocks=0, rtextents=0\n";
        let wanted = [
            "sdb1/xfs/agcount = 4",
            "sdb1/xfs/stripe_unit_bytes = 524288",
            "sdb1/xfs/stripe_width_bytes = 2097152",
            "sdb1/xfs/log_bytes = 10485760",
        ];
        assert_eq!(of(text), wanted);
    }

    #[test]
    fn ext4_and_mappings_are_told_and_no_key_is() {
        let text = "Filesystem magic number:  0xEF53\nFilesystem features:      has_journal extent\nInode count:              61054976\n\
            Block size:               4096\nRAID stripe width:        512\n\nvg-root: 0 7813971968 linear 8:2 2048\n\
            cryptdata: 0 7813971968 crypt aes-xts-plain64 0123456789abcdef 0 259:1 32768 1 no_read_workqueue\nBlock size: 7\nthe disk: 0 1 is linear\n";
        let wanted = [
            "ext4/features = has_journal extent",
            "ext4/block_size = 4096",
            "ext4/raid_stripe_width = 512",
            "dm/vg-root = linear 8:2 2048",
            "dm/cryptdata = crypt aes-xts-plain64 0 259:1 32768 1 no_read_workqueue",
        ];
        assert_eq!(of(text), wanted);
    }
}
