//! All of them in one program: to link one for each file takes longer than to compile them.

mod blkparse;
mod golden;
mod own_format;
mod round_trip;
mod support;
