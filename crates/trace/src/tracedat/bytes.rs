//! Integers in the byte order and word size of the recording machine.
//!
//! Invariant: nothing here reads outside the given slice; a value outside is `None`.

/// Byte order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Low byte first: x86, arm64, riscv.
    #[default]
    Little,
    /// High byte first: s390x, older powerpc and mips.
    Big,
}

impl Order {
    /// An unsigned integer of 1, 2, 4 or 8 bytes at offset `at`; `None` if it is not completely inside.
    #[inline]
    pub fn uint(self, bytes: &[u8], at: usize, size: usize) -> Option<u64> {
        let b = bytes.get(at..at.checked_add(size)?)?;
        Some(match (size, self) {
            (8, Order::Little) => u64::from_le_bytes(b.try_into().ok()?),
            (8, Order::Big) => u64::from_be_bytes(b.try_into().ok()?),
            (4, Order::Little) => u32::from_le_bytes(b.try_into().ok()?).into(),
            (4, Order::Big) => u32::from_be_bytes(b.try_into().ok()?).into(),
            (2, Order::Little) => u16::from_le_bytes(b.try_into().ok()?).into(),
            (2, Order::Big) => u16::from_be_bytes(b.try_into().ok()?).into(),
            (1, _) => b[0].into(),
            _ => return None,
        })
    }

    /// A 32-bit integer at offset `at`.
    #[inline]
    pub fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        self.uint(bytes, at, 4).map(|v| v as u32)
    }

    /// A 64-bit integer at offset `at`.
    #[inline]
    pub fn u64(self, bytes: &[u8], at: usize) -> Option<u64> {
        self.uint(bytes, at, 8)
    }
}

/// The bytes before the first NUL.
pub fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|&b| b == 0).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_all_sizes_and_nothing_outside() {
        let b = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(Order::Little.uint(&b, 0, 2), Some(0x0201));
        assert_eq!(Order::Big.uint(&b, 0, 2), Some(0x0102));
        assert_eq!(Order::Big.u32(&b, 4), Some(0x05060708));
        assert_eq!(Order::Little.u64(&b, 0), Some(0x0807060504030201));
        assert_eq!(Order::Little.u64(&b, 1), None);
        assert_eq!(Order::Little.uint(&b, usize::MAX, 1), None);
        assert_eq!(Order::Little.uint(&b, 0, 3), None);
    }
}
