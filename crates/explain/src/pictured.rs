//! Decides which kinds of operations and requests are drawn, in which order and under which names: the same on the page and in still
//! pictures.

use crate::explanation::Explanation;
use crate::places::Places;
use life::Class;
use stats::{class_words, Columns, Group, Moment, OpKey, Pictures};
use trace::{DevId, Nanos};

/// The subject of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Operations of one kind: system calls, or work of the kernel itself.
    Operations(OpKey),
    /// Requests of a device, by class.
    Requests(DevId, Class),
}

/// A kind of operations or requests that is drawn.
pub struct Pictured<'a> {
    /// The operations or requests.
    pub of: Of,
    /// Its name. Examples: `fsyncs on /mnt (ext4, vda)`, `vda reads`.
    pub name: String,
    /// What ended in each moment.
    pub columns: &'a Columns<Moment>,
    /// Its group in the focus, if a task waits for it.
    pub group: Option<&'a Group>,
    /// Whether the group's tail is a visible part of all tails' time ([`Explanation::matters`]).
    pub matters: bool,
}

impl Pictured<'_> {
    /// The latency from which on an operation belongs to the slowest.
    pub fn tail(&self) -> Option<Nanos> {
        self.group.map(|g| g.tail.threshold)
    }
}

/// Names in a recording, and its beginning.
pub fn places(e: &Explanation) -> Places {
    let began = e.facts.flow.span.map_or(Nanos(0), |s| s.0);
    Places {
        names: e.subject.file_names.clone(),
        system: e.subject.system.clone(),
        began,
        freed: e.facts.operations.freed.clone(),
    }
}

/// All selected devices with I/O: those at the top of a stack first, then those below; each by number of I/Os.
pub fn devices(e: &Explanation) -> Vec<DevId> {
    let mut all: Vec<_> = e.facts.devices.iter().filter(|d| d.has_io() && e.asks_about(d.id)).collect();
    let done = |d: &stats::Device| Class::ALL.iter().map(|c| d.phases(*c).count).sum::<u64>();
    all.sort_by_key(|d| (d.upper.is_some(), std::cmp::Reverse(done(d))));
    all.into_iter().map(|d| d.id).collect()
}

/// Kinds of operations with a known device or file system, those with the most time first.
pub fn kinds(e: &Explanation) -> Vec<OpKey> {
    let known = |k: &OpKey| k.dev != DevId(0) || k.fs != trace::Fs::Unknown;
    let mut all: Vec<_> = e.facts.operations.groups.iter().filter(|(k, _)| known(k)).collect();
    all.sort_by_key(|(_, s)| std::cmp::Reverse(s.latency.sum()));
    all.into_iter().map(|(k, _)| *k).collect()
}

/// Example: `fsyncs on /mnt (ext4, vda)`.
pub fn kind_name(at: &Places, key: &OpKey) -> String {
    let on = at.of(key.fs, key.dev).map_or(String::new(), |on| format!(" on {on}"));
    format!("{}{on}", key.kind.plural())
}

/// The kinds and devices that have pictures: operations first, then the requests of each device by class.
pub fn pictured<'a>(
    e: &'a Explanation,
    pictures: &'a Pictures,
    at: &Places,
    kinds: &[OpKey],
    devices: &[DevId],
) -> Vec<Pictured<'a>> {
    let mut all = vec![];
    let matter = |g: Option<&Group>| g.is_some_and(|g| e.matters(g));
    for key in kinds {
        let Some(columns) = pictures.operations.get(key) else { continue };
        let group = e.focus.groups.iter().find(|g| g.op == Some(*key));
        let (of, name) = (Of::Operations(*key), kind_name(at, key));
        all.push(Pictured { of, name, columns, group, matters: matter(group) });
    }
    for dev in devices {
        let Some(pictures) = pictures.devices.get(dev) else { continue };
        for class in Class::ALL {
            let columns = &pictures.classes[class.index()];
            if columns.is_empty() {
                continue;
            }
            let is = |g: &&Group| g.op.is_none() && g.dev == *dev && g.class == class;
            let group = e.focus.groups.iter().find(is);
            let (of, name) = (Of::Requests(*dev, class), format!("{} {}", e.name(*dev), class_words(class)));
            all.push(Pictured { of, name, columns, group, matters: matter(group) });
        }
    }
    all
}

/// The indexes of at most `most` pictures to show first: those whose tail matters, then those of the first device. Pictures of fewer than
/// 10 operations are left out, unless their tail matters or there is nothing else.
pub fn first_looked_at(all: &[Pictured], most: usize) -> Vec<usize> {
    let first = all.iter().find_map(|p| match p.of {
        Of::Requests(dev, _) => Some(dev),
        Of::Operations(_) => None,
    });
    let rank = |p: &Pictured| match p.of {
        _ if p.matters => 0,
        Of::Requests(dev, _) if Some(dev) == first => 1,
        _ => 2,
    };
    let few = |p: &Pictured| p.columns.iter().map(|(_, m)| m.completed).sum::<u64>() < WORTH_A_MAP;
    let mut order: Vec<(u32, bool, usize)> =
        all.iter().enumerate().map(|(i, p)| (rank(p), few(p), i)).filter(|o| o.0 < 2).collect();
    order.sort_unstable();
    let worth = order.iter().enumerate().filter(|(place, (rank, few, _))| *place == 0 || *rank == 0 || !few);
    worth.map(|(_, o)| o.2).take(most).collect()
}

/// Fewer operations than this make no useful picture.
const WORTH_A_MAP: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::Texts;
    use operation::Kind;
    use stats::OpStats;
    use trace::{Call, Fs};

    /// The pictures that are shown first. `all`: subject, number of operations, whether the tail matters.
    fn first(all: &[(Of, u64, bool)]) -> Vec<usize> {
        let columns: Vec<Columns<Moment>> = all
            .iter()
            .map(|(_, completed, _)| {
                let mut columns = Columns::default();
                let moment: &mut Moment = columns.at(Nanos(0));
                moment.completed = *completed;
                columns
            })
            .collect();
        let pictured = all.iter().zip(&columns).map(|((of, _, matters), columns)| Pictured {
            of: *of,
            name: String::new(),
            columns,
            group: None,
            matters: *matters,
        });
        first_looked_at(&pictured.collect::<Vec<_>>(), 3)
    }

    #[test]
    fn what_is_asked_about_comes_first_then_the_first_device() {
        let [sda, sdb] = [DevId::new(8, 0), DevId::new(8, 16)];
        let reads = |dev| Of::Requests(dev, Class::Read);
        let fsyncs = Of::Operations(OpKey { kind: Kind::Call(Call::Fsync), fs: Fs::Ext4, dev: sda });
        // Kinds that matter to nobody are shown for the first device only.
        assert_eq!(first(&[(fsyncs, 100, false), (reads(sda), 100, false), (reads(sdb), 100, false)]), [1]);
        assert_eq!(
            first(&[(fsyncs, 100, true), (reads(sda), 100, false), (reads(sdb), 100, true)]),
            [0, 2, 1]
        );
        // Few operations make no picture, unless a task waits for them or there is nothing else.
        let writes = Of::Requests(sda, Class::SyncWrite);
        assert_eq!(first(&[(reads(sda), 100, false), (writes, 9, false)]), [0]);
        assert_eq!(first(&[(reads(sda), 100, false), (writes, 9, true)]), [1, 0]);
        assert_eq!(first(&[(reads(sda), 9, false)]), [0]);
    }

    /// Operations on a pipe or a socket have neither.
    #[test]
    fn operations_are_drawn_where_their_device_or_their_file_system_is_known() {
        let mut e = Explanation::of_texts(Texts::default());
        let kind = Kind::Call(Call::Read);
        let [none, sda] = [DevId(0), DevId::new(8, 0)];
        for (fs, dev) in [(Fs::Unknown, none), (Fs::Unknown, sda), (Fs::Ext4, none), (Fs::Ext4, sda)] {
            e.facts.operations.groups.insert(OpKey { kind, fs, dev }, OpStats::default());
        }
        let mut drawn: Vec<(Fs, DevId)> = kinds(&e).iter().map(|key| (key.fs, key.dev)).collect();
        drawn.sort();
        assert_eq!(drawn, [(Fs::Unknown, sda), (Fs::Ext4, none), (Fs::Ext4, sda)]);
    }
}
