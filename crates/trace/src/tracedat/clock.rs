//! Converts times of the recording's clock to nanoseconds.
//!
//! All trace clocks of the kernel count nanoseconds, except two: `x86-tsc` counts cycles (trace-cmd then stores
//! the conversion factor, option TSC2NSEC), and `counter` counts events.

use units::Nanos;

/// Conversion of cycles to nanoseconds: `cycles * mult >> shift`. The default is the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    mult: u32,
    shift: u32,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { mult: 1, shift: 0 }
    }
}

impl Clock {
    /// A clock that counts cycles. A multiplier of 0 means that trace-cmd did not know the factor.
    pub fn cycles(mult: u32, shift: u32) -> Clock {
        if mult == 0 || shift > 63 {
            Clock::default()
        } else {
            Clock { mult, shift }
        }
    }

    /// Converts a time to nanoseconds.
    #[inline]
    pub fn nanos(self, time: u64) -> Nanos {
        if self.mult == 1 && self.shift == 0 {
            return Nanos(time);
        }
        Nanos(((u128::from(time) * u128::from(self.mult)) >> self.shift).min(u64::MAX.into()) as u64)
    }

    /// A warning if times of the clock `name` are not in nanoseconds; otherwise `None`.
    pub fn doubt(self, name: &str) -> Option<String> {
        match name {
            "counter" => Some("the clock \"counter\" only numbers the events: it gives no times".into()),
            "x86-tsc" | "ppc-tb" if self == Clock::default() => {
                Some(format!("the clock \"{name}\" counts cycles and the file does not say how long one is"))
            }
            "uptime" => Some("the clock \"uptime\" only advances with the timer tick (1 to 10 ms)".into()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_at_two_gigahertz_are_half_nanoseconds() {
        assert_eq!(Clock::cycles(1 << 31, 32).nanos(2_000_000_001), Nanos(1_000_000_000));
        assert_eq!(Clock::cycles(u32::MAX, 0).nanos(u64::MAX), Nanos(u64::MAX));
        assert_eq!(Clock::cycles(0, 0).nanos(7), Nanos(7));
        assert!(Clock::default().doubt("x86-tsc").is_some());
        assert!(Clock::default().doubt("mono").is_none());
    }
}
