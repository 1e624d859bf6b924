//! Reads values below `/proc/sys/vm/`, by path or in the format of sysctl(8).
//!
//! ```text
//! /proc/sys/vm/dirty_ratio:20        /proc/sys/vm/dirty_ratio 20        vm.dirty_ratio = 20
//! ```

use super::kind::Kind;
use crate::fact::At;
use crate::system::System;

pub struct Sysctl;

impl Kind for Sysctl {
    fn name(&self) -> &'static str {
        "sysctl"
    }

    fn line(&mut self, line: &str, at: &At, system: &mut System) -> bool {
        let Some(rest) = line.strip_prefix("/proc/sys/vm/").or_else(|| line.strip_prefix("vm.")) else {
            return false;
        };
        let Some((name, value)) = rest.split_once([':', '=', ' ', '\t']) else { return false };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return false;
        }
        system.set_vm(name, value.trim_start_matches([':', '=', ' ', '\t']).trim_end(), at);
        true
    }
}
