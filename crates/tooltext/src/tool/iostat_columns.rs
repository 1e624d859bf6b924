//! The columns in the device tables of iostat and sar, of all versions: printed name and content.
//!
//! `kB` is 1024 bytes, `MB` 1024 times that, a block or sector 512 bytes; waits are milliseconds (iostat(1)).

use crate::output::number::Unit;

pub(super) const KB: f64 = 1024.0;
pub(super) const MB: f64 = 1024.0 * 1024.0;
pub(super) const GB: f64 = 1024.0 * MB;
/// Bytes of a sector, which iostat also calls a block.
const SECTOR: f64 = 512.0;
const MS: f64 = 1e6;
pub(super) const PERCENT: f64 = 0.01;

/// A column: printed name, name in a row, factor, unit.
pub(crate) type Column = (&'static str, &'static str, f64, Unit);

use Unit::{Bytes, BytesPerSecond, Count, Nanoseconds, PerSecond, Share};
const COLUMNS: [Column; 78] = [
    ("tps", "tps", 1.0, PerSecond),
    ("r/s", "r/s", 1.0, PerSecond),
    ("w/s", "w/s", 1.0, PerSecond),
    ("d/s", "d/s", 1.0, PerSecond),
    ("f/s", "f/s", 1.0, PerSecond),
    ("rqm/s", "rqm/s", 1.0, PerSecond),
    ("rrqm/s", "rrqm/s", 1.0, PerSecond),
    ("wrqm/s", "wrqm/s", 1.0, PerSecond),
    ("drqm/s", "drqm/s", 1.0, PerSecond),
    ("%rqm", "%rqm", PERCENT, Share),
    ("%rrqm", "%rrqm", PERCENT, Share),
    ("%wrqm", "%wrqm", PERCENT, Share),
    ("%drqm", "%drqm", PERCENT, Share),
    ("kB/s", "bytes/s", KB, BytesPerSecond),
    ("MB/s", "bytes/s", MB, BytesPerSecond),
    ("sec/s", "bytes/s", SECTOR, BytesPerSecond),
    ("rkB/s", "rbytes/s", KB, BytesPerSecond),
    ("wkB/s", "wbytes/s", KB, BytesPerSecond),
    ("dkB/s", "dbytes/s", KB, BytesPerSecond),
    ("rMB/s", "rbytes/s", MB, BytesPerSecond),
    ("wMB/s", "wbytes/s", MB, BytesPerSecond),
    ("dMB/s", "dbytes/s", MB, BytesPerSecond),
    ("rsec/s", "rbytes/s", SECTOR, BytesPerSecond),
    ("wsec/s", "wbytes/s", SECTOR, BytesPerSecond),
    ("dsec/s", "dbytes/s", SECTOR, BytesPerSecond),
    ("kB_read/s", "rbytes/s", KB, BytesPerSecond),
    ("kB_wrtn/s", "wbytes/s", KB, BytesPerSecond),
    ("kB_dscd/s", "dbytes/s", KB, BytesPerSecond),
    ("MB_read/s", "rbytes/s", MB, BytesPerSecond),
    ("MB_wrtn/s", "wbytes/s", MB, BytesPerSecond),
    ("MB_dscd/s", "dbytes/s", MB, BytesPerSecond),
    ("Blk_read/s", "rbytes/s", SECTOR, BytesPerSecond),
    ("Blk_wrtn/s", "wbytes/s", SECTOR, BytesPerSecond),
    ("Blk_dscd/s", "dbytes/s", SECTOR, BytesPerSecond),
    ("kB_read", "rbytes", KB, Bytes),
    ("kB_wrtn", "wbytes", KB, Bytes),
    ("kB_dscd", "dbytes", KB, Bytes),
    ("MB_read", "rbytes", MB, Bytes),
    ("MB_wrtn", "wbytes", MB, Bytes),
    ("MB_dscd", "dbytes", MB, Bytes),
    ("Blk_read", "rbytes", SECTOR, Bytes),
    ("Blk_wrtn", "wbytes", SECTOR, Bytes),
    ("Blk_dscd", "dbytes", SECTOR, Bytes),
    ("GB/s", "bytes/s", GB, BytesPerSecond),
    ("rGB/s", "rbytes/s", GB, BytesPerSecond),
    ("wGB/s", "wbytes/s", GB, BytesPerSecond),
    ("dGB/s", "dbytes/s", GB, BytesPerSecond),
    ("GB_read/s", "rbytes/s", GB, BytesPerSecond),
    ("GB_wrtn/s", "wbytes/s", GB, BytesPerSecond),
    ("GB_dscd/s", "dbytes/s", GB, BytesPerSecond),
    ("GB_read", "rbytes", GB, Bytes),
    ("GB_wrtn", "wbytes", GB, Bytes),
    ("GB_dscd", "dbytes", GB, Bytes),
    // `-s`: written and discarded data together.
    ("kB_w+d/s", "wbytes/s", KB, BytesPerSecond),
    ("MB_w+d/s", "wbytes/s", MB, BytesPerSecond),
    ("GB_w+d/s", "wbytes/s", GB, BytesPerSecond),
    ("kB_w+d", "wbytes", KB, Bytes),
    ("MB_w+d", "wbytes", MB, Bytes),
    ("GB_w+d", "wbytes", GB, Bytes),
    ("avgrq-sz", "size", SECTOR, Bytes),
    ("areq-sz", "size", KB, Bytes),
    ("rareq-sz", "rsize", KB, Bytes),
    ("wareq-sz", "wsize", KB, Bytes),
    ("dareq-sz", "dsize", KB, Bytes),
    ("avgqu-sz", "queue", 1.0, Count),
    ("aqu-sz", "queue", 1.0, Count),
    ("await", "await", MS, Nanoseconds),
    ("r_await", "r_await", MS, Nanoseconds),
    ("w_await", "w_await", MS, Nanoseconds),
    ("d_await", "d_await", MS, Nanoseconds),
    ("f_await", "f_await", MS, Nanoseconds),
    ("svctm", "svctm", MS, Nanoseconds),
    ("%util", "util", PERCENT, Share),
    ("rrqm", "rrqm/s", 1.0, PerSecond),
    ("wrqm", "wrqm/s", 1.0, PerSecond),
    ("util%", "util", PERCENT, Share),
    // sar -d, versions before 12.
    ("rd_sec/s", "rbytes/s", SECTOR, BytesPerSecond),
    ("wr_sec/s", "wbytes/s", SECTOR, BytesPerSecond),
];

/// The column with this heading.
pub(crate) fn column(text: &str) -> Option<&'static Column> {
    COLUMNS.iter().find(|(heading, ..)| *heading == text)
}
