//! What a task is to its users, by its name: a server that somebody waits for, a job that runs as long as it runs, or unknown.
//!
//! Names are those of the kernel (`comm`), 15 bytes at most; a line ends with `*` where more may follow. Each is as the program's
//! own documentation or `pthread_setname_np` has it. A redacted copy has stand-ins for names and says beside them which of these two
//! they are.

use serde::{Deserialize, Serialize};

/// What a redacted copy still says of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Something that others wait for.
    Server,
    /// The same, but hardly for what it writes asynchronously.
    WritesBehind,
    /// A copy, a search, a shell.
    Job,
    /// In words of another version.
    #[default]
    #[serde(other)]
    Unknown,
}

impl Role {
    /// What a name tells.
    pub fn of(task: &str) -> Option<Role> {
        server(task)
            .map(|role| if writes_behind(role) { Role::WritesBehind } else { Role::Server })
            .or(is_job(task).then_some(Role::Job))
    }
}

/// Servers and their threads, and what they are part of.
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

/// Jobs: they copy, archive, search or delete, and nobody waits for one of their operations; and shells, which start them.
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

/// Recorders: what they wait for is asked about by nobody.
const RECORDERS: [&str; 6] = ["iowhy", "trace-cmd", "perf", "blktrace", "blkparse", "bpftrace"];

/// What a server's task belongs to.
pub fn server(task: &str) -> Option<&'static str> {
    SERVERS.iter().find(|(name, _)| fits(name, task)).map(|(_, role)| *role)
}

/// Servers whose asynchronous writes are pages written behind: a client waits for the log, which is written in calls (InnoDB: `log_write_up_to`
/// beside `buf_flush_page`, storage/innobase), and for a page to be written only where the pool has none free.
const BEHIND: [&str; 3] = ["mysql", "mariadb", "mysql page cleaner"];

/// Whether clients of a server in this role hardly wait for what it writes asynchronously.
pub fn writes_behind(role: &str) -> bool {
    BEHIND.contains(&role)
}

/// Whether it runs as long as it runs: another that is delayed by it is asked about first.
pub fn is_job(task: &str) -> bool {
    JOBS.iter().any(|name| fits(name, task))
}

/// Whether it records what others do.
pub fn is_recorder(task: &str) -> bool {
    RECORDERS.contains(&task)
}

/// Whether a name is as a pattern with at most one `*`.
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
        // No letter is of both ends.
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
