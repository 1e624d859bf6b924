//! A disk with a fault is named for it: the finding, and the cause where a recording shows it.

use super::disk::{findings, on_disk, GOOD};
use testkit::steady;

fn named(disk: &str, setup: &str, only: &str, finding: &str, cause: &str) {
    steady(|| {
        let Some(done) =
            on_disk(disk, setup, &format!("checkup --only {only} --seconds 1 -o r.json; clean 0"))
        else {
            return Ok(());
        };
        let found = findings(&done.json("r.json"));
        match found.iter().any(|f| f.starts_with(finding) && f.contains(cause)) {
            true => Ok(()),
            false => Err(format!("no {finding} because of {cause}: {found:#?}\n{}", done.said())),
        }
    });
}

#[test]
fn a_disk_that_flushes_slowly() {
    let disk = "--channels 8 --read-us 500 --write-us 500 --flush-us 15000";
    named(disk, "", "5", "5 slow-fsync", "flush-cost");
}

/// The cause comes from the recording, not from the setting alone, which says so only with low confidence.
#[test]
fn a_disk_whose_writers_starve_its_readers() {
    // Writeback comes in bursts of some MiB, and the disk is busy with each for a tenth of a second.
    let disk = "--channels 2 --read-us 500 --write-us 500 --mbps 40";
    steady(|| {
        let run = "checkup --only 2 -o r.json; clean 0";
        let Some(done) = on_disk(disk, "echo 0 > $queue/wbt_lat_usec", run) else { return Ok(()) };
        let json = done.json("r.json");
        let (found, steps) = (findings(&json), json["scenarios"][1]["steps"].as_array().unwrap());
        let causes =
            steps.iter().filter(|s| s["name"] == "beside buffered").flat_map(|s| s["causes"].as_array());
        let recorded = causes.flatten().any(|c| c["cause"] == "writeback-flood" && c["confidence"] != "low");
        let named = found.iter().any(|f| f.starts_with("2 writers-starve-readers writeback-flood"));
        (named && recorded).then_some(()).ok_or_else(|| format!("{found:#?}\n{}", done.said()))
    });
}

#[test]
fn a_disk_that_stalls() {
    named(&format!("{GOOD} --stall-every 60 --stall-us 300000"), "", "1", "1 stalls", "device-stall");
}

/// A volume with a limit that sleeps when it is idle: both are found, and that it serves few at once is not held against it.
#[test]
fn a_disk_that_is_held_back_and_sleeps() {
    let disk = "--channels 8 --read-us 500 --write-us 500 --rate 400 --burst 40 --sleep-after-ms 100 --wake-us 30000";
    steady(|| {
        let Some(done) = on_disk(disk, "", "checkup --only 1 --seconds 2 -o r.json; clean 0") else {
            return Ok(());
        };
        let found = findings(&done.json("r.json"));
        let has = |what: &str, why: &str| found.iter().any(|f| f.starts_with(what) && f.contains(why));
        let right = has("1 rate-limited", "rate-limit")
            && has("1 slow-after-a-pause", "power-state")
            && !has("1 one-at-a-time", "");
        right.then_some(()).ok_or_else(|| format!("{found:#?}\n{}", done.said()))
    });
}

#[test]
fn a_disk_that_asks_for_stable_pages() {
    let disk = "--channels 2 --read-us 200 --write-us 15000";
    named(disk, "echo 1 > $queue/stable_writes", "3", "3 appends-stall", "stable-page");
}

/// What was measured beside another's load is not the disk's: said, and neither a finding nor a result without problems.
#[test]
fn who_else_uses_the_disk_is_named() {
    let run = r#"
dd if=/dev/zero of=mnt/fill bs=1M count=32 oflag=direct 2>/dev/null
while [ ! -e stop ]; do dd if=mnt/fill of=/dev/null bs=128k iflag=direct 2>/dev/null; done &
checkup --only 7 --seconds 1 -o r.json > screen.txt; touch stop; wait %2; clean 0
"#;
    steady(|| {
        let Some(done) = on_disk(GOOD, "", run) else { return Ok(()) };
        let (json, screen) = (done.json("r.json"), done.text("screen.txt"));
        let step = &json["scenarios"][1]["steps"][0];
        let named = step["company"]["tasks"] == serde_json::json!(["dd"]);
        let said =
            screen.contains("OTHER I/O in one at a time: dd moved") && !screen.contains("NO PROBLEMS FOUND");
        (named && said).then_some(()).ok_or_else(|| format!("{step:#}\n{screen}\n{}", done.said()))
    });
}

/// A disk that serves one at a time and whose large requests are cut: both are found; the remedy of one is tried, and taken
/// back, also after a kill, with nobody calling iowhy again.
#[test]
fn a_remedy_is_tried_and_taken_back() {
    let run = r#"
limit() { cat $queue/max_sectors_kb; }
echo yes | checkup --only 4 --seconds 0.4 --apply-trial -o r.json; [ "$(limit)" = 32 ]; clean 0
echo no | checkup --only 4 --seconds 0.15 --apply-trial -o no.json; [ "$(limit)" = 32 ]
# Killed in the middle of it.
set -m; echo yes | bash -c 'echo $$ > trial.pid; exec "$IOWHY" checkup mnt --only 4 --seconds 0.3 --apply-trial' >/dev/null 2>said.txt & set +m
for i in $(seq 1200); do [ "$(limit)" = 32 ] || break; sleep 0.05; done
[ "$(limit)" != 32 ] || { cat said.txt; exit 6; }
kill -KILL $(cat trial.pid)
for i in $(seq 100); do [ "$(limit)" = 32 ] && break; sleep 0.05; done
[ "$(limit)" = 32 ] || exit 4
PATH= "$IOWHY" checkup mnt 2>next.txt && exit 9 || true
[ "$(limit)" = 32 ] || { cat next.txt; exit 5; }
"$IOWHY" record --clean > /dev/null; clean 0
"#;
    // It varies by 15 %, as disks do: what takes a millisecond for each, even as a clock, is a limit.
    let disk = "--channels 1 --read-us 1000 --write-us 1000 --mbps 400 --jitter 15";
    steady(|| {
        let Some(done) = on_disk(disk, "echo 32 > $queue/max_sectors_kb", run) else { return Ok(()) };
        let json = done.json("r.json");
        let (trial, found) = (&json["trial"], findings(&json));
        assert!(done.json("no.json")["trial"].is_null());
        let named = ["1 one-at-a-time", "4 requests-cut request-size"];
        let all = named.iter().all(|n| found.iter().any(|f| f.starts_with(n)));
        match all && trial["helped"] == true && trial["was"] == "32" {
            true => Ok(()),
            false => Err(format!("{found:#?}, {trial:#}\n{}", done.said())),
        }
    });
}
