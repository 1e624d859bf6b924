//! Finds settings in a line with several: output of `grep . /sys/block/*/queue/*`, `sysctl vm.`, `mount` or `/proc/mdstat` whose lines an
//! archive joined.
//!
//! ```text
//! sda/queue/nr_requests:64 vm.dirty_ratio = 20 is what I have        sda/queue/nr_requests:64
//!                                                                    vm.dirty_ratio = 20
//! ```
//!
//! **Invariant**: a piece is what its tool prints as a line of its own; adjacent words are not part of it.

use std::ops::Range;

/// A setting in a line.
#[derive(Debug)]
pub(super) struct Piece {
    /// The kind of reader for it.
    pub kind: &'static str,
    /// The setting as a line of its tool's output.
    pub text: String,
    /// Byte range in the line.
    pub bytes: Range<usize>,
}

/// Folders of sysfs with settings.
pub(super) const BELOW: [&str; 2] = ["/queue/", "/md/"];
/// Names of I/O schedulers, in `queue/scheduler`.
const SCHEDULERS: [&str; 7] = ["none", "noop", "deadline", "mq-deadline", "cfq", "bfq", "kyber"];
/// Limit on words of mount options that a mailer broke.
const MOST_OPTIONS: usize = 4;
/// Limit on words of an array's first line in mdstat, with its members.
const MOST_OF_ARRAY: usize = 600;
/// Limit on words of its second line, which has about 14.
const MOST_OF_STATE: usize = 20;
/// What md does with a whole array (`status_resync`, drivers/md/md.c).
const ACTIVITIES: [&str; 4] = ["recovery", "resync", "check", "reshape"];
/// Limit on pieces of one line.
const MOST: usize = 10_000;

/// A word of the line, and its byte offset.
type Token<'a> = (&'a str, usize);

/// The settings in a line, in order.
pub(super) fn pieces(line: &str) -> Vec<Piece> {
    let offset = |word: &str| word.as_ptr() as usize - line.as_ptr() as usize;
    let quote = |word: &&str| word.bytes().all(|b| b == b'>');
    let tokens: Vec<Token> = line.split_whitespace().filter(|w| !quote(w)).map(|w| (w, offset(w))).collect();
    let mut found = vec![];
    let mut at = 0;
    while at < tokens.len() && found.len() < MOST {
        let rest = &tokens[at..];
        let Some((kind, text, words)) = None
            .or_else(|| sysfs(rest))
            .or_else(|| sysctl(rest))
            .or_else(|| mount(rest))
            .or_else(|| mdstat(rest))
        else {
            at += 1;
            continue;
        };
        let (last, from) = rest[words - 1];
        found.push(Piece { kind, text, bytes: rest[0].1..from + last.len() });
        at += words;
    }
    found
}

fn word<'a>(tokens: &[Token<'a>], i: usize) -> Option<&'a str> {
    tokens.get(i).map(|t| t.0)
}

/// Parses `/sys/block/sda/queue/nr_requests:64`. Only the values of a scheduler and of a cache have several words.
fn sysfs(tokens: &[Token]) -> Option<(&'static str, String, usize)> {
    let text = word(tokens, 0)?;
    let below = BELOW.iter().filter_map(|b| text.find(b)).min().filter(|at| *at > 0)?;
    let value = below + text[below..].find([':', '='])? + 1;
    let path = &text[..value - 1];
    let first = sentence(&text[value..]);
    if first.is_empty() || path.contains(['<', '*', '"', '(', '`']) {
        return None;
    }
    let more: Vec<&str> = match path.rsplit('/').next()? {
        "scheduler" => (1..SCHEDULERS.len())
            .map_while(|i| word(tokens, i))
            .take_while(|w| SCHEDULERS.contains(&w.trim_matches(['[', ']'])))
            .collect(),
        "write_cache" => word(tokens, 1).filter(|w| ["back", "through"].contains(w)).into_iter().collect(),
        _ => vec![],
    };
    let used = 1 + more.len();
    let all: Vec<&str> = std::iter::once(first).chain(more).collect();
    Some(("sysfs", format!("{path}:{}", all.join(" ")), used))
}

/// Parses `vm.dirty_ratio = 20`, `vm.dirty_ratio=20`, `/proc/sys/vm/dirty_ratio:20`.
fn sysctl(tokens: &[Token]) -> Option<(&'static str, String, usize)> {
    let text = word(tokens, 0)?;
    if !(text.starts_with("vm.") || text.starts_with("/proc/sys/vm/")) {
        return None;
    }
    let number = |text: &str| text.parse::<i64>().is_ok();
    if let Some((name, value)) = text.split_once(['=', ':']) {
        let value = sentence(value);
        return number(value).then(|| ("sysctl", format!("{name}={value}"), 1));
    }
    let value = sentence(word(tokens, 2).filter(|_| word(tokens, 1) == Some("="))?);
    number(value).then(|| ("sysctl", format!("{text} = {value}"), 3))
}

/// Parses `/dev/sda1 on /mnt type ext4 (rw,relatime)`, or `/dev/sda1 /mnt ext4 rw,relatime 0 0`.
fn mount(tokens: &[Token]) -> Option<(&'static str, String, usize)> {
    let texts: Vec<&str> = (0..5 + MOST_OPTIONS).map_while(|i| word(tokens, i)).collect();
    let [source, second, ..] = texts[..] else { return None };
    if second == "on" {
        let fits =
            texts.get(2)?.starts_with('/') && texts.get(3) == Some(&"type") && texts.get(5)?.starts_with('(');
        let end = (5..texts.len())
            .find(|i| texts[*i].ends_with([')', ']']) || texts[*i].contains(')'))
            .filter(|_| fits)?;
        let options = texts[5..=end].concat();
        return Some(("mounts", format!("{} {options}", texts[..5].join(" ")), end + 1));
    }
    let numbers = texts.get(4) == Some(&"0")
        && texts.get(5).is_some_and(|n| n.len() == 1 && n.as_bytes()[0].is_ascii_digit());
    let options = texts
        .get(3)
        .is_some_and(|o| *o == "rw" || *o == "ro" || o.starts_with("rw,") || o.starts_with("ro,"));
    let fits = second.starts_with('/') && numbers && options && !source.ends_with(':');
    fits.then(|| ("mounts", texts[..6].join(" "), 6))
}

/// Parses a line of `/proc/mdstat`; the second and third line of an array get their indent back.
fn mdstat(tokens: &[Token]) -> Option<(&'static str, String, usize)> {
    // Few words can start a line of mdstat; for all others, the following words are not examined.
    let first = word(tokens, 0)?;
    if !(first.starts_with("md") || first == "bitmap:" || word(tokens, 1) == Some("blocks")) {
        return activity(tokens);
    }
    let texts: Vec<&str> = (0..MOST_OF_ARRAY).map_while(|i| word(tokens, i)).collect();
    let (end, indent) = match texts[..] {
        [name, ":", "active" | "inactive" | "broken", ..] if name.starts_with("md") => {
            let part = |text: &str| {
                let member =
                    text.split_once('[').is_some_and(|(name, n)| !name.is_empty() && n.contains(']'));
                member
                    || text.starts_with("raid")
                    || ["linear", "multipath"].contains(&text)
                    || text.starts_with('(')
            };
            (3 + texts[3..].iter().take_while(|t| part(t)).count(), "")
        }
        [size, "blocks", ..] if size.parse::<u64>().is_ok() => {
            let state = |text: &&str| {
                let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
                inner.is_some_and(|t| !t.is_empty() && t.bytes().all(|b| b == b'U' || b == b'_'))
            };
            (texts.iter().take(MOST_OF_STATE).position(state)? + 1, "      ")
        }
        ["bitmap:", _, "pages", _, _, "chunk", ..] => (6, "      "),
        _ => return None,
    };
    Some(("mdstat", format!("{indent}{}", texts[..end].join(" ")), end))
}

/// Parses what an array is busy with: `[=>...] recovery = 5.0% (10/200) finish=4.6min speed=69324K/sec`, `resync=DELAYED`.
fn activity(tokens: &[Token]) -> Option<(&'static str, String, usize)> {
    let first = word(tokens, 0)?;
    let inner = first.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let bar = inner.is_some_and(|bar| bar.contains('>') && bar.bytes().all(|b| b"=>.".contains(&b)));
    let waits = ACTIVITIES.iter().any(|name| first.strip_prefix(name) == Some("=DELAYED"));
    let words = match () {
        () if waits => 1,
        () if bar && ACTIVITIES.contains(&word(tokens, 1)?) && word(tokens, 2) == Some("=") => {
            let speed =
                (0..MOST_OF_STATE).find(|i| word(tokens, *i).is_some_and(|w| w.starts_with("speed=")));
            speed.map_or(4.min(tokens.len()), |at| at + 1)
        }
        () => return None,
    };
    let texts: Vec<&str> = tokens[..words].iter().map(|t| t.0).collect();
    Some(("mdstat", format!("      {}", texts.join(" ")), words))
}

/// A value without adjacent punctuation.
fn sentence(value: &str) -> &str {
    value.trim_end_matches([',', ';', ')', '.', '"', '`'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Vec<String> {
        pieces(line).into_iter().map(|p| p.text).collect()
    }

    #[test]
    fn many_settings_of_all_kinds_in_one_line() {
        let line = "I have > /sys/block/sda/queue/nr_requests:64 /sys/block/sda/queue/scheduler:noop [deadline] cfq > \
            sda/queue/write_cache:write back and vm.dirty_ratio = 20 vm.dirty_background_ratio=10. /dev/sda1 on /mnt type \
            ext4 (rw, noatime) proc /proc proc rw,nosuid 0 0 that is all";
        assert_eq!(
            of(line),
            [
                "/sys/block/sda/queue/nr_requests:64",
                "/sys/block/sda/queue/scheduler:noop [deadline] cfq",
                "sda/queue/write_cache:write back",
                "vm.dirty_ratio = 20",
                "vm.dirty_background_ratio=10",
                "/dev/sda1 on /mnt type ext4 (rw,noatime)",
                "proc /proc proc rw,nosuid 0 0",
            ]
        );
    }

    #[test]
    fn mdstat_has_its_lines_again() {
        let line = "Personalities : [raid6] md4 : active raid5 sdb[1] sda[0](F) 390 blocks super 1.2 level 5, 64k chunk, \
            algorithm 2 [2/1] [U_] bitmap: 0/8 pages [0KB], 65536KB chunk unused devices: <none>";
        assert_eq!(
            of(line),
            [
                "md4 : active raid5 sdb[1] sda[0](F)",
                "      390 blocks super 1.2 level 5, 64k chunk, algorithm 2 [2/1] [U_]",
                "      bitmap: 0/8 pages [0KB], 65536KB chunk",
            ]
        );
    }

    #[test]
    fn an_array_s_activity_may_be_on_its_own_line() {
        let line = "md7 : active raid1 sdy1[2] sdx1[0] 9990 blocks [2/1] [U_] [=>........] recovery = 5.5% (550/9990) \
            finish=0.3min speed=500K/sec as I see";
        assert_eq!(
            of(line)[2..],
            ["      [=>........] recovery = 5.5% (550/9990) finish=0.3min speed=500K/sec"]
        );
        assert_eq!(of("md7 : active raid1 sdy1[2] sdx1[0] 9990 blocks [2/1] [U_] resync=DELAYED").len(), 3);
        for prose in ["[...] recovery = slow", "[=>] it = 5", "a recovery = 5.5% of it"] {
            assert!(of(prose).is_empty(), "{prose}");
        }
    }

    #[test]
    fn words_are_no_settings() {
        for line in [
            "set /sys/block/<device>/queue/iosched/fifo_batch to 4 (16) and vm.dirty_ratio to 5",
            "/sys/block/sda/queue/nr_requests: 64 is enough",
            "raise vm.dirty_ratio = twenty; the disk on /mnt type it in",
            "12 blocks of it [2/2]",
        ] {
            assert_eq!(of(line), Vec::<String>::new(), "{line}");
        }
    }
}
