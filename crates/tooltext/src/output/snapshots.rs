//! States of md arrays that several snapshots of `/proc/mdstat` in one text tell: the last snapshot holds.
//!
//! A snapshot tells what is wrong or under way only while it is so. What an array's next snapshot no longer tells is over:
//!
//! ```text
//! md0 : active raid1 sdb1[2] sda1[1]
//!       [=>...................]  recovery = 28.0% ...             md0/md/sync_action = recover
//! md0 : active raid1 sdb1[0] sda1[1]                              md0/md/sync_action = idle
//! ```
//!
//! A quote is older than the text around it, although it may come after it.

use super::Setting;
use evidence::Spot;
use std::collections::HashMap;

/// Files in `/sys/block/mdN/md/` with states that are told only while they hold, and what holds afterwards.
const OVER: [(&str, &str); 2] = [("sync_action", "idle"), ("sync_completed", "none")];
/// The state of a member, in `dev-NAME/state`, and what holds once a snapshot does not repeat it.
const MEMBER: (&str, &str) = ("faulty", "not faulty");
/// Files whose value may return to an earlier one, in addition to those of [`OVER`].
const CHANGING: [&str; 3] = ["degraded", "array_state", "sync_speed"];

/// The snapshots of each array, and the states that they told.
#[derive(Debug, Default)]
pub(super) struct Snapshots {
    arrays: HashMap<String, Array>,
    states: HashMap<String, State>,
}

#[derive(Debug, Default)]
struct Array {
    /// Places of its snapshots.
    begins: Vec<Spot>,
    /// How deep in quotes the last of these is.
    depth: usize,
    /// Whether the current one is a quote after newer text.
    old: bool,
}

/// What a snapshot told last under one name.
#[derive(Debug)]
struct State {
    value: String,
    /// Number of snapshots of the array up to and with that one.
    snapshot: usize,
}

impl Snapshots {
    /// A snapshot of this array begins, within so many quotes.
    pub fn begin(&mut self, array: &str, at: Spot, depth: usize) {
        let seen = self.arrays.entry(array.to_owned()).or_default();
        seen.old = !seen.begins.is_empty() && depth > seen.depth;
        if !seen.old {
            seen.depth = depth;
            seen.begins.push(at);
        }
    }

    /// Whether this says something new about a state of an array; `None` if it is no such state.
    pub fn is_new(&mut self, name: &str, value: &str) -> Option<bool> {
        let (array, file) = name.split_once("/md/")?;
        let known = CHANGING.contains(&file) || over(file).is_some();
        known.then_some(())?;
        let seen = self.arrays.get(array);
        if seen.is_some_and(|seen| seen.old) {
            return Some(false);
        }
        let state = State { value: value.to_owned(), snapshot: seen.map_or(0, |seen| seen.begins.len()) };
        let before = self.states.insert(name.to_owned(), state);
        Some(before.is_none_or(|before| before.value != value))
    }

    /// The states that are over, each at the snapshot that no longer tells it.
    pub fn over(self) -> Vec<Setting> {
        let ended = self.states.into_iter().filter_map(|(name, state)| {
            let (array, file) = name.split_once("/md/")?;
            let at = *self.arrays.get(array)?.begins.get(state.snapshot)?;
            let value = over(file)?.to_owned();
            Some(Setting { name, value, at })
        });
        let mut all: Vec<Setting> = ended.collect();
        all.sort_by(|a, b| (a.at, &a.name).cmp(&(b.at, &b.name)));
        all
    }
}

/// What holds for this file of an array when a snapshot tells nothing of it.
fn over(file: &str) -> Option<&'static str> {
    let member = file.starts_with("dev-") && file.ends_with("/state");
    OVER.iter().find(|(name, _)| *name == file).map(|(_, value)| *value).or(member.then_some(MEMBER.1))
}

#[cfg(test)]
mod tests {
    use crate::output::ToolOutput;

    /// The last value of each state of `md0`.
    fn last(text: &str, file: &str) -> Option<String> {
        let output = ToolOutput::read("text", text.as_bytes());
        let name = format!("md0/md/{file}");
        assert!(output.settings.is_sorted_by_key(|s| s.at), "{:?}", output.settings);
        output.settings.iter().rfind(|s| s.name == name).map(|s| s.value.clone())
    }

    const WHOLE: &str = "md0 : active raid1 sdy1[0] sdx1[1]\n      9990 blocks [2/2] [UU]\n\n";
    const COPIES: &str = "md0 : active raid1 sdy1[2] sdx1[1]\n      9990 blocks [2/1] [_U]\n      \
        [==>..................]  recovery = 14.5% (1448/9990) finish=0.2min speed=700K/sec\n\n";
    const FAILED: &str = "md0 : active raid1 sdy1[0](F) sdx1[1]\n      9990 blocks [2/1] [_U]\n\n";

    #[test]
    fn the_last_snapshot_holds() {
        for (text, action, degraded) in [
            (format!("{COPIES}{WHOLE}"), "idle", "0"),
            (format!("{WHOLE}{COPIES}"), "recover", "1"),
            (format!("{COPIES}{WHOLE}{COPIES}"), "recover", "1"),
            (format!("{COPIES}{COPIES}{WHOLE}{WHOLE}"), "idle", "0"),
        ] {
            assert_eq!(last(&text, "sync_action").as_deref(), Some(action), "{text}");
            assert_eq!(last(&text, "degraded").as_deref(), Some(degraded), "{text}");
        }
        assert_eq!(last(&format!("{FAILED}{WHOLE}"), "dev-sdy1/state").as_deref(), Some("not faulty"));
        assert_eq!(last(&format!("{WHOLE}{FAILED}"), "dev-sdy1/state").as_deref(), Some("faulty"));
        // One snapshot ends nothing.
        assert_eq!(last(WHOLE, "sync_action"), None);
    }

    #[test]
    fn a_quote_after_the_answer_is_older() {
        let quote: String = COPIES.lines().map(|line| format!("> {line}\n")).collect();
        let text = format!("It is done:\n{WHOLE}\n{quote}");
        assert_eq!((last(&text, "degraded").as_deref(), last(&text, "sync_action")), (Some("0"), None));
        let text = format!("{quote}\nIt is done:\n{WHOLE}");
        assert_eq!(last(&text, "sync_action").as_deref(), Some("idle"));
    }

    #[test]
    fn mdadm_ends_what_mdadm_told() {
        let detail =
            |state: &str| format!("/dev/md0:\n        Raid Level : raid1\n             State : {state}\n");
        let text =
            format!("{}    Rebuild Status : 3% complete\n{}", detail("clean, recovering"), detail("clean"));
        assert_eq!(last(&text, "sync_action").as_deref(), Some("idle"));
        // A head alone, as hdparm prints it, tells nothing of the state.
        let text = format!("{}    Rebuild Status : 3% complete\n\n/dev/md0:\n", detail("clean, recovering"));
        assert_eq!(last(&text, "sync_action").as_deref(), Some("recover"));
    }
}
