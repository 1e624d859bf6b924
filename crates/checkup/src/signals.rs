//! What ends a checkup from outside.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// SIGINT, SIGTERM and SIGHUP from now on.
#[derive(Clone, Debug)]
pub struct Signals(Arc<AtomicBool>);

impl Signals {
    /// Catches them: they end a checkup, and all is removed.
    pub fn catch() -> Signals {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP]
        {
            // Can fail for forbidden signals only, which these are not.
            let _ = signal_hook::flag::register(signal, flag.clone());
        }
        Signals(flag)
    }

    /// Whether one has come.
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
