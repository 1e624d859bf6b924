//! Who waits for whom, in both directions.

use super::table::{columns, Table, Value};
use super::View;
use explain::blame::{culprit_name, Victim};
use explain::Blame;
use trace::Nanos;
use waits::{Culprit, CulpritKind};

/// Smaller parts of what a victim lost, or a culprit cost, are one row together.
const WORTH_A_ROW: f64 = 0.001;

/// The rows of one victim or culprit: the sum first, then whom it falls on.
struct Rows<'a> {
    t: &'a mut Table,
    whole: Nanos,
    small: (u64, Nanos),
}

impl Rows<'_> {
    /// Adds a row, or counts what is too small for one.
    fn add(&mut self, time: Nanos, row: impl FnOnce(Value, Value) -> Vec<Value>) {
        let share = time.0 as f64 / self.whole.0.max(1) as f64;
        match share >= WORTH_A_ROW {
            true => self.t.row(row(Value::Time(time.0), Value::Share(share))),
            false => self.small = (self.small.0 + 1, self.small.1 + time),
        }
    }

    /// Ends them with what was too small.
    fn finish(self, row: impl FnOnce(String, Value, Value) -> Vec<Value>) {
        let (n, time) = self.small;
        if n > 0 {
            let share = time.0 as f64 / self.whole.0.max(1) as f64;
            self.t.row(row(format!("{n} smaller"), Value::Time(time.0), Value::Share(share)));
        }
    }
}

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
        ("time_ns", "of"),
    ]);
    let mut t = Table::new("blame", "who waits for whom: time lost by victim", &cols);
    for victim in Blame::of(v.e).victims.iter().filter(|victim| shows(v, victim)) {
        let of = Value::Text(victim.name.clone());
        t.row(vec![
            of.clone(),
            Value::Text("all".into()),
            Value::Text("sum".into()),
            Value::None,
            Value::Time(victim.lost.0),
            share(victim.lost, victim.lost),
            Value::Count(victim.operations),
            Value::Time(victim.time.0),
        ]);
        let mut rows = Rows { t: &mut t, whole: victim.lost, small: Default::default() };
        for (who, time) in &victim.because {
            rows.add(*time, |time, share| {
                let name = Value::Text(culprit_name(who));
                vec![of.clone(), name, kind(who), io(who), time, share, Value::None, Value::None]
            });
        }
        rows.finish(|name, time, share| {
            let smaller = Value::Text("smaller".into());
            vec![of, Value::Text(name), smaller, Value::None, time, share, Value::None, Value::None]
        });
    }
    t.notes.push("Lost: beyond what the operations compute and take alone in the device. itself: its own queue.".into());
    t.notes.push("unknown: nothing that was recorded tells; others: more than are told apart.".into());
    t
}

/// Table `costs`: the same by culprit.
pub(super) fn costs(v: &View) -> Table {
    let cols = columns([
        ("culprit", "culprit"),
        ("victim", "cost"),
        ("kind", ""),
        ("io", "by"),
        ("lost_ns", "lost"),
        ("share", "share"),
    ]);
    let mut t = Table::new("costs", "the same by culprit: what did it cost whom?", &cols);
    let blame = Blame::of(v.e);
    let wanted = |at: usize| v.shows(blame.victims[at].dev);
    let named = |c: &Culprit, victim: &Victim| {
        v.wants_task(&victim.task) || c.name.as_deref().is_some_and(|name| v.wants_task(name))
    };
    for cost in &blame.culprits {
        let by: Vec<_> = cost.by.iter().filter(|(at, who, _)| wanted(*at) && named(who, &blame.victims[*at])).collect();
        let whole: Nanos = by.iter().map(|(.., time)| *time).sum();
        if by.is_empty() {
            continue;
        }
        let of = match cost.culprit.kind {
            CulpritKind::Own => Value::Text("themselves".into()),
            _ => Value::Text(culprit_name(&cost.culprit)),
        };
        let (all, sum) = (Value::Text("all".into()), Value::Text("sum".into()));
        t.row(vec![of.clone(), all, sum, Value::None, Value::Time(whole.0), share(whole, blame.lost)]);
        let mut rows = Rows { t: &mut t, whole, small: Default::default() };
        for (at, who, time) in by {
            rows.add(*time, |time, share| {
                let victim = Value::Text(blame.victims[*at].name.clone());
                vec![of.clone(), victim, kind(who), io(who), time, share]
            });
        }
        rows.finish(|name, time, share| {
            vec![of, Value::Text(name), Value::Text("smaller".into()), Value::None, time, share]
        });
    }
    t.notes.push("The share of a sum is that of all time lost, of other rows that of their sum.".into());
    t
}

fn shows(v: &View, victim: &Victim) -> bool {
    v.shows(victim.dev) && v.wants_task(&victim.task)
}

fn share(part: Nanos, whole: Nanos) -> Value {
    match whole.0 {
        0 => Value::None,
        whole => Value::Share(part.0 as f64 / whole as f64),
    }
}

fn kind(c: &Culprit) -> Value {
    Value::Text(c.kind.name().into())
}

fn io(c: &Culprit) -> Value {
    c.io.map_or(Value::None, |io| Value::Text(io.name().into()))
}
