//! `lab`: makes the corpus (`make lab`) and judges it (`make corpus`).

use clap::{Parser, Subcommand};
use lab::{bench, Outcome, Proof};
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
        /// Only try the remedies, and leave the recordings as they are
        #[arg(long)]
        remedies: bool,
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
        /// Judge another tool, and only say what is not right
        #[arg(long, value_name = "TOOL")]
        iowhy: Option<PathBuf>,
    },
    /// Draw conditions from a seed, record real applications under them, and run each again without one thing after the other; as root
    Away {
        /// The same seed draws the same conditions
        #[arg(long)]
        seed: u64,
        #[arg(long, default_value_t = 60)]
        conditions: u64,
        /// Who records; the one beside this program, if none is given
        #[arg(long)]
        iowhy: Option<PathBuf>,
        /// All of it in this virtual machine (lab/machine/make FOLDER), recorded by blktrace; what is drawn there is less
        #[arg(long, value_name = "FOLDER")]
        machine: Option<PathBuf>,
        /// Recordings and truths go into DIR/SEED; what is there is not made again
        #[arg(long, default_value = "target/away", value_name = "DIR")]
        out: PathBuf,
    },
    /// Judge what a draw left
    AwayJudge {
        #[arg(long)]
        iowhy: PathBuf,
        folder: PathBuf,
    },
    /// Keep what a draw found out in lab/draws: its conditions and their truth
    AwayKeep { folder: PathBuf },
    /// Compare what iowhy predicts without a neighbour, or without the cause that it names, with what draws measured
    AwayWithout {
        #[arg(long)]
        iowhy: PathBuf,
        #[arg(long, default_value = "neighbours")]
        what: lab::apps::What,
        folders: Vec<PathBuf>,
    },
    /// Run checkups with an array below, in a virtual machine
    Checkup {
        /// The machine (lab/machine/make FOLDER)
        #[arg(long, value_name = "FOLDER")]
        machine: PathBuf,
    },
    /// Run FOLDER/script in a virtual machine, which sees FOLDER as /mnt/share
    Boot {
        /// The machine (lab/machine/make FOLDER)
        #[arg(long, value_name = "FOLDER")]
        machine: PathBuf,
        /// It is turned off after so many
        #[arg(long, default_value_t = 300)]
        seconds: u32,
        folder: PathBuf,
        /// More words for QEMU: its disks
        #[arg(last = true)]
        disks: Vec<String>,
    },
    /// Run the same loads on several kernels, in virtual machines, and judge them
    Kernels {
        /// Below it a machine for each suite (lab/machine/make FOLDER/SUITE SUITE)
        #[arg(long, value_name = "FOLDER")]
        machines: PathBuf,
        /// Only these suites; all, if none is given
        suites: Vec<String>,
        /// Only judge what an earlier run has recorded
        #[arg(long)]
        kept: bool,
        /// Where the table is written
        #[arg(long, default_value = "docs/kernels.md")]
        out: PathBuf,
    },
    /// List the scenarios
    List,
    #[command(hide = true)]
    Pick {
        explained: PathBuf,
        cause: String,
        #[arg(allow_hyphen_values = true)]
        words: String,
    },
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().task {
        Task::Record { names, machine, missing, remedies, leave, tries } => {
            let machine = machine.map(|folder| lab::machine::Machine::at(&folder)).transpose();
            machine.and_then(|m| record(&names, m.as_ref(), Wanted { missing, remedies }, leave, tries))
        }
        Task::Judge { out, wrong, iowhy } => judge(&out, wrong, iowhy),
        Task::Away { seed, conditions, iowhy, machine, out } => {
            let machine = machine.map(|folder| lab::machine::Machine::at(&folder)).transpose();
            machine.and_then(|m| away(seed, conditions, iowhy, m, &out))
        }
        Task::AwayJudge { iowhy, folder } => lab::apps::judge(&iowhy, &folder),
        Task::AwayKeep { folder } => lab::apps::keep(&folder),
        Task::AwayWithout { iowhy, what, folders } => lab::apps::without(&iowhy, what, &folders),
        Task::Checkup { machine } => checkup(machine),
        // One processor: with two that are emulated, switching recording on and off again and again has hung (see checkup.rs).
        Task::Boot { machine, seconds, folder, disks } => {
            lab::machine::Machine::at(&machine).and_then(|m| m.boot(&folder, &disks, 1, seconds))
        }
        Task::Kernels { machines, suites, kept, out } => std::env::current_exe()
            .map_err(Into::into)
            .and_then(|lab| bench::tools_beside(&lab))
            .and_then(|tools| lab::kernels(&machines, &suites, kept, &tools, &out)),
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

/// What is made.
struct Wanted {
    /// Only what is not there.
    missing: bool,
    /// Only the proofs by remedy.
    remedies: bool,
}

fn record(
    names: &[String],
    machine: Option<&lab::machine::Machine>,
    only: Wanted,
    leave: bool,
    tries: u32,
) -> Outcome {
    let tools = bench::tools_beside(&std::env::current_exe()?)?;
    let mut failed = 0;
    for s in lab::all()? {
        let named = |name: &str| names.is_empty() || names.iter().any(|n| name.starts_with(n.as_str()));
        let here = |setting: &lab::Setting| (setting.machine > 0) == machine.is_some();
        let make = |setting: &lab::Setting| match machine {
            Some(machine) => machine.run(&tools, &s.cause, setting),
            None => quietest(&tools, &s.cause, setting, tries),
        };
        for (name, _, setting) in s.recordings() {
            let elsewhere = !here(setting) || !setting.recorded.is_empty();
            if !named(&name) || elsewhere || only.remedies || only.missing && lab::kept(&name).is_file() {
                continue;
            }
            let made = match make(setting) {
                Ok(made) => made,
                Err(e) => {
                    failed += 1;
                    eprintln!("{name}: {e}");
                    continue;
                }
            };
            match leave {
                true => println!("{name}: {}", made.leave().display()),
                false => {
                    let kib = lab::keep(&made.capture(), &name)? / 1024;
                    println!("{name}: {kib} KiB; others came to run {:?} late", made.late);
                }
            }
        }
        let there = only.missing && lab::proof_of(&s.name).is_file();
        let Some(tried) = s.tried.as_ref().filter(|t| here(t) && named(&s.name) && !there) else { continue };
        match make(tried).and_then(|made| Ok((proof(&made, &s)?, made))) {
            Ok((proof, made)) => {
                println!("{}: {}: {}", s.name, proof.command, proof.sentence);
                match leave {
                    true => println!("{}: {}", s.name, made.leave().display()),
                    false => std::fs::write(lab::proof_of(&s.name), serde_json::to_vec_pretty(&proof)?)?,
                }
            }
            Err(e) => {
                failed += 1;
                eprintln!("the remedy of {}: {e}", s.name);
            }
        }
    }
    match failed {
        0 => Ok(()),
        n => Err(format!("{n} recordings could not be made").into()),
    }
}

fn proof(made: &bench::Made, s: &lab::Scenario) -> Outcome<Proof> {
    let remedy = s.tried.as_ref().and_then(|t| t.remedy.as_ref()).ok_or("it has none")?;
    let texts = ["command.txt", "compare.json", "first.json", "second.json"].map(|f| made.text(f));
    let [Some(command), Some(compared), Some(first), Some(second)] = texts else {
        return Err(made.text("pick.txt").unwrap_or_else(|| "it was not tried".into()).into());
    };
    Proof::of(&s.cause, &command, &compared, [&first, &second], remedy)
}

fn away(
    seed: u64,
    conditions: u64,
    iowhy: Option<PathBuf>,
    machine: Option<lab::machine::Machine>,
    out: &std::path::Path,
) -> Outcome {
    let here = std::env::current_exe()?;
    let iowhy = iowhy.unwrap_or_else(|| here.with_file_name("iowhy"));
    std::fs::create_dir_all(out)?;
    let stores = out.canonicalize()?.join("stores");
    let rig = lab::apps::Rig { iowhy, slowdisk: here.with_file_name("slowdisk"), stores, machine };
    lab::apps::draw(&rig, seed, conditions, &out.join(format!("SEED-{seed}")))
}

fn checkup(machine: PathBuf) -> Outcome {
    lab::checkup(&lab::machine::Machine::at(&machine)?, &bench::tools_beside(&std::env::current_exe()?)?)
}

fn judge(out: &std::path::Path, wrong: bool, tool: Option<PathBuf>) -> Outcome {
    let wrong = wrong || tool.is_some();
    let tool = match tool {
        Some(tool) => tool,
        None => bench::tools_beside(&std::env::current_exe()?)?.iowhy,
    };
    let scenarios = lab::all()?;
    let judged = lab::judge(&tool, &scenarios)?;
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
