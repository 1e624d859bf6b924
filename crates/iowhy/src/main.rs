//! iowhy.
fn main() {}
