//! A condition: everything about a run that is chosen, drawn from a seed and written down before anything is recorded.
//!
//! Invariant: a condition says all that a run needs; a run with one thing taken away is another condition ([`Condition::without`]).

use super::catalogue::{Catalogue, Neighbour, Setting};
use super::chance::Chance;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is set up, who runs, and how it is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    pub name: String,
    pub seed: u64,
    pub workload: String,
    pub clients: u32,
    /// The class, and slowdisk's options.
    pub disk: String,
    pub options: BTreeMap<String, u64>,
    pub fs: String,
    pub mount: String,
    pub settings: Vec<String>,
    pub neighbours: Vec<String>,
    /// Those of them that have a disk of the same kind to themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<String>,
    /// Seconds after the load's beginning at which neighbours begin; before it where negative.
    pub neighbours_begin: f64,
    /// Whether wbt is on (its usual 2 ms).
    pub wbt: bool,
    pub recorded: Recorded,
}

/// How it is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// From before the load to its end (`before`), from the middle on (`middle`), or from before it and cut off (`cut`).
    pub when: String,
    /// `iowhy record --detail path` or `block`, or `trace-cmd`, or `blktrace`.
    pub detail: String,
    /// Only the disk, or all of the machine.
    pub whole_machine: bool,
}

impl Recorded {
    /// In a virtual machine, whose kernel lets blktrace record: there that is what records requests alone. It knows only the disk.
    pub fn in_a_machine(&mut self) {
        if self.only_blocks() {
            self.detail = "blktrace".into();
            self.whole_machine = false;
        }
    }

    /// Whether it has nothing but requests: kernel threads may stand for who waits.
    pub fn only_blocks(&self) -> bool {
        self.detail == "block" || self.detail == "blktrace"
    }
}

/// Something that can be taken away.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Thing {
    Neighbour(String),
    /// All of them: two may each be enough to be in the way.
    Neighbours,
    /// Their use of the application's disk: they have one to themselves, and take as much of the processors.
    Sharing,
    Setting(String),
    /// A part of the disk: the flush's price, the cap, the stalls.
    Part(String),
    Wbt,
    /// All clients but one.
    Depth,
    /// The whole disk.
    Disk,
    /// All of that together: where only this helps, each of several is enough alone.
    Everything,
}

impl std::fmt::Display for Thing {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Thing::Neighbour(n) => write!(f, "neighbour {n}"),
            Thing::Neighbours => write!(f, "all neighbours"),
            Thing::Sharing => write!(f, "sharing the disk"),
            Thing::Setting(s) => write!(f, "setting {s}"),
            Thing::Part(p) => write!(f, "the disk's {p}"),
            Thing::Wbt => write!(f, "wbt"),
            Thing::Depth => write!(f, "depth"),
            Thing::Everything => write!(f, "everything"),
            Thing::Disk => write!(f, "the disk"),
        }
    }
}

/// How many neighbours, how many settings: by weight of 0, 1, 2, 3.
const NEIGHBOURS: [u32; 4] = [9, 8, 3, 2];
const SETTINGS: [u32; 3] = [10, 8, 2];

/// Draws by weight from a map.
fn draw<'a, T>(
    chance: &mut Chance,
    of: &'a BTreeMap<String, T>,
    weight: impl Fn(&T) -> u32,
) -> (&'a String, &'a T) {
    let weights: Vec<u32> = of.values().map(weight).collect();
    let (name, value) = of.iter().nth(chance.weighted(&weights)).expect("weights come from the map");
    (name, value)
}

impl Condition {
    /// The condition of a number in a seed's draw.
    pub fn drawn(catalogue: &Catalogue, seed: u64, number: u64) -> Condition {
        let mut chance = Chance::new(seed, number);
        let c = &mut chance;
        let (workload, w) = draw(c, &catalogue.workload, |w| w.weight);
        let clients = *c.one_of(&w.clients);
        let (disk, d) = draw(c, &catalogue.disk, |d| d.weight);
        let range = |r: &Vec<u64>, c: &mut Chance| c.between(r[0], r[r.len() - 1]);
        let options = d.options.iter().map(|(name, r)| (name.clone(), range(r, c))).collect();
        let (fs, f) = draw(c, &catalogue.fs, |f| f.weight);
        let mount = c.one_of(&f.mount).clone();
        let fits = |s: &Setting| match s.kinds.is_empty() || s.kinds.contains(&w.kind) {
            true => s.weight,
            false => 0,
        };
        let beside = |n: &Neighbour| match n.apps.is_empty() || n.apps.contains(&w.app) {
            true => n.weight,
            false => 0,
        };
        let mut settings: Vec<String> = Vec::new();
        for _ in 0..c.weighted(&SETTINGS) {
            settings.push(draw(c, &catalogue.setting, fits).0.clone());
        }
        let mut neighbours: Vec<String> = Vec::new();
        for _ in 0..c.weighted(&NEIGHBOURS) {
            neighbours.push(draw(c, &catalogue.neighbour, beside).0.clone());
        }
        for list in [&mut settings, &mut neighbours] {
            list.sort();
            list.dedup();
        }
        let recorded = Recorded {
            when: ["before", "middle", "cut"][c.weighted(&[4, 3, 3])].to_string(),
            detail: ["path", "block", "trace-cmd"][c.weighted(&[6, 1, 1])].to_string(),
            whole_machine: c.share() < 0.5,
        };
        Condition {
            name: format!("{number:02}-{workload}"),
            seed,
            workload: workload.clone(),
            clients,
            disk: disk.clone(),
            options,
            fs: fs.clone(),
            mount,
            settings,
            neighbours,
            moved: vec![],
            neighbours_begin: [-0.5, 0.3, 1.0][c.weighted(&[2, 1, 1])],
            wbt: c.share() < 0.7,
            recorded,
        }
    }

    /// How long, in microseconds, each of so many operations takes in a run that ends as its neighbours begin; nothing where these come first.
    pub fn over_before_neighbours(&self, operations: u64) -> Option<f64> {
        let late = !self.neighbours.is_empty() && self.neighbours_begin > 0.0;
        late.then(|| self.neighbours_begin * 1e6 * f64::from(self.clients) / operations.max(1) as f64)
    }

    /// Everything that can be taken away, the whole disk left for the end.
    pub fn things(&self, catalogue: &Catalogue) -> Vec<Thing> {
        let mut things: Vec<Thing> = self.neighbours.iter().cloned().map(Thing::Neighbour).collect();
        things.extend(self.settings.iter().cloned().map(Thing::Setting));
        let there =
            catalogue.part.iter().filter(|(_, p)| self.options.get(&p.option).is_some_and(|n| *n >= p.above));
        things.extend(there.map(|(name, _)| Thing::Part(name.clone())));
        let writes = catalogue.workload[&self.workload].kind != "read" || !self.neighbours.is_empty();
        if self.wbt && writes && !self.settings.iter().any(|s| s == "wbt") {
            things.push(Thing::Wbt);
        }
        if self.clients > 1 {
            things.push(Thing::Depth);
        }
        things
    }

    /// The same without it.
    pub fn without(&self, thing: &Thing, catalogue: &Catalogue) -> Condition {
        let mut c = self.clone();
        match thing {
            Thing::Neighbour(n) => c.neighbours.retain(|x| x != n),
            Thing::Neighbours => c.neighbours.clear(),
            Thing::Sharing => c.moved = self.movable(catalogue),
            // What a setting replaces is the usual: for wbt its being off, the mechanism's absence.
            Thing::Setting(s) => c.settings.retain(|x| x != s),
            Thing::Part(p) => drop(c.options.remove(&catalogue.part[p].option)),
            Thing::Wbt => c.wbt = false,
            Thing::Depth => c.clients = 1,
            Thing::Everything => return self.with_only(None, catalogue),
            Thing::Disk => {
                for (name, n) in &mut c.options {
                    *n = if name.ends_with("-us") { *n / 10 } else { *n };
                }
                c.options.insert("channels".into(), 32);
                c.options.remove("mbps");
            }
        }
        if thing == &Thing::Setting("wbt".into()) {
            c.wbt = false;
        }
        c
    }

    /// Neighbours that can work on another disk: all but the application's own tasks.
    pub fn movable(&self, catalogue: &Catalogue) -> Vec<String> {
        let is_apart = |n: &&String| catalogue.neighbour[*n].apps.is_empty();
        self.neighbours.iter().filter(is_apart).cloned().collect()
    }

    /// Whether it helps and is still nothing that a disk should be blamed for.
    pub fn is_cheap(&self, thing: &Thing, catalogue: &Catalogue) -> bool {
        let Thing::Part(name) = thing else { return false };
        let part = &catalogue.part[name];
        self.options.get(&part.option).is_some_and(|n| *n < part.dear)
    }

    /// The same without everything but one; the application's own depth stays.
    pub fn with_only(&self, one: Option<&Thing>, catalogue: &Catalogue) -> Condition {
        let all = self.things(catalogue).into_iter().chain(self.exchangeable(catalogue));
        all.filter(|t| Some(t) != one && *t != Thing::Depth)
            .fold(self.clone(), |c, thing| c.without(&thing, catalogue))
    }

    /// The whole disk, where somebody would exchange it.
    pub fn exchangeable(&self, catalogue: &Catalogue) -> Option<Thing> {
        (!catalogue.disk[&self.disk].good).then_some(Thing::Disk)
    }

    /// What stands for it.
    pub fn causes(&self, thing: &Thing, catalogue: &Catalogue) -> Vec<String> {
        let mut causes = match thing {
            Thing::Neighbour(n) => catalogue.neighbour[n].causes.clone(),
            Thing::Neighbours => {
                self.neighbours.iter().flat_map(|n| catalogue.neighbour[n].causes.clone()).collect()
            }
            Thing::Setting(s) => catalogue.setting[s].causes.clone(),
            Thing::Part(p) => catalogue.part[p].causes.clone(),
            Thing::Wbt => vec!["writeback-throttle".into()],
            Thing::Depth => catalogue.depth.causes.clone(),
            Thing::Everything | Thing::Sharing => vec![],
            Thing::Disk => {
                let workload = &catalogue.workload[&self.workload];
                [&catalogue.exchanged[&workload.kind], &workload.disk]
                    .into_iter()
                    .flatten()
                    .cloned()
                    .collect()
            }
        };
        // On XFS a sync is a force of the log: the flush is in it.
        if self.fs == "xfs" && thing == &Thing::Part("flush".into()) {
            causes.push("log-force".into());
        }
        causes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_virtual_machine_only_what_makes_sense_there_is_drawn() {
        let mut catalogue = Catalogue::read().unwrap();
        catalogue.keep_for_machine();
        for number in 0..100 {
            let c = Condition::drawn(&catalogue, 5, number);
            assert!(catalogue.machine.workloads.contains(&c.workload), "{}", c.workload);
            assert!(catalogue.disk.contains_key(&c.disk), "{}", c.disk);
            for thing in c.things(&catalogue) {
                assert!(!c.causes(&thing, &catalogue).is_empty(), "{thing}");
            }
        }
    }

    #[test]
    fn a_draw_is_repeated_exactly_and_every_thing_of_it_can_be_taken_away() {
        let catalogue = Catalogue::read().unwrap();
        for number in 0..100 {
            let c = Condition::drawn(&catalogue, 5, number);
            assert_eq!(c, Condition::drawn(&catalogue, 5, number));
            for thing in c.things(&catalogue) {
                assert_ne!(c.without(&thing, &catalogue), c, "{thing}");
                assert!(!c.causes(&thing, &catalogue).is_empty(), "{thing}");
            }
        }
    }
}
