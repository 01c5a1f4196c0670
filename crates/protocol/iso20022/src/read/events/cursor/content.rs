//! The text of a leaf.

use super::{Cursor, Token};
use crate::field::Unreadable;
use crate::finding::FindingKind;
use crate::read::error::{Halt, ReadErrorKind};
use crate::xml::is_blank;
use bankrail_values::excerpt;

impl Cursor<'_> {
    /// Reads a leaf from its text and reports the faults of its value.
    pub fn leaf<V>(
        &mut self,
        parse: fn(&str) -> Result<V, Unreadable>,
        faults: fn(&V, &str, u8) -> Vec<FindingKind>,
    ) -> Result<V, Halt> {
        self.begin()?;
        self.value(parse, faults)
    }

    /// Reads a leaf with the attribute `Ccy` from its text and the attribute.
    pub(crate) fn amount<V>(
        &mut self,
        parse: impl FnOnce(&str, Option<String>) -> Result<V, Unreadable>,
        faults: fn(&V, &str, u8) -> Vec<FindingKind>,
    ) -> Result<V, Halt> {
        // Takes the attribute before `begin`, which refuses all that are left.
        let currency = self.events.take_attribute("Ccy");
        self.begin()?;
        if currency.is_none() {
            self.report(FindingKind::MissingCurrency);
        }
        self.value(|text| parse(text, currency), faults)
    }

    fn value<V>(
        &mut self,
        parse: impl FnOnce(&str) -> Result<V, Unreadable>,
        faults: fn(&V, &str, u8) -> Vec<FindingKind>,
    ) -> Result<V, Halt> {
        let has_elements = self.read_text()?;
        let unreadable = |from: &mut Self, expected| {
            let found = excerpt(&from.text);
            from.halt_here(ReadErrorKind::Unreadable { expected, found })
        };
        // A leaf that has only elements is of another version. If these were dropped, an empty text
        // would stand in their place.
        if has_elements && self.options.drop_unknown && is_blank(&self.text) {
            return Err(unreadable(self, "text"));
        }
        let value =
            parse(&self.text).map_err(|Unreadable { expected }| unreadable(self, expected))?;
        // Reports before the element is left, because a finding has the path of the current
        // element.
        for kind in faults(&value, &self.text, self.schema) {
            self.report(kind);
        }
        self.leave();
        Ok(value)
    }

    /// Reads character data up to the end tag into `text`. Returns true if there are elements in
    /// it.
    fn read_text(&mut self) -> Result<bool, Halt> {
        self.text.clear();
        let mut has_elements = false;
        loop {
            match self.events.next(&mut self.text, false)? {
                Token::End => {
                    self.events.close();
                    return Ok(has_elements);
                }
                Token::Start => {
                    has_elements = true;
                    self.unknown_in_text()?;
                }
                Token::Content => {}
            }
            self.events.bound_text(&self.text)?;
        }
    }

    /// Keeps an element that stands within the text of a leaf.
    #[cold]
    fn unknown_in_text(&mut self) -> Result<(), Halt> {
        let text = std::mem::take(&mut self.text);
        self.events.open()?;
        let kept = self.keep_unknown();
        self.text = text;
        kept
    }
}
