//! A whole document.

use super::attributes::malformed;
use super::cursor::{Cursor, Halt};
use super::declaration;
use super::decode::{Decoded, forbidden};
use super::error::{ReadError, ReadErrorKind};
use super::events::{check_instruction, not_well_formed};
use super::names::is_blank;
use super::options::ReadOptions;
use super::tokens::{StreamTokens, TextTokens, Tokens};
use crate::NAMESPACE;
use crate::finding::{Finding, shown};
use crate::model::{Document, ROOT};
use crate::schema::Field;
use quick_xml::events::Event;
use std::io::BufRead;

/// A document and what was found in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parsed {
    /// The document.
    pub document: Document,
    /// What is not as it should be, in the order of the document; what counts and sums disagree about comes last.
    pub findings: Vec<Finding>,
    /// How many more were found than [`Limits::findings`](crate::Limits::findings) has room for.
    pub further_findings: u64,
}

impl Document {
    /// Reads a document tolerantly, from text or octets.
    ///
    /// # Errors
    /// [`ReadError`] when the document is malformed, of another message, misses a mandatory part, or holds an
    /// unreadable amount or date.
    pub fn parse(xml: impl AsRef<[u8]>) -> Result<Parsed, ReadError> {
        Self::parse_with(xml, &ReadOptions::default())
    }

    /// Reads a document, from text or octets.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn parse_with(xml: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Parsed, ReadError> {
        let octets = xml.as_ref();
        match plain_text(octets, options) {
            Some(text) => parse(TextTokens::new(text), options),
            None => Self::read_with(octets, options),
        }
    }

    /// Reads a document from a source; the whole document is in memory afterwards. See
    /// [`EntryReader`](crate::EntryReader) for one entry after the other.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read_with(source: impl BufRead, options: &ReadOptions) -> Result<Parsed, ReadError> {
        parse(StreamTokens::new(Decoded::new(source, options.limits)), options)
    }
}

/// The text of a document in UTF-8 of allowed characters; whatever else goes through the decoder.
fn plain_text<'a>(octets: &'a [u8], options: &ReadOptions) -> Option<&'a str> {
    if u64::try_from(octets.len()).unwrap_or(u64::MAX) > options.limits.document_bytes {
        return None;
    }
    let head = std::str::from_utf8(octets.get(..octets.len().min(1024)).unwrap_or_default());
    let head = match head {
        Ok(head) => head,
        Err(error) => std::str::from_utf8(octets.get(..error.valid_up_to())?).ok()?,
    };
    let marked = head.starts_with('\u{feff}');
    let declared = declaration::declared_encoding(head);
    if !marked && declared.is_some_and(|name| !name.eq_ignore_ascii_case("UTF-8")) {
        return None;
    }
    let text = std::str::from_utf8(octets).ok()?;
    if forbidden(octets).is_some() { None } else { Some(text) }
}

fn parse<T: Tokens>(tokens: T, options: &ReadOptions) -> Result<Parsed, ReadError> {
    let mut cursor = Cursor::new(tokens, *options);
    let found = cursor.document().and_then(|document| {
        cursor.refuse_findings()?;
        Ok(document)
    });
    match found {
        Ok(document) => {
            let findings = std::mem::take(&mut cursor.findings);
            Ok(Parsed { document, findings, further_findings: cursor.further })
        }
        Err(error) => Err(error),
    }
}

const ROOT_FIELDS: &[Field] = &[Field { wire: ROOT, min: 1, max: 1 }];

impl<T: Tokens> Cursor<T> {
    pub(super) fn document(&mut self) -> Result<Document, Halt> {
        self.open_document()?;
        self.open_message()?;
        let mut document: Document = self.node()?;
        let mut extras = document.extras.parts().to_vec();
        extras.extend(self.close_document()?);
        document.extras = crate::Extras::from_parts(extras);
        Ok(document)
    }

    /// Reads up to the start tag of `Document` and checks it.
    pub(super) fn open_document(&mut self) -> Result<(), Halt> {
        loop {
            self.advance()?;
            let event = self.tokens.next();
            let empty = matches!(event, Ok(Event::Empty(_)));
            let checked = match event {
                Ok(Event::Start(tag) | Event::Empty(tag)) => {
                    self.tag.set(&tag);
                    self.open(empty)?;
                    return self.check_root();
                }
                Ok(Event::Decl(declaration)) if self.mark.text == 0 => {
                    declaration::check(declaration.get(3..).unwrap_or_default())
                }
                other => outside(other),
            };
            self.content(checked)?;
        }
    }

    pub(super) fn check_root(&mut self) -> Result<(), Halt> {
        let ours = self.is_ours()?;
        let local = self.tag.local_name().to_owned();
        if local != "Document" {
            return Err(self.halt(ReadErrorKind::WrongRoot { found: shown(&local) }));
        }
        if !ours {
            let found = self.namespaces.get(self.tag.prefix().unwrap_or_default());
            debug_assert_ne!(found, Some(NAMESPACE), "the namespace is another one");
            let found = found.map_or_else(|| "none".to_owned(), shown_end);
            return Err(self.halt(ReadErrorKind::WrongNamespace { found }));
        }
        self.refuse_nil()?;
        self.push("Document");
        self.begin()
    }

    /// Reads up to the start tag of the message itself.
    pub(super) fn open_message(&mut self) -> Result<(), Halt> {
        match self.alternative(ROOT_FIELDS)? {
            Some(_) => Ok(()),
            None => Err(self.halt_here(ReadErrorKind::Missing { name: ROOT.to_owned() })),
        }
    }

    /// Reads from the end of the message to the end tag of `Document`.
    pub(super) fn leave_document(&mut self) -> Result<(), Halt> {
        while self.alternative(ROOT_FIELDS)?.is_some() {
            self.refuse_repeated(ROOT)?;
        }
        self.leave();
        Ok(())
    }

    /// Reads from the end of the message to the end of the document; what stood there beyond the schema.
    pub(super) fn close_document(&mut self) -> Result<Vec<crate::extra::Extra>, Halt> {
        self.leave_document()?;
        loop {
            self.advance()?;
            let event = self.tokens.next();
            if matches!(event, Ok(Event::Eof)) {
                return Ok(std::mem::take(&mut self.extras));
            }
            let checked = match event {
                Ok(Event::Start(_) | Event::Empty(_)) => Err(malformed("expected one document element")),
                other => outside(other),
            };
            self.content(checked)?;
        }
    }
}

/// What may stand beside the document element: white space, comments, processing instructions.
fn outside(event: Result<Event<'_>, quick_xml::Error>) -> Result<(), ReadErrorKind> {
    match event {
        Ok(Event::Text(text)) if is_blank(&text) => Ok(()),
        Ok(Event::Comment(_)) => Ok(()),
        Ok(Event::PI(instruction)) => check_instruction(instruction.target()),
        Ok(Event::Decl(_)) => Err(malformed("expected the XML declaration at the very beginning")),
        Ok(Event::DocType(_)) => Err(ReadErrorKind::DocumentType),
        Ok(Event::Eof) => Err(malformed("expected a document element, found the end of the document")),
        Ok(_) => Err(malformed("expected nothing but white space beside the document element")),
        Err(error) => Err(not_well_formed(&error)),
    }
}

/// The end of a namespace, where message and version stand, for an error text.
fn shown_end(namespace: &str) -> String {
    const KEPT: usize = 60;
    let start = namespace.char_indices().nth_back(KEPT - 1).map_or(0, |(start, _)| start);
    let cut = if start > 0 { "…" } else { "" };
    format!("{cut}{}", namespace.get(start..).unwrap_or_default().escape_debug())
}
