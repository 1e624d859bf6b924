//! A straight line through points, by least squares: how much longer or shorter one time is when another is longer.
//!
//! Points of several groups share one slope but have their own middles: a group with more of both says nothing about the slope.

use trace::Nanos;

/// Smallest number of points of a line with an error.
const FEWEST: u64 = 3;

/// Points, as sums of squares and products of the distances from their group's middle, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Line {
    count: u64,
    /// Middle of the group to which points are added.
    middle: [f64; 2],
    xx: f64,
    xy: f64,
    yy: f64,
    /// Number of groups added, besides its own.
    groups: u64,
}

/// Slope of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// Change of the second time per change of the first; negative if it gets shorter.
    pub value: f64,
    /// Standard error of the slope.
    pub error: f64,
    /// Number of points.
    pub count: u64,
}

impl Line {
    /// Adds a point.
    pub(crate) fn add(&mut self, x: Nanos, y: Nanos) {
        let [x, y] = [x, y].map(|t| t.0 as f64 / 1e3);
        self.count += 1;
        let from_old = [x - self.middle[0], y - self.middle[1]];
        let part = 1.0 / self.count as f64;
        self.middle = [self.middle[0] + part * from_old[0], self.middle[1] + part * from_old[1]];
        let from_new = [x - self.middle[0], y - self.middle[1]];
        self.xx += from_old[0] * from_new[0];
        self.xy += from_old[0] * from_new[1];
        self.yy += from_old[1] * from_new[1];
    }

    /// Adds the points of another group.
    pub(crate) fn add_group(&mut self, other: &Line) {
        self.count += other.count;
        self.xx += other.xx;
        self.xy += other.xy;
        self.yy += other.yy;
        self.groups += other.groups + 1;
    }

    /// The slope; `None` with too few points (fewer than three in one group), or if all have the same first time.
    pub fn slope(&self) -> Option<Slope> {
        let free = self.count.checked_sub(self.groups + FEWEST - 1).filter(|free| *free > 0)?;
        if self.xx <= 0.0 {
            return None;
        }
        let value = self.xy / self.xx;
        let off = (self.yy - value * self.xy).max(0.0);
        Some(Slope { value, error: (off / free as f64 / self.xx).sqrt(), count: self.count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: impl IntoIterator<Item = (u64, u64)>) -> Line {
        let mut line = Line::default();
        points.into_iter().for_each(|(x, y)| line.add(Nanos(x * 1000), Nanos(y * 1000)));
        line
    }

    #[test]
    fn points_on_a_line_have_its_slope_and_no_error() {
        let slope = line((0..50).map(|x| (x, 5000 - 2 * x))).slope().unwrap();
        assert!((slope.value + 2.0).abs() < 1e-6 && slope.error < 1e-3, "{slope:?}");
        assert_eq!(slope.count, 50);
    }

    /// (0, 0), (1, 2), (2, 1), (3, 3): slope 0.8, residuals -0.3, 0.9, -0.9, 0.3, so error sqrt(1.8 / 2 / 5).
    #[test]
    fn what_lies_beside_a_line_is_its_error() {
        let slope = line([(0, 0), (1, 2), (2, 1), (3, 3)]).slope().unwrap();
        assert!((slope.value - 0.8).abs() < 1e-9 && (slope.error - 0.18f64.sqrt()).abs() < 1e-9, "{slope:?}");
    }

    /// Within each group the slope is 1; between the groups it is negative.
    #[test]
    fn groups_have_a_middle_each() {
        let mut both = line([(0, 100), (1, 101), (2, 102)]);
        both.add_group(&line([(100, 0), (101, 1), (102, 2)]));
        let slope = both.slope().unwrap();
        assert!((slope.value - 1.0).abs() < 1e-9 && slope.count == 6, "{slope:?}");
        let mut none = Line::default();
        none.add_group(&line([(5, 5), (5, 7), (5, 9)]));
        assert_eq!(none.slope(), None);
    }

    #[test]
    fn fewer_than_three_points_and_points_above_each_other_have_none() {
        assert_eq!(line([(1, 1), (2, 2)]).slope(), None);
        assert_eq!(line([(1, 1), (1, 2), (1, 3)]).slope(), None);
        assert_eq!(Line::default().slope(), None);
    }
}
