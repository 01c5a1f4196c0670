//! Two rules of XML Schema that are judged only so that strict reading is exactly the schema:
//!
//! - A document of the message within foreign markup has to be valid, because the wildcard of an envelope is lax (XML
//!   Schema Part 1, 3.10.4).
//! - `xsi:type` may name the element's own type and no other.

use super::cursor::{Cursor, Judge, Shape};
use super::error::{ReadError, ReadErrorKind};
use super::events::Token;
use super::halt::Halt;
use super::options::{Mode, ReadLimits, ReadOptions};
use super::tokens::{TextTokens, Tokens};
use crate::finding::FindingKind;
use crate::xml::{is_blank, is_space};

/// Why the schema refuses the content of an envelope, if it does: a document of the message is judged at any depth,
/// within foreign elements, too. `xml` is well-formed, with the namespaces it needs.
pub(crate) fn refused_document(xml: &str, limits: ReadLimits, shape: &'static Shape) -> Option<String> {
    if !xml.contains(shape.document) {
        return None;
    }
    // Documents within documents are read recursively, so the depth bounds the stack.
    let limits = ReadLimits { depth: limits.depth.min(ReadLimits::default().depth), ..limits };
    let options = ReadOptions { mode: Mode::Strict, deny_findings: false, limits };
    let xml = format!("<any xmlns=\"{}\">{xml}</any>", shape.namespace);
    let mut cursor = Cursor::new(TextTokens::new(&xml), options, shape);
    cursor.judging = Some(shape.judge);
    let judged = cursor.judge_envelope();
    judged.err().map(|halt| why(&cursor.error(halt)))
}

fn why(refused: &ReadError) -> String {
    match refused.kind() {
        ReadErrorKind::Refused(finding) => format!("{finding} ({})", refused.path()),
        kind => format!("{kind} ({})", refused.path()),
    }
}

impl<T: Tokens> Cursor<T> {
    /// Reads any content up to the end tag, and reports when it is not exactly one element, or holds a document that
    /// the schema refuses. Returns its markup; none while a document is only judged.
    pub(crate) fn any_element(&mut self) -> Result<String, Halt> {
        let (xml, top) = match self.judging {
            Some(judge) => (String::new(), self.judge_content(judge)?),
            None => self.events.capture_content(&mut self.keeper)?,
        };
        if top != (1, false) {
            self.report(FindingKind::Envelope);
        } else if let Some(why) = refused_document(&xml, self.events.limits, self.shape) {
            self.report(FindingKind::EnvelopeDocument { why });
        }
        Ok(xml)
    }

    /// While a document is judged, a finding ends it at once.
    pub(crate) fn refuse_while_judging(&mut self) -> Result<(), Halt> {
        if self.judging.is_some() { self.refuse_findings() } else { Ok(()) }
    }

    fn judge_envelope(&mut self) -> Result<(), Halt> {
        if let (Token::Start { empty }, Some(judge)) = (self.events.next(&mut self.text, false)?, self.judging) {
            self.events.open(empty)?;
            self.judge_content(judge)?;
        }
        Ok(())
    }

    /// Reads everything between the start tag just read and its end tag, and judges the documents in it, in one pass at
    /// any depth.
    fn judge_content(&mut self, judge: Judge<T>) -> Result<(usize, bool), Halt> {
        let (mut elements, mut stray) = (0, false);
        let outer = self.events.depth;
        if std::mem::take(&mut self.events.empty) {
            self.events.close();
            return Ok((elements, stray));
        }
        loop {
            self.text.clear();
            match self.events.next(&mut self.text, false)? {
                Token::Start { empty } => {
                    elements += usize::from(self.events.depth == outer);
                    self.events.open(empty)?;
                    if self.events.is_ours()? && self.events.tag.local_name() == self.shape.document {
                        self.judge_document(judge)?;
                    } else if std::mem::take(&mut self.events.empty) {
                        self.events.close();
                    }
                }
                Token::End => {
                    self.events.close();
                    if self.events.depth < outer {
                        return Ok((elements, stray));
                    }
                }
                Token::Content => stray |= self.events.depth == outer && !is_blank(&self.text),
            }
        }
    }

    /// Reads a document whose start tag has just been read as if it stood alone.
    fn judge_document(&mut self, judge: Judge<T>) -> Result<(), Halt> {
        let (path, memory) = (std::mem::take(&mut self.path), std::mem::take(&mut self.memory));
        let sequence = self.keeper.isolate();
        self.check_root()?;
        self.open_message()?;
        judge(self)?;
        self.leave_document()?;
        (self.path, self.memory) = (path, memory);
        self.keeper.leave(sequence);
        self.refuse_findings()
    }

    /// True when `xsi:type` names the current element's own type.
    pub(crate) fn is_own_type(&self, value: &str) -> bool {
        let name = value.trim_matches(is_space);
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        self.events.namespaces.get(prefix) == Some(self.shape.namespace)
            && match self.path.names().as_slice() {
                // The type of the document element has its name.
                [document] => local == *document,
                [_, _, below @ ..] => (self.shape.is_type)(below, local),
                _ => false,
            }
    }
}

/// True when a text type, with the numbers it was made with, has a name in the schema. Where several types of the
/// schema have equal facets, the statement of the element says which is meant.
pub(crate) fn is_text_type(kind: &str, numbers: &[usize], name: &str) -> bool {
    let number =
        |prefix: &str, suffix: &str| -> Option<usize> { name.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok() };
    match (kind, numbers) {
        ("Text", [max]) => number("Max", "Text") == Some(*max),
        ("Digits", [1, 1]) => name == "Exact1NumericText",
        ("Digits", [1, max]) => number("Max", "NumericText") == Some(*max),
        ("Digits", [min, max]) if min == max => number("Exact", "NumericText") == Some(*max),
        ("Digits", [min, max]) => name == format!("Min{min}Max{max}NumericText"),
        ("SignedDays", _) => name == "Max15PlusSignedNumericText",
        ("Iban", _) => name == "IBAN2007Identifier",
        ("CurrencyCode", _) => name == "ActiveOrHistoricCurrencyCode",
        ("CountryCode", _) => name == "CountryCode",
        ("LanguageCode", _) => name == "ISO2ALanguageCode",
        ("Isin", _) => name == "ISINOct2015Identifier",
        ("PhoneNumber", _) => name == "PhoneNumber",
        ("AlphaNumeric4", _) => name == "Exact4AlphaNumericText",
        _ => false,
    }
}

/// True when numbers of these digits have a name in the schema.
pub(crate) fn is_number_type(digits: u32, fraction: u32, unsigned: bool, name: &str) -> bool {
    match (digits, fraction, unsigned) {
        (18, 17, false) => name == "DecimalNumber",
        (18, 17, true) => name == "NonNegativeDecimalNumber",
        (18, 5, true) => name == "ImpliedCurrencyAndAmount",
        (18, 0, false) => name == "Number",
        _ => false,
    }
}
