//! The settings of a queue when it was recorded, from its files and from its requests.

use super::limits::three_quarters;
use super::{kind, whole, Kind, Refusal, Settings, DEFAULT_REQUESTS, KYBER, MQ_DEADLINE};
use crate::sched::kyber::Targets;
use crate::sched::Tunables;
use crate::tags::word_of;
use crate::wbt::HELD;

/// `max_sectors_kb` if unknown: `BLK_DEF_MAX_SECTORS_CAP` of include/linux/blkdev.h.
const LARGEST_KB: u32 = 1280;

impl Settings {
    /// The recorded settings. `told` returns the text of a file below `queue/`, or of `device/queue_depth` and
    /// `mq/0/nr_tags`. `most`: the maximal number of requests in the device. `held`: whether requests waited in the scheduler;
    /// then `most` is what the device takes, unless the files say less. `throttled`: whether writes that no task waits for were
    /// delayed before they got a tag although tags were free.
    pub fn recorded(
        told: impl Fn(&str) -> Option<String>,
        most: u32,
        held: bool,
        throttled: bool,
    ) -> Result<Settings, Refusal> {
        let Some(list) = told("queue/scheduler") else {
            return Err("the recorded device's scheduler is not known (iowhy record saves it)".into());
        };
        let chosen = list.split_whitespace().find_map(|w| w.strip_prefix('[')?.strip_suffix(']'));
        let name = chosen.unwrap_or(list.trim()).to_string();
        let scheduler = kind(&name)?;
        let number = |path: &str| told(path)?.split_whitespace().next()?.parse::<u32>().ok();
        let tags = number("device/queue_depth").or(number("mq/0/nr_tags"));
        let queue_depth = match (tags, held) {
            (Some(tags), true) => tags.min(most.max(1)),
            (None, true) => most.max(1),
            (Some(tags), false) => tags,
            (None, false) => number("queue/nr_requests").unwrap_or(most).max(most).max(1),
        };
        let nr_requests =
            number("queue/nr_requests").ok_or("queue/nr_requests of the recording is not known")?;
        let mut s = Settings {
            scheduler,
            deadline: Tunables::default(),
            nr_requests: nr_requests.max(1),
            queue_depth: queue_depth.max(1),
            chooses_ahead: number("device/queue_depth").is_none(),
            word: None,
            kyber: Targets::default(),
            largest: number("queue/max_sectors_kb").unwrap_or(LARGEST_KB).max(1).saturating_mul(1024),
            wbt: None,
            cache: told("queue/write_cache"),
        };
        if number("queue/wbt_lat_usec").unwrap_or(0) > 0 && throttled {
            return Err(HELD.into());
        }
        if scheduler == Kind::MqDeadline {
            for key in MQ_DEADLINE {
                match told(&format!("queue/iosched/{key}")) {
                    Some(text) => s.set_deadline(key, whole(key, text.trim())?)?,
                    // Missing in older kernels.
                    None if matches!(key, "async_depth" | "prio_aging_expire") => {}
                    None => return Err(format!("queue/iosched/{key} of the recording is not known")),
                }
            }
        }
        if scheduler == Kind::MqDeadline && s.deadline.async_depth == Some(three_quarters(s.nr_requests)) {
            s.word = Some(word_of(s.nr_requests.max(2 * s.queue_depth.min(DEFAULT_REQUESTS))));
        }
        if scheduler == Kind::Kyber {
            for key in KYBER {
                if let Some(text) = told(&format!("queue/iosched/{key}")) {
                    s.set_kyber(key, whole(key, text.trim())?)?;
                }
            }
        }
        Ok(s)
    }
}
