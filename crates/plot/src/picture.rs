//! What is to be seen, in units of the data: seconds, nanoseconds, bytes.

use crate::scene::Colour;

/// How values lie on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By powers of ten.
    Log,
    /// Parts of all, 0 to 1: each step upwards is ten times rarer, so that p99.9 has as much room as p90.
    Tail,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// How values lie on it.
    pub scale: Scale,
    /// From where to where.
    pub range: (f64, f64),
    /// How a value is written.
    pub words: fn(f64) -> String,
    /// Whether round values are powers of two.
    pub binary: bool,
}

/// A bar, cut into parts.
#[derive(Clone, Debug)]
pub struct Bar {
    /// What it is.
    pub label: String,
    /// What stands behind it.
    pub value: String,
    /// Its length, as a part of the longest.
    pub length: f64,
    /// Its parts, as parts of it.
    pub parts: Vec<(f64, Colour)>,
}

/// Something in a panel.
#[derive(Clone, Debug)]
pub enum Layer {
    /// Cells: from and to on both axes, and how many are in it.
    Heat(Vec<([f64; 2], [f64; 2], f64)>),
    /// A line. What is missing is a gap.
    Line {
        /// What it is.
        label: String,
        /// Its colour.
        colour: Colour,
        /// Whether it is dashed.
        dashed: bool,
        /// Its points.
        points: Vec<(f64, Option<f64>)>,
    },
    /// Marks of a size in units of the data, at their lower left corners: squares, or crosses.
    Marks {
        /// What they are.
        label: String,
        /// Their colour.
        colour: Colour,
        /// Crosses, not squares.
        crosses: bool,
        /// Width and height.
        size: (f64, f64),
        /// Where.
        at: Vec<(f64, f64)>,
    },
    /// Stretches of the horizontal axis that are shaded: losses.
    Shades(Vec<(f64, f64)>),
    /// Stretches of the horizontal axis that are marked at the upper edge.
    Moments {
        /// The finding that explains them; nothing if none does.
        label: String,
        /// Its colour.
        colour: Colour,
        /// They themselves.
        stretches: Vec<(f64, f64)>,
    },
    /// A line from side to side, with words.
    Level(f64, String),
    /// Columns that stand on the axis: from, to, how high.
    Columns {
        /// What they are.
        label: String,
        /// Their colour.
        colour: Colour,
        /// They themselves.
        columns: Vec<(f64, f64, f64)>,
    },
}

/// A panel.
#[derive(Clone, Debug)]
pub enum Panel {
    /// With two axes.
    Chart {
        /// What it shows.
        title: String,
        /// The horizontal axis.
        x: Axis,
        /// The vertical axis.
        y: Axis,
        /// What is in it, the lowest first.
        layers: Vec<Layer>,
        /// How high it is, beside others.
        height: f64,
    },
    /// Bars beneath one another.
    Bars {
        /// What it shows.
        title: String,
        /// They themselves.
        bars: Vec<Bar>,
        /// What colours mean.
        legend: Vec<(String, Colour)>,
    },
}

/// A picture.
#[derive(Clone, Debug)]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// Of what, and how far to trust it.
    pub about: String,
    /// Its panels, from above.
    pub panels: Vec<Panel>,
    /// Whether the panels' horizontal axis is time.
    pub over_time: bool,
}
