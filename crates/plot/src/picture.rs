//! The content of a picture in units of the data: seconds, nanoseconds, bytes.

use crate::scene::Colour;

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios.
    Log,
    /// For parts of all, from 0 to 1: each step upwards is ten times rarer, so that p99.9 has as much space as p90.
    Tail,
}

/// An axis of a chart.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Its scale.
    pub scale: Scale,
    /// The values at its start and end.
    pub range: (f64, f64),
    /// The label of a value.
    pub words: fn(f64) -> String,
    /// Whether labels are at multiples of powers of two.
    pub binary: bool,
}

/// A bar that is divided into parts.
#[derive(Clone, Debug)]
pub struct Bar {
    /// The label before it.
    pub label: String,
    /// The text after it.
    pub value: String,
    /// Its length, as a part of the longest bar.
    pub length: f64,
    /// Its parts with their colours; each as a part of the bar.
    pub parts: Vec<(f64, Colour)>,
}

/// One layer of a chart.
#[derive(Clone, Debug)]
pub enum Layer {
    /// Cells of a heat map: range on the horizontal axis, range on the vertical axis, and count.
    Heat(Vec<([f64; 2], [f64; 2], f64)>),
    /// A line; a point without a value makes a gap.
    Line {
        /// Its name in the legend; empty: none.
        label: String,
        /// Its colour.
        colour: Colour,
        /// Whether it is dashed.
        dashed: bool,
        /// Its points: horizontal and vertical value.
        points: Vec<(f64, Option<f64>)>,
    },
    /// Marks, all of one size in units of the data: squares, or crosses.
    Marks {
        /// Their name in the legend; empty: none.
        label: String,
        /// Their colour.
        colour: Colour,
        /// Whether they are crosses instead of squares.
        crosses: bool,
        /// Their width and height.
        size: (f64, f64),
        /// Their lower left corners.
        at: Vec<(f64, f64)>,
    },
    /// Ranges of the horizontal axis that are shaded because events were lost.
    Shades(Vec<(f64, f64)>),
    /// Ranges of the horizontal axis that are marked at the upper edge.
    Moments {
        /// The name of the finding that explains them; `no finding` if none does.
        label: String,
        /// Its colour.
        colour: Colour,
        /// The start and end of each range.
        stretches: Vec<(f64, f64)>,
    },
    /// A horizontal line through the whole chart, with its name in the legend.
    Level(f64, String),
    /// Columns from the horizontal axis upwards.
    Columns {
        /// Their name in the legend; empty: none.
        label: String,
        /// Their colour.
        colour: Colour,
        /// The left edge, right edge and height of each column.
        columns: Vec<(f64, f64, f64)>,
    },
}

/// A panel of a picture.
#[derive(Clone, Debug)]
pub enum Panel {
    /// A chart with two axes.
    Chart {
        /// The heading.
        title: String,
        /// The horizontal axis.
        x: Axis,
        /// The vertical axis.
        y: Axis,
        /// Its layers, the lowest first.
        layers: Vec<Layer>,
        /// Its relative height; 1 is usual.
        height: f64,
    },
    /// A list of bars.
    Bars {
        /// The heading.
        title: String,
        /// The bars, from top to bottom.
        bars: Vec<Bar>,
        /// The meaning of the colours.
        legend: Vec<(String, Colour)>,
    },
}

/// A picture as a column of panels.
#[derive(Clone, Debug)]
pub struct Picture {
    /// What it shows, in one line.
    pub title: String,
    /// The recording, the causes found, and how far to trust them, in one line.
    pub about: String,
    /// Its panels, from top to bottom.
    pub panels: Vec<Panel>,
    /// Whether the horizontal axis of all panels is time.
    pub over_time: bool,
}
