//! The message that something asked for is not there; for kinds of operations with the numbers of those that occurred.

use crate::op_names::called;
use crate::operation::Kind;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use units::words::count;

/// Maximal number of letters of the list of kinds; the most frequent come first.
const LONGEST: usize = 80;

/// An error: something asked for is not in the recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct NotThere {
    /// What is missing, for example "no device is called sdz".
    pub what: String,
    /// What the recording has instead.
    pub there: String,
}

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// Operations of tasks.
    Operation,
    /// Requests to devices.
    Request,
    /// Bios, which stacked devices have instead of requests.
    Bio,
}

/// Numbers of operations, requests and bios by kind, of those that match everything but the wanted kinds.
#[derive(Default)]
pub(crate) struct Occurred {
    by_kind: [BTreeMap<&'static str, u64>; 3],
}

impl Occurred {
    /// Counts one. `kind`: the plural of an operation's kind; the name of a request's or bio's.
    pub fn add(&mut self, level: Level, kind: &'static str) {
        *self.by_kind[level as usize].entry(kind).or_default() += 1;
    }

    /// The message that none of the wanted kinds occurred, with those that did.
    pub fn instead_of(&self, wanted: &[String]) -> NotThere {
        let operation = |name: &String| Kind::all().find(|kind| called(*kind) == *name);
        let words = |name: &String| match operation(name) {
            Some(kind) => kind.plural().to_string(),
            None => format!("{name} requests"),
        };
        let what = format!("no {} here", wanted.iter().map(words).collect::<Vec<_>>().join(" or "));
        let of_operations = wanted.iter().any(|name| operation(name).is_some());
        let levels = [Level::Operation, Level::Request, Level::Bio];
        let levels = levels.into_iter().filter(|level| of_operations || *level != Level::Operation);
        let there =
            levels.filter(|level| !self.by_kind[*level as usize].is_empty()).map(|level| match level {
                Level::Operation => format!("there are {}", self.listed(level)),
                Level::Request if of_operations => {
                    format!("only requests were recorded: {}", self.listed(level))
                }
                Level::Bio if of_operations => format!("only bios were recorded: {}", self.listed(level)),
                Level::Request => format!("there are requests: {}", self.listed(level)),
                Level::Bio => format!("there are bios: {}", self.listed(level)),
            });
        let there = there.into_iter().next().unwrap_or_else(|| "there is nothing else either".into());
        NotThere { what, there }
    }

    /// The kinds with their numbers, the most frequent first. Example: `fdatasyncs (72), writes (10) and others`.
    fn listed(&self, level: Level) -> String {
        let mut kinds: Vec<(&str, u64)> =
            self.by_kind[level as usize].iter().map(|(kind, n)| (*kind, *n)).collect();
        kinds.sort_by_key(|(_, n)| Reverse(*n));
        let mut text = String::new();
        for (i, (kind, n)) in kinds.iter().enumerate() {
            let one = format!("{}{kind} ({})", if i == 0 { "" } else { ", " }, count(*n));
            if i > 0 && text.len() + one.len() > LONGEST {
                return text + " and others";
            }
            text += &one;
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(occurred: &Occurred, wanted: &[&str]) -> String {
        let wanted: Vec<String> = wanted.iter().map(|name| name.to_string()).collect();
        occurred.instead_of(&wanted).what + ": " + &occurred.instead_of(&wanted).there
    }

    #[test]
    fn what_there_is_is_counted_and_the_most_frequent_comes_first() {
        let mut occurred = Occurred::default();
        assert_eq!(said(&occurred, &["fsync"]), "no fsyncs here: there is nothing else either");
        (0..2).for_each(|_| occurred.add(Level::Bio, "write"));
        assert_eq!(said(&occurred, &["fsync"]), "no fsyncs here: only bios were recorded: write (2)");
        occurred.add(Level::Request, "write");
        assert_eq!(said(&occurred, &["fsync"]), "no fsyncs here: only requests were recorded: write (1)");
        (0..1072).for_each(|_| occurred.add(Level::Operation, "fdatasyncs"));
        occurred.add(Level::Operation, "closes");
        assert_eq!(
            said(&occurred, &["fsync", "page-fault"]),
            "no fsyncs or page faults here: there are fdatasyncs (1,072), closes (1)"
        );
        assert_eq!(said(&occurred, &["discard"]), "no discard requests here: there are requests: write (1)");
    }

    #[test]
    fn a_long_list_is_cut_between_kinds() {
        let mut occurred = Occurred::default();
        Kind::all().for_each(|kind| occurred.add(Level::Operation, kind.plural()));
        let there = occurred.instead_of(&["x".into(), "fsync".into()]).there;
        assert!(there.ends_with(") and others") && there.len() < LONGEST + 30, "{there}");
    }
}
