//! The number of writes that writeback throttling admits: block/blk-rq-qos.c and `calc_wb_limits` of block/blk-wbt.c, Linux 6.18.
//!
//! **Invariant**: background <= normal <= all of them, and at least 1.

/// `RWB_DEF_DEPTH`.
const PLACES: u32 = 16;
/// `RWB_WINDOW_NSEC`.
pub const WINDOW: u64 = 100_000_000;

/// Maximal numbers of admitted writes (`struct rq_depth`, `calc_wb_limits`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    queue_depth: u32,
    /// 0 initially; positive steps admit fewer writes, negative ones more.
    pub step: i32,
    at_most: bool,
    /// For writes of an fsync, and while tasks that dirty pages are throttled.
    pub max: u32,
    /// For other writes while no reads compete.
    pub normal: u32,
    /// For other writes beside reads.
    pub background: u32,
}

impl Limits {
    /// The limits of step 0.
    pub fn new(queue_depth: u32) -> Limits {
        let mut l = Limits {
            queue_depth: queue_depth.max(1),
            step: 0,
            at_most: false,
            max: 0,
            normal: 0,
            background: 0,
        };
        l.calculate();
        l
    }

    /// `rq_depth_calc_max_depth`; returns whether the maximum is reached.
    fn calculate(&mut self) -> bool {
        let mut at_most = false;
        if self.queue_depth == 1 {
            at_most = self.step <= 0;
            self.max = if self.step > 0 { 1 } else { 2 };
        } else {
            let beyond_one = PLACES.min(self.queue_depth) - 1;
            self.max = match self.step {
                s if s > 0 => 1 + (beyond_one >> s.min(31)),
                s => 1 + (beyond_one << (-s).min(16)),
            };
            let most = 3 * self.queue_depth / 4;
            if self.step < 0 && self.max > most {
                (self.max, at_most) = (most, true);
            }
        }
        (self.normal, self.background) = match self.max {
            0..=2 => (self.max, 1),
            max => (max.div_ceil(2), max.div_ceil(4)),
        };
        at_most
    }

    /// `rq_depth_scale_up`; returns whether it was possible.
    pub fn up(&mut self) -> bool {
        if self.at_most {
            return false;
        }
        self.step -= 1;
        self.at_most = self.calculate();
        true
    }

    /// `rq_depth_scale_down`; returns whether it was possible.
    pub fn down(&mut self, hard: bool) -> bool {
        if self.max == 1 {
            return false;
        }
        self.step = if self.step < 0 && hard { 0 } else { self.step + 1 };
        self.at_most = false;
        self.calculate();
        true
    }

    /// The length of a window in nanoseconds (`rwb_arm_timer`).
    pub fn window(&self) -> u64 {
        match self.step {
            s if s > 0 => (WINDOW << 4) / ((s as u64 + 1) << 8).isqrt(),
            _ => WINDOW,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 + (15 >> step), with half and a quarter of it rounded up; for step -1: 1 + (15 << 1) = 31, at most 3/4 of the queue.
    #[test]
    fn places_by_step() {
        let mut l = Limits::new(64);
        let now = |l: &Limits| (l.step, l.max, l.normal, l.background);
        assert_eq!(now(&l), (0, 16, 8, 4));
        let down: Vec<_> = (0..4).map(|_| (l.down(true), now(&l)).1).collect();
        assert_eq!(down, [(1, 8, 4, 2), (2, 4, 2, 1), (3, 2, 2, 1), (4, 1, 1, 1)]);
        assert!(!l.down(true));
        (0..4).for_each(|_| assert!(l.up()));
        assert!(l.up());
        assert_eq!(now(&l), (-1, 31, 16, 8));
        assert!(l.up());
        assert_eq!(now(&l), (-2, 48, 24, 12));
        assert!(!l.up(), "three quarters of 64 are the most");
        // A read is too slow: from a negative step straight back to 0.
        assert!(l.down(true));
        assert_eq!(now(&l), (0, 16, 8, 4));
        assert_eq!(now(&Limits::new(4)), (0, 4, 2, 1));
        assert_eq!(now(&Limits::new(1)), (0, 2, 2, 1));
    }

    /// 1600 ms / sqrt(2 * 256) = 1600 / 22, / sqrt(3 * 256) = 1600 / 27, / sqrt(4 * 256) = 1600 / 32.
    #[test]
    fn windows_become_shorter() {
        let mut l = Limits::new(64);
        let windows: Vec<u64> = (0..4).map(|_| (l.window() / 1000, l.down(true)).0).collect();
        assert_eq!(windows, [100_000, 72_727, 59_259, 50_000]);
    }
}
