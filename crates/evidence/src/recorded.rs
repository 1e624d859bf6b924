//! Reads `capture.json`: the recorder's own data about its recording (docs/capture.md).
//!
//! The trace has no wall-clock time (its clock counts from boot), and it only shows losses before a page that
//! was kept. The recorder reads the kernel's counters every second.

use crate::source::Skipped;
use capture::{Capture, EndedBy, CAPTURE_JSON};
use std::io::{self, Read};
use std::path::Path;
use std::time::UNIX_EPOCH;
use trace::{Cpu, DevId, Nanos, Quality};

/// Limit on bytes read: there is an entry for each second and processor with losses.
const MOST_BYTES: u64 = 32 << 20;

/// Recordings of a year or more do not exist.
const MOST_NS: u64 = 366 * 86_400 * Nanos::SECOND.0;

/// The recorder's data about a recording.
#[derive(Clone, Debug, Default)]
pub struct Recorded(pub Capture);

impl Recorded {
    /// Reads the file of the capture at `path`, a folder or a file in it. `None` if the file does not exist.
    pub fn read(path: &Path) -> Result<Option<Recorded>, Skipped> {
        let file = match path.is_dir() {
            true => path.join(CAPTURE_JSON),
            false => path.with_file_name(CAPTURE_JSON),
        };
        // Reading a named pipe might never end.
        if !file.is_file() {
            return Ok(None);
        }
        let read = || -> io::Result<Recorded> {
            let mut text = Vec::new();
            std::fs::File::open(&file)?.take(MOST_BYTES).read_to_end(&mut text)?;
            Ok(Recorded(serde_json::from_slice(&text)?))
        };
        read().map(Some).map_err(|e| Skipped { file: CAPTURE_JSON.into(), why: e.to_string() })
    }

    /// Start of the recording: seconds and nanoseconds since 1970, and the trace's clock at that moment.
    pub fn began(&self) -> Option<(u32, u32, Nanos)> {
        let wall = humantime::parse_rfc3339(&self.0.start.wall).ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some((u32::try_from(wall.as_secs()).ok()?, wall.subsec_nanos(), Nanos(self.0.start.mono_ns)))
    }

    /// End of the recording on the trace's clock: later than its last event if nothing happened any more.
    pub fn ended(&self) -> Option<Nanos> {
        let [start, end] = [self.0.start.mono_ns, self.0.end.mono_ns];
        end.checked_sub(start).filter(|length| *length < MOST_NS).map(|_| Nanos(end))
    }

    /// Length of the recording; `None` if events were lost or required events are missing.
    pub fn watched(&self) -> Option<Nanos> {
        let missed = self.0.lost > 0 || !self.0.missing.is_empty();
        let [start, end] = [self.0.start.mono_ns, self.0.end.mono_ns].map(Nanos);
        (!missed && end > start).then(|| end.since(start))
    }

    /// Adds the recorder's knowledge to a trace's quality: its total losses, if the trace shows fewer, and missing
    /// block events.
    pub fn judge(&self, quality: &mut Quality) {
        if self.0.lost > quality.lost_total() {
            quality.lost.clear();
            let start = Nanos(self.0.start.mono_ns);
            let mut left = self.0.lost;
            for loss in &self.0.losses {
                let lost = loss.lost.min(left);
                left -= lost;
                let at = Nanos(loss.second.saturating_mul(Nanos::SECOND.0).saturating_add(start.0));
                quality.lose(DevId(0), Cpu(loss.cpu), at, lost);
            }
            if left > 0 {
                quality.lose(DevId(0), Cpu(0), start, left);
            }
        }
        let requests: Vec<&str> =
            self.0.missing.iter().map(String::as_str).filter(|e| e.starts_with("block:")).collect();
        if !requests.is_empty() {
            quality.note(format!("the recorded kernel has no {}", requests.join(", ")));
        }
        if self.0.ended_by == EndedBy::OutputFailed {
            quality.note("the recording ended early, because its output could not be written".into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> Recorded {
        Recorded(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn losses_and_the_beginning() {
        let r = of(
            r#"{"start": {"wall": "1970-01-02T00:00:00.5Z", "mono_ns": 7500000000}, "lost": 30, "new": 1,
            "losses": [{"second": 2, "cpu": 1, "lost": 20}], "missing": ["block:block_rq_issue", "jbd2:*"]}"#,
        );
        assert_eq!(r.began(), Some((86_400, 500_000_000, Nanos(7_500_000_000))));
        assert_eq!(r.watched(), None, "it lost events");
        let mut q = Quality::default();
        q.lose(DevId(0), Cpu(0), Nanos(0), 5);
        r.judge(&mut q);
        let lost: Vec<_> = q.lost.iter().map(|(at, n)| (at.cpu.0, at.second, *n)).collect();
        assert_eq!(lost, [(0, 7, 10), (1, 9, 20)]);
        assert_eq!(q.notes, ["the recorded kernel has no block:block_rq_issue"]);
    }

    #[test]
    fn a_recorder_that_lost_nothing_watched_all_the_time() {
        let r = of(r#"{"start": {"mono_ns": 7000}, "end": {"mono_ns": 9500}}"#);
        assert_eq!(r.watched(), Some(Nanos(2500)));
        assert_eq!(r.ended(), Some(Nanos(9500)));
        let begun = of(r#"{"start": {"mono_ns": 7000}}"#);
        assert_eq!((begun.watched(), begun.ended()), (None, None));
    }

    #[test]
    fn a_trace_that_knows_more_is_believed() {
        let mut q = Quality::default();
        q.lose(DevId(0), Cpu(3), Nanos(0), 50);
        of(r#"{"lost": 30}"#).judge(&mut q);
        assert_eq!(q.lost_total(), 50);
    }

    #[test]
    fn hostile_numbers() {
        let r = of(&format!(
            r#"{{"start": {{"wall": "9999-12-31T23:59:59Z", "mono_ns": {0}}}, "lost": 3,
            "losses": [{{"second": {0}, "cpu": 1, "lost": {0}}}, {{"second": 1, "cpu": 1, "lost": {0}}}]}}"#,
            u64::MAX
        ));
        assert_eq!(r.began(), None);
        assert_eq!(of(&format!(r#"{{"end": {{"mono_ns": {}}}}}"#, u64::MAX)).ended(), None);
        let mut q = Quality::default();
        r.judge(&mut q);
        assert_eq!(q.lost_total(), 3);
    }

    #[test]
    fn no_file_and_one_that_is_damaged() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Recorded::read(dir.path()).unwrap().is_none());
        std::fs::write(dir.path().join(CAPTURE_JSON), "{").unwrap();
        assert_eq!(Recorded::read(&dir.path().join("trace.dat")).unwrap_err().file, CAPTURE_JSON);
    }
}
