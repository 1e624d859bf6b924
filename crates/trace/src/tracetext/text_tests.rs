use super::*;
use std::io::Cursor;
use std::path::PathBuf;

fn read(text: &str) -> (Vec<String>, Quality) {
    let reader = Box::new(Cursor::new(text.to_owned().into_bytes()));
    let mut source = TraceText::open(Input::from_reader(PathBuf::from("mail"), reader, None).unwrap());
    let (mut batch, mut seen) = (Batch::default(), vec![]);
    while source.fill(&mut batch).unwrap() {
        for e in &batch.events {
            seen.push(format!(
                "{} {:?} {}",
                e.time.0 / 1000,
                e.action,
                String::from_utf8_lossy(batch.text(e))
            ));
        }
        let switches = batch.tasks.iter().filter(|t| matches!(t.what, What::Switch { .. }));
        seen.extend(switches.map(|t| format!("{} switch", t.time.0 / 1000)));
    }
    (seen, source.quality())
}

#[test]
fn lines_that_a_mailer_wrapped_are_one_again() {
    let lines = [
        "dd-2211 [001] ..... 5.000001: block_rq_issue: 8,0 R 4096 () 2048 + 8 none,0,0 [dd]",
        "<idle>-0 [001] ..s1. 5.000501: block_rq_complete: 8,0 R () 2048 + 8 none,0,0 [0]",
        "dd-2211 [001] d..2. 5.000601: sched_switch: prev_comm=dd prev_pid=2211 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120",
    ];
    let whole = lines.map(|line| format!("> {line}\n")).concat();
    let (wanted, quality) = read(&whole);
    assert_eq!((wanted.len(), quality.unknown), (4, 0), "{wanted:?}");
    for cut in [2, 3, 5, 6, 9] {
        let wrap = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            words
                .chunks(cut.max(words.len().div_ceil(3)))
                .map(|part| format!("> {}\n", part.join(" ")))
                .collect::<String>()
        };
        let wrapped = format!("> cpus=2\n>\n{}", lines.map(wrap).concat());
        assert!(looks_like(wrapped.as_bytes()), "{wrapped}");
        let (seen, quality) = read(&wrapped);
        // If an event is complete without its continuation, the continuation is an unknown line.
        assert!(seen == wanted && quality.unknown <= 1, "{seen:?}\n{wrapped}");
    }
    // Text after an event is not part of it.
    let (seen, quality) = read(&format!("Ada> {}\nAda> This one is slow.\nAda> {}\n", lines[0], lines[1]));
    assert_eq!((seen.len(), quality.unknown), (3, 1), "{seen:?}");
    assert!(seen[0].ends_with("dd"), "{seen:?}");
}

#[test]
fn the_long_lines_of_lttng_are_whole_again_behind_a_letter() {
    let text = "From: A\nTo: B\n\nHello,\nit is slow:\n> [10:11:12.331110331] (+0.000000000) host block_rq_issue: { cpu_id = 1 }, {\n\
        > dev = 8388608, sector = 2048, nr_sector = 8, bytes = 4096, tid = 2211, rwbs =\n> 1, comm = \"dd\" }\n\
        > [10:11:12.332110331] (+0.001000000) host block_rq_complete: { cpu_id = 1 }, {\n\
        > dev = 8388608, sector = 2048, nr_sector = 8, error = 0, rwbs = 1 }\n";
    assert!(looks_like(text.as_bytes()));
    let (seen, quality) = read(text);
    assert_eq!((seen.len(), quality.unknown), (3, 4), "{seen:?}");
}
