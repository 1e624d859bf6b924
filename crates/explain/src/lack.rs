//! What a recording lacks for a verdict: completions, queue events, any I/O, or more than a few I/Os. A few suffice if the recorder
//! watched for at least a second and missed nothing: then there was no more.
//!
//! A fragment yields facts and what is missing, but no verdict. Example: on a machine with 40 processors the trace file of the one
//! that took the interrupts is missing. Then 26,000 requests seem to be in the device at once, each for a minute. They are not:
//! their completions are not in the recording.

use causes::{Answer, Verdict};
use life::Class;
use stats::{class_words, Device, Facts, LONG_BY_ITSELF, STUCK};
use trace::{DevId, Nanos, Quality};
use units::words::{count, counted, percent, time};

/// What a recording lacks.
#[derive(Clone, Debug, PartialEq)]
pub enum Lack {
    /// Any I/O: it has neither block I/O nor operations.
    AnyIo,
    /// The ends of most I/Os that began in it.
    Ends {
        /// Number of requests, or of bios if there are no requests.
        begun: u64,
        /// Number of these that never end.
        open: u64,
    },
    /// Other requests in the device: files of processors are missing.
    Others,
    /// The rest of an excerpt: events of blkparse in a text of which at least as many lines are something else.
    Whole,
    /// The origin of I/O: only issue and completion (D and C) were recorded.
    Beginnings(Vec<InDevice>),
    /// The end of I/O that had not ended when the recording did, and that was in flight far longer than anything that ended on the device.
    End {
        /// The device of the oldest such I/O.
        dev: DevId,
        /// Requests and bios in flight at the end.
        open: u64,
        /// How long the oldest had been in flight.
        oldest: Nanos,
        /// The longest time of those that ended.
        longest: Nanos,
    },
    /// Any completion on a device that had requests all the time: it hangs, and nothing shows who waits for it.
    Answers {
        /// The device.
        dev: DevId,
    },
    /// More than a few I/Os.
    Many {
        /// Number of I/Os that completed.
        completed: u64,
    },
    /// More than a few I/Os. They did not happen: the recorder missed nothing, and no I/O was slow.
    Work {
        /// Number of I/Os that completed.
        completed: u64,
        /// How long the recorder watched.
        watched: Nanos,
    },
}

/// Time that requests of one class took in a device.
#[derive(Clone, Debug, PartialEq)]
pub struct InDevice {
    /// The device.
    pub dev: DevId,
    /// The class of the requests.
    pub class: Class,
    /// The number of requests.
    pub count: u64,
    /// D2C: p50, p99 and maximum.
    pub took: [Nanos; 3],
}

/// If at least this part of what began never ends, completions were not recorded: at the end of a recording a device has at most a
/// queue's worth in flight, little compared with all that passed through it.
const OPEN: f64 = 0.5;
/// The same if a processor's file is known to be missing, or requests were overtaken by others of the same sector.
const OPEN_OF_DAMAGED: f64 = 0.05;
/// Fewer open requests may simply be in flight: a queue holds up to 32 (`NCQ`), 64 or 1024.
const LEAST_OPEN: u64 = 33;
/// A recording of at least this length with almost no I/O, and none of it slow, shows that nothing was slow.
const LONG_WATCHED: Nanos = Nanos::SECOND;
/// A percentile needs ten values: with fewer, a p90 is the maximum.
const FEW: u64 = 10;

/// Causes that are found by the absence of something.
const OF_ABSENCE: [&str; 3] = ["healthy", "device-stall", "slow-device"];

impl Lack {
    /// What a recording lacks, if that forbids verdicts on causes. `watched`: how long the recorder watched without missing anything.
    pub fn of(facts: &Facts, quality: &Quality, format: &str, watched: Option<Nanos>) -> Option<Lack> {
        let t = &facts.tally;
        let operations = !facts.operations.is_empty();
        // Of another device that works, one that is in no event takes nothing.
        let is_recorded = |d: &&Device| d.traffic.span.is_some() || t.requests == 0;
        if let Some(hung) = facts.devices.iter().filter(is_recorded).find(|d| d.hangs && !operations) {
            return Some(Lack::Answers { dev: hung.id });
        }
        let requests_open = t.requests_in_flight + t.requests_lost;
        let requests = t.requests + requests_open;
        let (begun, open) = match requests {
            0 => (t.bios, t.bios_in_flight),
            _ => (requests, requests_open),
        };
        let long = watched.filter(|watched| *watched >= LONG_WATCHED);
        if begun == 0 && !operations && t.began_before == 0 {
            return Some(match (watched, long) {
                (None, _) => Lack::AnyIo,
                (Some(_), None) => Lack::Many { completed: 0 },
                (_, Some(watched)) => Lack::Work { completed: 0, watched },
            });
        }
        let part = open as f64 / begun.max(1) as f64;
        let damaged = t.requests_lost >= LEAST_OPEN || quality.files_missing;
        let none_ends = open == begun && t.bytes_completed.0 == 0;
        let ends = open > 0
            && (none_ends || open >= LEAST_OPEN && part >= if damaged { OPEN_OF_DAMAGED } else { OPEN });
        if ends && !operations {
            return Some(Lack::Ends { begun, open });
        }
        if t.bios == 0 && t.requests > 0 && !operations {
            return Some(Lack::Beginnings(in_devices(facts)));
        }
        if quality.files_missing {
            return Some(Lack::Others);
        }
        let completed =
            facts.devices.iter().flat_map(|d| &d.bios).map(|b| b.phases.count).sum::<u64>().max(t.requests);
        let longest =
            facts.devices.iter().flat_map(|d| &d.bios).map(|b| b.phases.q2c.max()).max().unwrap_or(0);
        // A mail shows what its author chose. A whole recording may be of a device that does only one slow thing.
        let excerpt = format == "blkparse";
        let few = completed < FEW && (excerpt || longest < LONG_BY_ITSELF.0);
        let all_ended = t.requests_in_flight + t.bios_in_flight + t.requests_lost == 0;
        if few && !operations {
            return Some(match long.filter(|_| all_ended && longest < LONG_BY_ITSELF.0) {
                Some(watched) => Lack::Work { completed, watched },
                None => Lack::Many { completed },
            });
        }
        let stuck = stuck(facts, quality).filter(|_| !operations);
        if stuck.is_some() {
            return stuck;
        }
        (excerpt && !operations && quality.unknown >= quality.events).then_some(Lack::Whole)
    }

    /// Whether the numbers themselves are wrong, not only too few.
    pub fn spoils_numbers(&self) -> bool {
        matches!(self, Lack::Ends { .. } | Lack::AnyIo)
    }

    /// Retracts the verdicts that the lack makes unreliable: they become "cannot tell".
    pub(crate) fn take_back(&self, verdicts: &mut [Verdict]) {
        if matches!(self, Lack::Beginnings(_)) {
            return;
        }
        let others = matches!(self, Lack::Others | Lack::Whole);
        // A stall that has not ended is still a finding; "healthy" is not.
        let endless = matches!(self, Lack::End { .. } | Lack::Answers { .. });
        // From almost no data, neither what was found nor what was rejected holds.
        let nothing = matches!(self, Lack::AnyIo | Lack::Ends { .. } | Lack::Many { .. });
        let taken = |v: &Verdict| match v.verdict {
            Answer::Found if endless => v.cause == "healthy",
            Answer::Found => !others || OF_ABSENCE.contains(&v.cause),
            Answer::Rejected => nothing && !v.minor,
            Answer::CannotTell => false,
        };
        for v in verdicts.iter_mut().filter(|v| taken(v)) {
            *v = Verdict {
                minor: v.minor,
                ..Verdict::cannot_tell(v.cause, self.words(&|dev| dev.to_string()))
            };
        }
    }

    /// One sentence for the screen, with advice. `name`: names a device.
    pub fn words(&self, name: &dyn Fn(DevId) -> String) -> String {
        match self {
            Lack::AnyIo => "no block I/O and no system calls are in it; record them: trace-cmd record -e block -e raw_syscalls \
                -e sched:sched_switch -e sched:sched_waking, or iowhy record"
                .into(),
            Lack::Ends { begun, open } if open == begun => {
                format!("{} begun, none completed: completions were not recorded; record them too", all(*begun))
            }
            Lack::Ends { begun, open } => format!(
                "of {} begun {} ({}) never complete: completions were lost, or a CPU's file is missing; \
                 copy all files, or record it anew: iowhy record",
                all(*begun),
                count(*open),
                percent(*open as f64 / *begun as f64)
            ),
            Lack::Others => "events of some CPUs are missing (files not copied, or one cut off), so what else was in \
                 the device is not known; copy all of it".into(),
            Lack::Whole => "these lines are an excerpt, so what was left out is not known; record it: iowhy record".into(),
            Lack::Beginnings(devices) => {
                let of = |d: &InDevice| {
                    let [p50, p99, max] = d.took.map(time);
                    format!("{} {} on {} took {p50} (p50), {p99} (p99), at most {max}", count(d.count), class_words(d.class), name(d.dev))
                };
                let told: Vec<String> = devices.iter().take(MOST_TOLD).map(of).collect();
                format!("only issue and completion were recorded (D and C); between them {}", told.join("; "))
            }
            Lack::Work { completed, watched } => {
                let watched = time(*watched);
                match completed {
                    0 => format!("in {watched} no I/O was completed"),
                    n => {
                        let were = counted(*n, "I/O was", "I/Os were");
                        format!("in {watched} only {were} completed, none of them long")
                    }
                }
            }
            Lack::End { dev, open, oldest, longest } => {
                let had = counted(*open, "I/O had", "I/Os had");
                let (on, oldest, longest) = (name(*dev), time(*oldest), time(*longest));
                format!(
                    "{had} not ended when the recording did, the oldest on {on} after {oldest}; what ended there took at most {longest}; \
                     record longer"
                )
            }
            Lack::Answers { dev } => format!(
                "{} had requests in flight all the time and completed none of them (samples.jsonl): it hangs; see dmesg; \
                 for who waits for it: iowhy record",
                name(*dev)
            ),
            Lack::Many { completed } => format!(
                "{} completed in it, fewer than the {FEW} a verdict needs; record for longer",
                counted(*completed, "I/O is", "I/Os are")
            ),
        }
    }
}

/// The oldest I/O in flight at the end, if it was in flight for more than twice as long as anything that ended on that device, and longer
/// than people notice. Any recording ends with some I/O in flight; during writeback, which grows in floods, the oldest has always been
/// in flight longest. If events were lost, its end may be among them.
fn stuck(facts: &Facts, quality: &Quality) -> Option<Lack> {
    let t = &facts.tally;
    let (dev, began) = t.oldest_in_flight.filter(|_| quality.lost_total() == 0 && t.unmatched() == 0)?;
    let end = facts.flow.span.map(|(_, last)| last).max(quality.until)?;
    let phases = facts.device(dev)?.requests.iter().chain(facts.device(dev)?.bios.iter().map(|b| &b.phases));
    let longest = Nanos(phases.map(|p| p.q2c.max()).max().unwrap_or(0));
    let oldest = end.since(began);
    let open = t.requests_in_flight + t.bios_in_flight;
    (oldest > Nanos(longest.0.saturating_mul(STUCK)).max(LONG_BY_ITSELF)).then_some(Lack::End {
        dev,
        open,
        oldest,
        longest,
    })
}

/// Maximal number of devices and classes that are listed in the sentence.
const MOST_TOLD: usize = 3;

fn all(n: u64) -> String {
    counted(n, "I/O", "I/Os")
}

/// Time of requests in each device, by class, those with the most requests first.
fn in_devices(facts: &Facts) -> Vec<InDevice> {
    let of = |d: &Device| {
        let kinds: Vec<InDevice> = Class::ALL
            .into_iter()
            .filter_map(|class| {
                let d2c = &d.requests[class.index()].d2c;
                let took = [d2c.quantile(0.5), d2c.quantile(0.99), d2c.max()].map(Nanos);
                (!d2c.is_empty()).then_some(InDevice { dev: d.id, class, count: d2c.count(), took })
            })
            .collect();
        kinds
    };
    let mut all: Vec<InDevice> = facts.devices.iter().flat_map(of).collect();
    all.sort_by_key(|d| std::cmp::Reverse(d.count));
    all
}
