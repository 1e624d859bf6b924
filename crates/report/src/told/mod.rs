//! What texts tell: the runs found in them, what differs between these, and the causes that counters alone show.

mod json;
mod machine;
mod screen;
mod table;

pub(crate) use table::cell;

use causes::{judge_counters, Answer, Verdict};
use tooltext::Mail;

/// Texts, read and judged.
pub struct Told {
    /// The texts, in the order given.
    pub mails: Vec<Mail>,
    /// What they show.
    pub verdicts: Vec<Verdict>,
}

impl Told {
    /// Judges texts.
    pub fn new(mails: Vec<Mail>) -> Told {
        let verdicts = judge_counters(&mails);
        Told { mails, verdicts }
    }

    /// Adds what the texts show to the verdicts on a recording: of a cause that the recording could not judge the texts'
    /// verdict holds, else they only add evidence.
    pub fn add_to(&self, verdicts: &mut Vec<Verdict>) {
        for told in &self.verdicts {
            match verdicts.iter_mut().find(|v| v.cause == told.cause) {
                None => verdicts.push(told.clone()),
                Some(v) if v.verdict == Answer::CannotTell => *v = told.clone(),
                Some(v) if v.verdict == told.verdict => v.evidence.extend(told.evidence.iter().cloned()),
                Some(_) => {}
            }
        }
    }
}

/// The tools whose output was found, each once.
fn tools(mails: &[Mail]) -> Vec<&'static str> {
    let mut tools: Vec<&'static str> = vec![];
    for reading in mails.iter().flat_map(|m| &m.runs).flat_map(|r| &r.readings) {
        if !tools.contains(&reading.tool) {
            tools.push(reading.tool);
        }
    }
    tools
}
