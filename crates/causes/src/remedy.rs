//! What to do, as data: which setting of which device gets which value, and whom that affects.

use crate::by_number::with_paths;
use crate::risk::Risk;
use serde::{Serialize, Serializer};

/// Something to do about a cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remedy {
    /// What it does, and what it costs or risks.
    pub what: String,
    /// The exact command for the recorded host.
    #[serde(rename = "command", serialize_with = "as_command")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub action: Action,
    /// Whom it affects.
    #[serde(skip)]
    pub acts: Acts,
    /// What is known of its gain.
    #[serde(skip)]
    pub gain: Gain,
    /// The victims that it helps, as indexes into [`Focus::groups`](stats::Focus); empty if it helps all.
    #[serde(skip)]
    pub about: Vec<usize>,
}

impl Remedy {
    /// A remedy that affects what its action affects by default, and whose gain is unknown.
    pub(crate) fn new(what: impl Into<String>, action: impl Into<Action>) -> Remedy {
        let action = action.into();
        let acts = action.acts();
        Remedy { what: what.into(), action, acts, gain: Gain::default(), about: vec![] }
    }

    /// The exact command for the recorded host.
    pub fn command(&self) -> String {
        self.action.command()
    }
}

fn as_command<S: Serializer>(action: &Action, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&action.command())
}

/// What is known of a remedy's gain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gain {
    /// It may remove all that its cause takes: the latencies without the cause are what is left at best.
    #[default]
    OfCause,
    /// It removes a part of that, and nothing recorded says how much.
    OfPart,
    /// The evidence shows it: it was tried in the input.
    Proven,
}

/// The action of a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Writes a value to a file below `/sys/block/DEV`: `queue/scheduler`, `md/stripe_cache_size`.
    Set {
        /// The device's name: `sda`.
        dev: String,
        /// The file, relative to the device: `queue/nr_requests`.
        file: &'static str,
        /// The value to write.
        to: String,
    },
    /// Sets kernel parameters by their sysctl names.
    Sysctl(&'static [(&'static str, u64)]),
    /// Remounts a file system with changed options.
    Remount {
        /// The mount point, quoted for the shell.
        mount: String,
        /// The options to change, as `mount -o` takes them.
        options: String,
    },
    /// Stops processes for a while (`kill -STOP`).
    Pause {
        /// Process IDs, or a shell expression for them; a comment may name the task.
        who: String,
        /// Whether they had ended: only their next run can be stopped.
        had_ended: bool,
    },
    /// Runs a command that changes nothing: it shows what to do, or whether that is worth it.
    Look(String),
    /// Runs any other command.
    Run {
        /// The shell command, for the recorded host.
        command: String,
        /// What it puts at risk.
        risk: Risk,
    },
}

impl Risk {
    /// The action of a command with this risk.
    pub(crate) fn of(self, command: impl Into<String>) -> Action {
        Action::Run { command: command.into(), risk: self }
    }
}

impl Action {
    /// Sets a file below `/sys/block/DEV`.
    pub fn set(dev: &str, file: &'static str, to: impl ToString) -> Action {
        Action::Set { dev: dev.into(), file, to: to.to_string() }
    }

    /// A command that changes nothing.
    pub(crate) fn look(command: impl Into<String>) -> Action {
        Action::Look(command.into())
    }

    /// Whether it writes this file below `/sys/block/DEV`.
    pub(crate) fn sets(&self, path: &str) -> bool {
        matches!(self, Action::Set { file, .. } if *file == path)
    }

    /// Whether anything differs afterwards: false only for [`Action::Look`].
    pub fn changes(&self) -> bool {
        !matches!(self, Action::Look(_))
    }

    /// The shell command. A device that is known only by its number is addressed by that.
    pub fn command(&self) -> String {
        with_paths(&self.as_told())
    }

    fn as_told(&self) -> String {
        match self {
            Action::Set { dev, file, to } if to.contains(' ') => {
                format!("echo \"{to}\" > /sys/block/{dev}/{file}")
            }
            Action::Set { dev, file, to } => format!("echo {to} > /sys/block/{dev}/{file}"),
            Action::Sysctl(settings) => {
                settings.iter().fold("sysctl".into(), |all, (key, to)| format!("{all} {key}={to}"))
            }
            Action::Remount { mount, options } => format!("mount -o remount,{options} {mount}"),
            Action::Pause { who, .. } => format!("kill -STOP {who}"),
            Action::Look(command) | Action::Run { command, .. } => command.clone(),
        }
    }

    /// What the action puts at risk: a setting can be set back at once, but what a write cache had not stored is lost in a power cut.
    pub fn risk(&self) -> Risk {
        match self {
            Action::Run { risk, .. } => risk.clone(),
            Action::Set { file: "queue/write_cache", .. } => Risk::PowerCut,
            _ => Risk::Nothing,
        }
    }

    /// Whom it affects unless the cause says otherwise: a device's setting affects the device, anything else the host.
    pub(crate) fn acts(&self) -> Acts {
        match self {
            Action::Set { .. } | Action::Remount { .. } => Acts::Device,
            Action::Sysctl(_) | Action::Pause { .. } | Action::Look(_) | Action::Run { .. } => Acts::Host,
        }
    }
}

impl From<String> for Action {
    fn from(command: String) -> Action {
        Risk::Nothing.of(command)
    }
}

impl From<&str> for Action {
    fn from(command: &str) -> Action {
        Risk::Nothing.of(command)
    }
}

/// Whom a remedy affects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acts {
    /// The victim, which does its work differently.
    Victim,
    /// The culprit, by name if it is known.
    Culprit(String),
    /// The device, and every task that uses it.
    Device,
    /// The whole host.
    Host,
}
