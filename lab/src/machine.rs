//! Makes a scenario in a virtual machine and records it there.
//!
//! What this machine's kernel has not or must not do (md, dm, SCSI) happens in a guest: Debian's kernel under QEMU, which
//! needs neither root nor KVM. `lab/machine/make` unpacks it. The guest sees this machine's root read-only and runs this
//! machine's `iowhy`, fio and bash; its disks are files in memory, each as slow as the scenario says by QEMU's throttling.
//! What it leaves in its share is what [`bench::run`](crate::bench::run) leaves in its folder.
//!
//! The processors are emulated everywhere, whether there is KVM or not, so that a scenario is the same everywhere. They are some 15
//! times slower: disks must be slow beside them, or what is recorded is the emulation.

use crate::bench::{folder, variables, Made, Tools, BODY, ON};
use crate::outcome::Outcome;
use crate::Setting;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A scenario takes less than a minute, and two if its remedy is tried.
const SECONDS: u32 = 200;

/// MiB: what a load and the recording of it take in memory, four times.
const MEMORY: u32 = 1536;

/// Processors of the guest.
const PROCESSORS: u32 = 2;

/// The kernel's command line.
const APPEND: &str =
    "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable no_timer_check random.trust_cpu=on audit=0 rdinit=/init";

/// Words of a disk that are options of its virtio device, not limits.
const DEVICE: &str = "device.";

/// bash, in the guest, in place of a disk of its own: the disks are there.
const READY: &str = r#"
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$MACHINE/root/sbin:$MACHINE/root/usr/sbin
export LD_LIBRARY_PATH=$MACHINE/root/lib/x86_64-linux-gnu:$MACHINE/root/usr/lib/x86_64-linux-gnu
mkdir -p /run/cryptsetup "$DIR"; cd "$DIR"; mkdir mnt
mount -t tracefs trace /sys/kernel/tracing
# slow NUMBER MICROSECONDS: /dev/nullbNUMBER, a disk in memory that takes so long for a request, however many it has.
slow() {
  local disk=/sys/kernel/config/nullb/nullb$1; mkdir $disk
  echo $SIZE > $disk/size; echo 1 > $disk/memory_backed; echo 2 > $disk/irqmode; echo $(($2 * 1000)) > $disk/completion_nsec
  echo 2 > $disk/submit_queues; echo 64 > $disk/hw_queue_depth; echo 1 > $disk/power
}
# load MODULE OPTIONS: of the machine's own kernel; its first process has its modules.
load() { chroot /proc/1/root modprobe "$@"; }
# scsi OPTIONS: /dev/sda, a SCSI disk in memory (options of the module scsi_debug). It is as slow as one that turns, and says so.
scsi() {
  load sd_mod; load scsi_debug dev_size_mb=$SIZE "$@"
  for i in $(seq 50); do [ -e /sys/block/sda/queue/scheduler ] && [ -e /dev/sda ] && break; sleep 0.1; done
  on /dev/sda; echo none > $queue/scheduler; echo 1 > $queue/rotational
}
[ ! -e /dev/vda ] || on /dev/vda
ready() { :; }
workers() { :; }
take_apart() { cp -r capture $(ls | grep -E '[.](txt|json)$') /mnt/share/; }
"#;

/// A machine that `lab/machine/make` made.
#[derive(Clone, Debug)]
pub struct Machine(PathBuf);

impl Machine {
    /// The machine in this folder. The guest sees it by the same name as this machine does.
    pub fn at(folder: &Path) -> Outcome<Machine> {
        let whole = folder.canonicalize();
        Ok(Machine(whole.map_err(|e| format!("{}: {e}: lab/machine/make makes it", folder.display()))?))
    }

    /// Makes the scenario, records it, and tries the remedy if it has one.
    pub fn run(&self, tools: &Tools, cause: &str, s: &Setting) -> Outcome<Made> {
        let mut disks = Vec::new();
        let dir = folder()?;
        for number in 0..s.machine {
            let file = dir.path().join(format!("disk{number}"));
            std::fs::File::create(&file)?.set_len(u64::from(s.size) << 20)?;
            let words = || s.disk.split_ascii_whitespace();
            let throttled: String = words()
                .filter(|w| !w.starts_with(DEVICE))
                .map(|limit| format!(",throttling.{limit}"))
                .collect();
            let device: String =
                words().filter_map(|w| w.strip_prefix(DEVICE)).map(|option| format!(",{option}")).collect();
            let drive =
                format!("file={},if=none,id=d{number},format=raw,cache=unsafe{throttled}", file.display());
            // One queue: its requests are merged and counted in one place, whichever processor sends them.
            let device = format!("virtio-blk-pci,drive=d{number},num-queues=1{device}");
            disks.extend(["-drive".into(), drive, "-device".into(), device]);
        }
        std::fs::write(dir.path().join("script"), self.script(tools, cause, s)?)?;
        // Once in a while two emulated processors wait for each other for ever where recording is switched on.
        let boot = || self.boot(dir.path(), &disks, PROCESSORS, SECONDS);
        boot().or_else(|why| if left(dir.path(), "status").is_empty() { boot() } else { Err(why) })?;
        Ok(Made { dir, late: Duration::ZERO })
    }

    /// Boots the machine with these words of QEMU's besides. It runs `script` of the folder with bash, has the folder as
    /// /mnt/share, and turns itself off.
    pub fn boot(&self, folder: &Path, disks: &[String], processors: u32, seconds: u32) -> Outcome {
        let mut qemu = Command::new("timeout");
        qemu.arg(seconds.to_string()).args(self.words(folder, processors, MEMORY)).args(disks);
        let out = qemu.stdin(Stdio::null()).output()?;
        match left(folder, "status").trim() {
            "0" => Ok(()),
            "" => Err(format!(
                "the machine did not finish: {} {}",
                String::from_utf8_lossy(&out.stderr).trim(),
                String::from_utf8_lossy(&out.stdout).trim()
            )
            .into()),
            _ => Err(left(folder, "stderr").trim().to_string().into()),
        }
    }

    /// The command that boots it: QEMU, without disks. `memory` is in MiB.
    pub(crate) fn words(&self, folder: &Path, processors: u32, memory: u32) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        words.extend(["qemu-system-x86_64", "-nodefaults", "-no-reboot", "-display", "none"].map(Into::into));
        words.extend(["-M", "q35", "-accel", "tcg,thread=multi", "-cpu", "max"].map(Into::into));
        words.extend(["-smp", &processors.to_string(), "-m", &memory.to_string()].map(Into::into));
        words.extend(["-kernel".into(), self.0.join("vmlinuz").into_os_string()]);
        words.extend(["-initrd".into(), self.0.join("initramfs.gz").into_os_string()]);
        words.extend(["-append", APPEND, "-serial", "stdio", "-device", "virtio-rng-pci"].map(Into::into));
        words.extend(["-virtfs".into(), share(Path::new("/"), "host", ",readonly=on").into()]);
        words.extend(["-virtfs".into(), share(folder, "share", "").into()]);
        words
    }

    /// bash that the guest runs.
    fn script(&self, tools: &Tools, cause: &str, s: &Setting) -> Outcome<String> {
        Ok([&self.head(variables(tools, cause, s))?, ON, READY, BODY].concat())
    }

    /// The same for a checkup: these variables, and then `body`.
    pub(crate) fn prepared(&self, variables: Vec<(&'static str, OsString)>, body: &str) -> Outcome<String> {
        Ok([&self.head(variables)?, ON, READY, body].concat())
    }

    fn head(&self, variables: Vec<(&'static str, OsString)>) -> Outcome<String> {
        let machine = ("MACHINE", self.0.clone().into_os_string());
        let dir = ("DIR", "/tmp/lab".into());
        Ok(format!("set -eu\n{}", exports(variables.into_iter().chain([machine, dir]))?))
    }
}

/// bash that sets variables.
pub(crate) fn exports(variables: impl IntoIterator<Item = (&'static str, OsString)>) -> Outcome<String> {
    let mut text = String::new();
    for (name, value) in variables {
        let value = value.into_string().map_err(|v| format!("not a text: {}", v.to_string_lossy()))?;
        writeln!(text, "export {name}={}", quoted(&value))?;
    }
    Ok(text)
}

/// What the machine left in its folder, if it did.
fn left(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_default()
}

/// An option of QEMU: a folder that the guest mounts by this name.
fn share(folder: &Path, name: &str, how: &str) -> String {
    format!("local,path={},mount_tag={name},security_model=none,multidevs=remap{how}", folder.display())
}

/// A word of bash, whatever is in it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bash_reads_what_was_quoted() {
        let text = "a 'b' \"c\" $d `e`\n# f\\";
        let out = Command::new("bash").args(["-c", &format!("printf %s {}", quoted(text))]).output().unwrap();
        assert_eq!(String::from_utf8(out.stdout).unwrap(), text);
    }
}
