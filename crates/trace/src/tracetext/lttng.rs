//! Converts LTTng's recordings, as babeltrace and babeltrace2 print them, to the format of the kernel's own text.
//!
//! ```text
//! [10:11:12.123456789] (+0.000001234) host block_rq_issue: { cpu_id = 1 }, { dev = 8388608, sector = 1048576,
//!     nr_sector = 8, bytes = 4096, tid = 683, rwbs = 36, comm = "fio" }                      (one line)
//! fio-683 [001] 36672.123456789: block_rq_issue: 8,0 RS 4096 () 1048576 + 8 [fio]
//! ```
//!
//! Supports lttng-modules 2.9 to 2.13. The running task is taken from the context `tid` if it was recorded
//! (`lttng add-context -k -t tid`), otherwise from the last `sched_switch` of the processor. Times are relative to the start of
//! the day, unless babeltrace was given `--clock-seconds`.

use rustc_hash::FxHashMap;

/// The running task of each processor: its id and name.
pub type Running = FxHashMap<u32, (u32, String)>;

/// Limit on processors.
const MAX_CPUS: usize = 1 << 16;
/// Bits of `rwbs` (lttng-modules, include/instrumentation/events/block.h) and the kernel's letters for them, each list in
/// the order in which the kernel writes the letters (`blk_fill_rwbs`, kernel/trace/blktrace.c).
const PREFLUSH: u32 = 1 << 10;
const OPERATIONS: [(u32, char); 4] = [(1 << 0, 'W'), (1 << 1, 'D'), (1 << 2, 'R'), (1 << 8, 'F')];
const MORE: [(u32, char); 5] = [(1 << 9, 'F'), (1 << 3, 'A'), (1 << 5, 'S'), (1 << 6, 'M'), (1 << 7, 'E')];

/// The line in the kernel's format; `None` if it is no LTTng line, or if its event is not used.
pub fn kernel_words(line: &str, running: &mut Running) -> Option<String> {
    let line = line.trim_start_matches([' ', '\t', '>']).strip_prefix('[')?;
    let (time, rest) = line.split_once("] ")?;
    let (head, fields) = rest.split_once(": {")?;
    // `(+0.000001234) host event`; without the host if host names are disabled.
    let event = head.split_whitespace().next_back()?;
    head.starts_with("(+").then_some(())?;
    let cpu: u32 = value(fields, "cpu_id")?.parse().ok()?;
    let (name, says) = says(event, fields)?;
    let stands = running.get(&cpu).cloned();
    let (tid, task) = match (event, context(fields)) {
        ("sched_switch", _) => (number(fields, "prev_tid")? as u32, value(fields, "prev_comm")?.to_owned()),
        (_, Some((tid, task))) => (tid, task.to_owned()),
        (_, None) => stands.unwrap_or((0, "<...>".into())),
    };
    if event == "sched_switch" && (running.len() < MAX_CPUS || running.contains_key(&cpu)) {
        let next = (number(fields, "next_tid")? as u32, value(fields, "next_comm")?.to_owned());
        running.insert(cpu, next);
    }
    Some(format!("{task}-{tid} [{cpu:03}] {}: {name}: {says}", seconds(time)?))
}

/// The event's name and its text, in the kernel's format.
fn says(event: &str, fields: &str) -> Option<(String, String)> {
    let n = |name: &str| number(fields, name);
    let text = |name: &str| value(fields, name);
    if let Some(call) = event.strip_prefix("syscall_entry_") {
        return Some((format!("sys_enter_{call}"), arguments(fields)));
    }
    if let Some(call) = event.strip_prefix("syscall_exit_") {
        return Some((format!("sys_exit_{call}"), format!("{:#x}", n("ret")?)));
    }
    let says = match event {
        "sched_switch" => format!(
            "prev_comm={} prev_pid={} prev_prio=0 prev_state={} ==> next_comm={} next_pid={} next_prio=0",
            text("prev_comm")?,
            n("prev_tid")?,
            state(n("prev_state").or_else(|| n("container"))?),
            text("next_comm")?,
            n("next_tid")?
        ),
        "sched_waking" | "sched_wakeup" | "sched_wakeup_new" => {
            format!("comm={} pid={} prio=0 target_cpu=0", text("comm")?, n("tid")?)
        }
        "block_plug" => format!("[{}]", text("comm")?),
        "block_unplug" => format!("[{}] {}", text("comm")?, n("nr_rq")?),
        _ => {
            event.starts_with("block_").then_some(())?;
            let (dev, letters, sector) = (device(n("dev")?), letters(n("rwbs")? as u32), n("sector")?);
            let sectors = || n("nr_sector");
            match event {
                "block_rq_issue" | "block_rq_insert" | "block_rq_merge" => {
                    format!(
                        "{dev} {letters} {} () {sector} + {} [{}]",
                        n("bytes")?,
                        sectors()?,
                        text("comm")?
                    )
                }
                "block_rq_complete" | "block_rq_requeue" => {
                    let error = n("error").or_else(|| n("errors")).unwrap_or(0);
                    format!("{dev} {letters} () {sector} + {} [{}]", sectors()?, error as i32)
                }
                "block_bio_complete" => {
                    format!("{dev} {letters} {sector} + {} [{}]", sectors()?, n("error").unwrap_or(0) as i32)
                }
                "block_split" => {
                    format!("{dev} {letters} {sector} / {} [{}]", n("new_sector")?, text("comm")?)
                }
                "block_bio_remap" => {
                    let (old, from) = (device(n("old_dev")?), n("old_sector")?);
                    format!("{dev} {letters} {sector} + {} <- ({old}) {from}", sectors()?)
                }
                _ => format!("{dev} {letters} {sector} + {} [{}]", sectors()?, text("comm")?),
            }
        }
    };
    Some((event.to_owned(), says))
}

/// The running task, from the context groups between the processor and the event's fields.
fn context<'a>(fields: &'a str) -> Option<(u32, &'a str)> {
    let groups: Vec<&str> = fields.split("}, {").collect();
    let contexts = groups.get(1..groups.len().checked_sub(1)?)?;
    let name = |group: &&'a str| value(group, "procname").unwrap_or("<...>");
    contexts.iter().find_map(|group| Some((number(group, "tid")? as u32, name(group))))
}

/// The value after `name = `, without its quotes.
fn value<'a>(fields: &'a str, name: &str) -> Option<&'a str> {
    let found = fields.match_indices(name).find_map(|(at, _)| {
        let begins = at == 0 || fields[..at].ends_with([' ', ',', '{']);
        fields[at + name.len()..].strip_prefix(" = ").filter(|_| begins)
    })?;
    match found.strip_prefix('"') {
        Some(text) => text.split('"').next(),
        None => found.split([',', ' ', '}']).next(),
    }
}

/// A number; negative ones as 64-bit two's complement. For an enumeration (`( "TASK_RUNNING" : container = 0 )`), pass `container`.
fn number(fields: &str, name: &str) -> Option<u64> {
    let text = value(fields, name)?;
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    text.parse().ok().or_else(|| text.parse::<i64>().ok().map(|n| n as u64))
}

/// The letter for `prev_state` (include/trace/events/sched.h).
fn state(bits: u64) -> &'static str {
    match bits {
        n if n & 0xff == 0 => "R",
        n if n & 2 != 0 => "D",
        n if n & 1 != 0 => "S",
        _ => "T",
    }
}

/// A device number in the kernel's internal format (12 and 20 bits), as text.
fn device(dev: u64) -> String {
    format!("{},{}", dev >> 20 & 0xfff, dev & 0xf_ffff)
}

fn letters(rwbs: u32) -> String {
    let mut all = String::new();
    if rwbs & PREFLUSH != 0 {
        all.push('F');
    }
    let operation = OPERATIONS.iter().find(|(bit, _)| rwbs & bit != 0);
    all.push(operation.map_or('N', |(_, letter)| *letter));
    all.extend(MORE.iter().filter(|(bit, _)| rwbs & bit != 0).map(|(_, letter)| *letter));
    all
}

/// Arguments as in the kernel's tracepoints of single calls: `fd: 0x3, count: 0x1000`.
fn arguments(fields: &str) -> String {
    let own = fields.rsplit('{').next().unwrap_or("");
    let all = own.trim_end_matches([' ', '}']).split(", ").filter_map(|field| field.split_once(" = "));
    let each = all.map(|(name, _)| {
        let value = number(own, name.trim()).map_or_else(|| "0x0".into(), |n| format!("{n:#x}"));
        format!("{}: {value}", name.trim())
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Converts a time of day or an epoch time to seconds: `10:11:12.123456789`, `1700000000.123456789`; a date may precede it.
fn seconds(time: &str) -> Option<String> {
    let time = time.split_whitespace().next_back()?;
    let (whole, fraction) = time.split_once('.')?;
    let mut sum = 0u64;
    for part in whole.split(':') {
        sum = sum.checked_mul(60)?.checked_add(part.parse().ok()?)?;
    }
    Some(format!("{sum}.{fraction}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<String> {
        kernel_words(text, &mut Running::default())
    }

    #[test]
    fn requests_have_the_kernels_words() {
        let issue = "[10:11:12.123456789] (+0.000001234) server block_rq_issue: { cpu_id = 1 }, { dev = 8388608, sector = 1048576, \
            nr_sector = 8, bytes = 4096, tid = 683, rwbs = 36, _cmd_length = 0, cmd = [ ], comm = \"fio\" }";
        assert_eq!(
            of(issue).unwrap(),
            "<...>-0 [001] 36672.123456789: block_rq_issue: 8,0 RS 4096 () 1048576 + 8 [fio]"
        );
        let with_task =
            issue.replace("}, { dev", "}, { pid = 680, tid = 683, procname = \"my fio\" }, { dev");
        assert!(of(&with_task).unwrap().starts_with("my fio-683 [001]"));
        let complete = "[1700000000.500] (+?.?????????) block_rq_complete: { cpu_id = 0 }, { dev = 8388609, sector = 7, nr_sector = 8, error = -5, rwbs = 1537 }";
        assert_eq!(
            of(complete).unwrap(),
            "<...>-0 [000] 1700000000.500: block_rq_complete: 8,1 FWF () 7 + 8 [-5]"
        );
    }

    #[test]
    fn who_runs_is_known_from_the_last_switch() {
        let mut running = Running::default();
        let switch = "[10:00:00.000000001] (+0.1) host sched_switch: { cpu_id = 0 }, { prev_comm = \"swapper/0\", prev_tid = 0, prev_prio = 20, \
            prev_state = ( \"TASK_RUNNING\" : container = 0 ), next_comm = \"fio\", next_tid = 683, next_prio = 20 }";
        let words = kernel_words(switch, &mut running).unwrap();
        assert!(
            words.contains("prev_pid=0 prev_prio=0 prev_state=R ==> next_comm=fio next_pid=683"),
            "{words}"
        );
        let enter = "[10:00:00.000000002] (+0.1) host syscall_entry_fsync: { cpu_id = 0 }, { fd = 3 }";
        let exit = "[10:00:00.000000003] (+0.1) host syscall_exit_fsync: { cpu_id = 0 }, { ret = -5 }";
        assert!(kernel_words(enter, &mut running)
            .unwrap()
            .ends_with("fio-683 [000] 36000.000000002: sys_enter_fsync: fd: 0x3"));
        assert!(kernel_words(exit, &mut running).unwrap().ends_with("sys_exit_fsync: 0xfffffffffffffffb"));
    }
}
