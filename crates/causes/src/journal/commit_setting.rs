//! Settings by which programs avoid a sync for each commit, and what that costs, from the programs' documents.

use crate::remedy::Action;
use crate::risk::Risk;
use trace::program;

/// A program's setting.
struct Setting {
    /// The program's names as the kernel shows them.
    programs: &'static [&'static str],
    command: &'static str,
    what: &'static str,
}

/// With flushes of 5 and 10 ms a commit took 20 ms, and with the setting 1.7 (MariaDB); 24 and 1.6 (PostgreSQL), 11.6 and 0.02 (Redis).
const SETTINGS: [Setting; 6] = [
    // PostgreSQL, "Asynchronous Commit".
    Setting {
        programs: &["postgres"],
        command: "psql -c 'ALTER SYSTEM SET synchronous_commit = off' -c 'SELECT pg_reload_conf()'",
        what: "commits do not wait for the disk: a crash loses the acknowledged ones of the last 0.6 s (three \
             wal_writer_delay); nothing is damaged",
    },
    // MySQL and MariaDB, `innodb_flush_log_at_trx_commit`, `sync_binlog`.
    Setting {
        programs: &["mariadbd"],
        command: "mariadb -e 'SET GLOBAL innodb_flush_log_at_trx_commit = 2, GLOBAL sync_binlog = 0'",
        what: INNODB,
    },
    Setting {
        programs: &["mysqld"],
        command: "mysql -e 'SET GLOBAL innodb_flush_log_at_trx_commit = 2, GLOBAL sync_binlog = 0'",
        what: INNODB,
    },
    // Redis, "Persistence"; Valkey has the same.
    Setting {
        programs: &["redis-server", "valkey-server"],
        command: "redis-cli CONFIG SET appendfsync everysec",
        what: "if appendfsync is always: syncs the append-only file once a second instead; a power cut loses \
             acknowledged writes of the last second",
    },
    // git-config(1), `core.fsync`. Objects of a commit: 4.4 s and 0.03 without.
    Setting {
        programs: &["git"],
        command: "git config --global core.fsync none",
        what: "git syncs nothing: a power cut may leave a repository damaged; for clones that can be made again (core.fsyncMethod batch instead syncs once for many objects)",
    },
    // dpkg(1), `--force-unsafe-io`.
    Setting {
        programs: &["dpkg"],
        command: "echo force-unsafe-io > /etc/dpkg/dpkg.cfg.d/unsafe-io",
        what: "dpkg syncs no unpacked file: a power cut during an installation may leave empty files; for machines that are installed anew then",
    },
];

const INNODB: &str =
    "if it is 1 now: the log is then synced once a second, the binary log when the kernel writes it back: a power cut loses \
     acknowledged commits of the last seconds, and replicas may have more";

/// A task's own setting against a sync for each commit: what it does, and the command; `None` if none is known.
pub(crate) fn of(task: &str) -> Option<(&'static str, Action)> {
    let its = SETTINGS.iter().find(|setting| setting.programs.contains(&program(task)))?;
    Some((its.what, Risk::PowerCut.of(its.command)))
}
