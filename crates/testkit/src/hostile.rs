//! Recordings that no kernel would make, for property tests: any action in any order on a few sectors, so that all
//! combinations occur.

use crate::script::Script;
use crate::scripted_event::ScriptedEvent;
use proptest::prelude::*;
use trace::{Action, Bytes, Cpu, Detail, DevId, Event, Flags, Nanos, Sector, Span, Tid};

/// Scripts of up to `most` events.
pub fn script(most: usize) -> impl Strategy<Value = Script> {
    prop::collection::vec(told(), 0..most).prop_map(|mut told| {
        // Time mostly increases: each event's time is a step, occasionally backwards.
        let mut now = 1 << 40;
        for t in &mut told {
            let step = t.event.time.0;
            now = if step % 50 == 49 { now - step.min(now) } else { now + step };
            t.event.time = Nanos(now);
        }
        Script { told }
    })
}

fn action() -> impl Strategy<Value = Action> {
    use Action::*;
    prop_oneof![
        8 => Just(Queue), 6 => Just(Get), 4 => Just(Insert), 8 => Just(Issue), 8 => Just(Complete),
        3 => Just(BackMerge), 3 => Just(FrontMerge), 3 => Just(Split), 3 => Just(Remap), 3 => Just(Requeue),
        1 => prop::sample::select(vec![
            Plug, Unplug, UnplugImplicit, Lost, TaskName, Message, WallClock, Abort, Bounce, DriverData,
            SleepForRequest, ZonePlug, ZoneUnplug, ZoneManage, Other(77),
        ]),
    ]
}

fn kind() -> impl Strategy<Value = Flags> {
    let usual = [Flags::READ, Flags::WRITE, Flags::WRITE.with(Flags::SYNC), Flags::FLUSH]
        .into_iter()
        .chain([Flags::WRITE.with(Flags::FLUSH).with(Flags::FUA), Flags::WRITE.with(Flags::FUA)])
        .chain([Flags::WRITE.with(Flags::DISCARD), Flags::PASSTHROUGH])
        .collect::<Vec<_>>();
    prop_oneof![12 => prop::sample::select(usual), 1 => any::<u32>().prop_map(Flags)]
}

fn sector() -> impl Strategy<Value = Sector> {
    prop_oneof![30 => (0u64..12).prop_map(|n| Sector(n * 8)), 1 => any::<u64>().prop_map(Sector), 1 => Just(Sector(u64::MAX))]
}

fn length() -> impl Strategy<Value = Bytes> {
    prop_oneof![
        20 => (0u64..4).prop_map(|n| Bytes(n * 4096)),
        2 => (0u64..10_000).prop_map(Bytes),
        1 => any::<u32>().prop_map(|n| Bytes(n as u64)),
    ]
}

fn step() -> impl Strategy<Value = Nanos> {
    prop_oneof![20 => (0u64..1000).prop_map(Nanos), 1 => (0u64..60_000_000_000).prop_map(Nanos)]
}

fn told() -> impl Strategy<Value = ScriptedEvent> {
    let place = (
        prop::sample::select(vec![DevId::new(8, 0), DevId::new(8, 16), DevId::new(9, 0)]),
        sector(),
        length(),
    );
    let other =
        (prop::sample::select(vec![DevId::new(8, 0), DevId::new(9, 0), DevId::new(253, 0)]), sector());
    (action(), kind(), place, other, step(), (0u32..3, 0u32..3, 0u16..2, 0u64..5)).prop_map(
        |(action, flags, (dev, sector, bytes), (upper, at), time, (tid, cpu, error, n))| {
            let text =
                if matches!(action, Action::TaskName | Action::Message) { b"words".to_vec() } else { vec![] };
            let detail = match action {
                Action::Split => Detail::Split(at),
                Action::Remap => Detail::Remap { dev: upper, sector: at },
                Action::Unplug | Action::UnplugImplicit => Detail::Requests(n),
                Action::Lost => Detail::Lost(n),
                Action::TaskName | Action::Message => Detail::Text(Span { start: 0, len: text.len() as u32 }),
                _ => Detail::None,
            };
            let (tid, cpu) = (Tid(tid), Cpu(cpu));
            let event = Event {
                action,
                flags,
                dev,
                sector,
                bytes,
                time,
                tid,
                cpu,
                error,
                detail,
                ..Event::default()
            };
            ScriptedEvent { event, text }
        },
    )
}
