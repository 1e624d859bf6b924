//! A drawing: rectangles, lines and text on paper, in points from the upper left corner.

/// An RGB colour with opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour {
    /// Red, 0 to 255.
    pub r: u8,
    /// Green, 0 to 255.
    pub g: u8,
    /// Blue, 0 to 255.
    pub b: u8,
    /// Opacity, from 0 (invisible) to 1.
    pub a: f32,
}

impl Colour {
    /// An opaque colour from `0xrrggbb`.
    pub const fn hex(rgb: u32) -> Colour {
        Colour { r: (rgb >> 16) as u8, g: (rgb >> 8) as u8, b: rgb as u8, a: 1.0 }
    }

    /// The same colour with this opacity.
    pub const fn with_alpha(self, a: f32) -> Colour {
        Colour { a, ..self }
    }
}

/// Which point of a text is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The left end.
    Start,
    /// The middle.
    Middle,
    /// The right end.
    End,
}

/// A rectangle: left, top, width and height, in points.
pub type Rect = [f32; 4];
/// A position: distance from the left and from the top, in points.
pub type Point = (f32, f32);

/// An item of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// Rectangles of one colour.
    Rects {
        /// Their colour.
        fill: Colour,
        /// The rectangles.
        rects: Vec<Rect>,
    },
    /// Polylines of one colour.
    Lines {
        /// Their colour.
        stroke: Colour,
        /// Their width.
        width: f32,
        /// Whether they are dashed.
        dashed: bool,
        /// The points of each polyline.
        lines: Vec<Vec<Point>>,
    },
    /// A text.
    Text {
        /// Its position: a point on the baseline.
        at: Point,
        /// Its letters.
        text: String,
        /// The height of the font, in points.
        size: f32,
        /// Its colour.
        fill: Colour,
        /// Which point of the text is at `at`.
        anchor: Anchor,
        /// Whether it is bold.
        bold: bool,
    },
}

/// A drawing on paper of fixed size.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Its width, in points.
    pub width: f32,
    /// Its height, in points.
    pub height: f32,
    /// The colour of the paper.
    pub paper: Colour,
    /// What it shows, in one line.
    pub title: String,
    /// Axes and labels.
    pub frame: Vec<Item>,
    /// The data, drawn over the frame; films uncover it over time.
    pub data: Vec<Item>,
    /// The area that all panels over time cover; `None` if the picture has no time axis.
    pub over_time: Option<Rect>,
}

impl Scene {
    /// All items, in the order in which they are drawn.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.frame.iter().chain(&self.data)
    }
}
