//! All of them in one program: to link one for each file takes longer than to compile them.

mod documents;
mod folders;
mod iostat;
