//! What [`IoTracker`] makes of a script, and how tests look at it: as small tables.

use crate::binary::Layout;
use crate::script::Script;
use life::{
    Bio, BioNumber, ByClass, IoObserver, IoTracker, Lower, Names, Op, Plug, Request, Tally, Timeline,
    Unclaimed,
};
use std::path::Path;
use trace::{Batch, Bytes, DevId, Nanos, Sector};

/// Everything that the tracker passed on, in order, and the tally.
#[derive(Debug, Default, PartialEq)]
pub struct Observed {
    /// Completed requests.
    pub requests: Vec<Request>,
    /// Completed bios.
    pub bios: Vec<Bio>,
    /// Plugs that ended.
    pub plugs: Vec<Plug>,
    /// Number of requests in a device, each time it changed.
    pub depths: Vec<(DevId, Nanos, u64)>,
    /// Task names of [`Observed::requests`].
    pub tasks: Vec<String>,
    /// Orphans whose parent was found after they had completed: child, parent.
    pub adopted: Vec<(BioNumber, BioNumber)>,
    /// Reads of stacked devices whose parent was not found.
    pub unclaimed: Vec<(DevId, Unclaimed)>,
    /// Counts at the end of the recording.
    pub tally: Tally,
    /// Largest number of pieces and bios in flight at once.
    pub most_in_flight: usize,
}

impl IoObserver for Observed {
    fn request(&mut self, request: &Request, names: &Names) {
        self.tasks.push(names.text(request.task).to_string());
        self.requests.push(*request);
    }
    fn bio(&mut self, bio: &Bio, _: &Names) {
        self.bios.push(bio.clone());
    }
    fn adopted(&mut self, child: BioNumber, parent: BioNumber) {
        self.adopted.push((child, parent));
    }
    fn plug(&mut self, plug: &Plug, _: &Names) {
        self.plugs.push(*plug);
    }
    fn in_flight(&mut self, dev: DevId, now: Nanos, in_flight: &ByClass<u32>) {
        self.depths.push((dev, now, in_flight.iter().map(|n| *n as u64).sum()));
    }
}

/// Feeds a script to the tracker.
pub fn observed(script: &Script) -> Observed {
    observed_in_batches(script, Batch::EVENTS)
}

/// Reads a script from its lines and feeds it to the tracker.
pub fn heard_of(lines: &str) -> Observed {
    observed(&Script::of(lines))
}

/// Feeds a script in batches of `size` events.
pub fn observed_in_batches(script: &Script, size: usize) -> Observed {
    let mut tracker = IoTracker::default();
    let mut observed = Observed::default();
    for batch in script.batches(size) {
        tracker.feed(&batch, &mut observed);
        observed.most_in_flight = observed.most_in_flight.max(tracker.in_flight());
    }
    observed.unclaimed = tracker.unclaimed().collect();
    observed.tally = tracker.finish();
    observed
}

/// Writes a script as blktrace files, opens them like a user's recording, and feeds the events to the tracker.
pub fn observed_from_files(script: &Script, layout: Layout) -> Observed {
    let folder = tempfile::tempdir().expect("a folder");
    script.files(folder.path(), layout);
    observed_from(folder.path())
}

/// Feeds a recorded file or folder to the tracker.
pub fn observed_from(path: &Path) -> Observed {
    let mut source = trace::open(path).unwrap_or_else(|e| panic!("{e}")).source;
    let mut tracker = IoTracker::default();
    let mut observed = Observed::default();
    let mut batch = Batch::default();
    while source.fill(&mut batch).unwrap_or_else(|e| panic!("{e}")) {
        tracker.feed(&batch, &mut observed);
        observed.most_in_flight = observed.most_in_flight.max(tracker.in_flight());
    }
    observed.unclaimed = tracker.unclaimed().collect();
    observed.tally = tracker.finish();
    observed
}

/// What columns can show: the fields that requests and bios have in common.
struct Row<'a> {
    dev: DevId,
    op: Op,
    start: Sector,
    bytes: Bytes,
    tid: u32,
    time: &'a Timeline,
    own: &'a dyn Fn(&str) -> String,
}

impl Observed {
    /// The requests, one per line, with the named columns: `op at dev tid`, timestamps and phases in microseconds
    /// (`q g i d c`, `q2g g2i i2d d2c q2c`, `requeued`, `preflush`, `postflush` as from-to), `bios`, `merges`,
    /// `split`, `completions`, `requeues`, `error`. What was not seen is a `-`.
    pub fn requests(&self, columns: &str) -> String {
        let line = |r: &Request| {
            let own = |name: &str| match name {
                "bios" => r.bios.to_string(),
                "merges" => r.merges.to_string(),
                "split" => r.split.to_string(),
                "completions" => r.completions.to_string(),
                "error" => r.error.to_string(),
                _ => panic!("requests have no column {name:?}"),
            };
            let row = Row {
                dev: r.dev,
                op: r.op,
                start: r.start,
                bytes: r.bytes,
                tid: r.tid.0,
                time: &r.time,
                own: &own,
            };
            row.show(columns)
        };
        self.requests.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// The bios, one per line, with columns as in [`Observed::requests`], and `pieces`, `merged`, `awaited`, `child`, `children` and
    /// `lower` (its steps below, each with its end).
    pub fn bios(&self, columns: &str) -> String {
        let line = |b: &Bio| {
            let own = |name: &str| match name {
                "pieces" => b.pieces.to_string(),
                "merged" => b.merged.to_string(),
                "awaited" => b.awaited.to_string(),
                "child" => b.is_child().to_string(),
                "children" => b.lower.as_ref().map_or("-".into(), |l| l.children.to_string()),
                "lower" => b.lower.as_ref().map_or("-".into(), steps),
                _ => panic!("bios have no column {name:?}"),
            };
            let row = Row {
                dev: b.dev,
                op: b.op,
                start: b.start,
                bytes: b.bytes,
                tid: b.tid.0,
                time: &b.time,
                own: &own,
            };
            row.show(columns)
        };
        self.bios.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// `OP PHASE N MIN P50 P99 MAX` of the requests, one line per operation and phase of `phases`, in microseconds.
    pub fn summary(&self, phases: &str) -> String {
        let mut lines = Vec::new();
        for op in Op::ALL {
            for phase in phases.split_whitespace() {
                let of = self.requests.iter().filter(|r| r.op == op);
                let mut times: Vec<Nanos> = of.filter_map(|r| span(&r.time, phase)).collect();
                times.sort();
                let at = |share: f64| micros(times[((times.len() - 1) as f64 * share).round() as usize]);
                if !times.is_empty() {
                    let [min, p50, p99, max] = [at(0.0), at(0.5), at(0.99), at(1.0)];
                    lines.push(format!("{} {phase} {} {min} {p50} {p99} {max}", op.name(), times.len()));
                }
            }
        }
        lines.join("\n")
    }
}

impl Row<'_> {
    fn show(&self, columns: &str) -> String {
        columns.split_whitespace().map(|c| self.cell(c)).collect::<Vec<_>>().join(" ")
    }

    fn cell(&self, column: &str) -> String {
        let t = self.time;
        let stamp = |s: Option<Nanos>| s.map_or("-".into(), micros);
        let flush = |f: Option<life::FlushWait>| {
            f.map_or("-".into(), |f| format!("{}-{}", micros(f.issued), micros(f.completed)))
        };
        match column {
            "op" => self.op.name().into(),
            "at" => format!("{}+{}", self.start.0, self.bytes.sectors()),
            "dev" => self.dev.to_string(),
            "tid" => self.tid.to_string(),
            "q" => stamp(t.queued),
            "g" => stamp(t.got),
            "i" => stamp(t.inserted),
            "d" => stamp(t.issued),
            "c" => micros(t.completed),
            "requeues" => t.requeues.to_string(),
            "requeued" => micros(t.requeued),
            "preflush" => flush(t.preflush),
            "postflush" => flush(t.postflush),
            "q2g" | "g2i" | "i2d" | "d2c" | "q2c" => stamp(span(t, column)),
            _ => (self.own)(column),
        }
    }
}

fn span(t: &Timeline, phase: &str) -> Option<Nanos> {
    match phase {
        "q2g" => t.q2g(),
        "g2i" => t.g2i(),
        "i2d" => t.i2d(),
        "d2c" => t.d2c(),
        "q2c" => t.q2c(),
        _ => panic!("no phase {phase:?}"),
    }
}

fn micros(t: Nanos) -> String {
    format!("{}", t.0 as f64 / 1e3)
}

fn steps(l: &Lower) -> String {
    let step = |s: &life::Step| format!("{:?}-{}", s.busy, micros(s.until)).to_lowercase();
    l.steps.iter().map(step).collect::<Vec<_>>().join(",")
}
