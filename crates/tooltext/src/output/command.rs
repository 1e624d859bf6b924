//! Finds commands in a text: the words after a prompt.

use super::words::Word;
use evidence::Spot;
use serde::Serialize;

/// A command as typed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Command {
    /// The command without the prompt and `sudo`.
    pub text: String,
    /// Its place in the text.
    pub at: Spot,
}

/// Limit on words of a command.
const MOST_WORDS: usize = 60;

/// Commands that are recognised within a line, where `$` or `#` may mean something else.
const KNOWN: [&str; 22] = [
    "fio",
    "dd",
    "iostat",
    "mount",
    "umount",
    "xfsdist",
    "ext4dist",
    "btrfsdist",
    "biolatency",
    "biosnoop",
    "echo",
    "cat",
    "grep",
    "sysctl",
    "blktrace",
    "blkparse",
    "btt",
    "iozone",
    "filebench",
    "mdadm",
    "mkfs.xfs",
    "mkfs.ext4",
];

/// The command at the start of `words`, and its number of words: up to the end of its line, or in a flattened text (`flat`)
/// up to the word for which `ends` is true.
pub(crate) fn command(words: &[Word], flat: bool, ends: impl Fn(usize) -> bool) -> Option<(Command, usize)> {
    let prompt = words.first()?;
    let one_word = prompt.text == "$" || prompt.text == "#" || is_host_prompt(prompt.text);
    let is_prompt = one_word || is_bracketed_prompt(words);
    let mut from = if one_word { 1 } else { 2 };
    while words.get(from).is_some_and(|w| w.text == "sudo") {
        from += 1;
    }
    let name = words.get(from).filter(|w| !w.first)?.text;
    let known = KNOWN.contains(&name.rsplit('/').next().unwrap_or(name));
    if !is_prompt || !(known || (prompt.first && !flat)) {
        return None;
    }
    let end = (from + 1..words.len().min(MOST_WORDS)).find(|&i| words[i].first || (flat && ends(i)));
    let end = end.unwrap_or(words.len().min(MOST_WORDS));
    let mut text = name.to_owned();
    for word in &words[from + 1..end] {
        text += if word.after_mark && !flat { " > " } else { " " };
        text += word.text;
    }
    Some((Command { text, at: prompt.spot }, end))
}

/// Whether a word is a prompt with a host: `ivan@504m5:~$`.
fn is_host_prompt(text: &str) -> bool {
    text.contains('@') && text.contains(':') && text.ends_with(['$', '#'])
}

/// Whether two words are a prompt as Red Hat's systems set it (`[\u@\h \W]\$`): `[root@db7 ~]#`.
fn is_bracketed_prompt(words: &[Word]) -> bool {
    let [host, folder, ..] = words else { return false };
    let ends = folder.text.ends_with("]#") || folder.text.ends_with("]$");
    host.text.starts_with('[') && host.text.contains('@') && !folder.first && ends
}

impl Command {
    /// The name of the program: `dd` for `/bin/dd if=...`.
    pub fn program(&self) -> &str {
        let first = self.text.split(' ').next().unwrap_or("");
        first.rsplit('/').next().unwrap_or(first)
    }

    /// Whether its effect persists and thus influences later runs: settings, mounts.
    pub fn lasts(&self) -> bool {
        ["mount", "umount", "echo", "sysctl", "tee", "tune2fs", "mdadm", "mkfs.xfs", "mkfs.ext4", "modprobe"]
            .contains(&self.program())
    }

    /// The value of a parameter in the form `name=value`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.text.split(' ').find_map(|w| w.strip_prefix(name)?.strip_prefix('='))
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;

    #[test]
    fn a_redirection_is_no_mark_of_quoting() {
        let words = words("> # echo 1 > /sys/block/sda/queue/nomerges\n> and so on\n");
        let (command, used) = command(&words, false, |_| false).unwrap();
        assert_eq!((command.text.as_str(), used), ("echo 1 > /sys/block/sda/queue/nomerges", 4));
    }

    #[test]
    fn a_prompt_of_two_words_is_one() {
        let of =
            |text: &str| command(&words(text), false, |_| false).map(|(command, used)| (command.text, used));
        assert_eq!(of("[root@db7 ~]# iostat -x 1\n"), Some(("iostat -x 1".into(), 5)));
        assert_eq!(of("[me@db7 log]$ sudo vmstat 1\n"), Some(("vmstat 1".into(), 5)));
        assert_eq!(of("[root@db7 log] iostat -x 1\n"), None);
    }
}
