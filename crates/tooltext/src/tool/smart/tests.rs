//! Reports of drives.

use crate::tool::testing::one;

#[test]
fn attributes_are_numbers_of_the_drive() {
    let text = "ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE\n\
          5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       16\n\
        194 Temperature_Celsius     0x0022   066   055   000    Old_age   Always       -       34 (Min/Max 20/45)\n\
        197 Current_Pending_Sector  0x0012   100   100   000    Old_age   Always       -       8\n";
    let row = one(text, "smart").rows.remove(0);
    assert_eq!(
        (row.value("Reallocated_Sector_Ct"), row.value("Current_Pending_Sector")),
        (Some(16.0), Some(8.0))
    );
    assert_eq!(row.value("Temperature_Celsius"), Some(34.0));
    let brief = "ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE\n  5 Reallocated_Sector_Ct   PO--CK   100   100   010    -    24\n\
        197 Current_Pending_Sector  -O--CK   200   200   000    NOW  16\n                            ||||||_ K auto-keep\n";
    let row = one(brief, "smart").rows.remove(0);
    let values = ["Reallocated_Sector_Ct", "Current_Pending_Sector", "failing"].map(|name| row.value(name));
    assert_eq!(values, [Some(24.0), Some(16.0), Some(1.0)]);
}

#[test]
fn the_last_self_test_is_read_if_it_failed() {
    let heading =
        "Num  Test_Description    Status                  Remaining  LifeTime(hours)  LBA_of_first_error\n";
    let of = |first: &str, second: &str| {
        let text =
            format!("SMART overall-health self-assessment test result: PASSED\n{heading}{first}\n{second}\n");
        crate::tool::testing::all(&text, "smart")
            .iter()
            .filter_map(|r| r.rows[0].value("self-test failed"))
            .count()
    };
    let failed = "# 1  Short offline       Completed: read failure       10%     18145         181539";
    let passed = "# 1  Extended offline    Completed without error       00%     18146         -";
    assert_eq!(of(failed, &passed.replace("# 1", "# 2")), 1);
    assert_eq!(of(&failed.replace("# 1", "#1"), ""), 1);
    assert_eq!(of(passed, &failed.replace("# 1", "# 2")), 0, "an older one");
}

#[test]
fn both_logs_of_nvme_drives_are_read() {
    let smartctl =
        "Temperature:                        45 Celsius\nAvailable Spare:                    100%\n\
        Percentage Used:                    3%\nMedia and Data Integrity Errors:    7\n";
    let cli = "available_spare                     : 100%\npercentage_used                     : 3%\nmedia_errors                        : 7\n";
    for text in [smartctl, cli] {
        let row = one(text, "smart").rows.remove(0);
        assert_eq!((row.value("used"), row.value("media errors")), (Some(0.03), Some(7.0)), "{text}");
    }
}

/// With tabs, units after numbers, and names that nvme-cli changed between 1 and 2.
#[test]
fn nvme_cli_names_all_that_smartctl_does() {
    let text = "Smart Log for NVME device:nvme0n1 namespace-id:ffffffff\ncritical_warning\t\t\t: 0x4\ntemperature\t\t\t\t: 41 °C (314 K)\navailable_spare\t\t\t\t: 87%\navailable_spare_threshold\t\t: 10%\npercentage_used\t\t\t\t: 45%\n\
        endurance group critical warning summary: 0\nData Units Read\t\t\t\t: 123,456,789 (63.21 TB)\nhost_read_commands\t\t\t: 1,111,222,333\nmedia_errors\t\t\t\t: 2\nnum_err_log_entries\t\t\t: 99\n\
        Warning Temperature Time\t\t: 17\nCritical Composite Temperature Time\t: 4\nTemperature Sensor 1           : 41 °C (314 K)\nThermal Management T1 Trans Count\t: 6\nThermal Management T2 Trans Count\t: 1\n";
    let reading = one(text, "smart");
    assert_eq!(reading.name, "nvme0n1");
    let value = |name: &str| reading.rows[0].value(name);
    for (name, number) in [
        ("critical warning", 4.0),
        ("spare", 0.87),
        ("used", 0.45),
        ("reads", 1_111_222_333.0),
        ("media errors", 2.0),
        ("error log", 99.0),
        ("minutes too warm", 17.0),
        ("minutes too hot", 4.0),
        ("times slowed by heat", 6.0),
        ("times slowed much by heat", 1.0),
    ] {
        assert_eq!(value(name), Some(number), "{name}");
    }
}

#[test]
fn scsi_drives_count_defects_and_errors() {
    let text = "Elements in grown defect list: 12\n\nError counter log:\n           Errors Corrected by           Total   Correction     Gigabytes    Total\n\
        \x20              ECC          rereads/    errors   algorithm      processed    uncorrected\n           fast | delayed   rewrites  corrected  invocations   [10^9 bytes]  errors\n\
        read:          0      941       941       941       1090      47812,883           5\nwrite:         0       86        86        86        113       8569.762           0\n\nNon-medium error count:      345\n";
    let readings = crate::tool::testing::all(text, "smart");
    let value = |name: &str| readings.iter().flat_map(|r| &r.rows).find_map(|r| r.value(name));
    assert_eq!(
        ["grown defects", "read uncorrected", "write uncorrected", "other errors"].map(value),
        [12.0, 5.0, 0.0, 345.0].map(Some)
    );
    assert!(crate::tool::testing::all("read: 1 2 3 4 5 6 7\nUnsafe Shutdowns: 3\n", "smart").is_empty());
}

#[test]
fn what_a_drive_says_of_itself_is_a_number() {
    for (text, name, value) in [
        ("SMART overall-health self-assessment test result: FAILED!\n", "failing", 1.0),
        ("SMART overall-health self-assessment test result: PASSED\n", "failing", 0.0),
        ("SMART Health Status: OK\n", "failing", 0.0),
        ("SMART Health Status: FIRMWARE IMPENDING FAILURE [asc=5d, ascq=60]\n", "failing", 1.0),
        ("Critical Warning:                   0x04\n", "critical warning", 4.0),
        ("critical_warning                    : 0x12\n", "critical warning", 18.0),
        ("critical_warning                    : 0\n", "critical warning", 0.0),
    ] {
        assert_eq!(one(text, "smart").rows[0].value(name), Some(value), "{text}");
    }
    assert!(crate::tool::testing::all("critical_warning : 41 C (314 K)\n", "smart").is_empty());
    assert!(crate::tool::testing::all(
        "Critical Warning: the disk is slow\nSMART Health Status: of all\n",
        "smart"
    )
    .is_empty());
}

#[test]
fn a_report_is_one_drive_with_its_commands_device() {
    let report = |device: &str, failing: &str, pending: u32| {
        format!(
            "# smartctl -a /dev/{device}\nsmartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\n\
             === START OF READ SMART DATA SECTION ===\nSMART overall-health self-assessment test result: {failing}\n\n\
             General SMART Values:\nOffline data collection status:  (0x82)\n\n\
             ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE\n\
             197 Current_Pending_Sector  0x0012   100   100   000    Old_age   Always       -       {pending}\n\n\
             SMART Error Log Version: 1\nNo Errors Logged\n\n"
        )
    };
    let text = report("sdb", "PASSED", 8) + &report("sdc", "FAILED!", 0);
    let all = crate::tool::testing::all(&text, "smart");
    let told: Vec<_> = all
        .iter()
        .map(|r| (r.name.as_str(), r.rows[0].value("failing"), r.rows[0].value("Current_Pending_Sector")))
        .collect();
    assert_eq!(told, [("sdb", Some(0.0), Some(8.0)), ("sdc", Some(1.0), Some(0.0))]);
    // Without a command the row is named `drive`.
    let bare = report("sdb", "PASSED", 8).replace("# smartctl -a /dev/sdb\n", "");
    assert_eq!(one(&bare, "smart").rows[0].of, "drive");
    // Prose about smartctl.
    assert!(
        crate::tool::testing::all("# smartctl -a /dev/sdb\nsmartctl 7.3 is what I use\n", "smart").is_empty()
    );
}

#[test]
fn each_log_of_nvme_smart_log_is_a_drive_of_its_own() {
    let text = "# nvme smart-log /dev/nvme0\nSmart Log for NVME device:/dev/nvme0 namespace-id:ffffffff\ncritical_warning : 0\nmedia_errors : 7\n\
        Smart Log for NVME device: nvme1n1 namespace-id:ffffffff\ncritical_warning : 0x1\nmedia_errors : 8\n\
        we then ran\nmedia_errors : 9\nnum_err_log_entries : 1\n";
    let readings = crate::tool::testing::all(text, "smart");
    let told: Vec<_> = readings.iter().map(|r| (r.name.as_str(), r.rows[0].value("media errors"))).collect();
    assert_eq!(told, [("nvme0", Some(7.0)), ("nvme1n1", Some(8.0)), ("", Some(9.0))]);
}
