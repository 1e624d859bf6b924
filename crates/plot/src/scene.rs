//! A drawing: rectangles, lines and text on paper, in points of the screen from the upper left corner.

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour {
    /// Red.
    pub r: u8,
    /// Green.
    pub g: u8,
    /// Blue.
    pub b: u8,
    /// 0 (nothing to be seen) to 1.
    pub a: f32,
}

impl Colour {
    /// From `0xrrggbb`.
    pub const fn hex(rgb: u32) -> Colour {
        Colour { r: (rgb >> 16) as u8, g: (rgb >> 8) as u8, b: rgb as u8, a: 1.0 }
    }

    /// The same, so far to be seen.
    pub const fn with_alpha(self, a: f32) -> Colour {
        Colour { a, ..self }
    }
}

/// Where a text's place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// At its left end.
    Start,
    /// In its middle.
    Middle,
    /// At its right end.
    End,
}

/// A rectangle: left, top, width, height.
pub type Rect = [f32; 4];
/// A place: from the left, from above.
pub type Point = (f32, f32);

/// Something to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// Rectangles of one colour.
    Rects {
        /// Their colour.
        fill: Colour,
        /// They themselves.
        rects: Vec<Rect>,
    },
    /// Lines of one colour, each through its points.
    Lines {
        /// Their colour.
        stroke: Colour,
        /// Their width.
        width: f32,
        /// Whether they are dashed.
        dashed: bool,
        /// They themselves.
        lines: Vec<Vec<Point>>,
    },
    /// A text, on its base line.
    Text {
        /// Where.
        at: Point,
        /// What.
        text: String,
        /// The height of the font.
        size: f32,
        /// Its colour.
        fill: Colour,
        /// What of it is at `at`.
        anchor: Anchor,
        /// Whether it is bold.
        bold: bool,
    },
}

/// A drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Its width.
    pub width: f32,
    /// Its height.
    pub height: f32,
    /// The colour of the paper.
    pub paper: Colour,
    /// What it shows, in words.
    pub title: String,
    /// Axes and words.
    pub frame: Vec<Item>,
    /// The data, drawn over the frame; in a film they come with time.
    pub data: Vec<Item>,
    /// Where the panels over time are: between these, left and right, top and bottom.
    pub over_time: Option<Rect>,
}

impl Scene {
    /// All items, those beneath first.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.frame.iter().chain(&self.data)
    }
}
