//! Live, as root: whose data a flusher wrote back, and whose changes the journal wrote.
//!
//! Two programs write a file each, one three times as much as the other. What `sync` then has written back must be theirs in
//! that proportion; what was dirty before the recording began must be nobody's.

use crate::lab::{Case, Recorded};
use serde_json::Value as Json;
use std::process::Command;

/// The programs are copies of `dd`: they have names of their own, `little` and `large`.
const TWO: &str = r#"
    cp $(command -v dd) little; cp $(command -v dd) large; cp $(command -v dd) early
    sync; ./early if=/dev/zero of=mnt/early bs=64k count=32 2>/dev/null
    two() {
        ./little if=/dev/zero of=mnt/little bs=64k count=64 2>/dev/null &
        ./large if=/dev/zero of=mnt/large bs=64k count=192 2>/dev/null
        wait; sync
    }
    export -f two
    record capture two"#;

const MIB: f64 = (1 << 20) as f64;

/// What was sent for those (or nobody), in MiB.
fn sent(said: &Json, what: &str, whose: Option<&str>) -> f64 {
    let all = said["sent_for"].as_array().unwrap().iter();
    let rows = all.filter(|r| r["what"] == what && r["whose"].as_str() == whose);
    rows.map(|r| r["bytes"].as_f64().unwrap()).sum::<f64>() / MIB
}

fn two(fs: &'static str) -> Option<(Recorded, Json)> {
    let disk = Some("--channels 4 --read-us 100 --write-us 300");
    let r = Case { disk, fs, setup: "", run: TWO, needs: &[] }.run()?;
    let said = r.iowhy(&["explain"], "capture");
    println!("{fs}: {}", said["sent_for"]);
    let (little, large) = (sent(&said, "file data", Some("little")), sent(&said, "file data", Some("large")));
    let nobody = sent(&said, "file data", None);
    println!("{fs}: little {little} MiB, large {large} MiB, nobody {nobody} MiB");
    // The kernel may have written a part of it through other ways than the flusher; it never writes more than there is.
    assert!((3.5..=4.1).contains(&little), "{little}");
    assert!((10.5..=12.1).contains(&large), "{large}");
    assert!((1.5..=2.5).contains(&nobody), "{nobody}");
    let early = said["sent_for"].to_string().contains("early");
    assert!(!early, "early wrote before the recording: {}", said["sent_for"]);
    Some((r, said))
}

/// Where people look: the screen, the tables, and the write-back's own ledger.
fn is_printed(r: &Recorded) {
    let text = |args: &[&str]| {
        let out =
            Command::new(env!("CARGO_BIN_EXE_iowhy")).args(args).arg(r.path("capture")).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    let screen = text(&["explain", "-v"]);
    let line = screen.lines().find(|l| l.starts_with("WROTE")).unwrap_or_else(|| panic!("{screen}"));
    println!("{line}");
    assert!(line.contains("data of large ("), "{line}");
    let slow = text(&["slow", "--op", "writeback", "-n", "50"]);
    assert!(slow.contains(", data of large, "), "{slow}");
    let out = Command::new(env!("CARGO_BIN_EXE_iowhy"))
        .arg("report")
        .arg(r.path("capture"))
        .arg("writers")
        .output()
        .unwrap();
    let table = String::from_utf8(out.stdout).unwrap();
    println!("{table}");
    assert!(table.contains("large") && table.contains("little"), "{table}");
}

fn two_writers_on_ext4() {
    let Some((r, said)) = two("ext4") else { return };
    let journal: Vec<&Json> =
        said["sent_for"].as_array().unwrap().iter().filter(|r| r["what"] == "journal").collect();
    assert!(!journal.is_empty(), "{said:#}");
    let whose = |name: &str| journal.iter().any(|r| r["whose"].as_str().is_some_and(|w| w.contains(name)));
    assert!(whose("large") && whose("little"), "{journal:?}");
    is_printed(&r);
}

fn two_writers_on_xfs() {
    let Some((r, _)) = two("xfs") else { return };
    is_printed(&r);
}

crate::lab::tried!(two_writers_on_ext4, two_writers_on_xfs);
