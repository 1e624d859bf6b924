//! `iowhy slow`.

use super::{print, print_json};
use crate::failure::Failure;
use crate::question::{request_op, Question, QUESTION};
use clap::Args;
use explain::{began, check, known, names, Choice, Input, Places, SlowestOperations, SlowestRequests};
use life::{Bio, BioNumber, Names, Request, Sink};
use operation::{Account, Follow, History, Operation, OperationObserver};
use report::operations::{self, Events};
use stats::Kept;
use std::path::{Path, PathBuf};

const HOW_TO_READ: &str = "Each line is a part of the one it is indented below. The lines of a level add up to the \
line above in every digit: what cutting to microseconds takes away is given to the lines that were cut most, and --json \
has nanoseconds. Where only block events were recorded (blktrace), the slowest requests are shown, event by event; of md and dm, \
which have none, the slowest bios, each with those it sent to the devices below.";

/// Show where the time of the slowest operations went, to the nanosecond.
#[derive(Args)]
#[command(after_help = HOW_TO_READ)]
pub struct Slow {
    /// A folder with a recording, NAME (for NAME.blktrace.0, .1, ...), or a file
    #[arg(value_name = "CAPTURE")]
    pub capture: PathBuf,
    /// How many
    #[arg(short = 'n', default_value_t = 10, value_name = "N", value_parser = at_least_one)]
    pub number: usize,
    /// Add the events of each operation; reads the recording twice, so not from a pipe
    #[arg(long)]
    pub events: bool,
    /// Show requests, even where operations were recorded
    #[arg(long)]
    pub requests: bool,
    /// Show each hop from one task to another
    #[arg(long)]
    pub hops: bool,
    /// Print one JSON object (schema iowhy.slow/1)
    #[arg(long)]
    pub json: bool,
    /// What is searched
    #[command(flatten, next_help_heading = QUESTION)]
    pub question: Question,
}

impl Slow {
    /// Finds the slowest in a first reading and gathers events in a second.
    pub fn run(&self) -> Result<(), Failure> {
        let input = self.open(&self.capture)?;
        let place = input.place();
        let mut places = input.places();
        let mut found = self.nothing_found();
        let mut follow = Follow::default();
        follow.knows(known(&places.system));
        let scope = input.scope();
        follow.asks(scope.clone());
        let mut first = None;
        input.read(|batch| {
            first = first.or_else(|| began(batch));
            found.requests.watch(batch);
            follow.feed(batch, &mut found);
        })?;
        places.began = first.unwrap_or_default();
        places.freed = follow.freed().clone();
        let op = self.question.op.iter().find(|op| request_op(op).is_none());
        if let Some(op) = op.filter(|_| !follow.sees_tasks()) {
            return Err(Failure::Other {
                what: format!("{}: only block events were recorded, no {op}", self.capture.display()),
                help: Some("`iowhy record` records what tasks do; without --op, requests are shown".into()),
            });
        }
        check(scope.as_ref())?;
        if self.shows_requests(&follow) {
            self.show_requests(found.requests, &places, place.as_deref())
        } else {
            self.show_operations(&found.operations, &places, place.as_deref())
        }
    }

    fn open<'a>(&self, path: &Path) -> Result<Input<'a>, Failure> {
        self.question.of_recording(path)
    }

    fn nothing_found(&self) -> Found {
        let choice = Choice { any: !self.question.op.is_empty(), number: self.number };
        Found { requests: SlowestRequests::new(self.number), operations: SlowestOperations::new(choice) }
    }

    /// Operations are shown where there are any, unless excluded.
    fn shows_requests(&self, follow: &Follow) -> bool {
        let ops = &self.question.op;
        let request_only = !ops.is_empty() && ops.iter().all(|op| names::no_operation_is_called(op));
        self.requests || request_only || !follow.sees_tasks()
    }

    fn show_requests(
        &self,
        mut slowest: SlowestRequests,
        places: &Places,
        place: Option<&Path>,
    ) -> Result<(), Failure> {
        slowest.chosen();
        if let Some(place) = place {
            self.open(place)?.read(|batch| slowest.gather(batch))?;
        }
        if self.json {
            print_json(&report::slowest_requests(&slowest, places))
        } else {
            print(&report::requests(&slowest, places))
        }
    }

    fn show_operations(
        &self,
        slowest: &SlowestOperations,
        places: &Places,
        place: Option<&Path>,
    ) -> Result<(), Failure> {
        let all = slowest.all();
        let events = if self.events { Some(self.events_of(all, place)?) } else { None };
        if self.json {
            return print_json(&report::slowest_operations(all, events.as_ref(), places));
        }
        let one = |(at, kept): (usize, &Kept)| {
            let events = events.as_ref().map(|e| e.render(at, places)).unwrap_or_default();
            operations::render(kept, places, self.hops) + &events
        };
        let texts: Vec<String> = all.iter().enumerate().map(one).collect();
        if texts.is_empty() {
            return print("no operation ended\n");
        }
        print(&texts.join("\n"))
    }

    fn events_of(&self, all: &[Kept], place: Option<&Path>) -> Result<Events, Failure> {
        let Some(place) = place else {
            return Err(Failure::Other {
                what: "--events reads a recording twice, which a pipe does not allow".into(),
                help: Some("write it to a file first".into()),
            });
        };
        let mut events = Events::of(all);
        self.open(place)?.read(|batch| events.gather(batch))?;
        Ok(events)
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| "a number from 1".into())
}

/// Requests and operations, whichever the recording turns out to have.
struct Found {
    requests: SlowestRequests,
    operations: SlowestOperations,
}

impl Sink for Found {
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
