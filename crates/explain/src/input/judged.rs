//! Reading an input and judging it, with predictions if they were asked for.

use super::Input;
use crate::arrivals::Arrivals;
use crate::beginning::Beginning;
use crate::error::{Error, Result};
use crate::explanation::Explanation;
use crate::predictions;
use crate::reading::Reading;
use crate::roles::Roles;
use crate::scope::check;
use crate::subject::Subject;
use crate::texts::Texts;
use crate::which::Which;
use capture::Detail;
use evidence::{Recorded, Samples, Skipped, System, SAMPLES_JSONL};
use operation::Scope;
use stats::{Flow, Tape};
use std::ops::ControlFlow;
use std::path::Path;
use trace::{Batch, Recording};

impl Input<'_> {
    /// Reads the recording once and judges it; texts alone are judged as such.
    pub fn explain(mut self) -> Result<Explanation> {
        let scope = self.scope();
        let Some((recording, path)) = self.recording.take() else {
            let whole = self.asking.is_all() && self.window.is_none();
            return match whole && !self.predicts && self.which == Which::default() {
                true => Ok(Explanation::of_texts(Texts::alone(self.texts.all()))),
                false => Err(Error::new(
                    "texts hold totals: they cannot be filtered by device, task, operation or time, have no slowest operations, \
                     and nothing can be predicted from them",
                    "leave the option out, or give a recording",
                )),
            };
        };
        let (texts, window, predicts) = (std::mem::take(&mut self.texts), self.window, self.predicts);
        let place = recording.place.clone();
        let explanation = self.judged(recording, &path, scope)?;
        let named = texts.named();
        let texts = Texts::beside(texts.all(), named, &explanation);
        let mut explanation = explanation.with_texts(texts);
        if predicts {
            let arrivals = || match place.as_deref() {
                Some(again) => Arrivals::read(Input::recording(again)?.window(window)),
                None => Err(Error::new(
                    "what was read from a pipe cannot be read again",
                    "save it to a file for predictions",
                )),
            };
            explanation.predictions = Some(predictions::predict(&mut explanation.verdicts, arrivals)?);
        }
        Ok(explanation)
    }

    /// Reads the recording and the files beside it, and judges them.
    fn judged(self, recording: Recording, path: &Path, scope: Option<Scope>) -> Result<Explanation> {
        let Input { mut analysis, mut pictures, mut also, window, which, .. } = self;
        let place = recording.place.clone();
        let (system, mut samples, recorded) = place.as_deref().map_or_else(Default::default, beside);
        let sources = vec![recording.format.to_string()];
        let (file_names, kernel) = (recording.names.clone(), recording.kernel.clone());
        let again = recording.source.again();
        // The first batches are filled while the beginning is learned.
        let reading = Reading::begin(recording, path, Some(Flow::default()));
        let beginning = Beginning::of(place.as_deref(), again, &system, &samples, window);
        analysis.hangs(&beginning.hung);
        beginning.tell(analysis.follow());
        analysis.asks(scope.clone());
        let mut served = std::mem::take(analysis.counts());
        let mut take = |batch: &Batch, tape: &mut Tape| {
            match &mut pictures {
                Some(pictures) => analysis.feed_with(batch, &mut **pictures),
                None => analysis.feed(batch),
            }
            if let Some(also) = &mut also {
                also(batch);
            }
            std::mem::swap(analysis.tape(), tape);
            ControlFlow::Continue(())
        };
        let all = scope.is_none() && window.is_none();
        let watched = recorded.as_ref().filter(|_| all).and_then(Recorded::watched);
        let (mut quality, flow) = reading.all(&mut served, &mut take)?;
        std::mem::swap(analysis.counts(), &mut served);
        let mut flow = flow.unwrap_or_default();
        let (mut roles, mut only, mut of_operations) = Default::default();
        if let Some(recorded) = recorded {
            recorded.judge(&mut quality);
            quality.until = quality.until.or_else(|| recorded.ended().filter(|_| window.is_none()));
            flow.wall = flow.wall.or_else(|| recorded.began());
            of_operations = recorded.0.detail == Detail::Path;
            (roles, only) = (Roles(recorded.0.roles), recorded.0.devices);
        }
        analysis.goes_on(quality.until);
        let facts = analysis.finish(flow);
        // Whether the filter matched anything is known only at the end.
        check(scope.as_ref())?;
        if window.is_some() {
            let span = facts.flow.span;
            samples.intervals.retain(|i| span.is_some_and(|(first, last)| i.from <= last && first <= i.to));
        }
        let subject = Subject {
            scope,
            which,
            window,
            sources,
            file_names,
            kernel,
            system,
            samples,
            quality,
            watched,
            of_operations,
            only,
            roles,
        };
        Ok(Explanation::new(subject, facts))
    }
}

/// Reads settings, samples and the recorder's notes beside a trace. Files that cannot be read are reported.
fn beside(place: &Path) -> (System, Samples, Option<Recorded>) {
    let mut system = System::read(place);
    let samples = Samples::read(place).unwrap_or_else(|e| {
        system.skipped.push(Skipped { file: SAMPLES_JSONL.into(), why: e.to_string() });
        None
    });
    let recorded = Recorded::read(place).unwrap_or_else(|skipped| {
        system.skipped.push(skipped);
        None
    });
    (system, samples.unwrap_or_default(), recorded)
}
