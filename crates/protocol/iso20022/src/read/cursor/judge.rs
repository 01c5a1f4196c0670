//! Rules of XML Schema that are judged only so that strict reading is exactly the schema. The
//! wildcard of an envelope is lax (XML Schema Part 1, 3.10.4): what a schema knows of its content
//! has to be valid.
//!
//! - A document of the message within foreign markup has to be valid.
//! - A foreign element has to be of the type that its `xsi:type` names: a built-in type or one of
//!   the message's schema. A name of any other type is refused.
//! - `xsi:type` of an element of the message may name the element's own type and no other.

use super::{Cursor, Halt, Ids, Shape, Token};
use crate::finding::{FindingKind, shown};
use crate::read::builtin::{Builtin, XSD};
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::options::{Mode, ReadLimits, ReadOptions};
use crate::read::path::Path;
use crate::read::tokens::{TextTokens, Tokens};
use crate::xml::is_blank;
use bankrail_values::excerpt;

/// A type of a schema.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    /// True when a name is that of this type, or of the type that a path of elements leads to from
    /// here.
    pub is_type: fn(below: &[&str], name: &str) -> bool,
    /// Reads the content of an element of this type.
    pub read: for<'a> fn(&mut Cursor<TextTokens<'a>>) -> Result<(), Halt>,
}

/// Reads everything between the start tag just read and its end tag, and judges what is in it.
/// Returns how many elements there are at the top and whether there is text beside them.
pub(super) type Judge<T> = fn(&mut Cursor<T>) -> Result<(usize, bool), Halt>;

/// Judges the content of an envelope: documents of the message and elements with `xsi:type`,
/// wherever they stand, within foreign elements too. `xml` is well-formed, with the namespaces it
/// needs. Returns its identifiers, or why the schema refuses it.
pub(crate) fn judge_envelope(
    xml: &str,
    limits: ReadLimits,
    shape: &'static Shape,
) -> Result<Ids, FindingKind> {
    if !xml.contains(shape.document) && !xml.contains(":type") {
        return Ok(Ids::default());
    }
    // Documents within documents are read recursively, so the depth bounds the stack.
    let limits = ReadLimits {
        depth: limits.depth.min(ReadLimits::default().depth),
        ..limits
    };
    let options = ReadOptions {
        mode: Mode::Strict,
        deny_findings: false,
        keep_unreadable: false,
        limits,
    };
    let xml = format!("<any xmlns=\"{}\">{xml}</any>", shape.namespace);
    let mut cursor = Cursor::new(TextTokens::new(&xml), options, shape);
    cursor.judging = Some(Cursor::judge_content);
    match cursor.judge_envelope() {
        Ok(()) => Ok(cursor.ids),
        Err(halt) => Err(why(&cursor.error(halt))),
    }
}

fn why(refused: &ReadError) -> FindingKind {
    let why = match refused.kind() {
        ReadErrorKind::Refused(
            kind @ (FindingKind::EnvelopeType { .. } | FindingKind::EnvelopeTypeName { .. }),
        ) if refused.path().is_empty() => {
            return kind.clone();
        }
        ReadErrorKind::Refused(finding) => format!("{finding} ({})", refused.path()),
        kind => format!("{kind} ({})", refused.path()),
    };
    FindingKind::EnvelopeDocument { why }
}

impl<T: Tokens> Cursor<T> {
    /// Reads any content up to the end tag, and reports when it is not exactly one element, or
    /// holds something that the schema refuses. Returns its markup; none while it is only judged.
    pub(crate) fn any_element(&mut self) -> Result<String, Halt> {
        let (xml, top) = match self.judging {
            Some(judge) => (String::new(), judge(self)?),
            None => self.events.capture_content(&mut self.keeper)?,
        };
        if top != (1, false) {
            self.report(FindingKind::Envelope);
            return Ok(xml);
        }
        match judge_envelope(&xml, *self.events.limits(), self.shape) {
            Ok(ids) => {
                self.hold(ids.memory())?;
                if let Some(twice) = self.ids.extend(ids) {
                    self.report(FindingKind::EnvelopeType {
                        expected: "ID",
                        found: excerpt(&twice),
                    });
                }
            }
            Err(refused) => self.report(refused),
        }
        Ok(xml)
    }

    /// Reports an identifier that an envelope of the document refers to and that none has.
    pub(super) fn report_unknown_id(&mut self) {
        if let Some(found) = self.ids.unknown().map(excerpt) {
            self.report(FindingKind::EnvelopeType {
                expected: "IDREF",
                found,
            });
        }
    }

    /// While a document is judged, a finding ends it at once.
    pub(crate) fn refuse_while_judging(&mut self) -> Result<(), Halt> {
        if self.judging.is_some() {
            self.refuse_findings()
        } else {
            Ok(())
        }
    }

    /// What an `xsi:type` of the current element says.
    pub(crate) fn stated_type(&self, value: &str) -> StatedType {
        let Some((namespace, local)) = self.events.namespaces().resolve(value) else {
            return StatedType::Other;
        };
        let own = match (self.typed, self.path.names().as_slice()) {
            (Some(typed), below) => (typed.is_type)(below, local),
            // The type of the document element has its name.
            (None, [document]) => local == *document,
            (None, [_, _, below @ ..]) => (self.shape.message.is_type)(below, local),
            (None, []) => false,
        };
        match own {
            true if namespace == Some(self.shape.namespace) => StatedType::Own,
            true => StatedType::Namesake,
            false => StatedType::Other,
        }
    }
}

impl Cursor<TextTokens<'_>> {
    fn judge_envelope(&mut self) -> Result<(), Halt> {
        if self.events.next(&mut self.text, false)? == Token::Start {
            self.events.open()?;
            self.judge_content()?;
        }
        Ok(())
    }

    /// The [`Judge`]: in one pass at any depth.
    fn judge_content(&mut self) -> Result<(usize, bool), Halt> {
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
                    if self.events.is_ours()?
                        && self.events.tag().local_name() == self.shape.document
                    {
                        self.events.refuse_nil()?;
                        self.judge_part("", None)?;
                    } else if let Some(value) = self.events.take_stated_type() {
                        typed = self.judge_typed(&value)?.map(|kind| (kind, String::new()));
                    }
                }
                Token::End => {
                    // Its text may name a namespace that it declares itself.
                    if let Some((kind, text)) = typed.take() {
                        let accepted = kind.accepts(&text, self.events.namespaces());
                        match accepted.then(|| self.ids.add(kind, &text)).flatten() {
                            Some(bytes) => self.hold(bytes)?,
                            None => return Err(self.not_of_type(kind, excerpt(&text))),
                        }
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

    /// Judges the foreign element just begun by the type that its `xsi:type` names. A built-in type
    /// is returned, because such an element is judged at its end.
    fn judge_typed(&mut self, value: &str) -> Result<Option<Builtin>, Halt> {
        let resolved = self.events.namespaces().resolve(value);
        match resolved.map(|(namespace, local)| (namespace.unwrap_or_default(), local)) {
            Some((XSD, "anyType")) => return Ok(None),
            Some((XSD, local)) => {
                if let Some(kind) = Builtin::named(local) {
                    // A simple type has no attributes.
                    let other = self
                        .events
                        .attributes()
                        .first()
                        .map(|attribute| shown(&attribute.name));
                    return other.map_or(Ok(Some(kind)), |name| Err(self.not_of_type(kind, name)));
                }
            }
            Some((namespace, local)) if namespace == self.shape.namespace => {
                if local == self.shape.document {
                    return self.judge_part(local, None).map(|()| None);
                }
                if let Some(kind) = (self.shape.named)(local) {
                    return self.judge_part(local, Some(kind)).map(|()| None);
                }
            }
            _ => {}
        }
        let found = excerpt(value);
        Err(self
            .events
            .halt(ReadErrorKind::Refused(FindingKind::EnvelopeTypeName {
                found,
            })))
    }

    fn not_of_type(&mut self, kind: Builtin, found: String) -> Halt {
        self.events
            .halt(ReadErrorKind::Refused(FindingKind::EnvelopeType {
                expected: kind.name(),
                found,
            }))
    }

    /// Reads the element whose start tag has just been read, of a type of the schema or a document,
    /// as if it stood alone. Paths within it begin with `start`.
    fn judge_part(&mut self, start: &str, typed: Option<&'static Type>) -> Result<(), Halt> {
        let path = std::mem::replace(&mut self.path, Path::within(start));
        let outer = std::mem::replace(&mut self.typed, typed);
        let memory = std::mem::take(&mut self.memory);
        let sequence = self.keeper.enter(0);
        match self.typed {
            Some(kind) => (kind.read)(self)?,
            None => {
                self.open_message()?;
                (self.shape.message.read)(self)?;
                self.leave_document()?;
            }
        }
        (self.path, self.typed, self.memory) = (path, outer, memory);
        self.keeper.leave(sequence);
        self.refuse_findings()
    }
}

/// What an `xsi:type` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatedType {
    /// The type that the element has anyhow.
    Own,
    /// A type of that name in another namespace, or in none. The attribute is not kept: written
    /// back, where the namespace of the message is the default, it would name the element's own
    /// type.
    Namesake,
    /// Anything else.
    Other,
}
