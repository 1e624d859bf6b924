//! Reduces the recorder's rights while it records: it may read samples, write its output and signal its command, nothing else.
//!
//! Setup needs all rights of root: to mount tracefs and to open buffers. Then threads that only move pages drop all
//! capabilities, and the thread that samples and writes keeps five. Neither can start a program or regain rights, and system calls
//! that could be used to take over a machine are refused. The recorded command is started before that: it has the rights of the user
//! who started the recorder.
//!
//! Invariant: dropping rights never ends a recording. If the kernel refuses, rights stay as they are, and a note says so.

use rustix::thread::{capabilities, set_capabilities, set_no_new_privs, CapabilitySet, CapabilitySets};
use seccompiler::{apply_filter_all_threads, BpfProgram, SeccompAction, SeccompFilter};
use std::collections::BTreeMap;

/// In order: addresses of kernel functions; `/proc/PID/fd` and file locations of other users; an output folder that is not root's;
/// a signal to a command that has changed its user.
const KEPT: CapabilitySet = CapabilitySet::SYSLOG
    .union(CapabilitySet::SYS_PTRACE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::KILL);

/// System calls that are refused: starting and taking over programs, changing the kernel, mounts and identities, opening
/// sockets. All others are allowed: the calls of a C library are not known in advance.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_writev,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_open_by_handle_at,
    libc::SYS_mknodat,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_socket,
];

/// Drops all capabilities of this thread, which has already opened all that it needs.
pub(crate) fn keep_none() {
    let _ = keep(CapabilitySet::empty());
}

/// Drops the capabilities that this thread no longer needs, and blocks the refused system calls for all threads. An error
/// describes what could not be dropped.
pub fn keep_few() -> Result<(), String> {
    let words = |e: &dyn std::fmt::Display| format!("unneeded privileges could not be dropped: {e}");
    keep(KEPT).map_err(|e| words(&e))?;
    let refused = libc::EPERM.unsigned_abs();
    let rules: BTreeMap<i64, Vec<seccompiler::SeccompRule>> =
        REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let target = std::env::consts::ARCH.try_into().map_err(|e| words(&e))?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(refused), target);
    let program: BpfProgram = filter.and_then(TryInto::try_into).map_err(|e| words(&e))?;
    apply_filter_all_threads(&program).map_err(|e| words(&e))
}

fn keep(few: CapabilitySet) -> rustix::io::Result<()> {
    set_no_new_privs(true)?;
    let now = capabilities(None)?;
    let left = now.permitted & few;
    let inheritable = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: left, permitted: left, inheritable })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rights belong to a thread: one of its own leaves other tests unchanged. (A filter for all threads would not.)
    #[test]
    fn capabilities_go_and_do_not_come_back() {
        std::thread::spawn(|| {
            let before = capabilities(None).unwrap();
            keep(KEPT).unwrap();
            let few = capabilities(None).unwrap();
            assert_eq!(few.permitted, before.permitted & KEPT);
            assert_eq!(few.effective, few.permitted);
            keep_none();
            assert!(capabilities(None).unwrap().permitted.is_empty());
            let all =
                CapabilitySets { effective: KEPT, permitted: KEPT, inheritable: CapabilitySet::empty() };
            assert!(set_capabilities(None, all).is_err());
            assert!(rustix::thread::no_new_privs().unwrap());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn no_call_is_refused_twice() {
        let once: std::collections::BTreeSet<_> = REFUSED.iter().collect();
        assert_eq!(once.len(), REFUSED.len());
    }
}
