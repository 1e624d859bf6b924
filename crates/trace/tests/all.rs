//! All of them in one program: to link one for each file takes longer than to compile them.

mod merged_file;
mod perfdata;
mod tracetext;
