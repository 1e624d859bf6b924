//! Decides whether a text beside a recording is of the recorded machine. A text of another machine is no evidence.

use super::Texts;
use crate::explanation::Explanation;
use tooltext::ToolOutput;

/// The origin of a text beside a recording.
#[derive(Debug, PartialEq)]
enum Whence {
    /// The recorded machine: the text names its kernel or one of its devices.
    Same,
    /// Unknown: the text names neither a kernel nor a device.
    Unsaid,
    /// Another machine, with the reason as a clause.
    Other(String),
}

impl Whence {
    /// Determines the origin of a text.
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
        // Devices without a name appear as numbers: then devices cannot be compared.
        let named = ours.iter().all(|name| !name.contains(','));
        for name in e.subject.system.devices.keys() {
            if !ours.contains(name) {
                ours.push(name.clone());
            }
        }
        if theirs.is_empty() || !named {
            return if kernel.is_some() { Whence::Same } else { Whence::Unsaid };
        }
        // The name of a partition begins with the name of its disk.
        let same = |a: &str, b: &str| a == b || a.starts_with(b) || b.starts_with(a);
        if theirs.iter().any(|t| ours.iter().any(|o| same(t, o))) {
            return Whence::Same;
        }
        Whence::Other(format!("it is of {}, the recording of {}", listed(&theirs), listed(&ours)))
    }
}

/// A list of names for a sentence, at most 4.
fn listed(names: &[String]) -> String {
    const FEW: usize = 4;
    let more = if names.len() > FEW { ", ..." } else { "" };
    format!("{}{more}", names[..names.len().min(FEW)].join(", "))
}

impl Texts {
    /// Judges texts beside a recording, of which the first `named` were named on the command line. Texts of another machine are no evidence;
    /// a remark says so, and also if the machine is unknown.
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
