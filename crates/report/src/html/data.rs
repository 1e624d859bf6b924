//! What the page's pictures are drawn from: schema `iowhy.page/1`, read by `page/src/data.ts` and by nothing else.
//!
//! Times are in nanoseconds since the first event. Numbers that `explain --json` has are that object itself; rows of
//! numbers are [packed](super::pack).

use super::detail::Detail;
use super::pack::{pack, Pack};
use super::Shown;
use crate::json::to_json;
use crate::operations::{self, Places};
use crate::screen::matters;
use life::Class;
use serde_json::{json, Map, Value};
use stats::{class_op, class_words, Columns, Distribution, Moment, OpKey, SlowRequest};
use std::collections::{BTreeMap, BTreeSet};
use trace::{DevId, Nanos};

/// Longer accounts of an operation are told folded only.
const MOST_PARTS: usize = 160;

/// A capture as the page reads it.
pub fn data(shown: &Shown, detail: Detail) -> Value {
    let from = shown.explanation.facts.flow.span.map_or(Nanos(0), |s| s.0);
    let subject = &shown.explanation.subject;
    let at = Places { names: subject.file_names.clone(), system: subject.system.clone(), began: from };
    let data = Data { shown, detail, from, at };
    let shift = data.shift();
    json!({
        "label": shown.label,
        "explain": data.explain(),
        "span_ns": shown.explanation.duration().0,
        "step_shift": shift,
        "groups": data.groups(shift),
        "places": data.places(),
        "slow": data.slow(),
        "operations": data.operations(),
        "latency": data.latency(),
        "sizes": data.sizes(),
        "settings": data.settings(),
        "losses": data.losses(),
        "memory": data.memory(),
        "left_out": data.left_out(),
    })
}

struct Data<'a> {
    shown: &'a Shown,
    detail: Detail,
    from: Nanos,
    at: Places,
}

impl Data<'_> {
    /// Since the first event; a column may begin before it.
    fn since(&self, t: Nanos) -> i64 {
        (i128::from(t.0) - i128::from(self.from.0)).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    fn explain(&self) -> Value {
        let mut all = to_json(&self.shown.explanation);
        let rows = self.detail.rows;
        for path in ["/operations", "/quality/lost_at", "/tail/groups", "/capture/devices", "/quality/notes"]
        {
            if let Some(Value::Array(list)) = all.pointer_mut(path) {
                list.truncate(rows);
            }
        }
        all
    }

    /// The devices that are shown: uppermost ones first, then those below them, each by how much they did.
    fn devices(&self) -> Vec<DevId> {
        let facts = &self.shown.explanation.facts;
        let mut all: Vec<_> = facts.devices.iter().filter(|d| d.has_io()).collect();
        let done = |d: &stats::Device| Class::ALL.iter().map(|c| d.phases(*c).count).sum::<u64>();
        all.sort_by_key(|d| (d.upper.is_some(), std::cmp::Reverse(done(d))));
        all.into_iter().map(|d| d.id).take(self.detail.devices).collect()
    }

    /// Kinds of operations that are shown, those with the most time first.
    fn kinds(&self) -> Vec<OpKey> {
        let facts = &self.shown.explanation.facts;
        let known = |k: &OpKey| k.dev != DevId(0) || k.fs != trace::Fs::Unknown;
        let mut all: Vec<_> = facts.operations.groups.iter().filter(|(k, _)| known(k)).collect();
        all.sort_by_key(|(_, s)| std::cmp::Reverse(s.latency.sum()));
        all.into_iter().map(|(k, _)| *k).take(self.detail.kinds).collect()
    }

    /// Example: `fsyncs on /mnt (ext4, vda)`.
    fn kind_name(&self, key: &OpKey) -> String {
        let on = self.at.of(key.fs, key.dev).map_or(String::new(), |on| format!(" on {on}"));
        format!("{}{on}", key.kind.plural())
    }

    /// The step of all columns, as a power of two: of the coarsest row, and coarser if there are too many columns.
    fn shift(&self) -> u32 {
        let p = &self.shown.pictures;
        let rows = p.devices.values().flat_map(|d| &d.classes).chain(p.operations.values());
        let used: Vec<_> = rows.filter(|c| !c.is_empty()).collect();
        let mut shift = used.iter().map(|c| c.shift()).max().unwrap_or(stats::FINEST);
        let span = self.shown.explanation.duration().0;
        while shift < 63 && span >> shift > self.detail.columns as u64 {
            shift += 1;
        }
        while shift < 63 && used.iter().any(|c| c.len() >> (shift - c.shift()) > self.detail.columns) {
            shift += 1;
        }
        shift
    }

    fn groups(&self, shift: u32) -> Vec<Value> {
        let e = &self.shown.explanation;
        let mut all = vec![];
        for key in self.kinds() {
            let Some(columns) = self.shown.pictures.operations.get(&key) else { continue };
            let focus = e.focus.groups.iter().find(|g| g.op == Some(key));
            let mut group = self.columns(columns, shift);
            group.insert("name".into(), self.kind_name(&key).into());
            group.insert("level".into(), "operation".into());
            group.insert("kind".into(), key.kind.name().into());
            group.insert("op".into(), class_op(key.kind.class()).name().into());
            group.insert("class".into(), crate::json::serde_name(key.kind.class()).into());
            group.insert("tail_ns".into(), focus.map(|g| g.tail.threshold.0).into());
            group.insert("matters".into(), focus.is_some_and(|g| matters(e, g)).into());
            group.insert("waited_for".into(), key.kind.is_foreground().into());
            all.push(Value::Object(group));
        }
        for dev in self.devices() {
            let Some(pictures) = self.shown.pictures.devices.get(&dev) else { continue };
            for class in Class::ALL {
                let columns = &pictures.classes[class.index()];
                if columns.is_empty() {
                    continue;
                }
                let focus =
                    e.focus.groups.iter().find(|g| g.op.is_none() && g.dev == dev && g.class == class);
                let mut group = self.columns(columns, shift);
                group.insert("name".into(), format!("{} {}", e.name(dev), class_words(class)).into());
                group.insert("level".into(), "request".into());
                group.insert("device".into(), e.name(dev).into());
                group.insert("op".into(), class_op(class).name().into());
                group.insert("class".into(), crate::json::serde_name(class).into());
                group.insert("tail_ns".into(), focus.map(|g| g.tail.threshold.0).into());
                group.insert("matters".into(), focus.is_some_and(|g| matters(e, g)).into());
                all.push(Value::Object(group));
            }
        }
        all
    }

    /// Columns of one kind: heat is, per column, how many buckets, then of each by how much its number exceeds the one
    /// before, and its count; depth is the mean in thousandths.
    fn columns(&self, columns: &Columns<Moment>, shift: u32) -> Map<String, Value> {
        let columns = columns.with_shift(shift);
        let (mut heat, mut bytes, mut depth) = (Pack::default(), Pack::default(), Pack::default());
        for (_, moment) in columns.iter() {
            heat.put(moment.heat.counts().len() as u64);
            let mut before = 0;
            for (bucket, count) in moment.heat.counts() {
                heat.put(u64::from(bucket - before));
                heat.put(u64::from(*count));
                before = *bucket;
            }
            bytes.put(moment.bytes);
            depth
                .put(((u128::from(moment.depth_ns) * 1000) >> columns.shift()).min(u128::from(u32::MAX))
                    as u64);
        }
        let first = columns.iter().next().map_or(0, |(t, _)| self.since(t));
        let mut group = Map::new();
        group.insert("first_ns".into(), first.into());
        group.insert("columns".into(), columns.len().into());
        group.insert("heat".into(), heat.text().into());
        group.insert("bytes".into(), bytes.text().into());
        group.insert("depth".into(), depth.text().into());
        group
    }

    /// Who touched where: of each cell by how much its column exceeds the one before, then row, whose, how many.
    fn places(&self) -> Vec<Value> {
        let one = |dev: DevId| {
            let full = &self.shown.pictures.devices.get(&dev)?.extents;
            let mut extents = full.clone();
            for round in 1u32.. {
                if extents.len() <= self.detail.cells || round > 64 {
                    break;
                }
                extents = full.coarser(round.div_ceil(2), round / 2);
            }
            let (time, place) = extents.axes();
            let ((first_column, _), (first_row, last_row)) = (time.span?, place.span?);
            let cells = extents.cells();
            let mut counts: BTreeMap<stats::Who, u64> = BTreeMap::new();
            cells.iter().for_each(|(.., who, n)| *counts.entry(*who).or_default() += u64::from(*n));
            let mut who: Vec<(stats::Who, u64)> = counts.into_iter().collect();
            who.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
            let number: BTreeMap<stats::Who, u64> =
                who.iter().enumerate().map(|(i, (w, _))| (*w, i as u64)).collect();
            let mut packed = Pack::default();
            let mut before = first_column;
            for (column, row, whose, n) in &cells {
                packed.put(column - before);
                packed.put(row - first_row);
                packed.put(number[whose]);
                packed.put(u64::from(*n));
                before = *column;
            }
            let whose = |(w, n): &(stats::Who, u64)| json!({ "task": self.shown.pictures.tasks.name(w.task), "writes": w.writes, "requests": n });
            Some(json!({
                "device": self.shown.explanation.name(dev),
                "time_shift": time.shift,
                "first_ns": self.since(Nanos(first_column.checked_shl(time.shift).unwrap_or(0))),
                "row_bytes": (512u128 << place.shift.min(63)).to_string(),
                "first_row": first_row,
                "rows": last_row - first_row + 1,
                "who": who.iter().map(whose).collect::<Vec<_>>(),
                "cells": packed.text(),
            }))
        };
        self.devices().into_iter().filter_map(one).collect()
    }

    /// The slowest requests of all, and those of each stretch of time. Classes that somebody waits for have twice the
    /// room of those that nobody does.
    fn slow(&self) -> Vec<Value> {
        let p = &self.shown.pictures;
        let used: Vec<Class> = Class::ALL.into_iter().filter(|c| !p.slowest(*c).is_empty()).collect();
        let weight = |c: Class| if c == Class::Background || c == Class::Other { 1 } else { 2 };
        let weights: usize = used.iter().map(|c| weight(*c)).sum();
        let mut all = vec![];
        for class in used {
            let most = self.detail.requests * weight(class) / weights.max(1);
            let mut moments = p.slow[class.index()].clone();
            let mut chosen: Vec<&SlowRequest> = p.slowest(class).iter().take(most).collect();
            while moments.iter().map(|(_, m)| m.all().len()).sum::<usize>() + chosen.len() > most
                && moments.len() > 1
            {
                moments = moments.with_shift(moments.shift() + 1);
            }
            chosen.extend(moments.iter().flat_map(|(_, m)| m.all()));
            let key = |s: &SlowRequest| (s.time.completed, s.dev, s.start, s.tid, s.total());
            let mut seen = BTreeSet::new();
            chosen.retain(|s| seen.insert(key(s)));
            chosen.sort_by_key(|s| std::cmp::Reverse(s.total()));
            all.extend(chosen.into_iter().take(most.max(1)).map(|s| self.slow_request(s)));
        }
        all
    }

    fn slow_request(&self, s: &SlowRequest) -> Value {
        let e = &self.shown.explanation;
        let segments: Vec<_> =
            s.ledger.segments.iter().map(|g| json!([g.reason.name(), g.length().0])).collect();
        let mut v = json!({
            "at_ns": self.since(s.ledger.from), "ns": s.total().0, "device": e.name(s.dev), "op": s.op.name(),
            "class": crate::json::serde_name(s.class), "sector": s.start.0, "bytes": s.bytes.0,
            "task": self.shown.pictures.tasks.name(s.task), "tid": s.tid.0, "segments": segments,
            "served": s.company.served(), "served_bytes": s.company.served_bytes.0, "ahead": s.company.ahead(),
        });
        if let Some(events) = self.shown.events.of(s) {
            let row = |(event, task): &(trace::Event, String)| {
                let e = event;
                json!([self.since(e.time), e.action.letters(), e.sector.0, e.bytes.0, e.cpu.0, task, e.tid.0])
            };
            v["events"] = events.shown.iter().map(row).collect();
            v["events_left_out"] = events.left_out.into();
        }
        v
    }

    /// The slowest operations, where any were recorded: some of all kinds together, some of each kind.
    fn operations(&self) -> Vec<Value> {
        let e = &self.shown.explanation;
        let groups = &e.facts.operations.groups;
        let shown = e.focus.groups.iter().filter_map(|g| groups.get(&g.op?));
        let mut kept: Vec<_> = shown.flat_map(|s| s.slowest.all()).collect();
        kept.sort_by_key(|k| std::cmp::Reverse(k.operation.total()));
        let one = |k: &&stats::Kept| {
            let mut v = operations::json(k, &self.at);
            if let Some(fields) = v.as_object_mut() {
                for name in ["from_ns", "to_ns"] {
                    let at = fields.get(name).and_then(Value::as_u64).map(|t| self.since(Nanos(t)));
                    fields.insert(name.into(), at.into());
                }
                fields.remove("hops");
                let parts: Vec<Value> = match fields.remove("parts") {
                    Some(Value::Array(parts)) if parts.len() <= MOST_PARTS => parts,
                    _ => vec![],
                };
                let bars = parts.iter().filter_map(|p| {
                    let at = self.since(Nanos(p["from_ns"].as_u64()?));
                    Some(json!([at, p["ns"], p["depth"], p.get("reason")?]))
                });
                fields.insert("bars".into(), bars.collect());
            }
            v
        };
        kept.iter().take(self.detail.operations).map(one).collect()
    }

    /// How long requests took, in all and by phase, in the buckets of `explain`.
    fn latency(&self) -> Vec<Value> {
        let e = &self.shown.explanation;
        let mut all = vec![];
        for key in self.kinds() {
            if let Some(stats) = e.facts.operations.groups.get(&key) {
                all.push(distribution(&self.kind_name(&key), "all", &stats.latency));
            }
        }
        for device in self.devices().iter().filter_map(|id| e.facts.device(*id)) {
            for class in Class::ALL {
                let phases = device.phases(class);
                let name = format!("{} {}", e.name(device.id), class_words(class));
                for (phase, d) in phases.each() {
                    if !d.is_empty() {
                        all.push(distribution(&name, phase, d));
                    }
                }
            }
        }
        all
    }

    /// How large requests were, by device and class.
    fn sizes(&self) -> Vec<Value> {
        let e = &self.shown.explanation;
        let cells = &e.facts.cells;
        let sums = cells.sum(|k| Some((k.dev, Class::of(k.op, k.flags).index(), k.size)));
        let mut all = vec![];
        for dev in self.devices() {
            for class in Class::ALL {
                let rows: Vec<_> = sums
                    .iter()
                    .filter(|((d, c, _), p)| *d == dev && *c == class.index() && p.count > 0 && p.bytes.0 > 0)
                    .map(|((.., upper), p)| json!([upper.upper().0, p.count, p.bytes.0]))
                    .collect();
                if !rows.is_empty() {
                    let name = format!("{} {}", e.name(dev), class_words(class));
                    let class = crate::json::serde_name(class);
                    all.push(json!({ "name": name, "class": class, "rows": rows }));
                }
            }
        }
        all
    }

    /// Settings of the devices that are shown: name, value, where that is said.
    fn settings(&self) -> Vec<Value> {
        let e = &self.shown.explanation;
        let system = &e.subject.system;
        let one = |dev: DevId| {
            let name = e.name(dev);
            let device = system.device_at(dev).or_else(|| system.device(&name))?;
            let row = |(path, fact): (&String, &evidence::Fact<String>)| json!([path, fact.value, fact.at]);
            let rows: Vec<_> = device.attributes.iter().take(self.detail.rows).map(row).collect();
            Some(json!({ "name": name, "rows": rows }))
        };
        let mut all: Vec<Value> = self.devices().into_iter().filter_map(one).collect();
        let vm: Vec<_> =
            system.vm.iter().take(self.detail.rows).map(|(k, f)| json!([k, f.value, f.at])).collect();
        if !vm.is_empty() {
            all.push(json!({ "name": "/proc/sys/vm", "rows": vm }));
        }
        let mounts = system.mounts.iter().take(self.detail.rows);
        let mounts: Vec<_> =
            mounts.map(|m| json!([m.target, format!("{} on {}", m.fstype, m.source), ""])).collect();
        if !mounts.is_empty() {
            all.push(json!({ "name": "mounts", "rows": mounts }));
        }
        all
    }

    /// Seconds in which events were lost: from, to, how many, on which device.
    fn losses(&self) -> Vec<Value> {
        let e = &self.shown.explanation;
        let mut sum: BTreeMap<(u64, DevId), u64> = BTreeMap::new();
        e.subject.quality.lost.iter().for_each(|(at, n)| *sum.entry((at.second, at.dev)).or_default() += n);
        let one = |((second, dev), n): (&(u64, DevId), &u64)| {
            let from = Nanos(second.saturating_mul(Nanos::SECOND.0));
            json!([self.since(from), self.since(from + Nanos::SECOND), n, e.name(*dev)])
        };
        sum.iter().take(self.detail.rows).map(one).collect()
    }

    /// What the kernel counted each second: until when, bytes dirty, bytes under write-back, the part of the time in
    /// which tasks stood still for I/O, in thousandths.
    fn memory(&self) -> Value {
        let all = &self.shown.explanation.subject.samples.intervals;
        let every = all.len().div_ceil(self.detail.rows.max(1)).max(1);
        let shown: Vec<_> = all.iter().step_by(every).collect();
        let stalled = |i: &evidence::Interval| {
            let some = i.stalled.io_some?;
            Some((u128::from(some.0) * 1000 / u128::from(i.to.since(i.from).0.max(1))).min(1000) as u64)
        };
        json!({
            "at_ns": shown.iter().map(|i| self.since(i.to)).collect::<Vec<_>>(),
            "dirty": shown.iter().map(|i| i.dirty).collect::<Vec<_>>(),
            "writeback": shown.iter().map(|i| i.writeback).collect::<Vec<_>>(),
            "io_stalled": shown.iter().map(|i| stalled(i)).collect::<Vec<_>>(),
        })
    }

    /// What is not in the page, in words.
    fn left_out(&self) -> Vec<String> {
        let mut words = vec![];
        let facts = &self.shown.explanation.facts;
        let devices = facts.devices.iter().filter(|d| d.has_io()).count();
        if devices > self.detail.devices {
            words.push(format!(
                "{} of {devices} devices are drawn, those with the most I/O",
                self.detail.devices
            ));
        }
        if self.shown.pictures.left_out > 0 {
            let n = causes::words::count(self.shown.pictures.left_out);
            words.push(format!("{n} requests or operations of further devices and kinds are in no picture"));
        }
        if self.detail != Detail::FULL {
            words.push("times are drawn more coarsely than they were kept, to keep this page small".into());
        }
        words
    }
}

/// A distribution: of each bucket by how much its lower end exceeds the one before, then its count.
fn distribution(name: &str, phase: &str, d: &Distribution) -> Value {
    let mut before = 0;
    let steps = d.buckets().flat_map(|b| {
        let step = b.lower - before;
        before = b.lower;
        [step, b.count]
    });
    let buckets = pack(steps.collect::<Vec<_>>());
    json!({ "name": name, "phase": phase, "count": d.count(), "max": d.max(), "buckets": buckets, "summary": d.summary() })
}
