//! What is proposed for recordings of the corpus can be done: tools are those of the device's kind, nothing that had ended is looked
//! for, and no load writes to a device.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The commands of all causes found in a recording of the corpus.
fn commands(recording: &str) -> Vec<String> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/corpus").join(format!("{recording}.tar.zst"));
    let out =
        Command::new(env!("CARGO_BIN_EXE_iowhy")).args(["explain", "--json"]).arg(path).output().unwrap();
    let told: Value = serde_json::from_slice(&out.stdout).unwrap();
    let causes = told["causes"].as_array().unwrap();
    let remedies = causes.iter().flat_map(|cause| cause["remedies"].as_array().into_iter().flatten());
    let all: Vec<String> = remedies.map(|remedy| remedy["command"].as_str().unwrap().into()).collect();
    assert!(!all.is_empty(), "{recording}");
    all
}

/// All of these are about loop devices, or in a virtual machine about a SCSI disk.
#[test]
fn tools_are_offered_for_devices_that_have_them() {
    for recording in ["power-state", "device-errors", "device-stall", "rate-limit", "device-errors-scsi"] {
        for command in commands(recording) {
            let of = |tool: &str, device: &str| !command.contains(tool) || command.contains(device);
            assert!(of("hdparm ", "/dev/sd") && of("smartctl ", "/dev/sd"), "{recording}: {command}");
            assert!(of("nvme ", "/dev/nvme") && of("device/timeout", "/block/sd"), "{recording}: {command}");
            assert!(
                !command.contains("fstrim") && !command.contains("(on the kernel"),
                "{recording}: {command}"
            );
        }
    }
}

#[test]
fn what_had_ended_is_started_anew_or_followed_from_who_starts_it() {
    for (recording, ended) in [
        ("flush-cost-device", true),
        ("log-force-one", true),
        ("read-ahead-waste", true),
        ("access-time", false),
    ] {
        let all = commands(recording);
        let traced: Vec<_> = all.iter().filter(|command| command.starts_with("strace")).collect();
        assert!(!traced.is_empty(), "{recording}: {all:?}");
        let anew = |command: &&String| command.contains(" COMMAND  # ") || command.contains(", which starts");
        assert_eq!(traced.iter().all(anew), ended, "{recording}: {traced:?}");
    }
}

#[test]
fn a_load_that_measures_does_what_waited_where_it_does_no_harm() {
    for (recording, words) in [
        ("device-saturated", "--filename=/dev/loop0 --readonly --rw=randread --bs=4k"),
        ("log-force.twin", "/mnt --size=256M --unlink=1 --rw=randwrite --bs=4k"),
        ("writeback-throttle.twin", "--fsync=32 --numjobs=2"),
        ("slow-device", "--rw=randwrite --bs=4k"),
    ] {
        let all = commands(recording);
        let loads: Vec<_> = all.iter().filter(|command| command.contains("fio --name=")).collect();
        assert!(loads.iter().any(|load| load.contains(words)), "{recording}: {all:?}");
        for load in loads {
            assert!(!load.contains("write --bs") || !load.contains("--filename"), "{recording}: {load}");
        }
    }
}
