//! Reads blkparse's lines in a custom format (`blkparse -f`): `0.002405281,C,WS,6291456,8,jbd2/vda1`; and with formats for single actions
//! (`-F`), where all other lines have blkparse's default format.
//!
//! ```text
//! text  ->  the command above the lines: its format          \
//!       or  what stands at each place of all lines: guess     >  Program  ->  Event
//!           (only what cannot be anything else)              /
//! ```
//!
//! A line tells only what its format contains. Time, action, letters, sector and size are required; without their columns, task and
//! device are unknown. **Invariant**: a column gets a meaning only if no other is possible; otherwise the text is
//! rejected with advice.

pub(super) mod formats;
mod guess;
mod program;

use super::text::has_io;
pub use formats::Own;
use formats::LEAST;
use program::Program;

/// Bytes of a text that are examined for its format.
const LOOKED_AT: usize = 256 << 10;
/// Determines whether a text has blkparse lines in a custom format, and which format that is.
pub fn of(start: &[u8]) -> Own {
    let start = &start[..start.len().min(LOOKED_AT)];
    if let Some(own) = formats::of_actions(start) {
        return own;
    }
    let is_event = |line: &&[u8]| guess::may_be_event(line) && !guess::is_of_kernels_log(line);
    let events = start.split(|b| *b == b'\n').take(guess::MOST_LINES).filter(is_event);
    if events.take(LEAST).count() < LEAST || has_io(start) {
        return Own::None;
    }
    let text = String::from_utf8_lossy(start);
    let Some((format, _)) = formats::command(&text, "-f").next() else {
        return guess::guess(start).map_or_else(Own::Refused, |program| Own::Read(program.into()));
    };
    match Program::parse(&format, None) {
        Ok(program) if fits(&program, start) => Own::Read(program.into()),
        Ok(_) => Own::Refused(format!("its lines are not of the format that stands above them, {format:?}")),
        Err(why) => Own::Refused(format!("its format is {format:?}, {why}")),
    }
}

/// Whether at least half of the lines are events of this format (the last line may be truncated).
fn fits(program: &Program, start: &[u8]) -> bool {
    let lines = || start.split(|b| *b == b'\n').filter(|line| guess::may_be_event(line));
    let read = lines().filter(|line| program.read(line).is_some()).count();
    read >= LEAST && read >= lines().count() / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_above_says_the_format() {
        let lines: String = (0..8).map(|i| format!("0.00000{i}000 8 0 Q WS 40 8 77\n")).collect();
        let with = |command: &str| of(format!("{command}\n{lines}").as_bytes());
        let known = with("$ blkparse -i sda -f \"%T.%t %M %m %a %d %S %n %p\\n\"");
        assert!(matches!(known, Own::Read(_)), "{known:?}");
        let other = with("$ blkparse -i sda -f '%a %T.%t\\n'");
        assert!(matches!(other, Own::Refused(_)), "{other:?}");
        assert!(matches!(of(lines.as_bytes()), Own::Refused(_)));
        // Words in the kernel's log may be letters of actions and kinds, too.
        let log: String = (0..8)
            .map(|i| {
                format!("[    {i}.123456] ata{i}.00: configured, D or C, W and {i} sectors of R [disk]\n")
            })
            .collect();
        assert_eq!(of(log.as_bytes()), Own::None);
        assert_ne!(of(log.replace(['[', ']'], "").as_bytes()), Own::None);
        assert_eq!(of(b"Hi,\nI waited 0.002100000 s: A FS is slow\n"), Own::None);
    }
}
