//! `slowdisk`: a slow disk for tests. It runs until its mount point is unmounted.

use clap::Parser;
use rustix::mm::{mlockall, MlockAllFlags};
use slowdisk::{mount, Model, Options};
use std::path::PathBuf;
use std::process::ExitCode;

/// Offers MOUNTPOINT/disk, a file as slow as you say. Put a block device on it:
/// losetup -f --show --direct-io=on MOUNTPOINT/disk
#[derive(Parser)]
#[command(version)]
struct Args {
    /// An empty folder
    mountpoint: PathBuf,
    /// The file that holds the data (in memory: /dev/shm/...); it is made if it is not there
    #[arg(long)]
    backing: PathBuf,
    /// Size in MiB
    #[arg(long, default_value_t = 1024)]
    size: u64,
    /// How many operations are served at once
    #[arg(long, default_value_t = 1)]
    channels: usize,
    /// Microseconds that a read takes
    #[arg(long, default_value_t = 1000)]
    read_us: u64,
    /// Microseconds that a write takes
    #[arg(long, default_value_t = 1000)]
    write_us: u64,
    /// MB/s (10^6) of each channel; 0: no limit
    #[arg(long, default_value_t = 0)]
    mbps: u64,
    /// MB/s of the link that all channels share; 0: no limit
    #[arg(long, default_value_t = 0)]
    link_mbps: u64,
    /// Microseconds that a flush takes once all is written
    #[arg(long, default_value_t = 0)]
    flush_us: u64,
    /// Microseconds that are added when an operation does not begin where the last one ended
    #[arg(long, default_value_t = 0)]
    seek_us: u64,
    /// Every so many operations one stalls; 0: none
    #[arg(long, default_value_t = 0)]
    stall_every: u64,
    /// Microseconds that it stalls
    #[arg(long, default_value_t = 0)]
    stall_us: u64,
    /// Operations admitted per second, like a volume's limit; 0: no limit
    #[arg(long, default_value_t = 0)]
    rate: u64,
    /// How many of them at once after a pause
    #[arg(long, default_value_t = 1)]
    burst: u64,
    /// Milliseconds without work after which it sleeps; 0: never
    #[arg(long, default_value_t = 0)]
    sleep_after_ms: u64,
    /// Microseconds that it takes to wake up
    #[arg(long, default_value_t = 0)]
    wake_us: u64,
    /// Microseconds that a discard takes once all is written
    #[arg(long, default_value_t = 0)]
    discard_us: u64,
    /// Microseconds that the first write to each MiB that was never written (a hole of the backing file) takes longer, one MiB after
    /// another; a discard of a whole MiB frees it again. 0: no write does
    #[arg(long, default_value_t = 0)]
    alloc_us: u64,
    /// Bytes of a physical block, of which a part is read before it is written; 0: none is
    #[arg(long, default_value_t = 0)]
    block: u64,
    /// Each operation takes up to so many percent more or less; 0: all take the same
    #[arg(long, default_value_t = 0)]
    jitter: u64,
    /// Every so many reads and writes one fails; 0: none
    #[arg(long, default_value_t = 0)]
    error_every: u64,
    /// How many operations the kernel may have under way
    #[arg(long, default_value_t = 128)]
    queue: u16,
}

fn main() -> ExitCode {
    let a = Args::parse();
    let us = |n: u64| n.saturating_mul(1000);
    let model = Model {
        channels: a.channels,
        read: us(a.read_us),
        write: us(a.write_us),
        bandwidth: a.mbps.saturating_mul(1_000_000),
        link: a.link_mbps.saturating_mul(1_000_000),
        flush: us(a.flush_us),
        seek: us(a.seek_us),
        stall_every: a.stall_every,
        stall: us(a.stall_us),
        rate: a.rate,
        burst: a.burst,
        sleep_after: us(a.sleep_after_ms.saturating_mul(1000)),
        wake: us(a.wake_us),
        discard: us(a.discard_us),
        alloc: us(a.alloc_us),
        block: a.block,
        jitter: a.jitter,
    };
    let options =
        Options { size: a.size.saturating_mul(1 << 20), queue: a.queue, model, error_every: a.error_every };
    // Locked in memory, since a host may swap to this disk. Without the right to lock memory, the disk works as well.
    let _ = mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT);
    let backing =
        std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&a.backing);
    match backing.and_then(|file| mount(&a.mountpoint, file, options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {} on {}: {e}", a.backing.display(), a.mountpoint.display());
            ExitCode::FAILURE
        }
    }
}
