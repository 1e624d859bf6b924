//! What is wrong with an array of disks, from settings in a text (Documentation/admin-guide/md.rst).

use explain::Explanation;

/// The array's trouble as a clause: a disk that failed, disks that are missing, a check or copy of its disks; `None` if there is none.
pub(super) fn trouble(e: &Explanation) -> Option<String> {
    let all =
        || e.texts.outputs.iter().flat_map(|m| &m.settings).map(|s| (s.name.as_str(), s.value.as_str()));
    let failed = all().find_map(|(name, value)| {
        let (array, member) = name.split_once("/md/dev-")?;
        let disk = member.strip_suffix("/state").filter(|_| value == "faulty")?;
        let whole = evidence::whole_disk(disk);
        Some(format!(
            "{array} runs without {disk}, which failed: mdadm --detail /dev/{array}; smartctl -a /dev/{whole}"
        ))
    });
    let missing = || {
        all().find_map(|(name, value)| {
            let array = name.strip_suffix("/md/degraded").filter(|_| value != "0")?;
            let disks = if value == "1" { "a disk".into() } else { format!("{value} disks") };
            Some(format!("{array} runs without {disks}: mdadm --detail /dev/{array}"))
        })
    };
    let busy = || {
        all().find_map(|(name, value)| {
            let array = name.strip_suffix("/md/sync_action").filter(|_| value != "idle")?;
            Some(format!(
                "{array} is busy with a {value}, which uses all its disks; what that costs: iowhy record"
            ))
        })
    };
    failed.or_else(busy).or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use explain::texts::Texts;
    use tooltext::ToolOutput;

    fn of(text: &str) -> Option<String> {
        let texts = Texts { outputs: vec![ToolOutput::read("mdstat", text.as_bytes())], ..Texts::default() };
        trouble(&Explanation::of_texts(texts))
    }

    #[test]
    fn a_failed_disk_is_told_first_then_a_copy_then_what_is_missing() {
        let of = |members: &str, present: &str, more: &str| {
            of(&format!("Personalities : [raid1]\nmd0 : active raid1 {members}\n      243537216 blocks [2/{present}] [U_]\n{more}unused devices: <none>\n"))
        };
        let copy = "      [=>...................]  recovery =  6.6% (16304448/243537216) finish=308.6min speed=12266K/sec\n";
        let failed = of("sdb1[2](F) sda1[0]", "1", copy).expect("a clause");
        assert!(failed.starts_with("md0 runs without sdb1, which failed: "), "{failed}");
        assert!(of("sdb1[2] sda1[0]", "1", copy)
            .expect("a clause")
            .starts_with("md0 is busy with a recover, "));
        assert_eq!(
            of("sda1[0]", "1", "").as_deref(),
            Some("md0 runs without a disk: mdadm --detail /dev/md0")
        );
        assert_eq!(of("sdb1[1] sda1[0]", "2", ""), None);
        // As mdadm --detail says it.
        let detail = |active: u8| {
            super::tests::of(&format!(
                "/dev/md0:\n        Raid Level : raid6\n      Raid Devices : 10\n             State : clean, degraded\n    Active Devices : {active}\n"
            ))
        };
        assert_eq!(detail(9).as_deref(), Some("md0 runs without a disk: mdadm --detail /dev/md0"));
        assert_eq!(detail(10), None);
    }
}
