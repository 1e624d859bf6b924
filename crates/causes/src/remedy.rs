//! What to do, as data: which setting of which device becomes what, and what it acts on.

use crate::hardware::with_paths;
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
    /// The target it acts on.
    #[serde(skip)]
    pub acts: Acts,
    /// Whether what it gains stands in the evidence: it was tried in what was read.
    #[serde(skip)]
    pub is_proven: bool,
    /// The victims it helps, as places in [`Focus::groups`](stats::Focus); all, if there is none.
    #[serde(skip)]
    pub about: Vec<usize>,
}

impl Remedy {
    /// What an action does, and where; what it gains is still to be told.
    pub(crate) fn new(what: impl Into<String>, action: impl Into<Action>) -> Remedy {
        let action = action.into();
        let acts = action.acts();
        Remedy { what: what.into(), action, acts, is_proven: false, about: vec![] }
    }

    /// The exact command for the recorded host.
    pub fn command(&self) -> String {
        self.action.command()
    }
}

fn as_command<S: Serializer>(action: &Action, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&action.command())
}

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A file below `/sys/block/DEV` becomes this: `queue/scheduler`, `md/stripe_cache_size`.
    Set {
        /// The device.
        dev: String,
        /// The file.
        file: &'static str,
        /// What is written to it.
        to: String,
    },
    /// Settings of the kernel become these.
    Sysctl(&'static [(&'static str, u64)]),
    /// A file system is remounted with these options.
    Remount {
        /// Where, as a word of a shell.
        mount: String,
        /// The options.
        options: String,
    },
    /// Processes are stopped for a while.
    Pause {
        /// Their numbers, or the shell's command for them, and who that is.
        who: String,
    },
    /// A command that changes nothing: it shows what to do, or whether it is worth it.
    Look(String),
    /// A command.
    Run {
        /// For the recorded host.
        command: String,
        /// What it puts at risk.
        risk: Risk,
    },
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

    /// Whether anything is different afterwards.
    pub fn changes(&self) -> bool {
        !matches!(self, Action::Look(_))
    }

    /// The shell's command for it.
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
            Action::Pause { who } => format!("kill -STOP {who}"),
            Action::Look(command) | Action::Run { command, .. } => command.clone(),
        }
    }

    /// What it puts at risk: settings can be set back at once, but for what a cache had not kept meanwhile.
    pub fn risk(&self) -> Risk {
        match self {
            Action::Run { risk, .. } => risk.clone(),
            Action::Set { file: "queue/write_cache", .. } => Risk::PowerCut,
            _ => Risk::Nothing,
        }
    }

    /// Who feels it where nothing else is said: a setting of a device is the device's, one of the kernel the host's.
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

/// The target of a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acts {
    /// On the victim: it changes what it does.
    Victim,
    /// On who is in the way, by name where it is known.
    Culprit(String),
    /// On the device, and all who use it.
    Device,
    /// On the whole host.
    Host,
}
