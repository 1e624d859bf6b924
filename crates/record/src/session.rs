//! A recording in progress: preparation, tracing, monitoring.

use crate::asleep::Sleepers;
use crate::clock;
use crate::compat;
use crate::counts::Counts;
use crate::devices::Devices;
use crate::drain::{Drain, Drained, Job};
use crate::events::{select, DevFields, Selection};
use crate::head;
use crate::host::Host;
use crate::instance::{clean, Instance};
use crate::keep::{Keep, Lines};
use crate::memory;
use crate::own::Own;
use crate::plan::{Output, Plan, Stop};
use crate::processes;
use crate::report::Report;
use crate::running::{Running, Signals};
use crate::samples;
use crate::system;
use crate::tasks::Tasks;
use capture::Head;
use capture::{
    Capture, Detail, EndedBy, Snapshot, SystemFile, TraceFiles, CAPTURE_SCHEMA, HEAD, SAMPLES_JSONL,
    SYSTEM_JSON,
};
use capture::{Error, Result};
use rustix::thread::gettid;
use std::time::{Duration, Instant};
use trace::{Bytes, Cpu, DevId};

/// Interval between checks on signals, the command and the clock.
const TICK: Duration = Duration::from_millis(50);
/// Interval between samples, and between counts of losses.
const SECOND: Duration = Duration::from_secs(1);
/// The trace clock: equal to CLOCK_MONOTONIC in user space, one for all CPUs.
const CLOCK: &str = "mono";
/// How much a buffer may exceed the requested size: it is rounded up to whole pages, and has one more for the reader.
const PAGES_BESIDE_KIB: u64 = 128;

/// A recording in progress.
pub(crate) struct Session<'a> {
    pub host: &'a Host,
    pub plan: &'a Plan,
    pub tell: &'a mut dyn FnMut(Report),
    pub notes: Vec<String>,
    pub keep: Keep,
    pub selection: Selection,
    /// Names of the devices that it is limited to.
    pub devices: Vec<String>,
    /// Numbers of these devices; empty for all devices.
    pub ids: Vec<DevId>,
    pub cpus: Vec<Cpu>,
    pub buffer_kib: u64,
    /// Limit on the trace in memory; `None` if the trace goes to disk or to a stream.
    pub most_kept: Option<Bytes>,
    pub tasks: Tasks,
    pub before: Option<Snapshot>,
}

impl<'a> Session<'a> {
    /// Tries everything that may be refused, and creates an instance that does not record yet.
    pub fn prepare(
        host: &'a Host,
        plan: &'a Plan,
        tell: &'a mut dyn FnMut(Report),
    ) -> Result<(Session<'a>, Instance)> {
        let mut notes = Vec::new();
        clear_away(host, &mut notes)?;
        let all = Devices::read(&host.sys);
        let chosen = plan.devices.iter().map(|d| all.find(d)).collect::<Result<Vec<_>>>()?;
        let stack = all.stack(&chosen);
        let ids: Vec<DevId> = stack.iter().map(|d| d.id).collect();
        let selection = select_events(host, plan, &ids, &mut notes)?;
        if plan.detail == Detail::Path {
            notes.extend(compat::note(&compat::programs(&host.proc)));
        }

        let memory = memory::available(&host.proc).unwrap_or(Bytes(0));
        let instance = Instance::create(&host.tracefs)?;
        let cpus = instance.cpus()?;
        let buffer_kib = memory::buffer_kib(plan.buffer_kib, cpus.len() as u64, memory)?;
        instance.set_buffer(buffer_kib)?;
        instance.write("trace_clock", CLOCK)?;
        if !instance.stops_when_killed() {
            notes.push(
                "this kernel lacks disable_on_free: after kill -9 only the next run ends the tracing".into(),
            );
        }

        let mut keep = Keep::open(&plan.output)?;
        let most_kept = match in_the_way(plan, &all, &ids) {
            None => None,
            Some(device) => {
                let most = memory::most_kept(memory);
                notes.push(format!(
                    "the recording would be written to {device}, which is recorded: it stays in memory until the \
                     end, at most {} MiB",
                    most.0 >> 20
                ));
                keep.stay_in_memory();
                Some(most)
            }
        };
        for n in &notes {
            tell(Report::Note(n));
        }
        let devices = stack.iter().map(|d| d.name.clone()).collect();
        let (tasks, before) = (Tasks::default(), None);
        let session = Session {
            host,
            plan,
            tell,
            notes,
            keep,
            selection,
            devices,
            ids,
            cpus,
            buffer_kib,
            most_kept,
            tasks,
            before,
        };
        Ok((session, instance))
    }

    /// Records. When this returns, in whatever way, the instance is gone.
    pub fn run(&mut self, instance: Instance, signals: &Signals) -> Result<(Capture, Head, Vec<Drained>)> {
        let head = self.head(&instance)?;
        self.before = Some(self.snapshot());
        let system = SystemFile::new(self.before.clone(), None);
        self.keep.file(SYSTEM_JSON, &system.json(), false)?;
        self.keep_head(&head)?;
        let drain = self.start_drain(&instance, &head)?;
        let mut samples = self.keep.lines(SAMPLES_JSONL)?;
        if signals.caught().is_some() {
            return Err(Error::refused("interrupted before recording began", "start it again"));
        }
        let sleepers = Sleepers::look(&self.host.proc);
        instance.switch(true)?;
        if let Some(processes) = self.before.as_mut().and_then(|b| b.processes.as_mut()) {
            processes.asleep = sleepers.still();
            processes::still_open(processes, &self.host.proc, &Devices::read(&self.host.sys), &self.ids);
        }
        let started = Running::start(&self.plan.stop, self.plan.output == Output::Stream);
        if started.is_err() {
            // Dropping the drain empties the buffers once more, which only ends if no new data arrives.
            let _ = instance.switch(false);
        }
        let mut running = started?;
        let start = clock::now();
        (self.tell)(Report::Started);
        let busy_before = clock::busy();

        let mut counts = Counts::new(start.mono_ns);
        let (ended_by, trouble) =
            self.watch(&instance, &drain, signals, &mut running, &mut samples, &mut counts);

        let _ = instance.switch(false);
        let end = clock::now();
        let (drained, error) = drain.finish();
        let busy = clock::busy().since(busy_before);
        let last = counts.count(&instance, &self.cpus, end.mono_ns);
        let stats = self.cpus.iter().filter_map(|c| Some((*c, instance.stats_text(*c).ok()?)));
        let stats = stats.map(|(c, text)| format!("CPU: {}\n{text}", c.0)).collect();
        self.tasks.add_saved(&self.host.tracefs);
        if let Err(e) = instance.remove() {
            self.note(format!("{e}; `iowhy record --clean` will remove it"));
        }
        // Tracing has ended.
        let exit_status = running.end(ended_by, signals);
        for e in trouble.into_iter().chain(error) {
            self.note(e.to_string());
        }
        let sampled = self.sample(&mut samples).and_then(|()| samples.end());
        if let Err(e) = sampled {
            self.note(e.to_string());
        }
        let head = Head { stats, ..head };
        let capture = Capture {
            schema: CAPTURE_SCHEMA.into(),
            recorder: format!("iowhy {}", env!("CARGO_PKG_VERSION")),
            host: crate::system::host_name(&self.host.proc),
            kernel: crate::system::kernel_release(&self.host.proc),
            command: command_words(&self.plan.stop),
            exit_status,
            ended_by,
            detail: self.plan.detail,
            devices: self.devices.clone(),
            start,
            end,
            clock: CLOCK.into(),
            trace: TraceFiles::Raw,
            cpus: self.cpu_count(),
            buffer_kib_per_cpu: self.buffer_kib,
            events: last.events,
            bytes: drained.iter().map(|d| d.bytes.0).sum(),
            lost: last.lost,
            losses: counts.losses,
            recorder_cpu_ns: busy.0,
            recorded: self.selection.events.clone(),
            missing: self.selection.missing.clone(),
            absent: self.selection.absent.clone(),
            notes: Vec::new(),
            roles: None,
        };
        Ok((capture, head, drained))
    }

    /// Writes the head, which readers of the recording need first.
    fn keep_head(&mut self, head: &Head) -> Result<()> {
        let mut first = head.clone();
        if matches!(self.keep, Keep::Stream(_)) {
            // The symbols in use are known only at the end, and a stream may be truncated before.
            first.symbols = self.symbols(|s| Ok(s.all()));
        }
        self.keep.file(HEAD, &first.bytes(self.cpu_count()), false)
    }

    /// Starts the threads that empty the buffers, and enables the events with filters that exclude these threads.
    fn start_drain(&mut self, instance: &Instance, head: &Head) -> Result<Drain> {
        let page = instance.page_size(&String::from_utf8_lossy(&head.header_page));
        let mut jobs = Vec::new();
        for cpu in &self.cpus {
            jobs.push(Job {
                cpu: *cpu,
                pipe: instance.raw_pipe(*cpu),
                destination: self.keep.destination(*cpu)?,
            });
        }
        let drain = Drain::start(jobs, page, self.most_moved())?;
        if Own::known(&self.host.proc) {
            let own = Own::new(drain.tids().iter().copied().chain([gettid()]));
            self.selection.events.iter_mut().for_each(|event| own.leave_out(event));
        } else {
            self.note("in a container the recorder cannot exclude itself from the recording".into());
        }
        let refused: Vec<_> = self.selection.events.iter().filter_map(|e| instance.enable(e).err()).collect();
        refused.into_iter().for_each(|why| self.note(why));
        Ok(drain)
    }

    /// The settings now; with tasks also the processes and their limits, except in a container, where process ids differ from those
    /// in events.
    pub fn snapshot(&self) -> Snapshot {
        let mut now = system::snapshot(&self.host.sys, &self.host.proc);
        if self.plan.detail == Detail::Path && Own::known(&self.host.proc) {
            let devices = Devices::read(&self.host.sys);
            now.processes = Some(processes::read(&self.host.proc, &devices, &self.ids));
            now.limited = system::limited::read(&self.host.sys, now.memory_bytes);
        }
        now
    }

    /// Limit on bytes moved before the end, if the trace stays in memory: the buffers are emptied once more at the end,
    /// and that data must also fit. (A buffer is some pages larger than requested.)
    fn most_moved(&self) -> Option<Bytes> {
        let buffer = (self.buffer_kib + PAGES_BESIDE_KIB).saturating_mul(1024);
        let in_buffers = buffer.saturating_mul(self.cpus.len() as u64);
        self.most_kept.map(|m| Bytes(m.0.saturating_sub(in_buffers)))
    }

    /// Waits for the end; takes samples and counts losses once per second.
    fn watch(
        &mut self,
        instance: &Instance,
        drain: &Drain,
        signals: &Signals,
        running: &mut Running,
        samples: &mut Lines,
        counts: &mut Counts,
    ) -> (EndedBy, Option<Error>) {
        let begun = Instant::now();
        let mut next = begun;
        loop {
            if signals.caught().is_some() {
                return (EndedBy::Signal, None);
            }
            if running.over(begun.elapsed()) {
                let by = if running.is_command() { EndedBy::Command } else { EndedBy::Time };
                return (by, None);
            }
            if drain.failed() {
                return (EndedBy::OutputFailed, None);
            }
            if drain.is_full() {
                self.note("recording ended early: the memory for the trace is full".into());
                return (EndedBy::MemoryFull, None);
            }
            let now = Instant::now();
            if now >= next {
                if let Err(e) = self.sample(samples) {
                    return (EndedBy::OutputFailed, Some(e));
                }
                self.tasks.add_saved(&self.host.tracefs);
                let mut p = counts.count(instance, &self.cpus, clock::mono().0);
                p.bytes = drain.bytes();
                if next > begun {
                    (self.tell)(Report::Progress(p));
                }
                next = (next + SECOND).max(now);
            }
            running.wait(TICK.min(next.saturating_duration_since(Instant::now())));
        }
    }

    pub fn note(&mut self, words: String) {
        (self.tell)(Report::Note(&words));
        self.notes.push(words);
    }

    pub fn cpu_count(&self) -> u32 {
        self.cpus.last().map_or(0, |c| c.0 + 1)
    }

    fn sample(&mut self, samples: &mut Lines) -> Result<()> {
        samples.add(&samples::take(&self.host.proc).line())
    }

    /// The parts of the head that are known before the recording.
    fn head(&mut self, instance: &Instance) -> Result<Head> {
        self.tasks.add_living(&self.host.proc);
        let clock = std::fs::read_to_string(instance.dir().join("trace_clock")).unwrap_or_default();
        Ok(Head {
            clock,
            uname: crate::system::uname(&self.host.proc),
            tasks: self.tasks.text(),
            ..head::collect(&self.host.tracefs, &self.selection.events)?
        })
    }
}

/// Removes instances that earlier recordings left.
fn clear_away(host: &Host, notes: &mut Vec<String>) -> Result<()> {
    let cleaned = clean(&host.tracefs, &host.proc)?;
    for name in cleaned.removed {
        notes.push(format!("removed {name}, left by an earlier run"));
    }
    for (name, why) in cleaned.kept {
        notes.push(format!("another recording exists, {name}: {why}"));
    }
    Ok(())
}

/// Selects the events to record among those of this kernel.
fn select_events(host: &Host, plan: &Plan, ids: &[DevId], notes: &mut Vec<String>) -> Result<Selection> {
    let available = host.tracefs.text("available_events")?;
    let fields = |system: &str, name: &str| {
        let format = host.tracefs.text(&format!("events/{system}/{name}/format"));
        DevFields::of(&format.unwrap_or_default())
    };
    let selection = select(plan.detail, &available, ids, fields);
    if selection.events.is_empty() {
        return Err(Error::refused(
            "this kernel has none of the events that iowhy records",
            "a kernel with CONFIG_BLK_DEV_IO_TRACE or CONFIG_EVENT_TRACING is needed",
        ));
    }
    if !selection.missing.is_empty() {
        notes.push(format!("this kernel lacks {}", selection.missing.join(", ")));
    }
    Ok(selection)
}

/// The recorded device that the output would be written to, if any.
fn in_the_way(plan: &Plan, all: &Devices, recorded: &[DevId]) -> Option<String> {
    let Output::Folder(dir) = &plan.output else { return None };
    let device = all.under(dir)?;
    (recorded.is_empty() || recorded.contains(&device.id)).then(|| device.name.clone())
}

fn command_words(stop: &Stop) -> Option<Vec<String>> {
    let Stop::Command(words) = stop else { return None };
    Some(words.iter().map(|w| w.to_string_lossy().into_owned()).collect())
}
