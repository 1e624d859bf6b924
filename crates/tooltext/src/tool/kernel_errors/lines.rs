//! The lines of the kernel's log about failing devices: who speaks, of which device, and what each line says.

use super::file_systems;
use super::says::{By, NOTHING, SAY};
use super::*;

/// A matching line: device, kind, number of words used.
type Event = (String, &'static str, usize);

/// Words of a line that are examined.
const LOOKED_AT: usize = 24;
/// Minimum number of words of a line that a mailer wraps.
const LEAST_OF_WRAPPED: usize = 4;

/// Drivers of adapters, before a PCI address, a colon, or their number.
const ADAPTERS: [&str; 15] = [
    "mpt2sas",
    "mpt3sas",
    "mptscsih",
    "megaraid_sas",
    "megasas",
    "aacraid",
    "AAC",
    "hpsa",
    "smartpqi",
    "qla2xxx",
    "lpfc",
    "arcmsr",
    "3w-9xxx",
    "sas",
    "hv_storvsc",
];

/// The matching line at the start of `words`, if any.
pub(super) fn event(words: &[Word]) -> Option<Event> {
    let (by, device, used) =
        match speaker(words).or_else(|| file_systems::speaker(words)).or_else(|| remote::speaker(words)) {
            Some(spoken) => spoken,
            None => {
                let line = &words[..line(words)];
                return io_error(line).or_else(|| raid(line));
            }
        };
    let whole =
        || with_result(words).filter(|_| by == By::Ata && words.get(1).is_some_and(|w| w.text == "cmd"));
    let (end, used) = whole().map_or_else(|| (line(words), used), |end| (end, end));
    let text = words[..end].iter().map(|w| w.text).collect::<Vec<_>>().join(" ");
    let totals = || file_systems::totals(&text).filter(|_| by == By::Btrfs);
    let kind = result(by, &text)
        .or_else(totals)
        .or_else(|| SAY.iter().find(|(of, says, _)| *of == by && fits(&text, says)).map(|(_, _, kind)| *kind))
        .map(|kind| if kind == NUMBERED { file_systems::numbered(by, &text) } else { kind })
        .filter(|kind| *kind != NOTHING)?;
    let device = match by {
        By::Btrfs if kind != STOPPED => file_systems::member(&text).unwrap_or(device),
        By::Adapter if [TIMEOUTS, RESETS].contains(&kind) => disk_of_command(&words[end..]).unwrap_or(device),
        _ => device,
    };
    Some((device, kind, used))
}

/// The number of words up to the next line, in flattened text up to its time. A line that does not start like a log line continues a
/// wrapped one.
fn line(words: &[Word]) -> usize {
    let goes_on = |(i, w): &(usize, &Word)| {
        let wrapped = || {
            *i >= LEAST_OF_WRAPPED
                && !w.paragraph
                && !begins(w.text)
                && (is_open(&words[..*i]) || !is_sentence(w.text))
        };
        *i == 0 || w.text != "[" && !w.text.starts_with("ata") && (!w.first || wrapped())
    };
    words.iter().take(LOOKED_AT).enumerate().take_while(goes_on).count()
}

/// Whether a line breaks off after a colon, or in the middle of a sense key, which may have two words.
fn is_open(line: &[Word]) -> bool {
    let key = || matches!(line, [.., sense, key, colon, _] if [sense.text, key.text, colon.text] == ["Sense", "Key", ":"]);
    line.last().is_some_and(|w| w.text.ends_with(':')) || key()
}

/// Whether a word may start a sentence.
fn is_sentence(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase)
}

/// Whether a word may start a line of the log: a time, a date, a driver's name.
fn begins(text: &str) -> bool {
    let driver = [
        "sd", "scsi", "nvme", "critical", "res", "cmd", "XFS", "BTRFS", "EXT4-fs", "EXT3-fs", "F2FS-fs",
        "FAT-fs", "drbd", "block",
    ]
    .contains(&text);
    let date = text.contains(['-', ':']) && text.starts_with(|c: char| c.is_ascii_digit());
    driver || date || text.ends_with(':') || text.starts_with(['[', '<', '-'])
}

/// Whether the parts of a pattern follow one another in a text.
fn fits(text: &str, pattern: &str) -> bool {
    let mut rest = Some(text);
    for part in pattern.split('*') {
        rest = rest.and_then(|text| text.split_once(part)).map(|(_, after)| after);
    }
    rest.is_some()
}

/// Who speaks at the start of a line, of which device, and the number of words that say so.
fn speaker(words: &[Word]) -> Option<(By, String, usize)> {
    let text = |i: usize| words.get(i).map_or("", |w| w.text);
    let first = text(0);
    let second = text(1).strip_suffix(':').unwrap_or("");
    let name = first.strip_suffix(':').unwrap_or("");
    match first {
        "sd" | "scsi" | "sr" => {
            let host = numbered(second, "host") && first == "scsi";
            let inner = text(2).strip_prefix('[').and_then(|t| t.strip_suffix(']'));
            let inner = inner.filter(|t| evidence::is_device_name(t));
            let disk = inner.map_or(second, |name| name).to_owned();
            (host || is_address(second)).then_some((By::Scsi, disk, if inner.is_some() { 3 } else { 2 }))
        }
        "nvme" => numbered(second, "nvme").then(|| (By::Nvme, second.to_owned(), 2)),
        "usb" => is_port(second).then(|| (By::Usb, format!("usb {second}"), 2)),
        "xhci_hcd" | "xhci-hcd" if text(1).ends_with(':') => {
            Some((By::Usb, format!("USB controller {second}"), 2))
        }
        "device-mapper:" if second == "multipath" => {
            let path = words.iter().take(LOOKED_AT).skip_while(|w| w.text != "path").nth(1)?.text;
            Some((By::Multipath, scsi_disk(path.trim_end_matches('.'))?, 3))
        }
        // multipathd: libmultipath/discovery.c, multipathd/main.c
        _ if name.len() > 1 && text(2) == "-" && text(3) == "path" && evidence::is_device_name(text(1)) => {
            Some((By::Multipath, text(1).to_owned(), 2))
        }
        _ if [text(1), text(2), text(3)] == ["mark", "as", "failed"] && evidence::is_device_name(name) => {
            Some((By::Multipath, name.to_owned(), 1))
        }
        "CIFS" if text(1) == "VFS:" => Some((By::Server, "server of CIFS".into(), 2)),
        "nfs:" if text(1) == "server" => Some((By::Server, server(text(2))?, 3)),
        "CIFS:" => Some((By::Server, (1..4).find_map(|i| server(text(i).strip_prefix("\\\\")?))?, 2)),
        "block" if numbered(second, "nbd") => Some((By::Server, second.to_owned(), 2)),
        _ if numbered(name.split('.').next()?, "ata") => {
            Some((By::Ata, name.split('.').next()?.to_owned(), 1))
        }
        _ if text(1) == "detected" && REMOVABLE.iter().any(|kind| name.starts_with(kind)) => {
            Some((By::Disk, evidence::whole_disk(name).to_owned(), 1))
        }
        _ if numbered(name, "floppy") => Some((By::Floppy, name.replace("floppy", "fd"), 1)),
        _ if numbered(name.split(':').next()?, "connection") || numbered(name, "session") => {
            let number = name.split(':').next()?.trim_start_matches(char::is_alphabetic);
            Some((By::Scsi, format!("iSCSI session {number}"), 1))
        }
        _ if name.starts_with("rport-") => Some((By::Scsi, server(name)?.split_off("server ".len()), 1)),
        _ if name.starts_with("mmc") && name.ends_with(|c: char| c.is_ascii_digit()) => {
            Some((By::Mmc, evidence::whole_disk(name).to_owned(), 1))
        }
        _ if name.starts_with("nvme") && name.contains('n') => Some((By::Nvme, namespace(name)?, 1)),
        _ => {
            let driver = ADAPTERS.iter().find(|driver| first.starts_with(**driver))?;
            let own = &first[driver.len()..];
            let numbered = own.starts_with(|c: char| c.is_ascii_digit() || c == '_') && own.ends_with(':');
            let pci = || text(1).trim_start_matches('[').split(['-', ']']).next().unwrap_or("");
            match own {
                _ if numbered => Some((By::Adapter, format!("adapter {name}"), 1)),
                ":" => Some((By::Adapter, format!("adapter {driver}"), 1)),
                "" if pci().contains(':') || driver.starts_with("hv_") => {
                    Some((By::Adapter, format!("adapter {driver} {}", pci().trim_end_matches(':')), 2))
                }
                _ => None,
            }
        }
    }
}

/// The beginnings of names of disks whose capacity becomes 0 only if they are gone; that of a loop device does whenever it is detached.
const REMOVABLE: [&str; 5] = ["sd", "nvme", "vd", "xvd", "mmcblk"];

/// Whether a name is a prefix and a number: `ata3`, `host0`.
fn numbered(name: &str, prefix: &str) -> bool {
    let number = name.strip_prefix(prefix).unwrap_or("");
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a word is a SCSI address: `2:0:0:0`.
fn is_address(text: &str) -> bool {
    text.matches(':').count() == 3 && text.bytes().all(|b| b.is_ascii_digit() || b == b':')
}

/// The disk with a number: 8:16 is `sdb` (Documentation/admin-guide/devices.txt); only its number if it is none of the first 16.
fn scsi_disk(number: &str) -> Option<String> {
    let (major, minor) = number.split_once(':')?;
    let minor: u8 = minor.parse().ok()?;
    let fits = major == "8" && minor % 16 == 0;
    Some(if fits {
        format!("sd{}", char::from(b'a' + minor / 16))
    } else {
        format!("path {}:{minor}", major.parse::<u16>().ok()?)
    })
}

/// What a server is called: its name, or its address.
fn server(name: &str) -> Option<String> {
    let usual = |c: char| c.is_alphanumeric() || ['.', ':', '-', '_'].contains(&c);
    let fits = (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(usual);
    fits.then(|| format!("server {name}"))
}

/// The longest name of a host (`HOST_NAME_MAX`, limits.h).
const LONGEST_NAME: usize = 64;

/// Whether a word is a port of USB: `2-1.4`.
fn is_port(text: &str) -> bool {
    text.contains('-') && text.bytes().all(|b| b.is_ascii_digit() || [b'-', b'.'].contains(&b))
}

/// The namespace that a path leads to: `nvme0n1` of `nvme0c1n1`.
fn namespace(name: &str) -> Option<String> {
    let (controller, rest) = name.strip_prefix("nvme")?.split_once(['c', 'n'])?;
    let number = rest.rsplit('n').next()?;
    (numbered(controller, "") && numbered(number, "")).then(|| format!("nvme{controller}n{number}"))
}

/// The end of `cmd 61/08:...` and the line `res 40/00:... Emask 0x4 (timeout)` after it, which libata prints at once.
fn with_result(words: &[Word]) -> Option<usize> {
    let result = words.iter().take(LOOKED_AT).position(|w| w.text == "res")?;
    let end = words[result..].iter().take(LOOKED_AT / 2).position(|w| w.text.ends_with(')'))?;
    Some(result + end + 1)
}

/// The disk of the command that an adapter's line is about, which the next line shows: `sd 7:0:14:0: [sdc] CDB: Read(10) ..`.
fn disk_of_command(words: &[Word]) -> Option<String> {
    let mut before = words.iter().take(LOOKED_AT / 2);
    let next =
        before.position(|w| w.text == "sd" || ADAPTERS.iter().any(|driver| w.text.starts_with(driver)))?;
    let (_, disk, used) = speaker(&words[next..])?;
    let says = |i: usize| words.get(next + i).is_some_and(|w| w.text == "CDB:");
    (says(used) || says(used + 1)).then_some(disk)
}

/// Results of the way to a disk, by their numbers (include/scsi/scsi_status.h, `enum scsi_host_status`).
const HOST: [&str; 20] = [
    "DID_OK",
    "DID_NO_CONNECT",
    "DID_BUS_BUSY",
    "DID_TIME_OUT",
    "DID_BAD_TARGET",
    "DID_ABORT",
    "DID_PARITY",
    "DID_ERROR",
    "DID_RESET",
    "DID_BAD_INTR",
    "DID_PASSTHROUGH",
    "DID_SOFT_ERROR",
    "DID_IMM_RETRY",
    "DID_REQUEUE",
    "DID_TRANSPORT_DISRUPTED",
    "DID_TRANSPORT_FAILFAST",
    "DID_TARGET_FAILURE",
    "DID_NEXUS_FAILURE",
    "DID_ALLOC_FAILURE",
    "DID_MEDIUM_ERROR",
];
/// Those of commands that returned from the disk.
const OF_THE_DISK: [&str; 3] = ["DID_OK", "DID_MEDIUM_ERROR", "DID_ALLOC_FAILURE"];
/// What the driver says of a command that timed out, until Linux 5.14, and the number of that.
const TIMED_OUT: (&str, u32) = ("DRIVER_TIMEOUT", 6);

/// Parses `FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_OK`, with numbers if the kernel has no names; before Linux 3.18 `Result: ...`, before
/// 2.6.24 `SCSI error: return code = 0x08000002`, driver and host in the upper bytes.
fn result(by: By, text: &str) -> Option<&'static str> {
    (by == By::Scsi).then_some(())?;
    let named = |number: u32| HOST.get(number as usize).copied().unwrap_or("");
    let number = |word: &str| u32::from_str_radix(word.strip_prefix("0x")?, 16).ok();
    let (host, timed_out) = if let Some((_, code)) = text.split_once("SCSI error: return code = ") {
        let code = number(code.split(' ').next()?)?;
        (named(code >> 16 & 0xff), code >> 24 & 0xf == TIMED_OUT.1)
    } else {
        let says = ["FAILED Result: hostbyte=", "] Result: hostbyte=", ") Result: hostbyte="];
        let (_, result) = says.iter().find_map(|says| text.split_once(says))?;
        let mut words = result.split(' ');
        let host = words.next()?;
        let driver = words.find_map(|w| w.strip_prefix("driverbyte=")).unwrap_or("");
        (number(host).map_or(host, named), driver == TIMED_OUT.0 || number(driver) == Some(TIMED_OUT.1))
    };
    match host {
        "DID_TIME_OUT" => Some(TIMEOUTS),
        _ if timed_out => Some(TIMEOUTS),
        host if OF_THE_DISK.contains(&host) => Some(RESULT),
        _ => Some(TRANSPORT),
    }
}

/// What the block layer calls an error, and what it means (block/blk-core.c, `blk_errors`; before Linux 6.2 a conflict of reservations is
/// `critical nexus`).
const OF_REQUESTS: [(&[&str], &str); 15] = [
    (&["I/O"], ERRORS),
    (&["timeout"], TIMEOUTS),
    (&["duration", "limit", "exceeded"], TIMEOUTS),
    (&["transport"], TRANSPORT),
    (&["device", "offline"], OFFLINE),
    (&["critical", "medium"], MEDIUM),
    (&["critical", "target"], TARGET),
    (&["critical", "space", "allocation"], FULL),
    (&["critical", "nexus"], RESERVED),
    (&["reservation", "conflict"], RESERVED),
    (&["protection"], PROTECTION),
    (&["operation", "not", "supported"], UNSUPPORTED),
    (&["open", "zones", "exceeded"], REFUSED),
    (&["active", "zones", "exceeded"], REFUSED),
    (&["invalid"], REFUSED),
];
/// Requests that many devices do not support, as the line names them (block/blk-core.c, `blk_op_str`).
const OPTIONAL: [&str; 3] = ["(DISCARD)", "(SECURE_ERASE)", "(WRITE_ZEROES)"];

/// Parses `I/O error, dev sdb, sector 12 op 0x1:(WRITE)`, `critical medium error, dev sdb, sector 12`, `Buffer I/O error on dev sdb1, logical
/// block 0` (fs/buffer.c), `sdb1: rw=0, want=16, limit=8` (block/blk-core.c, `bio_check_eod`).
fn io_error(line: &[Word]) -> Option<Event> {
    let text = |i: usize| line.get(i).map_or("", |w| w.text);
    let device = |name: &str| {
        let name = name.trim_end_matches([',', ':']);
        evidence::is_device_name(name).then(|| name.to_owned())
    };
    if [text(0), text(1), text(2)] == ["I/O", "error", "on"] && ["device", "dev"].contains(&text(3)) {
        return Some((device(text(4))?, BUFFER, 5));
    }
    if text(0).ends_with(':') && text(1).starts_with("rw=") {
        let limit = line.iter().position(|w| w.text.starts_with("limit="))?;
        return Some((device(text(0))?, BEYOND, limit + 1));
    }
    let named = |(name, _): &&(&[&str], _)| name.iter().enumerate().all(|(i, word)| text(i) == *word);
    let (name, kind) = OF_REQUESTS.iter().find(named)?;
    let after = name.len();
    ([text(after), text(after + 1)] == ["error,", "dev"]).then_some(())?;
    let optional = *kind == TARGET && line.iter().any(|w| OPTIONAL.iter().any(|name| w.text.ends_with(name)));
    Some((device(text(after + 2))?, if optional { UNSUPPORTED } else { kind }, after + 3))
}

/// Parses `md/raid1:md0: Disk failure on sdb1, disabling device.`, `md/raid:md0: read error corrected (8 sectors at 2048 on sda1)`
/// (drivers/md).
fn raid(line: &[Word]) -> Option<Event> {
    let text = |i: usize| line.get(i).map_or("", |w| w.text);
    let device = |name: &str| {
        let name = name.trim_end_matches([',', ')', '.']);
        evidence::is_device_name(name).then(|| name.to_owned())
    };
    match [text(0), text(1), text(2)] {
        ["Disk", "failure", "on"] if line.iter().any(|w| w.text == "disabling") => {
            Some((device(text(3))?, FAILED, 4))
        }
        ["read", "error", "corrected"] if text(7) == "on" => Some((device(text(8))?, CORRECTED, 9)),
        ["read", "error", "NOT"] if text(6) == "on" => Some((device(text(7))?, ERRORS, 8)),
        _ => None,
    }
}
