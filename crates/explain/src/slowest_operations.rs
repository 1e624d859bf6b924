//! The slowest operations of a recording, each with its complete account.

use life::Names;
use operation::{Account, History, Operation, OperationObserver};
use stats::SampledOperation;
use trace::Nanos;

/// Which operations are candidates, and how many are kept.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Whether operations of all kinds are candidates, or only those that an application waits for.
    pub any: bool,
    /// Maximal number of operations that are kept.
    pub number: usize,
}

/// The slowest operations so far.
#[derive(Debug, Default)]
pub struct SlowestOperations {
    choice: Choice,
    sampled: Vec<SampledOperation>,
    /// Number of candidates.
    pub seen: u64,
}

impl SlowestOperations {
    /// Starts empty.
    pub fn new(choice: Choice) -> SlowestOperations {
        SlowestOperations { choice, ..SlowestOperations::default() }
    }

    /// The slowest operations, the slowest first.
    pub fn all(&self) -> &[SampledOperation] {
        &self.sampled
    }

    fn asks_for(&self, o: &Operation) -> bool {
        o.is_storage && (self.choice.any || o.kind.is_foreground())
    }
}

impl OperationObserver for SlowestOperations {
    fn operation(&mut self, o: &Operation, account: Account, names: &Names, history: &History) {
        if !self.asks_for(o) {
            return;
        }
        self.seen += 1;
        let total = o.total();
        let least = self.sampled.last().map_or(Nanos(0), |k| k.operation.total());
        if self.sampled.len() >= self.choice.number && total <= least {
            return;
        }
        let at = self.sampled.partition_point(|k| k.operation.total() >= total);
        self.sampled.insert(at, SampledOperation::new(*o, account, names, history));
        self.sampled.truncate(self.choice.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use operation::Kind;
    use trace::{Call, DevId, Fs, Tid};

    fn asks_for(any: bool, kind: Kind, is_storage: bool) -> bool {
        let operation = Operation {
            kind,
            tid: Tid(7),
            process: None,
            task: Default::default(),
            from: Nanos(0),
            to: Nanos(1000),
            fd: None,
            fs: Fs::Ext4,
            dev: DevId::new(8, 0),
            inode: 12,
            told: false,
            result: 0,
            is_storage,
            still_out: None,
            begun_before: false,
        };
        SlowestOperations::new(Choice { any, number: 1 }).asks_for(&operation)
    }

    /// Reads of pipes and sockets are never slow I/O, whatever the choice.
    #[test]
    fn what_touches_no_storage_is_never_among_the_slowest() {
        let read = Kind::Call(Call::Read);
        assert!(asks_for(false, read, true) && asks_for(true, read, true));
        assert!(!asks_for(false, read, false) && !asks_for(true, read, false));
        let background =
            Kind::all().find(|kind| !kind.is_foreground()).expect("the kernel does some on its own");
        assert!(!asks_for(false, background, true) && asks_for(true, background, true));
    }
}
