//! Draws the settings that come closest to an aim: the commands, and which classes of I/O they slow down.

use std::fmt::Write;
use units::words::ns;
use whatif::metric::{words_of, Phase};
use whatif::predict::Lab;
use whatif::suggest::Suggestion;

/// Draws the commands, and their effect on each class.
pub fn suggested(name: &str, found: &Suggestion, lab: &Lab) -> String {
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
    for cell in found.cells.iter().filter(|c| c.metric.phase == Phase::Q2C) {
        let (class, at) = (words_of(cell.metric.class), cell.percentile);
        let mark = if found.aim.is_of(cell) { "  <- the aim" } else { "" };
        let _ = match (&cell.predicted, &cell.refused) {
            (Some(p), _) => {
                let factor = p.value as f64 / cell.recorded.max(1) as f64;
                let word = match factor {
                    f if f < 0.95 => "gain",
                    f if f > 1.05 => "harm",
                    _ => "same",
                };
                writeln!(
                    out,
                    "  {word}  {class} {at}: {} -> {} ({} to {}){mark}",
                    ns(cell.recorded),
                    ns(p.value),
                    ns(p.from),
                    ns(p.to)
                )
            }
            (None, why) => {
                let why = why.as_deref().unwrap_or_default();
                writeln!(out, "  ?     {class} {at}: {} -> no prediction: {why}", ns(cell.recorded))
            }
        };
    }
    out
}
