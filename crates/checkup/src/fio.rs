//! fio: found or named with its install command, and what its JSON says.

use crate::error::{Error, Result};
use crate::result::{Latency, Measured};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Since this version its JSON has nanoseconds and bytes (fio's HOWTO, "json output").
pub const OLDEST: (u32, u32) = (3, 0);
/// A result is no larger.
const MOST_JSON: u64 = 64 << 20;

/// The program.
#[derive(Clone, Debug)]
pub struct Fio {
    /// Where it is.
    pub path: PathBuf,
    /// `fio-3.33`.
    pub version: String,
}

impl Fio {
    /// The one in the search path.
    pub fn find() -> Result<Fio> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path)
            .filter(|d| d.is_absolute())
            .map(|d| d.join("fio"))
            .find(|p| p.is_file());
        let install = format!("install it: {}", install_command(Path::new("/etc/os-release")));
        let Some(path) = found else {
            return Err(Error::refused("fio is not installed, and it makes the loads", install));
        };
        let said = Command::new(&path).arg("--version").output();
        let version = match &said {
            Ok(out) => {
                String::from_utf8_lossy(&out.stdout).lines().next().unwrap_or_default().trim().to_string()
            }
            Err(e) => return Err(Error::refused(format!("{} cannot be run: {e}", path.display()), install)),
        };
        match number(&version) {
            Some(v) if v >= OLDEST => Ok(Fio { path, version }),
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
                format!("{} does not say which fio it is (it said \"{version}\")", path.display()),
                install,
            )),
        }
    }
}

/// `fio-3.33` or `fio-3.36-12-gabc`.
fn number(version: &str) -> Option<(u32, u32)> {
    let rest = version.strip_prefix("fio-")?;
    let mut parts = rest.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next().and_then(|m| m.parse().ok()).unwrap_or(0)))
}

/// How fio is installed here, by os-release(5).
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

/// What a run measured, job by job, or why there is nothing.
pub fn results(file: &Path) -> std::result::Result<Vec<Measured>, String> {
    let size = fs::metadata(file).map_err(|e| format!("fio left no result: {e}"))?.len();
    if size > MOST_JSON {
        return Err(format!("fio's result is {size} bytes long, which no result is"));
    }
    let bytes = fs::read(file).map_err(|e| format!("fio's result: {e}"))?;
    // Warnings may stand before it.
    let start = bytes.iter().position(|b| *b == b'{').ok_or("fio gave no result")?;
    let json: Value = serde_json::Deserializer::from_slice(&bytes[start..])
        .into_iter()
        .next()
        .ok_or("fio gave no result")?
        .map_err(|e| format!("fio's result is cut short: {e}"))?;
    let jobs = json["jobs"].as_array().ok_or("fio's result has no jobs")?;
    Ok(jobs.iter().filter_map(measured).collect())
}

fn measured(job: &Value) -> Option<Measured> {
    let name = job["jobname"].as_str()?.to_string();
    let ops = ["read", "write"].into_iter().filter(|op| job[op]["total_ios"].as_u64().unwrap_or(0) > 0);
    let op = ops.max_by_key(|op| job[op]["total_ios"].as_u64().unwrap_or(0)).unwrap_or("read");
    let of = &job[op];
    let mean = of["iops_mean"].as_f64().unwrap_or(0.0);
    let noise = if mean > 0.0 { of["iops_stddev"].as_f64().unwrap_or(0.0) / mean } else { 0.0 };
    let sync = latency(&job["sync"]["lat_ns"], job["sync"]["total_ios"].as_u64().unwrap_or(0));
    Some(Measured {
        job: name,
        op: op.into(),
        iops: of["iops"].as_f64().unwrap_or(0.0),
        bytes: of["io_bytes"].as_u64().unwrap_or(0),
        bytes_per_second: of["bw_bytes"].as_u64().unwrap_or(0),
        noise,
        latency: latency(&of["clat_ns"], of["total_ios"].as_u64().unwrap_or(0)).unwrap_or_default(),
        fsync: sync.filter(|s| s.count > 0),
        error: job["error"]
            .as_i64()
            .filter(|e| *e != 0)
            .map(|e| std::io::Error::from_raw_os_error(e as i32).to_string()),
    })
}

fn latency(v: &Value, count: u64) -> Option<Latency> {
    let percentile = |p: &str| v["percentile"][p].as_u64();
    let max = v["max"].as_u64()?;
    Some(Latency {
        count,
        p50_ns: percentile("50.000000").unwrap_or(0),
        mean_ns: v["mean"].as_f64().unwrap_or(0.0) as u64,
        p95_ns: percentile("95.000000").unwrap_or(max),
        p99_ns: percentile("99.000000").unwrap_or(max),
        p999_ns: percentile("99.900000").unwrap_or(max),
        max_ns: max,
    })
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

    #[test]
    fn results_that_are_none() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("fio.json");
        assert!(results(&file).is_err());
        for text in ["", "fio: out of space", "{", "{\"jobs\": 3}", "\u{0}\u{1}{{{"] {
            fs::write(&file, text).unwrap();
            assert!(results(&file).is_err(), "{text}");
        }
        fs::write(&file, "fio: a warning\n{\"jobs\": [{\"jobname\": \"a\", \"error\": 28}, 7]}").unwrap();
        let all = results(&file).unwrap();
        assert!(all[0].error.as_ref().unwrap().contains("No space left"), "{all:?}");
    }
}
