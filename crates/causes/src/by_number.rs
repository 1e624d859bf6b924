//! Paths of devices by their numbers: a trace without settings has no names.

/// Folders of devices by name, and the folders that have the same devices by number (udev; Linux, Documentation/ABI/testing/sysfs-dev).
const BY_NUMBER: [(&str, &str); 2] = [("/dev/", "/dev/block/"), ("/sys/block/", "/sys/dev/block/")];

/// The option of fio that names a device.
const OF_FIO: &str = "--filename=";

/// A command with paths that exist: a device of unknown name is called by its numbers, as in traces (`254,0`), and has
/// paths by number only.
pub(crate) fn with_paths(command: &str) -> String {
    let mut out = String::with_capacity(command.len());
    let mut rest = command;
    while let Some((at, folder, by_number)) = first_folder(rest) {
        let (before, after) = (&rest[..at], &rest[at + folder.len()..]);
        out += before;
        match numbers(after) {
            Some((major, minor, left)) => {
                // fio takes a colon as the end of a name (HOWTO, filename), and the shell removes one backslash.
                let colon = if out.ends_with(OF_FIO) { "\\\\:" } else { ":" };
                out += &format!("{by_number}{major}{colon}{minor}");
                rest = left;
            }
            None => {
                out += folder;
                rest = after;
            }
        }
    }
    out + rest
}

/// The first folder of devices in a command: its offset, its name, and the folder by number.
fn first_folder(text: &str) -> Option<(usize, &'static str, &'static str)> {
    let all =
        BY_NUMBER.iter().filter_map(|(folder, by_number)| Some((text.find(folder)?, *folder, *by_number)));
    all.min_by_key(|(at, ..)| *at)
}

/// Splits `254,0` off the beginning of a text: major, minor, and the rest.
pub(crate) fn numbers(text: &str) -> Option<(&str, &str, &str)> {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (major, rest) = text.split_at(digits(text));
    let rest = rest.strip_prefix(',')?;
    let (minor, rest) = rest.split_at(digits(rest));
    (!major.is_empty() && !minor.is_empty()).then_some((major, minor, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_a_name_has_paths_by_its_numbers() {
        for (command, with) in [
            ("echo 1 > /sys/block/254,0/queue/x", "echo 1 > /sys/dev/block/254:0/queue/x"),
            (
                "a --filename=/dev/7,1 && b \"/dev/7,1 5\"",
                "a --filename=/dev/block/7\\\\:1 && b \"/dev/block/7:1 5\"",
            ),
            ("cat /dev/sda /sys/block/sda/dev 7,1", "cat /dev/sda /sys/block/sda/dev 7,1"),
            ("x > /dev/null; grep . /dev/7, /dev/,1 /dev/", "x > /dev/null; grep . /dev/7, /dev/,1 /dev/"),
        ] {
            assert_eq!(with_paths(command), with);
        }
    }
}
