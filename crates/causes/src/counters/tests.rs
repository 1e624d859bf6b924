//! What the authors of five mails found out is found in their text, with the same numbers.
//!
//! `MAILS=DIR` reads the whole mails besides, `000...txt` to `004...txt`; without it the bundled excerpts are read.

use crate::{judge_counters, Answer, Verdict};
use evidence::Mail;
use std::io::Write;
use std::path::Path;

/// The excerpt, and the whole mail if there is one.
fn texts(excerpt: &str, number: &str) -> Vec<Mail> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mails");
    let content = std::fs::read(fixtures.join(excerpt)).unwrap();
    let mut all = vec![Mail::read(excerpt, &content)];
    match std::env::var_os("MAILS") {
        Some(folder) => {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let name = entry.file_name().into_string().unwrap();
                if name.starts_with(number) {
                    all.push(Mail::read(&name, &std::fs::read(entry.path()).unwrap()));
                }
            }
        }
        None => {
            let _ =
                writeln!(std::io::stderr(), "SKIPPED the whole of {excerpt}: MAILS names no folder of mails");
        }
    }
    all
}

/// The verdict of one cause, whose sentences must have all these words.
fn says(mail: &Mail, cause: &str, answer: Answer, words: &[&str]) -> Verdict {
    let verdicts = judge_counters(std::slice::from_ref(mail));
    let verdict =
        verdicts.iter().find(|v| v.cause == cause).unwrap_or_else(|| panic!("{}: no {cause}", mail.file));
    assert_eq!(verdict.verdict, answer, "{}: {cause}", mail.file);
    let text = [&verdict.evidence[..], &verdict.refutes[..], &verdict.missing[..]].concat().join("\n");
    for word in words {
        assert!(text.contains(word), "{}: {cause} lacks {word:?}:\n{text}", mail.file);
    }
    verdict.clone()
}

#[test]
fn reads_beside_buffered_writes() {
    for mail in texts("writeback.txt", "000") {
        let v = says(
            &mail,
            "writeback-flood",
            Answer::Found,
            &[
                // Alone, beside direct writes, beside buffered ones.
                "79,453 a second",
                "p99.99 940 us",
                "p99 2.67 ms",
                "max 14.1 ms",
                "p99.95 64.3 ms",
                "max 129 ms",
                // The second part.
                "80 to 110 reads/s",
                "13,000",
                "162 times at the low end",
                "max 553 ms",
                "max 9.53 ms",
                // The histograms agree, and say where it shows.
                "1,310 of 894,185 reads took 16 ms or more, 0 of 820,702",
                "shows in read and not in write",
                "574 s for 2,048 writes: 280 ms each",
            ],
        );
        assert_eq!(v.confidence, Some(crate::Confidence::High));
        assert!(v.remedies.iter().any(|r| r.command.contains("/sys/block/sdb/queue/wbt_lat_usec")));
    }
}

#[test]
fn rare_long_stalls() {
    for mail in texts("stable-page.txt", "001") {
        says(
            &mail,
            "stable-page",
            Answer::CannotTell,
            &[
                "max 226 ms",
                "14.6 ms",
                "15 times",
                "max 636 ms",
                "20.9 ms",
                "30 times",
                "room for 2.05 such stalls among 614,401 writes",
                "constant rate",
                "stable_writes",
            ],
        );
    }
}

#[test]
fn small_requests_and_starved_ones() {
    for mail in texts("request-size.txt", "002") {
        says(
            &mail,
            "request-size",
            Answer::Found,
            &[
                "(87 sectors), 58.6 MiB/s",
                "(995 sectors), 172 MiB/s",
                "730 us / 87.1 = 8.38 us",
                "2.84 ms / 995 = 2.85 us",
                "the text says 2.8 ms/sector for this",
                "a thousand times too much, it is 2.85 us",
                "1.72 ms would be expected for a request of 511 sectors, 1.76 ms was measured",
                "1 MiB in one case and 4 MiB in the other",
                "optimal for the device is 256 KiB",
            ],
        );
        says(
            &mail,
            "scheduler-starvation",
            Answer::Found,
            &[
                "journal write of 4 KiB by kjournald",
                "5.01 s in the scheduler",
                "2.09 s in the device",
                "took 1.21 s",
            ],
        );
    }
}

#[test]
fn faster_log_slower_fsync() {
    for mail in texts("log-completion.txt", "003") {
        says(
            &mail,
            "log-force",
            Answer::Found,
            &[
                "-54.1 % at 1 threads",
                "with nr_cpus = 48",
                "+36.7 % at 1",
                "with nr_cpus = 16",
                "the curves cross between 4 and 8 threads",
                "do not cross",
                "the time is not in the device",
                // The author's own column is wrong in one place.
                "32 threads +1.0 % (it is +0.7 %)",
            ],
        );
    }
}

#[test]
fn array_slower_than_its_members() {
    for mail in texts("raid-bitmap.txt", "004") {
        says(
            &mail,
            "raid-read-modify-write",
            Answer::Rejected,
            &["12 times the size of its members'", "about 1/5", "mostly full stripes"],
        );
        let bitmap = says(
            &mail,
            "raid-bitmap",
            Answer::Found,
            &["506 ms with the bitmap", "331 ms without", "bitmap_unplug"],
        );
        assert!((bitmap.share - 0.35).abs() < 0.01);
        says(
            &mail,
            "raid-stripe-cache",
            Answer::CannotTell,
            &[
                "the members wait 34.9 ms to 104 ms, md4 506 ms and 331 ms",
                "at least 129 ms (39 %) is spent in neither",
                "stripe_cache",
                "blktrace -d",
            ],
        );
    }
}

#[test]
fn each_mail_is_about_its_own() {
    let all = [
        ("writeback.txt", "writeback-flood"),
        ("stable-page.txt", "stable-page"),
        ("request-size.txt", "request-size"),
        ("log-completion.txt", "log-force"),
        ("raid-bitmap.txt", "raid-bitmap"),
    ];
    for (excerpt, cause) in all {
        let mail = &texts(excerpt, "none")[0];
        let verdicts = judge_counters(std::slice::from_ref(mail));
        assert_eq!(verdicts.first().map(|v| v.cause), Some(cause), "{excerpt}");
        let others = verdicts.iter().filter(|v| v.verdict == Answer::Found && v.cause != cause);
        let others: Vec<&str> = others.map(|v| v.cause).collect();
        let expected: &[&str] = if cause == "request-size" { &["scheduler-starvation"] } else { &[] };
        assert_eq!(others, expected, "{excerpt}");
    }
    assert!(judge_counters(&[]).is_empty());
    assert!(judge_counters(&[Mail::read("nothing", b"Hello, my disk is slow.")]).is_empty());
}

/// With direct writes in the place of buffered ones nothing is claimed.
#[test]
fn no_flood_without_a_difference() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mails/writeback.txt");
    let text = std::fs::read_to_string(fixtures).unwrap();
    let calm = text
        .replace("64256", "4456")
        .replace("75264", "4780")
        .replace("214016", "8400")
        .replace("325632", "8700");
    let calm = calm.replace("[ 2736]", "[ 2700]");
    let verdicts = judge_counters(&[Mail::read("calm", calm.as_bytes())]);
    let flood = verdicts.iter().find(|v| v.cause == "writeback-flood").unwrap();
    assert_eq!(flood.verdict, Answer::Rejected, "{flood:?}");
}
