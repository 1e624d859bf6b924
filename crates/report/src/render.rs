//! `explain` in text: one sentence, one screen of 24 lines, or the long screen.

use crate::answer::{self, also, line};
use crate::screen::Screen;
use crate::style::{Detail, Style};
use crate::texts;
use crate::why::{found_by, remedies, Why};
use explain::device_mapper::InMapper;
use explain::{Answer, Explanation};

/// Draws the screen at the level of detail that `style` asks for.
pub fn render(e: &Explanation, style: Style) -> String {
    let answer = Answer::of(e);
    match style.detail {
        Detail::Brief => return line(e, &answer) + "\n",
        Detail::Screen if e.is_of_texts() => return texts::render_brief(e, &answer, style),
        _ if e.is_of_texts() => return texts::render(&e.texts, line(e, &answer), &also(e, &answer), style),
        Detail::Screen => return answer::render(e, &answer, style),
        Detail::More | Detail::All => {}
    }
    let mut s = Screen::new(style);
    s.out += &answer::render(e, &answer, style);
    s.blank();
    s.subject(e);
    s.slow(e);
    s.wrote(e);
    s.where_(e);
    let found = found_by(e, &answer);
    let in_mapper: Vec<String> = e.in_mapper.iter().map(InMapper::words).collect();
    s.why(&Why {
        found: &found,
        all: &e.verdicts,
        none: "no known cause explains it; the breakdown above is what was measured",
        unexplained: &in_mapper,
        title: |cause| Some(causes::all().iter().find(|c| c.name == cause)?.title),
    });
    s.try_(remedies(e, &answer, &found), answer.victims.first());
    s.trust(e);
    texts::beside(&e.texts, &mut s);
    s.out
}
