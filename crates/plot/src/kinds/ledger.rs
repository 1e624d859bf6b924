//! Where the time of the slowest went: a bar for each group that the answer covers, by reason; below, a bar per wait.

use super::drawn::Drawn;
use crate::colours;
use crate::picture::{Bar, Panel};
use explain::where_time;
use stats::Group;
use units::words::{percent, time};

/// Maximal number of groups that are drawn.
const MOST_GROUPS: usize = 6;
/// A reason with less than this part of the time is not in the legend.
const WORTH_A_LINE: f64 = 0.001;
/// Maximal number of waits with bars.
const MOST_WAITS: usize = 10;
/// A wait with less than this part of the time has no bar.
const WORTH_A_BAR: f64 = 0.005;

pub fn panels(drawn: &Drawn) -> Vec<Panel> {
    let device = |g: &&Group| drawn.devices.contains(&g.dev) || g.op.is_some();
    let worth = |g: &&Group| drawn.e.matters(g);
    let groups: Vec<&Group> =
        drawn.e.focus.groups.iter().filter(device).filter(worth).take(MOST_GROUPS).collect();
    let most = groups.iter().map(|g| g.tail.sum.time.total.0).max().unwrap_or(0);
    if most == 0 {
        return drawn.empty("The slowest");
    }
    let mut reasons = vec![];
    let mut bars = vec![];
    for group in &groups {
        let sum = &group.tail.sum.time;
        let parts = sum.by_size();
        let share = |r| sum.share(r);
        for (reason, spent) in parts.iter().filter(|(r, _)| share(*r) >= WORTH_A_LINE) {
            match reasons.iter_mut().find(|(r, _)| r == reason) {
                Some((_, so_far)) => *so_far += spent.0,
                None => reasons.push((*reason, spent.0)),
            }
        }
        bars.push(Bar {
            label: drawn.e.slowest_words(group),
            value: time(sum.total),
            length: sum.total.0 as f64 / most as f64,
            parts: parts.iter().map(|(r, _)| (share(*r), colours::reason(*r))).collect(),
        });
    }
    reasons.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    let all: u64 = groups.iter().map(|g| g.tail.sum.time.total.0).sum();
    let legend = |(reason, ns): &(ledger::Reason, u64)| {
        let words = format!("{} {}", reason.words(), percent(*ns as f64 / all.max(1) as f64));
        (words, colours::reason(*reason))
    };
    let legend = reasons.iter().map(legend).collect();
    let mut panels = vec![Panel::Bars { title: "the slowest, by reason".into(), bars, legend }];
    let first = groups.iter().find(|g| g.op.is_some());
    panels.extend(first.map(|g| waits(drawn, g)));
    panels
}

/// For a group of operations: the waits in which the time of the slowest passed.
fn waits(drawn: &Drawn, group: &Group) -> Panel {
    let total = group.tail.sum.time.total.0.max(1) as f64;
    let rows = where_time::rows(&drawn.e.facts, group);
    let bar = |(label, spent): &(String, trace::Nanos)| {
        let share = spent.0 as f64 / total;
        let (label, value) = (label.clone(), format!("{} {}", percent(share), time(*spent)));
        Bar { label, value, length: share, parts: vec![(1.0, colours::nth(0))] }
    };
    let worth = |row: &&(String, trace::Nanos)| row.1 .0 as f64 >= total * WORTH_A_BAR;
    let bars = rows.iter().filter(worth).take(MOST_WAITS).map(bar).collect();
    Panel::Bars {
        title: format!("the slowest {}, by wait", drawn.e.slowest_words(group)),
        bars,
        legend: vec![],
    }
}
