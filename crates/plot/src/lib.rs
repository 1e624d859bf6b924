//! Still pictures, films, and pictures in a terminal.
//!
//! ```text
//! Explanation, Pictures --> kinds/  a file per kind --> Picture --> draw --> Scene --> svg, raster (PNG), film
//!                                                          \--> terminal
//! table of waits, as folded stacks --> flame --> SVG
//! ```
//!
//! A [`Picture`] describes its content in units of the data; a [`Scene`] has positions on paper. **Invariant**:
//! both depend only on the recording: the same recording gives the same bytes.

mod axis;
pub mod colours;
mod draw;
mod film;
mod flame;
mod kinds;
mod palette;
mod picture;
mod raster;
mod scene;
mod svg;
mod terminal;

pub use draw::draw;
pub use film::{animated, film, FilmError, SECONDS};
pub use flame::{flame, Flame};
pub use kinds::{overview, picture, Kind, Subject};
pub use picture::{Axis, Bar, Layer, Panel, Picture, Scale};
pub use raster::{png, Canvas};
pub use scene::{Colour, Scene};
pub use svg::svg;
pub use terminal::{terminal, Terminal};
