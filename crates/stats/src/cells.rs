//! The finest groups of requests: device, operation, flags, size class and task. Every coarser table is a sum of
//! these, which is exact because distributions merge exactly.

use crate::note::Note;
use crate::phases::Phases;
use life::Op;
use rustc_hash::FxHashMap;
use serde::Serialize;
use trace::{Bytes, DevId, Flags};

/// A size class: the smallest power of two that is at least the size. `SizeClass(12)`: more than 2 KiB, at most 4 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct SizeClass(pub u8);

impl SizeClass {
    /// The class of a size.
    pub fn of(bytes: Bytes) -> SizeClass {
        SizeClass(if bytes.0 <= 1 { 0 } else { (64 - (bytes.0 - 1).leading_zeros()) as u8 })
    }

    /// The largest size in the class.
    pub fn upper(self) -> Bytes {
        Bytes(1u64.checked_shl(self.0 as u32).unwrap_or(u64::MAX))
    }
}

/// The key of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellKey {
    /// Device that served the requests.
    pub dev: DevId,
    /// Read, write, flush and so on.
    pub op: Op,
    /// Sync, meta, read-ahead, FUA and preflush flags.
    pub flags: Flags,
    /// Size class of the requests.
    pub size: SizeClass,
    /// Whether each request carried exactly one whole bio: then its phases are also those of the bio.
    pub whole: bool,
    /// Task that queued them: a number of [`Tasks`](crate::Tasks).
    pub task: u32,
}

impl CellKey {
    fn place(&self) -> usize {
        self.size.0 as usize % 16 + if self.op == Op::Read { 0 } else { 16 }
    }
}

/// The flags that distinguish groups.
pub const FLAG_SET: Flags =
    Flags(Flags::SYNC.0 | Flags::META.0 | Flags::AHEAD.0 | Flags::FUA.0 | Flags::FLUSH.0);

/// All groups, at most [`Cells::MAX`]. Further requests are merged by device and operation, and finally by operation
/// alone.
#[derive(Debug, Default)]
pub struct Cells {
    which: FxHashMap<CellKey, usize>,
    cells: Vec<(CellKey, Phases)>,
    /// The groups found last, indexed by size and operation: tasks alternate between several sizes.
    recent: [Option<(CellKey, usize)>; RECENT],
}

/// Size of this cache: sixteen sizes for reads, and sixteen for everything else.
const RECENT: usize = 32;

impl Cells {
    /// Largest number of groups, about 17 KB each when filled.
    pub const MAX: usize = 1024;

    /// The group of a request.
    #[inline]
    pub(crate) fn of(&mut self, n: &Note) -> &mut Phases {
        let key = CellKey {
            dev: n.dev,
            op: n.op,
            flags: Flags(n.flags.0 & FLAG_SET.0),
            size: SizeClass::of(n.bytes),
            whole: n.whole,
            task: n.task,
        };
        let at = match &self.recent[key.place()] {
            Some((recent, at)) if *recent == key => *at,
            _ => self.find(key),
        };
        &mut self.cells[at].1
    }

    #[inline(never)]
    fn find(&mut self, mut key: CellKey) -> usize {
        let asked = key;
        if self.cells.len() >= Self::MAX && !self.which.contains_key(&key) {
            key = CellKey { flags: Flags(0), size: SizeClass(0), task: crate::tasks::OTHERS, ..key };
            if self.cells.len() >= 2 * Self::MAX {
                key.dev = DevId(0);
            }
        }
        let cells = &mut self.cells;
        let at = *self.which.entry(key).or_insert_with(|| {
            cells.push((key, Phases::default()));
            cells.len() - 1
        });
        self.recent[asked.place()] = Some((asked, at));
        at
    }

    /// All groups.
    pub fn iter(&self) -> impl Iterator<Item = (&CellKey, &Phases)> {
        self.cells.iter().map(|(k, p)| (k, p))
    }

    /// Sums of groups for which `by` gives the same key; those for which it gives `None` are left out.
    pub fn sum<K: Ord>(&self, by: impl Fn(&CellKey) -> Option<K>) -> std::collections::BTreeMap<K, Phases> {
        let mut sums = std::collections::BTreeMap::new();
        for (key, phases) in &self.cells {
            if let Some(k) = by(key) {
                sums.entry(k).or_insert_with(Phases::default).merge(phases);
            }
        }
        sums
    }
}
