//! Reads the machine's settings that affect its storage performance, as stored in [`capture::SystemFile`].
//!
//! Everything comes from /sys and /proc, unchanged (for example the text `[mq-deadline] none`). Data that
//! identifies a single machine is not read: no serial numbers, no boot parameters. Every
//! function takes the root of /sys or /proc, so that tests can use folders of their own. Files with a side
//! effect on reading (`vm/stat_refresh`) are not read.

mod cgroup;
mod disk;
mod extents;
mod files;
pub mod limited;

use crate::devices::Devices;
use crate::text;
use capture::{Cpus, Kernel, Snapshot};
use files::settings;
use std::fs;
use std::path::Path;

/// Settings of the memory manager that affect I/O (Documentation/admin-guide/sysctl/vm.rst).
const VM: &[&str] = &[
    "dirty_background_bytes",
    "dirty_background_ratio",
    "dirty_bytes",
    "dirty_expire_centisecs",
    "dirty_ratio",
    "dirty_writeback_centisecs",
    "dirtytime_expire_seconds",
    "laptop_mode",
    "min_free_kbytes",
    "page-cluster",
    "swappiness",
    "vfs_cache_pressure",
    "watermark_boost_factor",
    "watermark_scale_factor",
    "zone_reclaim_mode",
];

/// Reads all settings. `sys` is /sys, `proc_root` is /proc.
pub fn snapshot(sys: &Path, proc_root: &Path) -> Snapshot {
    let devices = Devices::read(sys);
    let disks = devices.iter().filter(|d| d.disk.is_none());
    let disks = disks.filter_map(|d| Some((d.name.clone(), disk::read(d, &devices)?))).collect();
    let swaps = fs::read_to_string(proc_root.join("swaps")).unwrap_or_default();
    Snapshot {
        time: crate::clock::wall(),
        kernel: Kernel {
            release: kernel_release(proc_root),
            version: text::small(&proc_root.join("sys/kernel/version")).unwrap_or_default(),
            architecture: std::env::consts::ARCH.into(),
        },
        cpus: cpus(sys, proc_root),
        memory_bytes: memory(proc_root),
        disks,
        mounts: crate::mounts::read(proc_root),
        cgroups: cgroup::read(sys),
        limited: vec![],
        vm: settings(&proc_root.join("sys/vm"), VM),
        swaps: swaps.lines().skip(1).map(String::from).collect(),
        mdstat: text::small(&proc_root.join("mdstat")),
        processes: None,
    }
}

fn cpus(sys: &Path, proc_root: &Path) -> Cpus {
    let cpu = |file: &str| text::small(&sys.join("devices/system/cpu").join(file));
    let info = text::small(&proc_root.join("cpuinfo")).unwrap_or_default();
    let model = info.lines().find_map(|l| Some(l.strip_prefix("model name")?.split_once(':')?.1.trim()));
    Cpus {
        online: cpu("online"),
        possible: cpu("possible"),
        model: model.map(String::from),
        governor: cpu("cpu0/cpufreq/scaling_governor"),
        idle_driver: cpu("cpuidle/current_driver"),
    }
}

fn memory(proc_root: &Path) -> u64 {
    let info = text::small(&proc_root.join("meminfo")).unwrap_or_default();
    let line = info.lines().find_map(|l| l.strip_prefix("MemTotal:"));
    let kib = line.and_then(|l| l.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0).saturating_mul(1024)
}

/// The machine's host name. `root` is /proc.
pub fn host_name(root: &Path) -> String {
    text::small(&root.join("sys/kernel/hostname")).unwrap_or_default()
}

/// The kernel release, `uname -r`. `root` is /proc.
pub fn kernel_release(root: &Path) -> String {
    text::small(&root.join("sys/kernel/osrelease")).unwrap_or_default()
}

/// `uname -snrm`, as trace-cmd writes it; readers derive the system call table from the machine type. `root` is
/// /proc.
pub fn uname(root: &Path) -> String {
    // Rust's names equal the kernel's on all machines with known call numbers (x86_64, aarch64, riscv64, loongarch64).
    format!("Linux {} {} {}", host_name(root), kernel_release(root), std::env::consts::ARCH)
}

#[cfg(test)]
mod tests;
