//! Reads what Ceph says of its cluster's health (`ceph -s`, `ceph health detail`, the cluster's log): placement groups that serve nothing,
//! and daemons of disks (OSDs) that are down or full.
//!
//! ```text
//! Reduced data availability: 33 pgs inactive, 33 pgs peering
//! 98 osds down
//! 1 full osd(s)
//! 36 pgs are stuck inactive for more than 300 seconds                before Ceph 12
//! ```
//!
//! One row for the cluster, with the largest number of each kind: later lines repeat earlier ones.
//!
//! **Versions**: Ceph 10 to 18 by published texts (`src/mon/PGMap.cc`, `src/mon/OSDMap.cc`).

use super::reader::{texts, Found, Tool};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct CephHealth;

/// What follows a number, and what is counted.
const KINDS: [(&[&str], &str); 7] = [
    (&["pgs", "inactive"], "pgs inactive"),
    (&["pgs", "stuck", "inactive"], "pgs inactive"),
    (&["pgs", "are", "stuck", "inactive"], "pgs inactive"),
    (&["pgs", "down"], "pgs down"),
    (&["osds", "down"], "osds down"),
    (&["osd(s)", "down"], "osds down"),
    (&["full", "osd(s)"], "osds full"),
];
/// Limit on words between two of these: others of the same status.
const MOST_BETWEEN: usize = 60;

impl Tool for CephHealth {
    fn read(&self, words: &[Word]) -> Option<Found> {
        says(words)?;
        let mut row = Row::of("cluster");
        let (mut used, mut unknown) = (0, 0);
        loop {
            let rest = &words[used..];
            let next = (0..MOST_BETWEEN.min(rest.len())).find_map(|i| Some((i, says(&rest[i..])?)));
            let Some((skip, (kind, count, length))) = next else { break };
            if row.value(kind).is_none_or(|known| known < count) {
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

/// The kind and number at the start of `words`, and how many words say so.
fn says(words: &[Word]) -> Option<(&'static str, f64, usize)> {
    let [number] = texts(words)?;
    let count: u32 = number.parse().ok()?;
    let word = |i: usize| words.get(i + 1).map_or("", |w| w.text.trim_end_matches([',', ';', '.', ':']));
    let fits =
        |(after, _): &&(&[&str], &str)| after.iter().enumerate().all(|(i, expected)| word(i) == *expected);
    let (after, kind) = KINDS.iter().find(fits)?;
    Some((*kind, f64::from(count), 1 + after.len()))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn the_state_of_the_cluster_is_one_row() {
        let text = "  cluster:\n    health: HEALTH_WARN\n            2 osds down\n            Reduced data availability: 33 pgs inactive, 33 pgs peering\n\
            \x20           Reduced data availability: 5 pgs inactive, 4 pgs down\n\x20           1 full osd(s)\n";
        let reading = one(text, "ceph health");
        let value = |name: &str| reading.rows[0].value(name);
        let told = ["osds down", "pgs inactive", "pgs down", "osds full"].map(value);
        assert_eq!(told, [Some(2.0), Some(33.0), Some(4.0), Some(1.0)]);
        let old = "health HEALTH_WARN\n 36 pgs are stuck inactive for more than 300 seconds\n";
        assert_eq!(one(old, "ceph health").rows[0].value("pgs inactive"), Some(36.0));
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
