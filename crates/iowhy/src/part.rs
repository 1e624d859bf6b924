//! The window of time that is analysed: `--window`, or `--stopwatch` as in blkparse.

use clap::Args;
use events::Window;

/// A stretch of time, counted from the first event.
#[derive(Args, Clone, Copy, Default)]
pub struct Part {
    /// Only this span: END or START:END or START:, in seconds since the first event (1.5) or with a unit (1500ms, us,
    /// ns); times in the output count from the first event of this part
    #[arg(short = 'w', long = "window", alias = "stopwatch", value_name = "SPAN", value_parser = Window::parse)]
    pub window: Option<Window>,
}
