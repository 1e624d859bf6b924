//! Readers of tools' output, a file per tool. Each recognises the start of its output by content, and reads as far as it
//! understands.
//!
//! A reader sees words, not lines (`output/words.rs` explains why). It must need few words to reject a text,
//! since it is called at every word of a document.

mod biolatpcts;
mod biosnoop;
mod biotop;
mod blocked_task;
mod bonnie;
mod bonnie_csv;
mod bonnie_rates;
mod bpf_histogram;
mod btrfs_stats;
mod btt;
mod btt_cells;
mod btt_tables;
mod cachestat;
mod ceph_health;
mod database_log;
mod dbench;
mod dd;
mod diskspd;
mod diskspd_xml;
mod diskstats;
mod dstat;
mod etcd;
mod etcd_quantiles;
mod failed_calls;
mod filebench;
mod fio_command;
mod fio_excerpt;
mod fio_line;
mod fio_operations;
mod fio_progress;
mod fio_rest;
mod fio_terse;
mod fio_text;
mod fio_units;
mod folded;
mod fs_mark;
mod hdparm;
mod histogram;
mod ioping;
mod iostat;
mod iostat_columns;
mod iotop;
mod iozone;
mod ioztat;
pub(crate) mod kernel_errors;
mod kernel_notices;
mod lexeme;
mod lvs;
mod mdflush;
mod multipath;
mod nfsiostat;
mod pg_test_fsync;
mod pgbench;
mod phrases;
mod pidstat;
mod pressure;
mod processors;
mod ps;
mod pveperf;
mod rados_bench;
mod rbd_bench;
pub(crate) mod reader;
mod redis_log;
mod requests;
mod slower;
mod smart;
mod stack;
mod strace;
mod sysbench;
mod sysbench_histogram;
mod sysbench_lines;
mod table;
#[cfg(test)]
pub(crate) mod testing;
mod threads;
mod time;
mod top;
mod virtiostat;
mod vmstat;
mod vmstat_disk;
mod vmstat_sums;
mod zpool;
mod zpool_status;

pub(crate) use fio_units::percentile_name;
pub(crate) use iostat_columns::column as iostat_column;

use crate::output::words::Word;
use reader::Tool;

/// Readers of single lines that lie between others of the same log.
const OF_LOGS: [&dyn Tool; 4] = [
    &kernel_errors::KernelErrors,
    &blocked_task::BlockedTask,
    &database_log::DatabaseLog,
    &redis_log::RedisLog,
];

/// The number of words up to a line that `read` reads, with what it says: at most `most`, and up to a line that another reader of logs reads.
fn next_of_log<'a, T>(
    words: &[Word<'a>],
    most: usize,
    read: impl Fn(&[Word<'a>]) -> Option<T>,
) -> Option<(usize, T)> {
    for skip in 0..most.min(words.len()) {
        let rest = &words[skip..];
        if let Some(said) = read(rest) {
            return Some((skip, said));
        }
        let by_another = OF_LOGS.iter().any(|tool| tool.read(rest).is_some());
        if by_another || kernel_notices::says(rest).is_some() || failed_calls::error(rest).is_some() {
            return None;
        }
    }
    None
}

/// All readers; the first are the least likely to be mistaken for another.
pub(crate) fn all() -> &'static [&'static dyn Tool] {
    &[
        &fio_text::FioText,
        &fio_line::FioLine,
        &fio_terse::FioTerse,
        &fio_command::FioCommand,
        &histogram::Histograms,
        &ioztat::Ioztat,
        &iostat::IostatText,
        &processors::Processors,
        &biosnoop::Biosnoop,
        &slower::Slower,
        &biotop::Biotop,
        &pidstat::Pidstat,
        &vmstat::Vmstat,
        &vmstat_disk::VmstatDisk,
        &vmstat_sums::VmstatSums,
        &zpool::Zpool,
        &zpool_status::ZpoolStatus,
        &dstat::Dstat,
        &bonnie::Bonnie,
        &biolatpcts::Biolatpcts,
        &diskspd::Diskspd,
        &diskspd_xml::DiskspdXml,
        &mdflush::Mdflush,
        &virtiostat::Virtiostat,
        &folded::Folded,
        &ioping::Ioping,
        &pg_test_fsync::PgTestFsync,
        &pveperf::Pveperf,
        &rbd_bench::RbdBench,
        &rados_bench::RadosBench,
        &etcd::Etcd,
        &etcd_quantiles::EtcdQuantiles,
        &bpf_histogram::BpfHistogram,
        &iotop::Iotop,
        &pressure::Pressure,
        &pgbench::Pgbench,
        &sysbench::Sysbench,
        &hdparm::Hdparm,
        &strace::Strace,
        &smart::Smart,
        &multipath::Multipath,
        &btrfs_stats::BtrfsStats,
        &database_log::DatabaseLog,
        &redis_log::RedisLog,
        &ceph_health::CephHealth,
        &dbench::Dbench,
        &top::Top,
        &ps::Ps,
        &lvs::Lvs,
        &nfsiostat::Nfsiostat,
        &time::Time,
        &cachestat::Cachestat,
        &fs_mark::FsMark,
        &dd::Dd,
        &filebench::Filebench,
        &iozone::Iozone,
        &btt::BttAvg,
        &diskstats::Diskstats,
        &requests::Requests,
        &blocked_task::BlockedTask,
        &kernel_errors::KernelErrors,
        &kernel_notices::KernelNotices,
        &failed_calls::FailedCalls,
        &stack::KernelStack,
        &threads::ThreadTable,
    ]
}
