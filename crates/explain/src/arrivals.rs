//! The requests that each device received in a recording, and the settings of the device at that time: the input of `whatif`.

use crate::error::{Error, Result};
use crate::input::Input;
use crate::places::Places;
use crate::scope::device_name;
use evidence::Device;
use life::IoTracker;
use operation::Called;
use trace::{Action, Batch, DevId, Event, Nanos};
use whatif::arrival::{Gather, Recorded};
use whatif::in_flight::most_in_device;
use whatif::settings::{Refusal, Settings};
use whatif::usable::{held_back, throttled};

/// A device with this part of all requests is the one that is asked about.
const MOSTLY: f64 = 0.9;

/// The requests of all devices in a recording.
pub struct Arrivals {
    /// Time of the first event of the block layer; 0 if there is none.
    pub began: Nanos,
    /// Sorted by number of requests, the largest first.
    devices: Vec<Asked>,
    places: Places,
}

/// The requests of one device.
pub struct Asked {
    /// Example: `sda`.
    pub name: String,
    /// Example: `8:0`.
    number: DevId,
    /// Its requests as recorded.
    pub recorded: Recorded,
}

impl Arrivals {
    /// Reads a recording. Fails if events were lost: it is not known then which requests are missing.
    pub fn read(input: Input) -> Result<Arrivals> {
        let places = input.places();
        let (mut tracker, mut gather) = (IoTracker::default(), Gather::default());
        let mut began = None;
        let quality = input.read(|batch: &Batch| {
            // Time begins with the first event of the block layer, as in all other outputs.
            let told = |e: &&Event| !matches!(e.action, Action::TaskName | Action::WallClock | Action::Lost);
            began = began.or_else(|| batch.events.iter().find(told).map(|e| e.time));
            tracker.feed(batch, &mut gather)
        })?;
        let lost: u64 = quality.lost.values().sum();
        if lost > 0 {
            return Err(Error::new(
                format!("{lost} events were lost: which requests are missing is not known"),
                "record again with larger buffers, or choose a part without losses (--window)",
            ));
        }
        let asked = |(number, recorded)| Asked { name: places.device(number), number, recorded };
        let mut devices: Vec<Asked> = gather.finish().into_iter().map(asked).collect();
        devices.sort_by_key(|a| std::cmp::Reverse(a.recorded.arrivals.len()));
        Ok(Arrivals { began: began.unwrap_or_default(), devices, places })
    }

    /// The device with this name or number; with `None`, the one that has nearly all requests ([`MOSTLY`]). Fails if none or several match.
    pub fn of(&self, wanted: Option<&str>) -> Result<&Asked> {
        let names: Vec<&str> = self.devices.iter().map(|a| a.name.as_str()).collect();
        let is = |a: &&Asked| {
            wanted.is_none_or(|d| Called::device(&self.places, a.number).contains(&device_name(d)))
        };
        let mut chosen = self.devices.iter().filter(is);
        match (chosen.next(), chosen.next(), wanted) {
            (Some(asked), None, _) => Ok(asked),
            (Some(asked), Some(_), None) if self.has_nearly_all(asked) => Ok(asked),
            (Some(_), Some(_), _) => Err(Error::new(
                format!("several devices were recorded: {}", names.join(", ")),
                "choose one with --device",
            )),
            (None, _, Some(d)) => {
                Err(Error::new(format!("no request of {d} was recorded"), names.join(", ")))
            }
            (None, _, None) => Err(Error::new("no request was recorded", "the device was idle")),
        }
    }

    fn has_nearly_all(&self, asked: &Asked) -> bool {
        let all: usize = self.devices.iter().map(|a| a.recorded.arrivals.len()).sum();
        asked.recorded.arrivals.len() as f64 >= MOSTLY * all as f64
    }

    /// A device's settings. Those that the user gives in `was` take precedence over the recorded ones.
    pub fn settings(
        &self,
        asked: &Asked,
        was: &[(String, String)],
    ) -> std::result::Result<Settings, Refusal> {
        let device = self.places.system.device(&asked.name);
        let (most, held) = (most_in_device(&asked.recorded), held_back(&asked.recorded));
        let told = |path: &str| told(device, was, path);
        let tags = told("queue/nr_requests").and_then(|n| n.trim().parse().ok()).unwrap_or(u32::MAX);
        Settings::recorded(told, most, held, throttled(&asked.recorded, tags))
    }
}

/// The text of a setting: from the user, else from the recording, else the default of mq-deadline.
fn told(device: Option<&Device>, was: &[(String, String)], path: &str) -> Option<String> {
    let key = match path {
        "mq/0/nr_tags" | "device/queue_depth" => "queue_depth",
        path => path.rsplit('/').next().unwrap_or(path),
    };
    if let Some((_, value)) = was.iter().find(|(k, _)| k == key) {
        return Some(value.clone());
    }
    if let Some(text) = device.and_then(|d| d.attribute(path)) {
        return Some(text.value);
    }
    // If the user gives only `scheduler=mq-deadline`, the other settings of mq-deadline have the kernel's defaults.
    let is_deadline = was.iter().any(|(k, v)| k == "scheduler" && v == "mq-deadline");
    let default = match key {
        "read_expire" => "500",
        "write_expire" => "5000",
        "writes_starved" => "2",
        "fifo_batch" => "16",
        "front_merges" => "1",
        _ => return None,
    };
    is_deadline.then(|| default.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::System;

    #[test]
    fn a_setting_is_what_is_given_then_what_was_recorded_then_the_default_of_mq_deadline() {
        let mut system = System::default();
        assert!(system.add_document("queue-sda.txt", b"sda/queue/iosched/fifo_batch: 4\n"));
        let of = |was: &[(&str, &str)], path: &str| {
            let was: Vec<_> = was.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
            told(system.device("sda"), &was, path)
        };
        let deadline = [("scheduler", "mq-deadline"), ("fifo_batch", "8")];
        assert_eq!(of(&deadline, "queue/iosched/fifo_batch").as_deref(), Some("8"));
        assert_eq!(of(&deadline[..1], "queue/iosched/fifo_batch").as_deref(), Some("4"));
        for (name, default) in
            [("read_expire", "500"), ("write_expire", "5000"), ("writes_starved", "2"), ("front_merges", "1")]
        {
            let path = format!("queue/iosched/{name}");
            assert_eq!(of(&deadline, &path).as_deref(), Some(default));
            for other in [&[][..], &[("scheduler", "none")], &[("wbt_lat_usec", "mq-deadline")]] {
                assert_eq!(of(other, &path), None, "{name} {other:?}");
            }
        }
        assert_eq!(of(&deadline, "queue/nr_requests"), None);
        for path in ["mq/0/nr_tags", "device/queue_depth"] {
            assert_eq!(of(&[("queue_depth", "32")], path).as_deref(), Some("32"));
        }
    }
}
