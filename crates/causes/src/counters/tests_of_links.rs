//! Lines of the kernel's log that show no failing disk: links, servers, targets, drives that refuse.

use crate::counters::judge_counters;
use crate::verdict::{Answer, Verdict};
use tooltext::ToolOutput;

fn first(text: &str) -> Verdict {
    judge_counters(&[ToolOutput::read("dmesg", text.as_bytes())]).remove(0)
}

fn commands(v: &Verdict) -> String {
    v.remedies.iter().map(|r| format!("{}: {}\n", r.what, r.command())).collect()
}

fn error(at: &str, disk: &str, sector: u64) -> String {
    format!("[{at}] blk_update_request: I/O error, dev {disk}, sector {sector} op 0x1:(WRITE) flags 0x800 phys_seg 1\n")
}

#[test]
fn errors_of_one_moment_at_several_places_are_no_bad_sectors() {
    let at = |us: u64| format!("60.950{us:03}");
    let text: String = (0..4).map(|i| error(&at(40 + 9 * i), "nvme1n1", 1000 * i)).collect();
    let partition =
        "[60.951000] Buffer I/O error on dev nvme1n1p2, logical block 15, lost async page write\n".repeat(3);
    let v = first(&(text + &partition));
    assert_eq!((v.cause, v.verdict), ("link-reset", Answer::Found));
    assert!(!commands(&v).contains("ddrescue"));
    // A disk that tries each sector for a while, and one sector that is asked for again.
    let slow: String = (0..4).map(|i| error(&format!("6{i}.950040"), "sdb", 1000 * i)).collect();
    assert_eq!(first(&slow).cause, "device-errors");
    assert_eq!(first(&error("60.950040", "sdb", 8).repeat(4)).cause, "device-errors");
}

#[test]
fn errors_of_a_disk_that_is_gone_are_the_consequence() {
    let errors = error("71.000120", "sdc", 8) + &error("71.010200", "sdc", 4096);
    for gone in [
        "[ 71.000100] sd 3:0:0:1: rejecting I/O to offline device\n",
        "[ 71.000100] usb 2-1: USB disconnect, device number 4\n",
        "[ 71.100300] device-mapper: multipath: 253:2: Failing path 8:32.\n",
    ] {
        for text in [gone.to_owned() + &errors, errors.clone() + gone] {
            let v = first(&text);
            assert_eq!((v.cause, v.verdict), ("link-reset", Answer::Found), "{text}");
            let said: Vec<_> = v.evidence.iter().map(|e| e.sentence()).collect();
            assert!(said.last().unwrap().starts_with("errors of sdc are its consequence"), "{said:?}");
        }
    }
    // Another disk's path, and a device that was unplugged at another time.
    let other = "[ 71.100300] device-mapper: multipath: 253:2: Failing path 8:48.\n";
    assert_eq!(first(&(errors.clone() + other)).cause, "device-errors");
    assert_eq!(
        first(&("[ 11.1] usb 2-1: USB disconnect, device number 4\n".to_owned() + &errors)).cause,
        "device-errors"
    );
}

/// A card is pulled: the driver makes up an answer for each command of the disk behind it.
#[test]
fn errors_behind_a_link_that_was_given_up_are_its_consequence() {
    let gone = "[628.240198] ata7: SATA link down (SStatus FFFFFFFF SControl FFFFFFFF)\n[628.240214] ata7.00: disabled\n";
    let broken = |at: &str, disk: &str, key: &str| {
        format!("[{at}] sd 7:0:0:0: [{disk}] Sense Key : {key} [current] [descriptor]\n")
            + &error(at, disk, 65)
    };
    let v = first(&(gone.to_owned() + &broken("628.240262", "sdb", "Hardware Error")));
    assert_eq!((v.cause, v.verdict), ("link-reset", Answer::Found));
    assert!(!commands(&v).contains("ddrescue"));
    // At another time, of two disks, or what could not be read.
    let both = broken("628.240262", "sdb", "Hardware Error") + &broken("628.240262", "sdc", "Hardware Error");
    for own in
        [broken("528.240262", "sdb", "Hardware Error"), both, broken("628.240262", "sdb", "Medium Error")]
    {
        assert_eq!(first(&(own + gone)).cause, "device-errors");
    }
}

#[test]
fn an_emmcs_parts_are_behind_one_link() {
    let part = "[14.382738] blk_update_request: I/O error, dev mmcblk1boot1, sector 8064\n";
    let slow = "[14.312912] mmcblk1: error -110 sending status command, retrying\n".repeat(3);
    assert_eq!(first(&(slow + &part.repeat(3))).cause, "link-reset");
}

#[test]
fn of_a_virtual_disk_its_target_is_looked_at() {
    let error = |cdb: &str| {
        format!(
            "[ 128.749858] sd 15:0:0:1: [sdn] tag#4 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_SENSE\n\
             [ 128.749865] sd 15:0:0:1: [sdn] tag#4 Sense Key : Medium Error [current] \n\
             [ 128.749871] sd 15:0:0:1: [sdn] tag#4 Add. Sense: Unrecovered read error\n\
             [ 128.749877] sd 15:0:0:1: [sdn] tag#4 CDB: {cdb} 2a 00 00 00 84 88 00 00 30 00\n\
             [ 128.750142] critical medium error, dev sdn, sector 33928 op 0x0:(READ) flags 0x0\n"
        )
        .repeat(2)
    };
    let attached =
        |model: &str| format!("[ 75.277793] scsi 15:0:0:1: Direct-Access     {model} 0001 PQ: 0 ANSI: 5\n");
    let iscsi = "[ 75.253467] scsi host15: iSCSI Initiator over TCP/IP\n";
    let partition =
        "[ 128.9] Buffer I/O error on dev sdn1, logical block 15, lost async page write\n".repeat(4);
    for text in [
        error("Write(10)"),
        error("Write(10)") + &partition,
        iscsi.to_owned() + &error("Read(10)"),
        attached("IET      VIRTUAL-DISK") + &error("Read(10)"),
        attached("LIO-ORG  block1") + &error("Read(10)"),
        attached("QEMU     QEMU HARDDISK") + &error("Read(10)"),
    ] {
        let v = first(&text);
        assert_eq!((v.cause, v.verdict), ("device-errors", Answer::CannotTell), "{text}");
        assert!(
            v.missing[0].sentence().starts_with("what failed behind sdn, a virtual disk"),
            "{:?}",
            v.missing
        );
        assert!(!commands(&v).contains("ddrescue"));
    }
    let v = first(&(attached("SEAGATE  ST1000NM0045") + &error("Read(10)")));
    assert_eq!((v.cause, v.verdict), ("device-errors", Answer::Found));
    assert!(commands(&v).contains("ddrescue /dev/sdn"));
}

#[test]
fn a_drive_that_refuses_does_not_fail() {
    let refused = "[ 14.0] sr 11:0:0:0: [sr1] Sense Key : Blank Check [current] \n".to_owned()
        + &error("14.1", "sr1", 0).repeat(2);
    let floppy =
        "[ 26.1] floppy0: disk absent or changed during operation\n".to_owned() + &error("26.2", "fd0", 0);
    for text in [refused.repeat(3), floppy.repeat(3), error("26.2", "sr0", 8).repeat(3)] {
        let v = first(&text);
        assert_eq!((v.cause, v.verdict), ("device-errors", Answer::CannotTell), "{text}");
        assert!(v.evidence[0].sentence().ends_with(": no disk fails"), "{:?}", v.evidence);
        assert!(v.missing[0].sentence().contains("no disk fails here"));
    }
}

#[test]
fn hardware_errors_are_of_the_disk() {
    let text = "[ 512.1] sd 0:0:1:0: [sdc] tag#5 Sense Key : Hardware Error [current] \n".to_owned();
    let v = first(&(text.repeat(2) + &error("512.2", "sdc", 8)));
    assert_eq!((v.cause, v.verdict), ("device-errors", Answer::Found));
    assert!(commands(&v).contains("ddrescue /dev/sdc"));
    // Errors that nothing explains are looked into first.
    assert!(!commands(&first(&error("512.2", "sdc", 8).repeat(3))).contains("ddrescue"));
}

#[test]
fn commands_find_the_disk_that_the_log_does_not_name() {
    let named = "[ 20.1] sd 0:0:0:0: [sda] 976773168 512-byte logical blocks\n";
    let ata = "[ 19.1] ata1: hard resetting link\n".repeat(2);
    for (text, disk) in [
        (ata.clone(), "smartctl -x /dev/$(ls -l /sys/block | sed -n 's,.*/ata1/.*/,,p')"),
        (ata.clone() + named, "smartctl -x /dev/sda"),
        // Two disks: the port's is not known.
        (ata + named + "[ 20.2] sd 4:0:0:0: [sdb] Attached SCSI disk\n", "/ata1/"),
        (
            "[ 9.1] sd 4:0:1:0: attempting task abort! scmd(ffff880204baee80)\n".repeat(2),
            "smartctl -x /dev/$(ls /sys/class/scsi_device/4:0:1:0/device/block)",
        ),
    ] {
        assert!(commands(&first(&text)).contains(disk), "{text}{}", commands(&first(&text)));
    }
}

#[test]
fn what_is_to_try_is_of_the_kind_of_link() {
    let uas =
        "[ 93.1] sd 0:0:0:0: [sda] tag#12 uas_eh_abort_handler 0 uas-tag 1 inflight: CMD IN \n".repeat(2);
    let ids = "[ 1.1] usb 2-2: New USB device found, idVendor=152d, idProduct=0578, bcdDevice= 2.09\n";
    let asleep = "[ 7.1] ata1.00: exception Emask 0x10 SAct 0x40 SErr 0x4050000 action 0xe frozen\n\
        [ 7.1] ata1: SError: { PHYRdyChg CommWake DevExch }\n";
    for (text, first_to_try) in [
        (uas.clone(), "usb-storage.quirks=VENDOR:PRODUCT:u"),
        (ids.to_owned() + &uas, "usb-storage.quirks=152d:0578:u"),
        (asleep.repeat(2), "max_performance"),
        ("[ 9.1] nfs: server files.example not responding, still trying\n".repeat(2), "nfsstat"),
        ("[ 9.1] mmc0: Timeout waiting for hardware interrupt - cmd12.\n".repeat(2), "card"),
        ("[ 9.1] device-mapper: multipath: 253:2: Failing path 8:32.\n".repeat(2), "multipath -ll"),
        ("[ 9.1] aacraid: Host adapter abort request.\n".repeat(2), "an adapter was reset"),
    ] {
        let v = first(&text);
        assert_eq!((v.cause, v.verdict), ("link-reset", Answer::Found), "{text}");
        assert!(commands(&v).lines().next().unwrap().contains(first_to_try), "{}", commands(&v));
    }
}

#[test]
fn storage_on_another_machine_has_advice_of_its_own() {
    for (text, look) in [
        ("[8.0] drbd r1 node2: PingAck did not arrive in time.\n", "drbdadm status"),
        (
            "[1.0] Lustre: fs-OST0001-osc-ffff8800: Connection to fs-OST0001 (at 10.0.0.1@tcp) was lost; in progress operations wait\n",
            "lfs check servers",
        ),
        ("[1.0] Lustre: ost_io: This server is not able to keep up with request traffic (cpu-bound).\n", "iostat -x"),
    ] {
        let v = first(&text.repeat(2));
        assert_eq!((v.cause, v.verdict), ("link-reset", Answer::Found), "{text}");
        assert!(commands(&v).contains(look) && !commands(&v).contains("smartctl"), "{}", commands(&v));
        let v = first(text);
        assert_eq!(v.verdict, Answer::CannotTell);
        let missing: String = v.missing.iter().map(|m| m.sentence()).collect();
        assert!(missing.contains("dmesg -T") && !missing.contains("smartctl"), "{missing}");
    }
}

/// What timed out says where to look: the medium, the link, or the command itself.
#[test]
fn a_command_that_timed_out_is_looked_at() {
    let of = |command: &str| {
        let lines = format!(
            "[ 61.0] sd 6:0:4:0: attempting task abort!scmd(0x0000000075f63919), outstanding for 30397 ms & timeout 30000 ms\n\
             [ 61.0] sd 6:0:4:0: [sdg] tag#2762 CDB: {command}\n[ 61.1] sd 6:0:4:0: task abort: SUCCESS scmd(0x0000000075f63919)\n"
        );
        let v = first(&lines.repeat(2));
        assert_eq!((v.cause, v.verdict), ("link-reset", Answer::Found), "{command}");
        commands(&v)
    };
    for discard in
        ["opcode=0x42 42 00 00 00 00 00 00 00 18 00", "Unmap/Read sub-channel 42 00 00 00 00 00 00 00 18 00"]
    {
        let all = of(discard);
        assert!(all.contains("/sys/block/sdg/queue/discard_max_bytes") && !all.contains("cable"), "{all}");
    }
    let asked = of("ATA command pass through(16) 85 08 0e 00 d5 00 01 00 e0 00 4f 00 c2 00 b0 00");
    assert!(asked.contains("sent by a program or a monitor") && !asked.contains("cable"), "{asked}");
    assert!(of("Read(10) 28 00 12 5c 3a 18 00 00 08 00").contains("cable"));
}

#[test]
fn of_several_disks_that_were_reset_what_they_share_is_looked_at() {
    let of = |disks: &[&str]| {
        let line = |(i, disk): (usize, &&str)| {
            format!("[ 6{i}.5] sd 2:2:{i}:0: [{disk}] megasas: RESET cmd=28 retries=0\n")
        };
        commands(&first(&disks.iter().enumerate().map(line).collect::<String>().repeat(2)))
    };
    let all = of(&["sda", "sdb", "sdc"]);
    assert!(all.contains("what they share comes first") && !all.contains("/dev/sda"), "{all}");
    assert!(of(&["sda", "sdb"]).contains("/dev/sda"));
}

#[test]
fn a_usb_controller_that_died_took_its_disks_along() {
    let v = first(
        "[ 61.0] xhci_hcd 0000:01:00.0: xHCI host controller not responding, assume dead\n\
         [ 61.0] xhci_hcd 0000:01:00.0: HC died; cleaning up\n[ 61.1] usb 2-1: USB disconnect, device number 2\n",
    );
    assert_eq!((v.cause, v.verdict), ("link-reset", Answer::Found));
    assert!(
        v.evidence[0].sentence().starts_with("USB controller 0000:01:00.0: 1 timeout, 1 offline message"),
        "{v:?}"
    );
    assert!(
        commands(&v).contains("the USB controller stopped answering") && !commands(&v).contains("unplugged")
    );
}

/// The device was done; what told so did not arrive.
#[test]
fn a_lost_interrupt_accuses_no_drive() {
    let text = "[ 60.1] nvme nvme0: I/O 12 QID 3 timeout, completion polled\n".repeat(2);
    let v = first(&text);
    assert_eq!((v.cause, v.verdict), ("link-reset", Answer::Found));
    assert!(v.evidence[0].sentence().contains("2 lost interrupts"), "{:?}", v.evidence);
    assert!(
        commands(&v).contains("/proc/interrupts") && !commands(&v).contains("smart-log"),
        "{}",
        commands(&v)
    );
}

/// A volume of device-mapper fails with the disk below it; at another time it fails for another reason.
#[test]
fn what_a_volume_reports_with_its_disk_is_a_consequence() {
    let of = |time: &str| {
        let volume = format!("[ {time}] BTRFS error (device dm-1): bdev /dev/mapper/a errs: wr 1, rd 0, flush 0, corrupt 0, gen 0\n");
        let disk = "[ 60.1] sd 2:0:0:0: [sdb] tag#5 Sense Key : Illegal Request [current]\n\
            [ 60.1] critical target error, dev sdb, sector 8 op 0x1:(WRITE) flags 0x800\n";
        let all = judge_counters(&[ToolOutput::read("dmesg", format!("{disk}{volume}").as_bytes())]);
        all.iter().flat_map(|v| &v.evidence).any(|said| said.sentence().starts_with("dm-1: "))
    };
    assert_eq!(["60.2", "90.2"].map(of), [false, true]);
}

#[test]
fn errors_behind_a_port_of_usb_that_was_reset_are_its_consequence() {
    let reset = |at: &str, port: &str| {
        format!("{at}usb {port}: reset high-speed USB device number 2 using xhci_hcd\n")
    };
    let resets = reset("[  100.1] ", "1-2") + &reset("[  100.3] ", "1-2");
    let errors = |at: &str, disk: &str| {
        format!("{at}I/O error, dev {disk}, sector 70047 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0\n")
            .repeat(2)
    };
    let v = first(&(resets.clone() + &errors("[  160.5] ", "sdb")));
    assert_eq!((v.cause, v.verdict), ("link-reset", Answer::Found));
    assert!(commands(&v).starts_with("its port was reset"), "{}", commands(&v));
    // Later than a command is tried; two disks with errors: which one is on that port?
    let later = resets.clone() + &errors("[  900.5] ", "sdb");
    let two = resets.clone() + &errors("[  100.5] ", "sdb") + &errors("[  100.5] ", "sdc");
    assert_eq!([later.as_str(), two.as_str()].map(|text| first(text).cause), ["device-errors"; 2]);
    // The log says which disk it is: any time after, and no other disk.
    let log = |port: &str| {
        format!("[ 10.3] scsi host6: usb-storage {port}:1.0\n[ 11.1] sd 6:0:0:0: [sdb] Attached SCSI disk\n")
    };
    assert_eq!(first(&(log("1-2") + &later)).cause, "link-reset");
    assert_eq!(first(&(log("1-3") + &later)).cause, "device-errors");
    // Linux 2.6, without times.
    let old = reset("", "1-2").repeat(2)
        + "sd 1:0:0:0: SCSI error: return code = 0x00050000\n"
        + &errors("", "sdb");
    assert_eq!(first(&old).cause, "link-reset");
    assert_eq!(first(&errors("", "sdb")).cause, "device-errors");
}

#[test]
fn a_command_that_timed_out_is_no_error_of_the_disk() {
    let text = |result: &str| {
        let of = |at: u32| {
            format!(
                "[{at}.117] sd 2:0:0:0: [sda] tag#8 {result}\n[{at}.118] sd 2:0:0:0: [sda] tag#8 CDB: Write(10) 2a 00 01 04 8d 60 00 00 10 00\n\
                 [{at}.119] blk_update_request: I/O error, dev sda, sector {at}\n"
            )
        };
        of(100) + &of(200)
    };
    for result in [
        "FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_TIMEOUT",
        "UNKNOWN(0x2003) Result: hostbyte=0x00 driverbyte=0x06 cmd_age=30s",
        "FAILED Result: hostbyte=0x03 driverbyte=0x00",
        "SCSI error: return code = 0x06000000",
    ] {
        assert_eq!(first(&text(result)).cause, "link-reset", "{result}");
    }
    for result in [
        "FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_SENSE",
        "UNKNOWN(0x2003) Result: hostbyte=0x00 driverbyte=0x08 cmd_age=0s",
        "SCSI error: return code = 0x08000002",
    ] {
        assert_eq!(first(&text(result)).cause, "device-errors", "{result}");
    }
}
