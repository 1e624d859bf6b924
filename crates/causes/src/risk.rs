//! What a remedy's command puts at risk: data, or the time in which the file system cannot be used. It is read off the command
//! itself, so that no cause can offer one without saying so; what risks nothing comes first.

use crate::remedy::Action;

/// What is at risk, the least first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Risk {
    /// Nothing that cannot be undone at once.
    Nothing,
    /// The file system must be unmounted.
    Downtime,
    /// What is on these devices is gone.
    Data(String),
}

/// Programs that write over what is on the devices they are given. `mkfs.xfs -N` only shows what it would do.
const OVERWRITE: [&str; 5] = ["mkfs", "mke2fs", "wipefs", "blkdiscard", "shred"];

/// What tune2fs(8) changes of the journal on an unmounted file system only.
const UNMOUNTED: [&str; 2] = ["has_journal", "device=/dev/"];

impl Risk {
    /// Of an action.
    pub fn of(action: &Action) -> Risk {
        let Action::Run(command) = action else { return Risk::Nothing };
        let command = command.split(" #").next().unwrap_or_default();
        let parts = command.split(['&', ';', '|']).map(|part| part.split_whitespace().collect::<Vec<_>>());
        parts.map(|words| of_one(&words)).max().unwrap_or(Risk::Nothing)
    }

    /// What is said of it.
    pub fn words(&self) -> Option<String> {
        match self {
            Risk::Nothing => None,
            Risk::Downtime => Some("the file system is unmounted meanwhile (downtime)".into()),
            Risk::Data(devices) => Some(format!("destroys all data on {devices}")),
        }
    }
}

fn of_one(words: &[&str]) -> Risk {
    let Some((program, arguments)) = words.split_first() else { return Risk::Nothing };
    let is = |names: &[&str]| names.iter().any(|n| program == n || program.starts_with(&format!("{n}.")));
    match *program {
        _ if is(&OVERWRITE) && !arguments.contains(&"-N") => Risk::Data(devices(arguments)),
        // The array's own name is new, its members are not.
        "mdadm" if arguments.contains(&"--create") => {
            let members = arguments.iter().skip(2).filter(|a| !a.starts_with('-'));
            Risk::Data(members.copied().collect::<Vec<_>>().join(" "))
        }
        "umount" => Risk::Downtime,
        "tune2fs" if arguments.iter().any(|a| UNMOUNTED.iter().any(|word| a.contains(word))) => {
            Risk::Downtime
        }
        _ => Risk::Nothing,
    }
}

/// `/dev/NEW and /dev/FAST`
fn devices(arguments: &[&str]) -> String {
    let at = |a: &&str| a.find("/dev/").map(|at| a[at..].split(',').next().unwrap_or_default().to_string());
    let mut all: Vec<String> = arguments.iter().filter_map(at).collect();
    all.reverse();
    all.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::Risk;
    use crate::remedy::Action;

    fn of(command: &str) -> Risk {
        Risk::of(&Action::from(command))
    }

    #[test]
    fn what_is_written_over_is_named() {
        let new_log = of("mkfs.xfs -l logdev=/dev/FAST,size=512m /dev/NEW");
        assert_eq!(new_log, Risk::Data("/dev/NEW and /dev/FAST".into()));
        assert_eq!(of("mkfs.ext4 /dev/NEW && mount /dev/NEW /NEW"), Risk::Data("/dev/NEW".into()));
        let array =
            of("mdadm --create /dev/mdNEW --level=10 --raid-devices=5 NEW_DISKS  # in place of /dev/md0");
        assert_eq!(array, Risk::Data("NEW_DISKS".into()));
        assert_eq!(of("mkfs.xfs -N -d su=64k,sw=4 /dev/md0"), Risk::Nothing, "shows what it would do");
    }

    #[test]
    fn downtime_is_less_than_data_and_more_than_nothing() {
        let remount = of("umount /mnt && mount -o logbsize=256k /dev/vdc /mnt");
        assert_eq!(remount, Risk::Downtime);
        assert_eq!(
            of("tune2fs -O ^has_journal /dev/a && tune2fs -J device=/dev/FAST /dev/a"),
            Risk::Downtime
        );
        assert_eq!(of("tune2fs -E stride=16,stripe_width=64 /dev/md0"), Risk::Nothing);
        assert!(Risk::Nothing < remount && remount < of("mkfs.ext4 /dev/NEW"));
        assert_eq!(Risk::of(&Action::set("sda", "queue/scheduler", "none")), Risk::Nothing);
    }
}
