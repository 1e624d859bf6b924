//! Statistics in bounded memory that merge: those of A merged with those of B are those of A followed by B.

mod activity;
mod alignment;
mod analysis;
mod blocks;
mod bootstrap;
mod by_bytes;
mod by_task;
mod cells;
mod common;
mod depth;
mod details;
mod device;
mod distribution;
mod focus;
mod kept;
mod line;
mod messages;
mod note;
mod operations;
mod pace;
mod pair;
mod phases;
mod pictures;
mod reader;
mod seek;
mod series;
mod served;
mod tags;
mod tail;
mod tape;
mod tasks;
mod traffic;
mod turns;

pub use activity::Activity;
pub use alignment::{unaligned, Alignment, Unaligned, BLOCK};
pub use analysis::{Analysis, Facts};
pub use blocks::{Blocks, InOrder, MOST_BLOCKS, PHASES_IN_ORDER};
pub use bootstrap::{rare, Estimate, NoRange, Range, Rare};
pub use by_bytes::{ByBytes, BytesGrowth};
pub use cells::{CellKey, Cells, SizeClass, FLAG_SET};
pub use common::Mode;
pub use depth::Depth;
pub use details::{Details, DeviceDetails, TaskDetails, Q2D_STEPS_MS};
pub use device::{BioStats, ByDepth, Company, CompletedOn, DepthRow, Device, PlugStats, Second};
pub use distribution::{Bucket, Distribution, Summary};
pub use focus::{class_op, class_words, Focus, Group, TailRow, FEW, LONG_BY_ITSELF, TAIL_SHARE};
pub use kept::{Kept, Met, Ran};
pub use line::{Line, Slope};
pub use messages::Messages;
pub use operations::{OpKey, OpStats, Operations, OutsideStats, Sent, Whose, OF_STORAGE, STUCK};
pub use pace::{AfterIdle, Held, Pace, IN_A_RUN};
pub use phases::Phases;
pub use pictures::{
    heat_bucket, heat_lower, Axis, Behind, Columns, DevicePictures, Extents, Heat, Moment, Pictures,
    SlowMoment, SlowOperation, SlowRequest, Who, EXTENT_GRID, FINEST, HEAT_BUCKETS, MOST_COLUMNS, STRETCHES,
};
pub use reader::Reader;
pub use seek::{Measure, Seeks};
pub use series::{Cell, Series};
pub use served::Served;
pub use tags::{TagWait, Tags};
pub use tail::{Slowest, TailTime};
pub use tape::Tape;
pub use tasks::{Tasks, OTHERS, WORKERS};
pub use traffic::{Flow, Traffic};
pub use turns::{InTurn, Turns};
