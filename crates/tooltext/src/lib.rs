//! Reads the output of other tools, in any form in which it was saved or mailed: fio, iostat, btt, dd, histograms, whole mails.
//!
//! [`ToolOutput`] is a text with the runs in it, each number with its unit and place. Each tool has its own file in
//! `tool/` (text) or `saved/` (JSON and logs). Settings that people paste between tables are read by `evidence`, which
//! this crate uses (not vice versa): the settings in a text are thus the same as those of a document beside a
//! recording.

mod output;
mod saved;
mod tool;

pub use output::{
    Bucket, Claim, Command, Doubt, LogFact, LogForm, LogTime, Machine, Number, Reading, Row, Run, Setting,
    SinceBoot, Spot, Sum, Syncs, ToolOutput, Unit, Values, MOST_BYTES_OF_MAIL,
};
