//! Parses the part before an event's text: task, processor, flags, time, event name.

use super::fields::value;
use crate::task_event::Context;
use units::{Cpu, Nanos, Tid};

/// The parsed line of an event.
#[derive(Debug, PartialEq)]
pub struct Header<'a> {
    /// The name of the task.
    pub task: &'a str,
    pub tid: Tid,
    pub cpu: Cpu,
    pub context: Context,
    pub time: Nanos,
    /// The name without its group: `block_rq_issue`.
    pub event: &'a str,
    /// The text after the event's name.
    pub rest: &'a str,
    /// Whether the name has its group, as in `perf script`.
    pub grouped: bool,
}

/// Name of the event for a kernel stack, which belongs to the previous event.
pub const STACK: &str = "kernel_stack";

/// Most bytes before an event's name: a task's name, numbers, flags.
const LONGEST: usize = 120;

/// Parses a line; `None` if it is no event.
pub fn header(line: &str) -> Option<Header<'_>> {
    let line = line.trim_start_matches([' ', '\t', '>']);
    let found = processors(line).find_map(|(at, cpu, behind)| event(line[..at].trim_end(), cpu, behind));
    found.or_else(|| in_latency_format(line))
}

/// Parses `fio-683     3d.h1.  2074.528189: block_rq_issue: ...`: `trace-cmd report -l` has the processor before the flags, without brackets.
fn in_latency_format(line: &str) -> Option<Header<'_>> {
    let (at, _) = line.match_indices([' ', '\t']).take_while(|(at, _)| *at < LONGEST).find(|(at, _)| {
        let next = line[*at..].trim_start();
        let digits = next.bytes().take_while(u8::is_ascii_digit).count();
        let flags = next.split([' ', '\t']).next().unwrap_or("");
        (1..=4).contains(&digits)
            && flags.len() >= digits + 4
            && flags[digits..].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.')
            && flags[digits..].starts_with(|c: char| !c.is_ascii_digit())
    })?;
    let rest = line[at..].trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let cpu = Cpu(rest[..digits].parse().ok()?);
    event(line[..at].trim_end(), cpu, &rest[digits..])
}

/// Parses the parts before (`who`) and after (`behind`) the processor.
fn event<'a>(who: &'a str, cpu: Cpu, behind: &'a str) -> Option<Header<'a>> {
    let (task, tid) = task(who)?;
    // Optional flags, then the time, then the name; time and name are followed by a colon.
    let (mut word, mut rest) = split(behind)?;
    let mut context = Context::default();
    if !word.ends_with(':') {
        context = context_of(word);
        (word, rest) = split(rest)?;
    }
    let time = time(word.strip_suffix(':')?)?;
    // `perf script -F +period`
    let rest =
        split(rest).filter(|(n, _)| n.bytes().all(|b| b.is_ascii_digit())).map_or(rest, |(_, more)| more);
    let (event, rest) = match rest.trim() {
        // The kernel's own text has no event name for a stack.
        "<stack trace>" => (STACK, ""),
        _ => split(rest).and_then(|(event, rest)| Some((event.strip_suffix(':')?, rest)))?,
    };
    let (grouped, event) = match event.rsplit_once(':') {
        Some((group, name)) => (!group.is_empty(), name),
        None => (false, event),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!event.is_empty() && event.chars().all(plain)).then_some(())?;
    // An exited task is still named by its last switch.
    let left = value(rest, "prev_pid").filter(|_| event == "sched_switch");
    let tid = left.and_then(|pid| pid.parse().ok()).map_or(tid, Tid);
    Some(Header { task, tid, cpu, context, time, event, rest: rest.trim(), grouped })
}

/// The first word, and the text after it.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find([' ', '\t']).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// Everything that looks like `[003]`: position, processor, text after it. Names of tasks may contain brackets, too.
fn processors(line: &str) -> impl Iterator<Item = (usize, Cpu, &str)> {
    let within = line.char_indices().take_while(|(i, _)| *i < LONGEST);
    within.filter(|(_, c)| *c == '[').filter_map(|(at, _)| {
        let end = line[at..].find(']')? + at;
        let digits = line[at + 1..end].trim_start();
        let cpu: u32 = digits.parse().ok().filter(|_| digits.len() <= 5)?;
        line[..at].ends_with([' ', '\t', ')']).then_some((at, Cpu(cpu), &line[end + 1..]))
    })
}

/// Parses `fio-683`, `fio-683   (   683)`, `fio 683`, `fio 683/684`.
fn task(text: &str) -> Option<(&str, Tid)> {
    // The process id, which the kernel prints if configured.
    let text = match text.strip_suffix(')').and_then(|t| t.rsplit_once('(')) {
        Some((before, tgid)) if tgid.trim().bytes().all(|b| b.is_ascii_digit() || b == b'-') => {
            before.trim_end()
        }
        _ => text,
    };
    let last = text.rsplit([' ', '\t']).next()?;
    if last == "-1" {
        // perf's id for a task that has already exited.
        return Some((text[..text.len() - 2].trim(), Tid(0)));
    }
    let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    let both = last.split_once('/').filter(|(pid, tid)| digits(pid) && digits(tid)).map(|(_, tid)| tid);
    if let Some(tid) = both.or(digits(last).then_some(last)) {
        let name = text[..text.len() - last.len()].trim();
        return Some((name, Tid(tid.parse().ok()?))).filter(|(name, _)| !name.is_empty());
    }
    let (name, tid) = text.rsplit_once('-')?;
    Some((name.trim(), Tid(tid.parse().ok()?)))
}

/// The third letter of the kernel's flags is `h` or `H` in a hardware interrupt, `s` in a software interrupt
/// (`trace_print_lat_fmt`, kernel/trace/trace_output.c).
fn context_of(flags: &str) -> Context {
    match flags.as_bytes().get(2) {
        Some(b'h') => Context(Context::HARD),
        Some(b's') => Context(Context::SOFT),
        Some(b'H') => Context(Context::HARD | Context::SOFT),
        _ => Context::default(),
    }
}

/// Parses seconds with three to nine decimal places.
fn time(text: &str) -> Option<Nanos> {
    let (seconds, fraction) = text.split_once('.')?;
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    (digits(seconds) && digits(fraction) && (3..=9).contains(&fraction.len())).then_some(())?;
    let scale = 10u64.pow(9 - fraction.len() as u32);
    let nanos: u64 = fraction.parse().ok()?;
    let seconds: u64 = seconds.parse().ok()?;
    seconds.checked_mul(Nanos::SECOND.0)?.checked_add(nanos * scale).map(Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_say_the_same() {
        let event = "block_rq_issue: 7,0 WS";
        for (line, context) in [
            (format!("             fio-683   [001] d.h1.  2074.528189: {event}"), 8),
            (format!(" fio-683     (    683) [001] d..1 2074.528189: {event}"), 0),
            (format!("> fio-683   [001]  2074.528189: {event}"), 0),
            (format!("     fio-683     1d.h1.  2074.528189: {event}"), 8),
            (format!("fio   683 [001]  2074.528189:   block:{event}"), 0),
            (format!("fio   680/683 [001]  2074.528189: block:{event}"), 0),
        ] {
            let h = header(&line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(
                (h.task, h.tid, h.cpu, h.time),
                ("fio", Tid(683), Cpu(1), Nanos(2_074_528_189_000)),
                "{line}"
            );
            assert_eq!((h.event, h.rest, h.context.0), ("block_rq_issue", "7,0 WS", context), "{line}");
        }
    }

    #[test]
    fn names_may_have_anything_in_them() {
        let of = |text: &str| {
            header(&format!("{text} [000] 1.000001: sys_exit: NR 0 = 1"))
                .map(|h| (h.task.to_owned(), h.tid.0))
        };
        assert_eq!(of("opt cgu.01-603"), Some(("opt cgu.01".into(), 603)));
        assert_eq!(of("jbd2/loop0-8-644"), Some(("jbd2/loop0-8".into(), 644)));
        assert_eq!(of("Web [1] Content 12"), Some(("Web [1] Content".into(), 12)));
        assert_eq!(of("<idle>-0"), Some(("<idle>".into(), 0)));
        assert_eq!(of(":-1    -1"), Some((":-1".into(), 0)));
        for other in [
            "",
            "# tracer: nop",
            "cpus=2",
            "fio-683 [001] 12: x: y",
            "fio-683 [001] 1.5: sys_close <-call",
            "a [b] c: d: e",
        ] {
            assert_eq!(header(other), None, "{other}");
        }
    }
}
