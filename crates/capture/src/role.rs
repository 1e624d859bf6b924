//! The role of a task, by its name: a server whose clients wait, a batch job, or unknown.
//!
//! Names are those of the kernel (`comm`), at most 15 bytes; `*` marks where more may follow. Each name is from the program's
//! documentation or its `pthread_setname_np`. A redacted copy has replacement names, and gives the role for each of
//! them.

use serde::{Deserialize, Serialize};

/// The role of a task in a redacted copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A server: clients wait for its operations.
    Server,
    /// A server whose clients rarely wait for its asynchronous writes.
    WritesBehind,
    /// A batch job (a copy, a search) or a shell.
    Job,
    /// A role from another version.
    #[default]
    #[serde(other)]
    Unknown,
}

impl Role {
    /// The role of a task with this name; `None` if unknown.
    pub fn of(task: &str) -> Option<Role> {
        server(task)
            .map(|role| if writes_behind(role) { Role::WritesBehind } else { Role::Server })
            .or(is_job(task).then_some(Role::Job))
    }
}

/// Task names of servers and their threads, each with the server that they belong to.
const SERVERS: [(&str, &str); 32] = [
    ("postgres*", "postgresql"),
    ("mysqld*", "mysql"),
    ("mariadbd*", "mariadb"),
    ("ib_log*", "mysql redo log"),
    ("ib_pg_flush*", "mysql page cleaner"),
    ("redis-server*", "redis"),
    ("valkey-server*", "valkey"),
    ("bio_aof*", "redis append-only file"),
    ("etcd", "etcd"),
    ("mongod*", "mongodb"),
    ("WTJourn*", "mongodb journal"),
    ("WTCheck*", "mongodb checkpoint"),
    ("rocksdb:*", "rocksdb compaction and flush"),
    ("clickhouse-ser*", "clickhouse"),
    ("influxd", "influxdb"),
    ("prometheus", "prometheus"),
    ("memcached", "memcached"),
    ("scylla", "scylladb"),
    ("CompactionExec*", "cassandra compaction"),
    ("MutationStage*", "cassandra"),
    ("beam.smp", "erlang"),
    ("qemu-system-*", "virtual machine"),
    ("CPU */KVM", "virtual machine"),
    ("IO mon_iothread", "virtual machine"),
    ("ceph-osd", "ceph"),
    ("tp_osd_tp", "ceph"),
    ("bstore_kv_*", "ceph bluestore"),
    ("smbd*", "samba"),
    ("minio", "minio"),
    ("nfsd", "nfs server"),
    ("nginx", "nginx"),
    ("oracle_*", "oracle"),
];

/// Jobs: programs that copy, archive, search or delete, where nobody waits for a single operation; and shells, which start them.
const JOBS: [&str; 72] = [
    "dd",
    "cp",
    "mv",
    "rm",
    "rsync",
    "tar",
    "gzip",
    "pigz",
    "xz",
    "zstd",
    "bzip2",
    "find",
    "grep",
    "rg",
    "fd",
    "cat",
    "sync",
    "fstrim",
    "updatedb*",
    "mkfs*",
    "mke2fs",
    "fsck*",
    "e2fsck",
    "badblocks",
    "scp",
    "sftp-server",
    "rclone",
    "borg",
    "restic",
    "duplicity",
    "logrotate",
    "pg_dump",
    "pg_basebackup",
    "mysqldump",
    "mariadb-dump",
    "sha256sum",
    "md5sum",
    "head",
    "tail",
    "wc",
    "sort",
    "split",
    "cmp",
    "diff",
    "od",
    "sed",
    "gawk",
    "mawk",
    "du",
    "cpio",
    "bsdtar",
    "7z*",
    "lz4",
    "zip",
    "unzip",
    "sha1sum",
    "sha512sum",
    "b2sum",
    "cksum",
    "shred",
    "xfsdump",
    "xfs_fsr",
    "xfs_repair",
    "e4defrag",
    "bacula-fd",
    "kopia",
    "clamscan",
    "aide",
    "bash",
    "dash",
    "sh",
    "zsh",
];

/// Recorders: their own waits are of no interest.
const RECORDERS: [&str; 6] = ["iowhy", "trace-cmd", "perf", "blktrace", "blkparse", "bpftrace"];

/// The server that a task belongs to; `None` if the task is of no known server.
pub fn server(task: &str) -> Option<&'static str> {
    SERVERS.iter().find(|(name, _)| fits(name, task)).map(|(_, role)| *role)
}

/// Servers whose asynchronous writes are deferred page writes: a client waits for the log, which is written in calls (InnoDB: `log_write_up_to`
/// beside `buf_flush_page`, storage/innobase), and for a page write only if the pool has no free page.
const BEHIND: [&str; 3] = ["mysql", "mariadb", "mysql page cleaner"];

/// Whether clients of this server rarely wait for its asynchronous writes.
pub fn writes_behind(role: &str) -> bool {
    BEHIND.contains(&role)
}

/// Whether it is a batch job: if it delays another task, the other task is the more important victim.
pub fn is_job(task: &str) -> bool {
    JOBS.iter().any(|name| fits(name, task))
}

/// Whether it is a tracing tool.
pub fn is_recorder(task: &str) -> bool {
    RECORDERS.contains(&task)
}

/// Whether a name matches a pattern with at most one `*`.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((begin, end)) => {
            name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_writes_behind_is_a_known_server() {
        assert!(BEHIND.iter().all(|role| SERVERS.iter().any(|(_, known)| known == role)));
        assert!(writes_behind(server("mariadbd").unwrap()) && !writes_behind(server("scylla").unwrap()));
    }

    #[test]
    fn names_are_told_whole_or_by_their_beginning() {
        assert_eq!(server("postgres"), Some("postgresql"));
        assert_eq!(server("CPU 3/KVM"), Some("virtual machine"));
        assert_eq!((server("minio"), server("minion")), (Some("minio"), None));
        assert_eq!((server("etcdctl"), server("dd")), (None, None));
        assert_eq!([Role::of("etcd"), Role::of("cp")], [Some(Role::Server), Some(Role::Job)]);
        assert_eq!(Role::of("fio"), None);
        // Prefix and suffix must not overlap.
        assert!(fits("aba*ab", "abaab") && !fits("aba*ab", "abab"));
        assert!(is_recorder("trace-cmd") && !is_recorder("trace") && !is_recorder("fio"));
        assert!(is_job("dd") && is_job("updatedb.plocat") && !is_job("ddd") && !is_job("fio"));
    }

    #[test]
    fn no_name_is_longer_than_the_kernel_keeps() {
        let names = SERVERS.iter().map(|(name, _)| *name).chain(JOBS);
        assert!(names
            .into_iter()
            .all(|n| n.trim_end_matches('*').len() <= 15 && n.matches('*').count() <= 1));
    }
}
