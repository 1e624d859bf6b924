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

/// The fields `answer`, `victims` and `unexplained`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Answered {
    /// The answer for the first victim.
    answer: AnswerJson,
    /// Tasks that lost time, at most 30, sorted by rank: the answer is about the first.
    victims: Vec<Victim>,
    /// The part of the time lost by all victims that nothing explains, 0 to 1; null for texts.
    unexplained: Option<f64>,
}

/// The answer for the first victim.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Answer"))]
struct AnswerJson {
    /// The answer in one sentence of at most 160 characters.
    line: String,
    /// Whether a cause was found, nothing was slow, or it is unknown.
    kind: Kind,
    /// The cause of the first victim's lost time; null if none is named.
    cause: Option<&'static str>,
    /// The root cause behind `cause`, if there is one.
    root: Option<&'static str>,
    /// The name of the first victim's task; null for texts.
    victim: Option<String>,
    /// The number of its process or thread, if several with this name are distinguished.
    #[serde(skip_serializing_if = "Option::is_none")]
    victim_pid: Option<u32>,
    /// The operation in which it waited, such as `fsync`.
    op: Option<String>,
    /// The device that it waited for.
    device: Option<String>,
    /// The name of the culprit, if there is one.
    culprit: Option<String>,
    /// The number of its process or thread, if several with this name are distinguished.
    #[serde(skip_serializing_if = "Option::is_none")]
    culprit_pid: Option<u32>,
    /// Which operations the answer covers: all, or each victim's slowest 1 %.
    of: Which,
    /// The part of the first victim's lost time that has a cause or a culprit, 0 to 1; null for texts.
    explained: Option<f64>,
    /// What to do first, as on the screen: three remedies at most.
    r#try: Vec<Try>,
}

/// A remedy: a command and its effect.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Try {
    /// What it does and what it costs.
    what: String,
    /// The command to run in a shell.
    command: String,
    /// What it acts on.
    on: On,
    /// Whether the command changes anything; false: it only shows something.
    changes: bool,
    /// The first victim's latencies without the culprit or the cause that it acts on; null if unknown.
    predicted: Option<Then>,
    /// The result of its tests; null if it was not tested.
    tested: Option<Test>,
}

/// The result of a remedy's tests: the same load on a test disk before and after the command.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Test {
    /// The number of tests, at least 1.
    tests: usize,
    /// The latency that fell, such as `reads p99`; null if it is not the same in all tests.
    latency: Option<&'static str>,
    /// Ratio of that latency after to before: the smallest and the largest of all tests.
    times: [f64; 2],
    /// A latency that rose, or null.
    slower: Option<&'static str>,
    /// Ratio of the latency that rose, after to before: the smallest and the largest of all tests; null if none rose.
    slower_times: Option<[f64; 2]>,
}

/// What a remedy acts on.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum On {
    /// The task that waits.
    Victim,
    /// The interfering task.
    Culprit,
    /// The device, and so all tasks that use it.
    Device,
    /// The host as a whole.
    Host,
}

/// Operations of one task that lost time.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Victim {
    /// The name of the task.
    task: String,
    /// The number of its process or thread, if several with this name are distinguished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// Its control group; null if that was not recorded.
    cgroup: Option<String>,
    /// Its role in its application; null if unknown.
    role: Option<&'static str>,
    /// The operation in which it waited, such as `fsync`.
    op: String,
    /// The type of the file system, such as `ext4`; null if only block events were recorded.
    filesystem: Option<String>,
    /// The device that it waited for most; null if unknown.
    device: Option<String>,
    /// The mount point of that device's file system; null if unknown.
    mount: Option<String>,
    /// Number of its operations.
    count: u64,
    /// The time of the operations that the answer covers, in nanoseconds: of all, or of the slowest 1 %.
    time_ns: Nanos,
    /// The lost part of `time_ns`: what exceeds the time that the operations take alone.
    lost_ns: Nanos,
    /// Whether the time that they take alone is unknown, so that less may have been lost.
    lost_is_upper_bound: bool,
    /// The part of the time lost by all victims, 0 to 1.
    share: f64,
    /// Latencies of all its operations, in nanoseconds.
    latency_ns: VictimLatency,
    /// Latencies of its operations alone, in nanoseconds; null if unknown.
    alone_ns: Option<Alone>,
    /// The reasons for the lost time; they sum to lost_ns.
    because: Vec<Reason>,
    /// Predictions without the largest culprits.
    without: Vec<Absence>,
    /// Predictions without each cause that explains a part of the lost time.
    relieved: Vec<Relieved>,
}

/// Predicted latencies without a cause.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Relieved {
    /// The name of the cause.
    cause: &'static str,
    #[serde(flatten)]
    then: Then,
}

/// Latencies of a victim's operations, in nanoseconds.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct VictimLatency {
    /// The median.
    p50: Nanos,
    /// The 99th percentile.
    p99: Nanos,
    /// The longest latency.
    max: Nanos,
    /// The mean of all its operations.
    mean: u64,
}

/// Latencies of a victim's operations alone, in nanoseconds.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Alone {
    /// The median.
    p50: Nanos,
    /// The 99th percentile.
    p99: Nanos,
}

/// A part of the lost time.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Because"))]
struct Reason {
    /// The cause that explains it; null if none does.
    cause: Option<&'static str>,
    /// Who or what used that time.
    culprit: Culprit,
    /// The chain of waits, from the operation to the place where the time passed.
    chain: Vec<String>,
    /// The length of this part, in nanoseconds.
    ns: Nanos,
    /// The part of lost_ns, 0 to 1.
    share: f64,
}

/// Who or what made the victim lose time.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Culprit {
    /// The kind of culprit.
    kind: CulpritKind,
    /// The name of a task, `others`, or null.
    name: Option<String>,
    /// The number of its process or thread, if several with this name are distinguished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// The kind of its I/O that interfered, or null.
    io: Option<Io>,
    /// The task whose data it wrote, if that is another one.
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

/// A part of 1, rounded to six decimals.
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
