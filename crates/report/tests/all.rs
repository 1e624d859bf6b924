//! All of them in one program: to link one for each file takes longer than to compile them.

mod dist;
mod healthy;
mod samples;
mod tables;
mod without;
