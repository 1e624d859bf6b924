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
