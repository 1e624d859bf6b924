//! Thresholds of `rate_limit`.

use trace::{Bytes, Nanos};

/// Quantiles of the middle half: completions that are seen late, and the next ones that then seem early, lie outside.
pub const MIDDLE: [f64; 2] = [0.25, 0.75];
/// Quantiles of most completions, if processors are available.
pub const MOST: [f64; 2] = [0.1, 0.9];
/// Quantiles of the slower half: what a limit had saved up passes at once, up to half of all.
pub const SLOWER_HALF: [f64; 2] = [0.5, 0.9];
/// The quantile in the middle of the slower half.
pub const IN_SLOWER_HALF: f64 = 0.75;
/// The middle half of what comes by a timer lies between these multiples of the median. What a rotating disk takes for
/// scattered requests varies by a third either way (half a turn of 8.3 ms beside a seek of 8 ms, data sheets).
pub const EVEN_TURNS: (f64, f64) = (0.9, 1.1);
/// A timer admits all kinds at its own pace: the mean of a kind differs from that of all by at most this part.
pub const SAME_PACE: f64 = 0.2;
/// Up to this many ticks are told from what lies between them; of more, a few hundredths either way are half a tick.
pub const MOST_TICKS: f64 = 4.5;
/// Of 17 percentiles, from p10 to p90, this many may lie between two whole numbers of ticks.
pub const NOT_TICKS: usize = 1;
/// Multiples of the median within which completions are as even as a clock: no working device is.
pub const AS_A_CLOCK: (f64, f64) = (0.97, 1.03);
/// The slowest flash that is sold for more than pictures does 1,500 reads and 500 writes a second (SD Association,
/// application performance class A1); half as much again.
pub const SLOWEST_READ: Nanos = Nanos(1_000_000);
/// The same for writes.
pub const SLOWEST_WRITE: Nanos = Nanos(3_000_000);
/// The bytes that the same class moves a second, if they are sequential.
pub const SLOWEST_BYTES_A_SECOND: u64 = 10_000_000;
/// The turn of the fastest disks: 15,000 turns a minute (data sheets).
pub const FASTEST_TURN: Nanos = Nanos(4_000_000);
/// How a request's time changes with its delay: by -1 if it waits for a timer, which goes on meanwhile; by 0 for a device, which
/// begins when the request comes. What is nearer to the former, by [`SURELY`] standard errors, shows a timer, ...
pub const SOONER: f64 = -0.5;
/// ... which chance does once in a thousand (normal distribution).
pub const SURELY: f64 = 3.0;
/// [`SLOWEST_READ`] and [`SLOWEST_WRITE`] are of requests of this size at most; larger ones take longer for their bytes.
pub const SMALL: Bytes = Bytes(16 << 10);
/// Fewer gaps show no pace.
pub const ENOUGH: u64 = 100;
/// Most gaps lie between these multiples of the median: evenly spaced, except for what processors add. Shorter ones are
/// those of a burst, up to a quarter of all. A device that seeks or cleans up has gaps that differ by factors.
pub const EVEN: (f64, f64) = (0.6, 1.4);
/// Or half of all runs of gaps ([`stats::IN_A_RUN`]), from p30 (shorter ones are bursts') to p80, lies between these
/// multiples of the median: busy processors make each completion seem late, by more than a gap if they are very busy,
/// but not one later than the other in the long run. Fewer runs than [`ENOUGH_RUNS`] say nothing.
pub const EVEN_RUNS: (f64, f64) = (0.97, 1.03);
/// Fewer runs than this say nothing.
pub const ENOUGH_RUNS: u64 = 12;
/// The fastest requests take less than this part of the time between two completions.
pub const FASTER: f64 = 0.5;
/// After at most this part of requests that a timer held back, another one is done within half of its tick: completions that a processor saw late.
pub const BROKEN: f64 = 0.02;
/// At most this part of what a timer holds back lies between that and what passes at once: also seen late.
pub const BETWEEN: f64 = 0.1;
/// The quantile of the fastest requests, which came while the limit was not reached.
pub const FASTEST: f64 = 0.02;
/// With this many gaps, their median is known to a few hundredths if they are even.
pub const ENOUGH_OF_SIZE: u64 = 20;
/// Medians that differ by less than this part are the same. What moves [`LARGER`] times the bytes in the same time does not move them itself.
pub const SAME: f64 = 0.1;
/// This many times the bytes take longer if something is done with them: at a seek of 8 ms and 200 MB/s 32 KiB take 2 %
/// longer than 4, which is less than seeks vary; if requests are even, a seek is not what they take.
pub const LARGER: u64 = 8;
