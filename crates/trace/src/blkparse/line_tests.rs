use super::*;

fn read(line: &str) -> Option<(Event, String, String)> {
    match parse(line.as_bytes()) {
        Line::Event(p) => {
            let text = match p.text {
                Text::None => String::new(),
                Text::Message(m) => String::from_utf8_lossy(m).into_owned(),
                Text::Hex(h) => String::from_utf8_lossy(h).into_owned(),
            };
            Some((p.event, String::from_utf8_lossy(p.task.unwrap_or_default()).into_owned(), text))
        }
        _ => None,
    }
}

fn event(line: &str) -> Event {
    read(line).expect(line).0
}

#[test]
fn a_whole_line() {
    let (e, task, _) =
        read("  8,16   3       21     5.000002001   697  G  WS 223490 + 8 [kworker/u4:0]").unwrap();
    let wanted = Event {
        time: Nanos(5_000_002_001),
        sector: Sector(223490),
        bytes: Bytes(4096),
        dev: DevId::new(8, 16),
        tid: Tid(697),
        cpu: Cpu(3),
        sequence: 21,
        action: Action::Get,
        flags: Flags::WRITE.with(Flags::SYNC).with(Flags::QUEUE).with(Flags::FS),
        ..Event::default()
    };
    assert_eq!((e, task.as_str()), (wanted, "kworker/u4:0"));
}

#[test]
fn the_tails_of_all_actions() {
    let head = "254,0 1 9 0.5 94";
    assert_eq!(event(&format!("{head} Q FWS [mkfs.ext4]")).bytes, Bytes(0));
    let e = event(&format!("{head} C FWS 77 [65531]"));
    assert_eq!((e.sector, e.error), (Sector(77), 65531));
    assert_eq!(event(&format!("{head} C R 77 + 8 (    1000) [5]")).error, 5);
    assert_eq!(event(&format!("{head} I R 77 + 8 (    1000) [a]")).bytes, Bytes(4096));
    assert_eq!(event(&format!("{head} U N [fio] 3")).detail, Detail::Requests(3));
    assert_eq!(event(&format!("{head} UT N [fio] 3")).action, Action::UnplugImplicit);
    assert_eq!(event(&format!("{head} P N [fio]")).action, Action::Plug);
    let e = event(&format!("{head} X DS 0 / 4194303 [mkfs.ext4]"));
    assert_eq!(e.detail, Detail::Split(Sector(4194303)));
    assert!(e.flags.has(Flags::DISCARD.with(Flags::SYNC)));
    let e = event(&format!("{head} A R 5 + 8 <- (253,1) 262144"));
    assert_eq!(e.detail, Detail::Remap { dev: DevId::new(253, 1), sector: Sector(262144) });
}

#[test]
fn passthrough_has_bytes_and_a_command() {
    let (e, task, hex) = read("8,0 0 1 0.0 9 D R 36 (12 00 00 00 24 ..) [sg_inq]").unwrap();
    assert!(e.flags.has(Flags::PASSTHROUGH) && !e.flags.has(Flags::FS));
    assert_eq!((e.sector, e.bytes, task.as_str()), (Sector(0), Bytes(36), "sg_inq"));
    assert_eq!(bytes_of_hex(hex.as_bytes()).collect::<Option<Vec<_>>>(), Some(vec![0x12, 0, 0, 0, 0x24]));
    assert!(event("8,0 0 1 0.0 9 D N 0 [sg_inq]").flags.has(Flags::PASSTHROUGH));
    assert!(event("8,0 0 1 0.0 9 C R (12 00 ..) [0]").flags.has(Flags::PASSTHROUGH));
    assert!(event("8,0 0 1 0.0 9 C R [0]").flags.has(Flags::PASSTHROUGH));
    assert!(!event("8,0 0 1 0.0 9 C N 0 [0]").flags.has(Flags::PASSTHROUGH));
}

#[test]
fn what_readers_write_behind_an_event_is_no_part_of_it() {
    let (e, task, _) = read("8,0 0 1 0.0 9 D WS 1 + 8 [jbd2/sdb1-8]   <-- journal").unwrap();
    assert_eq!((e.action, e.bytes, task.as_str()), (Action::Issue, Bytes(4096), "jbd2/sdb1-8"));
    assert_eq!(event("8,0 0 1 0.0 0 C WS 1 + 8 [0]     here it's 10ms!").error, 0);
    assert_eq!(read("8,0 0 1 0.0 9 Q R 1 + 1 [fio] <- [see the line below]").unwrap().1, "fio");
    assert_eq!(event("8,0 0 1 0.0 9 U N [fio] 3 <-- three").detail, Detail::Requests(3));
    assert_eq!(event("8,0 0 1 0.0 9 D WS 1 + 8 [fio]  3 of these").bytes, Bytes(4096));
    assert_eq!(read("8,0 0 1 0.0 9 D WS 1 + 8 no name <-- here"), None);
}

#[test]
fn messages_keep_their_blanks() {
    let (e, _, text) = read("  8,0    0        0     0.536262021     0  m   N  cfq5072S / alloced ").unwrap();
    assert_eq!((e.action, text.as_str()), (Action::Message, " cfq5072S / alloced "));
}

#[test]
fn names_may_hold_brackets_and_blanks() {
    assert_eq!(read("8,0 0 1 0.0 9 Q R 1 + 1 [a] b [c]").unwrap().1, "a] b [c");
    assert_eq!(read("8,0 0 1 0.0 9 U N [a] 7] 2").unwrap().1, "a] 7");
    assert_eq!(read("8,0 0 1 0.0 9 Q R 1 + 1 []").unwrap().1, "");
    assert_eq!(read("8,0 0 1 0.0 9 Q R 1 + 1 [(null)]").unwrap().1, "");
}

#[test]
fn quoted_indented_and_shortened() {
    assert_eq!(event("> >   8,0    1        1     0.000000001     9  Q   R 1 + 1 [a]").time, Nanos(1));
    // As in slides without CPU and number.
    let e = event("8,0 118.779433534 638 A WS 11705240 + 8 <- (8,2) 11395984");
    assert_eq!((e.time, e.tid, e.cpu), (Nanos(118_779_433_534), Tid(638), Cpu(0)));
}

#[test]
fn what_does_not_make_sense_is_no_event() {
    for line in [
        "8,0 1 1 0.0 9 Q R 1 + 1 [a",
        "8,0 1 1 0.0 9 Q R 1 + 1",
        "8,0 1 1 0.0 9 Q R 1 + 1x [a]",
        "8,0 1 1 0.0 9 Q R 1 + 18446744073709551616 [a]",
        "8,0 1 1 0.0 9 C R 1 + 1 [a]",
        "8,0 1 1 0.0 9 C R 1 + 1 [65536]",
        "8,0 1 1 0.0 9 Q Q 1 + 1 [a]",
        "8,0 1 1 0.0 9 Y R 1 + 1 [a]",
        "8,0 1 1 0.0 9 D R 36 (12 0 24) [a]",
        "8,0 1 1 0.0 9 Q R 1 + 1 [a] b",
        "8,0 1 1 0.0000000001 9 Q R 1 + 1 [a]",
        "8,0 1 1 0 9 Q R 1 + 1 [a]",
        "8,0 1 1 18446744074.0 9 Q R 1 + 1 [a]",
        "4096,0 1 1 0.0 9 Q R 1 + 1 [a]",
        "8.0 1 1 0.0 9 Q R 1 + 1 [a]",
        "8,0",
        "On 8,0 we saw",
    ] {
        assert_eq!(parse(line.as_bytes()), Line::Other, "{line}");
    }
}

#[test]
fn the_summary_is_an_aside() {
    for line in [
        "",
        ">",
        "CPU0 (vda):",
        " Reads Queued:        1089,    21716KiB\t Writes Queued:        1120,     6174MiB",
        " IO unplugs:          2229        \t Timer unplugs:          52",
        "Total (vda):",
        "Throughput (R/W): 5581KiB/s / 1437021KiB/s",
        "Events (vda): 41180 entries",
        "Skips: 0 forward (0 -   0.0%)",
        "Input file vda.blktrace.1 added",
    ] {
        assert_eq!(parse(line.as_bytes()), Line::Aside, "{line}");
    }
}
