//! `answer`, `victims` and `unexplained` of `iowhy.explain/2`.

use super::line::line;
use super::predicted::{split, then, without, Absence, Then};
use causes::Acts;
use explain::answer::{Answer, Because, Kind, Sufferer};
use explain::blame::Which;
use explain::Explanation;
use life::Io;
use serde::Serialize;
use trace::{program_and_process, DevId, Nanos};
use waits::CulpritKind;

/// The three fields.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Answered {
    /// The answer.
    answer: AnswerJson,
    /// Who lost time, the heaviest first.
    victims: Vec<Victim>,
    /// The part of what all victims lost that nothing explains, 0 to 1; null of texts.
    unexplained: Option<f64>,
}

/// The answer.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Answer"))]
struct AnswerJson {
    /// One sentence of at most 160 characters.
    line: String,
    /// The kind of answer.
    kind: Kind,
    /// The cause of what the first victim lost.
    cause: Option<&'static str>,
    /// The root cause behind it.
    root: Option<&'static str>,
    /// The first victim's task; null of texts.
    victim: Option<String>,
    /// A process of it, or the thread, where several of that name are told apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    victim_pid: Option<u32>,
    /// The operation it waited in.
    op: Option<String>,
    /// The device.
    device: Option<String>,
    /// The culprit, if there is one.
    culprit: Option<String>,
    /// A process of it, or the thread, where several of that name are told apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    culprit_pid: Option<u32>,
    /// Which operations are asked about.
    of: Which,
    /// The part of what the first victim lost that a cause or a culprit has, 0 to 1; null of texts.
    explained: Option<f64>,
    /// What to do first, as on the screen: at most three.
    r#try: Vec<Try>,
}

/// A remedy.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Try {
    /// What it does, and its cost.
    what: String,
    /// The command.
    command: String,
    /// The target it acts on.
    on: On,
    /// Whether anything is different afterwards; else it only looks.
    changes: bool,
    /// The first victim's latencies without what it acts on, the culprit or the cause; null where that is not known.
    predicted: Option<Then>,
    /// What came of it where it was tried; null where it was not.
    tested: Option<Test>,
}

/// What came of a remedy where it was tried: the same load on a test disk as it was and after the command.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Test {
    /// In how many tests.
    tests: usize,
    /// The latency that fell, where it was the same in all.
    latency: Option<&'static str>,
    /// To how many times what it was: the least and the most.
    times: [f64; 2],
    /// A latency that rose, or null.
    slower: Option<&'static str>,
    /// To how many times what it was: the least and the most; null where none rose.
    slower_times: Option<[f64; 2]>,
}

/// The target of a remedy.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum On {
    /// Who waits.
    Victim,
    /// Who is in the way.
    Culprit,
    /// The device and all who use it.
    Device,
    /// The host.
    Host,
}

/// Operations of one task that lost time.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Victim {
    /// The task's name.
    task: String,
    /// A process of it, or the thread, where several of that name are told apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// Its control group; null where that was not recorded.
    cgroup: Option<String>,
    /// What part of its application it is; null where that is not known.
    role: Option<&'static str>,
    /// The operation it waited in.
    op: String,
    /// The file system.
    filesystem: Option<String>,
    /// The device that it waited for most.
    device: Option<String>,
    /// Where that is mounted.
    mount: Option<String>,
    /// How many operations.
    count: u64,
    /// The time of those asked about, in nanoseconds: of all, or of the slowest 1 %.
    time_ns: Nanos,
    /// What of it was lost: beyond what they take alone.
    lost_ns: Nanos,
    /// Whether what they take alone is not known, so that less may have been lost.
    lost_is_upper_bound: bool,
    /// The part of what all victims lost, 0 to 1.
    share: f64,
    /// How long all its operations took, in nanoseconds.
    latency_ns: VictimLatency,
    /// How long they would take alone, in nanoseconds; null where that is not known.
    alone_ns: Option<Alone>,
    /// Why it was lost; sums to lost_ns.
    because: Vec<Reason>,
    /// What would be without those who had most.
    without: Vec<Absence>,
    /// What would be without each cause that has a part of what was lost.
    relieved: Vec<Relieved>,
}

/// Predicted latencies without a cause.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Relieved {
    /// The cause.
    cause: &'static str,
    #[serde(flatten)]
    then: Then,
}

/// How long a victim's operations took, in nanoseconds.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct VictimLatency {
    /// The median.
    p50: Nanos,
    /// 99 of 100 took no longer.
    p99: Nanos,
    /// The longest.
    max: Nanos,
    /// The mean of those asked about.
    mean: u64,
}

/// How long they would take alone, in nanoseconds.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Alone {
    /// The median.
    p50: Nanos,
    /// 99 of 100 would take no longer.
    p99: Nanos,
}

/// A part of what was lost.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Because"))]
struct Reason {
    /// The cause that explains it.
    cause: Option<&'static str>,
    /// The culprit.
    culprit: Culprit,
    /// What was waited in, from the operation to where the time passed.
    chain: Vec<String>,
    /// How long, in nanoseconds.
    ns: Nanos,
    /// The part of lost_ns, 0 to 1.
    share: f64,
}

/// A culprit of lost time.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Culprit {
    /// The kind of culprit.
    kind: CulpritKind,
    /// Its name, `others`, or null.
    name: Option<String>,
    /// A process of it, or the thread, where several of that name are told apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// By which kind of I/O, or null.
    io: Option<Io>,
    /// Whose data it wrote, if another task's.
    #[serde(skip_serializing_if = "Option::is_none")]
    dirtied_by: Option<String>,
}

pub(crate) fn to_json(e: &Explanation, a: &Answer) -> Answered {
    let first = a.victims.first();
    let (victim_task, victim_pid) = split(first.map(|v| v.task.as_str()));
    let (culprit, culprit_pid) = split(a.culprit.as_ref().and_then(|c| c.name.as_deref()));
    let answer = AnswerJson {
        line: line(e, a),
        kind: a.kind,
        cause: a.cause,
        root: a.root,
        victim: victim_task,
        victim_pid,
        op: first.map(|v| op(e, v)),
        device: first.and_then(|v| device(e, v)),
        culprit,
        culprit_pid,
        of: e.subject.which,
        explained: a.explained.map(rounded),
        r#try: a.remedies(e).into_iter().map(remedy).collect(),
    };
    let all: u64 = a.victims.iter().map(|v| v.lost.0).sum();
    let victims = a.victims.iter().map(|v| victim(e, v, all)).collect();
    Answered { answer, victims, unexplained: a.unexplained().map(rounded) }
}

fn remedy(offered: explain::answer::Try) -> Try {
    let r = offered.remedy;
    let on = match &r.acts {
        Acts::Victim => On::Victim,
        Acts::Culprit(_) => On::Culprit,
        Acts::Device => On::Device,
        Acts::Host => On::Host,
    };
    Try {
        what: r.what.clone(),
        command: r.command(),
        on,
        changes: r.action.changes(),
        predicted: offered.predicted.map(then),
        tested: offered.tested.map(|t| Test {
            tests: t.tests,
            latency: t.latency,
            times: t.times,
            slower: t.slower.map(|(latency, _)| latency),
            slower_times: t.slower.map(|(_, times)| times),
        }),
    }
}

/// A part, to a millionth.
fn rounded(part: f64) -> f64 {
    (part * 1e6).round() / 1e6
}

fn op(e: &Explanation, v: &Sufferer) -> String {
    let group = e.focus.groups.get(v.group);
    group.map_or(String::new(), |g| g.op.map_or(g.words().to_string(), |op| op.kind.name().to_string()))
}

fn device(e: &Explanation, v: &Sufferer) -> Option<String> {
    e.focus.groups.get(v.group).filter(|g| g.dev != DevId(0)).map(|g| e.name(g.dev))
}

fn victim(e: &Explanation, v: &Sufferer, all: u64) -> Victim {
    let group = e.focus.groups.get(v.group);
    let op_key = group.and_then(|g| g.op);
    let mount = group.and_then(|g| e.subject.system.mounts.iter().find(|m| m.dev == Some(g.dev)));
    let [p50, p99, max] = v.latency;
    let of_all = group.map_or(v.time, |g| g.all.time.total);
    let (task, pid) = program_and_process(&v.task);
    Victim {
        task: task.to_string(),
        pid: pid.map(|pid| pid.0),
        cgroup: v.cgroup.clone(),
        role: v.role,
        op: op(e, v),
        filesystem: op_key.map(|key| e.filesystem(&key)),
        device: device(e, v),
        mount: mount.map(|m| m.target.clone()),
        count: v.count,
        time_ns: v.time,
        lost_ns: v.lost,
        lost_is_upper_bound: v.is_bound,
        share: rounded(v.lost.0 as f64 / all.max(1) as f64),
        latency_ns: VictimLatency { p50, p99, max, mean: of_all.0 / v.count.max(1) },
        alone_ns: v.alone.map(|[p50, p99]| Alone { p50, p99 }),
        because: v.because.iter().map(|b| because(b, v.lost)).collect(),
        without: v.without.iter().map(without).collect(),
        relieved: v.relieved.iter().map(|(cause, l)| Relieved { cause, then: then(*l) }).collect(),
    }
}

fn because(b: &Because, lost: Nanos) -> Reason {
    Reason {
        cause: b.cause,
        culprit: culprit(&b.culprit),
        chain: b.chain.clone(),
        ns: b.time,
        share: rounded(b.time.0 as f64 / lost.0.max(1) as f64),
    }
}

fn culprit(s: &waits::Culprit) -> Culprit {
    let is_named =
        matches!(s.kind, CulpritKind::Task | CulpritKind::Kernel | CulpritKind::Unknown | CulpritKind::Cpu);
    let (name, pid) = split(s.name.as_deref().filter(|_| is_named));
    Culprit { kind: s.kind, name, pid, io: s.io, dirtied_by: split(s.dirtied_by.as_deref()).0 }
}
