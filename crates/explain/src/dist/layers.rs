//! The same operations at each layer: the system call, its bios, their requests. The counts show what the times alone do not: how many
//! operations never reached the layer below, and how much I/O no operation waited for.

use super::{Dist, Ranked, Times, Where};
use life::Class;
use operation::Kind;
use stats::Distribution;
use std::collections::{BTreeMap, BTreeSet};
use trace::{Call, DevId};

/// Groups of operations with the same kind of I/O below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Reads, also by page faults, io_uring and AIO.
    Reads,
    /// Writes, also by io_uring and AIO.
    Writes,
    /// Operations that make data durable, such as fsync.
    Syncs,
}

impl Family {
    /// All families, in the order of the table.
    pub const ALL: [Family; 3] = [Family::Reads, Family::Writes, Family::Syncs];

    /// The family of a kind of operation; `None` for kinds such as `open`.
    pub fn of(kind: Kind) -> Option<Family> {
        Some(match kind {
            Kind::Call(Call::Read | Call::Getdents | Call::Sendfile)
            | Kind::PageFault
            | Kind::RingRead
            | Kind::AioRead => Family::Reads,
            Kind::Call(Call::Write | Call::CopyFileRange) | Kind::RingWrite | Kind::AioWrite => {
                Family::Writes
            }
            Kind::Call(call) if call.is_sync() => Family::Syncs,
            Kind::RingSync => Family::Syncs,
            _ => return None,
        })
    }

    /// The name in the table: `reads`, `writes`, `syncs`.
    pub fn words(self) -> &'static str {
        match self {
            Family::Reads => "reads",
            Family::Writes => "writes",
            Family::Syncs => "syncs",
        }
    }

    /// The classes of I/O that these operations send to the layer below.
    fn classes(self) -> &'static [Class] {
        match self {
            Family::Reads => &[Class::Read],
            Family::Writes => &[Class::SyncWrite, Class::Background],
            Family::Syncs => &[Class::Flush],
        }
    }
}

/// A row of the table: one family at one layer.
#[derive(Clone, Debug)]
pub struct Layer {
    /// `operation`, `bio` or `request`.
    pub layer: &'static str,
    /// The family of operations.
    pub family: Family,
    /// The operations' names, or what is measured. Example: `read bios, queued to completed (Q2C)`.
    pub words: String,
    /// The distribution of the times, in nanoseconds.
    pub times: Distribution,
    /// Number of operations that waited for no I/O; 0 for bios and requests.
    pub without_io: u64,
}

impl Dist {
    /// The rows of a file system; empty if its device is unknown.
    pub fn layers(&self, place: Where, kinds: &BTreeMap<Ranked, Times>) -> Vec<Layer> {
        let mut rows = Vec::new();
        // Without a known device the layers below are unknown.
        if place.1 == DevId(0) {
            return rows;
        }
        for family in Family::ALL {
            let of = |k: &&Ranked| Family::of(k.1) == Some(family);
            let names: Vec<&str> = kinds.keys().filter(of).map(|k| k.1.name()).collect();
            let mut all = Layer {
                layer: "operation",
                family,
                words: names.join(", "),
                times: Distribution::new(),
                without_io: 0,
            };
            for times in kinds.iter().filter(|(k, _)| of(k)).map(|(_, t)| t) {
                all.times.merge(&times.latency);
                all.without_io += times.without_io;
            }
            if all.times.is_empty() {
                continue;
            }
            rows.push(all);
            let below = [
                ("bio", "bios, queued to completed (Q2C)", &self.bios),
                ("request", "requests, in the device (D2C)", &self.requests),
            ];
            for (layer, words, from) in below {
                let times = self.below(place, family, from);
                let what = match family {
                    Family::Reads => "read",
                    Family::Writes => "write",
                    Family::Syncs => "flush",
                };
                if !times.is_empty() {
                    rows.push(Layer {
                        layer,
                        family,
                        words: format!("{what} {words}"),
                        times,
                        without_io: 0,
                    });
                }
            }
        }
        rows
    }

    /// The times on the file system's own device, if there are any; else on the devices below it; else on the devices that its operations
    /// waited for (btrfs, whose device is no block device).
    fn below(
        &self,
        place: Where,
        family: Family,
        from: &BTreeMap<(DevId, Class), Distribution>,
    ) -> Distribution {
        let own = BTreeSet::from([place.1]);
        let lower: BTreeSet<DevId> =
            self.stacked.iter().filter(|(_, upper)| *upper == place.1).map(|(lower, _)| *lower).collect();
        let waited = self.waited_for.get(&place).cloned().unwrap_or_default();
        let has_any = |devices: &BTreeSet<DevId>| from.keys().any(|(dev, _)| devices.contains(dev));
        let mut all = Distribution::new();
        let Some(devices) = [own, lower, waited].into_iter().find(has_any) else { return all };
        for ((dev, class), times) in from {
            if devices.contains(dev) && family.classes().contains(class) {
                all.merge(times);
            }
        }
        all
    }
}
