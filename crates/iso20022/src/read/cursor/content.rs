//! The text of a leaf.

use super::Cursor;
use crate::field::{Fault, Unreadable};
use crate::finding::{FindingKind, fault_kind};
use crate::read::error::ReadErrorKind;
use crate::read::events::Token;
use crate::read::halt::Halt;
use crate::read::tokens::Tokens;
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
        self.value(parse, fault, doubt)
    }

    /// A leaf with the attribute `Ccy`: its text and the attribute.
    pub(crate) fn amount<V>(
        &mut self,
        parse: impl FnOnce(&str, Option<String>) -> Result<V, Unreadable>,
        fault: fn(&V) -> Option<Fault>,
        doubt: fn(&V) -> Option<FindingKind>,
    ) -> Result<V, Halt> {
        let currency = self.events.take_attribute("Ccy");
        self.begin()?;
        if currency.is_none() {
            self.report(FindingKind::MissingCurrency);
        }
        self.value(|text| parse(text, currency), fault, doubt)
    }

    fn value<V>(
        &mut self,
        parse: impl FnOnce(&str) -> Result<V, Unreadable>,
        fault: fn(&V) -> Option<Fault>,
        doubt: fn(&V) -> Option<FindingKind>,
    ) -> Result<V, Halt> {
        self.read_text()?;
        let value = parse(&self.text).map_err(|Unreadable { expected, slight }| {
            let found = excerpt(&self.text);
            self.halt_here(ReadErrorKind::Unreadable { expected, found }).slight(slight)
        })?;
        if let Some(fault) = fault(&value) {
            self.report(fault_kind(fault, &self.text));
        }
        if let Some(kind) = doubt(&value) {
            self.report(kind);
        }
        self.leave();
        Ok(value)
    }

    /// Reads character data up to the end tag into `text`.
    fn read_text(&mut self) -> Result<(), Halt> {
        self.text.clear();
        loop {
            match self.events.next(&mut self.text, false)? {
                Token::End => {
                    self.events.close();
                    return Ok(());
                }
                Token::Start => self.unknown_in_text()?,
                Token::Content => {}
            }
            self.events.bound_text(&self.text)?;
        }
    }

    /// An element within the text of a leaf: kept beside it.
    #[cold]
    fn unknown_in_text(&mut self) -> Result<(), Halt> {
        let text = std::mem::take(&mut self.text);
        self.events.open()?;
        let kept = self.keep_unknown();
        self.text = text;
        kept
    }
}
