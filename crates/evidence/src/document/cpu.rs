//! Reads lscpu(1) and `/proc/cpuinfo`: number and model of the processors.
//!
//! ```text
//! Architecture:        x86_64            processor       : 0
//! CPU(s):              2                 model name      : AMD EPYC
//! ```

use super::kind::Kind;
use crate::fact::{At, Fact};
use crate::system::System;

/// Reader state: other lines of the table are recognised only after its first line.
#[derive(Default)]
pub struct CpuTable {
    begun: bool,
    /// Number of `processor` lines in cpuinfo so far.
    processors: u32,
}

impl Kind for CpuTable {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn line(&mut self, line: &str, at: &At, system: &mut System) -> bool {
        let Some((key, value)) = line.split_once(':') else { return false };
        let (key, value) = (key.trim(), value.trim());
        let model = |system: &mut System| {
            system.cpu_model.get_or_insert_with(|| Fact::new(value.to_owned(), at));
        };
        match (key, value.parse::<u32>()) {
            ("CPU(s)", Ok(cpus)) => {
                system.cpus.get_or_insert_with(|| Fact::new(cpus, at));
            }
            ("processor", Ok(_)) => {
                self.processors = self.processors.saturating_add(1);
                let here = |fact: &Fact<u32>| fact.at.file == at.file;
                if system.cpus.as_ref().is_none_or(here) {
                    system.cpus = Some(Fact::new(self.processors, at));
                }
            }
            ("Model name" | "model name", _) => model(system),
            ("Architecture", _) => {}
            _ if self.begun => {}
            _ => return false,
        }
        self.begun = true;
        true
    }
}
