//! All of them in one program: to link one for each file takes longer than to compile them.

mod begun;
mod btt_cases;
mod btt_recordings;
mod device;
mod doubt;
mod properties;
mod stacked;
mod submit;
