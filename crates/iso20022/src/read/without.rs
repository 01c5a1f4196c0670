//! Elements that cannot be read and without which reading can continue: they are kept as markup, and reported.
//!
//! - An invalid date or time, where the schema does not demand it, and an empty element of which the schema demands
//!   parts. The nearest element around it that may be missing is kept as markup.
//! - A unit, such as an entry, on request. A reader of one part after the other hands it out as an error and goes on.

use super::attributes;
use super::cursor::Cursor;
use super::error::{LimitKind, ReadError};
use super::events::Token;
use super::findings::FurtherFindings;
use super::halt::{Halt, Halted};
use super::keep::Sequence;
use super::start::StartTag;
use super::tokens::{Mark, TextTokens, Tokens};
use crate::extra::ExtraPart;
use crate::xml::is_blank;
use quick_xml::events::Event;
use std::collections::BTreeSet;

/// What to return to when the element whose start tag has just been read cannot be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Elements of the schema that are open, with this one.
    level: usize,
    /// Elements that are open, with this one.
    depth: usize,
    /// Where its start tag begins.
    mark: Mark,
    /// Parts kept before it.
    extras: usize,
    /// The sequence around it.
    sequence: Sequence,
}

impl<T: Tokens> Cursor<T> {
    /// The place of the element whose start tag has just been read.
    #[inline]
    pub(crate) fn place(&self) -> Place {
        Place {
            level: self.path.len(),
            depth: self.events.depth,
            mark: self.here(),
            extras: self.path.last().map_or(0, |step| step.extras),
            sequence: self.keeper.sequence(),
        }
    }

    /// The element at a place could not be read. It is kept as markup and the reason reported, if reading can do
    /// without it; otherwise the reason is the error.
    #[cold]
    pub(crate) fn do_without(&mut self, halt: Halt, place: Place, may_miss: bool) -> Result<(), Halt> {
        let unit = self.shape.is_unit(place.level - 1, self.path.name_at(place.level - 1));
        let asked = if unit { self.findings.keeps_unreadable() } else { halt.is_slight() };
        let group = self.shape.is_group(place.level - 1, self.path.name_at(place.level - 1));
        if !may_miss || !asked || group || self.judging.is_some() || !halt.is_of_content() {
            return Err(halt);
        }
        let xml = self.skip_to_end(place)?;
        if !unit && halt.is_missing() && !holds_nothing(&xml) {
            return Err(halt);
        }
        let path = self.path.text();
        let Halted { kind, position, .. } = halt.into_parts();
        if let Some(kind) = kind.into_finding() {
            self.report_placed(kind, path, position);
        }
        self.return_to(place);
        let xml = self.transplanted(xml)?;
        self.keep_part(ExtraPart::Xml(xml.into()))
    }

    /// The unit at a place could not be read: the error to hand out before reading goes on, or the one that ends it.
    #[cold]
    pub(crate) fn go_on(&mut self, halt: Halt, place: Place) -> Result<Box<ReadError>, Halt> {
        if !halt.is_of_content() || !self.findings.is_tolerant() {
            return Err(halt);
        }
        let xml = self.skip_to_end(place)?;
        self.events.hold(xml.len())?;
        let path = self.path.text();
        let Halted { kind, position, .. } = halt.into_parts();
        self.return_to(place);
        let error = ReadError::new(kind, path, position, Vec::new(), FurtherFindings::default());
        Ok(Box::new(error.with_unread(xml)))
    }

    /// Reads on to the end of the element at a place; all of it, as it stands.
    fn skip_to_end(&mut self, place: Place) -> Result<String, Halt> {
        let mut text = String::new();
        while self.events.depth >= place.depth {
            if std::mem::take(&mut self.events.empty) {
                self.events.close();
                continue;
            }
            text.clear();
            match self.events.next(&mut text, false)? {
                Token::Start { empty } => {
                    self.events.open(empty)?;
                    self.events.is_ours()?;
                }
                Token::End => self.events.close(),
                Token::Content => {}
            }
        }
        let xml = self.events.tokens.since(place.mark).map(str::to_owned);
        xml.ok_or_else(|| self.events.limit(LimitKind::KeptBytes, self.events.limits.kept_bytes))
    }

    /// What had been done of the element at a place is forgotten, but for its findings.
    fn return_to(&mut self, place: Place) {
        while self.path.len() >= place.level {
            if let Some(used) = self.path.pop().and_then(|step| step.outer) {
                self.restore(used);
            }
        }
        self.path.late = None;
        self.keeper.return_to(place.sequence, place.extras);
    }

    /// Markup with the namespace declarations that it needs in another place.
    fn transplanted(&mut self, mut xml: String) -> Result<String, Halt> {
        let mut tag = StartTag::default();
        if let Ok(Event::Start(start) | Event::Empty(start)) = TextTokens::new(&xml).next() {
            tag.set(&start);
        }
        let mut found = Vec::new();
        // They have been read without an error before.
        let _ = attributes::parse(tag.attributes(), usize::MAX, &mut found);
        let own: BTreeSet<Box<str>> =
            found.iter().filter_map(|attribute| attribute.declared_prefix()).map(Box::from).collect();
        let needed = self.events.needed(&xml, &own);
        self.events.hold(needed.len())?;
        let name_end = 1 + tag.name().len();
        if xml.is_char_boundary(name_end) {
            xml.insert_str(name_end, &needed);
        }
        Ok(xml)
    }
}

/// True for markup without any text but white space.
fn holds_nothing(xml: &str) -> bool {
    let mut tokens = TextTokens::new(xml);
    loop {
        match tokens.next() {
            Ok(Event::Text(text)) if is_blank(&text) => {}
            Ok(Event::Start(_) | Event::Empty(_) | Event::End(_) | Event::Comment(_) | Event::PI(_)) => {}
            Ok(Event::Eof) => return true,
            _ => return false,
        }
    }
}
