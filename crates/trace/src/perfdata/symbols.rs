//! Finds names of the kernel's functions for the stacks of `perf record -g`.
//!
//! perf.data has no names since perf of Linux 4.6; older files have the text of `/proc/kallsyms`. Every file has the kernel's address in
//! memory (the record of `[kernel.kallsyms]_text`), which differs from boot to boot. Names are taken
//!
//! 1. from the file itself, if it is that old;
//! 2. from a file `kallsyms` beside it, saved by root before the machine restarted;
//! 3. from this machine's `/proc/kallsyms`, if this machine runs the recorded kernel.
//!
//! **Invariant**: sources 2 and 3 are used only if `_text` has the same address as in the recorded kernel.

use super::head::Kernel;
use crate::tracedat::{SymbolText, Symbols};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Name of a symbol file that the user saved beside the recording.
const BESIDE: &str = "kallsyms";
const OF_THIS_MACHINE: &str = "/proc/kallsyms";
const RELEASE: &str = "/proc/sys/kernel/osrelease";
/// Address of a kernel without address randomisation: `_text` then says nothing about modules.
const NEVER_MOVED: u64 = 0xffff_ffff_8100_0000;
/// Limit on the size of a symbol file; a kernel with many modules has 15 MB.
const MOST_BYTES: u64 = 64 << 20;

/// The note when no names are found.
pub const MISSING: &str = "stacks (perf record -g) are left out: perf.data has no names of the kernel's functions; to have them, as root \
                           and before the machine restarts: cat /proc/kallsyms > kallsyms, in the folder of the recording";

/// The names, or `None` if no source fits.
pub fn read(path: &Path, text: Option<&SymbolText>, kernel: &Kernel) -> Option<Symbols> {
    let own = text.and_then(|text| text.read().ok()).map(Symbols::parse).filter(|s| !s.is_empty());
    own.or_else(|| {
        let text = contents(&path.parent()?.join(BESIDE))?;
        lies_at(&text, kernel.text?).then(|| Symbols::parse(text))
    })
    .or_else(|| {
        let release = contents(Path::new(RELEASE))?;
        let same = kernel.release.as_deref().is_some_and(|r| r.as_bytes() == release.trim_ascii_end());
        let text = same.then(|| contents(Path::new(OF_THIS_MACHINE))).flatten()?;
        let at = kernel.text.filter(|at| lies_at(&text, *at))?;
        Some(Symbols::parse(if at == NEVER_MOVED { without_modules(&text) } else { text }))
    })
}

fn contents(path: &Path) -> Option<Vec<u8>> {
    let mut all = vec![];
    File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut all).ok()?;
    Some(all)
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|b| *b == b'\n')
}

/// Whether `_text` has this address in these symbols: `ffffffff81000000 T _text`.
fn lies_at(text: &[u8], address: u64) -> bool {
    let begins = format!("{address:016x} ");
    lines(text).any(|line| line.starts_with(begins.as_bytes()) && line.ends_with(b" _text"))
}

fn without_modules(text: &[u8]) -> Vec<u8> {
    lines(text).filter(|line| !line.ends_with(b"]")).collect::<Vec<_>>().join(&b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"ffffffff9a000000 T _text\nffffffff9a000010 T io_wait\nffffffffc0000010 t xfs_wait\t[xfs]\nffffffffc0000020 t end\t[xfs]\n";

    #[test]
    fn names_are_of_the_kernel_that_was_recorded_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("perf.data");
        let kernel = |text| Kernel { release: Some("0.0.0-none".into()), text };
        std::fs::write(folder.path().join(BESIDE), TEXT).unwrap();
        let found = read(&path, None, &kernel(Some(0xffff_ffff_9a00_0000))).unwrap();
        assert_eq!(found.find(0xffff_ffff_c000_0011), Some(("xfs_wait", 1)));
        assert!(read(&path, None, &kernel(Some(0xffff_ffff_9b00_0000))).is_none());
        assert!(read(&path, None, &kernel(None)).is_none());
        assert_eq!(without_modules(TEXT).iter().filter(|b| **b == b'\n').count(), 2);
    }
}
