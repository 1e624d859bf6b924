//! All of them in one program: to link one for each file takes longer than to compile them.

mod answer;
mod chains;
mod compare;
mod input;
mod lack;
mod learning;
