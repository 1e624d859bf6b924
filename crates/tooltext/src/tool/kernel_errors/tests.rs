//! Messages about failing devices, and the devices that they are counted for.

use crate::output::{Row, ToolOutput};

fn rows(text: &str) -> Vec<Row> {
    let output = ToolOutput::read("dmesg", text.as_bytes());
    output.runs.iter().flat_map(|r| r.of("kernel log")).flat_map(|r| r.rows.clone()).collect()
}

#[test]
fn errors_are_counted_by_device_and_kind() {
    let text = "[ 12.1] ata3.00: exception Emask 0x0 SAct 0x7fffffff SErr 0x0 action 0x6 frozen\n\
        [ 12.1] ata3.00: failed command: READ FPDMA QUEUED\n[ 12.1] ata3.00: status: { DRDY }\n\
        [ 12.2] ata3: hard resetting link\n[ 13.2] ata3: SATA link up 6.0 Gbps (SStatus 133 SControl 300)\n\
        [ 13.3] ata3: hard resetting link\n\
        [ 14.0] sd 2:0:0:0: [sdb] tag#5 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_SENSE cmd_age=3s\n\
        [ 14.0] sd 2:0:0:0: [sdb] tag#5 Sense Key : Medium Error [current]\n\
        [ 14.0] blk_update_request: I/O error, dev sdb, sector 123456 op 0x0:(READ) flags 0x80700 phys_seg 1\n\
        [ 14.1] Buffer I/O error on dev sdb1, logical block 15, async page read\n";
    let all = rows(text);
    let value = |of: &str, name: &str| all.iter().find(|r| r.of == of).and_then(|r| r.value(name));
    assert_eq!((value("ata3", "exceptions"), value("ata3", "resets")), (Some(1.0), Some(2.0)));
    // Result, sense and error belong to one request.
    assert_eq!((value("sdb", "I/O errors"), value("sdb", "medium errors")), (Some(1.0), Some(1.0)));
    assert_eq!(value("sdb1", "I/O errors"), Some(1.0));
}

#[test]
fn controllers_that_do_not_answer_are_told() {
    let text = "Mar 1 10:00:00 db kernel: nvme nvme0: I/O 12 QID 3 timeout, aborting\n\
        Mar 1 10:00:30 db kernel: nvme nvme0: I/O 12 QID 3 timeout, reset controller\n\
        Mar 1 10:01:00 db kernel: nvme nvme0: controller is down; will reset: CSTS=0x3, PCI_STATUS=0x10\n\
        Mar 1 10:02:00 db kernel: sd 0:0:1:0: attempting task abort! scmd(00000000)\n\
        md/raid1:md0: Disk failure on sdc1, disabling device.\n";
    let all = rows(text);
    let value = |of: &str, name: &str| all.iter().find(|r| r.of == of).and_then(|r| r.value(name));
    assert_eq!((value("nvme0", "timeouts"), value("nvme0", "resets")), (Some(2.0), Some(1.0)));
    assert_eq!((value("0:0:1:0", "timeouts"), value("sdc1", "failed")), (Some(1.0), Some(1.0)));
}

#[test]
fn the_end_of_a_line_that_was_wrapped_is_part_of_it() {
    let text = "> [ 14.0] sd 0:0:3:0: [sdd] tag#12 FAILED Result:\n> hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK\n\
        > [ 14.0] blk_update_request: I/O error, dev sdd, sector\n> 123456 op 0x1:(WRITE) flags 0x800\n\
        > [ 15.0] nvme nvme0: I/O tag 193 (20c1) opcode 0x2 (I/O Cmd)\n> QID 4 timeout, aborting req_op:READ(0)\n\
        > [ 16.0] sd 0:0:3:0: attempting task\n> abort!scmd(0x00000000aabbccdd), outstanding for 30472 ms\n";
    let all = rows(text);
    let value = |of: &str, name: &str| all.iter().find(|r| r.of == of).and_then(|r| r.value(name));
    // The abort is of the same disk. A command that timed out does not show a medium error.
    assert_eq!((value("sdd", "timeouts"), value("sdd", "I/O errors")), (Some(2.0), None));
    assert_eq!((value("nvme0", "timeouts"), value("0:0:3:0", "timeouts")), (Some(1.0), None));
}

#[test]
fn a_failure_counts_once_whoever_tells_it() {
    let medium = "[ 14.0] sd 2:0:0:0: [sdb] tag#5 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_OK\n\
        [ 14.0] sd 2:0:0:0: [sdb] tag#5 Sense Key : Medium Error [current]\n\
        [ 14.0] critical medium error, dev sdb, sector 123456 op 0x0:(READ) flags 0x0\n";
    let alone =
        "[ 14.0] sd 2:0:0:0: [sdc] tag#5 FAILED Result: hostbyte=DID_BAD_TARGET driverbyte=DRIVER_OK\n";
    let all = rows(&format!("{}{}", medium.repeat(2), alone.repeat(3)));
    let value = |of: &str, name: &str| all.iter().find(|r| r.of == of).and_then(|r| r.value(name));
    assert_eq!((value("sdb", "I/O errors"), value("sdb", "medium errors")), (Some(2.0), Some(2.0)));
    assert_eq!((value("sdc", "I/O errors"), value("sdc", "transport errors")), (None, Some(3.0)));
    let read =
        "[ 2.9] blk_update_request: I/O error, dev vda, sector 0 op\n0x0:(READ) flags 0x0 phys_seg 1\n\
        [ 2.9] Buffer I/O error on dev vda, logical block 0, async page read\n";
    assert_eq!(rows(&read.repeat(5))[0].value("I/O errors"), Some(5.0));
}

#[test]
fn words_about_errors_are_none() {
    assert!(rows("There was an I/O error, devices failed, ata3 had an exception and a reset.").is_empty());
}

#[test]
fn what_the_host_gave_up_is_no_error_of_the_disk() {
    for host in ["DID_NO_CONNECT", "DID_ERROR", "DID_SOFT_ERROR", "DID_TRANSPORT_FAILFAST"] {
        let text = format!(
            "[ 14.0] sd 2:0:0:0: [sdb] tag#5 FAILED Result: hostbyte={host} driverbyte=DRIVER_OK cmd_age=3s\n\
             [ 14.0] sd 2:0:0:0: [sdb] tag#5 CDB: Write(10) 2a 00 12 5c 3a 18 00 00 08 00\n\
             [ 14.0] I/O error, dev sdb, sector 308034072 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2\n\
             [ 14.1] Buffer I/O error on dev sdb1, logical block 15, lost async page write\n"
        );
        let all = rows(&text);
        assert_eq!((all.len(), all[0].value("transport errors")), (1, Some(1.0)), "{host}");
        // The next command returned, with an error.
        let all = rows(&(text.clone() + &text.replace(host, "DID_OK")));
        let value = |of: &str, name: &str| all.iter().find(|r| r.of == of).and_then(|r| r.value(name));
        assert_eq!((value("sdb", "I/O errors"), value("sdb1", "I/O errors")), (Some(1.0), Some(1.0)));
    }
}

#[test]
fn resets_of_usb_and_what_md_corrected_are_told() {
    let text = "[ 4.0] usb 2-1.4: reset SuperSpeed Plus Gen 2x1 USB device number 3 using xhci_hcd\n\
        [ 5.0] md/raid:md0: read error corrected (8 sectors at 2048 on sda1)\n\
        > [ 5.0] md/raid:md0: read error corrected (8 sectors at\n> 2056 on sda1)\n\
        [ 5.0] md/raid1:md1: read error corrected (8 sectors at 32 on nvme0n1p3)\n";
    let all = rows(text);
    let value = |of: &str, name: &str| all.iter().find(|r| r.of == of).and_then(|r| r.value(name));
    assert_eq!(value("usb 2-1.4", "resets"), Some(1.0));
    assert_eq!(value("sda1", "corrected read errors"), Some(2.0));
    assert_eq!(value("nvme0n1p3", "corrected read errors"), Some(1.0));
    assert!(rows("usb 2-1: reset it and look; usb: reset button").is_empty());
}

/// Rows in words: `sdb 2 timeouts`.
fn told(text: &str) -> Vec<String> {
    let of = |row: Row| row.values.iter().map(|(kind, n)| format!("{} {} {kind}", row.of, n.value)).collect();
    rows(text).into_iter().flat_map(|row| -> Vec<String> { of(row) }).collect()
}

#[test]
fn an_abort_and_what_became_of_it_are_one_event() {
    let text = "[ 9.1] sd 4:0:1:0: attempting task abort! scmd(ffff880204baee80)\n\
        [ 9.2] sd 4:0:1:0: [sdc] CDB: Read(10): 28 00 00 00 0a 9e 00 00 01 00\n\
        [ 9.3] sd 4:0:1:0: task abort: SUCCESS scmd(ffff880204baee80)\n";
    assert_eq!(told(text), ["sdc 1 timeouts"]);
    // An adapter's lines are about the disk of the command below them.
    let adapter = "[ 9.1] mpt2sas3: attempting task abort! scmd(ffff8814605d2100)\n\
        [ 9.1] sd 7:0:14:0: CDB: Test Unit Ready: 00 00 00 00 00 00\n\
        [ 9.3] mpt2sas3: task abort: SUCCESS scmd(ffff8814605d2100)\n\
        [ 9.4] mpt2sas3: attempting device reset! scmd(ffff8814605d2100)\n\
        [ 9.4] sd 7:0:14:0: CDB: Test Unit Ready: 00 00 00 00 00 00\n\
        [ 9.6] mpt2sas3: device reset: SUCCESS scmd(ffff8814605d2100)\n";
    assert_eq!(told(adapter), ["7:0:14:0 1 resets", "7:0:14:0 1 timeouts"]);
    let ata = |tag: u32| {
        format!(
            "[ 8.1] ata1.00: failed command: READ FPDMA QUEUED\n\
             [ 8.1] ata1.00: cmd 60/08:b8:08:28:60/00:00:02:00:00/40 tag {tag} ncq 4096 in\n         \
             res 40/00:00:00:00:00/00:00:00:00:00/00 Emask 0x4 (timeout)\n[ 8.1] ata1.00: status: {{ DRDY }}\n"
        )
    };
    assert_eq!(told(&(ata(7) + &ata(8) + &ata(9))), ["ata1 3 timeouts"]);
    let alone = "[ 8.1] ata1.00: failed command: READ FPDMA QUEUED\n";
    assert_eq!(told(&alone.repeat(2)), ["ata1 2 exceptions"]);
}

#[test]
fn each_family_of_drivers_is_told() {
    for (line, said) in [
        (
            "megaraid_sas 0000:03:00.0: resetting fusion adapter scsi0.",
            "adapter megaraid_sas 0000:03:00.0 1 resets",
        ),
        (
            "megaraid_sas 0000:03:00.0: waiting for 3 commands to complete",
            "adapter megaraid_sas 0000:03:00.0 1 timeouts",
        ),
        ("aacraid: Host adapter abort request.", "adapter aacraid 1 timeouts"),
        ("aacraid: Host bus reset request. SCSI hang ?", "adapter aacraid 1 resets"),
        ("hpsa 0000:05:00.0: Controller lockup detected: 0x00130000", "adapter hpsa 0000:05:00.0 1 timeouts"),
        (
            "qla2xxx [0000:05:00.0]-801c:0: Abort command issued nexus=0:0:1 --  1 2002.",
            "adapter qla2xxx 0000:05:00.0 1 timeouts",
        ),
        (
            "lpfc 0000:04:00.0: 0:(0):0713 SCSI layer issued Device Reset (1, 0) return x2002",
            "adapter lpfc 0000:04:00.0 1 resets",
        ),
        (
            "mpt3sas_cm0: log_info(0x31120303): originator(PL), code(0x12), sub_code(0x0303)",
            "adapter mpt3sas_cm0 1 exceptions",
        ),
        ("sas: Enter sas_scsi_recover_host busy: 1 failed: 1", "adapter sas 1 timeouts"),
        ("mmc0: Timeout waiting for hardware interrupt - cmd12.", "mmc0 1 timeouts"),
        ("mmc1: cache flush error -110", "mmc1 1 timeouts"),
        ("mmcblk0: error -84 transferring data, sector 2048, nr 8", "mmcblk0 1 transport errors"),
        ("mmc0: running CQE recovery", "mmc0 1 resets"),
        ("nvme nvme1: failed to set APST feature (-19)", "nvme1 1 offline messages"),
        ("nvme nvme1: Removing after probe failure status: -19", "nvme1 1 offline messages"),
        (
            "nvme0n1: Read(0x2) @ LBA 8, 8 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81) DNR",
            "nvme0n1 1 medium errors",
        ),
        ("device-mapper: multipath: 253:2: Failing path 8:32.", "sdc 1 path failures"),
        ("device-mapper: multipath: 253:2: Failing path 65:32.", "path 65:32 1 path failures"),
        ("nfs: server files.example not responding, still trying", "server files.example 1 missed answers"),
        ("connection1:0: detected conn error (1022)", "iSCSI session 1 1 transport errors"),
        ("rport-0:0-1: blocked FC remote port time out: removing target", "rport-0:0-1 1 offline messages"),
        ("sd 0:0:0:0: [sda] tag#15 data cmplt err -75 uas-tag 1 inflight:", "sda 1 transport errors"),
        ("sd 3:0:0:0: [sdd] Sense Key : Hardware Error [current]", "sdd 1 hardware errors"),
        ("floppy0: disk absent or changed during operation", "fd0 1 absent or blank discs"),
    ] {
        assert_eq!(told(&format!("[  700.000001] {line}\n")), [said], "{line}");
    }
}

#[test]
fn lines_of_a_healthy_machine_are_none() {
    for line in [
        "nvme nvme0: Shutdown timeout set to 8 seconds",
        "nvme nvme0: 16/0/0 default/read/poll queues",
        "ata3: SATA link down (SStatus 0 SControl 300)",
        "ata1.00: NCQ Send/Recv Log not supported",
        "usb 1-1: USB disconnect, device number 5",
        "mmc0: new high speed SDHC card at address 0001",
        "mpt3sas_cm0: sending port enable !!",
        "sas: Enter sas_scsi_recover_host busy: 0 failed: 0",
        "scsi host0: uas",
        "nfs: server files.example OK",
        "sd 0:0:0:0: [sda] Attached SCSI disk",
    ] {
        assert!(told(&format!("[    1.000001] {line}\n")).is_empty(), "{line}");
    }
}

/// A command as SCSI and the block layer tell of it; `key` and `more` are its sense data.
fn command(disk: &str, key: &str, more: &str, cdb: &str) -> String {
    let letters = if disk.starts_with("sr") { "sr" } else { "sd" };
    let head = format!("[ 14.0] {letters} 2:0:0:0: [{disk}] tag#5");
    format!(
        "{head} FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_OK cmd_age=1s\n{head} Sense Key : {key} [current] \n\
         {head} Add. Sense: {more}\n{head} CDB: {cdb} 28 00 00 01 ed f8 00 00 02 00\n\
         [ 14.1] I/O error, dev {disk}, sector 505824 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2\n"
    )
}

#[test]
fn what_a_device_refuses_is_no_error_of_it() {
    for (disk, key, more, kind) in [
        ("sr0", "Illegal Request", "Read of scrambled sector without authentication", "refused commands"),
        ("sr0", "Blank Check", "No additional sense information", "absent or blank discs"),
        ("sr0", "Not Ready", "Medium not present - tray closed", "absent or blank discs"),
        ("sda", "Aborted Command", "Incompatible medium installed", "absent or blank discs"),
        ("sda", "Data Protect", "Write protected", "access denials"),
    ] {
        let text = command(disk, key, more, "Read(10)");
        assert_eq!(told(&text.repeat(2)), [format!("{disk} 2 {kind}")], "{key}");
    }
}

/// A program's own command, of which a bridge says what it says when it does not know one; a read before it failed by itself.
#[test]
fn what_a_program_asked_is_no_error_of_the_disk() {
    let asked = "[ 9.1] sd 6:0:0:0: [sdc] tag#0 Sense Key : Hardware Error [current] [descriptor]\n\
        [ 9.1] sd 6:0:0:0: [sdc] tag#0 Add. Sense: No additional sense information\n\
        [ 9.1] sd 6:0:0:0: [sdc] tag#0 CDB: ATA command pass through(16) 85 06 20 00 00 00 00 00 00 00 00 00 00 00 e5 00\n";
    assert_eq!(told(asked), ["sdc 1 pass-through commands"]);
    let read = command("sdc", "Hardware Error", "Internal target failure", "Read(10)");
    assert_eq!(told(&(read + asked))[1..], ["sdc 1 hardware errors", "sdc 1 pass-through commands"]);
}

#[test]
fn what_a_link_lost_is_no_error_of_the_disk() {
    for (key, more) in [
        ("Aborted Command", "Scsi parity error"),
        ("Illegal Request", "Unaligned write command"),
        ("Hardware Error", "Logical unit communication CRC error (Ultra-DMA/32)"),
    ] {
        assert_eq!(told(&command("sdb", key, more, "Read(10)")), ["sdb 1 transport errors"], "{key}");
    }
}

#[test]
fn a_write_that_is_answered_with_a_read_error_shows_a_target() {
    let of = |cdb| told(&command("sdb", "Medium Error", "Unrecovered read error", cdb));
    assert_eq!(of("Read(10)"), ["sdb 1 I/O errors", "sdb 1 medium errors"]);
    assert_eq!(of("Write(10)").last().unwrap(), "sdb 1 writes answered by a read error");
}

/// A device ends a command that it refuses, and one that it fails: the sense data tells which. Kernels without texts of it print numbers.
#[test]
fn what_the_device_ended_is_what_its_sense_data_says() {
    let of = |key: &str| {
        let text = format!(
            "[ 14.0] sd 2:0:0:0: [sdb] tag#5 FAILED Result: hostbyte=DID_TARGET_FAILURE driverbyte=DRIVER_SENSE\n\
             [ 14.0] sd 2:0:0:0: [sdb] tag#5 Sense Key : {key} [current]\n\
             [ 14.0] blk_update_request: critical target error, dev sdb, sector 123456 op 0x0:(READ) flags 0x80700\n"
        );
        let all = rows(&text);
        let told = all[0].values.iter().map(|(name, n)| format!("{} {name}", n.value));
        told.filter(|told| !told.contains("transport")).collect::<Vec<_>>().join(", ")
    };
    for key in ["Hardware Error", "0x4"] {
        assert_eq!(of(key), "1 hardware errors", "{key}");
    }
    for (key, kind) in [
        ("Illegal Request", "1 refused commands"),
        ("0x5", "1 refused commands"),
        ("Blank Check", "1 absent or blank discs"),
        ("0x8", "1 absent or blank discs"),
        ("0x7", "1 access denials"),
    ] {
        assert_eq!(of(key), kind, "{key}");
    }
    let alone = "[ 14.0] blk_update_request: critical target error, dev sdb, sector 123456 op 0x0:(READ)\n";
    assert_eq!(rows(alone)[0].value("I/O errors"), Some(1.0), "nothing says which it was");
}

/// The block layer's names of errors, each with the page cache's error of the same request.
#[test]
fn an_error_of_a_request_is_what_the_block_layer_calls_it() {
    for (name, kind) in [
        ("I/O", "I/O errors"),
        ("critical medium", "medium errors"),
        ("recoverable transport", "transport errors"),
        ("timeout", "timeouts"),
        ("duration limit exceeded", "timeouts"),
        ("device offline", "offline messages"),
        ("critical nexus", "reservation conflicts"),
        ("reservation conflict", "reservation conflicts"),
        ("protection", "protection errors"),
        ("operation not supported", "unsupported commands"),
        ("open zones exceeded", "refused commands"),
    ] {
        let text = format!(
            "[ 9.0] {name} error, dev sdb, sector 8 op 0x1:(WRITE) flags 0x803000 phys_seg 1 prio class 2\n\
             [ 9.1] Buffer I/O error on dev sdb, logical block 1, lost async page write\n"
        );
        let all = told(&text);
        assert!(all.contains(&format!("sdb 1 {kind}")), "{all:?}");
        assert_eq!(all.len(), if kind == "medium errors" { 2 } else { 1 }, "{all:?}");
    }
    let full = "[ 9.0] critical space allocation error, dev dm-3, sector 8 op 0x1:(WRITE)\n[ 9.1] Buffer I/O error on dev dm-3, logical block 1\n";
    assert_eq!(told(full), ["dm-3 1 lacks of space"]);
    let optional = "[ 9.0] critical target error, dev sdb, sector 8 op 0x3:(DISCARD) flags 0x800\n";
    assert_eq!(told(optional), ["sdb 1 unsupported commands"]);
}

/// In both forms of the second line; what the page cache reports then is of these requests.
#[test]
fn requests_behind_the_end_are_no_errors_of_the_device() {
    let old = "[ 9.0] attempt to access beyond end of device\n[ 9.0] sdb1: rw=0, want=3907029176, limit=3907024896\n";
    let new = "[ 9.0] tar: attempt to access beyond end of device\n[ 9.0] sdb1: rw=0, sector=3907029168, nr_sectors = 8 limit=3907024896\n";
    let buffer = "[ 9.1] Buffer I/O error on dev sdb1, logical block 488378646, async page read\n";
    for text in [old, new] {
        assert_eq!(told(&format!("{text}{buffer}")), ["sdb1 1 out-of-range requests"]);
    }
    let own = "[ 9.2] I/O error, dev sdb, sector 8 op 0x0:(READ)\n";
    assert!(told(&format!("{old}{own}")).contains(&"sdb 1 I/O errors".to_owned()));
}

/// A mailer breaks lines after a colon, and within a key of two words.
#[test]
fn sense_data_that_a_mailer_wraps_is_read() {
    let of = |key: &str| {
        let text = format!(
            "[ 14.0] sd 2:0:0:0: [sdb] tag#5 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_OK\n[ 14.0] sd 2:0:0:0: [sdb] tag#5 {key} [current]\n\
             [ 14.0] I/O error, dev sdb, sector 123456 op 0x0:(READ) flags 0x80700\n"
        );
        told(&text).join(", ")
    };
    assert_eq!(of("Sense Key :\nIllegal Request"), "sdb 1 refused commands");
    assert_eq!(of("Sense Key : Illegal\nRequest"), "sdb 1 refused commands");
    assert_eq!(of("Sense Key : Aborted\nCommand"), "sdb 1 transport errors");
}

/// libata lost the command if the block layer has an I/O error; a zoned disk answered by itself if it has an error of the target.
#[test]
fn a_zoned_disk_refuses_what_is_not_in_order() {
    let text = command("sdb", "Illegal Request", "Unaligned write command", "Write(16)");
    assert_eq!(told(&text), ["sdb 1 transport errors"]);
    assert_eq!(
        told(&text.replace("I/O error, dev", "critical target error, dev")),
        ["sdb 1 refused commands"]
    );
}

/// Closed on request, as often as it may be; the server that ends a connection is told.
#[test]
fn a_connection_that_was_closed_on_request_is_no_trouble() {
    let closed = "[ 9.0] block nbd0: NBD_DISCONNECT\n[ 9.0] block nbd0: shutting down sockets\n";
    let of = |text: &str| crate::tool::testing::all(text, "kernel log").len();
    assert_eq!(of(&closed.repeat(3)), 0);
    let ended = "[ 12.0] block nbd0: shutting down sockets\n";
    assert_eq!(told(&format!("{closed}{ended}")), ["nbd0 1 offline messages"]);
}
