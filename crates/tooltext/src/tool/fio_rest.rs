//! Reads the parts of fio's normal output after the latencies: processors, counts, the group's summary, the disks.
//!
//! **Versions**: fio 2.0 to 3.42.

use super::fio_text::{Job, MOST_SKIPPED};
use super::fio_units::disk_value;
use super::lexeme::Cursor;
use crate::output::number::{decimal, with_suffix, Unit};
use crate::output::reading::Row;

impl Job {
    /// Parses `cpu : usr=0.91%, sys=3.48%, ctx=5426681, majf=0, minf=142`.
    pub fn cpu(&mut self, c: &mut Cursor) -> Option<()> {
        c.eat_all(&["cpu", ":"]).then_some(())?;
        let mut any = false;
        while let Some(key) = c.key() {
            let value = c.next()?;
            let (v, suffix) = with_suffix(value.text)?;
            let (v, unit) = if suffix == "%" { (v / 100.0, Unit::Share) } else { (v, Unit::Count) };
            // Old fio prints negative counts of faults as huge numbers, which are left out.
            if v < 9e18 {
                self.row("all").values.put(format!("cpu.{}", key.text), v, unit, value.spot);
            }
            any = true;
            c.eat(",");
        }
        any.then_some(())
    }

    /// Parses `issued : total=r=5426464/w=0/d=0, short=...` or `issued rwts: total=2,3,0,0 short=... dropped=...`.
    pub fn issued(&mut self, c: &mut Cursor) -> Option<()> {
        c.eat("issued").then_some(())?;
        if !c.eat(":") {
            c.next()?.text.starts_with('r').then_some(())?;
            c.eat(":").then_some(())?;
        }
        c.eat_all(&["total", "="]).then_some(())?;
        let named = c.ahead(1).is_some_and(|l| l.text == "=");
        // The fourth number in fio 3 is of syncs.
        for of in ["read", "write", "trim", "sync"] {
            // Some versions print a comma after the first three.
            if of == "sync" && c.peek().is_none_or(|l| decimal(l.text).is_none()) {
                break;
            }
            if named {
                c.key()?;
            }
            let value = c.next()?;
            let n = decimal(value.text)?;
            if let Some(row) = self.reading.rows.iter_mut().find(|row| row.of == of) {
                row.values.put("count", n, Unit::Count, value.spot);
            }
            if !c.eat("/") && !c.eat(",") {
                break;
            }
        }
        // Short and dropped operations, in the same forms; and fio 3's number of syncs.
        while let Some(l) = c.peek() {
            let more = ["short", "dropped", "drop", "=", "/", "r", "w", "d", "s"].contains(&l.text)
                || (l.text == "," && c.ahead(1).is_some_and(|l| l.text != "latency"))
                || l.text.bytes().all(|b| b.is_ascii_digit());
            if !more {
                break;
            }
            c.at += 1;
        }
        Some(())
    }

    /// Skips `Run status group 0 (all jobs):` and its lines, which repeat the jobs' numbers. They end with `maxt=`
    /// or `run=`.
    pub fn summary(&mut self, c: &mut Cursor) -> Option<()> {
        if c.eat_all(&["Run", "status", "group"]) {
            c.next()?;
            self.over = true;
            return c.eat_all(&["(", "all", "jobs", ")", ":"]).then_some(());
        }
        c.attempt(|c| {
            let name = c.next()?.text;
            let line = self.over && ["READ", "WRITE", "TRIM", "MIXED"].contains(&name) && c.eat(":");
            line.then_some(())?;
            let last = |i: &usize| c.ahead(*i).is_some_and(|l| l.text == "maxt" || l.text == "run");
            c.at += (0..MOST_SKIPPED).find(last)?;
            c.key()?;
            c.next().map(|_| ())
        })
    }

    /// Parses `Disk stats (read/write):` and lines such as `sdb: ios=5416500/2, merge=0/0, ticks=1323879/1, ...`.
    pub fn disks(&mut self, c: &mut Cursor) -> Option<()> {
        c.attempt(|c| {
            c.eat_all(&["Disk", "stats", "(", "read", "/", "write", ")", ":"]).then_some(())?;
            self.over = true;
            self.current = None;
            Some(())
        })
        .or_else(|| {
            c.attempt(|c| {
                let name = c.next()?;
                (self.over && c.eat(":") && c.ahead(0)?.text == "ios").then_some(())?;
                let mut row = Row::of(name.text);
                while let Some(key) = c.key() {
                    let first = c.next()?;
                    let second = if c.eat("/") { Some(c.next()?) } else { None };
                    disk_value(&mut row, key.text, first, second);
                    c.eat(",");
                }
                self.reading.rows.push(row);
                Some(())
            })
        })
    }
}
