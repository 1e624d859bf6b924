//! Whether a text beside a recording is of the machine that was recorded. What is of another one is no evidence.

use super::Told;
use crate::explanation::Explanation;
use tooltext::Mail;

/// What a text says of where it was taken, beside a recording.
#[derive(Debug, PartialEq)]
pub(super) enum Whence {
    /// Of the recorded machine: it names its kernel or one of its devices.
    Same,
    /// It names none.
    Unsaid,
    /// Of another; why.
    Other(String),
}

impl Whence {
    /// Where a text was taken.
    fn of(mail: &Mail, e: &Explanation) -> Whence {
        let kernel = e.kernel().filter(|_| !mail.machines.is_empty());
        if let Some(kernel) = kernel {
            if !mail.machines.iter().any(|m| m.kernel == kernel) {
                let m = &mail.machines[0];
                return Whence::Other(format!(
                    "it is of Linux {} ({}), the recording of Linux {kernel}",
                    m.kernel,
                    mail.at(m.at)
                ));
            }
        }
        let theirs = super::json::devices(std::slice::from_ref(mail));
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

impl Told {
    /// Texts beside a recording: those of another machine are judged by themselves and set apart, and of every text
    /// it is said whether it is of the recorded machine.
    pub fn beside(mails: Vec<Mail>, e: &Explanation) -> (Told, Vec<String>) {
        let mut remarks = vec![];
        let mut used = vec![];
        for mail in &mails {
            match Whence::of(mail, e) {
                Whence::Same => used.push(mail.clone()),
                Whence::Unsaid => {
                    remarks.push(format!(
                        "{}: nothing in it says that it is of the recorded machine; taken as if it were",
                        mail.file
                    ));
                    used.push(mail.clone());
                }
                Whence::Other(why) => {
                    remarks.push(format!("{}: no evidence is taken from it: {why}", mail.file));
                }
            }
        }
        let verdicts = causes::judge_counters(&used);
        (Told { mails, verdicts }, remarks)
    }
}
