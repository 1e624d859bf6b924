//! How file systems and mappings are laid out: xfs_info (and mkfs.xfs), tune2fs -l (and dumpe2fs -h), dmsetup table.
//!
//! ```text
//! meta-data=/dev/sdb1              isize=512    agcount=4, agsize=61047662 blks
//! data     =                       bsize=4096   blocks=244190646, imaxpct=25
//!          =                       sunit=128    swidth=512 blks
//! log      =internal log           bsize=4096   blocks=2560, version=2
//! Filesystem magic number:  0xEF53
//! RAID stripe width:        512
//! vg-root: 0 7813971968 linear 8:2 2048
//! ```
//!
//! Keys of dm-crypt, which `dmsetup table --showkeys` prints, are never kept.

/// Lines of tune2fs and what they are called here.
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
/// Words of a target's arguments that are kept.
const MOST_ARGUMENTS: usize = 16;

/// What the lines that follow belong to.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// The device of xfs_info, and which of its sections: `data`, `log`.
    xfs: Option<(String, String)>,
    /// Bytes of a block in that section.
    block: u64,
    ext: bool,
}

impl Layout {
    /// What a line sets, by name and value; `None` if it is none of these.
    pub fn line(&mut self, line: &str) -> Option<Vec<(String, String)>> {
        let text = line.trim();
        self.xfs_line(text).or_else(|| self.ext_line(text)).or_else(|| mapping(text))
    }

    fn xfs_line(&mut self, text: &str) -> Option<Vec<(String, String)>> {
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

    fn ext_line(&mut self, text: &str) -> Option<Vec<(String, String)>> {
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

/// `vg-root: 0 7813971968 linear 8:2 2048`
fn mapping(text: &str) -> Option<Vec<(String, String)>> {
    let (name, rest) = text.split_once(": ")?;
    let mut words = rest.split_whitespace();
    let numbers = words.next()?.parse::<u64>().is_ok() && words.next()?.parse::<u64>().is_ok();
    let target = words.next().filter(|t| TARGETS.contains(t) && numbers && !name.contains(' '))?;
    let mut arguments: Vec<&str> = words.take(MOST_ARGUMENTS).collect();
    if target == "crypt" && arguments.len() > 1 {
        arguments.remove(1);
    }
    Some(vec![(format!("dm/{name}"), [&[target], &arguments[..]].concat().join(" "))])
}

#[cfg(test)]
mod tests {
    use crate::Mail;

    fn of(text: &str) -> Vec<String> {
        let mail = Mail::read("text", text.as_bytes());
        mail.settings.iter().map(|s| format!("{} = {}", s.name, s.value)).collect()
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
