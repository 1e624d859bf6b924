//! Reads `uname -a` and `/proc/version`: the kernel's release.
//!
//! ```text
//! Linux vmlab 6.1.0-50-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.176-1 x86_64 GNU/Linux
//! Linux version 6.1.0-50-amd64 (debian-kernel@...) (gcc-12 ...) #1 SMP ...
//! ```

use super::kind::Kind;
use crate::fact::At;
use crate::system::System;

pub struct Uname;

impl Kind for Uname {
    fn name(&self) -> &'static str {
        "uname"
    }

    fn line(&mut self, line: &str, at: &At, system: &mut System) -> bool {
        // In both forms the third word is the release; the build number ("#1") distinguishes them from other text.
        let mut words = line.split_whitespace();
        let release = match (words.next(), words.next(), words.next()) {
            (Some("Linux"), Some(_), Some(release)) if release.starts_with(|c: char| c.is_ascii_digit()) => {
                release
            }
            _ => return false,
        };
        if !words.any(|word| word.starts_with('#')) {
            return false;
        }
        system.set_kernel(release, at);
        true
    }
}
