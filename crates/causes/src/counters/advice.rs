//! What to look at, by the device that the kernel's log names: a command that works as it stands, also where the log names no disk.

use super::logged::{logged, Behind, Logged, ASKED, DISCARDS, DISCONNECTS, PATHS, TIMEOUTS, UNTOLD};
use crate::hardware::Hardware;
use crate::remedy::Action;
use crate::verdict::Verdict;
use evidence::{is_device_name, whole_disk};
use tooltext::{LogFact, ToolOutput};

/// Words where no device is known.
pub(super) const DISK: &str = "DISK";

/// The disk of a device: its name, or the command that finds it by the port or address that the log has.
pub(super) fn disk(output: &ToolOutput, device: &str) -> String {
    let by_path = |part: &str| format!("$(ls -l /sys/block | sed -n 's,.*/{part}/.*/,,p')");
    let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let port = ["ata", "host"].iter().any(|kind| device.strip_prefix(kind).is_some_and(digit));
    let known =
        |path: &str| output.log_fact(LogFact::DiskOf, device).map_or_else(|| by_path(path), str::to_owned);
    match device.strip_prefix("usb ") {
        _ if port => known(device),
        Some(port) => known(port),
        None if digit(device) && device.contains(':') => {
            format!("$(ls /sys/class/scsi_device/{device}/device/block)")
        }
        None if is_device_name(device) => whole_disk(device).to_owned(),
        None => DISK.to_owned(),
    }
}

/// What shows the state of a device that reports errors.
pub(super) fn health(disk: &str) -> (&'static str, Action) {
    match disk.starts_with("$(") {
        true => {
            let (shows, look) = Hardware::check(DISK);
            (shows, Action::look(look.command().replace(DISK, disk)))
        }
        false => Hardware::check(disk),
    }
}

/// What shows the memory's errors.
pub(super) fn memory() -> Action {
    Action::look("grep -s . /sys/devices/system/edac/mc/mc*/*e_count")
}

/// Whether a disk has a medium of its own that a copy can be made of.
pub(super) fn has_medium(disk: &str) -> bool {
    disk.starts_with("$(") || matches!(Hardware::of(disk), Hardware::Scsi | Hardware::Nvme | Hardware::Card)
}

/// What to do about a target or a host in software that reports an error.
pub(super) fn behind(v: Verdict) -> Verdict {
    v.try_this(
        "the data is on another machine: look at the target's log, its disks and the network at that time; a copy made here reads the \
         same errors",
        Action::look("iscsiadm -m session -P 3; lsblk -S -o NAME,TRAN,VENDOR,MODEL"),
    )
}

/// Devices that are no disk of this machine, by the beginnings of their names: what to look at, with which command.
const OTHERS: [(&str, &str, &str); 12] = [
    (
        "USB controller ",
        "the USB controller stopped answering, and all that is attached to it is gone: its driver or firmware, or a device that draws too much power; \
         try another port or a hub with a supply of its own",
        "lsusb -t; lspci -nn | grep -i usb; dmesg | grep -iE 'xhci|usb'",
    ),
    (
        "server ",
        "the server did not answer: look at it and at the network at that time; retransmissions are counted here",
        "nfsstat -rc; nstat -az TcpRetransSegs",
    ),
    ("drbd", "its peer did not answer: look at it and its disks, and at the network, at that time", "drbdadm status; ss -tin"),
    (
        "Lustre server",
        "the server did not answer: look at it and its disks, and at the network, at that time",
        "lfs check servers; lctl get_param osc.*.import mdc.*.import | grep -E 'name|state|connect'",
    ),
    (
        "Lustre service",
        "this machine's service does not keep up with its clients: look at its disks and processors at that time",
        "iostat -x 1 10; vmstat 1 10",
    ),
    ("nbd", "its server did not answer: look at it and at the network at that time", "ss -tin"),
    ("iSCSI ", "the target did not answer: look at it and at the network at that time", "iscsiadm -m session -P 3"),
    ("rport-", "a port of the network failed: see which", "grep . /sys/class/fc_remote_ports/*/port_state"),
    (
        "mmc",
        "the card or its controller did not answer: try another card, a supply of more power, a slower mode of the bus",
        "grep . /sys/kernel/debug/mmc*/ios",
    ),
    (
        "dm-",
        "a device below it is gone or did not answer: see which, and what the kernel reports of it",
        "lsblk -s -o NAME,TYPE,STATE,TRAN; dmesg | grep -iE 'disconnect|offline|timeout|reset'",
    ),
    ("vd", "a virtual disk: its host did not answer; look there at that time", "lsblk -d -o NAME,SIZE,MODEL,SERIAL"),
    ("adapter hv_storvsc", "a virtual disk: its host did not answer; look there at that time", "lsblk -S"),
];

/// What to do if several disks did not answer or were reset.
pub(super) fn shared(v: Verdict) -> Verdict {
    v.try_this(
        "several disks were reset: what they share comes first, the adapter and its firmware, an expander, the backplane, cables, power; else the one \
         whose commands time out first",
        Action::look("lsblk -S -o NAME,HCTL,TRAN,MODEL; dmesg -T | grep -iE 'timeout|reset|abort|fault'"),
    )
}

/// What to look at if most of the commands that timed out were of one kind: not the medium, and hardly the link.
fn of_commands(device: &Logged, disk: &str) -> Option<(&'static str, String)> {
    let timed_out = device.count(&[TIMEOUTS]);
    let mostly = |kind: &str| timed_out > 0 && 2 * device.count(&[kind]) >= timed_out;
    if mostly(DISCARDS) {
        return Some((
            "the commands that timed out are discards (UNMAP), which the disk does too slowly: send smaller ones, or none (mount without discard, \
             no fstrim, mkfs without discards); the limit is in this file",
            format!("grep . /sys/block/{disk}/queue/discard_max_bytes"),
        ));
    }
    mostly(ASKED).then(|| {
        (
            "the commands that timed out were sent by a program or a monitor with a time limit of its own (smartd, drivetemp, hddtemp): stop it for \
             a test; a disk that is busy or asleep answers late",
            "pgrep -a 'smartd|hddtemp|udisksd'; lsmod | grep drivetemp; grep -s . /sys/class/hwmon/hwmon*/name".to_owned(),
        )
    })
}

/// What to look at by the kind of the lines: lost interrupts, failed paths, a device that was removed.
fn of_lines(output: &ToolOutput, device: &Logged) -> Option<(&'static str, &'static str)> {
    if device.count(&[UNTOLD]) > device.count(&[TIMEOUTS]) {
        return Some((
            "the commands were done in time, and the interrupts that say so were lost: firmware of the machine and the slot, or the host of a virtual \
             machine; see whether this disk's interrupts are counted, and on which processors",
            "grep -E 'nvme|ahci|ata|virtio' /proc/interrupts; dmesg | grep -iE 'irq|interrupt|msi'",
        ));
    }
    if device.count(&[PATHS]) > 0 {
        return Some((
            "paths failed: see which, and what they have in common (a port, a switch, a controller)",
            "multipath -ll",
        ));
    }
    (device.count(&[DISCONNECTS]) > 0 || device.device.starts_with("sd") && was_unplugged(output)).then_some((
        "it was unplugged, or its cable or power failed: try another port, cable, or a hub with a supply of its own; of a virtual disk: look \
         at its host",
        "lsusb -t; dmesg | grep -i usb",
    ))
}

/// Whether a device on USB was removed; the log does not say which disk it was.
fn was_unplugged(output: &ToolOutput) -> bool {
    logged(output).iter().any(|of| of.is_nameless() && of.count(&[DISCONNECTS]) > 0)
}

/// What to do about a link that was reset, or a device that did not answer.
pub(super) fn link(v: Verdict, output: &ToolOutput, device: &Logged) -> Verdict {
    let name = device.device;
    if let Some((_, what, command)) = OTHERS.iter().find(|(kind, ..)| name.starts_with(kind)) {
        return v.try_this(*what, Action::look(*command));
    }
    if let Some((what, command)) = of_lines(output, device) {
        return v.try_this(what, Action::look(command));
    }
    if let Behind::Target(_) = device.behind(output) {
        return behind(v);
    }
    if name.starts_with("nvme") && is_device_name(name) {
        return v
            .try_this(
                "what the drive counted: media errors, temperature, wear; and the newest firmware; of a virtual drive: look at its host",
                Action::look(format!("nvme smart-log /dev/{name}; nvme error-log /dev/{name}")),
            )
            .try_this(
                "a physical drive may fail to wake from a power-saving state: test without them, by adding to the kernel command line: \
                 nvme_core.default_ps_max_latency_us=0 pcie_aspm=off",
                Action::look("cat /proc/cmdline"),
            );
    }
    let disk = disk(output, name);
    if let Some((what, command)) = of_commands(device, &disk) {
        return v.try_this(what, Action::look(command));
    }
    let usb = output.log_fact(LogFact::Uas, name);
    let v = match usb {
        Some(ids) => {
            let ids = if ids.is_empty() { "VENDOR:PRODUCT" } else { ids };
            v.try_this(
                format!(
                    "the bridge may not master UAS: test without, by adding to the kernel command line: usb-storage.quirks={ids}:u \
                     (lsusb shows its numbers); or its power or cable is too weak"
                ),
                Action::look("lsusb; cat /proc/cmdline"),
            )
        }
        None => v,
    };
    if disk == DISK {
        return v.try_this(
            "an adapter was reset: it, its cables, or one of its disks does not answer; the disk whose commands time out is the first \
             to suspect",
            Action::look("lsblk -S -o NAME,HCTL,TRAN,MODEL; dmesg | grep -iE 'timeout|reset|abort'"),
        );
    }
    let v = v.when(
        name.starts_with("usb "),
        "its port was reset since it did not answer: try another port and cable, and a hub with a supply of its own; else its bridge, or the disk \
         behind it",
        Action::look("lsusb -t; dmesg -T | grep -i usb"),
    );
    let asleep = output.log_fact(LogFact::PowerSaving, name).is_some();
    let v = v.when(
        asleep,
        "the link woke (CommWake): if it had been asleep, it may fail to wake from power saving; test without, by writing max_performance into \
         these files",
        Action::look("grep . /sys/class/scsi_host/host*/link_power_management_policy"),
    );
    let v = v.try_this(
        "a reset at full speed points to cable, power or backplane, or to the disk itself: replace them one by one; the device counts link errors (UDMA_CRC_Error_Count)",
        Action::look(format!("smartctl -x /dev/{disk} | grep -iE 'crc|phy|timeout'")),
    );
    v.when(
        usb.is_none() && !name.starts_with("usb "),
        "the link may fail to wake from power saving: test without it",
        "for host in /sys/class/scsi_host/host*/link_power_management_policy; do echo max_performance > \
         $host; done",
    )
}
