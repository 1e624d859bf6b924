//! Whether a text beside a recording is of the machine that was recorded. What is of another one is no
//! evidence.

use super::Texts;
use crate::explanation::Explanation;
use tooltext::ToolOutput;

/// What a text says of where it was taken, beside a recording.
#[derive(Debug, PartialEq)]
enum Whence {
    /// Of the recorded machine: it names its kernel or one of its devices.
    Same,
    /// It names none.
    Unsaid,
    /// Of another; why.
    Other(String),
}

impl Whence {
    /// Where a text was taken.
    fn of(output: &ToolOutput, e: &Explanation) -> Whence {
        let kernel = e.kernel().filter(|_| !output.machines.is_empty());
        if let Some(kernel) = kernel {
            if !output.machines.iter().any(|m| m.kernel == kernel) {
                let m = &output.machines[0];
                return Whence::Other(format!(
                    "it is of Linux {} ({}), the recording of Linux {kernel}",
                    m.kernel,
                    output.at(m.at)
                ));
            }
        }
        let theirs = super::devices(std::slice::from_ref(output));
        let mut ours: Vec<String> = e.facts.devices.iter().map(|d| e.name(d.id)).collect();
        // Devices without a name are numbers; then nothing can be compared.
        let named = ours.iter().all(|name| !name.contains(','));
        for name in e.subject.system.devices.keys() {
            if !ours.contains(name) {
                ours.push(name.clone());
            }
        }
        if theirs.is_empty() || !named {
            return if kernel.is_some() { Whence::Same } else { Whence::Unsaid };
        }
        // A partition is of its disk.
        let same = |a: &str, b: &str| a == b || a.starts_with(b) || b.starts_with(a);
        if theirs.iter().any(|t| ours.iter().any(|o| same(t, o))) {
            return Whence::Same;
        }
        Whence::Other(format!("it is of {}, the recording of {}", listed(&theirs), listed(&ours)))
    }
}

/// Names in a sentence, few of many.
fn listed(names: &[String]) -> String {
    const FEW: usize = 4;
    let more = if names.len() > FEW { ", ..." } else { "" };
    format!("{}{more}", names[..names.len().min(FEW)].join(", "))
}

impl Texts {
    /// Texts beside a recording, the first `named` of which were asked for: those of another machine are no
    /// evidence, and of each it is said if it is not sure to be of the recorded machine.
    pub fn beside(outputs: Vec<ToolOutput>, named: usize, e: &Explanation) -> Texts {
        let mut remarks = vec![];
        let mut used = vec![];
        for output in &outputs {
            let whence = Whence::of(output, e);
            match &whence {
                Whence::Same => {}
                Whence::Unsaid => remarks.push(format!(
                    "{}: host not recorded in it: assumed to be the recorded one",
                    output.file
                )),
                Whence::Other(why) => {
                    remarks.push(format!("{}: no evidence is taken from it: {why}", output.file))
                }
            }
            if !matches!(whence, Whence::Other(_)) {
                used.push(output.clone());
            }
        }
        let verdicts = causes::judge_counters(&used);
        Texts { outputs, named, verdicts, remarks }
    }
}
