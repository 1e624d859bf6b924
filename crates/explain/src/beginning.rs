//! What is known when a recording begins: facts in the files beside it, and what its first part shows.

use crate::known::known;
use crate::learning::{self, Learned};
use events::Window;
use evidence::{Samples, System};
use life::{with_hung, HUNG};
use operation::{Follow, Known};
use std::path::Path;
use trace::{DevId, Nanos, Source, Tid};

/// What is known when a recording begins, or a window of it.
#[derive(Default)]
pub(crate) struct Beginning {
    known: Known,
    learned: Learned,
    /// Devices that had requests all the time and completed none.
    pub hung: Vec<DevId>,
}

impl Beginning {
    /// Of a recording with these settings and samples beside it. `place`: where it can be read; `None` for a pipe. `again`: its events, if it
    /// need not be opened once more for them.
    pub fn of(
        place: Option<&Path>,
        again: Option<Box<dyn Source>>,
        system: &System,
        samples: &Samples,
        window: Option<Window>,
    ) -> Beginning {
        let mut known = known(system);
        let begins_later = window.is_some_and(|w| w.start > Nanos(0));
        if begins_later {
            known.asleep.clear();
        }
        let mut learned =
            place.map(|at| learning::learn(at, again, window, &known.processes)).unwrap_or_default();
        let is_apart = |(_, process): &&(Tid, Tid)| learned.apart.processes.binary_search(process).is_ok();
        let born = learned.apart.processes.iter().map(|process| (*process, *process));
        known.apart = known.processes.iter().filter(is_apart).copied().chain(born).collect();
        known.threads_apart = std::mem::take(&mut learned.apart.threads);
        let hung = samples.hung(HUNG).into_iter().filter(|_| window.is_none());
        let hung = hung.filter_map(|name| Some(system.device(&name)?.dev.as_ref()?.value)).collect();
        Beginning { known, learned, hung }
    }

    /// Tells all of it to who follows the recording.
    pub fn tell(self, follow: &mut Follow) {
        let Learned { services, underway, names, .. } = self.learned;
        follow.knows(self.known);
        services.into_iter().for_each(|(dev, services)| follow.knows_services(dev, services));
        names.iter().for_each(|(tid, name)| follow.knows_name(*tid, name));
        follow.knows_underway(with_hung(underway, &self.hung));
    }
}
