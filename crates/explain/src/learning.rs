//! What requests take alone, learned of a recording's beginning before it is read.
//!
//! A request is split by what is known when it is completed. Where few are ever alone, the first thousands would all be behind others
//! for want of ten samples. So a recording that can be opened twice is read up to where these are known, or so far that reading it costs
//! little; a pipe is split by what it has shown so far.

use events::Window;
use life::{Lives, Services, Sink};
use std::path::Path;
use trace::{Batch, DevId, Part, Source};

/// No more than this is read beforehand, in bytes: a tenth of a second.
const MOST: u64 = 32 << 20;

/// A device with fewer than one in so many of the requests is not what the recording is about.
const BESIDE: u64 = 20;

/// What was learned of each device; nothing of what cannot be read, which is reported when it is read as a whole.
pub(crate) fn services(place: &Path, window: Option<Window>) -> Vec<(DevId, Services)> {
    let Ok(recording) = trace::open(place) else { return vec![] };
    let mut source: Box<dyn Source> = match window {
        Some(Window { start, end }) => Box::new(Part::new(recording.source, start, end)),
        None => recording.source,
    };
    let (mut lives, mut batch) = (Lives::default(), Batch::default());
    while source.position() < MOST && matches!(source.fill(&mut batch), Ok(true)) {
        lives.feed(&batch, &mut Nobody);
        let all: u64 = lives.services().map(|(_, services)| services.requests()).sum();
        if lives.services().all(|(_, s)| s.is_settled() || s.requests().saturating_mul(BESIDE) < all) {
            break;
        }
    }
    // What seems to have been alone may have had company there.
    if source.quality().files_missing {
        return vec![];
    }
    lives.services().map(|(dev, services)| (dev, services.clone())).collect()
}

/// Wants to know nothing.
struct Nobody;

impl Sink for Nobody {}
