//! System calls that do I/O, independent of the architecture's call numbers.

mod call;
mod numbers;

pub use call::Call;
use numbers::{GENERIC, X86_64};

/// The table of one architecture: call numbers and calls, sorted by number.
#[derive(Clone, Copy, Debug)]
pub struct Calls(&'static [(u16, Call)]);

impl Calls {
    /// The empty table for an unknown architecture: every call is [`Call::Other`].
    pub const NONE: Calls = Calls(&[]);

    /// The table of a machine as named by `uname -m`; `None` if it is not known here.
    pub fn of_machine(machine: &str) -> Option<Calls> {
        match machine {
            "x86_64" => Some(Calls(X86_64)),
            "aarch64" | "riscv64" | "loongarch64" => Some(Calls(GENERIC)),
            _ => None,
        }
    }

    /// The call with this number; [`Call::Other`] if the table lacks it.
    #[inline]
    pub fn call(self, number: u64) -> Call {
        let found = self.0.binary_search_by_key(&number, |(n, _)| u64::from(*n));
        found.map_or(Call::Other, |at| self.0[at].1)
    }

    /// Index of the flags argument of the `open` variant with this number. `None` without one: `creat` has no flags, and
    /// `openat2` passes them in memory.
    pub fn open_flags(self, number: u64) -> Option<usize> {
        let is_x86 = self.0.first() == X86_64.first();
        match number {
            2 if is_x86 => Some(1),
            257 if is_x86 => Some(2),
            56 if !is_x86 => Some(2),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_for_the_search() {
        for table in [X86_64, GENERIC] {
            assert!(table.windows(2).all(|w| w[0].0 < w[1].0));
        }
    }

    #[test]
    fn numbers_differ_between_machines() {
        let x86 = Calls::of_machine("x86_64").unwrap();
        let arm = Calls::of_machine("aarch64").unwrap();
        assert_eq!((x86.call(74), arm.call(82)), (Call::Fsync, Call::Fsync));
        assert_eq!((x86.call(1 << 40), arm.call(74)), (Call::Other, Call::Other));
        assert_eq!((x86.call(280), arm.call(88)), (Call::Attributes, Call::Attributes), "utimensat");
        assert!(Calls::of_machine("vax").is_none());
    }
}
