//! Numbers in a line of text with commas between, as logs of a hundred megabytes have them.

/// Reads the first numbers of a line into `out`, and says how many fields there are in all; further fields may be
/// anything, and empty ones are not counted. `None` if one of the first is no number that fits.
///
/// Example: `12, 77047, 0, 4096, 0` with room for four gives [12, 77047, 0, 4096] and 5.
// Not in line: it is to be as fast wherever it is called from, also from a crate that is built small.
#[inline(never)]
pub fn numbers(line: &[u8], out: &mut [u64]) -> Option<usize> {
    let mut fields = line.split(|b| *b == b',').map(|f| f.trim_ascii());
    for place in out.iter_mut() {
        *place = number(fields.next()?)?;
    }
    Some(out.len() + fields.filter(|f| !f.is_empty()).count())
}

fn number(digits: &[u8]) -> Option<u64> {
    let add = |sum: u64, b: &u8| {
        sum.checked_mul(10)?.checked_add(u64::from(b.checked_sub(b'0').filter(|d| *d < 10)?))
    };
    digits.iter().try_fold(0, add).filter(|_| !digits.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_numbers_and_the_rest_is_counted() {
        let mut out = [0; 4];
        assert_eq!(numbers(b"12, 77047, 0, 4096, 0", &mut out), Some(5));
        assert_eq!(out, [12, 77047, 0, 4096]);
        assert_eq!(numbers(b"1,2,3,18446744073709551615", &mut out), Some(4));
        assert_eq!(out, [1, 2, 3, u64::MAX]);
        assert_eq!(numbers(b"1,2,3,4, x, ,", &mut out), Some(5));
        for bad in ["", "1,2,3", "1,,3,4", "1,2,3,-4", "1,2,3,18446744073709551616", "1,2,x,4", "1 1,2,3,4"] {
            assert_eq!(numbers(bad.as_bytes(), &mut out), None, "{bad}");
        }
    }
}
