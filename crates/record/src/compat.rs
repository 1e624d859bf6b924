//! Detects 32-bit programs on a 64-bit kernel, which have different system call numbers.
//!
//! `raw_syscalls` events do not say which table a number belongs to: 3 is `read` for a 32-bit x86 program and `close` for a
//! 64-bit one. The filter uses the numbers of the kernel's own word size, so for 32-bit programs the wrong calls are
//! recorded. A note says so; their block events and sleeps are recorded correctly.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Start of a 32-bit ELF file: the magic, and `ELFCLASS32` in the fifth byte (elf(5)).
const ELF_32: [u8; 5] = [0x7f, b'E', b'L', b'F', 1];
/// Limit on names in the note.
const MOST: usize = 8;

/// Names of running 32-bit programs, sorted. `root` is /proc. Empty on a 32-bit kernel.
pub fn programs(root: &Path) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    if cfg!(target_pointer_width = "32") {
        return names;
    }
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        let folder = entry.path();
        let is_process = entry.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit());
        let mut start = [0; ELF_32.len()];
        // Kernel threads have no executable.
        let read =
            is_process.then(|| File::open(folder.join("exe")).ok()?.read_exact(&mut start).ok()).flatten();
        if read.is_none() || start != ELF_32 {
            continue;
        }
        let name = crate::text::small(&folder.join("comm")).unwrap_or_default().trim_end().to_string();
        if !names.contains(&name) {
            names.push(name);
        }
        if names.len() == MOST {
            break;
        }
    }
    names.sort();
    names
}

/// The note about these programs; `None` if there are none.
pub fn note(programs: &[String]) -> Option<String> {
    (!programs.is_empty()).then(|| {
        format!(
            "{} run in 32 bits: their system calls have other numbers and are recorded wrongly or not at all; their requests and \
             sleeps are right",
            programs.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn told_by_their_program() {
        let dir = tempfile::tempdir().unwrap();
        let process = |pid: &str, name: &str, program: &[u8]| {
            let folder = dir.path().join(pid);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("comm"), format!("{name}\n")).unwrap();
            fs::write(folder.join("exe"), program).unwrap();
        };
        process("10", "old", b"\x7fELF\x01\x01\x01");
        process("11", "new", b"\x7fELF\x02\x01\x01");
        process("12", "short", b"\x7fE");
        process("bus", "no process", b"\x7fELF\x01\x01\x01");
        fs::create_dir(dir.path().join("13")).unwrap();
        let found = programs(dir.path());
        assert_eq!(found, if cfg!(target_pointer_width = "64") { vec!["old"] } else { vec![] });
        assert!(note(&["old".into()]).unwrap().starts_with("old run in 32 bits"));
        assert_eq!(note(&[]), None);
    }
}
