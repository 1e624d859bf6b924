//! Recordings whose truth is known from how they were made: who waited, in what, for what, because of whom, and for how much of
//! the lost time. The table of waits has to have that chain. Set `CAPTURES` to the folder that holds the recordings.
//!
//! The truths are those of the runs (what was started, what the disk was set to, what the application measured itself), not what a
//! program said of the recording.

use explain::Input;
use ledger::Reason;
use life::Op;
use std::path::PathBuf;
use trace::DevId;
use waits::{Chain, Culprit, CulpritKind, Link, Phase, Row, Selection, Sums, Table, Victim, VictimId};

/// Which operations of a victim are asked about, and which of their time.
#[derive(Clone, Copy, Debug)]
enum Of {
    /// All of it.
    Time,
    /// What was lost.
    Lost,
    /// What the slowest one in a hundred lost.
    SlowestLost,
}

/// The culprit.
#[derive(Clone, Copy, Debug)]
enum Because {
    /// Whoever it is.
    Anybody,
    /// The victim's own process.
    Itself,
    /// The device, or a limit on it.
    Device,
    /// One of these tasks, or data of theirs.
    Task(&'static [&'static str]),
}

/// A chain that must be there.
struct Truth {
    recording: &'static str,
    victim: &'static str,
    asked: &'static [&'static str],
    of: Of,
    /// What is in the chain, in words, and how it is known.
    chain: (&'static str, fn(&Chain) -> bool),
    because: Because,
    /// At least this part.
    share: f64,
}

fn ends(chain: &Chain, phases: &[Phase]) -> bool {
    matches!(chain.last(), Some(Link::Phase(phase)) if phases.contains(phase))
}

fn flush(chain: &Chain) -> bool {
    ends(chain, &[Phase::Flush])
}

fn behind(chain: &Chain) -> bool {
    ends(chain, &[Phase::Behind])
}

/// A disk that lets operations in one after another, each a while after the last: nothing is completed meanwhile, or what
/// is there alone takes longer than when the disk had rested.
fn paced(chain: &Chain) -> bool {
    ends(chain, &[Phase::Paused, Phase::Slow, Phase::Flush])
}

fn tags(chain: &Chain) -> bool {
    ends(chain, &[Phase::NoTag, Phase::Reason(Reason::GetRequest)])
}

fn read_alone(chain: &Chain) -> bool {
    let read = chain.iter().any(|l| matches!(l, Link::Request(Op::Read, ..)));
    read && ends(chain, &[Phase::Service, Phase::Varies, Phase::Slow, Phase::Paused])
}

fn pieces_or_tags(chain: &Chain) -> bool {
    chain.iter().any(|l| matches!(l, Link::Request(Op::Read, true, _))) || tags(chain)
}

const READS: &[&str] = &["reads"];
const SYNCS: &[&str] = &["fdatasyncs"];

const TRUTHS: &[Truth] = &[
    // Eight clients commit, a flush takes 6 ms of the 6.9 that half of the fdatasyncs take.
    Truth {
        recording: "pg-commits",
        victim: "postgres",
        asked: SYNCS,
        of: Of::Lost,
        chain: ("a flush", flush),
        because: Because::Device,
        share: 0.8,
    },
    // Measured: 5.2 of 6.0 s of the slowest reads.
    Truth {
        recording: "pg-readers-vs-copy",
        victim: "postgres",
        asked: READS,
        of: Of::SlowestLost,
        chain: ("behind others in the device", behind),
        because: Because::Task(&["sync", "cp"]),
        share: 0.75,
    },
    // 250 operations a second are let in, 4 ms apart.
    Truth {
        recording: "maria-capped",
        victim: "mariadbd",
        asked: &["writes", "fdatasyncs", "fsyncs", "libaio writes", "io_uring writes"],
        of: Of::Lost,
        chain: ("paced", paced),
        because: Because::Device,
        share: 0.6,
    },
    // Files of 2 bytes, cold: one read of a block after another, 6.6 ms each.
    Truth {
        recording: "untar-vs-ls",
        victim: "cat",
        asked: &["reads", "opens"],
        of: Of::Time,
        chain: ("a read, alone in the device", read_alone),
        because: Because::Anybody,
        share: 0.6,
    },
    Truth {
        recording: "git-cold",
        victim: "git",
        asked: &["reads", "opens", "page faults", "directory reads", "other calls"],
        of: Of::Time,
        chain: ("a read, alone in the device", read_alone),
        because: Because::Anybody,
        share: 0.8,
    },
    // Two flushes for each, 1.6 ms a flush.
    Truth {
        recording: "redis-aof",
        victim: "redis-server",
        asked: SYNCS,
        of: Of::Lost,
        chain: ("a flush", flush),
        because: Because::Device,
        share: 0.3,
    },
    // Without dd the slowest commits take 4.4 ms instead of 900.
    Truth {
        recording: "pg-idle-beside-dd",
        victim: "postgres",
        asked: SYNCS,
        of: Of::SlowestLost,
        chain: ("anywhere", |_| true),
        because: Because::Task(&["dd"]),
        share: 0.6,
    },
    Truth {
        recording: "b_dd_direct",
        victim: "fio",
        asked: READS,
        of: Of::Lost,
        chain: ("behind others in the device", behind),
        because: Because::Task(&["dd"]),
        share: 0.5,
    },
    // Eight reads at once take 8 ms alone (10 s), 53 ms beside dd (20 s): 57 % of their time is because of dd.
    Truth {
        recording: "randread-vs-directwrite",
        victim: "fio",
        asked: READS,
        of: Of::Lost,
        chain: ("behind others in the device", behind),
        because: Because::Task(&["dd"]),
        share: 0.5,
    },
    // The fdatasyncs are those of a script that ran beside fio.
    Truth {
        recording: "e2_append_xfs_stable0",
        victim: "python3",
        asked: SYNCS,
        of: Of::Lost,
        chain: ("a flush", flush),
        because: Because::Device,
        share: 0.4,
    },
    // Each read of 1 MiB is 32 requests, which fill the 128 tags.
    Truth {
        recording: "h_maxsectors_32",
        victim: "fio",
        asked: READS,
        of: Of::Lost,
        chain: ("pieces of a read that was cut, and the tags that they fill", pieces_or_tags),
        because: Because::Itself,
        share: 0.8,
    },
    // 32 reads are in flight, all of them fio's.
    Truth {
        recording: "j_nrreq_128",
        victim: "fio",
        asked: &["libaio reads", "io_getevents calls"],
        of: Of::Lost,
        chain: ("behind others in the device", behind),
        because: Because::Itself,
        share: 0.5,
    },
    // Four tags for sixteen writers: a quarter of their time; the rest is flushes.
    Truth {
        recording: "x_hidden_qd4_fsync_xfs_j16",
        victim: "fio",
        asked: &["fsyncs"],
        of: Of::Lost,
        chain: ("no tag", tags),
        because: Because::Anybody,
        share: 0.15,
    },
    Truth {
        recording: "x_hidden_qd4_fsync_xfs_j16",
        victim: "fio",
        asked: &["fsyncs"],
        of: Of::Lost,
        chain: ("a flush", flush),
        because: Because::Device,
        share: 0.15,
    },
];

/// Chains that the table does not have yet, and why; whoever mends one strikes it out.
const MISSING: &[(&str, &str)] = &[
    // The seconds behind the copy are shared between its writes and the other postgres' reads by their costs, and what a write of
    // 1.1 MiB costs is not known: none was ever alone.
    ("pg-readers-vs-copy", "half of it is behind sync, a third behind its own processes"),
    // The journal's writes never come when the disk has rested, so the 4 ms between two seem to be their service.
    ("maria-capped", "the cap passes for the service of the journal's writes"),
    // The disk takes a write of 1 MiB at once and then lets nothing in for the 16 ms that it costs: nobody is being served then.
    ("randread-vs-directwrite", "28 % are pauses of nobody, after a write of dd"),
];

/// Recordings in which nobody lost anything to anybody: the victim, and what half and 99 of 100 of its operations take at most, in
/// microseconds, a fifth above what the application measured.
const HEALTHY: &[(&str, &str, &[&str], [f64; 2])] = &[
    ("pg-healthy", "postgres", SYNCS, [480.0, 1_080.0]),
    ("k_throttle_none", "fio", READS, [304.0, 1_214.0]),
];

/// Block events only, of appends that wait in the page cache: nothing that anybody waited for is in them. What a table has of
/// foreground bios must stay below this part of the recording.
const NOBODY: &[(&str, f64)] = &[("logappend-stable-xfs", 0.01), ("logappend-slow-plain-xfs", 0.01)];

/// The table of a recording; `None` (and a word on the terminal) where it is not there.
fn table(name: &str) -> Option<(Table, f64)> {
    let Some(folder) = std::env::var_os("CAPTURES").map(|c| PathBuf::from(c).join(name)) else {
        eprintln!("SKIPPED: set CAPTURES to a folder of captures to have the chains of {name} looked for");
        return None;
    };
    if !folder.is_dir() {
        eprintln!("SKIPPED: {} is not there", folder.display());
        return None;
    }
    let e = Input::recording(&folder).expect("a recording").explain().expect("readable");
    let lasted = e.facts.duration().0 as f64;
    Some((e.facts.waits, lasted))
}

fn of<'a>(
    table: &'a Table,
    task: &'a str,
    asked: &'a [&'a str],
) -> impl Iterator<Item = (VictimId, &'a Victim, &'a Sums)> {
    table.victims().filter(move |(_, v, _)| &*v.task == task && asked.contains(&v.asked.plural()))
}

impl Because {
    fn is(self, c: &Culprit) -> bool {
        match self {
            Because::Anybody => true,
            Because::Itself => c.kind == CulpritKind::Own,
            Because::Device => matches!(c.kind, CulpritKind::Device | CulpritKind::Limit),
            Because::Task(names) => {
                [&c.name, &c.dirtied_by].into_iter().flatten().any(|name| names.contains(&&**name))
            }
        }
    }
}

impl Truth {
    /// The part of the time asked about that has this chain and culprit, and the largest rows in words.
    fn measure(&self, table: &Table) -> (f64, String) {
        let victims: Vec<VictimId> = of(table, self.victim, self.asked).map(|(id, ..)| id).collect();
        let which = match self.of {
            Of::SlowestLost => table.slowest_of(&victims, 0.01).0,
            Of::Time | Of::Lost => Selection::default(),
        };
        let counts = |r: &Row| matches!(self.of, Of::Time) || !table.is_own(r.chain, r.culprit);
        let mut rows: Vec<Row> =
            victims.iter().flat_map(|v| table.rows_of(*v, which)).filter(counts).collect();
        rows.sort_by_key(|r| std::cmp::Reverse(r.time));
        let fits =
            |r: &&Row| (self.chain.1)(&table.links(r.chain)) && self.because.is(table.culprit_of(r.culprit));
        let sum = |time: u64, r: &Row| time + r.time.0;
        let all = rows.iter().fold(0, sum).max(1);
        let found = rows.iter().filter(fits).fold(0, sum);
        let words = |r: &Row| {
            let links: Vec<String> = table.links(r.chain).into_iter().map(|l| table.link_words(l)).collect();
            let who = waits::culprit_words(table.culprit_of(r.culprit));
            format!("      {:4.1} %  {} <- {who}", 100.0 * r.time.0 as f64 / all as f64, links.join(" > "))
        };
        let largest: Vec<String> = rows.iter().take(8).map(words).collect();
        (found as f64 / all as f64, largest.join("\n"))
    }
}

#[test]
fn each_truth_is_in_the_table() {
    let mut wrong = Vec::new();
    let mut opened: Option<(&str, Table)> = None;
    for truth in TRUTHS {
        if opened.as_ref().is_none_or(|(name, _)| *name != truth.recording) {
            opened = table(truth.recording).map(|(table, _)| (truth.recording, table));
        }
        let Some((_, table)) = opened.as_ref().filter(|(name, _)| *name == truth.recording) else { continue };
        let (share, largest) = truth.measure(table);
        let right = share >= truth.share;
        let line = format!(
            "{}  {}: {}' {}, {:?}: {} because of {:?}: {:.0} %, at least {:.0} %",
            if right { "right" } else { "WRONG" },
            truth.recording,
            truth.victim,
            truth.asked.join("/"),
            truth.of,
            truth.chain.0,
            truth.because,
            100.0 * share,
            100.0 * truth.share
        );
        println!("{line}\n{largest}");
        match MISSING.iter().find(|(name, _)| *name == truth.recording) {
            Some((_, why)) if !right => eprintln!("MISSING: {line}: {why}"),
            Some(_) => wrong.push(format!("{line}: it is there now, strike it out of MISSING")),
            None if !right => wrong.push(line),
            None => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Requests of a read that is not cut are none of a cut one: the twin of `h_maxsectors_32`.
#[test]
fn pieces_are_counted_where_reads_are_cut_and_only_there() {
    for (name, least, most) in [("h_maxsectors_32", 28.0, 36.0), ("h_maxsectors_1024", 0.0, 2.5)] {
        let Some((table, _)) = table(name) else { continue };
        let (ops, pieces) =
            of(&table, "fio", READS).fold((0, 0), |(n, p), (_, _, s)| (n + s.cut.ops, p + s.cut.pieces));
        let each = pieces as f64 / ops.max(1) as f64;
        println!("{name}: {ops} reads were cut, {each:.1} pieces each");
        assert!((least..=most).contains(&each), "{name}: {each:.1} pieces");
    }
}

#[test]
fn where_nobody_lost_anything_nobody_is_blamed() {
    for (name, task, asked, most) in HEALTHY {
        let Some((table, _)) = table(name) else { continue };
        let (id, _, sums) = of(&table, task, asked).max_by_key(|(_, _, s)| s.ops).expect("a victim");
        let quantiles = [0.5, 0.99].map(|part| sums.quantile(part).0 as f64 / 1e3);
        let rows = table.rows_of(id, Selection::default());
        let blamed =
            rows.iter().filter(|r| table.culprit_of(r.culprit).is_somebody()).map(|r| r.time.0).sum::<u64>();
        let blamed = blamed as f64 / sums.ns as f64;
        println!(
            "{name}: {} {:?} {quantiles:?} us, {:.1} % because of others",
            sums.ops,
            table.of(id).0,
            100.0 * blamed
        );
        assert!(quantiles[0] <= most[0] && quantiles[1] <= most[1], "{name}: {quantiles:?} us");
        assert!(blamed <= 0.1, "{name}: {blamed:.2} of the time because of others");
    }
}

#[test]
fn where_nothing_was_waited_for_there_is_next_to_nothing() {
    for (name, most) in NOBODY {
        let Some((table, lasted)) = table(name) else { continue };
        let waited =
            table.victims().filter(|(_, v, _)| v.asked.is_foreground()).map(|(_, _, s)| s.lost).sum::<u64>();
        let part = waited as f64 / lasted;
        println!("{name}: {:.1} ms lost in {:.0} ms", waited as f64 / 1e6, lasted / 1e6);
        assert!(part <= *most, "{name}: {part:.3} of the recording");
        assert!(table.victims().all(|(_, v, _)| v.dev != DevId(0)), "{name}: bios have devices");
    }
}
