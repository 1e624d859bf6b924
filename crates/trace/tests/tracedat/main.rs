//! trace.dat against `trace-cmd report`: same events, same fields, same times, same symbols.
//!
//! Large recordings are given by the environment variable CAPTURES, a folder whose subfolders hold a trace.dat.

mod build;
mod fixtures;
mod hostile;
mod live;
mod report;
mod tasks;
mod words;

use std::path::Path;

/// Says loudly that a test did not run.
fn skip(why: &str) {
    eprintln!("\n*** SKIPPED: {why} ***\n");
}

fn have(tool: &str) -> bool {
    std::process::Command::new(tool).arg("--help").output().is_ok()
}

/// How much faster per event than `trace-cmd report` reading has to be.
const FASTER: f64 = 10.0;

#[test]
fn captures_agree_with_trace_cmd() {
    let Ok(folder) = std::env::var("CAPTURES") else {
        return skip("CAPTURES is not set: no large recordings were compared");
    };
    if !have("trace-cmd") {
        return skip("trace-cmd is not installed");
    }
    let mut seen = 0;
    for entry in std::fs::read_dir(&folder).expect("CAPTURES can be read").flatten() {
        let file = entry.path().join("trace.dat");
        if file.exists() {
            let n = report::compare(&file, &[]);
            report::compare_stacks(&file);
            let times = report::race(&file);
            eprintln!("{}: {n} events, all the same; {times:.0} times faster", file.display());
            if !cfg!(debug_assertions) {
                assert!(times > FASTER, "only {times:.1} times as fast as trace-cmd report");
            }
            seen += 1;
        }
    }
    if seen == 0 {
        skip(&format!("no trace.dat below {}", Path::new(&folder).display()));
    }
}
