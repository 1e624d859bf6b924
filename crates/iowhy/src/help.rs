//! The help on each command besides its options: group, examples, files, related commands.
//!
//! `--help` and the manual pages are drawn from this one table. Every command that is not hidden is in it once.

use clap::Command;
use std::fmt::Write;

/// A command in its help and its manual page.
pub struct Topic {
    /// The name of the command.
    pub name: &'static str,
    /// Command lines, each with what it does; the most common one first.
    pub examples: &'static [(&'static str, &'static str)],
    /// Files that it reads or writes, each with what it is.
    pub files: &'static [(&'static str, &'static str)],
    /// Related manual pages.
    pub see_also: &'static [&'static str],
    /// A sentence on exit statuses that are specific to this command.
    pub status: Option<&'static str>,
}

/// A group of commands for one purpose.
pub struct Group {
    /// The heading of the group.
    pub title: &'static str,
    /// The commands, in the order of the help.
    pub topics: &'static [Topic],
}

/// The entry under FILES for commands that read recordings.
const CAPTURE: (&str, &str) = (
    "NAME.blktrace.N, trace.dat, a folder of iowhy record",
    "recordings; give NAME, the file, or the folder",
);
const NOTHING: Topic = Topic { name: "", examples: &[], files: &[], see_also: &[], status: None };
const READS: Topic = Topic { files: &[CAPTURE], ..NOTHING };

/// All commands by group, in the order of the help.
pub const GROUPS: &[Group] = &[
    Group {
        title: "Record",
        topics: &[
            Topic {
                name: "record",
                examples: &[
                    (
                        "sudo iowhy record --for 30s -o slow",
                        "record all block devices for 30 seconds into the folder slow",
                    ),
                    ("sudo iowhy record -o slow -- fio job.fio", "record while fio runs"),
                    ("sudo iowhy record --detail block --for 1min -o slow", "only the life of every request"),
                ],
                files: &[
                    ("DIR/trace.dat", "the events, as trace-cmd writes them"),
                    ("DIR/system.json", "settings of devices, mounts and the kernel"),
                    ("DIR/samples.jsonl", "what the kernel counted each second"),
                    ("/sys/kernel/tracing", "tracefs; restored at the end"),
                ],
                see_also: &["trace-cmd(1)", "blktrace(8)"],
                status: Some("The exit status of COMMAND passes through."),
            },
            Topic {
                name: "pack",
                examples: &[
                    ("iowhy pack slow", "write slow.tar.zst"),
                    ("iowhy pack --redact slow", "without names of tasks and files"),
                ],
                files: &[("DIR.tar.zst", "the packed capture; every command reads it as it is")],
                ..NOTHING
            },
            Topic {
                name: "checkup",
                examples: &[
                    ("sudo iowhy checkup /mnt/data", "one minute of problem workloads, with causes"),
                    ("iowhy checkup --print-jobs", "only show the jobs for fio"),
                ],
                files: &[("iowhy-checkup-DATE-TIME.json", "the result (schema iowhy.checkup/1)")],
                see_also: &["fio(1)"],
                ..NOTHING
            },
        ],
    },
    Group {
        title: "Explain",
        topics: &[
            Topic {
                name: "explain",
                examples: &[
                    ("iowhy explain slow", "the answer in one screen"),
                    ("iowhy explain --brief slow", "the answer in one sentence"),
                    ("iowhy explain -v vda settings.txt", "more proofs; a recording with settings beside it"),
                    ("blktrace -d /dev/vda -o - | iowhy explain -", "from a pipe"),
                    ("iowhy explain ticket.txt", "output of fio, iostat and others, in any text"),
                ],
                see_also: &["blktrace(8)", "fio(1)", "iostat(1)"],
                ..READS
            },
            Topic {
                name: "slow",
                examples: &[
                    ("iowhy slow --op fsync slow", "the three slowest fsyncs, split by what they waited for"),
                    ("iowhy slow --all slow", "of all tasks, not only the one that lost most time"),
                    ("iowhy slow --events -n 1 slow", "the slowest operation with its events"),
                ],
                ..READS
            },
            Topic {
                name: "whatif",
                examples: &[
                    ("iowhy whatif slow --without cp", "latencies if cp had not been there"),
                    ("iowhy whatif slow --set read_expire=100", "latencies under another setting"),
                    ("iowhy whatif slow --suggest --aim 'read.p99 < 20ms'", "search settings of mq-deadline"),
                ],
                ..READS
            },
            Topic {
                name: "causes",
                examples: &[
                    ("iowhy causes", "all causes, a line each"),
                    ("iowhy causes flush-cost", "how one is found, and what to do about it"),
                    ("iowhy causes --json", "for scripts: names, titles, natures"),
                ],
                ..NOTHING
            },
        ],
    },
    Group {
        title: "Look",
        topics: &[
            Topic {
                name: "report",
                examples: &[
                    ("iowhy report slow", "all tables"),
                    ("iowhy report slow seconds iostat", "only these tables"),
                    ("iowhy report --html page.html slow", "the page with pictures"),
                ],
                see_also: &["btt(1)", "iostat(1)"],
                ..READS
            },
            Topic {
                name: "view",
                examples: &[
                    ("iowhy view slow", "the page in a browser"),
                    ("iowhy view before=slow after=fast", "two recordings drawn over one another"),
                ],
                ..READS
            },
            Topic {
                name: "plot",
                examples: &[
                    ("iowhy plot slow", "in the terminal"),
                    ("iowhy plot slow --kind heatmap -o latency.svg", "as a file"),
                    (
                        "iowhy plot after --kind flame --diff before -o waits.svg",
                        "what is waited for, and what of it is new",
                    ),
                ],
                ..READS
            },
            Topic {
                name: "dist",
                examples: &[
                    ("iowhy dist slow", "histograms of operations by file system"),
                    ("sudo iowhy dist --live --for 10s", "here and now"),
                ],
                see_also: &["xfsdist(8)", "ext4dist(8)"],
                ..READS
            },
            Topic {
                name: "events",
                examples: &[
                    ("iowhy events slow", "every event, as blkparse prints it"),
                    (
                        "iowhy events -q -a complete -w 2:3 slow",
                        "completions of the third second, without the summary",
                    ),
                ],
                see_also: &["blkparse(1)"],
                ..READS
            },
        ],
    },
    Group {
        title: "Compare",
        topics: &[Topic {
            name: "compare",
            examples: &[
                ("iowhy compare slow after", "two recordings"),
                ("iowhy compare --fail-if 'read.p99 > 1.1x' slow after", "for scripts"),
                ("iowhy compare --fail-if 'fsync.p99 > 20ms on /var of postgres' slow after", "of one task"),
                ("iowhy compare mail.txt before=2 after=3", "two runs in one text"),
            ],
            status: Some("Also 1 if a condition of --fail-if holds; 3 if one can never hold."),
            ..READS
        }],
    },
    Group {
        title: "Convert",
        topics: &[
            Topic {
                name: "export",
                examples: &[
                    ("iowhy export --to perfetto out slow", "for ui.perfetto.dev"),
                    ("iowhy export --to fio out slow", "logs that fio replays"),
                    (
                        "iowhy export --to folded slow | flamegraph.pl --countname ns > waits.svg",
                        "a flame graph",
                    ),
                ],
                see_also: &["btt(1)", "fio(1)"],
                ..READS
            },
            Topic {
                name: "completions",
                examples: &[("iowhy completions bash > /etc/bash_completion.d/iowhy", "for bash")],
                ..NOTHING
            },
            Topic {
                name: "man",
                examples: &[("iowhy man explain", "show a manual page")],
                see_also: &["man(1)"],
                ..NOTHING
            },
        ],
    },
];

/// The help on a command; `None` for hidden commands.
pub fn topic(name: &str) -> Option<&'static Topic> {
    GROUPS.iter().flat_map(|g| g.topics).find(|t| t.name == name)
}

/// Shows commands in groups, each with an example, and the examples of each command below its options.
pub fn with_examples(command: Command) -> Command {
    let template = template(&command);
    let add = |command: Command| match topic(command.get_name()) {
        Some(topic) => {
            let before = command.get_after_help().map(|h| format!("{h}\n\n")).unwrap_or_default();
            command.after_help(before + &examples(topic))
        }
        None => command,
    };
    command.mut_subcommands(add).help_template(template)
}

/// The indent of commands and examples.
const INDENT: &str = "  ";

fn template(command: &Command) -> String {
    let about = |name: &str| command.find_subcommand(name).and_then(|c| c.get_about()).map(|a| a.to_string());
    let wide = GROUPS.iter().flat_map(|g| g.topics).map(|t| t.name.len()).max().unwrap_or(0);
    let mut text = String::from("{before-help}{about-with-newline}\n{usage-heading} {usage}\n");
    for group in GROUPS {
        let _ = writeln!(text, "\n{}:", group.title);
        for topic in group.topics {
            let _ =
                writeln!(text, "{INDENT}{:<wide$}  {}", topic.name, about(topic.name).unwrap_or_default());
            if let Some((line, _)) = topic.examples.first() {
                let _ = writeln!(text, "{INDENT}{:<wide$}    {line}", "");
            }
        }
    }
    text + "\n`iowhy COMMAND --help` has all options, `iowhy man COMMAND` the manual page.\n\nOptions:\n{options}{after-help}"
}

fn examples(topic: &Topic) -> String {
    let lines = topic.examples.iter().map(|(line, what)| format!("{INDENT}{line}\n{INDENT}    {what}"));
    format!("Examples:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    #[test]
    fn every_command_has_one_topic_with_an_example() {
        let command = cli::command();
        let visible: Vec<_> =
            command.get_subcommands().filter(|c| !c.is_hide_set()).map(Command::get_name).collect();
        let topics: Vec<_> = GROUPS.iter().flat_map(|g| g.topics).collect();
        assert_eq!(topics.len(), visible.len());
        assert!(visible.iter().all(|name| topics.iter().filter(|t| t.name == *name).count() == 1));
        assert!(topics.iter().all(|t| !t.examples.is_empty()));
    }

    #[test]
    fn examples_are_command_lines_that_parse() {
        for (line, _) in GROUPS.iter().flat_map(|g| g.topics).flat_map(|t| t.examples) {
            let own = line.find("iowhy ").map(|at| &line[at..]).unwrap_or(line);
            let own = own.split([';', '|', '>']).next().unwrap_or(own);
            // Conditions hold such signs in quotes: what is before them is enough to name the command.
            let words: Vec<_> = own.split_whitespace().take_while(|w| !w.starts_with('\'')).collect();
            let quoted = line.contains('\'');
            assert!(quoted || cli::command().try_get_matches_from(words).is_ok(), "{line}");
        }
    }
}
