//! Seek distances against btt's own Q2Q table, on extents made up here and written as blktrace does.

use stats::{Measure, Seeks};
use std::fs;
use std::path::Path;
use std::process::Command;
use trace::{Bytes, Sector};

/// `struct blk_io_trace`, version 7 (include/uapi/linux/blktrace_api.h), with no payload.
fn record(out: &mut Vec<u8>, sequence: u32, time: u64, sector: u64, bytes: u32, action: u32) {
    const MAGIC: u32 = 0x6561_7407;
    const SDA: u32 = 8 << 20;
    out.extend(MAGIC.to_le_bytes());
    out.extend(sequence.to_le_bytes());
    out.extend(time.to_le_bytes());
    out.extend(sector.to_le_bytes());
    for word in [bytes, action, 100, SDA, 0] {
        out.extend(word.to_le_bytes());
    }
    out.extend([0; 4]);
}

/// Reads, one after the other: queued, request got, inserted, issued, completed.
fn blktrace(extents: &[(u64, u64)]) -> Vec<u8> {
    const READ: u32 = 1 << 16;
    const STEPS: [(u32, u32); 5] = [(1, 1 << 4), (4, 1 << 4), (12, 1 << 4), (7, 1 << 6), (8, 1 << 7)];
    let mut out = Vec::new();
    let mut sequence = 1;
    for (i, &(sector, sectors)) in extents.iter().enumerate() {
        for (step, (action, category)) in STEPS.into_iter().enumerate() {
            let time = (i as u64 * 10 + step as u64) * 1000;
            record(&mut out, sequence, time, sector, sectors as u32 * 512, action | category << 16 | READ);
            sequence += 1;
        }
    }
    out
}

/// (number, mean in sectors) from the Q2Q table.
fn btt(extents: &[(u64, u64)], measure: Measure, folder: &Path) -> (u64, f64) {
    fs::write(folder.join("t.blktrace.0"), blktrace(extents)).unwrap();
    let run = |tool: &str, args: &[&str]| {
        let out = Command::new(tool).args(args).current_dir(folder).output().unwrap();
        assert!(out.status.success(), "{tool}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    run("blkparse", &["-q", "-i", "t", "-d", "t.bin", "-O"]);
    let args: &[&str] = if measure == Measure::Absolute { &["-a", "-i", "t.bin"] } else { &["-i", "t.bin"] };
    let printed = run("btt", args);
    let table = printed.split("Device Q2Q Seek Information").nth(1).expect("btt prints a Q2Q table");
    let row = table.lines().find(|l| l.starts_with(" (  8,  0) |")).expect("a row for 8,0");
    let words: Vec<&str> = row.split('|').nth(1).unwrap().split_whitespace().collect();
    (words[0].parse().unwrap(), words[1].parse().unwrap())
}

#[test]
fn same_number_and_mean_as_btt() {
    if Command::new("btt").arg("-V").output().is_err() || Command::new("blkparse").arg("-V").output().is_err()
    {
        eprintln!("SKIPPED: seeks were not compared with btt; install blktrace to have it done");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // A fixed sequence (Knuth's MMIX generator): near ones that overlap, and far ones.
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    for (span, n) in [(64, 500), (1000, 500), (1 << 30, 500)] {
        let extents: Vec<(u64, u64)> = (0..n).map(|_| (random(span), random(40))).collect();
        for measure in [Measure::Closest, Measure::Absolute] {
            let mut ours = Seeks::new(measure);
            // btt counts a seek from sector 0 to the first extent.
            let first = extents.iter().find(|e| e.1 > 0).unwrap().0;
            extents.iter().for_each(|&(at, len)| ours.record(Sector(at), Bytes::from_sectors(len)));
            let (count, mean) = btt(&extents, measure, folder.path());
            assert_eq!(ours.count() + 1, count);
            let ours = (ours.distances().sum() + first as u128) as f64 / count as f64;
            assert!((ours - mean).abs() <= 0.0501, "{measure:?} within {span}: {ours}, btt {mean}");
        }
    }
}
