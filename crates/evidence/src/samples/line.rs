//! A line of `samples.jsonl` as it is written. What is missing is empty, what is new is passed over.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// The most devices (or processors) of a sample that are taken; the kernel's dev_t has room for more, machines have not.
const MOST_NAMES: usize = 16_384;

/// See docs/capture.md.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Line {
    pub mono_ns: Option<u64>,
    pub disks: Few<Vec<u64>>,
    pub cpus: Few<Vec<u64>>,
    pub running: u64,
    pub blocked: u64,
    pub memory: Few<u64>,
    pub pressure: Few<Few<u64>>,
}

/// Names and values, but not more than a machine has.
#[derive(Clone, Debug)]
pub struct Few<T> {
    pub named: BTreeMap<Arc<str>, T>,
    /// How many were too many.
    pub left_out: u64,
}

impl<T> Default for Few<T> {
    fn default() -> Few<T> {
        Few { named: BTreeMap::new(), left_out: 0 }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Few<T>, D::Error> {
        from.deserialize_map(FewVisitor(PhantomData))
    }
}

struct FewVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FewVisitor<T> {
    type Value = Few<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names and values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Few<T>, A::Error> {
        let mut few = Few::default();
        while few.named.len() < MOST_NAMES {
            match map.next_entry::<String, T>()? {
                Some((name, value)) => few.named.insert(name.into(), value),
                None => return Ok(few),
            };
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            few.left_out += 1;
        }
        Ok(few)
    }
}
