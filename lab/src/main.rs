//! `lab`: makes the corpus (`make lab`) and judges it (`make corpus`).

use clap::{Parser, Subcommand};
use lab::{bench, Outcome, Proof, Role};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Slow I/O of known cause: makes it, records it, judges what iowhy says of it.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Record scenarios on this machine, as root, or in a virtual machine; keep them in lab/corpus
    Record {
        /// Only scenarios whose name begins so; all, if none is given
        names: Vec<String>,
        /// Those that are made in a virtual machine, in this one (lab/machine/make FOLDER); without it, all others
        #[arg(long, value_name = "FOLDER")]
        machine: Option<PathBuf>,
        /// Only those that are not there yet
        #[arg(long)]
        missing: bool,
        /// Keep nothing; leave the folders where they are made and say where
        #[arg(long)]
        leave: bool,
        /// How often at most a recording is made anew because the processors were busy with something else
        #[arg(long, default_value_t = 4)]
        tries: u32,
    },
    /// Judge what is kept and write the table
    Judge {
        /// Where it is written
        #[arg(long, default_value = "docs/corpus.md")]
        out: PathBuf,
        /// Only say what is not right
        #[arg(long)]
        wrong: bool,
    },
    /// Run checkups with an array below, in a virtual machine
    Checkup {
        /// The machine (lab/machine/make FOLDER)
        #[arg(long, value_name = "FOLDER")]
        machine: PathBuf,
    },
    /// List the scenarios
    List,
    #[command(hide = true)]
    Pick { explained: PathBuf, cause: String, words: String },
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().task {
        Task::Record { names, machine, missing, leave, tries } => {
            let machine = machine.map(lab::machine::Machine);
            record(&names, machine.as_ref(), missing, leave, tries)
        }
        Task::Judge { out, wrong } => judge(&out, wrong),
        Task::Checkup { machine } => checkup(machine),
        Task::List => list(),
        Task::Pick { explained, cause, words } => pick(&explained, &cause, &words),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("lab: {e}");
            ExitCode::FAILURE
        }
    }
}

/// A usual task that is later than this again and again shows in recordings of operations that take milliseconds: the
/// kernel's time slice is 3 ms (`base_slice_ns`, kernel/sched/fair.c).
const QUIET: Duration = Duration::from_millis(3);

/// The recording in which the processors were least busy with something else.
fn quietest(tools: &bench::Tools, cause: &str, setting: &lab::Setting, tries: u32) -> Outcome<bench::Made> {
    let mut best = bench::run(tools, cause, setting)?;
    for _ in 1..tries.max(1) {
        if best.late < QUIET || setting.busy {
            break;
        }
        let again = bench::run(tools, cause, setting)?;
        if again.late < best.late {
            best = again;
        }
    }
    Ok(best)
}

fn record(
    names: &[String],
    machine: Option<&lab::machine::Machine>,
    missing: bool,
    leave: bool,
    tries: u32,
) -> Outcome {
    let tools = bench::tools_beside(&std::env::current_exe()?)?;
    let mut failed = 0;
    for s in lab::all()? {
        for (name, role, setting) in s.recordings() {
            let wanted = names.is_empty() || names.iter().any(|n| name.starts_with(n.as_str()));
            let elsewhere = (setting.machine > 0) != machine.is_some() || !setting.recorded.is_empty();
            if !wanted || elsewhere || missing && lab::kept(&name).is_file() {
                continue;
            }
            let made = match machine {
                Some(machine) => machine.run(&tools, &s.cause, setting),
                None => quietest(&tools, &s.cause, setting, tries),
            };
            let made = match made {
                Ok(made) => made,
                Err(e) => {
                    failed += 1;
                    eprintln!("{name}: {e}");
                    continue;
                }
            };
            if role == Role::Scenario {
                if let Some(remedy) = &setting.remedy {
                    match proof(&made, &s.cause, remedy) {
                        Ok(Some(proof)) => {
                            println!("{name}: {}: {}", proof.command, proof.sentence);
                            if !leave {
                                std::fs::write(lab::proof_of(&name), serde_json::to_vec_pretty(&proof)?)?;
                            }
                        }
                        Ok(None) => eprintln!("{name}: no such remedy was printed"),
                        Err(e) => eprintln!("{name}: {e}"),
                    }
                }
            }
            match leave {
                true => println!("{name}: {}", made.leave().display()),
                false => {
                    let kib = lab::keep(&made.capture(), &name)? / 1024;
                    println!("{name}: {kib} KiB; others came to run {:?} late", made.late);
                }
            }
        }
    }
    match failed {
        0 => Ok(()),
        n => Err(format!("{n} recordings could not be made").into()),
    }
}

fn proof(made: &bench::Made, cause: &str, remedy: &lab::Remedy) -> Outcome<Option<Proof>> {
    let texts = ["command.txt", "compare.json", "first.json", "second.json"].map(|f| made.text(f));
    let [Some(command), Some(compared), Some(first), Some(second)] = texts else { return Ok(None) };
    Proof::of(cause, &command, &compared, [&first, &second], remedy).map(Some)
}

fn checkup(machine: PathBuf) -> Outcome {
    lab::checkup(&lab::machine::Machine(machine), &bench::tools_beside(&std::env::current_exe()?)?)
}

fn judge(out: &std::path::Path, wrong: bool) -> Outcome {
    let tools = bench::tools_beside(&std::env::current_exe()?)?;
    let scenarios = lab::all()?;
    let judged = lab::judge(&tools.iowhy, &scenarios)?;
    for j in judged.iter().filter(|j| !j.right_first() || j.found.iter().any(|(c, _)| !j.is_true(c))) {
        let found: Vec<_> = j.found.iter().map(|(c, share)| format!("{c} {:.0} %", share * 100.0)).collect();
        println!("{}: {} (truth: {})", j.name, found.join(", "), j.truth.join(" or "));
    }
    if !wrong {
        std::fs::write(out, lab::table(&scenarios, &judged)?)?;
    }
    Ok(())
}

fn list() -> Outcome {
    for s in lab::all()? {
        let there = s.recordings().iter().filter(|(name, _, s)| s.recording(name).exists()).count();
        println!("{:<32} {:?} {there} of 2: {}", s.name, s.half, s.sick.about);
    }
    Ok(())
}

fn pick(explained: &std::path::Path, cause: &str, words: &str) -> Outcome {
    let said = serde_json::from_slice(&std::fs::read(explained)?)?;
    let command = lab::pick(&said, cause, words);
    println!("{}", command.ok_or_else(|| format!("no remedy of {cause} has \"{words}\""))?);
    Ok(())
}
