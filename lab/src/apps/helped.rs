//! Whether the first remedy of an answer helps, by the runs that were made anyway: one of them may have been without what it takes away.
//!
//! A remedy that is only a look at something, or that no run stands for, is not counted.

use super::catalogue::Catalogue;
use super::condition::Thing;
use super::truth::Truth;
use serde_json::Value;

/// What writeback throttling is switched off with.
const WBT: &str = "/queue/wbt_lat_usec";

/// Whether a run without what the first remedy takes away was faster than noise and notice; `None`: nothing was run without it.
pub(crate) fn helped(truth: &Truth, answer: &Value, catalogue: &Catalogue) -> Option<bool> {
    let first = answer["try"].as_array()?.first()?;
    let (command, on) = (first["command"].as_str()?, first["on"].as_str()?);
    let takes_away = |thing: &Thing| match thing {
        Thing::Neighbour(n) => {
            on == "culprit" && catalogue.neighbour[n].culprits.iter().any(|c| names(command, c))
        }
        Thing::Setting(s) => catalogue.setting[s].undone_by.as_ref().is_some_and(|by| command.contains(by)),
        Thing::Part(p) => catalogue.part[p].undone_by.as_ref().is_some_and(|by| command.contains(by)),
        Thing::Wbt => command.contains(WBT),
        Thing::Neighbours | Thing::Sharing | Thing::Depth | Thing::Disk | Thing::Everything => false,
    };
    let means = truth.reruns.iter().filter(|r| takes_away(&r.without)).map(|r| r.mean);
    let best = means.min_by(f64::total_cmp)?;
    Some(truth.baseline.helped(best))
}

/// Whether a command has a task's name as a word.
fn names(command: &str, task: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    command.split(|c| !is_of_name(c)).any(|word| word == task)
}

#[cfg(test)]
mod tests {
    use super::super::truth::{Baseline, Rerun};
    use super::*;
    use serde_json::json;

    #[test]
    fn a_remedy_is_measured_by_the_run_without_what_it_takes_away() {
        let catalogue = Catalogue::read().unwrap();
        let without = |thing: Thing, mean| Rerun { without: thing, mean };
        let truth = Truth {
            condition: super::super::condition::Condition::drawn(&catalogue, 1, 1),
            versions: vec![],
            baseline: Baseline {
                recorded: 10_000.0,
                repeats: vec![10_000.0, 10_100.0],
                operations: 400,
                window: None,
                emulated: false,
            },
            reruns: vec![
                without(Thing::Neighbour("copy".into()), 2_000.0),
                without(Thing::Part("flush".into()), 9_900.0),
            ],
            alone: vec![],
            sharing: None,
            helps: vec![],
            causes: vec![],
            culprits: vec![],
            victims: vec![],
            undecided: None,
        };
        let says = |command: &str, on: &str| {
            let answer = json!({ "try": [{ "what": "", "command": command, "on": on }] });
            helped(&truth, &answer, &catalogue)
        };
        assert_eq!(says("kill -STOP $(pgrep -x 'cp')", "culprit"), Some(true));
        assert_eq!(says("kill -STOP $(pgrep -x 'cpio')", "culprit"), None);
        assert_eq!(
            says("echo \"write through\" > /sys/block/loop0/queue/write_cache", "device"),
            Some(false)
        );
        assert_eq!(says("smartctl -a /dev/loop0", "host"), None);
    }
}
