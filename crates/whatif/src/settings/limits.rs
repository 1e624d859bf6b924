//! Effects of settings on tags: how many each request may use, how many waiters are woken, the queue depth for throttling.

use super::{Kind, Settings, DEFAULT_REQUESTS};
use crate::tags::wake_batch;

impl Settings {
    /// Number of tasks that are woken at a time when they wait for tags.
    pub fn wake_batch(&self) -> u32 {
        match (self.scheduler, self.word) {
            (Kind::None, _) => wake_batch(self.nr_requests),
            (Kind::MqDeadline, Some(word)) => wake_batch(self.words_limit(word).min(self.nr_requests)),
            // `dd_depth_updated`: a request may be limited to one tag.
            (Kind::MqDeadline, None) => wake_batch(1),
            (Kind::Kyber, _) => wake_batch(three_quarters(self.nr_requests)),
        }
    }

    /// The queue depth for writeback throttling: SCSI's, else the number of requests when the device was created, as
    /// `wbt_init` reads it once. For a loop device with 256 it was 128 (read from debugfs: at most 48 normal places).
    pub fn wbt_depth(&self) -> u32 {
        let of_scsi = (!self.chooses_ahead).then_some(self.queue_depth);
        of_scsi.unwrap_or(self.nr_requests.min(DEFAULT_REQUESTS))
    }

    /// Maximal number of tags in use for a request to get one: `dd_limit_depth`, `kyber_limit_depth`; `u32::MAX`: no limit.
    pub fn tags_for(&self, write: bool, sync: bool) -> u32 {
        match (self.scheduler, self.word) {
            (Kind::MqDeadline, _) if !write && sync => u32::MAX,
            (Kind::MqDeadline, Some(word)) => self.words_limit(word),
            (Kind::MqDeadline, None) => self.deadline.async_depth.unwrap_or(u32::MAX).max(1),
            (Kind::Kyber, _) if !sync => three_quarters(self.nr_requests),
            _ => u32::MAX,
        }
    }

    /// `async_depth` applies to each word: with 256 tags, which are four words of 64, 4 allows 16 and 192 allows all.
    fn words_limit(&self, word: u32) -> u32 {
        let each = self.deadline.async_depth.unwrap_or(three_quarters(self.nr_requests)).max(1);
        match each < word.min(self.nr_requests) {
            true => each.saturating_mul(self.nr_requests.div_ceil(word)),
            false => u32::MAX,
        }
    }
}

/// The part for asynchronous requests: `KYBER_ASYNC_PERCENT` in block/kyber-iosched.c, and mq-deadline's default in Linux 6.1. Valid for
/// any number, because files may contain any.
pub(super) fn three_quarters(tags: u32) -> u32 {
    (u64::from(tags) * 3 / 4).max(1) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_words_leaves_more() {
        let told = |depth: &'static str| {
            move |path: &str| match path {
                "queue/scheduler" => Some("[mq-deadline]".to_string()),
                "queue/nr_requests" => Some("256".into()),
                "queue/iosched/async_depth" => Some(depth.into()),
                _ => Some("1".into()),
            }
        };
        let limit = |depth| Settings::recorded(told(depth), 1, false, false).unwrap().tags_for(true, true);
        assert_eq!(["192", "191", "256"].map(limit), [u32::MAX, 191, 256]);
        let recorded = Settings::recorded(told("192"), 1, false, false).unwrap();
        let deadline = |tags: &str, depth: Option<&str>| {
            let mut changes = vec![("nr_requests", tags)];
            changes.extend(depth.map(|d| ("async_depth", d)));
            let changes: Vec<_> = changes.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
            let s = recorded.with(&changes).unwrap();
            (s.tags_for(true, true), s.tags_for(false, true), s.wake_batch())
        };
        assert_eq!(deadline("256", None), (u32::MAX, u32::MAX, 8));
        assert_eq!(deadline("256", Some("4")), (16, u32::MAX, 2));
        assert_eq!(deadline("256", Some("48")), (192, u32::MAX, 8));
        // 16 in the bitmap that was created for 256, whose words have 64 bits.
        assert_eq!(deadline("16", None), (12, u32::MAX, 1));
        assert_eq!(deadline("16", Some("16")), (u32::MAX, u32::MAX, 2));
        assert_eq!(deadline("1024", Some("3")), (48, u32::MAX, 6));
    }

    #[test]
    fn files_say_any_number() {
        assert_eq!([0, 1, 16, 255, u32::MAX].map(three_quarters), [1, 1, 12, 191, 3_221_225_471]);
        for (scheduler, limit) in [("mq-deadline", u32::MAX), ("kyber", 1_610_612_735)] {
            let told = |path: &str| match path {
                "queue/scheduler" => Some(format!("[{scheduler}]")),
                "queue/iosched/async_depth" => Some("1610612735".into()),
                "queue/nr_requests" => Some(i32::MAX.to_string()),
                _ => Some("1".into()),
            };
            let s = Settings::recorded(told, 1, false, false).unwrap();
            assert_eq!((s.tags_for(true, false), s.wake_batch()), (limit, 8), "{scheduler}");
        }
    }
}
