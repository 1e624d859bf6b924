//! Reads `/proc/meminfo` (proc_meminfo(5)).
//!
//! ```text
//! MemTotal:        4007080 kB
//! HugePages_Total:       0
//! ```

use super::kind::Kind;
use crate::fact::{At, Fact};
use crate::system::System;
use trace::Bytes;

pub struct Meminfo;

impl Kind for Meminfo {
    fn name(&self) -> &'static str {
        "meminfo"
    }

    fn line(&mut self, line: &str, at: &At, system: &mut System) -> bool {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(name) = words.first().and_then(|word| word.strip_suffix(':')) else { return false };
        match words[1..] {
            // kB in meminfo means KiB.
            [number, "kB"] => match number.parse::<u64>() {
                Ok(kib) => {
                    let size = || Fact::new(Bytes(kib.saturating_mul(1024)), at);
                    system.memory.entry(name.to_owned()).or_insert_with(size);
                    true
                }
                Err(_) => false,
            },
            [number] => name.starts_with("HugePages_") && number.parse::<u64>().is_ok(),
            _ => false,
        }
    }
}
