//! Hands what libFuzzer thinks of to the target that IOWHY_FUZZ names.
#![no_main]

use std::sync::LazyLock;
use targets::{target, Target};

static CHOSEN: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("IOWHY_FUZZ").unwrap_or_default();
    target(&name).unwrap_or_else(|| panic!("IOWHY_FUZZ names no target: {name:?}"))
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (CHOSEN.run)(bytes));
