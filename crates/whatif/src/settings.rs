//! The settings that can be predicted, with the kernel's names and limits.
//!
//! Limits are those of block/mq-deadline.c (`STORE_INT`, `STORE_JIFFIES`) and block/blk-sysfs.c (`queue_requests_store`) of
//! Linux 6.18. Values that sysfs refuses are refused here, with the reason.

mod limits;
mod recorded;

pub use crate::refusal::Refusal;
use crate::sched::kyber::Targets;
use crate::sched::Tunables;
use crate::tags::word_of;
use crate::wbt::Throttle;
use serde::Serialize;

/// A scheduler that is modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Scheduler"))]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// No scheduler: first come, first served.
    None,
    /// mq-deadline.
    MqDeadline,
    /// kyber.
    Kyber,
}

impl Kind {
    /// The kernel's name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::None => "none",
            Kind::MqDeadline => "mq-deadline",
            Kind::Kyber => "kyber",
        }
    }
}

/// `BLKDEV_MIN_RQ` in block/blk.h.
const FEWEST_REQUESTS: u64 = 4;
/// `MAX_SCHED_RQ` in block/blk-mq-sched.h.
const MOST_REQUESTS: u64 = 2048;
/// `BLKDEV_DEFAULT_RQ` in include/linux/blkdev.h.
const DEFAULT_REQUESTS: u32 = 128;
const INT_MAX: u64 = i32::MAX as u64;
const MS: u64 = 1_000_000;

/// mq-deadline's settings that are modelled.
pub const MQ_DEADLINE: [&str; 7] = [
    "read_expire",
    "write_expire",
    "writes_starved",
    "fifo_batch",
    "front_merges",
    "prio_aging_expire",
    "async_depth",
];
/// kyber's settings.
pub const KYBER: [&str; 2] = ["read_lat_nsec", "write_lat_nsec"];
/// Settings of every queue that are modelled.
pub const QUEUE: [&str; 5] = ["scheduler", "nr_requests", "queue_depth", "max_sectors_kb", "wbt_lat_usec"];
/// `queue_max_sectors_store`: at least one page.
const SMALLEST_KB: u64 = 4;

/// Factors by which latency targets are varied: half of the error that a model of the recording may have.
const NEAR: [f64; 3] = [1.0, 1.0 / 1.1, 1.1];

/// The settings of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settings {
    /// The scheduler.
    pub scheduler: Kind,
    /// mq-deadline's settings; the defaults with another scheduler.
    pub deadline: Tunables,
    /// Number of requests that may exist (`nr_requests`).
    pub nr_requests: u32,
    /// Number of requests that the device takes at once.
    pub queue_depth: u32,
    /// Whether one request is taken out of the scheduler before the device has room for it (block/blk-mq-sched.c). True if the limit
    /// is the device's tags; SCSI's `queue_depth` is checked before a request is chosen (`scsi_mq_get_budget`).
    pub chooses_ahead: bool,
    /// Bits in a word of the bitmap of tags, if `async_depth` is a limit on each word: until "block/mq-deadline: Fix the tag
    /// reservation code" (Linux 6.10, and Debian's 6.1.192), where it is three quarters of `nr_requests` unless set.
    pub word: Option<u32>,
    /// kyber's settings; the defaults with another scheduler.
    pub kyber: Targets,
    /// The largest request, in bytes (`max_sectors_kb`).
    pub largest: u32,
    /// Writeback throttling; `None` if it is off, or on but delayed nothing.
    pub wbt: Option<Throttle>,
    /// The text of `queue/write_cache`, if known.
    #[serde(skip)]
    pub cache: Option<String>,
}

impl Settings {
    /// These settings. If the kernel controls by times in the device (kyber, writeback throttling), also with varied targets, because such
    /// times are inexact in a model: near a target, small differences decide.
    pub fn aims(&self) -> Vec<Settings> {
        if self.scheduler != Kind::Kyber && self.wbt.is_none() {
            return vec![self.clone()];
        }
        let aim = |factor: f64| {
            let scaled = |target: u64| ((target as f64 * factor) as u64).max(1);
            let kyber = Targets { read: scaled(self.kyber.read), write: scaled(self.kyber.write) };
            let wbt = self.wbt.map(|w| Throttle { target: scaled(w.target), ..w });
            Settings { kyber, wbt, ..self.clone() }
        };
        NEAR.map(aim).to_vec()
    }

    /// These settings with changes, pairs of name and value in any order.
    pub fn with(&self, changes: &[(String, String)]) -> Result<Settings, Refusal> {
        let mut s = self.clone();
        let mut seen: Vec<&str> = Vec::new();
        for (key, value) in changes {
            if seen.contains(&key.as_str()) {
                return Err(format!("{key} is set twice: the two contradict each other"));
            }
            seen.push(key);
            if key == "scheduler" && kind(value)? != s.scheduler {
                s.scheduler = kind(value)?;
                (s.deadline, s.kyber) = (Tunables::default(), Targets::default());
                // `blk_mq_init_sched`, and `elevator_disable` the other way.
                s.nr_requests = match s.scheduler {
                    Kind::None => s.queue_depth,
                    _ => 2 * s.queue_depth.min(DEFAULT_REQUESTS),
                };
                s.word = s.word.map(|_| word_of(s.nr_requests));
            }
        }
        // The number of tags comes first: it limits async_depth.
        let mut rest: Vec<&(String, String)> = changes.iter().filter(|(k, _)| k != "scheduler").collect();
        rest.sort_by_key(|(key, _)| (key != "queue_depth", key != "nr_requests"));
        for (key, value) in rest {
            s.change(key, value)?;
        }
        Ok(s)
    }

    fn change(&mut self, key: &str, value: &str) -> Result<(), Refusal> {
        match key {
            "nr_requests" => self.set_requests(key, whole(key, value)?)?,
            "queue_depth" => {
                let n = whole(key, value)?;
                if n == 0 || n > 4096 {
                    return Err(format!("{key}={n}: must be 1 to 4096 (SCSI_MAX_QUEUE_DEPTH)"));
                }
                self.queue_depth = n as u32;
            }
            "max_sectors_kb" => self.set_largest(key, whole(key, value)?)?,
            "wbt_lat_usec" => self.wbt = Throttle::asked(whole(key, value)?, self.cache.as_deref())?,
            "prio_aging_expire" if self.scheduler == Kind::MqDeadline => {
                return Err(format!(
                    "{key} matters between requests of several priorities, and which request had which is not read from a \
                     recording; among requests of one priority it changes nothing"
                ));
            }
            "read_ahead_kb" => {
                return Err(format!(
                    "{key} is not modelled: it changes what is read, and which of that was used is not \
                     recorded"
                ));
            }
            "rq_affinity" | "nomerges" | "io_poll" | "io_poll_delay" => {
                return Err(format!(
                    "{key} is not modelled: it changes the processors' time, and only the device's is modelled"
                ));
            }
            key if KYBER.contains(&key) => {
                if self.scheduler != Kind::Kyber {
                    return Err(format!(
                        "{key} is a setting of kyber, and the scheduler is {} (with --set scheduler=kyber it would exist)",
                        self.scheduler.name()
                    ));
                }
                self.set_kyber(key, whole(key, value)?)?;
            }
            key if MQ_DEADLINE.contains(&key) => {
                if self.scheduler != Kind::MqDeadline {
                    let name = self.scheduler.name();
                    return Err(format!(
                        "{key} is a setting of mq-deadline, and the scheduler is {name} (with --set scheduler=mq-deadline it would exist)"
                    ));
                }
                self.set_deadline(key, whole(key, value)?)?;
            }
            _ => {
                let all: Vec<&str> = QUEUE.into_iter().chain(MQ_DEADLINE).chain(KYBER).collect();
                return Err(format!("no setting is called {key}: known are {}", all.join(", ")));
            }
        }
        Ok(())
    }

    fn set_requests(&mut self, key: &str, n: u64) -> Result<(), Refusal> {
        if n > MOST_REQUESTS {
            return Err(format!("{key}={n}: the kernel takes at most {MOST_REQUESTS}"));
        }
        if n < FEWEST_REQUESTS {
            return Err(format!("{key}={n}: the kernel makes {FEWEST_REQUESTS} of it; say that"));
        }
        if self.scheduler == Kind::None && n > u64::from(self.queue_depth) {
            let tags = self.queue_depth;
            return Err(format!(
                "{key}={n}: without a scheduler there are no more than the device's {tags} tags"
            ));
        }
        self.nr_requests = n as u32;
        // A smaller number uses the same bitmap, a larger one gets a new bitmap (`blk_mq_tag_update_depth`).
        self.word = self.word.map(|word| word.max(word_of(self.nr_requests)));
        // `dd_depth_updated`.
        self.deadline.async_depth = None;
        Ok(())
    }

    fn set_largest(&mut self, key: &str, n: u64) -> Result<(), Refusal> {
        if n < SMALLEST_KB {
            return Err(format!("{key}={n}: the kernel takes no less than a page, {SMALLEST_KB}"));
        }
        if n * 1024 > u64::from(self.largest) {
            return Err(format!(
                "{key}={n}: more than the recorded {}: how large requests would be then was not recorded",
                self.largest / 1024
            ));
        }
        self.largest = (n * 1024) as u32;
        Ok(())
    }

    fn set_kyber(&mut self, key: &str, n: u64) -> Result<(), Refusal> {
        if n == 0 {
            return Err(format!("{key}=0: the kernel takes 1 and more"));
        }
        let target = if key == "read_lat_nsec" { &mut self.kyber.read } else { &mut self.kyber.write };
        *target = n;
        Ok(())
    }

    fn set_deadline(&mut self, key: &str, n: u64) -> Result<(), Refusal> {
        let limits = match key {
            "front_merges" => (0, 1),
            "async_depth" => (1, INT_MAX),
            _ => (0, INT_MAX),
        };
        if n < limits.0 || n > limits.1 {
            return Err(format!("{key}={n}: the kernel takes {} to {}", limits.0, limits.1));
        }
        let d = &mut self.deadline;
        match key {
            "read_expire" => d.read_expire = n * MS,
            "write_expire" => d.write_expire = n * MS,
            "prio_aging_expire" => d.prio_aging_expire = n * MS,
            "writes_starved" => d.writes_starved = n as u32,
            "fifo_batch" => d.fifo_batch = n as u32,
            "front_merges" => d.front_merges = n == 1,
            "async_depth" => d.async_depth = Some(n as u32),
            _ => return Err(format!("no setting is called {key}")),
        }
        Ok(())
    }
}

fn kind(name: &str) -> Result<Kind, Refusal> {
    match name {
        "none" => Ok(Kind::None),
        "mq-deadline" => Ok(Kind::MqDeadline),
        "kyber" => Ok(Kind::Kyber),
        "bfq" => Err("the scheduler bfq is not modelled".into()),
        _ => Err(format!("no scheduler is called {name}: none, mq-deadline, kyber")),
    }
}

fn whole(key: &str, value: &str) -> Result<u64, Refusal> {
    value.parse().map_err(|_| format!("{key}={value}: not a whole number from 0 on"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str) -> Option<String> {
        let text = match path {
            "queue/scheduler" => "none [mq-deadline] kyber",
            "queue/nr_requests" => "256",
            "mq/0/nr_tags" => "128",
            "queue/iosched/read_expire" => "500",
            "queue/iosched/write_expire" => "5000",
            "queue/iosched/writes_starved" => "2",
            "queue/iosched/fifo_batch" => "16",
            "queue/iosched/front_merges" => "1",
            "queue/wbt_lat_usec" => "2000",
            _ => return None,
        };
        Some(text.into())
    }

    fn set(changes: &[(&str, &str)]) -> Result<Settings, Refusal> {
        let changes: Vec<_> = changes.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        Settings::recorded(told, 10, false, false)?.with(&changes)
    }

    #[test]
    fn what_the_kernel_takes() {
        assert_eq!(set(&[("read_expire", "200")]).unwrap().deadline.read_expire, 200 * MS);
        let none = set(&[("nr_requests", "64"), ("scheduler", "none")]).unwrap();
        assert_eq!((none.scheduler, none.nr_requests), (Kind::None, 64));
        assert_eq!(set(&[("scheduler", "none")]).unwrap().nr_requests, 128);
        let fewer = set(&[("async_depth", "8"), ("nr_requests", "64")]).unwrap();
        assert_eq!((fewer.tags_for(true, true), fewer.tags_for(false, true)), (8, u32::MAX));
        assert_eq!(fewer.with(&[("nr_requests".into(), "16".into())]).unwrap().deadline.async_depth, None);
        assert_eq!(Settings::recorded(told, 4, true, false).unwrap().queue_depth, 4);
    }

    #[test]
    fn targets_are_tried_a_little_off() {
        assert_eq!(set(&[("read_expire", "20")]).unwrap().aims().len(), 1);
        let kyber = set(&[("scheduler", "kyber"), ("read_lat_nsec", "1100")]).unwrap();
        assert_eq!(kyber.aims().iter().map(|s| s.kyber.read).collect::<Vec<_>>(), [1100, 1000, 1210]);
    }

    #[test]
    fn what_it_does_not_take_is_refused_in_words() {
        for (changes, word) in [
            (&[("read_expires", "1")][..], "no setting is called"),
            (&[("read_expire", "-1")], "whole number"),
            (&[("front_merges", "2")], "0 to 1"),
            (&[("nr_requests", "100000")], "at most 2048"),
            (&[("scheduler", "none"), ("fifo_batch", "4")], "setting of mq-deadline"),
            (&[("fifo_batch", "4"), ("fifo_batch", "5")], "twice"),
            (&[("scheduler", "cfq")], "no scheduler"),
            (&[("scheduler", "bfq")], "not modelled"),
            (&[("scheduler", "none"), ("nr_requests", "256")], "128 tags"),
            (&[("max_sectors_kb", "2")], "no less than a page"),
            (&[("max_sectors_kb", "4096")], "more than the recorded 1280"),
            (&[("wbt_lat_usec", "2000")], "write_cache of the recording is not known"),
            (&[("wbt_lat_usec", "-1")], "whole number"),
            (&[("read_lat_nsec", "1000000")], "setting of kyber"),
            (&[("prio_aging_expire", "100")], "among requests of one priority it changes nothing"),
            (&[("scheduler", "kyber"), ("read_lat_nsec", "0")], "1 and more"),
        ] {
            let why = set(changes).unwrap_err();
            assert!(why.contains(word), "{changes:?}: {why}");
        }
        let unknown = Settings::recorded(|_| None, 1, false, false).unwrap_err();
        assert!(unknown.contains("not known"), "{unknown}");
        let held = Settings::recorded(told, 10, false, true).unwrap_err();
        assert!(held.contains("known only to the kernel"), "{held}");
    }
}
