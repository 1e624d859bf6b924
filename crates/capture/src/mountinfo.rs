//! Mounted file systems and their options (`/proc/self/mountinfo`, proc_pid_mountinfo(5)).

use crate::lenient;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// One mount.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mount {
    /// Number of the file system's device, `254:0`; btrfs and memory file systems have virtual numbers.
    pub dev: String,
    /// The source of the mount: for file systems on disks, the path of the device.
    pub source: String,
    /// The mount point.
    pub point: String,
    /// The folder of the file system that is mounted there; `/` for the whole.
    #[serde(deserialize_with = "lenient::words")]
    pub root: String,
    /// Type of the file system: `xfs`, `ext4`, ...
    pub fstype: String,
    /// Options of this mount (`rw`, `relatime`), with the kernel's escapes.
    pub options: String,
    /// Options of the file system (`logbsize=32k`, `data=ordered`), with the kernel's escapes.
    pub super_options: String,
}

/// A parsed line of mountinfo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mountinfo {
    /// The mount id.
    pub id: u32,
    /// The other fields of the line.
    pub mount: Mount,
}

/// Parses `36 35 98:0 /root /mnt rw,noatime shared:1 - ext3 /dev/sda1 rw,errors=continue`.
pub fn mountinfo(line: &str) -> Option<Mountinfo> {
    let words: Vec<&str> = line.split(' ').collect();
    let &[id, parent, dev, root, point, options, ref rest @ ..] = words.as_slice() else { return None };
    let (id, _): (u32, u32) = (id.parse().ok()?, parent.parse().ok()?);
    // Any number of optional fields precede the lone dash.
    let dash = rest.iter().position(|word| *word == "-")?;
    let &[fstype, source, super_options] = &rest[dash + 1..] else { return None };
    let mount = Mount {
        dev: dev.to_string(),
        source: unescaped(source),
        point: unescaped(point),
        root: unescaped(root),
        fstype: fstype.to_string(),
        options: options.to_string(),
        super_options: super_options.to_string(),
    };
    Some(Mountinfo { id, mount })
}

/// Decodes the octal escapes (`\040` for a space) of /proc/mounts and similar files (`mangle`, fs/proc_namespace.c).
pub fn unescape(text: &str) -> OsString {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.as_bytes();
    while let [first, rest @ ..] = bytes {
        bytes = match bytes {
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..] => {
                out.push([a, b, c].iter().fold(0, |number, digit| number * 8 + (*digit - b'0')));
                rest
            }
            _ => {
                out.push(*first);
                rest
            }
        };
    }
    OsString::from_vec(out)
}

/// As [`unescape`], but converted to text.
pub fn unescaped(text: &str) -> String {
    unescape(text).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line() {
        let line = "36 35 98:0 /r\\040x /mnt rw,noatime shared:1 master:2 - ext3 /dev/sda1 rw,data=ordered";
        let Mountinfo { id, mount: m } = mountinfo(line).unwrap();
        assert_eq!((id, m.dev.as_str(), m.root.as_str(), m.point.as_str()), (36, "98:0", "/r x", "/mnt"));
        assert_eq!((m.fstype.as_str(), m.super_options.as_str()), ("ext3", "rw,data=ordered"));
        for none in ["nonsense", "1 2 - x", "a 2 8:0 / / rw - ext4 /dev/sda rw", "1 2 8:0 / / rw - ext4"] {
            assert_eq!(mountinfo(none), None, "{none}");
        }
    }

    #[test]
    fn octal_escapes() {
        assert_eq!(unescaped("/mnt/a\\040b\\134c"), "/mnt/a b\\c");
        assert_eq!(unescaped("plain\\04"), "plain\\04");
        assert_eq!(unescaped("\\777"), "\\777");
        assert_eq!(unescape("\\303\\251\\377").into_vec(), b"\xc3\xa9\xff");
        assert_eq!(unescaped(""), "");
    }
}
