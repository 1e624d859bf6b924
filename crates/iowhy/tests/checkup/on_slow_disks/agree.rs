//! A good disk gets a result without problems; two runs on it agree, and a slower disk is told from it.

use super::disk::{findings, on_disk};
use crate::schema::Schema;
use testkit::steady;

/// Good, and slow enough that what busy processors add to each operation is little beside it.
const UNHURRIED: &str = "--channels 8 --read-us 2000 --write-us 2000 --mbps 400";

/// Both: that no change is claimed where there is none means something only if one is claimed where there is one.
#[test]
fn a_good_disk_gets_a_clean_bill_and_two_runs_agree() {
    let run = r#"
checkup --seconds 0.6 -o a.json > a.txt
checkup --seconds 0.6 --only 2,5 -o b.json --compare a.json --html b.html > same.txt; clean 0
detach; attach --channels 8 --read-us 6000 --write-us 6000 --mbps 400
checkup --seconds 1 --only 1 -o c.json --compare a.json > slower.txt; clean 0
"#;
    steady(|| {
        let Some(done) = on_disk(UNHURRIED, "", run) else { return Ok(()) };
        for (file, scenarios) in [("a.json", 7), ("b.json", 3)] {
            let checkup = done.json(file);
            assert_eq!(checkup["schema"], "iowhy.checkup/1");
            assert_eq!(Schema::of(&checkup).check(&checkup), [""; 0], "{file}");
            assert_eq!(checkup["scenarios"].as_array().unwrap().len(), scenarios);
            assert_eq!(checkup["recorded"], true, "{}", checkup["not_seen"]);
            assert!(checkup["written_bytes"].as_u64() <= checkup["most_bytes"].as_u64());
            if findings(&checkup) != [""; 0] {
                return Err(format!("{file}: {:?}\n{}", findings(&checkup), done.said()));
            }
        }
        let (same, slower) = (done.text("same.txt"), done.text("slower.txt"));
        assert!(done.text("b.html").contains("no change larger") == same.contains("no change larger"));
        if !same.contains("no change larger") || !same.contains("NO PROBLEMS FOUND") {
            return Err(same);
        }
        // On a machine whose processors are full it is only a `maybe`.
        let told = |mark: &str| slower.contains(&format!("{mark} 1 quiet / depth 1 / reads: p50: "));
        (told("WORSE") || told("maybe")).then_some(()).ok_or(slower.clone())
    });
}
