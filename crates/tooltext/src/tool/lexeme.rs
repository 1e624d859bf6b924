//! Splits fio's text into lexemes: names and numbers, and the signs between them, so that `min= 3 , max=7` and
//! `min=3,max=7` are the same.

use crate::output::words::Word;
use evidence::Spot;

/// A sign, or the text between two signs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme<'a> {
    pub text: &'a str,
    pub spot: Spot,
    /// Index of the word that it is part of.
    pub word: usize,
}

const SIGNS: &str = "=,:;()[]|/";

/// The lexemes of some words.
pub(super) fn lexemes<'a>(words: &[Word<'a>]) -> Vec<Lexeme<'a>> {
    let mut all = Vec::with_capacity(words.len() * 4);
    for (word, w) in words.iter().enumerate() {
        let mut rest = w.text;
        while let Some(first) = rest.chars().next() {
            let sign = |c: char| SIGNS.contains(c);
            // `>=64` is the name of a depth.
            let name_from = if rest.starts_with(">=") { 2 } else { 0 };
            let length = match sign(first) {
                true => first.len_utf8(),
                false => rest[name_from..].find(sign).map_or(rest.len(), |at| at + name_from),
            };
            let (text, after) = rest.split_at(length);
            all.push(Lexeme { text, spot: w.spot, word });
            rest = after;
        }
    }
    all
}

/// A position among lexemes. A reader either moves it past what it parses, or leaves it unchanged.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a, 'b> {
    all: &'b [Lexeme<'a>],
    pub at: usize,
}

impl<'a, 'b> Cursor<'a, 'b> {
    pub fn new(all: &'b [Lexeme<'a>]) -> Self {
        Cursor { all, at: 0 }
    }

    /// The next lexeme, without moving.
    pub fn peek(&self) -> Option<Lexeme<'a>> {
        self.ahead(0)
    }

    /// The lexeme `n` positions after the next, without moving.
    pub fn ahead(&self, n: usize) -> Option<Lexeme<'a>> {
        self.all.get(self.at + n).copied()
    }

    /// Moves past the next lexeme and returns it.
    pub fn next(&mut self) -> Option<Lexeme<'a>> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    /// Moves past the next lexeme if it is `text`.
    pub fn eat(&mut self, text: &str) -> bool {
        let same = self.peek().is_some_and(|l| l.text == text);
        self.at += usize::from(same);
        same
    }

    /// Moves past the next lexemes if all of them match.
    pub fn eat_all(&mut self, texts: &[&str]) -> bool {
        let same = texts.iter().enumerate().all(|(i, text)| self.ahead(i).is_some_and(|l| l.text == *text));
        self.at += if same { texts.len() } else { 0 };
        same
    }

    /// Runs `read`; restores the position if it fails.
    pub fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = self.at;
        let result = read(self);
        if result.is_none() {
            self.at = before;
        }
        result
    }

    /// Parses `NAME = `.
    pub fn key(&mut self) -> Option<Lexeme<'a>> {
        let name = self.peek()?;
        let named = !SIGNS.contains(name.text) && self.ahead(1)?.text == "=";
        self.at += if named { 2 } else { 0 };
        named.then_some(name)
    }
}
