//! What other tools printed, in whatever shape it was saved or mailed: fio, iostat, btt, dd, histograms, whole mails.
//!
//! [`ToolOutput`] is a text with the runs in it, each number with its unit and place; there is a file for each tool in
//! `tool/` (text) and `saved/` (JSON and logs). Settings that people paste between tables are read by `evidence`, which
//! this crate uses and which knows nothing of it: a text's settings are then the same as those of a document beside a
//! recording.

mod output;
mod saved;
mod tool;

pub use output::{
    Bucket, Claim, Command, Doubt, LogForm, LogTime, Machine, Number, Reading, Row, Run, Setting, SinceBoot,
    Spot, Sum, Syncs, ToolOutput, Unit, Values, MOST_BYTES_OF_MAIL,
};
