//! One line of a script: `TIME ACTION RWBS SECTOR+SECTORS`, then what only this action or this event has.
//!
//! | line | meaning |
//! |---|---|
//! | `0 Q R 64+8` | at 0 us, a read bio of 8 sectors at 64 is queued |
//! | `2.5ms C WSM 64+0 cpu=1` | a completion of no bytes on CPU 1 |
//! | `1 X W 0+2048 / 1024` | a split at 1024 |
//! | `1 A W 2056+8 <- 254,1 8` | a bio mapped here from device 254,1, sector 8 |
//! | `3 U N 16` | an unplug of 16 requests |
//! | `0 P N` | a plug |
//! | `4 m raid5 rmw 8 1` | a kernel message |
//! | `0 name fio` | a note: the task's name |
//! | `0 lost 3` | the reader's note that 3 events are missing |
//!
//! Times are microseconds unless they end in `ns`, `us`, `ms` or `s`. RWBS is as the kernel prints it: an F before the
//! letter is a flush, one behind it FUA; `pc` behind the extent makes it a passthrough command.
//! `dev=9,0 cpu=1 tid=7 err=5 cg=1234 seq=9` say more; without them it is CPU 0, thread 100 and no error.

use crate::scripted_event::{ScriptedEvent, DISK};
use trace::{Action, Bytes, Cpu, Detail, DevId, Event, Flags, Nanos, Sector, Span, Tid};

/// A length of time: `12` or `12us`, `4.97ms`, `60s`, `3ns`.
pub fn nanos(text: &str) -> Nanos {
    let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("", 1e3)];
    for (unit, factor) in units {
        if let Some(Ok(n)) = text.strip_suffix(unit).map(str::parse::<f64>) {
            return Nanos((n * factor).round() as u64);
        }
    }
    panic!("no time: {text:?}");
}

/// Reads one line of a script.
pub(crate) fn told(line: &str) -> ScriptedEvent {
    let bad = |what: &str| -> ! { panic!("{what} in the line {line:?}") };
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let mut event = Event {
        dev: DISK,
        tid: Tid(100),
        time: nanos(words[0]),
        action: action(words[1]),
        ..Event::default()
    };
    let number = |v: &str| v.parse::<u32>().unwrap_or_else(|_| bad("no number"));
    words.retain(|w| {
        let Some((key, value)) = w.split_once('=') else { return true };
        match key {
            "dev" => event.dev = dev(value),
            "cpu" => event.cpu = Cpu(number(value)),
            "tid" => event.tid = Tid(number(value)),
            "err" => event.error = number(value) as u16,
            "seq" => event.sequence = number(value),
            "cg" => event.cgroup = number(value) as u64,
            _ => return true,
        }
        false
    });
    if words.last() == Some(&"pc") {
        words.pop();
        event.flags = Flags::PASSTHROUGH;
    }
    let mut text = Vec::new();
    event.flags = event.flags.with(category(event.action));
    match event.action {
        Action::TaskName | Action::Message => text = words[2..].join(" ").into_bytes(),
        Action::Lost => event.detail = Detail::Lost(number(words[2]) as u64),
        Action::WallClock => {
            event.detail = Detail::Wall { seconds: number(words[2]), nanos: number(words[3]) }
        }
        Action::Plug => {}
        Action::Unplug | Action::UnplugImplicit => event.detail = Detail::Requests(number(words[3]) as u64),
        _ => {
            event.flags = event.flags.with(rwbs(words[2]));
            let (start, len) = words[3].split_once('+').unwrap_or_else(|| bad("no extent"));
            let start = start.parse().unwrap_or_else(|_| bad("no sector"));
            (event.sector, event.bytes) = (Sector(start), Bytes::from_sectors(number(len) as u64));
            event.detail = match words[4..] {
                [] => Detail::None,
                ["/", at] => Detail::Split(Sector(number(at) as u64)),
                ["<-", from, at] => Detail::Remap { dev: dev(from), sector: Sector(number(at) as u64) },
                _ => bad("too many words"),
            };
        }
    }
    if !text.is_empty() {
        event.detail = Detail::Text(Span { start: 0, len: text.len() as u32 });
    }
    ScriptedEvent { event, text }
}

fn dev(text: &str) -> DevId {
    let (major, minor) = text.split_once(',').unwrap_or_else(|| panic!("no device: {text:?}"));
    DevId::new(major.parse().expect("a major number"), minor.parse().expect("a minor number"))
}

fn action(letters: &str) -> Action {
    use Action::*;
    match letters {
        "name" => TaskName,
        "lost" => Lost,
        "wall" => WallClock,
        _ => {
            *STEPS.iter().find(|a| a.letters() == letters).unwrap_or_else(|| panic!("no action: {letters:?}"))
        }
    }
}

/// The steps of I/O that both blktrace's files and blkparse's text have, and messages.
pub const STEPS: [Action; 17] = [
    Action::Queue,
    Action::BackMerge,
    Action::FrontMerge,
    Action::Get,
    Action::SleepForRequest,
    Action::Requeue,
    Action::Issue,
    Action::Complete,
    Action::Plug,
    Action::Unplug,
    Action::UnplugImplicit,
    Action::Insert,
    Action::Split,
    Action::Bounce,
    Action::Remap,
    Action::Abort,
    Action::Message,
];

/// The category that the kernel adds to an action (`BLK_TA_*` in blktrace_api.h).
fn category(action: Action) -> Flags {
    match action {
        a if a.is_note() || a == Action::WallClock => Flags::NOTE,
        Action::Requeue => Flags::REQUEUE,
        Action::Issue => Flags::ISSUE,
        Action::Complete => Flags::COMPLETE,
        Action::Split => Flags(0),
        _ => Flags::QUEUE,
    }
}

/// Flags from the letters that `blk_fill_rwbs` in kernel/trace/blktrace.c prints. What is not a write counts as a read
/// there, and so does a flush request (`FN`).
fn rwbs(text: &str) -> Flags {
    let mut flags = Flags(0);
    let mut seen_op = false;
    for letter in text.chars() {
        flags = flags.with(match letter {
            'F' if !seen_op => Flags::FLUSH,
            'F' => Flags::FUA,
            'W' => Flags::WRITE,
            'D' => Flags::DISCARD.with(Flags::WRITE),
            'R' | 'N' => Flags::READ,
            'A' => Flags::AHEAD,
            'S' => Flags::SYNC,
            'M' => Flags::META,
            _ => panic!("no RWBS: {text:?}"),
        });
        seen_op |= matches!(letter, 'W' | 'D' | 'R' | 'N');
    }
    flags
}
