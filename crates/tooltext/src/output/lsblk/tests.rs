use crate::output::ToolOutput;

fn of(text: &str) -> Vec<String> {
    let output = ToolOutput::read("text", text.as_bytes());
    output.settings.iter().map(|s| format!("{} = {}", s.name, s.value)).collect()
}

const TABLE: &str = "> NAME        MAJ:MIN FSTYPE ROTA SCHED       RQ-SIZE  RA TYPE\n\
        > sda           8:0             1 mq-deadline      64 128 disk\n\
        > ├─sda1        8:1   ext4      1 mq-deadline      64 128 part\n\
        > nvme0n1     259:0             0 none           1023 256 disk\n";

const WANTED: [&str; 8] = [
    "sda/queue/rotational = 1",
    "sda/queue/scheduler = mq-deadline",
    "sda/queue/nr_requests = 64",
    "sda/queue/read_ahead_kb = 128",
    "nvme0n1/queue/rotational = 0",
    "nvme0n1/queue/scheduler = none",
    "nvme0n1/queue/nr_requests = 1023",
    "nvme0n1/queue/read_ahead_kb = 256",
];

/// Breaks lines as mailers do: at the last blank before a column.
fn wrapped(text: &str, width: usize) -> String {
    let mut all = String::new();
    for line in text.lines() {
        let mut rest: Vec<char> = line.chars().collect();
        while rest.len() > width {
            let Some(at) = rest[..=width].iter().rposition(|c| *c == ' ').filter(|at| *at > 0) else {
                break;
            };
            let (first, more) = rest.split_at(at);
            all += &format!("{}\n", first.iter().collect::<String>().trim_end());
            rest = more.iter().copied().skip_while(|c| *c == ' ').collect();
        }
        all += &format!("{}\n", rest.iter().collect::<String>());
    }
    all
}

#[test]
fn disks_have_their_queues_whatever_is_empty() {
    assert_eq!(of(TABLE), WANTED);
}

/// Some columns of `-O` in 2.38, in alphabetical order.
#[test]
fn the_name_may_stand_among_the_columns() {
    let text = "\
ALIGNMENT FSROOTS HOTPLUG KNAME MIN-IO NAME    OPT-IO PARTLABEL  RA ROTA RQ-SIZE SCHED       MOUNTPOINT TYPE
        0               0 zram0   4096 zram0     4096           128    0                               disk
        0 /             0 sda     4096 sda          0          8192    1     256 mq-deadline /          disk
        0 /             0 sda1    4096 └─sda1       0          8192    1     256 mq-deadline /boot      part
        0               0 sdb      512 sdb          0           128    0      64 none                   disk
";
    let wanted =
        ["sda/queue/rotational = 1", "sda/queue/scheduler = mq-deadline", "sda/queue/nr_requests = 256"];
    let all = of(text);
    assert_eq!(all[..3], wanted);
    let of_disk = |disk: &str| all.iter().filter(|s| s.starts_with(disk)).count();
    assert_eq!((of_disk("sda/"), of_disk("sdb/"), of_disk("zram0/"), of_disk("sda1/")), (6, 6, 0, 0));
}

#[test]
fn a_wrapped_table_says_the_same_or_less_and_nothing_else() {
    let plain = TABLE.replace("> ", "");
    let mut whole = 0;
    for width in 20..72 {
        let all = of(&wrapped(&plain, width));
        assert!(all.iter().all(|s| WANTED.contains(&s.as_str())), "{width}: {all:?}");
        whole += usize::from(all == WANTED);
    }
    assert!(whole >= 31, "{whole}");
}

#[test]
fn topology_of_any_width_is_whole() {
    let topology = "NAME    ALIGNMENT MIN-IO OPT-IO PHY-SEC LOG-SEC ROTA SCHED       RQ-SIZE   RA WSAME\n\
            sda             0   4096      0    4096     512    1 mq-deadline      64  128   32M\n\
            `-sda1          0   4096      0    4096     512    1 mq-deadline      64  128   32M\n\
            nvme0n1         0    512      0     512     512    0 none           1023 4096    0B\n";
    let plain = of(topology);
    assert_eq!(plain.len(), 16);
    for width in 24..90 {
        assert_eq!(of(&wrapped(topology, width)), plain, "{width}");
    }
}

#[test]
fn a_table_whose_blanks_were_lost_says_nothing_if_cells_are_empty() {
    let lost: String =
        TABLE.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect();
    assert_eq!(of(&lost), Vec::<String>::new());
}

#[test]
fn words_below_a_table_are_no_rows() {
    let text = format!("{TABLE}sda is slow 64 128 and so on\nsdb 1 mq-deadline 64 128\nas I said\n");
    assert_eq!(of(&text), WANTED);
}

/// The same disks as pairs and as JSON, from old and new versions.
#[test]
fn pairs_and_json_say_what_the_table_says() {
    let pairs = "\
NAME=\"sda\" MAJ:MIN=\"8:0\" MODEL=\"Disk of 4 TB\" ROTA=\"1\" SCHED=\"mq-deadline\" RQ-SIZE=\"64\" RA=\"128\" TYPE=\"disk\"
NAME=\"sda1\" MAJ:MIN=\"8:1\" MODEL=\"\" ROTA=\"1\" SCHED=\"mq-deadline\" RQ-SIZE=\"64\" RA=\"128\" TYPE=\"part\"
NAME=\"zram0\" MAJ:MIN=\"253:0\" MODEL=\"\" ROTA=\"\" SCHED=\"\" RQ-SIZE=\"\" RA=\"\" TYPE=\"disk\"
NAME=\"nvme0n1\" MAJ:MIN=\"259:0\" MODEL=\"\" ROTA=\"0\" SCHED=\"none\" RQ-SIZE=\"1023\" RA=\"256\" TYPE=\"disk\"
";
    assert_eq!(of(pairs), WANTED);
    assert_eq!(of(&pairs.replace("RQ-SIZE", "RQ_SIZE").replace("MAJ:MIN", "MAJ_MIN")), WANTED);
    for width in 24..110 {
        assert_eq!(of(&wrapped(pairs, width)), WANTED, "{width}");
    }
    let new = r#"{ "blockdevices": [
        {"name":"sda", "rota":true, "sched":"mq-deadline", "rq-size":64, "ra":128, "type":"disk", "children": [
            {"name":"sda1", "rota":true, "sched":"mq-deadline", "rq-size":64, "ra":128, "type":"part"} ]},
        {"name":"zram0", "rota":null, "sched":null, "rq-size":null, "ra":null},
        {"name":"nvme0n1", "rota":false, "sched":"none", "rq-size":1023, "ra":256}
    ] }"#;
    assert_eq!(of(new), WANTED);
    let old = r#"> {"blockdevices": [
        > {"name": "/dev/sda", "rota": "1", "sched": "mq-deadline", "rq-size": "64", "ra": "128"},
        > {"name": "/dev/nvme0n1", "rota": "0", "sched": "none", "rq-size": "1023", "ra": "256"} ]}"#;
    assert_eq!(of(old), WANTED);
}

#[test]
fn other_pairs_are_no_settings() {
    for text in [
        "ID=\"1\" RA=\"x\" ROTA=\"y\"\n",
        "NAME=\"sda\" is what I set, ROTA=\"1\" RA=\"128\"\n",
        "NAME=\"Debian GNU/Linux\"\nVERSION=\"12 (bookworm)\"\nID=debian\n",
        "NAME=\"sda\" ROTA=\"1\" RA=\"12\n",
        r#"{"blockdevices": [ {"name":"sda", "size":"4T"} ]}"#,
    ] {
        assert_eq!(of(text), Vec::<String>::new(), "{text}");
    }
}
