//! Keeps a recording small: only the files `iowhy` reads, only the devices of the scenario, one compressed file.
//!
//! What the machine was called and what else was on it is left out: the lab is the same everywhere.

use crate::folder::kept;
use crate::outcome::Outcome;
use crate::shrink::shrink;
use serde_json::Value;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// Pages of a ring buffer shrink best at zstd's higher levels; beyond this one they take minutes for nothing.
const LEVEL: i32 = 19;

/// Keeps `capture`; gives the size of the file.
pub fn keep(capture: &Path, name: &str) -> Outcome<u64> {
    let small = tempfile::tempdir()?;
    shrink(&capture.join("trace.dat"), &small.path().join("trace.dat"))?;
    let mut about: Value = serde_json::from_slice(&fs::read(capture.join("capture.json"))?)?;
    about["host"] = "lab".into();
    about["command"] = serde_json::json!(["lab", name]);
    let devices: Vec<String> = strings(&about["devices"]);
    let mut system: Value = serde_json::from_slice(&fs::read(capture.join("system.json"))?)?;
    for side in ["before", "after"] {
        of_devices(&mut system[side], &devices);
    }
    let mut samples = String::new();
    for line in fs::read_to_string(capture.join("samples.jsonl")).unwrap_or_default().lines() {
        // A line that was cut off is no loss.
        let Ok(mut sample) = serde_json::from_str::<Value>(line) else { continue };
        if let Some(disks) = sample["disks"].as_object_mut() {
            disks.retain(|name, _| devices.contains(name));
        }
        samples += &format!("{sample}\n");
    }
    fs::write(small.path().join("capture.json"), serde_json::to_vec_pretty(&about)?)?;
    fs::write(small.path().join("system.json"), serde_json::to_vec_pretty(&system)?)?;
    fs::write(small.path().join("samples.jsonl"), samples)?;
    let to = kept(name);
    // Under its name only when it is whole: a run that is killed must not leave half a recording.
    let unfinished = to.with_extension("unfinished");
    let mut packed = tar::Builder::new(zstd::Encoder::new(File::create(&unfinished)?, LEVEL)?);
    for file in ["capture.json", "system.json", "samples.jsonl", "trace.dat"] {
        let mut from = File::open(small.path().join(file))?;
        let mut header = tar::Header::new_gnu();
        header.set_size(from.metadata()?.len());
        header.set_mode(0o644);
        packed.append_data(&mut header, format!("{name}/{file}"), &mut from)?;
    }
    packed.into_inner()?.finish()?.flush()?;
    fs::rename(&unfinished, &to)?;
    Ok(fs::metadata(&to)?.len())
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|v| v.as_str().map(String::from)).collect()
}

/// Leaves out of a snapshot what is about other devices.
fn of_devices(side: &mut Value, devices: &[String]) {
    let mut numbers = vec![];
    if let Some(disks) = side["disks"].as_object_mut() {
        disks.retain(|name, _| devices.contains(name));
        numbers.extend(disks.values().filter_map(|d| d["dev"].as_str().map(String::from)));
    }
    if let Some(mounts) = side["mounts"].as_array_mut() {
        mounts.retain(|m| m["dev"].as_str().is_some_and(|dev| numbers.iter().any(|n| n == dev)));
    }
    // Limits of other groups: those that name no device of ours.
    let ours = |text: &str| {
        numbers.iter().any(|n| text.lines().any(|l| l.split_ascii_whitespace().next() == Some(n)))
    };
    if let Some(groups) = side["cgroups"]["list"].as_array_mut() {
        groups.retain(|g| {
            g["settings"].as_object().is_some_and(|s| s.values().any(|v| v.as_str().is_some_and(ours)))
        });
    }
}
