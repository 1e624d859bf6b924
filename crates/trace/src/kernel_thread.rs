//! Recognises kernel threads by name: a recording has no other information about which tasks belong to the kernel.

/// What must follow the prefix of a name.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    /// Any text.
    Any,
    /// A number, then nothing or a suffix that is set off: `loop0`, `md127_raid5`, `nvme0q1`, `flush-8:0`; not `md5sum`.
    Number,
    /// Nothing.
    End,
}

/// On whose behalf a kernel thread works.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    /// It does work that other tasks requested.
    OfOthers,
    /// It does its own work, or the two cannot be told apart.
    Own,
}

use units::Tid;
use Then::{Any, End, Number};
use Work::{OfOthers, Own};

/// Name prefixes, as narrow as the names allow, because redaction keeps these names; the first match counts. Sources: kernel
/// Documentation/core-api/workqueue.rst (kworker), fs/{jbd2/journal.c, xfs (`xfs_fsr` etc. are programs), btrfs/disk-io.c, f2fs}, drivers/{nvme,
/// block/loop.c, md, scsi}, mm (kswapd, damon/core.c, kcompactd, khugepaged), kernel/{softirq.c, irq/manage.c, rcu, smpboot.c}; OpenZFS (z_wr, z_rd, txg_sync).
const THREADS: [(&str, Then, Work); 50] = [
    ("kworker", Any, OfOthers),
    ("jbd2/", Any, OfOthers),
    ("xfsaild/", Any, OfOthers),
    ("btrfs-transacti", Any, OfOthers),
    ("dmcrypt_write", Any, OfOthers),
    ("kswapd", Number, OfOthers),
    ("kdamond.", Number, OfOthers),
    ("swapper", Any, OfOthers),
    ("ksoftirqd/", Any, OfOthers),
    ("loop", Number, OfOthers),
    ("md", Number, OfOthers),
    ("xfs-", Any, Own),
    ("xfs_mru_cache", End, Own),
    ("xfsalloc", End, Own),
    ("btrfs-", Any, Own),
    ("ext4lazyinit", Any, Own),
    ("ext4-", Any, Own),
    ("f2fs_", Any, Own),
    ("bcache_", Any, Own),
    ("bch_", Any, Own),
    ("dm_bufio_cache", End, Own),
    ("dm-", Number, Own),
    ("kdmflush", Any, Own),
    ("kcryptd", Any, Own),
    ("raid5wq", Any, Own),
    ("nbd", Number, Own),
    ("drbd", Number, Own),
    ("nvme", Number, Own),
    ("scsi_eh_", Number, Own),
    ("scsi_tmf_", Number, Own),
    ("z_wr_", Any, Own),
    ("z_rd_", Any, Own),
    ("txg_sync", Any, Own),
    ("flush-", Number, Own),
    ("writeback", Any, Own),
    ("kblockd", Any, Own),
    ("kintegrityd", Any, Own),
    ("kcompactd", Number, Own),
    ("khugepaged", Any, Own),
    ("ksmd", Any, Own),
    ("oom_reaper", Any, Own),
    ("migration/", Any, Own),
    ("cpuhp/", Any, Own),
    ("irq/", Any, Own),
    ("rcu_", Any, Own),
    ("rcuop/", Any, Own),
    ("rcuog/", Any, Own),
    ("kthreadd", Any, Own),
    ("kdevtmpfs", Any, Own),
    ("kauditd", Any, Own),
];

impl Then {
    fn fits(self, rest: &str) -> bool {
        let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        match self {
            Any => true,
            End => rest.is_empty(),
            Number => {
                behind.len() < rest.len()
                    && matches!(behind.chars().next(), None | Some('_' | 'q' | 'n' | ':'))
            }
        }
    }
}

fn work(name: &str) -> Option<Work> {
    let known = THREADS
        .iter()
        .find(|(begins, then, _)| name.strip_prefix(begins).is_some_and(|rest| then.fits(rest)));
    match known {
        _ if is_md_sync(name) => Some(Own),
        _ if is_md(name) => Some(OfOthers),
        known => known.map(|(.., work)| *work),
    }
}

/// Whether a task of this name is a kernel thread.
pub fn is_kernel_thread(name: &str) -> bool {
    work(name).is_some()
}

/// Whether it is a kernel thread that does work which others requested, or a task whose name was not recorded (`?`): its I/O is
/// attributed to others.
pub fn works_for_others(name: &str) -> bool {
    name == "?" || work(name) == Some(OfOthers)
}

/// Whether it is a worker bound to one processor (kernel/workqueue.c).
///
/// Example: `kworker/0:2`; not `kworker/u8:1`, which may do writeback.
pub fn is_bound_worker(name: &str) -> bool {
    name.strip_prefix("kworker/").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether it may be a flusher, which writes back files (fs/fs-writeback.c): a worker bound to no processor; before Linux 3.10 a thread for
/// each disk.
///
/// Example: `kworker/u8:1`, `flush-8:0`.
pub fn is_flusher(name: &str) -> bool {
    name.starts_with("kworker/u") || name.starts_with("flush-")
}

/// The task that an io_uring thread works for, by the thread's name. Blocking operations are passed to a worker (io_uring/io-wq.c); a polling
/// thread may submit in place of the task (io_uring/sqpoll.c). Both belong to the task's process.
///
/// Example: `iou-wrk-812` works for thread 812.
pub fn works_in_ring_of(name: &str) -> Option<Tid> {
    let number = name.strip_prefix("iou-wrk-").or_else(|| name.strip_prefix("iou-sqp-"))?;
    number.parse().ok().map(Tid)
}

/// Whether it is the thread that commits ext4's journal (fs/jbd2/journal.c).
pub fn is_journal(name: &str) -> bool {
    name.starts_with("jbd2/")
}

/// Whether it is an md thread; arrays may have a name: `md_home_raid1`.
pub fn is_md(name: &str) -> bool {
    let serves = || name.rsplit_once('_').is_some_and(|(_, last)| last.starts_with("raid"));
    is_md_sync(name) || is_of_an_array(name) && serves()
}

/// Whether it is an md thread that only synchronises or reshapes an array.
pub fn is_md_sync(name: &str) -> bool {
    is_of_an_array(name) && (name.ends_with("_resync") || name.ends_with("_reshape"))
}

/// Whether a name starts like that of an array: `md127`, `md_d0`, `md_home`.
fn is_of_an_array(name: &str) -> bool {
    name.strip_prefix("md").is_some_and(|rest| rest.starts_with(|c: char| c == '_' || c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_the_kernel_are_known_and_programs_of_similar_names_are_none() {
        let threads = "kworker/u8:1 jbd2/sda1-8 xfsaild/dm-0 xfs-conv/sda1 loop0 loop12 md0_raid5 md127_raid1 md_home_raid1 f2fs_gc-8:0 \
             bcache_gc irq/24-nvme0q1 nvme0q1 scsi_eh_2 kswapd0 kdamond.0 flush-8:0 dm_bufio_cache";
        for name in threads.split_whitespace() {
            assert!(is_kernel_thread(name), "{name}");
        }
        let programs = "loop looper loop0x md5sum mdadm my_raid_tool postgres worker xfs_fsr xfs_repair bcachefs nvme iou-wrk-12 \
             mdsecret_raid1 mdbook_resync dm_secret flush-secret kswapdiary xfsallocator";
        for name in programs.split_whitespace().chain([""]) {
            assert!(!is_kernel_thread(name) && !works_for_others(name), "{name}");
        }
    }

    #[test]
    fn who_works_for_others_is_told_from_who_has_work_of_its_own() {
        let helpers = "kworker/u4:1 jbd2/sda1-8 loop0 btrfs-transacti dmcrypt_write/253:0 xfsaild/sda1 kswapd0 kdamond.0 swapper/0 ksoftirqd/1 ? \
             md127_raid5 md_home_raid1";
        assert!(helpers.split_whitespace().all(works_for_others));
        assert!(!["md0_resync", "md_d0_reshape", "ext4lazyinit", "btrfs-cleaner"]
            .into_iter()
            .any(works_for_others));
    }

    #[test]
    fn workers_of_a_processor_are_told_from_others() {
        assert!(is_bound_worker("kworker/1:0") && is_bound_worker("kworker/12:1H"));
        assert!(!is_bound_worker("kworker/u8:3") && !is_bound_worker("postgres"));
        assert!(is_flusher("kworker/u8:3+flush-7:0") && is_flusher("flush-8:0"));
        assert!(["kworker/0:1H", "jbd2/sda1-8", "kswapd0"].into_iter().all(|name| !is_flusher(name)));
    }
}
