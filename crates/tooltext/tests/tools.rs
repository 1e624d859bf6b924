//! What the tools installed here print, in all their forms; and what is pasted of it in odd ways.
//!
//! Where a tool is missing the test says SKIPPED and passes.

use proptest::prelude::*;
use std::process::Command;
use testkit::tools::installed;
use testkit::{btt, Script};
use tooltext::{Reading, ToolOutput, Unit, MOST_BYTES_OF_MAIL};
use trace::Nanos;

fn read(text: &str) -> ToolOutput {
    ToolOutput::read("text", text.as_bytes())
}

fn readings<'a>(output: &'a ToolOutput, tool: &'a str) -> Vec<&'a Reading> {
    output.runs.iter().flat_map(|r| r.of(tool)).filter(|r| !r.rows.is_empty()).collect()
}

/// What a program prints, in the folder given.
fn printed(program: &str, args: &[&str], folder: &std::path::Path) -> Option<String> {
    if !installed(program, &["--version"]) {
        return None;
    }
    let out = Command::new(program).args(args).current_dir(folder).env("LC_ALL", "C").output().unwrap();
    assert!(out.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    Some(String::from_utf8(out.stdout).unwrap())
}

/// Every table of btt's own report is read, and no number of it is left out.
#[test]
fn all_that_btt_prints_is_read() {
    let one = Script::of(
        "1us Q R 1000+8\n2us G R 1000+8\n3us I R 1000+8\n4us D R 1000+8\n9us C R 1000+8\n\
         20us Q W 5000+64\n21us G W 5000+64\n22us I W 5000+64\n25us D W 5000+64\n90us C W 5000+64\n",
    );
    let Some(report) = btt(&one.repeated(50, Nanos(200_000_000), 128)) else { return };
    let output = read(&report.report);
    assert_eq!(output.left_out, 0, "at {:?} of\n{}", output.first_left_out, report.report);
    let all = readings(&output, "btt");
    let names: Vec<&str> = all.iter().map(|r| r.name.as_str()).collect();
    for wanted in ["", "D2C", "merges", "Q2Q seeks", "D2D seeks", "active", "Q2D"] {
        assert!(names.contains(&wanted), "{wanted:?} in {names:?}");
    }
    let of = |name: &str| all.iter().find(|r| r.name == name).unwrap().rows[0].clone();
    let merges = of("merges");
    assert_eq!(
        (merges.of.as_str(), merges.value("queued"), merges.value("issued")),
        ("8,0", Some(100.0), Some(100.0))
    );
    assert_eq!(merges.value("bytes"), Some(50.0 * 72.0 * 512.0));
    let cells = &report.device_rows("Device Q2Q Seek Information")[0];
    let mean: f64 = cells.split_whitespace().nth(5).unwrap().parse().unwrap();
    assert_eq!(of("Q2Q seeks").value("mean"), Some(mean * 512.0), "{cells}");
}

/// The parts of JSON+ that JSON has are the same facts.
#[test]
fn json_plus_without_its_bins_is_json() {
    let folder = tempfile::tempdir().unwrap();
    let job = ["--name=j", "--rw=randrw", "--bs=4k", "--size=4m", "--filename=d", "--output-format=json+"];
    let Some(plus) = printed("fio", &job, folder.path()) else { return };
    let mut value: serde_json::Value = serde_json::from_str(&plus[plus.find('{').unwrap()..]).unwrap();
    for job in value["jobs"].as_array_mut().unwrap() {
        for of in ["read", "write"] {
            for kind in ["clat_ns", "lat_ns", "slat_ns"] {
                job[of][kind].as_object_mut().unwrap().remove("bins");
            }
        }
    }
    let plain = read(&serde_json::to_string_pretty(&value).unwrap());
    let plus = read(&plus);
    let facts = |output: &ToolOutput| -> Vec<String> {
        let rows = readings(output, "fio").into_iter().flat_map(|r| r.rows.clone());
        let mut all: Vec<String> = rows
            .flat_map(|row| {
                row.values.iter().map(|(n, v)| format!("{} {n} {}", row.of, v.value)).collect::<Vec<_>>()
            })
            .collect();
        all.sort();
        all
    };
    assert_eq!(facts(&plain), facts(&plus));
    assert!(facts(&plain).len() > 40);
}

#[test]
fn a_bandwidth_log_has_the_bandwidth_of_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let job = [
        "--name=j",
        "--rw=write",
        "--bs=64k",
        "--size=64m",
        "--rate=64m",
        "--filename=d",
        "--write_bw_log=j",
        "--write_iops_log=j",
        "--log_avg_msec=100",
        "--output-format=json",
    ];
    let Some(json) = printed("fio", &job, folder.path()) else { return };
    let json = read(&json);
    let exact = readings(&json, "fio")[0].row("write").unwrap().clone();
    for (log, name, unit) in
        [("j_bw.1.log", "bw", Unit::BytesPerSecond), ("j_iops.1.log", "iops", Unit::PerSecond)]
    {
        let content = std::fs::read(folder.path().join(log)).unwrap();
        let output = ToolOutput::read_stream(log, content.clone(), &b""[..]).unwrap();
        let row = readings(&output, "fio")[0].row("write").unwrap().clone();
        let mean = row.get(&format!("{name}.mean")).unwrap_or_else(|| panic!("{log}: {row:?}"));
        assert_eq!(mean.unit, unit);
        let whole = exact.value(name).unwrap();
        assert!((mean.value / whole - 1.0).abs() < 0.2, "{log}: {} of {whole}", mean.value);
    }
}

/// Basic, extended, short, in kB, MB and for people: each has rows, and nearly every number is understood.
#[test]
fn iostat_prints_in_many_forms() {
    let folder = tempfile::tempdir().unwrap();
    for args in [
        &["-d"][..],
        &["-k"],
        &["-m"],
        &["-x"],
        &["-x", "-m"],
        &["-x", "-s"],
        &["-h"],
        &["-x", "-h"],
        &["-c", "-d", "-x"],
        &["--dec=0", "-x"],
        &["-x", "1", "2"],
        &["-x", "-t"],
        &["-p", "-d"],
    ] {
        let Some(text) = printed("iostat", args, folder.path()) else { return };
        let output = read(&text);
        let rows: usize = readings(&output, "iostat").iter().map(|r| r.rows.len()).sum();
        let devices =
            text.lines().filter(|l| l.contains("vda") || l.contains("loop") || l.contains("sd")).count();
        assert!(rows >= devices && rows > 0, "{args:?}: {rows} rows of\n{text}");
        // Numbers of the banner: the date, the processors.
        assert!(output.left_out <= 6, "{args:?}: {} left out of\n{text}", output.left_out);
        // The same with the numbers of another locale, and the word for a device in another language.
        let foreign =
            text.replace('.', ",").replace("Device ", "Gerät: ").replace("avg-cpu:", "CPU-Durchschn,:");
        if args.contains(&"-h") {
            continue;
        }
        let numbers = |output: &ToolOutput| -> Vec<String> {
            let rows = readings(output, "iostat").into_iter().flat_map(|r| r.rows.clone());
            rows.flat_map(|r| {
                r.values.iter().map(|(n, v)| format!("{} {n} {:?}", r.of, v.value)).collect::<Vec<_>>()
            })
            .collect()
        };
        assert_eq!(numbers(&output), numbers(&read(&foreign)), "{args:?}:\n{foreign}");
    }
}

const JSON: &str =
    "{ \"fio version\" : \"fio-3.33\", \"jobs\" : [ { \"jobname\" : \"a\", \"read\" : { \"total_ios\" : 7,\n\
    \"iops\" : 70.5,\n \"clat_ns\" : { \"max\" : 9000, \"mean\" : 500.5 } } } ] }";

#[test]
fn several_documents_stand_between_words() {
    let other = JSON.replace("9000", "8000");
    let quoted: String = other.lines().map(|l| format!("> > {l}\n")).collect();
    let dd = "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s, 2.1 MB/s";
    let text = format!("Before the change:\n{JSON}\nAfter it:\n{quoted}\nAnd the disk alone:\n{dd}\n");
    let output = read(&text);
    let labels: Vec<&str> = output.runs.iter().map(|r| r.label.as_str()).collect();
    assert_eq!(labels, ["Before the change", "After it", "And the disk alone"]);
    let max = |i: usize| output.runs[i].readings[0].rows[0].get("clat.max").unwrap();
    assert_eq!((max(0).value, max(0).at.line), (9000.0, 4));
    assert_eq!((max(1).value, max(1).at.line), (8000.0, 8));
    assert_eq!((output.left_out, output.broken), (0, None));
    // All in one line, and with brackets and words behind.
    let flat = read(&text.replace('\n', " ").replace("> > ", ""));
    assert_eq!(flat.runs.len(), 3);
    assert_eq!(read(&format!("[\n{JSON}\n]\nthat is 1 of 2\n")).runs.len(), 1);
    // What breaks off is told with its place.
    let cut = read(&format!("words\n{}", &JSON[..60]));
    assert_eq!(cut.broken.map(|at| at.line), Some(2));
    assert!(!cut.says_anything());
}

#[test]
fn what_is_too_long_is_read_in_part_and_that_is_said() {
    let line = "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s, 2.1 MB/s\n";
    let long = line.repeat(MOST_BYTES_OF_MAIL / line.len() + 2);
    let output = ToolOutput::read_stream("long", vec![], long.as_bytes()).unwrap();
    assert!(output.cut && output.has_readings() && output.too_many > 1000);
    assert!(!read(line).cut);
}

fn fixture(which: usize) -> String {
    const NAMES: [&str; 5] = ["writeback", "stable-page", "request-size", "log-completion", "raid-bitmap"];
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mails");
    std::fs::read_to_string(folder.join(format!("{}.txt", NAMES[which]))).unwrap()
}

/// Every number with what it is of, wherever it stands.
fn numbers(output: &ToolOutput) -> Vec<String> {
    let all = output
        .runs
        .iter()
        .flat_map(|r| &r.readings)
        .flat_map(|r| r.rows.iter().map(move |row| (r.tool, row)));
    all.flat_map(|(tool, row)| {
        let values = row.values.iter().map(move |(n, v)| format!("{tool} {} {n} {}", row.of, v.value));
        let buckets =
            row.histogram.iter().map(move |b| format!("{tool} {} {} {}", row.of, b.from, b.count.value));
        values.chain(buckets).collect::<Vec<_>>()
    })
    .collect()
}

#[test]
fn odd_pastes_have_the_same_numbers() {
    for which in 0..5 {
        let text = fixture(which);
        let expected = numbers(&read(&text));
        assert!(expected.len() > 20);
        let escaped =
            text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\'', "&#x27;");
        let pastes = [
            ("Windows' line ends", text.replace('\n', "\r\n")),
            ("a mark of byte order", format!("\u{feff}{text}")),
            (
                "a page",
                format!("<html><body><pre class=\"mail\">\n{}</pre>", escaped.replace('\n', "<br>\n")),
            ),
            ("blanks that do not break", text.replace("  ", "\u{a0} ")),
            ("tabs", text.replace("  ", "\t")),
        ];
        for (how, pasted) in pastes {
            assert_eq!(numbers(&read(&pasted)), expected, "{which}: {how}");
        }
    }
}

proptest! {
    /// Bytes that look like settings, JSON, pages and tables of btt: facts or nothing, never a panic.
    #[test]
    fn any_pieces_are_read(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..120)) {
        let output = read(&pieces.concat());
        prop_assert!(output.understood <= output.words);
    }
}

const PIECES: &[&str] = &[
    " ",
    "\n",
    "> ",
    "&gt;",
    "&#",
    "&#x27;",
    "<br",
    "<pre>",
    "{",
    "}",
    "\"fio version\"",
    ":",
    "\"sysstat\"",
    "[",
    "]",
    "\"jobs\"",
    "/sys/block/sda/queue/scheduler:",
    "[none]",
    "noop",
    "vm.dirty_ratio",
    "=",
    "20",
    "/dev/sda1 on /mnt type ext4 (",
    ")",
    "rw",
    "md4 : active raid5 sda[0]",
    "12 blocks",
    "[UU]",
    "bitmap:",
    "======== Per Device ========",
    "DEV",
    "|",
    "NSEEKS MEAN MEDIAN | MODE",
    "(8,0)",
    "(  8,  0)",
    "0(22)",
    "1(",
    "6)",
    "...(8",
    "Overall",
    "#",
    "q activity",
    "0.000000000",
    "0.4",
    "-----",
    "#Q #D Ratio | BLKmin BLKavg BLKmax Total",
    "Gerät:",
    "r/s w/s rkB/s",
    "\nNAME MAJ:MIN ROTA SCHED RQ-SIZE RA TYPE\n",
    "\nsda    8:0    1 mq-deadline 64 128 disk\n",
    "\nNode SN Model Format\n---- -- ----- ------\n/dev/nvme0n1 ",
    "\nmeta-data=/dev/sdb1 isize=512 agcount=4\n",
    "\ndata = bsize=18446744073709551615 sunit=128\n = swidth=18446744073709551615 blks\n",
    "\nFilesystem magic number:  0xEF53\nBlock size: 4096\n",
    "\ncapacity operations bandwidth\npool alloc free read write read write\n",
    "tank 1T - 1K 2 3M 4G",
    "\n--dsk/sda----dsk/sdb--\nread writ:read writ|\n",
    "1k 2M:3B 4|",
    "nvme0n1 p1 p50 p99\nread 1us 2ms ",
    "Read IO thread | bytes |",
    "total: 1 | 2 | 3 | 4",
    "%-ile | Read (ms) | Write (ms)\n99th | 1.0 | N/A",
    "\na b;c;schedule;__schedule 5\n",
    "min/avg/max/mdev = 1 us / ",
    "disk- ------\n total merged sectors ms total merged sectors ms cur sec\nsda 1 2 3 ",
    "Machine Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP /sec %CP\nx 1G 1 2 ",
    "\n0.000001 fio 12 sda W 8 4096 1.5\n",
    "1,5",
    "é",
    "\u{feff}",
    "\r\n",
];
