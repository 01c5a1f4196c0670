//! A document as XML.

use super::{Message, Parsed, check, read};
use crate::extra::Kept;
use crate::finding::Finding;
use crate::output::Output;
use crate::read::{ReadError, ReadLimits, ReadOptions};
use std::{fmt, io};

/// How a document is written. The default is compact.
///
/// ```
/// use bankrail_iso20022::WriteOptions;
/// let options = WriteOptions::default().indent(2).schema_valid(true);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    indent: Option<u8>,
    schema_valid: bool,
    incomplete: bool,
}

impl WriteOptions {
    /// Spaces per level, each element on a line of its own. Default: none, all on one line.
    #[must_use]
    pub fn indent(mut self, spaces: impl Into<Option<u8>>) -> Self {
        self.indent = spaces.into();
        self
    }

    /// Refuses whatever the schema refuses, not only missing parts. Default: false.
    #[must_use]
    pub const fn schema_valid(mut self, valid: bool) -> Self {
        self.schema_valid = valid;
        self
    }

    /// Writes a document in which a part is missing that the schema demands, or that holds an entry which could not be
    /// read ([`ReadOptions::keep_unreadable`]), so that whatever was read can be written. Default: false. Without
    /// effect together with `schema_valid`.
    #[must_use]
    pub const fn incomplete(mut self, incomplete: bool) -> Self {
        self.incomplete = incomplete;
        self
    }
}

/// A document that was not written. `Debug` prints what `Display` does.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A part that the schema demands is missing, or, under [`WriteOptions::schema_valid`], the schema refuses the
    /// document for another reason.
    #[error("the schema refuses the document: {finding}")]
    Invalid {
        /// The first reason.
        finding: Box<Finding>,
    },
    /// A text holds a character that XML cannot carry.
    #[error("expected characters that XML 1.0 can carry, found U+{:04X}", u32::from(*.found))]
    Character {
        /// The first such character.
        found: char,
    },
    /// Something beyond the schema that would not be read back as it is: supplementary data or a kept part that is not
    /// well-formed markup, or has no place in the document.
    #[error(
        "expected parts beyond the schema that can be read back as they are{}",
        .why.as_ref().map_or_else(String::new, |why| format!(": {why}"))
    )]
    Unfaithful {
        /// Why the written document cannot be read, if it cannot.
        why: Option<ReadError>,
    },
    /// The destination failed.
    #[error("the destination failed: {0}")]
    Io(#[source] io::Error),
}

impl fmt::Debug for WriteError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// The document as XML in a string.
pub fn to_xml<M: Message>(document: &M, options: &WriteOptions) -> Result<String, WriteError> {
    refuse(document, options)?;
    let mut text = String::new();
    push(document, Output::plain(&mut text).indented(options.indent.map(usize::from)))?;
    Ok(text)
}

/// Writes the document as XML in pieces of some 64 kB.
pub fn write_to<M: Message>(document: &M, sink: &mut dyn io::Write, options: &WriteOptions) -> Result<(), WriteError> {
    refuse(document, options)?;
    let mut text = String::new();
    push(document, Output::plain(&mut text).indented(options.indent.map(usize::from)).with_sink(sink))
}

/// Appends the document to a JSON text as a string literal, quotes included.
pub fn write_json_string<M: Message>(document: &M, json: &mut String) -> Result<(), WriteError> {
    let length = json.len();
    json.push('"');
    let written = append_json_content(document, json);
    json.push('"');
    if written.is_err() {
        json.truncate(length);
    }
    written
}

/// Appends the document to a JSON text as the content of a string literal, without the quotes.
pub fn append_json_content<M: Message>(document: &M, json: &mut String) -> Result<(), WriteError> {
    refuse(document, &WriteOptions::default())?;
    let length = json.len();
    let written = push(document, Output::plain(json).for_json());
    if written.is_err() {
        json.truncate(length);
    }
    written
}

fn refuse<M: Message>(document: &M, options: &WriteOptions) -> Result<(), WriteError> {
    if !document.is_plain() {
        return refuse_kept(document, options);
    }
    let refused = if options.schema_valid { check::check_schema(document) } else { None };
    refused.map_or(Ok(()), |finding| Err(invalid(finding)))
}

/// Parts that the schema does not know are written as they are. Only reading them again shows whether they are
/// unchanged, and whether the schema refuses them.
#[cold]
fn refuse_kept<M: Message>(document: &M, options: &WriteOptions) -> Result<(), WriteError> {
    let lacks = if options.schema_valid || options.incomplete { None } else { check::first_missing(document) };
    if let Some(finding) = lacks {
        return Err(invalid(finding));
    }
    let why = match read_back(document, options.schema_valid || options.incomplete) {
        Ok(Ok(again)) if again.document == *document => {
            let refused = again.findings.into_iter().find(|finding| options.schema_valid && finding.kind.is_schema());
            return refused.map_or(Ok(()), |finding| Err(invalid(Finding { position: None, ..finding })));
        }
        Ok(again) => WriteError::Unfaithful { why: again.err() },
        Err(error) => error,
    };
    let refused = if options.schema_valid { check::check_schema(document) } else { None };
    Err(refused.map_or(why, invalid))
}

fn invalid(finding: Finding) -> WriteError {
    WriteError::Invalid { finding: Box::new(finding) }
}

/// The document, written and read again.
pub(super) fn read_back<M: Message>(
    document: &M,
    keep_unreadable: bool,
) -> Result<Result<Parsed<M>, ReadError>, WriteError> {
    let mut text = String::new();
    push(document, Output::plain(&mut text))?;
    let options = ReadOptions::default().keep_unreadable(keep_unreadable).limits(ReadLimits::NONE);
    Ok(read::parse(text.as_bytes(), &options))
}

fn push<M: Message>(document: &M, mut out: Output<'_>) -> Result<(), WriteError> {
    let shape = M::SHAPE;
    out.markup("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    document.extras().with(|kept| {
        kept.field(shape.document, 0, &mut out, |out, kept| {
            out.start(M::DOCUMENT);
            out.attribute("xmlns", shape.namespace);
            kept.attributes(out);
            out.start_end();
            kept.children(None, out);
            document.write(M::ROOT, out, Kept::NONE);
            kept.children(Some((shape.root_name(), 0)), out);
            out.close(M::DOCUMENT);
        });
    });
    match out.finish() {
        (Some(error), _) => Err(WriteError::Io(error)),
        (None, Some(found)) => Err(WriteError::Character { found }),
        (None, None) => Ok(()),
    }
}
