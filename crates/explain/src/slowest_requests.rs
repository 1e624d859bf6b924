//! The slowest requests of a recording. For stacked devices, which have no requests, the slowest bios.
//!
//! A first reading finds the N slowest. A second one collects the events on their sectors between queue and completion; there are none if
//! the recording cannot be read twice (a pipe). Requests that a stacked device sent for one of its bios are shown with that bio and not
//! separately.

use crate::gathered::{Gathered, Gathering};
use crate::sent_below::{Sent, SlowestStacked};
use crate::slowest::Slowest;
use life::{Bio, BioNumber, IoObserver, Names, Request};
use std::cmp::Reverse;
use trace::{Batch, Nanos};

/// Maximal number of events per request; a request of 256 merged bios has 770.
const MAX_EVENTS: usize = 60;

/// One of the slowest.
pub enum SlowRequest {
    /// A request and the name of its task.
    Request(Box<Request>, String),
    /// A bio of a stacked device with the bios that it sent below.
    Stacked(Box<Sent>),
}

impl SlowRequest {
    fn total(&self) -> Nanos {
        match self {
            SlowRequest::Request(request, _) => request.time.total(),
            SlowRequest::Stacked(sent) => sent.total(),
        }
    }

    fn completed(&self) -> Nanos {
        match self {
            SlowRequest::Request(request, _) => request.time.completed,
            SlowRequest::Stacked(sent) => sent.bio.time.completed,
        }
    }
}

/// The last completed request, whose bios follow.
struct Last {
    request: Request,
    task: String,
    is_of_member: bool,
}

/// Collects the slowest requests of a recording.
pub struct SlowestRequests {
    /// Maximal number that is kept.
    number: usize,
    /// Time of the first event that is no note.
    pub began: Option<Nanos>,
    last: Option<Last>,
    own: Slowest<Last>,
    /// Requests that a stacked device sent.
    of_members: Slowest<Last>,
    stacked: SlowestStacked,
    list: Vec<SlowRequest>,
    /// The events of the requests in `list`, in its order.
    gathering: Gathering,
}

impl SlowestRequests {
    /// Starts empty; keeps at most `number`.
    pub fn new(number: usize) -> SlowestRequests {
        let (own, of_members) = (Slowest::new(number), Slowest::new(number));
        let (began, last, list, gathering) = Default::default();
        let stacked = SlowestStacked::new(number);
        SlowestRequests { number, began, last, own, of_members, stacked, list, gathering }
    }

    /// Notes the beginning of the recording.
    pub fn watch(&mut self, batch: &Batch) {
        let first = || batch.events.iter().find(|e| !e.action.is_note()).map(|e| e.time);
        self.began = self.began.or_else(first);
    }

    /// Ends the first reading and chooses the slowest.
    pub fn chosen(&mut self) {
        self.settle();
        let number = self.number;
        let SlowestRequests { own, of_members, stacked, .. } =
            std::mem::replace(self, SlowestRequests { began: self.began, ..SlowestRequests::new(number) });
        let members = Some(of_members).filter(|_| stacked.is_empty());
        let requests = own.into_all().chain(members.into_iter().flat_map(Slowest::into_all));
        let requests = requests.map(|l| SlowRequest::Request(Box::new(l.request), l.task));
        self.list =
            requests.chain(stacked.into_all().map(|sent| SlowRequest::Stacked(Box::new(sent)))).collect();
        self.list.sort_by_key(|s| (Reverse(s.total()), s.completed()));
        self.list.truncate(number);
        let request = |slow: &SlowRequest| match slow {
            SlowRequest::Request(request, _) => Some(**request),
            SlowRequest::Stacked(_) => None,
        };
        self.gathering = Gathering::of(self.list.iter().filter_map(request), MAX_EVENTS);
    }

    /// Processes a batch of the second reading: keeps the events of the chosen requests.
    pub fn gather(&mut self, batch: &Batch) {
        self.gathering.feed(batch);
    }

    /// The slowest first, each request with its events; bios have none.
    pub fn all(&self) -> impl Iterator<Item = (&SlowRequest, Option<&Gathered>)> {
        let mut gathered = self.gathering.all.iter();
        self.list.iter().map(move |slow| match slow {
            SlowRequest::Request(..) => (slow, gathered.next()),
            SlowRequest::Stacked(_) => (slow, None),
        })
    }

    /// All bios of the last request have been seen: adds the request to its list.
    fn settle(&mut self) {
        let Some(last) = self.last.take() else { return };
        let slowest = if last.is_of_member { &mut self.of_members } else { &mut self.own };
        slowest.add(last.request.time.total(), || last);
    }

    fn over(&mut self, bio: &Bio, names: &Names, asked: bool) {
        if let Some(last) = &mut self.last {
            let is_in = bio.dev == last.request.dev && bio.time.completed == last.request.time.completed;
            last.is_of_member |= is_in && bio.is_child();
        }
        self.stacked.bio(bio, names, asked);
    }
}

impl IoObserver for SlowestRequests {
    fn request(&mut self, r: &Request, names: &Names) {
        self.settle();
        // The request may turn out to be a member's; it can be skipped in any case, as it is not among the slowest in `own`.
        if !self.own.wants(r.time.total()) {
            return;
        }
        let task = names.text(r.task).to_string();
        self.last = Some(Last { request: *r, task, is_of_member: false });
    }

    fn bio(&mut self, bio: &Bio, names: &Names) {
        self.over(bio, names, true);
    }

    fn bio_beside(&mut self, bio: &Bio, names: &Names) {
        self.over(bio, names, false);
    }

    fn adopted(&mut self, child: BioNumber, parent: BioNumber) {
        self.stacked.adopted(child, parent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::Timeline;

    /// The sender of a request: a task, a stacked device that is not recorded, or one that is.
    #[derive(Clone, Copy, PartialEq)]
    enum By {
        Task,
        Unknown,
        Stacked,
    }

    /// The latencies in ms of the slowest two of successive requests.
    fn slowest(all: &[(u64, By)]) -> Vec<u64> {
        let (mut of, names) = (SlowestRequests::new(2), Names::default());
        let ms = |ms: u64| Nanos(ms * 1_000_000);
        for (i, (took, by)) in (0..).zip(all) {
            let from = ms(1000 * i);
            let time = Timeline { queued: Some(from), completed: from + ms(*took), ..Timeline::default() };
            of.request(&Request { time, ..Request::default() }, &names);
            let (parent, orphan) = ((*by == By::Stacked).then_some(BioNumber(1)), *by == By::Unknown);
            let number = BioNumber(10 + i);
            of.bio(&Bio { time, by_request: true, parent, orphan, number, ..Bio::default() }, &names);
        }
        if all.iter().any(|(_, by)| *by == By::Stacked) {
            let time = Timeline { queued: Some(ms(0)), completed: ms(110), ..Timeline::default() };
            of.bio(&Bio { time, number: BioNumber(1), ..Bio::default() }, &names);
        }
        of.chosen();
        of.all().map(|(slow, _)| slow.total().0 / 1_000_000).collect()
    }

    #[test]
    fn the_slowest_are_told_the_slowest_first() {
        assert_eq!(slowest(&[(50, By::Task), (100, By::Task), (90, By::Task), (10, By::Task)]), [100, 90]);
        assert_eq!(slowest(&[(50, By::Task)]), [50]);
        assert!(slowest(&[]).is_empty());
    }

    /// A request of a stacked device is shown with that device's bio and takes no other request's place.
    #[test]
    fn requests_of_members_stand_for_themselves_only_without_their_stacked_device() {
        let sent = |by| [(100, by), (90, by), (50, By::Task)];
        assert_eq!(slowest(&sent(By::Unknown)), [100, 90]);
        assert_eq!(slowest(&sent(By::Stacked)), [110, 50]);
    }
}
