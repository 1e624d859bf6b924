//! What counters alone can show: causes judged from what tools printed, without a trace.
//!
//! A trace is judged by where each operation's time went; counters have only sums, so a cause shows as a difference
//! between runs or between devices. Each sentence of evidence has the arithmetic in it and the place of its numbers.
//! What sums cannot show is answered *cannot tell*, with what to record.
//!
//! **Invariant**: nothing here depends on the names of hosts, devices or files, nor on one author's words; the words that
//! are looked for ("bitmap", "w/o") only say which of two runs is which.

mod log_force;
mod raid;
mod request_limit;
mod request_size;
mod say;
mod scheduler_starvation;
mod settings;
mod stable_page;
#[cfg(test)]
mod tests;
mod writeback_flood;

use crate::{Answer, Verdict};
use tooltext::Mail;

/// What the texts show, found first. A cause about which they have nothing to say is not among them.
pub fn judge_counters(mails: &[Mail]) -> Vec<Verdict> {
    let causes = [
        writeback_flood::judge(mails),
        stable_page::judge(mails),
        request_size::judge(mails),
        scheduler_starvation::judge(mails),
        log_force::judge(mails),
        raid::bitmap(mails),
        raid::stripe_cache(mails),
        raid::read_modify_write(mails),
    ];
    let mut verdicts: Vec<Verdict> = causes.into_iter().flatten().collect();
    verdicts.sort_by_key(|v| match v.verdict {
        Answer::Found => 0,
        Answer::CannotTell => 1,
        Answer::Rejected => 2,
    });
    verdicts
}

/// What a cause says in one line where counters are all there is.
pub fn title_by_counters(cause: &str) -> Option<&'static str> {
    match cause {
        "log-force" => Some("the way through the log is what takes long, not the device that the log is on"),
        _ => crate::pages().find(|(name, ..)| *name == cause).map(|(_, title, _)| title),
    }
}
