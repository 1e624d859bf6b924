//! Whether a device is read or written at just the rate that a control group's limit lets through. Where only blocks were recorded, that is
//! all that shows such a limit: bios wait for it before they are queued.
//!
//! Example: `blkio.throttle.read_bps_device` says 3000000, and in each second but the first and the last between 2.9 and 3.0 MB were read
//! of a device that was idle for nine tenths of the time.

use crate::thresholds::cgroup_limit::{BUSY, ENOUGH, MEAN, SLICE};
use life::Class;
use stats::{Device, Second};
use trace::DevId;

/// A limit of a control group for one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    /// Of reads, or of writes.
    pub reads: bool,
    /// Of bytes, or of operations.
    pub bytes: bool,
    /// So many.
    pub a_second: u64,
}

/// The limits that a file of a control group sets for a device, of version 1 or 2.
pub(crate) fn limits(file: &str, value: &str, dev: DevId) -> Vec<Limit> {
    let of_it = format!("{}:{} ", dev.major(), dev.minor());
    let told = value.lines().find_map(|line| line.trim().strip_prefix(&of_it)).unwrap_or("");
    let limit = |name: &str, number: &str| {
        let (reads, bytes) = match name {
            "rbps" | "read_bps" => (true, true),
            "wbps" | "write_bps" => (false, true),
            "riops" | "read_iops" => (true, false),
            "wiops" | "write_iops" => (false, false),
            _ => return None,
        };
        let a_second = number.trim().parse().ok().filter(|n| *n > 0)?;
        Some(Limit { reads, bytes, a_second })
    };
    match file.strip_prefix("blkio.throttle.").and_then(|kind| kind.strip_suffix("_device")) {
        Some(kind) => limit(kind, told).into_iter().collect(),
        None => told
            .split_whitespace()
            .filter_map(|pair| pair.split_once('='))
            .filter_map(|(name, number)| limit(name, number))
            .collect(),
    }
}

impl Limit {
    /// How many a second there were, if that is what it lets through and the device is not what sets the pace.
    pub fn sets_the_pace_of(&self, device: &Device) -> Option<u64> {
        let step = device.series.step().seconds();
        let rates: Vec<f64> = device.series.cells().map(|(_, second)| self.count(second) / step).collect();
        // The recording begins and ends within a second.
        let whole = rates.get(1..rates.len().saturating_sub(1))?;
        let mean = whole.iter().sum::<f64>() / whole.len() as f64;
        let limit = self.a_second as f64;
        let is_near = |rate: &f64| (rate - limit).abs() <= SLICE * limit;
        let is_it =
            whole.len() >= ENOUGH && (mean - limit).abs() <= MEAN * limit && whole.iter().all(is_near);
        (is_it && device.depth.busy() < BUSY).then_some(mean as u64)
    }

    /// Whether it is about such I/O.
    pub fn is_of(&self, class: Class) -> bool {
        match class {
            Class::Read => self.reads,
            Class::SyncWrite | Class::Background => !self.reads,
            Class::Flush | Class::Other => false,
        }
    }

    fn count(&self, second: &Second) -> f64 {
        let classes = Class::ALL.into_iter().filter(|class| self.is_of(*class)).map(Class::index);
        match self.bytes {
            true => classes.map(|class| second.bytes[class].0 as f64).sum(),
            false => classes.map(|class| second.completed[class] as f64).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_both_versions_are_read() {
        let dev = DevId::new(8, 0);
        let read = |bytes, a_second| Limit { reads: true, bytes, a_second };
        assert_eq!(
            limits("blkio.throttle.read_bps_device", "8:16 5\n8:0 3000000", dev),
            [read(true, 3_000_000)]
        );
        assert_eq!(limits("io.max", "8:0 rbps=max wbps=max riops=150 wiops=max", dev), [read(false, 150)]);
        assert_eq!(limits("blkio.throttle.read_iops_device", "8:0 0", dev), []);
        assert_eq!(limits("io.latency", "8:0 target=100", dev), []);
    }
}
