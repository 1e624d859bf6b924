//! The signals that end a checkup.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Remembers whether SIGINT, SIGTERM or SIGHUP came.
#[derive(Clone, Debug)]
pub struct Signals(Arc<AtomicBool>);

impl Signals {
    /// Catches these signals from now on: they end a checkup, and all its files are removed.
    pub fn catch() -> Signals {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP]
        {
            // This can fail only for forbidden signals, which these are not.
            let _ = signal_hook::flag::register(signal, flag.clone());
        }
        Signals(flag)
    }

    /// Whether one of them came.
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
