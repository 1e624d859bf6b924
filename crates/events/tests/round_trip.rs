//! Events to blkparse's text and back: what the text keeps is the same again.

use crate::support::{made, message, named, print_bytes, printed, Build, Made};
use events::{Format, Options};
use proptest::prelude::*;
use std::io::Cursor;
use std::path::PathBuf;
use testkit::STEPS;
use trace::blkparse::BlkparseText;
use trace::{Action, Batch, Bytes, Detail, DevId, Event, Flags, Input, Nanos, Quality, Sector, Source};

fn read(text: Vec<u8>) -> (Vec<Made>, Quality) {
    let input = Input::from_reader(PathBuf::from("text"), Box::new(Cursor::new(text)), None).unwrap();
    let mut source = BlkparseText::open(input);
    let (mut batch, mut all) = (Batch::default(), Vec::new());
    while source.fill(&mut batch).unwrap() {
        all.extend(batch.events.iter().map(|e| Made { event: *e, text: batch.text(e).to_vec() }));
    }
    (all, source.quality())
}

/// What the text keeps of an event.
fn kept(m: &Made, origin: Nanos) -> Made {
    use Action::*;
    let e = m.event;
    let mut k = Event { time: e.time.since(origin), cgroup: 0, ..e };
    let passed = e.flags.has(Flags::PASSTHROUGH);
    k.flags = if passed { k.flags } else { k.flags.with(Flags::FS) };
    match e.action {
        Message => k.flags = Flags::NOTE,
        Plug | Unplug | UnplugImplicit => k.sector = Sector(0),
        Split => k.bytes = Bytes(0),
        Complete | Requeue if passed => (k.sector, k.bytes) = (Sector(0), Bytes(0)),
        Queue | Issue | Insert if passed => k.sector = Sector(0),
        Complete | Requeue | Remap => {}
        _ if e.bytes.0 == 0 => k.sector = Sector(0),
        _ => {}
    }
    if !matches!(e.action, Complete | Requeue) {
        k.error = 0;
    }
    if matches!(e.detail, Detail::Text(_)) {
        k.detail = Detail::None;
    }
    Made { event: k, text: m.text.clone() }
}

fn an_event() -> impl Strategy<Value = Made> {
    use Action::*;
    let action = prop::sample::select(STEPS.to_vec());
    let flags = prop::sample::subsequence(
        vec![Flags::SYNC, Flags::META, Flags::AHEAD, Flags::FUA, Flags::FLUSH],
        0..5,
    );
    let numbers = (any::<u64>(), 0..1u64 << 32, any::<u64>(), any::<u16>(), 0..1u32 << 20);
    let place = (100..104u32, any::<u32>(), any::<u32>(), 0..1u64 << 50);
    // A command that ends in a byte other than 0: of zeros at the end, the text keeps one.
    let command = prop::collection::vec(any::<u8>(), 0..9).prop_map(|mut c| {
        c.push(1);
        c
    });
    (action, 0..3u32, flags, numbers, place, command, any::<bool>(), "[ -~]{0,30}").prop_map(
        |(
            action,
            direction,
            flags,
            (sector, sectors, other, error, minor),
            place,
            command,
            passed,
            words,
        )| {
            let (tid, cpu, sequence, time) = place;
            if action == Message {
                let mut m = message(time, words.trim_end());
                (m.event.cpu.0, m.event.sequence) = (cpu, sequence);
                return m;
            }
            let bare = matches!(action, Plug | Unplug | UnplugImplicit);
            let direction = match direction {
                _ if bare => Flags(0),
                // Reads of no bytes are called N, which is read back as no direction.
                0 if sectors > 0 && action != Split && !(passed && matches!(action, Complete | Requeue)) => {
                    Flags::READ
                }
                1 => Flags::WRITE,
                _ => Flags::WRITE.with(Flags::DISCARD),
            };
            let sectors = if bare { 0 } else { sectors };
            let kind = if bare { direction } else { flags.into_iter().fold(direction, Flags::with) };
            let mut m = made(time, action, sector, sectors, kind).tid(tid).cpu(cpu).error(error);
            m.event.sequence = sequence;
            m.event.dev = DevId::new(cpu % 4096, minor);
            match action {
                Unplug | UnplugImplicit => m.detail(Detail::Requests(other)),
                Split => m.detail(Detail::Split(Sector(other))),
                Remap => m.detail(Detail::Remap { dev: DevId::new(8, minor), sector: Sector(other) }),
                Issue | Complete | Insert if passed => m.command(&command),
                Queue | Requeue if passed => m.command(b""),
                _ => m,
            }
        },
    )
}

fn names() -> Vec<Made> {
    (100..).zip(["fio", "a b] c", "[x", "(y) + 8"]).map(|(tid, name)| named(0, tid, name)).collect()
}

proptest! {
    #[test]
    fn events_survive_the_text(mut events in prop::collection::vec(an_event(), 1..40)) {
        events.sort_by_key(|m| m.event.time);
        let origin = events[0].event.time;
        let text = printed(&[names(), events.clone()].concat(), Options::default());
        let (back, quality) = read(text.clone().into_bytes());
        prop_assert_eq!(quality.unknown, 0, "{}\n{:?}", text, quality.notes);
        let (told, back): (Vec<Made>, Vec<Made>) =
            back.into_iter().partition(|m| m.event.action == Action::TaskName);
        for m in &told {
            let known = names().into_iter().find(|n| n.event.tid == m.event.tid);
            prop_assert_eq!(Some(&m.text), known.as_ref().map(|n| &n.text));
        }
        prop_assert_eq!(back.len(), events.len());
        for (b, e) in back.iter().zip(&events) {
            let (mut b, k) = (b.clone(), kept(e, origin));
            if let Detail::Text(_) = b.event.detail {
                b.event.detail = Detail::None;
            }
            prop_assert_eq!(b.event, k.event, "\n{}", text);
            prop_assert_eq!(b.text, k.text);
        }
    }

    #[test]
    fn damaged_text_never_panics(events in prop::collection::vec(an_event(), 1..20),
                                 hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
                                 cut in any::<prop::sample::Index>()) {
        let mut text = printed(&[names(), events].concat(), Options::default()).into_bytes();
        for (at, byte) in hits {
            let at = at.index(text.len());
            text[at] = byte;
        }
        text.truncate(cut.index(text.len()) + 1);
        let lines = text.iter().filter(|c| **c == b'\n').count() as u64 + 1;
        let (back, quality) = read(text);
        prop_assert_eq!(back.len() as u64, quality.events);
        // Each line gives at most an event and a name, or is counted.
        prop_assert!(quality.events <= 2 * lines && quality.unknown <= lines);
    }

    #[test]
    fn no_event_makes_the_printer_panic(events in prop::collection::vec(nonsense(), 1..60), track: bool) {
        let mut o = Options { track, per_task: true, by_name: track, ..Options::default() };
        if track {
            o.formats.set_all(Format::parse("%a%c%C%d%D%e%m%M%n%N%p%P%s%S%t%T%u%U\\n").unwrap());
        }
        let lines = print_bytes(&events, o);
        prop_assert!(lines.iter().all(|c| *c == b'\n' || *c == b'\t' || !c.is_ascii_control()));
    }
}

/// Any action with anything in its fields.
fn nonsense() -> impl Strategy<Value = Made> {
    use Action::*;
    let action = prop_oneof![
        prop::sample::select(STEPS.to_vec()),
        prop::sample::select(vec![DriverData, ZonePlug, ZoneUnplug, ZoneManage, TaskName, WallClock, Lost]),
        any::<u16>().prop_map(Other),
    ];
    let number = || prop_oneof![Just(0), Just(u64::MAX), any::<u64>()];
    let detail = prop_oneof![
        Just(Detail::None),
        number().prop_map(Detail::Lost),
        number().prop_map(Detail::Requests),
        number().prop_map(|s| Detail::Split(Sector(s))),
        (any::<u32>(), number()).prop_map(|(d, s)| Detail::Remap { dev: DevId(d), sector: Sector(s) }),
    ];
    let text = prop::collection::vec(any::<u8>(), 0..40);
    (action, number(), number(), number(), any::<u32>(), 0..3u32, detail, text).prop_map(
        |(action, time, sector, bytes, flags, small, detail, text)| {
            let event = Event {
                time: Nanos(time),
                sector: Sector(sector),
                bytes: Bytes(bytes),
                flags: Flags(flags),
                dev: DevId(small.wrapping_sub(1)),
                cpu: trace::Cpu(small.wrapping_sub(1)),
                tid: trace::Tid(small),
                action,
                detail,
                ..Event::default()
            };
            Made { event, text: vec![] }.text(&text)
        },
    )
}
