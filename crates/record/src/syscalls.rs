//! Selects the system calls to record, by this architecture's numbers.
//!
//! With the filter text of [`filter`], the kernel drops all other calls before they are recorded.

/// Missing in `libc` for some targets (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h).
#[cfg(target_arch = "x86_64")]
const IO_PGETEVENTS: libc::c_long = 333;
#[cfg(not(target_arch = "x86_64"))]
const IO_PGETEVENTS: libc::c_long = 292;

/// Same number on all architectures (since Linux 5.9).
const CLOSE_RANGE: libc::c_long = 436;

/// Same number on all architectures (since Linux 6.6).
const FCHMODAT2: libc::c_long = 452;

/// Calls that every architecture has.
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
    // These change which file a descriptor refers to.
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
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_fgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_flistxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
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

/// Older calls that newer architectures lack.
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
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[libc::c_long] = &[];

/// The filter for `raw_syscalls:sys_enter` and `sys_exit`. Calls of 32-bit programs on a 64-bit kernel have other numbers and are
/// not covered: see [`crate::compat`].
///
/// The kernel evaluates the terms in order for every system call of the machine, including those without I/O. Therefore the numbers
/// are sorted ranges in a binary search: each comparison halves the rest.
///
/// ```text
/// 0 1 2   16   ->   (id < 16 && (id >= 0 && id <= 2)) || (id >= 16 && (id == 16))
/// ```
pub fn filter() -> String {
    let mut ids: Vec<_> = EVERYWHERE.iter().chain(OLDER).copied().collect();
    ids.sort_unstable();
    ids.dedup();
    let ranges: Vec<_> =
        ids.chunk_by(|a, b| a + 1 == *b).filter_map(|run| Some((*run.first()?, *run.last()?))).collect();
    one_of(&ranges)
}

/// A filter expression for numbers in these sorted ranges, ends included.
fn one_of(ranges: &[(libc::c_long, libc::c_long)]) -> String {
    match ranges {
        [] => "id < 0".into(),
        [(first, last)] if first == last => format!("id == {first}"),
        [(first, last)] => format!("id >= {first} && id <= {last}"),
        _ => {
            let (lower, upper) = ranges.split_at(ranges.len() / 2);
            let at = upper[0].0;
            format!("(id < {at} && ({})) || (id >= {at} && ({}))", one_of(lower), one_of(upper))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_fits_into_a_page() {
        // kernel/trace/trace_events.c accepts at most PAGE_SIZE, including the terms that exclude the recorder.
        assert!(filter().len() < 3500, "{}", filter().len());
    }

    /// Evaluates a filter like the kernel: `||` of `&&` of comparisons and parentheses.
    fn holds(words: &mut std::iter::Peekable<std::str::SplitWhitespace>, id: i64) -> bool {
        let mut any = false;
        loop {
            let mut all = true;
            loop {
                all &= match words.next() {
                    Some("(") => holds(words, id),
                    Some("id") => {
                        let (sign, number) = (words.next().unwrap(), words.next().unwrap().parse().unwrap());
                        match sign {
                            "==" => id == number,
                            "<" => id < number,
                            "<=" => id <= number,
                            ">=" => id >= number,
                            _ => panic!("{sign}"),
                        }
                    }
                    other => panic!("{other:?}"),
                };
                if words.next_if_eq(&"&&").is_none() {
                    break;
                }
            }
            any |= all;
            match words.next() {
                Some("||") => {}
                Some(")") | None => return any,
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn calls_that_do_io_pass_and_no_others() {
        let text = filter().replace('(', " ( ").replace(')', " ) ");
        for id in -1..600 {
            let wanted = EVERYWHERE.contains(&id) || OLDER.contains(&id);
            assert_eq!(holds(&mut text.split_whitespace().peekable(), id), wanted, "{id}");
        }
    }

    #[test]
    fn each_question_leaves_half() {
        assert_eq!(one_of(&[(3, 3)]), "id == 3");
        assert_eq!(
            one_of(&[(0, 2), (16, 16)]),
            "(id < 16 && (id >= 0 && id <= 2)) || (id >= 16 && (id == 16))"
        );
    }
}
