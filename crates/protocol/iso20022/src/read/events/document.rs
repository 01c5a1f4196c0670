//! The parts around the document element: what may be before and after it, and which element it
//! must be.

use super::{Events, Token, take_content};
use crate::field::DOCUMENT;
use crate::finding::shown;
use crate::read::around::{AppHeader, Around};
use crate::read::attributes::malformed;
use crate::read::declaration;
use crate::read::error::{Halt, ReadErrorKind, named};
use crate::read::shape::Shape;
use crate::read::tokens::Mark;
use crate::version::Version;
use crate::xml::is_blank;
use quick_xml::events::Event;

/// The beginning of the namespaces of messages.
const MESSAGES: &str = "urn:iso:std:iso:20022:tech:xsd:";
/// The messages that hold others: headers of files and of business messages, and envelopes.
const HOLDERS: [&str; 2] = ["head.", "nvlp."];

/// The parts read since the previous document, or since the beginning.
#[derive(Default)]
struct Before {
    /// The first root, and the place where it starts.
    root: Option<(String, Mark)>,
    /// The form of the first document that is packed in a text, and the place where it starts.
    packed: Option<(&'static str, Mark)>,
    header: Option<AppHeader>,
}

impl Events<'_> {
    /// Reads up to the start tag of the next element `Document`, through elements around it, and
    /// keeps them. Returns false at the end of an input that had a document.
    ///
    /// Every element may hold a document, unless it belongs to a message.
    pub(super) fn next_document(
        &mut self,
        is_text: bool,
        around: &mut Option<Box<Around>>,
    ) -> Result<bool, Halt> {
        *around = None;
        // Resets the own namespace, so that a header takes along a default namespace that is the
        // message's.
        self.namespaces.adopt("".into());
        self.tokens.remember();
        let start = self.tokens.mark();
        let (mut before, mut text) = (Before::default(), String::new());
        loop {
            text.clear();
            let token = if self.depth > 0 {
                Some(self.next(&mut text, false)?)
            } else {
                self.beside(is_text)?
            };
            match token {
                Some(Token::Start) => {
                    self.open()?;
                    if self.is_document(&mut before)? {
                        break;
                    }
                }
                Some(Token::End) => self.close(),
                Some(Token::Content) if before.packed.is_none() => {
                    before.packed = packed(&text).map(|form| (form, self.mark));
                }
                Some(Token::Content) => {}
                None => return self.no_document(before).map_or(Ok(false), Err),
            }
        }
        self.wrappers = self.depth - 1;
        if self.wrappers > 0 || before.header.is_some() {
            *around = Some(Box::new(self.around(start, before.header)?));
        }
        Ok(true)
    }

    /// Returns true for the start tag of a document. Another element is recorded, and refused if it
    /// cannot hold a document. A header is read completely.
    fn is_document(&mut self, before: &mut Before) -> Result<bool, Halt> {
        self.is_ours()?;
        let name = shown(self.tag.local_name());
        if name == "Document" {
            return Ok(true);
        }
        if self.depth == 1 && before.root.is_none() {
            before.root = Some((name.clone(), self.mark));
        }
        if name == "AppHdr" {
            let xml = self.capture()?;
            self.keep(&xml)?;
            before.header = Some(AppHeader::of(xml));
        } else if !named(&name).is_empty() || self.is_message() {
            let (expected, found) = ("Document", name);
            return Err(self.halt(ReadErrorKind::WrongRoot { expected, found }));
        }
        Ok(false)
    }

    /// Returns the error of an input that ends with a root that has no document in it.
    fn no_document(&mut self, before: Before) -> Option<Halt> {
        let (found, mark) = before.root?;
        let expected = "Document";
        let (kind, mark) = match before.packed {
            Some((found, mark)) => (ReadErrorKind::PackedDocument { found }, mark),
            None => (ReadErrorKind::WrongRoot { expected, found }, mark),
        };
        Some(Halt::new(kind, self.position(mark)))
    }

    /// Returns the parts around a document whose start tag has just been read.
    fn around(&mut self, start: Mark, header: Option<AppHeader>) -> Result<Around, Halt> {
        let mut before = self.since(start)?;
        let tag = self.tokens.offset() - self.mark.text;
        before.truncate(before.len() - usize::try_from(tag).unwrap_or_default());
        self.keep(&before)?;
        Ok(Around { header, before })
    }

    /// Counts markup that is kept.
    fn keep(&mut self, xml: &str) -> Result<(), Halt> {
        self.hold(xml.len())?;
        self.keep_bytes(xml.len())
    }

    /// Returns true when the element just begun is of a message that holds no other.
    fn is_message(&self) -> bool {
        let namespace = self.namespaces.get(self.tag.prefix().unwrap_or_default());
        let message = namespace.and_then(|namespace| namespace.strip_prefix(MESSAGES));
        message.is_some_and(|message| !HOLDERS.iter().any(|holder| message.starts_with(holder)))
    }

    /// Reads an event outside of roots; `None` at the end of an input that had a root.
    fn beside(&mut self, is_text: bool) -> Result<Option<Token>, Halt> {
        self.advance()?;
        let event = self.tokens.next();
        // Set before the event is taken apart: an empty element ends with the next event.
        self.empty = matches!(event, Ok(Event::Empty(_)));
        let checked = match event {
            Ok(Event::Start(tag) | Event::Empty(tag)) => {
                self.tag.set(&tag);
                self.begun = true;
                return Ok(Some(Token::Start));
            }
            Ok(Event::Eof) if self.begun => return Ok(None),
            // A declaration is allowed only at the very beginning of each document: even white
            // space before the first one is malformed. The event contains the `xml` of the
            // declaration, which is cut off.
            Ok(Event::Decl(declaration)) if self.begun || self.mark.text == 0 => {
                let encoding = declaration::check(declaration.get(3..).unwrap_or_default());
                encoding.and_then(|encoding| self.declare(encoding, is_text))
            }
            // Each of several documents may have its own byte order mark.
            Ok(Event::Text(text)) if self.begun && is_blank(&text.replace('\u{feff}', "")) => {
                Ok(())
            }
            other => outside(other),
        };
        self.content(checked)?;
        Ok(Some(Token::Content))
    }

    /// Takes the encoding that a document declares. The input is decoded by the encoding of its
    /// first document.
    fn declare(&mut self, encoding: Option<Box<str>>, is_text: bool) -> Result<(), ReadErrorKind> {
        let name = |encoding: &Option<Box<str>>| {
            let name = encoding.as_deref().unwrap_or("UTF-8");
            name.to_ascii_uppercase()
        };
        let [before, found] = [name(&self.declared), name(&encoding)];
        if self.begun && before != found && !is_text {
            let [before, found] = [shown(&before), shown(&found)];
            return Err(ReadErrorKind::OtherEncoding { before, found });
        }
        self.declared = encoding;
        Ok(())
    }

    /// Reads up to the start tag of the document element.
    pub(super) fn open_document(&mut self) -> Result<(), Halt> {
        while self.beside(false)? != Some(Token::Start) {}
        self.open()
    }

    /// Refuses the element just begun, a document element, when it has another name, or a namespace
    /// that is not one of the messages in these versions. Returns the message and the version.
    pub(super) fn take_version(
        &mut self,
        shapes: &[&'static Shape],
        versions: [Version; 2],
    ) -> Result<(&'static Shape, Version), Halt> {
        // Checked first, because a malformed name or an unbound prefix is the graver error.
        self.is_ours()?;
        if self.tag.local_name() != DOCUMENT.wire {
            let found = shown(self.tag.local_name());
            let expected = DOCUMENT.wire;
            return Err(self.halt(ReadErrorKind::WrongRoot { expected, found }));
        }
        let found = self.namespaces.get(self.tag.prefix().unwrap_or_default());
        let is_of = |shape: &&'static Shape| Some((*shape, shape.version_of(found?, versions)?));
        if let Some((shape, version)) = shapes.iter().find_map(is_of) {
            self.namespaces.adopt(shape.namespace(version));
            return Ok((shape, version));
        }
        let found = found.map_or_else(|| "none".to_owned(), shown_end);
        let expected: Vec<_> = shapes
            .iter()
            .map(|shape| shape.namespaces(versions))
            .collect();
        let expected = expected.join(" or ");
        Err(self.halt(ReadErrorKind::WrongNamespace { expected, found }))
    }

    /// Reads from the end tag of the document element to the end of the document.
    pub(super) fn close_document(&mut self) -> Result<(), Halt> {
        loop {
            self.advance()?;
            let checked = match self.tokens.next() {
                Ok(Event::Eof) => return Ok(()),
                Ok(Event::Start(_) | Event::Empty(_)) => {
                    Err(malformed("expected one document element"))
                }
                other => outside(other),
            };
            self.content(checked)?;
        }
    }
}

/// Returns the form of a document that begins a text: as text, or in base64.
fn packed(text: &str) -> Option<&'static str> {
    // `<?xml`, `<?xml` after a byte order mark, and `<Docum`.
    const BASE64: [&str; 3] = ["PD94bW", "77u/PD94bW", "PERvY3Vt"];
    let text = text.trim_start();
    if text.starts_with('<') {
        Some("as text, in CDATA or with escapes")
    } else {
        let is_base64 = BASE64.iter().any(|begin| text.starts_with(begin));
        is_base64.then_some("in base64")
    }
}

/// Accepts only what is allowed beside the document element: white space, comments, processing
/// instructions.
fn outside(event: Result<Event<'_>, quick_xml::Error>) -> Result<(), ReadErrorKind> {
    match event {
        Ok(Event::Text(text)) if is_blank(&text) => Ok(()),
        Ok(Event::Eof) => Err(ReadErrorKind::NotXml { found: "nothing" }),
        Ok(
            Event::Text(_)
            | Event::CData(_)
            | Event::GeneralRef(_)
            | Event::Start(_)
            | Event::Empty(_)
            | Event::End(_),
        ) => Err(malformed(
            "expected nothing but white space beside the document element",
        )),
        // The other events have no text.
        other => take_content(other, &mut String::new()),
    }
}

/// Returns the end of a namespace, which has the message and version, for an error text.
fn shown_end(namespace: &str) -> String {
    const KEPT: usize = 60;
    let start = namespace
        .char_indices()
        .nth_back(KEPT - 1)
        .map_or(0, |(start, _)| start);
    let cut = if start > 0 { "…" } else { "" };
    format!(
        "{cut}{}",
        namespace.get(start..).unwrap_or_default().escape_debug()
    )
}
