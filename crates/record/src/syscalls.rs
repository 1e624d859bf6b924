//! Which system calls do I/O, by this architecture's numbers.
//!
//! The kernel drops all other calls before they are recorded, by the filter text of [`filter`].

/// `libc` does not have it everywhere (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h).
#[cfg(target_arch = "x86_64")]
const IO_PGETEVENTS: libc::c_long = 333;
#[cfg(not(target_arch = "x86_64"))]
const IO_PGETEVENTS: libc::c_long = 292;

/// The same number everywhere (5.9).
const CLOSE_RANGE: libc::c_long = 436;

/// Numbers that every architecture has.
const EVERYWHERE: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync,
    libc::SYS_syncfs,
    libc::SYS_sync_file_range,
    libc::SYS_msync,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_close,
    CLOSE_RANGE,
    // Which file a number means depends on these too.
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_fcntl,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_renameat2,
    libc::SYS_unlinkat,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_mkdirat,
    libc::SYS_getdents64,
    libc::SYS_statx,
    libc::SYS_newfstatat,
    libc::SYS_ioctl,
    libc::SYS_readahead,
    libc::SYS_fadvise64,
    libc::SYS_madvise,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_copy_file_range,
    libc::SYS_io_setup,
    libc::SYS_io_destroy,
    libc::SYS_io_submit,
    libc::SYS_io_getevents,
    IO_PGETEVENTS,
    libc::SYS_io_cancel,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_execve,
    libc::SYS_execveat,
];

/// Older calls that newer architectures never got.
#[cfg(target_arch = "x86_64")]
const OLDER: &[libc::c_long] = &[
    libc::SYS_open,
    libc::SYS_creat,
    libc::SYS_dup2,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_unlink,
    libc::SYS_rmdir,
    libc::SYS_mkdir,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_stat,
    libc::SYS_lstat,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[libc::c_long] = &[];

/// The filter for `raw_syscalls:sys_enter` and `sys_exit`: `id == 0 || id == 1 || ...`. Calls of 32-bit
/// programs on a 64-bit kernel have other numbers and are not covered: see [`crate::compat`].
pub fn filter() -> String {
    let mut ids: Vec<_> = EVERYWHERE.iter().chain(OLDER).copied().collect();
    ids.sort_unstable();
    ids.dedup();
    ids.iter().map(|id| format!("id == {id}")).collect::<Vec<_>>().join(" || ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_filter_fits_into_a_page() {
        let f = super::filter();
        // kernel/trace/trace_events.c takes at most PAGE_SIZE.
        assert!(f.len() < 4096, "{}", f.len());
        assert!(f.starts_with("id == 0 || id == 1 ||") || !cfg!(target_arch = "x86_64"), "{f}");
    }
}
