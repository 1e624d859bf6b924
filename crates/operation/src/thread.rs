//! The recent past of one task: when it ran, waited for a CPU and slept, which work items it ran, and what it is
//! doing.
//!
//! Stretches touch: each ends where the next begins, and the last one continues. What is older than needed is
//! forgotten ([`Thread::forget`]), except the current stretch.

use crate::descriptors::DescriptorCall;
use crate::open_call::{OpenCall, LONG};
use crate::stretch::{Sleep, State, Step, Stretch, Wake, Work};
use crate::writers::WritingBack;
use std::collections::VecDeque;
use trace::{CommitPhase, Cpu, DevId, Left, Nanos, TextId, Tid};

/// Number of stretches of one operation that are kept whatever other operations need.
const MAX_OWN: usize = 10_000;

/// Longest time between a wakeup that finds a task on its way to sleep and the switch that reports it asleep: what
/// `__schedule` does in between takes microseconds, and an interrupt may fall into it.
const ON_ITS_WAY: Nanos = Nanos(1_000_000);

/// Longest time from the end of a work item to the wakeup of the task that waited for it (`process_one_work`,
/// kernel/workqueue.c): 0.3 us as recorded on Linux 6.18, and an interrupt may fall into it.
const RIGHT_BEHIND: Nanos = Nanos(50_000);

/// Longest time between a switch and its stack. The stack is recorded right after the switch; in a virtual machine
/// that lost its CPU in between, 5 ms later (measured with QEMU).
const STACK_BEHIND: Nanos = Nanos(20_000_000);

/// Number of recent stretches that are searched linearly.
const LATELY: usize = 8;

/// The past of one task, and its open operation.
#[derive(Debug, Default)]
pub struct Thread {
    pub(crate) stretches: VecDeque<Stretch>,
    pub(crate) works: VecDeque<Work>,
    pub(crate) steps: VecDeque<Step>,
    /// The call that it is in.
    pub(crate) open: Option<OpenCall>,
    /// Whether the task's current call, if any, is known: one was seen to begin or end, or its stack was seen.
    pub(crate) is_known: bool,
    /// Whether its last call has ended, as far as calls are recorded.
    pub(crate) is_outside: bool,
    /// The call about descriptors that it is in.
    pub(crate) descriptor_call: Option<DescriptorCall>,
    /// The file that it writes back, as a flusher.
    pub(crate) writing_back: Option<WritingBack>,
    /// The file whose data it sends within a commit.
    pub(crate) flushing: Option<(DevId, u64)>,
    /// Whether its current work item has begun to write XFS's log.
    pub(crate) pushes: bool,
    /// When its last operation about storage ended.
    pub(crate) left_io: Option<Nanos>,
    /// The last wakeup that found it running.
    early: Option<Wake>,
}

impl Thread {
    /// Adds a stretch from `from` on. A clock that steps back makes no stretch of negative length.
    pub(crate) fn becomes(&mut self, from: Nanos, state: State, cpu: Cpu) {
        let from = self.stretches.back().map_or(from, |last| from.max(last.from));
        self.stretches.push_back(Stretch { from, state, cpu, stack: None });
    }

    /// The task gets a CPU. If it was last seen to fall asleep and was woken just before that by another CPU, it never
    /// slept: the switch reports a sleep, but the task only waited for a CPU.
    ///
    /// ```text
    /// cpu 1  2.0 us  waking fio
    /// cpu 0  3.6 us  fio sleeps (D), a compiler runs
    /// cpu 0  3.9 ms  the compiler's time is over, fio runs
    /// ```
    pub(crate) fn runs(&mut self, from: Nanos, cpu: Cpu) {
        let early = self.early.take();
        if let (Some(last), Some(wake)) = (self.stretches.back_mut(), early) {
            let just_before = wake.time <= last.from && last.from.since(wake.time) <= ON_ITS_WAY;
            if matches!(last.state, State::Asleep(_)) && just_before {
                last.state = State::Woken(wake);
            }
        }
        self.becomes(from, State::Running, cpu);
    }

    /// The task is woken. If it was running, the wakeup is remembered; see [`Thread::runs`].
    pub(crate) fn woken(&mut self, wake: Wake) {
        match self.state() {
            Some(State::Asleep(_)) | None => {
                let cpu = self.stretches.back().map_or(wake.cpu, |s| s.cpu);
                self.becomes(wake.time, State::Woken(wake), cpu);
            }
            // A task that is woken before it sleeps does not go to sleep, or not for long.
            Some(State::Running) => self.early = Some(wake),
            Some(State::Preempted | State::Woken(_)) => {}
        }
    }

    /// Sets its stack as it left the CPU.
    pub(crate) fn stood_at(&mut self, stack: TextId, now: Nanos) {
        let last = self.stretches.iter_mut().rev().take(2);
        let mut off = last.filter(|s| !matches!(s.state, State::Running | State::Woken(_)));
        if let Some(s) = off.next().filter(|s| now.since(s.from) <= STACK_BEHIND) {
            s.stack.get_or_insert(stack);
        }
    }

    /// Whether an uninterruptible sleep began in between: for a device or another task's lock, not for input.
    pub(crate) fn slept_uninterruptibly(&self, from: Nanos, to: Nanos) -> bool {
        let asleep = |s: &Stretch| s.from >= from && s.state == State::Asleep(Left::Uninterruptible);
        self.between(from, to).any(|(s, _)| asleep(s))
    }

    /// Its uninterruptible sleeps between `from` and `to`, as far as they were seen: the length of each.
    fn lengths_of_sleeps(&self, from: Nanos, to: Nanos) -> impl Iterator<Item = Nanos> + '_ {
        let asleep = |s: &Stretch| s.state == State::Asleep(Left::Uninterruptible);
        let seen = self.between(from, to).filter(move |(s, _)| asleep(s));
        seen.map(move |(s, end)| end.min(to).since(s.from.max(from)))
    }

    /// Time in uninterruptible sleep between `from` and `to`, as far as it was seen.
    pub(crate) fn asleep_between(&self, from: Nanos, to: Nanos) -> Nanos {
        self.lengths_of_sleeps(from, to).sum()
    }

    /// A work item begins; the one before ends.
    pub(crate) fn begins(&mut self, work: Work) {
        self.ends_work(work.from);
        self.pushes = false;
        self.works.push_back(work);
    }

    /// Its work item ends.
    pub(crate) fn ends_work(&mut self, now: Nanos) {
        if let Some(last) = self.works.back_mut() {
            last.to.get_or_insert(now);
        }
    }

    pub(crate) fn work(&self) -> Option<&Work> {
        self.works.back().filter(|w| w.to.is_none())
    }

    /// Its current state; `None` if it was not seen yet.
    pub(crate) fn state(&self) -> Option<State> {
        self.stretches.back().map(|s| s.state)
    }

    /// Start of its current uninterruptible sleep, in which tasks wait for I/O; `None` if it is not in one.
    pub(crate) fn asleep_in_io(&self) -> Option<Nanos> {
        let asleep = State::Asleep(Left::Uninterruptible);
        self.stretches.back().filter(|s| s.state == asleep).map(|s| s.from)
    }

    /// How long it has slept at `at` in a call that has not ended: without a break. If the call began before the recording, each sleep
    /// of at least [`LONG`] counts, and of a sync all of them: any other call that sleeps for a short time, again and again, makes progress.
    pub(crate) fn asleep_in(&self, open: &OpenCall, at: Nanos) -> Nanos {
        match open.begun_before {
            true if open.call.is_sync() => self.asleep_between(open.from, at),
            true => self.lengths_of_sleeps(open.from, at).filter(|sleep| *sleep >= LONG).sum(),
            false => self.asleep_in_io().map_or(Nanos(0), |from| at.since(from)),
        }
    }

    /// Stretches that overlap the time from `a` to `b`, each with its end. The first may begin before `a`.
    pub(crate) fn between(&self, a: Nanos, b: Nanos) -> impl Iterator<Item = (&Stretch, Nanos)> {
        // Nearly all queries are about the last few stretches.
        let lately = self.stretches.iter().rev().take(LATELY).position(|s| s.from <= a);
        let begin = match lately {
            Some(back) => self.stretches.len() - 1 - back,
            None => self.stretches.partition_point(|s| s.from <= a).saturating_sub(1),
        };
        let begin = self.stretches.range(begin..);
        let ends = begin.clone().skip(1).map(|s| s.from).chain([Nanos(u64::MAX)]);
        begin.zip(ends).take_while(move |(s, _)| s.from < b)
    }

    /// Sleeps that overlap the time from `a` to `b`, clipped to it.
    pub(crate) fn sleeps_between(&self, tid: Tid, a: Nanos, b: Nanos) -> impl Iterator<Item = Sleep> + '_ {
        let next = self.between(a, b).skip(1).map(|(s, _)| Some(s)).chain([None]);
        self.between(a, b).zip(next).filter_map(move |((s, to), next)| {
            let State::Asleep(left) = s.state else { return None };
            let wake = next.and_then(Stretch::wake);
            Some(Sleep { tid, left, stack: s.stack, wake, from: s.from.max(a), to: to.min(b) })
        })
    }

    /// The wakeup out of the sleep that the task is in at `t`.
    pub(crate) fn wake_after(&self, t: Nanos) -> Option<Wake> {
        let mut stretches = self.between(t, Nanos(u64::MAX)).map(|(s, _)| s);
        let asleep = stretches.next().filter(|s| s.from <= t && matches!(s.state, State::Asleep(_)));
        asleep.and(stretches.next())?.wake()
    }

    /// The last wakeup before `b` out of an idle sleep, in which kernel threads wait for work.
    pub(crate) fn given_before(&self, b: Nanos) -> Option<Wake> {
        let until = self.stretches.partition_point(|s| s.from <= b);
        let all = self.stretches.range(..until);
        let both = all.clone().zip(all.skip(1)).rev();
        let mut given = both.filter(|(before, _)| before.state == State::Asleep(Left::Idle));
        given.next().and_then(|(_, after)| after.wake())
    }

    /// The work item behind what its worker did at `t`: one that ran, or had just ended. A task that waits for an item
    /// (`flush_work`) is woken right after its end.
    pub(crate) fn work_before(&self, t: Nanos) -> Option<&Work> {
        let at = self.works.partition_point(|w| w.from <= t).checked_sub(1)?;
        self.works.get(at).filter(|w| w.to.is_none_or(|to| t.since(to) <= RIGHT_BEHIND))
    }

    /// Work items that began from `a` to `b`, without `b`.
    pub(crate) fn works_between(&self, a: Nanos, b: Nanos) -> impl Iterator<Item = &Work> {
        let begin = self.works.partition_point(|w| w.from < a);
        self.works.range(begin..).take_while(move |w| w.from < b)
    }

    /// Whether it is a journal's thread that is committing.
    pub(crate) fn is_committing(&self) -> bool {
        self.steps.back().is_some_and(|s| s.phase != CommitPhase::End)
    }

    /// Start of its current commit, or of the one that has just ended.
    pub(crate) fn commit_began(&self) -> Option<Nanos> {
        self.steps.iter().rev().take(5).find(|s| s.phase == CommitPhase::Start).map(|s| s.from)
    }

    /// Start of its oldest operation in progress. A call that waits for input (a pipe, a terminal) does not count: it
    /// may wait forever, and the past of other tasks is not kept for it.
    pub(crate) fn oldest_open(&self) -> Option<Nanos> {
        let waits_for_input = self.state() == Some(State::Asleep(Left::Interruptible));
        let call = self.open.map(|o| o.from).filter(|_| !waits_for_input);
        let writeback = self.writing_back.map(|w| w.from);
        [call, self.commit_began(), writeback].into_iter().flatten().min()
    }

    /// The work item that ran at `t`.
    pub(crate) fn work_at(&self, t: Nanos) -> Option<&Work> {
        let at = self.works.partition_point(|w| w.from <= t).checked_sub(1)?;
        self.works.get(at).filter(|w| w.to.is_none_or(|to| to >= t))
    }

    /// Commit steps that overlap the time from `a` to `b`.
    pub(crate) fn steps_between(&self, a: Nanos, b: Nanos) -> impl Iterator<Item = &Step> {
        let begin = self.steps.partition_point(|s| s.from <= a).saturating_sub(1);
        self.steps.range(begin..).take_while(move |s| s.from < b)
    }

    /// Forgets what ended before `horizon`, but nothing of its own open call unless that has too many stretches.
    pub(crate) fn forget(&mut self, horizon: Nanos) {
        let own = self.open.filter(|_| self.stretches.len() < MAX_OWN).map_or(horizon, |o| o.from);
        let horizon = horizon.min(own);
        while self.stretches.get(1).is_some_and(|next| next.from <= horizon) {
            self.stretches.pop_front();
        }
        while self.works.front().is_some_and(|w| w.to.is_some_and(|to| to < horizon)) {
            self.works.pop_front();
        }
        while self.steps.get(1).is_some_and(|next| next.from <= horizon) {
            self.steps.pop_front();
        }
    }

    /// Number of stretches, work items and steps kept.
    pub(crate) fn len(&self) -> usize {
        self.stretches.len() + self.works.len() + self.steps.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{Call, Context};

    fn thread() -> Thread {
        let mut t = Thread::default();
        t.becomes(Nanos(10), State::Running, Cpu(0));
        t.becomes(Nanos(20), State::Asleep(Left::Uninterruptible), Cpu(0));
        t.becomes(Nanos(30), State::Running, Cpu(1));
        t
    }

    #[test]
    fn stretches_that_touch_a_time_come_with_their_ends() {
        let t = thread();
        let all = |a, b| t.between(Nanos(a), Nanos(b)).map(|(s, to)| (s.from.0, to.0)).collect::<Vec<_>>();
        assert_eq!(all(12, 25), [(10, 20), (20, 30)]);
        assert_eq!(all(20, 30), [(20, 30)]);
        assert_eq!(all(0, 5), []);
        assert_eq!(all(31, 99), [(30, u64::MAX)]);
    }

    #[test]
    fn who_runs_again_without_a_wake_was_woken_on_its_way_to_sleep() {
        let wake =
            |time| Wake { time: Nanos(time), by: Tid(7), context: Context(0), cpu: Cpu(1), served: None };
        let asleep = State::Asleep(Left::Uninterruptible);
        let told = |early: Option<u64>| {
            let mut t = thread();
            t.early = early.map(wake);
            t.becomes(Nanos(2_000_040), asleep, Cpu(1));
            t.runs(Nanos(3_000_000), Cpu(1));
            assert_eq!(t.early, None);
            t.stretches[t.stretches.len() - 2].state
        };
        assert_eq!(told(Some(2_000_038)), State::Woken(wake(2_000_038)));
        // A wakeup too long ago, and none.
        assert_eq!(told(Some(35)), asleep);
        assert_eq!(told(None), asleep);
    }

    /// 10 s in a call: a thousand sleeps of 9 ms or ten of 900 ms.
    #[test]
    fn who_sleeps_for_a_short_time_again_and_again_makes_progress() {
        let slept = |call, each: u64, begun_before| {
            let mut t = Thread::default();
            for from in (0..10_000_000_000).step_by(each as usize) {
                t.becomes(Nanos(from), State::Asleep(Left::Uninterruptible), Cpu(0));
                t.becomes(Nanos(from + each / 10 * 9), State::Running, Cpu(0));
            }
            let open = OpenCall { begun_before, ..OpenCall::new(call, Nanos(0)) };
            t.asleep_in(&open, Nanos(10_000_000_000))
        };
        let (short, long, all) = (10_000_000, 1_000_000_000, Nanos(9_000_000_000));
        assert_eq!([short, long].map(|each| slept(Call::Ioctl, each, true)), [Nanos(0), all]);
        assert_eq!(slept(Call::Fsync, short, true), all, "a sync waits for one thing after another");
        assert_eq!(slept(Call::Fsync, long, false), Nanos(0), "it runs");
    }

    #[test]
    fn what_goes_on_is_never_forgotten() {
        let mut t = thread();
        t.forget(Nanos(1000));
        assert_eq!(t.stretches.len(), 1);
        assert_eq!(t.state(), Some(State::Running));
    }
}
