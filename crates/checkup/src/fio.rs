//! Finds fio, or says how to install it.

use crate::error::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The oldest version that works: since 3.0, fio's JSON has nanoseconds and bytes (fio's HOWTO, "json output").
pub const OLDEST: (u32, u32) = (3, 0);

/// The minimal time by which a load may exceed its own time before it is ended. (With twenty processes on two processors, fio's
/// start and end were seen to take 2 to 4 s.)
const GRACE: Duration = Duration::from_secs(8);
/// The grace is at least this many times what `fio --version` takes: on an emulated processor that takes 2 to 4 s, and starting
/// and ending a load 9 s.
const STARTS: u32 = 8;

/// The installed fio.
#[derive(Clone, Debug)]
pub struct Fio {
    /// The path of the program.
    pub path: PathBuf,
    /// Its version: `fio-3.33`.
    pub version: String,
    /// The time by which a load may exceed its own time before it is ended.
    pub grace: Duration,
}

impl Fio {
    /// Finds fio in the search path; an error if it is missing or too old.
    pub fn find() -> Result<Fio> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path)
            .filter(|d| d.is_absolute())
            .map(|d| d.join("fio"))
            .find(|p| p.is_file());
        let install = format!("install it: {}", install_command(Path::new("/etc/os-release")));
        let Some(path) = found else {
            return Err(Error::refused("fio is not installed; it generates the loads", install));
        };
        let begun = Instant::now();
        let said = Command::new(&path).arg("--version").output();
        let version = match &said {
            Ok(out) => {
                String::from_utf8_lossy(&out.stdout).lines().next().unwrap_or_default().trim().to_string()
            }
            Err(e) => return Err(Error::refused(format!("{} cannot be run: {e}", path.display()), install)),
        };
        let grace = GRACE.max(begun.elapsed() * STARTS);
        match number(&version) {
            Some(v) if v >= OLDEST => Ok(Fio { path, version, grace }),
            Some(_) => Err(Error::refused(
                format!(
                    "{} is {version}, and fio {}.{} or later is needed: older ones count in microseconds",
                    path.display(),
                    OLDEST.0,
                    OLDEST.1
                ),
                install,
            )),
            None => Err(Error::refused(
                format!("{} does not report fio's version (it printed \"{version}\")", path.display()),
                install,
            )),
        }
    }
}

/// Major and minor version of `fio-3.33` or `fio-3.36-12-gabc`.
fn number(version: &str) -> Option<(u32, u32)> {
    let rest = version.strip_prefix("fio-")?;
    let mut parts = rest.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next().and_then(|m| m.parse().ok()).unwrap_or(0)))
}

/// The command that installs fio on this distribution, by os-release(5).
pub fn install_command(os_release: &Path) -> &'static str {
    let text = fs::read_to_string(os_release).unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_default().trim_matches('"').to_string()
    };
    let like = format!("{} {}", field("ID"), field("ID_LIKE"));
    like.split_whitespace()
        .find_map(|id| match id {
            "debian" | "ubuntu" => Some("sudo apt-get install fio"),
            "fedora" | "rhel" | "centos" => Some("sudo dnf install fio"),
            "suse" | "opensuse" | "sles" => Some("sudo zypper install fio"),
            "arch" => Some("sudo pacman -S fio"),
            "alpine" => Some("sudo apk add fio"),
            _ => None,
        })
        .unwrap_or("fio from your distribution's packages, or https://github.com/axboe/fio")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        assert_eq!(number("fio-3.33"), Some((3, 33)));
        assert_eq!(number("fio-2.2.10"), Some((2, 2)));
        assert_eq!(number("fio-3.36-12-gabcdef"), Some((3, 36)));
        assert_eq!(number("whatever 3.3"), None);
    }

    #[test]
    fn install_commands() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("os-release");
        for (text, command) in [
            ("ID=debian\n", "apt-get"),
            ("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "dnf"),
            ("", "github"),
        ] {
            fs::write(&file, text).unwrap();
            assert!(install_command(&file).contains(command), "{text}");
        }
    }
}
