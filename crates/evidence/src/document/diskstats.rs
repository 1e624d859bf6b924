//! Reads `/proc/diskstats`: the device number of each name (Documentation/admin-guide/iostats.rst).
//!
//! ```text
//!  254       0 vda 40 0 418 80 6 1 26 32 0 104 129 0 0 0 0 6 17
//! ```

use super::dev::dev;
use super::kind::Kind;
use crate::fact::At;
use crate::system::System;

pub struct Diskstats;

/// Fewest counters of a line: eleven since Linux 2.6; 4.18 and 5.5 added more at the end.
const LEAST_COUNTERS: usize = 11;

impl Kind for Diskstats {
    fn name(&self) -> &'static str {
        "diskstats"
    }

    fn line(&mut self, line: &str, at: &At, system: &mut System) -> bool {
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[major, minor, name, ref counters @ ..] = &words[..] else { return false };
        let whole = counters.len() >= LEAST_COUNTERS && counters.iter().all(|c| c.parse::<u64>().is_ok());
        match dev(major, minor) {
            Some(dev) if whole => system.set_dev(name, dev, at),
            _ => false,
        }
    }
}
