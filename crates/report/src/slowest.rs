//! Shows the slowest requests with their ledgers and their events; for stacked devices the slowest bios.

use crate::stacked;
use crate::wrap::wrap_into;
use explain::gathered::Gathered;
use explain::{Places, SlowRequest, SlowestRequests};
use ledger::Ledger;
use life::Request;
use std::fmt::Write;
use trace::Nanos;
use units::words::{count, size, time};

/// Draws the slowest requests as text in lines of `width` columns.
pub fn requests(slowest: &SlowestRequests, places: &Places, width: usize) -> String {
    let mut out = String::new();
    let began = slowest.began.unwrap_or_default();
    for (slow, gathered) in slowest.all() {
        match slow {
            SlowRequest::Request(request, task) => {
                one(&mut out, (request, task), gathered, places, began, width)
            }
            SlowRequest::Stacked(sent) => stacked::tell(&mut out, sent, places, began, width),
        }
    }
    if out.is_empty() {
        let _ = writeln!(out, "no request was completed");
    }
    out
}

fn one(
    out: &mut String,
    (r, task): (&Request, &str),
    gathered: Option<&Gathered>,
    places: &Places,
    began: Nanos,
    width: usize,
) {
    let since_start = |t: Nanos| t.since(began).seconds();
    let l = Ledger::of(&r.time);
    let error = if r.error == 0 { String::new() } else { format!(", ERROR {}", r.error) };
    let head = format!(
        "{} of {} at sector {} of {} by {} (tid {}), {}, at {:.6} s{error}",
        r.op.name(),
        size(r.bytes),
        r.start.0,
        places.device(r.dev),
        task,
        r.tid.0,
        time(l.total()),
        since_start(l.from)
    );
    wrap_into(out, &head, width, "", "    ");
    stacked::segments(out, &l, width);
    let served: u64 = r.contention.served.iter().map(|n| *n as u64).sum();
    if served > 0 {
        let text = format!("{} others, {}", count(served), size(r.contention.served_bytes));
        wrap_into(out, &format!("meanwhile the device completed {text}"), width, "  ", "    ");
    }
    let mut before = l.from;
    for (e, task) in gathered.iter().flat_map(|g| &g.events) {
        let text = format!(
            "{:>13.6} s  {:>+14.6} ms  {:<2} {} + {}  cpu {} {task} ({})",
            since_start(e.time),
            e.time.since(before).0 as f64 / 1e6,
            e.action.letters(),
            e.sector.0,
            e.bytes.sectors(),
            e.cpu.0,
            e.tid.0
        );
        wrap_into(out, &text, width, "    ", "          ");
        before = e.time;
    }
    if let Some(left_out) = gathered.map(|g| g.left_out).filter(|n| *n > 0) {
        let _ = writeln!(out, "    and {} more events", count(left_out));
    }
    out.push('\n');
}
