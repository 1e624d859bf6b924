//! Of `rate_limit`.

use trace::{Bytes, Nanos};

/// The middle half: completions that are seen late, and the ones after them that then seem early, lie outside.
pub const MIDDLE: [f64; 2] = [0.25, 0.75];
/// Most of them, where processors are available.
pub const MOST: [f64; 2] = [0.1, 0.9];
/// The slower half: what a limit had saved up passes at once, up to half of all.
pub const SLOWER_HALF: [f64; 2] = [0.5, 0.9];
/// The middle of the slower half.
pub const IN_SLOWER_HALF: f64 = 0.75;
/// The middle half of what comes by the clock lies between these parts of the median. What a disk that turns takes for scattered
/// requests varies by a third either way (half a turn of 8.3 ms beside a seek of 8 ms, data sheets).
pub const EVEN_TURNS: (f64, f64) = (0.9, 1.1);
/// What is let through by the clock comes at its pace, whatever it is: the mean of a kind lies so near to that of all.
pub const SAME_PACE: f64 = 0.2;
/// So many ticks are told from what lies between them; of more, a few hundredths either way are half a tick.
pub const MOST_TICKS: f64 = 4.5;
/// Of 17 percentiles, from p10 to p90, so many may lie between two numbers of ticks.
pub const NOT_TICKS: usize = 1;
/// As near as completions show a clock: what no device that works does.
pub const AS_A_CLOCK: (f64, f64) = (0.97, 1.03);
/// The slowest flash that is sold for more than pictures does 1,500 reads and 500 writes a second (SD Association, application
/// performance class A1); half as much again.
pub const SLOWEST_READ: Nanos = Nanos(1_000_000);
/// The same of writes.
pub const SLOWEST_WRITE: Nanos = Nanos(3_000_000);
/// The same class moves so much a second where it is in order.
pub const SLOWEST_BYTES_A_SECOND: u64 = 10_000_000;
/// What is turned fastest: 15,000 times a minute (data sheets).
pub const FASTEST_TURN: Nanos = Nanos(4_000_000);
/// A clock is waited for by as much less as a request comes later (-1), a device begins when it comes (0): what is nearer to the former, by
/// [`SURELY`] standard errors, ...
pub const SOONER: f64 = -0.5;
/// ... which chance does once in a thousand (normal distribution).
pub const SURELY: f64 = 3.0;
/// Both are of requests of this size at most; larger ones take the longer for their bytes.
pub const SMALL: Bytes = Bytes(16 << 10);
/// Fewer gaps are no pace.
pub const ENOUGH: u64 = 100;
/// Most gaps lie between these parts of the middle one: evenly spaced, except for what processors add. Shorter ones are those
/// of a burst, up to a quarter of all. A device that seeks or cleans up has gaps that differ by factors.
pub const EVEN: (f64, f64) = (0.6, 1.4);
/// Or half of all runs of gaps ([`stats::IN_A_RUN`]), from p30 (shorter ones are bursts') to p80, lies between these parts of the
/// middle one: busy processors make each completion seem late, by more than a gap if they are very busy, but not one later than
/// the other in the long run. Fewer runs than [`ENOUGH_RUNS`] say nothing.
pub const EVEN_RUNS: (f64, f64) = (0.97, 1.03);
/// Fewer runs than this say nothing.
pub const ENOUGH_RUNS: u64 = 12;
/// The fastest requests take less than this part of the time between two completions.
pub const FASTER: f64 = 0.5;
/// After so few of those that a clock held back another one is done within half of its tick: completions that a processor saw late.
pub const BROKEN: f64 = 0.02;
/// So few lie between what passes at once and what a clock holds back, as a part of the latter: seen late, too.
pub const BETWEEN: f64 = 0.1;
/// Which of them count as the fastest: those that came while the limit was not reached.
pub const FASTEST: f64 = 0.02;
/// From so many gaps on their median is known to a few hundredths where they are even.
pub const ENOUGH_OF_SIZE: u64 = 20;
/// Medians that differ by less are the same. What moves [`LARGER`] times the bytes in the same time does not move them.
pub const SAME: f64 = 0.1;
/// So many times the bytes take longer, where something is done with them: at a seek of 8 ms and 200 MB/s 32 KiB take 2 % longer than 4,
/// which is less than seeks vary; where requests are even, a seek is not what they take.
pub const LARGER: u64 = 8;
