//! Who waits for whom: lost time by victim and by culprit.

use super::table::{columns, Column, Table, Value};
use super::view::View;
use explain::blame::{culprit_name, Cost, Victim};
use explain::Blame;
use trace::Nanos;
use waits::{Culprit, CulpritKind};

/// Parts below 1 % of a victim's lost time, or of a culprit's cost, share a row; so do victims and culprits below 1 % of all
/// lost time. Unknown culprits always have a row.
const WORTH_A_ROW: f64 = 0.01;

/// Table `blame`: by victim.
pub(super) fn blame(v: &View) -> Table {
    let cols = columns([
        ("victim", "victim"),
        ("because_of", "because of"),
        ("kind", ""),
        ("io", "by"),
        ("lost_ns", "lost"),
        ("share", "share"),
        ("operations", "operations"),
        ("time_ns", "their time"),
    ]);
    let mut rows = Rows::new("blame", "who waits for whom: time lost by victim, because of whom", &cols);
    let blame = Blame::of(v.e);
    let shown = blame.victims.iter().filter(|victim| v.shows(victim.dev) && v.wants_task(&victim.task));
    // A task that is selected by name is shown, however little it lost.
    let worth = |victim: &&Victim| !v.tasks.is_empty() || part(victim.lost, blame.lost) >= WORTH_A_ROW;
    let (told, small): (Vec<&Victim>, Vec<&Victim>) =
        shown.filter(|victim| victim.lost.0 > 0).partition(worth);
    let sums = |victims: &[&Victim]| {
        let operations = victims.iter().map(|victim| victim.operations).sum();
        let time: Nanos = victims.iter().map(|victim| victim.time).sum();
        vec![Value::Count(operations), Value::Time(time.0)]
    };
    for victim in told {
        let by = victim.because.iter().map(|(who, time)| (culprit_name(who), who, *time));
        rows.one(&victim.name, victim.lost, blame.lost, sums(&[victim]), by, is_told);
    }
    rows.smaller(small.iter().map(|victim| victim.lost), blame.lost, sums(&small));
    rows.t
        .notes
        .push("lost: beyond what the operations compute and what the device takes for them alone.".into());
    rows.t.notes.push("itself: its own queue; unknown: not recorded; others: not told apart.".into());
    rows.t
}

/// Table `costs`: the same time by culprit.
pub(super) fn costs(v: &View) -> Table {
    let cols = columns([
        ("culprit", "culprit"),
        ("victim", "cost"),
        ("kind", ""),
        ("io", "by"),
        ("lost_ns", "lost"),
        ("share", "share"),
    ]);
    let mut rows = Rows::new("costs", "time lost by culprit: whom it cost how much", &cols);
    let blame = Blame::of(v.e);
    let mut small = vec![];
    for cost in &blame.culprits {
        let by = costs_shown(v, &blame, cost);
        let whole: Nanos = by.iter().map(|(.., time)| *time).sum();
        let of = match cost.culprit.kind {
            CulpritKind::Own => "themselves".into(),
            _ => culprit_name(&cost.culprit),
        };
        if whole.0 == 0 {
            continue;
        }
        match !v.tasks.is_empty() || is_told(&cost.culprit, part(whole, blame.lost)) {
            true => rows.one(&of, whole, blame.lost, vec![], by.into_iter(), |_, share| share >= WORTH_A_ROW),
            false => small.push(whole),
        }
    }
    rows.smaller(small.into_iter(), blame.lost, vec![]);
    rows.t.notes.push("share: in rows 'all', of all time lost; in other rows, of their 'all'.".into());
    rows.t
}

/// What a culprit cost the victims that are shown; for a task that is selected by name, also what it cost others.
fn costs_shown<'a>(v: &View, blame: &'a Blame, cost: &'a Cost) -> Vec<(String, &'a Culprit, Nanos)> {
    let name = cost.culprit.name.as_deref();
    let of = |(at, who, time): &'a (usize, Culprit, Nanos)| {
        let victim = &blame.victims[*at];
        let wanted = v.wants_task(&victim.task) || name.is_some_and(|name| v.wants_task(name));
        (wanted && v.shows(victim.dev)).then(|| (victim.name.clone(), who, *time))
    };
    cost.by.iter().filter_map(of).collect()
}

fn part(time: Nanos, whole: Nanos) -> f64 {
    time.0 as f64 / whole.0.max(1) as f64
}

fn is_told(who: &Culprit, share: f64) -> bool {
    share >= WORTH_A_ROW || who.kind == CulpritKind::Unknown
}

/// A table of sums, each followed by its parts.
struct Rows {
    t: Table,
    columns: usize,
}

impl Rows {
    fn new(name: &'static str, title: &str, cols: &[Column]) -> Rows {
        Rows { t: Table::new(name, title, cols), columns: cols.len() }
    }

    fn row(&mut self, words: [&str; 2], kind: &str, io: Value, time: Nanos, share: f64, rest: Vec<Value>) {
        let words = words.map(|words| Value::Text(words.into()));
        let mut row: Vec<Value> = words.into_iter().chain([Value::Text(kind.into()), io]).collect();
        row.extend([Value::Time(time.0), Value::Share(share)]);
        row.extend(rest);
        row.resize(self.columns, Value::None);
        self.t.row(row);
    }

    /// Adds the rows of one victim or culprit: the sum, then its parts.
    fn one<'a>(
        &mut self,
        of: &str,
        whole: Nanos,
        all: Nanos,
        sums: Vec<Value>,
        by: impl Iterator<Item = (String, &'a Culprit, Nanos)>,
        is_told: impl Fn(&Culprit, f64) -> bool,
    ) {
        self.row([of, "all"], "sum", Value::None, whole, part(whole, all), sums);
        let mut small: Vec<Nanos> = vec![];
        for (name, who, time) in by {
            let share = part(time, whole);
            if is_told(who, share) {
                let io = who.io.map_or(Value::None, |io| Value::Named(io.name(), io.words()));
                self.row([of, &name], who.kind.name(), io, time, share, vec![]);
            } else {
                small.push(time);
            }
        }
        if !small.is_empty() {
            let time: Nanos = small.iter().copied().sum();
            let name = format!("{} smaller", small.len());
            self.row([of, &name], "smaller", Value::None, time, part(time, whole), vec![]);
        }
    }

    /// Adds a row for all that are too small for rows of their own.
    fn smaller(&mut self, small: impl Iterator<Item = Nanos>, all: Nanos, sums: Vec<Value>) {
        let (n, time) = small.fold((0, Nanos(0)), |(n, sum), time| (n + 1, sum + time));
        if n > 0 {
            self.row([&format!("{n} smaller"), "all"], "sum", Value::None, time, part(time, all), sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_sum_to_their_sum_and_the_unknown_is_told() {
        let mut rows = Rows::new("t", "t", &columns([("c", "c"); 6]));
        let task = |name: &str| Culprit { name: Some(name.into()), ..Culprit::of(CulpritKind::Task) };
        let by = [(task("cp"), 9_900), (task("ls"), 60), (task("du"), 35), (Culprit::default(), 5)];
        let by = by.iter().map(|(who, ns)| (culprit_name(who), who, Nanos(*ns)));
        rows.one("a", Nanos(10_000), Nanos(20_000), vec![], by, is_told);
        rows.smaller([Nanos(1), Nanos(2)].into_iter(), Nanos(20_000), vec![]);
        let lines = rows.t.text();
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let told: Vec<String> = lines.lines().skip(2).map(words).collect();
        assert_eq!(
            told,
            [
                "a all sum 10 us 50 %",
                "cp task 9.9 us 99.0 %",
                "unknown unknown 5 ns 0.1 %",
                "2 smaller smaller 95 ns 0.9 %",
                "2 smaller all sum 3 ns 0.0 %"
            ]
        );
    }
}
