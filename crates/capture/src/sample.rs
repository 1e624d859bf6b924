//! A line of `samples.jsonl`: counters of the kernel, sampled once per second.
//!
//! Counters are the kernel's, since boot: a rate is the difference of two lines.

use crate::lenient;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Limit on devices (or processors) per sample: above what machines have, although dev_t has room for more.
const MOST_NAMES: usize = 16_384;

/// One sample.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Sample {
    /// CLOCK_MONOTONIC in nanoseconds: the clock of the trace.
    pub mono_ns: Option<u64>,
    /// Wall clock in nanoseconds since 1970.
    #[serde(deserialize_with = "lenient::or_default")]
    pub wall_ns: u64,
    /// /proc/diskstats by device: its numbers as they stand there, from "reads completed" on
    /// (Documentation/admin-guide/iostats.rst); times in ms, sizes in sectors of 512 bytes.
    pub disks: Named<Vec<u64>>,
    /// /proc/stat: `cpu` for all, `cpu0`, ... in ticks of 10 ms: user, nice, system, idle, iowait, irq, softirq, steal, ...
    pub cpus: Named<Vec<u64>>,
    /// Number of tasks that are running or runnable (`procs_running`).
    pub running: u64,
    /// Number of tasks in uninterruptible sleep (`procs_blocked`).
    pub blocked: u64,
    /// Selected values of /proc/meminfo, in bytes.
    pub memory: Named<u64>,
    /// Selected values of /proc/vmstat.
    #[serde(deserialize_with = "lenient::or_default")]
    pub vmstat: Named<u64>,
    /// /proc/pressure: microseconds stalled since boot, for example by `io` and `some`; empty without CONFIG_PSI.
    pub pressure: Named<Named<u64>>,
}

impl Sample {
    /// The sample as a line of JSON with its newline.
    pub fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

/// Names and values; reading stops at a limit above what machines have.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T> {
    all: BTreeMap<Arc<str>, T>,
    /// Number of entries above the limit.
    pub left_out: u64,
}

impl<T> Default for Named<T> {
    fn default() -> Named<T> {
        Named { all: BTreeMap::new(), left_out: 0 }
    }
}

impl<T> Deref for Named<T> {
    type Target = BTreeMap<Arc<str>, T>;
    fn deref(&self) -> &BTreeMap<Arc<str>, T> {
        &self.all
    }
}

impl<T> DerefMut for Named<T> {
    fn deref_mut(&mut self) -> &mut BTreeMap<Arc<str>, T> {
        &mut self.all
    }
}

impl<T> FromIterator<(Arc<str>, T)> for Named<T> {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, T)>>(all: I) -> Named<T> {
        Named { all: all.into_iter().collect(), left_out: 0 }
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.all.iter().map(|(name, value)| (&**name, value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Named<T>, D::Error> {
        from.deserialize_map(NamedVisitor(PhantomData))
    }
}

struct NamedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for NamedVisitor<T> {
    type Value = Named<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names and values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
        let mut named = Named::default();
        while named.len() < MOST_NAMES {
            match map.next_entry::<String, T>()? {
                Some((name, value)) => named.insert(name.into(), value),
                None => return Ok(named),
            };
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            named.left_out += 1;
        }
        Ok(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let named = |name: &str, value| -> Named<u64> { [(Arc::from(name), value)].into_iter().collect() };
        let mut sample = Sample { mono_ns: Some(7), memory: named("Dirty", 4096), ..Sample::default() };
        sample.disks.insert("vda".into(), vec![1, 2, 3]);
        sample.pressure.insert("io".into(), named("some", 12));
        assert_eq!(serde_json::from_slice::<Sample>(&sample.line()).unwrap(), sample);
    }
}
