//! Assigns replacements to names.

use crate::role::Role;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::RandomState;
use std::collections::BTreeMap;
use std::hash::BuildHasher;
use trace::is_kernel_thread;

/// Limit on remembered names; beyond it, names may share a replacement.
const MOST: usize = 1 << 20;
/// Number of draws if a replacement is taken or equals the name. Very short names run out of replacements.
const DRAWS: u64 = 64;
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// Prefixes of task names that identify nobody: io_uring workers, which belong to a process but are named by the kernel
/// (io_uring/io-wq.c), and the idle task.
const ANYBODY: [&str; 3] = ["iou-wrk-", "iou-sqp-", "<idle>"];

/// Names and their replacements.
#[derive(Debug, Default)]
pub struct Names {
    key: RandomState,
    known: FxHashMap<String, String>,
    taken: FxHashSet<String>,
    roles: BTreeMap<String, Role>,
    /// The given roles, if the capture's names are already replacements.
    known_roles: Option<BTreeMap<String, Role>>,
}

impl Names {
    /// For a capture that is already redacted, with its roles; `None` for an original one.
    pub fn with_roles(known_roles: Option<BTreeMap<String, Role>>) -> Names {
        Names { known_roles, ..Names::default() }
    }

    /// The replacement for a task's name; names of kernel threads are kept.
    pub fn task(&mut self, name: &str) -> String {
        // A person may have chosen an array's name: md_home_raid1.
        let is_kernels = is_kernel_thread(name) && !name.starts_with("md_");
        if is_kernels || ANYBODY.iter().any(|anybody| name.starts_with(anybody)) {
            return name.to_string();
        }
        let stand_in = self.word(name);
        let role = match &self.known_roles {
            Some(known) => known.get(name).copied(),
            None => Role::of(name),
        };
        if let Some(role) = role {
            self.roles.insert(stand_in.clone(), role);
        }
        stand_in
    }

    /// The roles of the tasks seen so far, by their replacement names.
    pub fn roles(&self) -> &BTreeMap<String, Role> {
        &self.roles
    }

    /// The replacement for a path, component by component. Device paths are kept, except for names that people choose.
    pub fn path(&mut self, path: &str) -> String {
        // /dev/mapper/customer and /dev/shm/file have names that people chose; /dev/sda does not.
        let device = path.strip_prefix("/dev/").is_some_and(|name| !name.contains('/'));
        if device || path.starts_with("/proc/") || path.starts_with("/sys/") {
            return path.to_string();
        }
        let parts: Vec<String> = path.split('/').map(|part| self.word(part)).collect();
        parts.join("/")
    }

    /// Replaces paths within other text: `lowerdir=/a/b:/c`.
    pub fn text(&mut self, text: &str) -> String {
        let between =
            |c: char| c.is_whitespace() || matches!(c, ',' | '=' | ':' | ';' | '"' | '\'' | '(' | ')');
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(between).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            out.push_str(&if word.starts_with('/') { self.path(word) } else { word.to_string() });
            let separator = after.chars().next().map_or(0, char::len_utf8);
            out.push_str(&after[..separator]);
            rest = &after[separator..];
        }
        out
    }

    /// The replacement for any name, with the same number of bytes.
    pub fn word(&mut self, name: &str) -> String {
        if name.is_empty() {
            return String::new();
        }
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let mut drawn = String::new();
        for draw in 0..DRAWS {
            drawn = self.draw(name, draw);
            if drawn != name && !self.taken.contains(&drawn) {
                break;
            }
        }
        if self.known.len() < MOST {
            self.taken.insert(drawn.clone());
            self.known.insert(name.to_string(), drawn.clone());
        }
        drawn
    }

    fn draw(&self, name: &str, draw: u64) -> String {
        let letter = |i: usize| {
            let hash = self.key.hash_one((name, draw, i));
            // The first character is never a digit: the name would look like a number.
            let choice = if i == 0 { 26 } else { LETTERS.len() as u64 };
            char::from(LETTERS[(hash % choice) as usize])
        };
        (0..name.len()).map(letter).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kernel_threads_and_devices_keep_their_names() {
        let mut n = Names::default();
        for kept in ["kworker/0:1H", "jbd2/vda1-8", "loop3", "md127_raid5", "swapper/0"] {
            assert_eq!(n.task(kept), kept);
        }
        for changed in [
            "fio",
            "mdadm",
            "loopy",
            "postgres",
            "md5sum",
            "md_home_raid1",
            "mdsecret_raid1",
            "dm_secret",
            "flush-secret",
        ] {
            assert_ne!(n.task(changed), changed);
        }
        assert_eq!(n.path("/dev/vda1"), "/dev/vda1");
        for changed in ["/dev/mapper/customer-db", "/dev/shm/secret"] {
            assert!(!n.path(changed).contains(changed.rsplit('/').next().unwrap()));
        }
    }

    #[test]
    fn no_name_stands_for_itself() {
        // 936 replacements have two letters: by chance alone, one of these 676 names would be its own in every second run.
        let mut n = Names::default();
        for name in ('a'..='z').flat_map(|a| ('a'..='z').map(move |b| format!("{a}{b}"))) {
            assert_ne!(n.word(&name), name);
        }
    }

    #[test]
    fn the_same_everywhere() {
        let mut n = Names::default();
        let (dd, path) = (n.task("dd"), n.path("/srv/dd"));
        assert_eq!(path.rsplit('/').next(), Some(dd.as_str()));
        let text = n.text("rw,lowerdir=/srv/dd:/x, data=ordered");
        assert!(text.contains(&format!("lowerdir={path}:/")) && text.ends_with("data=ordered"), "{text}");
    }

    #[test]
    fn roles_stay_with_their_stand_ins() {
        let mut once = Names::default();
        let [job, server, _] = ["dd", "postgres", "fio"].map(|name| once.task(name));
        assert_eq!(once.roles().len(), 2);
        assert_eq!((once.roles()[&job], once.roles()[&server]), (Role::Job, Role::Server));
        let mut twice = Names::with_roles(Some(once.roles().clone()));
        let [job, _] = [job.as_str(), "cp"].map(|name| twice.task(name));
        assert_eq!(twice.roles().clone(), BTreeMap::from([(job, Role::Job)]));
    }

    proptest! {
        #[test]
        fn as_long_as_the_name_and_never_shared(names in prop::collection::hash_set("[ -~]{3,15}", 1..100)) {
            let mut n = Names::default();
            let mut seen = std::collections::HashSet::new();
            for name in &names {
                let s = n.word(name);
                prop_assert_eq!(s.len(), name.len());
                prop_assert!(seen.insert(s.clone()));
                prop_assert_eq!(n.word(name), s);
            }
        }

        #[test]
        fn any_text(text in ".*") {
            prop_assert_eq!(Names::default().text(&text).len(), text.len());
        }
    }
}
