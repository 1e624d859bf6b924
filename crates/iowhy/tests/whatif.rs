//! `iowhy whatif` on bundled recordings: what it refuses, and that the same seed gives the same answer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use testkit::{Layout, Script};
use trace::Nanos;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

fn whatif(name: &str, words: &[&str]) -> Output {
    asked(&fixture(name), words)
}

fn asked(capture: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_iowhy")).arg("whatif").arg(capture).args(words).output().unwrap()
}

const LOAD: &str = "randread-vs-bufferedwrite";
const WAS: [&str; 3] = ["--was", "scheduler=mq-deadline", "nr_requests=256"];

/// Who waits behind a copy is faster without it, nobody is slower, and nobody is faster than alone.
#[test]
fn without_somebody() {
    let out = whatif("fsync-ordered-data", &["--without", "dd", "--json"]);
    assert!(out.status.success(), "{out:?}");
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(told["schema"], "iowhy.whatif/1");
    let victims = told["victims"].as_array().unwrap();
    let ns = |v: &serde_json::Value| v.as_u64().unwrap();
    for v in victims {
        let (now, then) = (&v["now_ns"], &v["without"]);
        assert_eq!(then["culprit"], "dd");
        for (now, then) in ["mean", "p50"].map(|m| (&now[m], &then[format!("{m}_ns")])) {
            let [low, value, high] = ["low", "value", "high"].map(|k| ns(&then[k]));
            assert!(value <= ns(now) && low <= value && value <= high, "{v}");
        }
    }
    let fsyncs = victims.iter().find(|v| v["task"] == "fio" && v["op"] == "fsyncs").unwrap();
    assert!(2 * ns(&fsyncs["without"]["mean_ns"]["value"]) < ns(&fsyncs["now_ns"]["mean"]), "{fsyncs}");
    let text = |words: &[&str]| String::from_utf8(whatif("fsync-ordered-data", words).stdout).unwrap();
    assert!(text(&["--without", "dd"]).starts_with("Without dd (all it sends"));
    let alone = text(&["--alone", "fio"]);
    assert!(alone.contains("fio fsyncs on") && !alone.contains("dd writes on"), "{alone}");
    assert!(text(&["--without", "flushes"]).starts_with("Without the cost of flushes"));
}

/// Several together spare at least what each does, and a group of which nothing is known is refused.
#[test]
fn without_several() {
    // Of each victim, by its task and operations; nothing where it is refused.
    let means = |who: &str| -> BTreeMap<(String, String), Option<u64>> {
        let out = whatif("fsync-ordered-data", &["--without", who, "--json"]);
        assert!(out.status.success(), "{out:?}");
        let told: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        let of = |v: &serde_json::Value| {
            let without = &v["without"];
            assert_ne!(without["refused"].is_null(), without["mean_ns"].is_null(), "{v}");
            (
                ([&v["task"], &v["op"]].map(|x| x.as_str().unwrap().to_string())).into(),
                without["mean_ns"]["value"].as_u64(),
            )
        };
        told["victims"].as_array().unwrap().iter().map(of).collect()
    };
    let no_slower = |less: &str, more: &str| {
        let (less, more) = (means(less), means(more));
        let both = less.iter().filter_map(|(victim, less)| Some(((*less)?, (*more.get(victim)?)?)));
        let both: Vec<(u64, u64)> = both.collect();
        assert!(!both.is_empty() && both.iter().all(|(less, more)| less <= more), "{less:?} {more:?}");
    };
    let dd = means("dd");
    assert_eq!(dd, means("dd,nobody"));
    assert!(!dd.is_empty() && dd.keys().all(|(task, _)| task != "dd"), "{dd:?}");
    no_slower("dd,writes,writeback,journal", "dd");
    no_slower("writes,writeback,journal", "journal");
    let out = whatif("fsync-ordered-data", &["--without", "/no.slice"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("control group /no.slice"), "{out:?}");
}

#[test]
fn without_whom_nobody_waited_for_is_refused() {
    for (words, why) in [
        (["--without", "nobody"], "no task waited because of nobody"),
        (["--without", "nobody"], "tasks that made others wait: dd, "),
        (["--without", " , "], "--without names nobody"),
        (["--alone", "nobody"], "nobody did not wait for I/O in this recording"),
    ] {
        let out = whatif("fsync-ordered-data", &words);
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(!out.status.success() && said.contains(why), "{words:?}: {said}");
    }
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    for (words, why) in [
        (vec![], "no question is given"),
        (vec!["--set", "read_expires=3"], "no setting is called read_expires"),
        (vec!["--set", "read_expire=-3"], "not a whole number"),
        (vec!["--set", "fifo_batch=4", "fifo_batch=5"], "contradict"),
        (vec!["--set", "scheduler=bfq"], "bfq is not modelled"),
        (vec!["--set", "max_sectors_kb=4096"], "more than the recorded 1280"),
        (vec!["--set", "prio_aging_expire=100"], "among requests of one priority it changes nothing"),
        (vec!["--set", "read_ahead_kb=64"], "which of that was used is not recorded"),
        (vec!["--set", "read_lat_nsec=9"], "a setting of kyber, and the scheduler is mq-deadline"),
        (
            vec!["--set", "scheduler=none", "fifo_batch=4"],
            "a setting of mq-deadline, and the scheduler is none",
        ),
        (vec!["--set", "fifo_batch=4", "or"], "`or` stands between two settings"),
        (vec!["--set", "fifo_batch=4", "or", "fifo_batch=1", "--schedule", "1-2"], "shows one order"),
        (vec!["--set", "nr_requests=5000"], "at most 2048"),
        (vec!["--schedule", "3-2"], "FROM-TO"),
        (vec!["--schedule", "90-91"], "no request went to the device"),
    ] {
        let words: Vec<&str> = words.into_iter().chain(WAS).collect();
        let out = whatif(LOAD, &words);
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(!out.status.success() && said.contains(why), "{words:?}: {said}");
        assert!(out.stdout.is_empty(), "{words:?}");
    }
    let out = whatif(LOAD, &["--stopwatch", "0:0.5", "--set", "read_expire=3", WAS[0], WAS[1], WAS[2]]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("too short"), "{out:?}");
}

/// What is printed as recorded is what `iowhy events` prints of the same stretch: issues, in their order.
#[test]
fn the_recorded_schedule_is_that_of_the_events() {
    let out = whatif(LOAD, &["--schedule", "1-1.05", "--json", WAS[0], WAS[1], WAS[2]]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let said: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let recorded = said["recorded"].as_array().unwrap();
    let sectors: Vec<u64> = recorded.iter().filter_map(|s| s["sector"].as_u64()).collect();
    let events = Command::new(env!("CARGO_BIN_EXE_iowhy"))
        .arg("events")
        .arg(fixture(LOAD))
        .args(["-a", "issue", "-f", "%T.%9t %S %n\n", "-q"])
        .output()
        .unwrap();
    let issued: Vec<u64> = String::from_utf8_lossy(&events.stdout)
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let at: f64 = words.next()?.parse().ok()?;
            let sector = words.next()?.parse().ok()?;
            ((1.0..1.05).contains(&at) && words.next()? != "0").then_some(sector)
        })
        .collect();
    assert!(sectors.len() > 20, "{said:#}");
    assert_eq!(sectors, issued);
    assert!(said["simulated"].as_array().unwrap().len() > 20, "{said:#}");
}

#[test]
fn the_load_is_told() {
    let out = whatif(LOAD, &["--explain-load"]);
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && said.contains("because:"), "{said}");
}

/// One read a millisecond apart from the next, by tasks in turn; each is 8 sectors, random enough, and takes `took`.
fn reads(count: u64, every: Nanos, took: &str, tasks: u64) -> Script {
    let one = |task: u64| {
        let lines =
            ["0 Q", "1 G", "2 I", "3 D"].map(|at| format!("{at} R {}+8 tid={}", 64 + 8 * task, 100 + task));
        let all = lines.join("\n") + &format!("\n{took} C R {}+8 tid={}", 64 + 8 * task, 100 + task);
        Script::of(&all)
    };
    let each = |task: u64| {
        one(task).repeated(count / tasks, Nanos(every.0 * tasks), 800).after(Nanos(every.0 * task))
    };
    (1..tasks).fold(each(0), |all, task| all.and(each(task))).in_order()
}

/// What cannot be told from a recording, each with the one thing that is missing.
#[test]
fn a_recording_that_says_too_little_is_refused_in_words() {
    const MS: u64 = 1_000_000;
    let folder = std::env::temp_dir().join(format!("iowhy-whatif-{}", std::process::id()));
    let set = ["--set", "read_expire=3"];
    let was: Vec<&str> = set.into_iter().chain(WAS).collect();
    let mut lossy = reads(4000, Nanos(MS), "600", 2);
    let at = lossy.told.len() / 2;
    lossy.told[at].event.sequence = at as u32 + 100;
    for (name, script, words, why) in [
        ("short", reads(1000, Nanos(MS), "600", 2), &was, "too short: 1.00 s, 2 s are needed"),
        ("few", reads(400, Nanos(10 * MS), "600", 2), &was, "too short: 400 requests, 500 are needed"),
        ("idle", reads(1000, Nanos(20 * MS), "100", 2), &was, "idle for 99.5 % of the time"),
        ("alone", reads(4000, Nanos(MS), "600", 1), &was, "only one task used the device"),
        ("lossy", lossy, &was, "events were lost"),
        ("unknown", reads(4000, Nanos(MS), "600", 2), &set.to_vec(), "scheduler is not known"),
    ] {
        let to = folder.join(name);
        std::fs::create_dir_all(&to).unwrap();
        let names = script.files(&to, Layout::USUAL);
        let out = asked(&names[0], words);
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(!out.status.success() && said.contains(why), "{name}: {said}");
        assert!(out.stdout.is_empty(), "{name}");
    }
    // And one that says enough is answered: the refusals above are of what is missing, not of the recording.
    let names = reads(4000, Nanos(MS), "600", 2).files(&folder, Layout::USUAL);
    let out = asked(&names[0], &was);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Alternatives are asked of one set of devices, and each is told as it would be alone.
#[test]
fn alternatives_are_told_one_by_one() {
    let json = |words: &[&str]| -> serde_json::Value {
        let out = whatif("deadline-starved", words);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice(&out.stdout).unwrap()
    };
    let both = json(&["--json", "--set", "fifo_batch=1", "or", "read_expire=50", "writes_starved=4"]);
    let alone = json(&["--json", "--set", "read_expire=50", "writes_starved=4"]);
    assert_eq!(both["alternatives"].as_array().unwrap().len(), 2);
    assert_eq!(both["alternatives"][1], alone);
}

/// SCSI asks for its queue_depth before a request is chosen; without a scheduler nothing stands in a line for it then.
#[test]
fn without_a_scheduler_nobody_knows_who_has_a_scsi_disk_next() {
    for (depth, refused) in [("4", true), ("1000", false)] {
        let depth = format!("queue_depth={depth}");
        let words = ["--set", "scheduler=none", "--json", WAS[0], WAS[1], WAS[2], &depth];
        let out = whatif(LOAD, &words);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let said: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        let scsi = |c: &&serde_json::Value| c["refused"].as_str().unwrap_or_default().contains("SCSI");
        let enough = |c: &&serde_json::Value| c["refused"].as_str().is_none_or(|w| !w.ends_with(" values"));
        let cells: Vec<_> = said["cells"].as_array().unwrap().iter().filter(enough).collect();
        assert!(!cells.is_empty() && cells.iter().all(|c| scsi(c) == refused), "{depth}: {said:#}");
    }
}

/// On a disk of which little can be told, the little comes first, and the rest in a line for each reason.
#[test]
fn what_is_predicted_is_told_before_what_is_refused() {
    let set = ["--set", "fifo_batch=4"];
    let text = String::from_utf8(whatif("deadline-starved", &set).stdout).unwrap();
    let json = whatif("deadline-starved", &["--json", set[0], set[1]]).stdout;
    let said: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let cells = said["cells"].as_array().unwrap();
    let refused = cells.iter().filter(|c| c["predicted"].is_null()).count();
    assert!(refused > 9 && refused < cells.len(), "{refused} of {}", cells.len());
    let (told, rest) =
        text.split_once(&format!("\nrefused are {refused} of {} numbers", cells.len())).unwrap();
    assert_eq!(
        told.lines().filter(|line| line.contains(" % ") || line.ends_with(" %")).count(),
        cells.len() - refused + 1,
        "{text}"
    );
    assert!(!told.contains("refused"), "{text}");
    let reasons: Vec<&str> = rest.lines().filter(|line| line.starts_with("- ")).collect();
    assert!(reasons.len() < 6, "{text}");
    assert!(reasons.iter().any(|line| line.starts_with("- too uncertain (")), "{text}");
    // All of them for one reason.
    let none = String::from_utf8(whatif("deadline-starved", &["--set", "scheduler=none"]).stdout).unwrap();
    assert!(
        none.contains("\nnone of the 18 numbers can be predicted\n") && none.contains("(all of them)"),
        "{none}"
    );
}

/// Victims that are not predicted share a line with others of the same reason. Those of whom nothing is taken away are only counted.
#[test]
fn victims_that_are_not_predicted_are_told_by_reason() {
    let text = |name: &str, who: &str| String::from_utf8(whatif(name, &["--without", who]).stdout).unwrap();
    let some = text("fsync-ordered-data", "writeback");
    assert!(some.contains("fio fsyncs on loop0") && some.contains("Predicted from"), "{some}");
    assert!(some.contains("2 more would change little") && !some.contains("dd writes"), "its own: {some}");
    let none = text("volume-249-iops", "writeback");
    assert_eq!(none.matches("a limit sets the pace").count(), 1, "{none}");
    assert!(none.matches("mariadbd ").count() > 1 && !none.contains("90 % interval"), "{none}");
    assert!(!none.contains("Predicted from"), "nothing is: {none}");
}
