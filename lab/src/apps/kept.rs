//! What of a draw is kept in the repository (lab/draws): a line of JSON for each condition, with what every run of it took and what is true.
//! Recordings are large and made by command; these are what a draw cost hours to find out.

use super::truth::Truth;
use crate::outcome::Outcome;
use std::path::{Path, PathBuf};

/// Where they lie.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("draws")
}

/// Keeps the truths of a draw, by the order of its conditions.
pub fn keep(draw: &Path) -> Outcome {
    let mut names: Vec<PathBuf> =
        std::fs::read_dir(draw)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    names.retain(|path| path.to_string_lossy().ends_with(".truth.json"));
    names.sort();
    let mut lines = String::new();
    let mut seed = None;
    for path in &names {
        let truth: Truth = serde_json::from_slice(&std::fs::read(path)?)?;
        seed = Some(truth.condition.seed);
        lines += &serde_json::to_string(&truth)?;
        lines.push('\n');
    }
    let seed = seed.ok_or_else(|| format!("{}: no condition of it is done", draw.display()))?;
    std::fs::create_dir_all(folder())?;
    let file = folder().join(format!("seed-{seed}.jsonl"));
    std::fs::write(&file, lines)?;
    println!("{}: {} conditions", file.display(), names.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::condition::Thing;
    use super::super::truth::{decided, enough, helping, QUICKEST_US};
    use super::*;

    /// From this seed on a client less that saves more than the best counts, however little that is.
    const MORE_THAN_BEST: u64 = 20;

    /// From this seed on what saves less than any disk takes does not count.
    const LONG_ENOUGH: u64 = 26;

    /// From this seed on a client less counts only where the work is done as soon.
    const AS_SOON: u64 = 27;

    /// From this seed on a run that is over before the neighbours begin decides nothing.
    const MET_NEIGHBOURS: u64 = 40;

    /// What is said to help follows from the runs that are told, by the rule as it stands.
    #[test]
    fn what_helps_follows_from_the_runs() {
        let mut all = 0;
        for file in std::fs::read_dir(folder()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|e| e != "jsonl") {
                continue;
            }
            let number =
                path.file_stem().and_then(|n| n.to_str()?.strip_prefix("seed-")?.parse::<u64>().ok());
            let seed = number.expect("seed-N.jsonl");
            for line in std::fs::read_to_string(&path).unwrap().lines() {
                let truth: Truth = serde_json::from_str(line).unwrap();
                let name = format!("{}: {}", path.display(), truth.condition.name);
                let best = truth.reruns.iter().map(|r| r.mean).fold(f64::INFINITY, f64::min);
                if seed < LONG_ENOUGH && truth.baseline.mean() - best < QUICKEST_US {
                    continue;
                }
                let everything = truth.reruns.iter().find(|r| r.without == Thing::Everything);
                let single = || truth.reruns.iter().filter(|r| r.without != Thing::Everything).cloned();
                let helps = match everything {
                    Some(everything) if !truth.alone.is_empty() => {
                        enough(&truth.baseline, everything.mean, &truth.alone)
                    }
                    _ => {
                        let clients = if seed < AS_SOON { 1 } else { truth.condition.clients };
                        helping(&truth.baseline, &single().collect::<Vec<_>>(), clients)
                    }
                };
                let c = &truth.condition;
                let over_before = c.over_before_neighbours(truth.baseline.operations);
                let over_before = over_before.filter(|_| seed >= MET_NEIGHBOURS);
                let helps = decided(&truth.baseline, &truth.reruns, helps, truth.sharing, over_before);
                assert_eq!(helps.is_err(), truth.undecided.is_some(), "{name}");
                let mut helps = helps.unwrap_or_default();
                if seed < MORE_THAN_BEST && !truth.helps.contains(&Thing::Depth) {
                    helps.retain(|thing| *thing != Thing::Depth);
                }
                assert_eq!(helps, truth.helps, "{name}");
                all += 1;
            }
        }
        assert!(all > 100, "{all} conditions are kept");
    }
}
