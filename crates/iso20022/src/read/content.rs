//! The text of a leaf.

use super::cursor::Cursor;
use super::error::{LimitKind, ReadErrorKind};
use super::events::Token;
use super::halt::Halt;
use super::tokens::Tokens;
use crate::field::{Fault, Unreadable};
use crate::finding::{FindingKind, fault_kind};
use bankrail_values::excerpt;

impl<T: Tokens> Cursor<T> {
    /// A leaf: its text, read and checked.
    pub fn leaf<V>(
        &mut self,
        parse: fn(&str) -> Result<V, Unreadable>,
        fault: fn(&V) -> Option<Fault>,
        doubt: fn(&V) -> Option<FindingKind>,
    ) -> Result<V, Halt> {
        self.begin()?;
        self.read_text()?;
        let value = self.value(parse)?;
        if let Some(fault) = fault(&value) {
            let kind = fault_kind(fault, &self.text);
            self.report(kind);
        }
        if let Some(kind) = doubt(&value) {
            self.report(kind);
        }
        self.leave();
        Ok(value)
    }

    /// A leaf with the attribute `Ccy`: its text and the attribute.
    pub(crate) fn amount<V>(
        &mut self,
        parse: impl FnOnce(&str, Option<String>) -> Result<V, Unreadable>,
    ) -> Result<V, Halt> {
        let found = self.events.attributes.iter().position(|attribute| attribute.name == "Ccy");
        let currency = found.map(|index| self.events.attributes.remove(index).value.into_owned());
        self.begin()?;
        if currency.is_none() {
            self.report(FindingKind::MissingCurrency);
        }
        self.read_text()?;
        self.value(|text| parse(text, currency))
    }

    fn value<V>(&mut self, parse: impl FnOnce(&str) -> Result<V, Unreadable>) -> Result<V, Halt> {
        parse(&self.text).map_err(|Unreadable { expected, slight }| {
            let found = excerpt(&self.text);
            self.halt_here(ReadErrorKind::Unreadable { expected, found }).slight(slight)
        })
    }

    /// Reads character data up to the end tag into `text`.
    fn read_text(&mut self) -> Result<(), Halt> {
        self.text.clear();
        if std::mem::take(&mut self.events.empty) {
            self.events.close();
            return Ok(());
        }
        loop {
            match self.events.next(&mut self.text, false)? {
                Token::End => {
                    self.events.close();
                    return Ok(());
                }
                Token::Start { empty } => self.unknown_in_text(empty)?,
                Token::Content => {}
            }
            self.bound_text()?;
        }
    }

    #[inline]
    pub(crate) fn bound_text(&mut self) -> Result<(), Halt> {
        let most = self.events.limits.text_bytes;
        if self.text.len() > most { Err(self.events.limit(LimitKind::TextBytes, most)) } else { Ok(()) }
    }

    /// An element within the text of a leaf: kept beside it.
    #[cold]
    fn unknown_in_text(&mut self, empty: bool) -> Result<(), Halt> {
        let text = std::mem::take(&mut self.text);
        self.events.open(empty)?;
        let kept = self.keep_unknown();
        self.text = text;
        kept
    }
}
