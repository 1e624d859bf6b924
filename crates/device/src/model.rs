//! Estimates how many requests a device serves at once, from its completions.
//!
//! Own service is assumed to come last. The part of it that overlapped with other requests, summed over all, equals the contended time if
//! requests are served one after the other, and exceeds it if several are served at once. This checks the split, which treats time beside
//! others as time behind them.
//!
//! ```text
//! one after the other   first  |#####|           two at once   first  |#####|
//!                       second |.....#####|                    second |#####|
//! beside others                 -----                                  -----
//! their own service there       5 + 0                                  5 + 5
//! ```

use trace::Nanos;

/// Minimal number of completions: the mean of 100 independent times (exponential distribution) is off by a tenth.
const ENOUGH: u64 = 100;

/// Half of the contended time: if less is known, the rest may be served in another way.
const MOSTLY: f64 = 0.5;

/// Sums over the contended time, in which a device had two or more requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// Whether almost no completion came soon after another: then the device's time is split by turns, else by what each request takes.
    pub in_turn: bool,
    /// Number of completed requests that had others beside them and whose latency alone is known.
    pub requests: u64,
    /// The contended time, until the last completion.
    pub time: Nanos,
    /// The requests' time in the device together with others, summed over all requests.
    pub beside: Nanos,
    /// The part of `beside` of the requests counted in `requests`.
    pub known: Nanos,
    /// The part of these requests' own service that fell into contended time.
    pub served: Nanos,
    /// Time that no service explains: pauses of the whole device, and the time in the device of single requests that many later ones overtook.
    pub stalled: Nanos,
}

impl Model {
    /// Counts a request that was completed after `d2c`, with others beside it for `beside`. `own`: its own service, if known.
    pub(crate) fn completed(&mut self, d2c: Nanos, beside: Nanos, own: Option<Nanos>) {
        self.beside += beside;
        if let Some(own) = own.filter(|_| beside.0 > 0) {
            self.requests += 1;
            self.known += beside;
            self.served += own.min(d2c).since(d2c.since(beside));
        }
    }

    /// Mean number of requests in the device during contended time.
    pub fn depth(&self) -> f64 {
        self.beside.0 as f64 / self.time.0.max(1) as f64
    }

    /// The part of `beside` for which the latency alone is known, 0 to 1.
    pub fn known_share(&self) -> f64 {
        self.known.0 as f64 / self.beside.0.max(1) as f64
    }

    /// How many requests the device serves at once; `None` if too few completed or most latencies alone are unknown. Below 1, requests take
    /// longer together than one after the other.
    pub fn at_once(&self) -> Option<f64> {
        let told = self.requests >= ENOUGH && self.known_share() >= MOSTLY;
        told.then(|| self.served.0 as f64 / self.time.0.max(1) as f64 / self.known_share())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model after 100 times these requests, each given as (D2C, time beside others, own service). `time`: the contended time.
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
