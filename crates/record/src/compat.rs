//! 32-bit programs on a 64-bit kernel: their system calls have numbers of their own.
//!
//! `raw_syscalls` events do not say which table a number is of: 3 is `read` for a 32-bit x86 program and `close` for a
//! 64-bit one. The filter takes numbers of the kernel's own word size, so of 32-bit programs the wrong calls are
//! recorded. That is said; their block events and sleeps are right as they are.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// What an ELF file begins with, and how its fifth byte says that it is of 32 bits (`ELFCLASS32`, elf(5)).
const ELF_32: [u8; 5] = [0x7f, b'E', b'L', b'F', 1];
/// Names that are told.
const MOST: usize = 8;

/// Names of programs of 32 bits that are running. `root` is /proc. Empty where the kernel is one too.
pub fn programs(root: &Path) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    if cfg!(target_pointer_width = "32") {
        return names;
    }
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        let folder = entry.path();
        let is_process = entry.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit());
        let mut start = [0; ELF_32.len()];
        // Kernel threads have no program.
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

/// What is to be said of them.
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
