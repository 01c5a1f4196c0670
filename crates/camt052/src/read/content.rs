//! What stands between a start tag and its end tag: elements only, or the text of a leaf.

use super::cursor::{Cursor, Halt};
use super::error::LimitKind;
use super::events::take_content;
use super::names::is_blank;
use super::tokens::Tokens;
use crate::finding::FindingKind;
use crate::schema::{Fault, Unreadable};
use quick_xml::events::Event;

impl<T: Tokens> Cursor<T> {
    /// Reads on to the next start tag within element-only content; false at the end tag.
    pub(super) fn next_start(&mut self) -> Result<bool, Halt> {
        if self.empty {
            self.empty = false;
            self.close();
            return Ok(false);
        }
        self.text.clear();
        loop {
            self.advance()?;
            match self.tokens.next() {
                Ok(Event::Start(tag)) => {
                    self.tag.set(&tag);
                    self.keep_text()?;
                    self.open(false)?;
                    return Ok(true);
                }
                Ok(Event::Empty(tag)) => {
                    self.tag.set(&tag);
                    self.keep_text()?;
                    self.open(true)?;
                    return Ok(true);
                }
                Ok(Event::End(_)) => {
                    self.keep_text()?;
                    self.close();
                    return Ok(false);
                }
                Ok(Event::Text(text)) if self.text.is_empty() && is_blank(&text) => {}
                other => {
                    let content = take_content(other, &mut self.text);
                    self.content(content)?;
                    self.bound_text()?;
                }
            }
        }
    }

    /// Reads character data up to the end tag into `text`.
    pub(super) fn read_text(&mut self) -> Result<(), Halt> {
        self.text.clear();
        if self.empty {
            self.empty = false;
            self.close();
            return Ok(());
        }
        loop {
            self.advance()?;
            match self.tokens.next() {
                Ok(Event::End(_)) => {
                    self.close();
                    return Ok(());
                }
                Ok(Event::Start(tag)) => {
                    self.tag.set(&tag);
                    self.unknown_in_text(false)?;
                }
                Ok(Event::Empty(tag)) => {
                    self.tag.set(&tag);
                    self.unknown_in_text(true)?;
                }
                other => {
                    let content = take_content(other, &mut self.text);
                    self.content(content)?;
                }
            }
            self.bound_text()?;
        }
    }

    #[inline]
    fn bound_text(&mut self) -> Result<(), Halt> {
        let most = self.options.limits.text_bytes;
        if self.text.len() > most { Err(self.limit(LimitKind::TextBytes, most)) } else { Ok(()) }
    }

    /// An element within the text of a leaf: kept beside it.
    #[cold]
    pub(super) fn unknown_in_text(&mut self, empty: bool) -> Result<(), Halt> {
        let text = std::mem::take(&mut self.text);
        self.open(empty)?;
        let kept = self.keep_unknown();
        self.text = text;
        kept
    }

    /// A leaf: its text, read and checked.
    pub(crate) fn leaf<V>(
        &mut self,
        parse: fn(&str) -> Result<V, Unreadable>,
        fault: fn(&V) -> Option<Fault>,
        doubt: fn(&V) -> Option<FindingKind>,
    ) -> Result<V, Halt> {
        self.begin()?;
        self.read_text()?;
        let value = match parse(&self.text) {
            Ok(value) => value,
            Err(unreadable) => return Err(self.unreadable(unreadable)),
        };
        if let Some(fault) = fault(&value) {
            self.report_fault(fault);
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
        let found = self.attributes.iter().position(|attribute| attribute.name == "Ccy");
        let currency = found.map(|index| self.attributes.remove(index).value);
        self.begin()?;
        if currency.is_none() {
            self.report(FindingKind::MissingCurrency);
        }
        self.read_text()?;
        let value = match parse(&self.text, currency) {
            Ok(value) => value,
            Err(unreadable) => return Err(self.unreadable(unreadable)),
        };
        Ok(value)
    }
}
