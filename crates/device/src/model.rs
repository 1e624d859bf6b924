//! How many requests a device serves at once, as its completions show.
//!
//! Own service is taken to come last. What of it passed while others were in the device, all together, is as long as that time if one is
//! served after the other, and longer if several are served at once: the check of the split, which takes time beside others as time behind
//! them.
//!
//! ```text
//! one after the other   first  |#####|           two at once   first  |#####|
//!                       second |.....#####|                    second |#####|
//! beside others                 -----                                  -----
//! their own service there       5 + 0                                  5 + 5
//! ```

use trace::Nanos;

/// From so many completions on their sums say something: a mean of so many independent times (exponential distribution) is off by a tenth.
const ENOUGH: u64 = 100;

/// Half: where less is known, the rest may be served in another way.
const MOSTLY: f64 = 0.5;

/// What passed in a device while it had two or more requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// Whether hardly any completion came soon after another: then the device's time is split by turns, else by what each request takes.
    pub in_turn: bool,
    /// Completed requests of which it is known what they take alone, and which had others beside them.
    pub requests: u64,
    /// So long it had two or more, until the last completion.
    pub time: Nanos,
    /// The times of all of them there, in the device together with others.
    pub beside: Nanos,
    /// The part of that of those in `requests`.
    pub known: Nanos,
    /// What passed then of their own service.
    pub served: Nanos,
    /// What no service explains: pauses of the whole device, and how long single requests lay there that many later ones overtook.
    pub stalled: Nanos,
}

impl Model {
    /// A request was completed after `d2c`, of which it had others beside it for so long; of its own service, if that is known.
    pub(crate) fn completed(&mut self, d2c: Nanos, beside: Nanos, own: Option<Nanos>) {
        self.beside += beside;
        if let Some(own) = own.filter(|_| beside.0 > 0) {
            self.requests += 1;
            self.known += beside;
            self.served += own.min(d2c).since(d2c.since(beside));
        }
    }

    /// How many were there on average, with two or more.
    pub fn depth(&self) -> f64 {
        self.beside.0 as f64 / self.time.0.max(1) as f64
    }

    /// Of which part of their time there it is known what they take alone.
    pub fn known_share(&self) -> f64 {
        self.known.0 as f64 / self.beside.0.max(1) as f64
    }

    /// How many it serves at once; `None` of too few, or where that is not known of half of them. Below 1 they take longer together than
    /// one after the other.
    pub fn at_once(&self) -> Option<f64> {
        let told = self.requests >= ENOUGH && self.known_share() >= MOSTLY;
        told.then(|| self.served.0 as f64 / self.time.0.max(1) as f64 / self.known_share())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred times as many requests, each with its D2C, its time beside others and its own service, in so long a time with several.
    fn model(time: u64, requests: &[(u64, u64, Option<u64>)]) -> Model {
        let mut model = Model { time: Nanos(100 * time), ..Model::default() };
        for (d2c, beside, own) in requests.repeat(100) {
            model.completed(Nanos(d2c), Nanos(beside), own.map(Nanos));
        }
        model
    }

    #[test]
    fn how_many_are_served_at_once_is_read_off_the_completions() {
        assert_eq!(model(5, &[(5, 5, Some(5)), (10, 5, Some(5))]).at_once(), Some(1.0));
        assert_eq!(model(5, &[(5, 5, Some(5)); 2]).at_once(), Some(2.0));
        assert_eq!(model(20, &[(20, 20, Some(5)); 2]).at_once(), Some(0.5));
        assert_eq!(model(5, &[(5, 5, Some(5)); 2]).depth(), 2.0);
    }

    #[test]
    fn what_is_not_known_counts_as_what_is_unless_it_is_most() {
        assert_eq!(model(5, &[(5, 5, Some(5)), (5, 5, None)]).at_once(), Some(2.0));
        assert_eq!(model(5, &[(5, 5, Some(5)), (5, 5, None), (5, 5, None)]).at_once(), None);
        assert_eq!(model(5, &[(5, 0, Some(5))]).at_once(), None, "never beside others");
    }
}
