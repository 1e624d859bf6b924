//! Reads what Ceph says of its cluster's health (`ceph -s`, `ceph health detail`, the cluster's log): placement groups that serve nothing,
//! and daemons of disks (OSDs) that are down or full.
//!
//! ```text
//! Reduced data availability: 33 pgs inactive, 33 pgs peering
//! 98 osds down
//! 1 full osd(s)
//! 5 OSD(s) experiencing slow operations in BlueStore                 Ceph 19
//! Possible data damage: 8 pgs recovery_unfound
//! 36 pgs are stuck inactive for more than 300 seconds                before Ceph 12
//! pg 1.0 is stuck inactive for 27h, current state unknown            ceph health detail: one line for each
//! osdmap e77: 3 osds: 2 up, 2 in                                     1 of 3 is down
//! ```
//!
//! One row for the cluster, with the largest number of each kind: later lines repeat earlier ones. Where all daemons are up, there is none.
//!
//! **Versions**: Ceph 10 to 19 by published texts (`src/mon/PGMap.cc`, `src/mon/OSDMap.cc`).

use super::reader::{texts, Found, Tool};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct CephHealth;

const INACTIVE: &str = "pgs inactive";
const DOWN: &str = "osds down";
/// What follows a number, and what is counted.
const KINDS: [(&[&str], &str); 12] = [
    (&["osd(s)", "experiencing", "slow", "operations", "in", "bluestore"], "osds slow"),
    (&["pg", "inactive"], INACTIVE),
    (&["pgs", "inactive"], INACTIVE),
    (&["pgs", "stuck", "inactive"], INACTIVE),
    (&["pgs", "are", "stuck", "inactive"], INACTIVE),
    (&["pg", "down"], "pgs down"),
    (&["pgs", "down"], "pgs down"),
    (&["pg", "recovery_unfound"], "pgs unfound"),
    (&["pgs", "recovery_unfound"], "pgs unfound"),
    (&["osds", "down"], DOWN),
    (&["osd(s)", "down"], DOWN),
    (&["full", "osd(s)"], "osds full"),
];
/// Limit on words between two of these: others of the same status.
const MOST_BETWEEN: usize = 60;

impl Tool for CephHealth {
    fn read(&self, words: &[Word]) -> Option<Found> {
        says(words)?;
        let mut row = Row::of("cluster");
        let (mut used, mut unknown, mut groups) = (0, 0, 0.0);
        loop {
            let rest = &words[used..];
            let next = (0..MOST_BETWEEN.min(rest.len())).find_map(|i| Some((i, says(&rest[i..])?)));
            let Some((skip, (kind, mut count, length))) = next else { break };
            if rest[skip].text == GROUP {
                groups += count;
                count = groups;
            }
            if row.value(kind).is_none_or(|known| known < count) {
                row.values.take(kind);
                row.values.put(kind, count, Unit::Count, rest[skip].spot);
            }
            unknown += skip;
            used += skip + length;
        }
        let reading =
            Reading { tool: "ceph health", rows: vec![row], at: words[0].spot, ..Reading::default() };
        Some(Found { reading: Some(reading), used, unknown })
    }
}

/// Begins a line about one placement group.
const GROUP: &str = "pg";

/// The kind and number at the start of `words`, and how many words say so.
fn says(words: &[Word]) -> Option<(&'static str, f64, usize)> {
    let [number] = texts(words)?;
    if number == GROUP {
        return group(words);
    }
    if let Some(["osds:", up, "up" | "up,"]) = words.get(1..).and_then(texts) {
        let down = number.parse::<u32>().ok()?.checked_sub(up.parse().ok()?).filter(|down| *down > 0)?;
        return Some((DOWN, f64::from(down), 4));
    }
    let count: u32 = number.parse().ok()?;
    let word = |i: usize| words.get(i + 1).map_or("", |w| w.text.trim_end_matches([',', ';', '.', ':']));
    let fits = |(after, _): &&(&[&str], &str)| {
        after.iter().enumerate().all(|(i, expected)| word(i).eq_ignore_ascii_case(expected))
    };
    let (after, kind) = KINDS.iter().find(fits)?;
    Some((*kind, f64::from(count), 1 + after.len()))
}

/// `pg 1.0 is stuck inactive for 27h`: its pool and its number there, in base 16.
fn group(words: &[Word]) -> Option<(&'static str, f64, usize)> {
    let [_, id, "is", "stuck", "inactive"] = texts(words)? else { return None };
    let (pool, number) = id.split_once('.')?;
    let fits = pool.parse::<u32>().is_ok() && u32::from_str_radix(number, 16).is_ok();
    fits.then_some((INACTIVE, 1.0, 5))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn the_state_of_the_cluster_is_one_row() {
        let text = "  cluster:\n    health: HEALTH_WARN\n            2 osds down\n            Reduced data availability: 31 pgs inactive, 33 pgs peering\n\
            \x20           33 pgs inactive\n\x20           Reduced data availability: 5 pgs inactive, 4 pgs down\n\x20           1 full osd(s)\n";
        let reading = one(text, "ceph health");
        let value = |name: &str| reading.rows[0].value(name);
        let told = ["osds down", "pgs inactive", "pgs down", "osds full"].map(value);
        assert_eq!(told, [Some(2.0), Some(33.0), Some(4.0), Some(1.0)]);
        let old = "health HEALTH_WARN\n 36 pgs are stuck inactive for more than 300 seconds\n";
        assert_eq!(one(old, "ceph health").rows[0].value("pgs inactive"), Some(36.0));
    }

    #[test]
    fn statements_of_one_line_and_the_detail_of_each_group() {
        let value = |text: &str, name: &str| one(text, "ceph health").rows[0].value(name);
        let line = "HEALTH_ERR 2 MDSs report slow requests; Reduced data availability: 1 pg inactive; Possible data damage: 5 pgs recovery_unfound; 1 pg down\n";
        assert_eq!(value(line, "pgs inactive"), Some(1.0));
        assert_eq!((value(line, "pgs unfound"), value(line, "pgs down")), (Some(5.0), Some(1.0)));
        let group =
            |id: &str| format!("    pg {id} is stuck inactive for 3h, current state down, last acting [4]\n");
        let detail = group("12.1f") + &group("12.a0");
        assert_eq!(value(&detail, "pgs inactive"), Some(2.0));
        let both = format!("[WRN] PG_AVAILABILITY: Reduced data availability: 7 pgs inactive\n{detail}");
        assert_eq!(value(&both, "pgs inactive"), Some(7.0));
        assert!(all(&group("twelve"), "ceph health").is_empty());
    }

    #[test]
    fn daemons_that_are_not_up_are_down() {
        for line in ["osdmap e91: 9 osds: 7 up, 7 in", "osd: 9 osds: 7 up (since 3h), 7 in (since 2d)"] {
            assert_eq!(one(line, "ceph health").rows[0].value("osds down"), Some(2.0), "{line}");
        }
        assert!(all("osd: 9 osds: 9 up, 7 in\n osd: 7 osds: 9 up, 9 in\n", "ceph health").is_empty());
    }

    #[test]
    fn a_healthy_cluster_and_prose_say_nothing() {
        for text in [
            "health: HEALTH_OK\n osd: 12 osds: 12 up, 12 in\n",
            "some pgs inactive\n",
            "12 osds down the road\n",
        ] {
            assert_eq!(all(text, "ceph health").len(), usize::from(text.starts_with("12")), "{text}");
        }
    }
}
