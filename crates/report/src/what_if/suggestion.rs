//! Draws the settings that come closest to an aim: the commands, and which classes of I/O they slow down.

use super::screen::{grouped, why};
use crate::wrap::wrap_into;
use std::fmt::Write;
use units::words::ns;
use whatif::metric::{words_of, Phase};
use whatif::predict::{Cell, Lab};
use whatif::suggest::Suggestion;

/// Draws the commands, and their effect on each class, in lines of `width` columns: what is predicted first, then what is not, by reason.
pub fn suggested(name: &str, found: &Suggestion, lab: &Lab, width: usize) -> String {
    let now = &lab.settings.deadline;
    let mut out = match found.reached {
        true => format!("{name}: the aim would be reached with\n\n"),
        false => format!("{name}: the aim would not be reached; the best that was found is\n\n"),
    };
    for (key, value) in &found.set {
        let _ = writeln!(out, "  echo {value} > /sys/block/{name}/queue/iosched/{key}");
    }
    let _ = writeln!(
        out,
        "\nrecorded with read_expire {}, write_expire {}, writes_starved {}, fifo_batch {}\n",
        now.read_expire / 1_000_000,
        now.write_expire / 1_000_000,
        now.writes_starved,
        now.fifo_batch
    );
    let whole = || found.cells.iter().filter(|c| c.metric.phase == Phase::Q2C);
    for (cell, p) in whole().filter_map(|cell| Some((cell, cell.predicted?))) {
        let (class, at) = (words_of(cell.metric.class), cell.percentile);
        let mark = if found.aim.is_of(cell) { "  <- the aim" } else { "" };
        let word = match p.value as f64 / cell.recorded.max(1) as f64 {
            f if f < 0.95 => "gain",
            f if f > 1.05 => "harm",
            _ => "same",
        };
        let [recorded, value, from, to] = [cell.recorded, p.value, p.from, p.to].map(ns);
        let _ = writeln!(out, "  {word}  {class} {at}: {recorded} -> {value} ({from} to {to}){mark}");
    }
    let now = |cell: &Cell| {
        format!("{} {}: now {}", words_of(cell.metric.class), cell.percentile, ns(cell.recorded))
    };
    for (reason, of) in grouped(whole().filter_map(|cell| Some((why(cell)?, now(cell))))) {
        wrap_into(
            &mut out,
            &format!("{}; no prediction: {reason}", of.join(", ")),
            width,
            "  ?     ",
            "        ",
        );
    }
    out
}
