//! Three rules of XML Schema that are judged only so that strict reading is exactly the schema:
//!
//! - A document of the message within foreign markup has to be valid, because the wildcard of an envelope is lax (XML
//!   Schema Part 1, 3.10.4).
//! - For the same reason, a foreign element has to be of the built-in type that its `xsi:type` names.
//! - `xsi:type` of an element of the message may name the element's own type and no other.

use super::{Cursor, Judge, Shape};
use crate::finding::{FindingKind, shown};
use crate::read::builtin::{Builtin, XSD};
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::events::Token;
use crate::read::halt::Halt;
use crate::read::namespaces::XSI;
use crate::read::options::{Mode, ReadLimits, ReadOptions};
use crate::read::tokens::{TextTokens, Tokens};
use crate::xml::{is_blank, is_qualified_name, is_space};
use bankrail_values::excerpt;

/// Why the schema refuses the content of an envelope, if it does: documents of the message and built-in types are
/// judged wherever they stand, within foreign elements too. `xml` is well-formed, with the namespaces it needs.
pub(crate) fn refused_envelope(xml: &str, limits: ReadLimits, shape: &'static Shape) -> Option<FindingKind> {
    let typed = || xml.contains(XSI) && xml.contains(XSD);
    if !xml.contains(shape.document) && !typed() {
        return None;
    }
    // Documents within documents are read recursively, so the depth bounds the stack.
    let limits = ReadLimits { depth: limits.depth.min(ReadLimits::default().depth), ..limits };
    let options = ReadOptions { mode: Mode::Strict, deny_findings: false, keep_unreadable: false, limits };
    let xml = format!("<any xmlns=\"{}\">{xml}</any>", shape.namespace);
    let mut cursor = Cursor::new(TextTokens::new(&xml), options, shape);
    cursor.judging = Some(shape.judge);
    let judged = cursor.judge_envelope();
    judged.err().map(|halt| why(&cursor.error(halt)))
}

fn why(refused: &ReadError) -> FindingKind {
    let why = match refused.kind() {
        ReadErrorKind::Refused(kind @ FindingKind::EnvelopeType { .. }) if refused.path().is_empty() => {
            return kind.clone();
        }
        ReadErrorKind::Refused(finding) => format!("{finding} ({})", refused.path()),
        kind => format!("{kind} ({})", refused.path()),
    };
    FindingKind::EnvelopeDocument { why }
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
        } else if let Some(refused) = refused_envelope(&xml, *self.events.limits(), self.shape) {
            self.report(refused);
        }
        Ok(xml)
    }

    /// While a document is judged, a finding ends it at once.
    pub(crate) fn refuse_while_judging(&mut self) -> Result<(), Halt> {
        if self.judging.is_some() { self.refuse_findings() } else { Ok(()) }
    }

    fn judge_envelope(&mut self) -> Result<(), Halt> {
        if let (Token::Start, Some(judge)) = (self.events.next(&mut self.text, false)?, self.judging) {
            self.events.open()?;
            self.judge_content(judge)?;
        }
        Ok(())
    }

    /// Reads everything between the start tag just read and its end tag, and judges the documents in it, in one pass at
    /// any depth. Returns how many elements there are at the top and whether there is text beside them.
    fn judge_content(&mut self, judge: Judge<T>) -> Result<(usize, bool), Halt> {
        let (mut elements, mut stray) = (0, false);
        let outer = self.events.depth();
        // The element of a built-in type that is open, which may hold nothing but text.
        let mut typed: Option<(Builtin, String)> = None;
        loop {
            self.text.clear();
            match self.events.next(&mut self.text, false)? {
                Token::Start => {
                    elements += usize::from(self.events.depth() == outer);
                    self.events.open()?;
                    if let Some((kind, _)) = typed {
                        let name = shown(self.events.tag().name());
                        return Err(self.not_of_type(kind, name));
                    }
                    if self.events.is_ours()? && self.events.tag().local_name() == self.shape.document {
                        self.judge_document(judge)?;
                    } else {
                        typed = self.builtin_type()?.map(|kind| (kind, String::new()));
                    }
                }
                Token::End => {
                    // Its text may name a namespace that it declares itself.
                    if let Some((kind, text)) = typed.take()
                        && !kind.accepts(&text, self.events.namespaces())
                    {
                        return Err(self.not_of_type(kind, excerpt(&text)));
                    }
                    self.events.close();
                    if self.events.depth() < outer {
                        return Ok((elements, stray));
                    }
                }
                Token::Content => {
                    stray |= self.events.depth() == outer && !is_blank(&self.text);
                    if let Some((_, text)) = &mut typed {
                        text.push_str(&self.text);
                    }
                }
            }
        }
    }

    /// The built-in type that the foreign element just begun says it is of. Such an element has no other attributes
    /// than those of XML Schema itself.
    fn builtin_type(&mut self) -> Result<Option<Builtin>, Halt> {
        let namespaces = self.events.namespaces();
        let own = |name: &str| name.split_once(':').is_some_and(|(prefix, _)| namespaces.get(prefix) == Some(XSI));
        let attributes = self.events.attributes().iter();
        let types = attributes.filter(|attribute| own(&attribute.name) && attribute.name.ends_with(":type"));
        let named = types.map(|attribute| attribute.value.trim_matches(is_space)).find(|name| is_qualified_name(name));
        let kind = named.and_then(|name| {
            let (prefix, local) = name.split_once(':').unwrap_or(("", name));
            Builtin::named(local).filter(|_| namespaces.get(prefix) == Some(XSD))
        });
        let Some(kind) = kind else { return Ok(None) };
        match self.events.attributes().iter().find(|attribute| !own(&attribute.name)) {
            Some(other) => {
                let name = shown(&other.name);
                Err(self.not_of_type(kind, name))
            }
            None => Ok(Some(kind)),
        }
    }

    fn not_of_type(&mut self, kind: Builtin, found: String) -> Halt {
        self.events.halt(ReadErrorKind::Refused(FindingKind::EnvelopeType { expected: kind.name(), found }))
    }

    /// Reads a document whose start tag has just been read as if it stood alone.
    fn judge_document(&mut self, judge: Judge<T>) -> Result<(), Halt> {
        let (path, memory) = (std::mem::take(&mut self.path), std::mem::take(&mut self.memory));
        let sequence = self.keeper.enter(0);
        self.open_message()?;
        judge(self)?;
        self.leave_document()?;
        (self.path, self.memory) = (path, memory);
        self.keeper.leave(sequence);
        self.refuse_findings()
    }

    /// What an `xsi:type` of the current element says.
    pub(crate) fn stated_type(&self, value: &str) -> StatedType {
        let name = value.trim_matches(is_space);
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let own = is_qualified_name(name)
            && match self.path.names().as_slice() {
                // The type of the document element has its name.
                [document] => local == *document,
                [_, _, below @ ..] => (self.shape.is_type)(below, local),
                _ => false,
            };
        match own {
            true if self.events.namespaces().get(prefix) == Some(self.shape.namespace) => StatedType::Own,
            true => StatedType::Namesake,
            false => StatedType::Other,
        }
    }
}

/// What an `xsi:type` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatedType {
    /// The type that the element has anyhow.
    Own,
    /// A type of that name in another namespace, or in none. The attribute is not kept: written back, where the
    /// namespace of the message is the default, it would name the element's own type.
    Namesake,
    /// Anything else.
    Other,
}
