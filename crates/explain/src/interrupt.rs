//! SIGINT (Ctrl-C) and SIGTERM end a command cleanly: they set a flag that is checked between batches.

use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// A flag that is set when a signal arrives.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Catches the signals. A second signal ends the program at once, in case the first has no effect.
    pub fn catch() -> Interrupt {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // Registration fails only for forbidden signals, and these are not.
            let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, flag.clone());
            let _ = signal_hook::flag::register(signal, flag.clone());
        }
        Interrupt(flag)
    }

    /// Clears the flag.
    pub fn forget(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether a signal arrived.
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
