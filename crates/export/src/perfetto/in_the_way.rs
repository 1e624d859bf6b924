//! Arrows from interfering requests to delayed ones: if a request spent most of its time in the device behind another task's
//! requests, an arrow leads to it from the last of these that was completed meanwhile.

use super::packets::{Note, Packets, Track};
use life::{Holding, Names, Request, TaskName};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use trace::{DevId, Nanos};

/// Maximal number of holders, over all devices, that are remembered; a device distinguishes few holders at a time.
const MOST: usize = 4096;

/// The last request of each holder of a device: its track and the time of its completion.
#[derive(Debug, Default)]
pub(super) struct InTheWay {
    last: FxHashMap<(DevId, Holding), (Track, Nanos)>,
}

impl InTheWay {
    /// Remembers a request that was drawn on a track, and draws an arrow to it if it was behind another task's.
    pub fn drawn(&mut self, r: &Request, track: Track, names: &Names, packets: &mut Packets) {
        let done = r.time.data_completed.unwrap_or(r.time.completed);
        if let Some((waited, holding)) = behind(r, names) {
            let since = r.time.first_issued.unwrap_or(done);
            let other = self.last.get(&(r.dev, holding)).filter(|(_, completed)| *completed > since);
            if let Some((other, completed)) = other.copied().filter(|(_, completed)| *completed <= done) {
                let arrow = number(r, holding);
                // Both ends are within the slices, which end at these times.
                let [from, to] = [completed, done].map(|t| t.since(Nanos(1)));
                let whom = ("whom", Note::Text(names.text(r.task)));
                packets.instant(other, from, "in the way", arrow, &[whom]);
                let who = ("behind", Note::Text(names.text(holding.owner)));
                let time = ("time_ns", Note::Number(waited.0 as i64));
                packets.instant(track, to, "behind another task", arrow, &[who, time]);
            }
        }
        let holding = Holding::of(r);
        if self.last.len() < MOST || self.last.contains_key(&(r.dev, holding)) {
            self.last.insert((r.dev, holding), (track, done));
        }
    }
}

/// The task behind whose requests a request spent most of its time in the device, and that time; `None` if there is no such task.
fn behind(r: &Request, names: &Names) -> Option<(Nanos, Holding)> {
    let d2c = r.time.d2c()?;
    let most = r.contention.split.behind[0];
    let holding = names.holding(most.holder).filter(|h| is_another(h, r.task))?;
    (most.time.0 > d2c.0 / 2).then_some((most.time, *holding))
}

fn is_another(holding: &Holding, task: TaskName) -> bool {
    holding.task != task && holding.owner != task
}

/// The id of an arrow, a hash that is never 0.
fn number(r: &Request, holding: Holding) -> u64 {
    let mut hash = FxHasher::default();
    (r.dev.0, r.start.0, r.time.completed.0, holding).hash(&mut hash);
    hash.finish().max(1)
}
