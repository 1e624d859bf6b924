//! Lines in formats of `blkparse -f`, printed of real recordings: each is read as what it is, or refused, and never as anything else.

use events::{Format, Formats, Options, OwnFormat};
use std::path::Path;
use trace::blkparse::{own_format, Own};
use trace::{Action, Batch, Event, Flags};

fn events(path: &Path) -> Vec<Event> {
    let mut opened = trace::open(path).unwrap();
    let (mut batch, mut all) = (Batch::default(), vec![]);
    while opened.source.fill(&mut batch).unwrap() {
        all.extend(
            batch
                .events
                .iter()
                .filter(|e| !matches!(e.action, Action::TaskName | Action::WallClock | Action::Message)),
        );
    }
    all
}

fn fixture(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

fn printed(recording: &Path, format: &str) -> String {
    let mut formats = Formats::default();
    formats.set_all(Format::parse(format).unwrap());
    crate::support::iowhy(recording, Options { formats, quiet: true, own_times: true, ..Options::default() })
}

/// What lines say of an event, with or without its device.
fn told(e: &Event, device: bool) -> String {
    let plug = matches!(e.action, Action::Plug | Action::Unplug | Action::UnplugImplicit);
    let kind = [Flags::READ, Flags::WRITE, Flags::SYNC, Flags::FLUSH, Flags::FUA, Flags::META]
        .map(|f| e.flags.has(f));
    let dev = if device { e.dev.0 } else { 0 };
    match e.action {
        _ if plug => format!("{} {dev} {:?}", e.time.0, e.action),
        Action::Split => format!("{} {dev} X {}", e.time.0, e.sector.0),
        // A read of no bytes is called N.
        _ if e.bytes.0 == 0 => format!("{} {dev} {:?} {}", e.time.0, e.action, e.sector.0),
        action => format!("{} {dev} {action:?} {kind:?} {} {}", e.time.0, e.sector.0, e.bytes.0),
    }
}

/// Whether a text is read; if it is, as what it was printed of.
fn is_read(recording: &[Event], text: &str, about: &str) -> bool {
    match own_format(text.as_bytes()) {
        Own::None => panic!("{about}: nothing of blkparse's\n{}", &text[..text.len().min(400)]),
        Own::Refused(_) => return false,
        Own::Read(_) => {}
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    std::fs::write(&path, text).unwrap();
    let back = events(&path);
    assert_eq!(back.len(), recording.len(), "{about}");
    let has_device = back.iter().any(|e| e.dev.0 != 0);
    for (is, was) in back.iter().zip(recording) {
        assert_eq!(told(is, has_device), told(was, has_device), "{about}");
    }
    true
}

#[test]
fn what_can_be_nothing_else_is_read_without_a_word() {
    let path = fixture("randread-baseline");
    let recording = events(&path);
    for format in [
        "%5T.%9t %D %2a %3d %S+%n [%C] %p\\n",
        "%T.%t %a %d %S + %n\\n",
        "t=%T.%t a=%a kind=%d at=%S+%n\\n",
        "%T.%t;%a;%d;%S;%n;%N;%C\\n",
    ] {
        assert!(is_read(&recording, &printed(&path, format), format), "{format}");
    }
    for format in
        ["%T.%t %a %d %S\\n", "%T.%t,%D,%a,%d,%S,%n\\n", "%T.%t %a %d %S %c %D\\n", "%T.%t %a %d %s %n\\n"]
    {
        assert!(!is_read(&recording, &printed(&path, format), format), "{format}");
    }
}

#[test]
fn the_command_above_the_lines_says_the_rest() {
    for name in ["randread-baseline", "misc-events"] {
        let path = fixture(name);
        let recording = events(&path);
        for format in [
            "%T.%t,%D,%a,%d,%S,%n,%C\\n",
            "%5T.%9t %2c %8s %M %m %5p %2a %3d %N %10S %e %C\\n",
            "%D|%a|%d|%n|%S|%T.%t|%U|%u\\n",
            "%-8a %-6d %n sectors at %S of %D, %T.%3t, %C (%p)\\n",
        ] {
            let text = format!("$ blkparse -i sda -f \"{format}\"\n{}", printed(&path, format));
            assert!(is_read(&recording, &text, format), "{name} {format}\n{}", &text[..400]);
        }
    }
}

#[test]
fn single_actions_have_formats_of_their_own() {
    // Requests without data have no sector in the lines of the other actions.
    for name in ["randread-baseline", "randread-vs-bufferedwrite"] {
        let path = fixture(name);
        let recording = events(&path);
        for own in [
            &["C,done %T.%t %D %d %S %n\\n"][..],
            &["C,%D %T.%t %a %d %S+%n\\n", "D,%D,%T.%t,%d,%S,%N\\n"],
            &["D,%M %m issue %d %S for %n at %T.%t by %p\\n"],
        ] {
            let mut formats = Formats::default();
            own.iter().for_each(|f| formats.set_own(OwnFormat::parse(f).unwrap()));
            let options = Options { formats, quiet: true, own_times: true, ..Options::default() };
            let lines = crate::support::iowhy(&path, options);
            let given: Vec<String> = own.iter().map(|f| format!("-F \"{f}\"")).collect();
            let text = format!("$ blkparse -i sda {}\n{lines}", given.join(" "));
            assert!(is_read(&recording, &text, &given[0]), "{name} {given:?}\n{}", &text[..400]);
        }
    }
    let lacking = "# blkparse sda -F C,\"%T.%t %S\\n\"\n1.000000000 8\n";
    assert!(matches!(own_format(lacking.as_bytes()), Own::Refused(why) if why.contains("which lacks %d")));
}

/// Fields in any order, between any signs, some of them missing: most cannot be told, none is taken for another.
#[test]
fn no_format_is_taken_for_another() {
    let mut seed = 7u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    };
    let mut read = 0;
    let recordings =
        ["randread-baseline", "misc-events", "append-stable-page", "deadline-starved"].map(fixture);
    let all: Vec<Vec<Event>> = recordings.iter().map(|path| events(path)).collect();
    for _ in 0..60 {
        let mut fields = vec![
            "%T.%t", "%a", "%d", "%S", "%n", "%N", "%c", "%s", "%p", "%e", "%D", "%M %m", "%C", "[%C]",
            "%S+%n",
        ];
        while fields.len() > 5 + next(6) {
            fields.remove(1 + next(fields.len() - 1));
        }
        fields.push("%S+%n");
        (1..fields.len()).for_each(|i| fields.swap(i, next(i + 1)));
        let sign = [" ", ",", ", ", ";", "\\t", " | "][next(6)];
        let format = format!("{}\\n", fields.join(sign));
        let which = next(recordings.len());
        let text = printed(&recordings[which], &format);
        if own_format(text.as_bytes()) != Own::None {
            read += usize::from(is_read(&all[which], &text, &format));
        }
    }
    assert!(read > 0);
}
