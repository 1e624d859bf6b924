//! What is wrong with an array of disks, from settings in a text (Documentation/admin-guide/md.rst).

use explain::Explanation;
use std::collections::BTreeMap;

/// The array's trouble as a clause: a disk that failed, disks that are missing, a check or copy of its disks; `None` if there is none.
pub(super) fn trouble(e: &Explanation) -> Option<String> {
    // In the order of the texts: of several values of a name the last one holds.
    let all: BTreeMap<&str, &str> = e
        .texts
        .outputs
        .iter()
        .flat_map(|m| &m.settings)
        .map(|s| (s.name.as_str(), s.value.as_str()))
        .collect();
    let failed = all.iter().find_map(|(name, value)| {
        let (array, member) = name.split_once("/md/dev-")?;
        let disk = member.strip_suffix("/state").filter(|_| *value == "faulty")?;
        let whole = evidence::whole_disk(disk);
        Some(format!(
            "{array} runs without {disk}, which failed: mdadm --detail /dev/{array}; smartctl -a /dev/{whole}"
        ))
    });
    let missing = || {
        all.iter().find_map(|(name, value)| {
            let array = name.strip_suffix("/md/degraded").filter(|_| *value != "0")?;
            let disks = if *value == "1" { "a disk".into() } else { format!("{value} disks") };
            Some(format!("{array} runs without {disks}: mdadm --detail /dev/{array}"))
        })
    };
    let busy = || {
        all.iter().find_map(|(name, value)| {
            let array = name.strip_suffix("/md/sync_action").filter(|_| *value != "idle")?;
            // It waits for another array and costs nothing yet.
            let delayed = all.get(format!("{array}/md/sync_completed").as_str()) == Some(&"delayed");
            (!delayed).then_some(())?;
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
        let waits = "      \tresync=DELAYED\n";
        assert!(of("sdb1[1] sda1[0]", "1", waits).expect("a clause").starts_with("md0 runs without a disk"));
        // As mdadm --detail says it.
        let detail = |active: u8| {
            super::tests::of(&format!(
                "/dev/md0:\n        Raid Level : raid6\n      Raid Devices : 10\n             State : clean, degraded\n    Active Devices : {active}\n"
            ))
        };
        assert_eq!(detail(9).as_deref(), Some("md0 runs without a disk: mdadm --detail /dev/md0"));
        assert_eq!(detail(10), None);
    }

    /// The order of the texts decides, not which value is worse.
    #[test]
    fn an_array_that_is_complete_later_has_no_trouble() {
        let whole = "md0 : active raid1 sdy1[1] sdx1[0]\n      9990 blocks [2/2] [UU]\n\n";
        let copies = "md0 : active raid1 sdy1[2] sdx1[0]\n      9990 blocks [2/1] [U_]\n      \
            [==>..]  recovery = 14.5% (1448/9990) finish=0.2min speed=700K/sec\n\n";
        let failed = "md0 : active raid1 sdy1[1](F) sdx1[0]\n      9990 blocks [2/1] [U_]\n\n";
        for before in [copies, failed] {
            assert_eq!(of(&format!("{before}{whole}")), None, "{before}");
            assert!(of(&format!("{whole}{before}")).is_some(), "{before}");
        }
        let then = of(&format!("{failed}{copies}")).expect("a clause");
        assert!(then.starts_with("md0 is busy with a recover"), "{then}");
    }
}
