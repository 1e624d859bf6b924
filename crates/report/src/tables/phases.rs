//! Time by phase: per device, per task, and each phase as a part of Q2C.
//!
//! Both requests and bios have phases. Requests are the I/O of the device: each counts once, whatever it carries, split
//! or not. Bios are the I/O that tasks submit to the block layer: a merged or split bio counts once too. btt counts
//! bios throughout, and leaves out those that were split.

use super::spread::{spread, SPREAD};
use super::table::{columns, Column, Table, Value};
use super::view::View;
use life::{Class, Unfinished};
use stats::{Device, DeviceDetails, Distribution, Phases, TaskDetails};
use std::collections::BTreeMap;
use units::words::{counted, size};

/// A phase with its name and plain words for it.
fn phase(name: &str) -> Value {
    let (name, plain) = match name {
        "q2q" => ("Q2Q", "between two"),
        "q2a" => ("Q2A", "until sent below"),
        "q2g" => ("Q2G", "wait for a tag"),
        "s2g" => ("S2G", "asleep for a tag"),
        "g2i" => ("G2I", "prepare"),
        "q2m" => ("Q2M", "until merged"),
        "i2d" => ("I2D", "in the scheduler"),
        "m2d" => ("M2D", "merged to issued"),
        "d2c" => ("D2C", "in the device"),
        _ => ("Q2C", "all of it"),
    };
    Value::Term(name, plain)
}

fn phase_columns(who: (&'static str, &'static str)) -> Vec<Column> {
    let lead = columns([who, ("level", "of"), ("phase", "phase")]);
    lead.into_iter().chain(columns(SPREAD)).collect()
}

/// Adds a row for each phase that has values.
fn add(t: &mut Table, who: &Value, level: &'static str, rows: &[(&'static str, &Distribution)]) {
    for (name, d) in rows.iter().filter(|(_, d)| !d.is_empty()) {
        // Names of tasks are long, and the table of devices has the plain words already.
        let term = match phase(name) {
            Value::Term(name, _) if t.name == "task" => Value::Term(name, ""),
            term => term,
        };
        let lead = [who.clone(), Value::Text(level.into()), term];
        t.row(lead.into_iter().chain(spread(d)).collect());
    }
}

/// The phases of all requests of a device.
pub(super) fn requests(device: &Device) -> Phases {
    let mut sum = Phases::default();
    device.requests.iter().for_each(|p| sum.merge(p));
    sum
}

/// The phases of all bios of a device, and their `Q2M`.
fn bios(device: &Device) -> (Phases, Distribution) {
    let (mut sum, mut q2m) = (Phases::default(), Distribution::new());
    for class in &device.bios {
        sum.merge(&class.phases);
        q2m.merge(&class.q2m);
    }
    (sum, q2m)
}

/// The phases of one device, or of all devices.
#[derive(Default)]
struct Sum {
    requests: Phases,
    bios: Phases,
    q2q: Distribution,
    q2a: Distribution,
    s2g: Distribution,
    q2m: Distribution,
    m2d: Distribution,
}

impl Sum {
    fn add(&mut self, device: &Device, more: Option<&DeviceDetails>, is_top: bool) {
        self.requests.merge(&requests(device));
        let (bios, q2m) = bios(device);
        if is_top {
            self.bios.merge(&bios);
        }
        self.q2m.merge(&q2m);
        if let Some(more) = more {
            self.q2a.merge(&more.q2a);
            self.s2g.merge(&more.s2g);
            self.m2d.merge(&more.m2d);
        }
    }

    fn show(&self, t: &mut Table, who: &Value) {
        let r = &self.requests;
        let rows = [("q2g", &r.q2g), ("s2g", &self.s2g), ("g2i", &r.g2i), ("i2d", &r.i2d), ("d2c", &r.d2c)];
        add(t, who, "request", &rows);
        add(t, who, "request", &[("q2c", &r.q2c)]);
        let rows = [("q2q", &self.q2q), ("q2a", &self.q2a), ("q2m", &self.q2m), ("m2d", &self.m2d)];
        add(t, who, "bio", &rows);
        add(t, who, "bio", &[("d2c", &self.bios.d2c), ("q2c", &self.bios.q2c)]);
    }
}

/// Table `device`.
pub(super) fn by_device(v: &View) -> Table {
    let mut t = Table::new("device", "time by phase", &phase_columns(("device", "device")));
    let mut all = Sum::default();
    let mut shown = 0;
    let mut open = Unfinished::default();
    for device in v.devices() {
        device.unfinished.iter().for_each(|one| open.add(*one));
        let more = v.details.device(device.id);
        let mut sum = Sum { q2q: more.map(|more| more.q2q.clone()).unwrap_or_default(), ..Sum::default() };
        sum.add(device, more, true);
        sum.show(&mut t, &v.name(device.id));
        all.add(device, more, device.upper.is_none());
        shown += 1;
    }
    if shown > 1 {
        if v.has_all_devices() {
            all.q2q = v.details.q2q().clone();
        }
        all.show(&mut t, &Value::Text("all".into()));
        t.notes.push(
            "all: Q2Q, D2C and Q2C of bios are those of devices not below another recorded one.".into(),
        );
    }
    // Requests of unfinished bios count from the bio's queue on, and may have waited longer than any finished bio.
    if open.bios > 0 && v.has_all_tasks() {
        t.notes.push(format!(
            "requests are also those of {} of {} not over at the end, from when it was queued on:",
            counted(open.bios, "bio", "bios"),
            size(open.bytes)
        ));
        t.notes.push(
            "such a bio is in no row of bios, and Q2C of its requests may be longer than that of any other."
                .into(),
        );
    }
    t
}

/// Table `task`.
pub(super) fn by_task(v: &View) -> Table {
    let mut t = Table::new("task", "time by phase and queueing task", &phase_columns(("task", "task")));
    let number = |name: &str| v.e.facts.tasks.all().find(|(_, n)| *n == name).map(|(number, _)| number);
    let all_devices = v.has_all_devices();
    let bios: BTreeMap<u32, &TaskDetails> =
        v.details.tasks().filter(|_| all_devices).filter_map(|(name, t)| Some((number(name)?, t))).collect();
    let mut requests: BTreeMap<u32, Phases> = v.e.facts.cells.sum(|k| v.shows(k.dev).then_some(k.task));
    for task in bios.keys() {
        requests.entry(*task).or_default();
    }
    let mut order: Vec<(u32, Phases)> =
        requests.into_iter().filter(|(task, _)| v.shows_task(*task)).collect();
    order.sort_by_key(|(task, p)| (std::cmp::Reverse(p.q2c.sum()), *task));
    for (task, r) in order {
        let who = v.task_name(task);
        let rows = [("q2g", &r.q2g), ("g2i", &r.g2i), ("i2d", &r.i2d), ("d2c", &r.d2c), ("q2c", &r.q2c)];
        add(&mut t, &who, "request", &rows);
        if let Some(b) = bios.get(&task) {
            let rows = [("q2q", &b.q2q), ("q2a", &b.q2a), ("q2m", &b.q2m), ("m2d", &b.m2d), ("q2c", &b.q2c)];
            add(&mut t, &who, "bio", &rows);
        }
    }
    if !v.has_all_devices() {
        t.notes.push("Bios are shown for all devices together only.".into());
    }
    t
}

/// Table `overhead`.
pub(super) fn overhead(v: &View) -> Table {
    let cols = columns([
        ("device", "device"),
        ("class", "what"),
        ("requests", "requests"),
        ("q2c_total_ns", "Q2C total"),
        ("q2g", "Q2G tag"),
        ("g2i", "G2I prepare"),
        ("i2d", "I2D scheduler"),
        ("d2c", "D2C device"),
        ("other", "other"),
    ]);
    let mut t = Table::new("overhead", "where the time of requests went, as parts of Q2C", &cols);
    let mut row = |who: Value, what: &str, p: &Phases| {
        let whole = p.q2c.sum();
        if whole > 0 {
            let part = |d: &Distribution| d.sum() as f64 / whole as f64;
            let parts = [part(&p.q2g), part(&p.g2i), part(&p.i2d), part(&p.d2c)];
            let rest = (1.0 - parts.iter().sum::<f64>()).max(0.0);
            let total = Value::Time(u64::try_from(whole).unwrap_or(u64::MAX));
            let lead = [who, Value::Text(what.into()), Value::Count(p.q2c.count()), total];
            t.row(lead.into_iter().chain(parts.into_iter().chain([rest]).map(Value::Share)).collect());
        }
    };
    for device in v.devices() {
        let classes = Class::ALL.map(|c| (c, &device.requests[c.index()]));
        let used: Vec<_> = classes.into_iter().filter(|(_, p)| p.q2c.count() > 0).collect();
        // The kernel's own flushes are left out: they are never queued, so they have no Q2C.
        let mut all = Phases::default();
        used.iter().for_each(|(_, p)| all.merge(p));
        row(v.name(device.id), "all", &all);
        if used.len() > 1 {
            used.into_iter().for_each(|(c, p)| row(v.name(device.id), stats::class_words(c), p));
        }
    }
    t.notes.push("other: flushes before and after a write, requeues, and steps without a timestamp.".into());
    t.notes
        .push("The kernel's own flushes are not in it: they are never queued, so they have no Q2C.".into());
    t
}
