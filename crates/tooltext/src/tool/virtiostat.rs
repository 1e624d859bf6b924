//! Reads virtiostat of bcc and libbpf-tools: data through each queue of a virtual machine's virtio devices in an interval.
//!
//! ```text
//! Tracing virtio devices statistics ... Hit Ctrl-C to end.
//!           Driver           Device      VQ Name    In SGs   Out SGs            In BW           Out BW
//!       virtio_blk          virtio8        req.0      4838      1026         19791920             4104
//! ```
//!
//! Despite its name, `BW` is the bytes of the whole interval: into the machine (reads) and out of it (writes). The length of the
//! interval is not printed, so there is no rate.
//!
//! **Versions**: bcc 0.19, its first, to 0.37 (`tools/virtiostat.py`).

use super::reader::{texts, Found, Tool};
use super::table;
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::words::Word;

pub struct Virtiostat;

const HEADING: [&str; 12] =
    ["Driver", "Device", "VQ", "Name", "In", "SGs", "Out", "SGs", "In", "BW", "Out", "BW"];
const NAMES: [(&str, Unit); 4] = [
    ("in segments", Unit::Count),
    ("out segments", Unit::Count),
    ("in bytes", Unit::Bytes),
    ("out bytes", Unit::Bytes),
];

impl Tool for Virtiostat {
    fn read(&self, words: &[Word]) -> Option<Found> {
        if words.first()?.text != HEADING[0] || texts(words)? != HEADING {
            return None;
        }
        let reading = Reading { tool: "virtiostat", at: words[0].spot, ..Reading::default() };
        let ends = |w: &Word| w.text == HEADING[0];
        table::gather(reading, words, HEADING.len(), table::MOST_ROWS, ends, row)
    }
}

/// Parses `virtio_blk virtio8 req.0 4838 1026 19791920 4104`.
fn row(words: &[Word]) -> Option<(Row, usize)> {
    let [driver, device, queue, numbers @ ..] = texts::<7>(words)?;
    (driver.contains("virtio") && device.starts_with("virtio")).then_some(())?;
    let mut row = Row::of(format!("{device} {queue} ({driver})"));
    for (i, ((name, unit), text)) in NAMES.iter().zip(numbers).enumerate() {
        let value: u64 = text.parse().ok()?;
        row.values.put(*name, value as f64, *unit, words[3 + i].spot);
    }
    Some((row, 7))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn queues_have_their_segments_and_bytes() {
        let text = "          Driver           Device      VQ Name    In SGs   Out SGs            In BW           Out BW\n\
            \x20     virtio_blk          virtio8        req.0      4838      1026         19791920             4104\n\
            \x20     virtio_net          virtio1     output.0         0        12                0             1500\n";
        let reading = one(text, "virtiostat");
        assert_eq!(reading.rows.len(), 2);
        let row = &reading.rows[0];
        assert_eq!(row.of, "virtio8 req.0 (virtio_blk)");
        assert_eq!(
            (row.value("in segments"), row.value("in bytes"), row.value("out bytes")),
            (Some(4838.0), Some(19_791_920.0), Some(4104.0))
        );
        assert!(all(
            "Driver Device VQ Name In SGs Out SGs In BW Out BW\nvirtio_blk virtio8 req.0 4838 1026\n",
            "virtiostat"
        )
        .is_empty());
    }
}
