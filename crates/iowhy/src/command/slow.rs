//! `iowhy slow`.

use super::style::style;
use crate::failure::Failure;
use crate::question::{request_op, Question, QUESTION};
use crate::stdout::{print, print_json};
use clap::Args;
use explain::{began, check, names, Answer, Choice, Input, Places, SlowestOperations, SlowestRequests};
use life::{Bio, BioNumber, IoObserver, Names, Request};
use operation::{Account, Follow, History, NotThere, Operation, OperationObserver, Scope, Unrecorded};
use report::operations::{self, Events};
use report::Style;
use stats::SampledOperation;
use std::path::PathBuf;
use trace::Place;

const HOW_TO_READ: &str = "Without a filter, only the task that lost most time is shown (the first in iowhy explain); \
     from a pipe, all tasks. Each line is part of the one it is indented below; times are rounded to microseconds so \
     that the lines of a level add up exactly, and --json has nanoseconds. Where only block events were recorded \
     (blktrace), the slowest requests are shown, event by event; for md and dm, which have no requests, the slowest \
     bios, each with those it sent to the devices below.";

/// Show where the time of the slowest operations went, to the nanosecond.
#[derive(Args)]
#[command(after_help = HOW_TO_READ)]
pub struct Slow {
    /// A folder with a recording, NAME (for NAME.blktrace.0, .1, ...), or a file
    #[arg(value_name = "CAPTURE")]
    pub capture: PathBuf,
    /// How many
    #[arg(short = 'n', default_value_t = 3, value_name = "N", value_parser = at_least_one)]
    pub number: usize,
    /// Add the events of each operation; reads the recording twice, so not from a pipe
    #[arg(long)]
    pub events: bool,
    /// Show those of all tasks, not only of the one that lost most time
    #[arg(long)]
    pub all: bool,
    /// Show requests, even where operations were recorded
    #[arg(long)]
    pub requests: bool,
    /// Show each wake-up of one task by another
    #[arg(long)]
    pub hops: bool,
    /// Print one JSON object (schema iowhy.slow/1); without a filter, for all tasks
    #[arg(long)]
    pub json: bool,
    /// What is searched
    #[command(flatten, next_help_heading = QUESTION)]
    pub question: Question,
}

impl Slow {
    /// Finds the slowest in a first reading, and their events in a second one.
    pub fn run(&self) -> Result<(), Failure> {
        let input = self.question.of_recording(&self.capture)?;
        if self.events && input.place().is_none() {
            return Err(Failure::Other {
                what: "--events reads a recording twice, which a pipe does not allow".into(),
                help: Some("write it to a file first".into()),
            });
        }
        let Some(place) = input.place().filter(|_| self.is_of_the_victim()) else {
            return self.show(&self.find(&self.question, input)?, None);
        };
        let victim = Answer::of(&input.explain()?).victims.into_iter().next().map(|v| v.task);
        let of_victim = victim.and_then(|task| Some((self.question.narrowed(None, Some(&task))?, task)));
        if let Some((question, task)) = of_victim {
            let seen = self.find(&question, question.of_recording(&place)?)?;
            if !seen.is_empty() {
                return self.show(&seen, Some(&task));
            }
        }
        self.show(&self.find(&self.question, self.question.of_recording(&place)?)?, None)
    }

    /// Whether only the answer's victim is shown: kernel threads often have slower operations, for which no task waits.
    fn is_of_the_victim(&self) -> bool {
        !self.all && !self.json && self.question.asking().is_all()
    }

    fn find(&self, question: &Question, input: Input) -> Result<Seen, Failure> {
        let place = input.place();
        let mut places = input.places();
        let mut found = self.nothing_found();
        let scope = input.scope();
        let mut follow = input.follow(scope.clone());
        let mut first = None;
        let quality = input.read(|batch| {
            first = first.or_else(|| began(batch));
            found.requests.watch(batch);
            follow.feed(batch, &mut found);
        })?;
        follow.finish(quality.until, &mut found);
        places.began = first.unwrap_or_default();
        places.freed = follow.freed().clone();
        let op = question.op.iter().find(|op| request_op(op).is_none());
        if let Some(op) = op.filter(|_| !follow.follows_operations()) {
            let lack = match follow.unrecorded() {
                Some(Unrecorded::Switches) => "no sched_switch was",
                Some(Unrecorded::Calls) => "no system calls were",
                None => "only block events were",
            };
            return Err(Failure::Other {
                what: format!("{}: {lack} recorded, no {op} is followed", self.capture.display()),
                help: Some("`iowhy record` records what tasks do; without --op, requests are shown".into()),
            });
        }
        check(scope.as_ref())?;
        let of_requests = self.shows_requests(&follow);
        found.requests.chosen();
        if let Some(place) = place.as_deref().filter(|_| of_requests) {
            question.of_recording(place)?.read(|batch| found.requests.gather(batch))?;
        }
        let instead = scope.as_ref().and_then(Scope::no_such_operation);
        Ok(Seen { found, places, place, of_requests, instead })
    }

    fn nothing_found(&self) -> Found {
        let choice = Choice { any: !self.question.op.is_empty(), number: self.number };
        Found { requests: SlowestRequests::new(self.number), operations: SlowestOperations::new(choice) }
    }

    /// Whether requests are shown: on demand, or if no operations were recorded.
    fn shows_requests(&self, follow: &Follow) -> bool {
        let ops = &self.question.op;
        let request_only = !ops.is_empty() && ops.iter().all(|op| names::no_operation_is_called(op));
        self.requests || request_only || !follow.follows_operations()
    }

    /// Prints the slowest; `task` is their task if no filter selected it.
    fn show(&self, seen: &Seen, task: Option<&str>) -> Result<(), Failure> {
        let Seen { found, places, of_requests, .. } = seen;
        let all = found.operations.all();
        if *of_requests && self.json {
            return print_json(&report::slowest_requests(&found.requests, places));
        }
        let events = if self.events && !of_requests { Some(self.events_of(all, seen)?) } else { None };
        if self.json {
            return print_json(&report::slowest_operations(all, events.as_ref(), places));
        }
        let Style { width, .. } = style();
        let one = |(at, sampled): (usize, &SampledOperation)| {
            let events = events.as_ref().map(|e| e.render(at, places)).unwrap_or_default();
            operations::render(sampled, places, self.hops, width) + &events
        };
        let text = match of_requests {
            _ if seen.is_empty() => self.none_ended(seen, width),
            true => report::requests(&found.requests, places, width),
            false => all.iter().enumerate().map(one).collect::<Vec<_>>().join("\n"),
        };
        let Some(task) = task else { return print(&text) };
        let mut text = text.trim_end().to_string() + "\n\n";
        let whose = format!("Only {task}, the first in iowhy explain; all tasks: iowhy slow --all");
        report::wrap::wrap_into(&mut text, &whose, width, "", "");
        print(&text)
    }

    /// The text if nothing is shown; with a filter for operations it names those that there are.
    fn none_ended(&self, seen: &Seen, width: usize) -> String {
        let mut text = String::new();
        let said = match (&seen.instead, self.question.op.join(" or ")) {
            (Some(none), _) => format!("{}: {}; without --op, these are shown", none.what, none.there),
            (None, _) if seen.of_requests => "no request was completed".into(),
            (None, ops) if ops.is_empty() => "no operation ended".into(),
            (None, ops) => format!("no {ops} ended; without --op, others are shown"),
        };
        report::wrap::wrap_into(&mut text, &said, width, "", "");
        text
    }

    fn events_of(&self, all: &[SampledOperation], seen: &Seen) -> Result<Events, Failure> {
        let mut events = Events::of(all);
        if let Some(place) = &seen.place {
            self.question.of_recording(place)?.read(|batch| events.gather(batch))?;
        }
        Ok(events)
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| "a number from 1".into())
}

/// The result of the first reading.
struct Seen {
    found: Found,
    places: Places,
    /// Where the recording is, to be read again; `None` for a pipe.
    place: Option<Place>,
    /// Whether requests are shown instead of operations.
    of_requests: bool,
    /// What there is instead of the kinds of operations that are asked for; `None` if any of those occurred.
    instead: Option<NotThere>,
}

impl Seen {
    fn is_empty(&self) -> bool {
        match self.of_requests {
            true => self.found.requests.all().next().is_none(),
            false => self.found.operations.all().is_empty(),
        }
    }
}

/// The slowest requests and operations; which of them are shown depends on the recording.
struct Found {
    requests: SlowestRequests,
    operations: SlowestOperations,
}

impl IoObserver for Found {
    fn request(&mut self, request: &Request, names: &Names) {
        self.requests.request(request, names);
    }

    fn bio(&mut self, bio: &Bio, names: &Names) {
        self.requests.bio(bio, names);
    }

    fn bio_beside(&mut self, bio: &Bio, names: &Names) {
        self.requests.bio_beside(bio, names);
    }

    fn adopted(&mut self, child: BioNumber, parent: BioNumber) {
        self.requests.adopted(child, parent);
    }
}

impl OperationObserver for Found {
    fn operation(&mut self, o: &Operation, account: Account, names: &Names, history: &History) {
        self.operations.operation(o, account, names, history);
    }
}
