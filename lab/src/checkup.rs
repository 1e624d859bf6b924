//! A checkup with an array below, in the virtual machine: seed 004 as its seventh scenario sees it.
//!
//! Four disks of 40 ms, so slow that an emulated processor does not show beside them, as RAID 5: without a bitmap, and with
//! one of small chunks, of which each write dirties another.

use crate::bench::{folder, Tools};
use crate::machine::Machine;
use crate::outcome::Outcome;
use serde_json::Value;

/// Each takes some four minutes.
const SECONDS: u32 = 900;
/// One: a checkup switches recording on and off some twenty times, and with two emulated processors each time they have to agree
/// on it; once in a while one of them then waited for ever ("soft lockup - CPU#1 stuck").
const PROCESSORS: u32 = 1;
/// MiB of each disk.
const SIZE: &str = "192";

/// bash, in the guest.
const BODY: &str = r#"
for i in 0 1 2 3; do slow $i 40000; done
load raid456; load ext4
mdadm --create /dev/md0 --run --level=5 --chunk=8 --raid-devices=4 --assume-clean $BITMAP /dev/nullb0 /dev/nullb1 /dev/nullb2 /dev/nullb3 2> mdadm.txt
# As it is made each bit of a bitmap is set, until it was looked at twice.
if [ -e /sys/block/md0/md/bitmap/time_base ]; then
  echo 1 > /sys/block/md0/md/bitmap/time_base; sleep 8; echo 5 > /sys/block/md0/md/bitmap/time_base
fi
mkfs.ext4 -q /dev/md0; mount /dev/md0 mnt
"$IOWHY" checkup --full --only 7 -o /mnt/share/checkup.json mnt
"#;

/// Without a bitmap and with one; prints both screens, and fails if the seventh scenario does not name what it is.
pub fn checkup(machine: &Machine, tools: &Tools) -> Outcome {
    let small = "--bitmap=internal --bitmap-chunk=64K";
    for (bitmap, cause) in [("--bitmap=none", "raid-read-modify-write"), (small, "raid-bitmap")] {
        let variables = vec![
            ("IOWHY", tools.iowhy.clone().into_os_string()),
            ("SIZE", SIZE.into()),
            ("BITMAP", bitmap.into()),
        ];
        let dir = folder()?;
        std::fs::write(dir.path().join("script"), machine.prepared(variables, BODY)?)?;
        machine.boot(dir.path(), &[], PROCESSORS, SECONDS)?;
        println!("mdadm --create {bitmap}\n{}", std::fs::read_to_string(dir.path().join("stdout"))?);
        let said: Value = serde_json::from_slice(&std::fs::read(dir.path().join("checkup.json"))?)?;
        if !names(&said, cause) {
            return Err(format!("{bitmap}: the seventh scenario does not name {cause}").into());
        }
    }
    Ok(())
}

/// Whether the seventh scenario has a finding with this cause.
fn names(checkup: &Value, cause: &str) -> bool {
    let each = |v: &Value| v.as_array().cloned().unwrap_or_default();
    let seventh = each(&checkup["scenarios"]).into_iter().filter(|s| s["number"] == 7);
    let mut findings = seventh.flat_map(|s| each(&s["findings"]));
    findings.any(|f| each(&f["causes"]).iter().any(|c| c == cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_finding_of_the_seventh_counts() {
        let of = |number: u8| json!({"scenarios": [{"number": number, "findings": [{"causes": ["raid-bitmap"]}]}]});
        assert!(names(&of(7), "raid-bitmap"));
        assert!(!names(&of(7), "raid-read-modify-write"));
        assert!(!names(&of(5), "raid-bitmap"));
        assert!(!names(&json!({}), "raid-bitmap"));
    }
}
