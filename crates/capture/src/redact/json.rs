//! Redacts names in `system.json` and `capture.json`.

use super::Names;
use crate::role::Role;
use serde_json::{json, Value};
use std::collections::BTreeMap;

/// Keys whose values are names as a whole.
const NAMED: &[&str] = &["host", "task"];
/// Keys whose values are paths, or lists of words.
const WORDS: &[&str] = &["command", "path", "cgroup"];

/// The document with replacement names, and the roles of their tasks. Numbers and settings are unchanged.
pub fn redacted(
    text: &[u8],
    names: &mut Names,
    roles: Option<BTreeMap<String, Role>>,
) -> Result<Vec<u8>, String> {
    let mut document: Value = serde_json::from_slice(text).map_err(|e| e.to_string())?;
    walk(&mut document, "", "", names);
    if let (Some(roles), Value::Object(fields)) = (roles, &mut document) {
        fields.insert("roles".into(), json!(roles));
    }
    let mut out = serde_json::to_vec_pretty(&document).map_err(|e| e.to_string())?;
    out.push(b'\n');
    Ok(out)
}

/// Redacts a value. `key` is its own key, `above` the key of its parent.
fn walk(value: &mut Value, key: &str, above: &str, names: &mut Names) {
    match value {
        Value::String(s) => *s = text(s, key, above, names),
        Value::Array(list) => list.iter_mut().for_each(|v| walk(v, key, above, names)),
        Value::Object(fields) => {
            for (name, v) in fields.iter_mut() {
                walk(v, name, key, names);
            }
        }
        _ => {}
    }
}

fn text(s: &str, key: &str, above: &str, names: &mut Names) -> String {
    // A person chooses the name and uuid of a device-mapper device.
    let device_mapper = above == "dm" && (key == "name" || key == "uuid");
    // Kernel function names are kept.
    if key == "stack" {
        return s.to_string();
    }
    // Paths of cgroups, keyed by number.
    if above == "paths" {
        return names.path(s);
    }
    if NAMED.contains(&key) || device_mapper {
        // LVM-..., CRYPT-..., mpath-...: the kind of device is kept.
        match s.split_once('-').filter(|_| key == "uuid") {
            Some((kind, rest)) => format!("{kind}-{}", names.word(rest)),
            None => names.word(s),
        }
    } else if WORDS.contains(&key) || key == "source" {
        names.path(s)
    } else {
        names.text(s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_and_settings_stay() {
        let text = br#"{"host": "database-1", "command": ["postgres", "--name=secret"], "kernel": "6.1",
            "before": {"disks": {"dm-0": {"dm": {"name": "vg-secret", "uuid": "LVM-secret"}, "queue": {"scheduler": "[none]"},
              "loop": {"backing_file": "/srv/secret"}}},
              "mounts": [{"point": "/srv/secret", "source": "nas:/secret", "super_options": "rw,upperdir=/secret"}],
              "cgroups": {"list": [{"path": "system.slice/secret", "settings": {"io.max": "8:0 rbps=1"}}],
              "paths": {"4711": "system.slice/secret"}},
              "limited": [{"path": "memory/secret", "members": [7], "memory": {"file": "memory.max", "bytes": 77, "met": 3}}],
              "processes": {"asleep": {"7": {"task": "topsecret", "stack": ["io_schedule"]}}, "list": {"7": {"cgroup": "/secret.slice", "files": {"3": {"dev": "8:1", "inode": 12, "path": "/srv/my secret"}}}}}}}"#;
        let out = String::from_utf8(redacted(text, &mut Names::default(), None).unwrap()).unwrap();
        // All are too long to be drawn by chance.
        for gone in ["secret", "database-1", "postgres"] {
            assert!(!out.contains(gone), "{gone} is left: {out}");
        }
        for kept in ["[none]", "8:0 rbps=1", "\"6.1\"", "LVM-", "upperdir=/", "dm-0", "\"memory.max\""] {
            assert!(out.contains(kept), "{kept} is gone: {out}");
        }
        assert!(redacted(b"{", &mut Names::default(), None).is_err());
    }
}
