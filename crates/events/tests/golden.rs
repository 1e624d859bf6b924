//! What `iowhy events` prints of a few hand-made events: one of each action.

use crate::support::{made, message, named, printed, Build, Made};
use events::{Format, Options, Window};
use trace::{Action, Detail, DevId, Flags, Sector};

const R: Flags = Flags::READ;
const W: Flags = Flags::WRITE;

fn quiet() -> Options {
    Options { quiet: true, ..Options::default() }
}

fn one_of_each() -> Vec<Made> {
    let ws = W.with(Flags::SYNC);
    let inquiry = [0x12, 0, 0, 0, 0x24, 0];
    vec![
        named(5, 100, "fio"),
        named(5, 101, "kworker/0:1H"),
        made(1000, Action::Remap, 223490, 8, ws)
            .detail(Detail::Remap { dev: DevId::new(8, 1), sector: Sector(223427) }),
        made(2000, Action::Queue, 223490, 8, ws),
        made(3000, Action::Split, 223490, 8, ws).detail(Detail::Split(Sector(223494))),
        made(4000, Action::Get, 223490, 4, ws),
        made(5000, Action::BackMerge, 223494, 4, ws),
        made(6000, Action::FrontMerge, 223486, 4, ws),
        made(7000, Action::SleepForRequest, 223490, 8, R),
        made(8000, Action::Plug, 0, 0, Flags(0)),
        made(9000, Action::Unplug, 0, 0, Flags(0)).detail(Detail::Requests(3)),
        made(9500, Action::UnplugImplicit, 0, 0, Flags(0)).detail(Detail::Requests(1)),
        made(10_000, Action::Insert, 223486, 12, ws),
        made(11_000, Action::Issue, 223486, 12, ws).tid(101).cpu(1),
        made(12_000, Action::Requeue, 223486, 12, ws).tid(101).cpu(1),
        made(2_000_013_000, Action::Issue, 223486, 12, ws).tid(101).cpu(1),
        made(2_000_014_000, Action::Complete, 223486, 12, ws).tid(0).cpu(1).error(5),
        made(2_000_015_000, Action::Bounce, 8, 8, R),
        made(2_000_016_000, Action::Queue, 0, 0, W.with(Flags::FLUSH).with(Flags::FUA)),
        made(2_000_017_000, Action::Issue, 0, 0, Flags::FLUSH).tid(101),
        made(2_000_018_000, Action::Complete, 77, 0, Flags::FLUSH),
        made(2_000_019_000, Action::Queue, 16, 8, R.with(Flags::AHEAD).with(Flags::META)),
        made(2_000_020_000, Action::Queue, 16, 8, W.with(Flags::DISCARD)),
        message(2_000_022_000, "cfq100S / insert_request"),
        message(2_000_023_000, "raid5 rmw 8 1").cgroup(42).tid(7),
        made(2_000_024_000, Action::Queue, 1, 1, R).cgroup(42),
        made(2_000_025_000, Action::Issue, 0, 0, R).command(&inquiry),
        made(2_000_026_000, Action::Complete, 0, 0, R).command(&inquiry),
        made(2_000_027_000, Action::Abort, 1, 1, R),
    ]
}

#[test]
fn the_default_line_of_each_action() {
    let events = one_of_each();
    let wanted = "\x20 8,0    0        0     0.000000000   100  A  WS 223490 + 8 <- (8,1) 223427
  8,0    0        0     0.000001000   100  Q  WS 223490 + 8 [fio]
  8,0    0        0     0.000002000   100  X  WS 223490 / 223494 [fio]
  8,0    0        0     0.000003000   100  G  WS 223490 + 4 [fio]
  8,0    0        0     0.000004000   100  M  WS 223494 + 4 [fio]
  8,0    0        0     0.000005000   100  F  WS 223486 + 4 [fio]
  8,0    0        0     0.000006000   100  S   R 223490 + 8 [fio]
  8,0    0        0     0.000007000   100  P   N [fio]
  8,0    0        0     0.000008000   100  U   N [fio] 3
  8,0    0        0     0.000008500   100 UT   N [fio] 1
  8,0    0        0     0.000009000   100  I  WS 223486 + 12 [fio]
  8,0    1        0     0.000010000   101  D  WS 223486 + 12 [kworker/0:1H]
  8,0    1        0     0.000011000   101  R  WS 223486 + 12 [0]
  8,0    1        0     2.000012000   101  D  WS 223486 + 12 [kworker/0:1H]
  8,0    1        0     2.000013000     0  C  WS 223486 + 12 [5]
  8,0    0        0     2.000014000   100  B   R 8 + 8 [fio]
  8,0    0        0     2.000015000   100  Q FWF [fio]
  8,0    0        0     2.000016000   101  D  FN [kworker/0:1H]
  8,0    0        0     2.000017000   100  C  FN 77 [0]
  8,0    0        0     2.000018000   100  Q RAM 16 + 8 [fio]
  8,0    0        0     2.000019000   100  Q   D 16 + 8 [fio]
  8,0    0        0     2.000021000     0  m   N cfq100S / insert_request
  8,0    0        0     2.000022000     7  m   N raid5 rmw 8 1
  8,0    0        0     2.000023000   100  Q   R 1 + 1 [fio]
  8,0    0        0     2.000024000   100  D   N 0 (12 00 00 00 24 00 ..) [fio]
  8,0    0        0     2.000025000   100  C   N (12 00 00 00 24 00 ..) [0]
  8,0    0        0     2.000026000   100 ABORT   R 1 + 1 [fio]
";
    assert_eq!(printed(&events, quiet()), wanted);
}

#[test]
fn fields_with_and_without_width() {
    let mut o = quiet();
    let format = "<%a|%c|%3c|%-8C|%d|%D|%e|%m|%M|%n|%6N|%p|%P|%s|%S|%t|%12t|%T|%U>\\n";
    o.formats.set_all(Format::parse(format).unwrap());
    let events = vec![
        named(0, 100, "fio"),
        made(1_000_000_007, Action::Queue, 8, 3, R).cpu(12),
        made(3_500_000_007, Action::Unplug, 0, 0, Flags(0)).detail(Detail::Requests(7)),
        made(3_500_000_008, Action::Complete, 8, 3, R).command(&[0x28, 1]).error(65531).tid(9),
        message(3_500_000_009, "messages have a form of their own"),
    ];
    let wanted = "\
<Q|12| 12|fio     |R|  8,0  |0|0|8|3|  1536|100||0|8|000000000|000000000000|0|0>
<U|0|  0|fio     |N|  8,0  |0|0|8|0|     0|100||0|0|500000000|000500000000|2|7>
<C|0|  0|(null)  |R|  8,0  |65531|0|8|3|  1536|9|28 01|0|8|500000001|000500000001|2|0>
  8,0    0        0     2.500000002     0  m   N messages have a form of their own
";
    assert_eq!(printed(&events, o), wanted);
}

#[test]
fn a_task_has_the_name_of_its_latest_note() {
    let mut o = quiet();
    o.formats.set_all(Format::parse("%C ").unwrap());
    let q = |t| made(t, Action::Queue, 0, 8, R);
    let events = [q(1), named(2, 100, "sh"), q(3), named(4, 100, "dd"), q(5), q(6)];
    assert_eq!(printed(&events, o), "(null) sh dd dd ");
}

#[test]
fn names_and_messages_cannot_steer_the_terminal() {
    let events =
        [named(0, 100, "a\x1b[2Jb"), made(1, Action::Plug, 0, 0, Flags(0)), message(2, "two\nlines\x07\n")];
    let shown = printed(&events, quiet());
    assert!(shown.contains("[a?[2Jb]\n"), "{shown}");
    assert!(shown.ends_with("N two?lines?\n"), "{shown}");
}

#[test]
fn a_window_holds_both_its_ends() {
    let mut o = quiet();
    o.window = Window::parse("10ns:20ns").unwrap();
    o.formats.set_all(Format::parse("%t ").unwrap());
    let events: Vec<Made> = (0..5).map(|i| made(100 + 5 * i, Action::Queue, 0, 8, R)).collect();
    assert_eq!(printed(&events, o), "000000010 000000015 000000020 ");
}

#[test]
fn the_steps_of_a_request_and_their_time() {
    let events = [
        made(10, Action::Queue, 0, 8, R),
        made(20, Action::Get, 0, 8, R),
        made(50, Action::Insert, 0, 8, R),
        made(90, Action::Issue, 0, 8, R),
        made(200, Action::Complete, 0, 8, R),
    ];
    let wanted = "\x20 8,0    0        0     0.000000000   100  Q   R 0 + 8 [(null)]
  8,0    0        0     0.000000010   100  G   R 0 + 8 [(null)]
  8,0    0        0     0.000000040   100  I   R 0 + 8 (      30) [(null)]
  8,0    0        0     0.000000080   100  D   R 0 + 8 (      40) [(null)]
  8,0    0        0     0.000000190   100  C   R 0 + 8 (     110) [0]
";
    assert_eq!(printed(&events, Options { track: true, ..quiet() }), wanted);
    let mut o = quiet();
    o.formats.set_all(Format::parse("%a%u ").unwrap());
    assert_eq!(printed(&events, o), "Q G I30 D40 C110 ");
}

#[test]
fn lost_events_are_skips() {
    let lost = Made {
        event: trace::Event { detail: Detail::Lost(3), ..made(150, Action::Lost, 0, 0, Flags(0)).event },
        text: vec![],
    };
    let events = [made(100, Action::Queue, 0, 8, R), lost, made(200, Action::Queue, 0, 8, R)];
    let o = Options { no_events: true, ..Options::default() };
    let wanted = "\
CPU0 (8,0):
 Reads Queued:           2,        8KiB\t Writes Queued:           0,        0KiB
 Read Dispatches:        0,        0KiB\t Write Dispatches:        0,        0KiB
 Reads Requeued:         0\t\t Writes Requeued:         0
 Reads Completed:        0,        0KiB\t Writes Completed:        0,        0KiB
 Read Merges:            0,        0KiB\t Write Merges:            0,        0KiB
 Read depth:             0        \t Write depth:             0
 IO unplugs:             0        \t Timer unplugs:           0

Throughput (R/W): 0KiB/s / 0KiB/s
Events (8,0): 2 entries
Skips: 1 forward (3 -  60.0%)
";
    assert_eq!(printed(&events, o), wanted);
}
