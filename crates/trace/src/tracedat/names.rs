//! Tracks thread names from the events that contain them.
//!
//! A name is reported when a thread first appears and when its name changes (`execve`, `prctl`). Memory is bounded: with
//! more than [`MAX_NAMES`] threads, all names are forgotten and reported again.

use super::format::{EventFormat, Slot};
use rustc_hash::FxHashMap;

/// Limit on threads whose names are kept: twice the default `pid_max`, 2 MB.
const MAX_NAMES: usize = 1 << 16;

/// A name as the kernel stores it (`TASK_COMM_LEN`), padded with NULs.
type Comm = [u8; 16];

/// For up to two threads named by an event: the field of the name and the field of the thread id.
pub type Naming = [Option<(Slot, Slot)>; 2];

/// The fields of an event that name threads. Only events that name a thread other than the running one, or that occur at every
/// name change; `None` for others.
pub fn naming(event: &EventFormat) -> Option<Naming> {
    const EVENTS: &[(&str, &str, &str, &str)] = &[
        ("sched", "sched_switch", "prev_comm", "prev_pid"),
        ("sched", "sched_switch", "next_comm", "next_pid"),
        ("sched", "sched_waking", "comm", "pid"),
        ("sched", "sched_wakeup", "comm", "pid"),
        ("sched", "sched_process_exit", "comm", "pid"),
        ("task", "task_rename", "newcomm", "pid"),
        ("task", "task_newtask", "comm", "pid"),
    ];
    let mut naming = [None; 2];
    let named = EVENTS.iter().filter(|e| *e.0 == *event.system && *e.1 == *event.name);
    for (at, (_, _, comm, tid)) in named.enumerate().take(2) {
        let (comm, tid) = (event.slot(&[comm]), event.slot(&[tid]));
        if comm.present && tid.present {
            naming[at] = Some((comm, tid));
        }
    }
    naming.iter().any(Option::is_some).then_some(naming)
}

/// The names reported so far.
#[derive(Debug, Default)]
pub struct Names {
    told: FxHashMap<u32, Comm>,
    /// Names at the end of the recording, for threads that no event names.
    saved: FxHashMap<u32, Comm>,
}

impl Names {
    /// `cmdlines`: the text of the kernel's `saved_cmdlines`, "TID NAME" per line.
    pub fn new(cmdlines: &[u8]) -> Names {
        let mut saved = FxHashMap::default();
        for line in cmdlines.split(|&b| b == b'\n').take(MAX_NAMES) {
            let Some(space) = line.iter().position(|&b| b == b' ') else { continue };
            let tid = std::str::from_utf8(&line[..space]).ok().and_then(|n| n.parse().ok());
            if let Some(tid) = tid {
                saved.insert(tid, comm(&line[space + 1..]));
            }
        }
        Names { told: FxHashMap::default(), saved }
    }

    /// Records a name; `true` if it is new. Thread 0 is a different task on every CPU (`swapper/N`): only its
    /// first name counts.
    #[inline]
    pub fn learn(&mut self, tid: u32, name: &[u8]) -> bool {
        let name = comm(name);
        if name[0] == 0 {
            return false;
        }
        match self.told.get_mut(&tid) {
            Some(old) if *old == name || tid == 0 => return false,
            Some(old) => *old = name,
            None => {
                if self.told.len() >= MAX_NAMES {
                    self.told.clear();
                }
                self.told.insert(tid, name);
            }
        }
        true
    }

    /// The saved name of a thread without a reported name; the name then counts as reported.
    #[inline]
    pub fn remember(&mut self, tid: u32) -> Option<Vec<u8>> {
        if self.told.contains_key(&tid) {
            return None;
        }
        let name = *self.saved.get(&tid)?;
        self.learn(tid, &name).then(|| super::bytes::until_nul(&name).to_vec())
    }
}

/// The name up to its NUL: the bytes after the NUL are old memory.
#[inline]
fn comm(name: &[u8]) -> Comm {
    let mut out = [0; 16];
    match name.first_chunk() {
        Some(whole) => out = *whole,
        None => out[..name.len()].copy_from_slice(name),
    }
    // All 16 bytes at once, for speed (every task switch has two names): the lowest byte in which a borrow ends is the first NUL.
    const ONES: u128 = u128::from_le_bytes([1; 16]);
    let all = u128::from_le_bytes(out) & (u128::MAX >> 8);
    let nul = all.wrapping_sub(ONES) & !all & (ONES << 7);
    // The 16th byte is always NUL.
    let before = (1u128 << (nul.trailing_zeros() & !7)) - 1;
    (all & before).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_at_its_first_nul_or_after_fifteen() {
        let long = b"0123456789abcdefgh\0";
        for length in 0..long.len() {
            for nul in 0..=length {
                let mut name = long[..length].to_vec();
                name.iter_mut().skip(nul).step_by(3).for_each(|b| *b = 0);
                let mut told = [0; 16];
                let until = nul.min(15);
                told[..until].copy_from_slice(&name[..until]);
                assert_eq!(comm(&name), told, "{name:?}");
            }
        }
        assert_eq!(&comm(b"\x01\x00\x01\xff\x80"), b"\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        assert_eq!(&comm(b"\x80\xff\x01"), b"\x80\xff\x01\0\0\0\0\0\0\0\0\0\0\0\0\0");
    }

    #[test]
    fn a_name_is_told_once_and_again_when_it_changes() {
        let mut n = Names::new(b"12 kworker/u4:1\n9 fio\njunk\nx y\n");
        assert!(n.learn(7, b"bash\0old"));
        assert!(!n.learn(7, b"bash"));
        assert!(n.learn(7, b"dd"));
        assert!(n.learn(0, b"swapper/0") && !n.learn(0, b"swapper/1"));
        assert!(!n.learn(8, b""));
        assert_eq!(n.remember(12).as_deref(), Some(&b"kworker/u4:1"[..]));
        assert_eq!(n.remember(12), None);
        assert_eq!(n.remember(13), None);
        for tid in 0..2 * MAX_NAMES as u32 {
            n.learn(tid, b"x");
        }
        assert!(n.told.len() <= MAX_NAMES);
    }
}
