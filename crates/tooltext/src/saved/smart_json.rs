//! Reads `smartctl -j` and `nvme smart-log -o json`: the same data as in their texts (`tool/smart.rs`), under the same names.
//!
//! ```text
//! { "json_format_version": [1, 0], "device": { "name": "/dev/sda" }, "smart_status": { "passed": false },
//!   "ata_smart_attributes": { "table": [ { "id": 197, "name": "Current_Pending_Sector", "raw": { "value": 8, "string": "8" } } ] } }
//! { "json_format_version": [1, 0], "nvme_smart_health_information_log": { "critical_warning": 4, "percentage_used": 3, "media_errors": 0 } }
//! { "critical_warning": 4, "temperature": 314, "avail_spare": 100, "percent_used": 3, "media_errors": 0, "warning_temp_time": 17 }
//! ```
//!
//! **Versions**: smartmontools 7.0, its first, to 7.5; nvme-cli 1.0 to 2.3.

use super::json::{field, fields, items, number, text, Document, Value};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row};
use crate::output::run::Run;
use evidence::Spot;

/// Fields of an NVMe drive's log, under the names of both programs: field, name, factor, unit.
const NVME: [(&str, &str, f64, Unit); 16] = [
    ("avail_spare", "spare", 0.01, Unit::Share),
    ("available_spare", "spare", 0.01, Unit::Share),
    ("percent_used", "used", 0.01, Unit::Share),
    ("percentage_used", "used", 0.01, Unit::Share),
    ("media_errors", "media errors", 1.0, Unit::Count),
    ("num_err_log_entries", "error log", 1.0, Unit::Count),
    ("unsafe_shutdowns", "unsafe shutdowns", 1.0, Unit::Count),
    ("warning_temp_time", "minutes too warm", 1.0, Unit::Count),
    ("critical_comp_time", "minutes too hot", 1.0, Unit::Count),
    ("host_read_commands", "reads", 1.0, Unit::Count),
    ("host_reads", "reads", 1.0, Unit::Count),
    ("host_write_commands", "writes", 1.0, Unit::Count),
    ("host_writes", "writes", 1.0, Unit::Count),
    ("thm_temp1_trans_count", "times slowed by heat", 1.0, Unit::Count),
    ("thm_temp2_trans_count", "times slowed much by heat", 1.0, Unit::Count),
    ("critical_warning", "critical warning", 1.0, Unit::Count),
];
/// Minimum number of known fields in an object that starts with a warning; with fewer it may be from another program.
const LEAST: usize = 3;

/// The run of one drive; `None` if the document is from neither program.
pub(super) fn runs(d: &Document, value: Value) -> Option<Vec<Run>> {
    let top = fields(value);
    let mut row = Row::of("drive");
    if field(&top, "json_format_version").is_some() {
        let passed = field(&top, "smart_status").and_then(|status| field(&fields(status), "passed"));
        if let Some(passed) = passed {
            let failing = f64::from(u8::from(passed.get() == "false"));
            row.values.put("failing", failing, Unit::Count, d.at(passed));
        }
        let attributes = field(&top, "ata_smart_attributes").and_then(|all| field(&fields(all), "table"));
        for attribute in attributes.map_or(vec![], items) {
            let all = fields(attribute);
            // The printed text starts with the relevant number: `34 (Min/Max 20/45)`.
            let raw = field(&all, "raw").map_or(vec![], fields);
            let said = field(&raw, "string")
                .map(text)
                .and_then(|s| s.split([' ', '+', 'h', '/']).next()?.parse().ok());
            let raw = said.or_else(|| field(&raw, "value").and_then(number));
            if let Some((name, raw)) = field(&all, "name").zip(raw) {
                row.values.put(text(name), raw, Unit::Count, d.at(attribute));
            }
        }
        let grown = field(&top, "scsi_grown_defect_list").and_then(|n| Some((number(n)?, d.at(n))));
        grown.into_iter().for_each(|(n, at)| row.values.put("grown defects", n, Unit::Count, at));
        if let Some(log) = field(&top, "nvme_smart_health_information_log") {
            nvme(&mut row, &fields(log), |value| d.at(value));
        }
    } else {
        field(&top, "critical_warning")?;
        nvme(&mut row, &top, |value| d.at(value));
        (row.values.iter().count() >= LEAST).then_some(())?;
    }
    let device = field(&top, "device").and_then(|device| field(&fields(device), "name")).map(text);
    let reading = Reading {
        tool: "smart",
        name: device.unwrap_or_default(),
        rows: vec![row],
        at: d.at(value),
        ..Reading::default()
    };
    let any = !reading.rows[0].values.is_empty();
    any.then(|| Run::of_readings(String::new(), vec![reading]).into_iter().collect())
}

fn nvme(row: &mut Row, log: &[(std::borrow::Cow<str>, Value)], at: impl Fn(Value) -> Spot) {
    for (from, to, factor, unit) in NVME {
        let Some(value) = field(log, from) else { continue };
        // Newer versions of nvme-cli decode the warning's bits: `{ "value": 4, ... }`.
        let inner = field(&fields(value), "value").unwrap_or(value);
        if let Some(n) = number(inner) {
            row.values.put(to, n * factor, unit, at(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn smartctl_has_attributes_and_its_verdict() {
        let text = "{\n \"json_format_version\": [1, 0],\n \"device\": {\"name\": \"/dev/sda\"},\n \"smart_status\": {\"passed\": false},\n \"ata_smart_attributes\": {\"table\": [\n\
            {\"id\": 194, \"name\": \"Temperature_Celsius\", \"raw\": {\"value\": 193273528354, \"string\": \"34 (Min/Max 20/45)\"}},\n\
            {\"id\": 197, \"name\": \"Current_Pending_Sector\", \"raw\": {\"value\": 8, \"string\": \"8\"}}]}}\n";
        let reading = one(text, "smart");
        let row = &reading.rows[0];
        assert_eq!(reading.name, "/dev/sda");
        assert_eq!(
            ["failing", "Temperature_Celsius", "Current_Pending_Sector"].map(|name| row.value(name)),
            [1.0, 34.0, 8.0].map(Some)
        );
    }

    #[test]
    fn both_programs_say_the_same_of_an_nvme_drive() {
        let log = "\"critical_warning\": 4, \"temperature\": 314, \"media_errors\": 7, \"warning_temp_time\": 17, \"num_err_log_entries\": 99";
        let smartctl = format!("{{\"json_format_version\": [1, 0], \"nvme_smart_health_information_log\": {{{log}, \"percentage_used\": 3}}}}");
        let cli = format!("{{{log}, \"percent_used\": 3}}");
        let later = cli.replace(
            "\"critical_warning\": 4",
            "\"critical_warning\": {\"value\": 4, \"available_spare\": 0}",
        );
        for text in [smartctl, cli, later] {
            let row = &one(&text, "smart").rows[0];
            let names = ["critical warning", "media errors", "minutes too warm", "error log", "used"];
            assert_eq!(names.map(|name| row.value(name)), [4.0, 7.0, 17.0, 99.0, 0.03].map(Some), "{text}");
        }
        assert!(all("{\"critical_warning\": \"the disk is slow\", \"media_errors\": 0}", "smart").is_empty());
    }

    /// As saved by programs that sort names; a program's code with these names is no document.
    #[test]
    fn names_may_stand_in_any_order() {
        let sorted = "{\n\t\"ata_smart_attributes\": {\"table\": [\n\t\t\t{\n\"id\": 197, \"name\": \"Current_Pending_Sector\", \"raw\": {\"string\": \"8\", \"value\": 8}}]},\n\
            \"device\": {\"name\": \"/dev/sda\"},\n \"json_format_version\": [1, 0],\n \"smart_status\": {\"passed\": false}\n}\n";
        let row = &one(sorted, "smart").rows[0];
        assert_eq!((row.value("failing"), row.value("Current_Pending_Sector")), (Some(1.0), Some(8.0)));
        let code = "void show()\n{\n\tjson_add(root, \"critical_warning\", smart->critical_warning);\n}\n";
        let output = crate::output::ToolOutput::read("patch", code.as_bytes());
        assert!(!output.has_readings() && output.broken.is_none());
    }
}
