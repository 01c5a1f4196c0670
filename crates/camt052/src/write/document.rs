//! A document as XML.

use super::Output;
use crate::extra::Kept;
use crate::model::{Document, ROOT};
use crate::schema::{Node, tag};
use crate::{Finding, NAMESPACE};
use crate::{ReadError, ReadOptions};
use std::io;

/// How a document is written. The default is compact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Spaces per level, each element on a line of its own; `None` is compact.
    pub indent: Option<u8>,
    /// Refuses whatever the schema refuses, not only missing parts.
    pub schema_valid: bool,
}

/// Why a document was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A part that the schema demands is missing, or, under [`WriteOptions::schema_valid`], the schema refuses the
    /// document for another reason.
    #[error("the schema refuses the document at {}", .finding.path)]
    Invalid {
        /// The first reason.
        #[source]
        finding: Box<Finding>,
    },
    /// A text holds a character that XML cannot carry.
    #[error("expected characters that XML 1.0 can carry, found U+{:04X}", u32::from(*.found))]
    Character {
        /// The first such character.
        found: char,
    },
    /// Something beyond the schema that would not be read back as it is: supplementary data or a kept part that is no
    /// well-formed markup, or has no place in the document.
    #[error("expected parts beyond the schema that can be read back as they are")]
    Unfaithful {
        /// Why what was written cannot be read, if so.
        #[source]
        why: Option<ReadError>,
    },
    /// The destination failed.
    #[error("the destination failed")]
    Io(#[source] io::Error),
}

impl Document {
    /// The document as compact XML in UTF-8, with the XML declaration.
    ///
    /// # Errors
    /// [`WriteError::Invalid`] when a mandatory part is missing, [`WriteError::Character`], [`WriteError::Unfaithful`].
    pub fn to_xml(&self) -> Result<String, WriteError> {
        self.to_xml_with(WriteOptions::default())
    }

    /// The document as XML.
    ///
    /// # Errors
    /// [`WriteError::Invalid`], [`WriteError::Character`], [`WriteError::Unfaithful`].
    pub fn to_xml_with(&self, options: WriteOptions) -> Result<String, WriteError> {
        self.refuse(options)?;
        let mut text = String::new();
        let out = Output::plain(&mut text).indented(options.indent.map(usize::from));
        self.push(out)?;
        Ok(text)
    }

    /// Writes the document as XML in pieces of some 64 kB.
    ///
    /// # Errors
    /// [`WriteError::Invalid`] and [`WriteError::Unfaithful`] before anything is written, [`WriteError::Io`], [`WriteError::Character`] when part of
    /// the document may have been written already.
    pub fn write_to(&self, sink: &mut dyn io::Write, options: WriteOptions) -> Result<(), WriteError> {
        self.refuse(options)?;
        let mut text = String::new();
        let out = Output::plain(&mut text).indented(options.indent.map(usize::from)).with_sink(sink);
        self.push(out)
    }

    /// Appends the document to a JSON text as a string literal, quotes included: what the member `payload` of a
    /// statement response holds. The XML exists only in its escaped form.
    ///
    /// # Errors
    /// [`WriteError::Invalid`], [`WriteError::Character`], [`WriteError::Unfaithful`]; `json` is then as it was.
    pub fn write_json_string(&self, json: &mut String) -> Result<(), WriteError> {
        let length = json.len();
        json.push('"');
        let written = self.append_json_content(json);
        json.push('"');
        if written.is_err() {
            json.truncate(length);
        }
        written
    }

    /// Appends the document to a JSON text as the content of a string literal, without the quotes.
    ///
    /// # Errors
    /// [`WriteError::Invalid`], [`WriteError::Character`], [`WriteError::Unfaithful`]; `json` is then as it was.
    pub fn append_json_content(&self, json: &mut String) -> Result<(), WriteError> {
        self.refuse(WriteOptions::default())?;
        let length = json.len();
        let written = self.push(Output::plain(json).for_json());
        if written.is_err() {
            json.truncate(length);
        }
        written
    }

    fn refuse(&self, options: WriteOptions) -> Result<(), WriteError> {
        let plain = self.is_plain();
        let refused = if options.schema_valid {
            crate::check::first_of_schema(self)
        } else if plain {
            None
        } else {
            crate::check::first_missing(self)
        };
        match refused {
            Some(finding) => Err(WriteError::Invalid { finding: Box::new(finding) }),
            None if plain => Ok(()),
            None => self.refuse_unfaithful(),
        }
    }

    /// What the schema does not know is written as it is; only reading it again shows whether it stays so.
    #[cold]
    fn refuse_unfaithful(&self) -> Result<(), WriteError> {
        let mut text = String::new();
        self.push(Output::plain(&mut text))?;
        let why = match Self::parse_with(&text, &ReadOptions::unbounded()) {
            Ok(again) if again.document == *self => return Ok(()),
            Ok(_) => None,
            Err(error) => Some(error),
        };
        Err(WriteError::Unfaithful { why })
    }

    fn push(&self, mut out: Output<'_>) -> Result<(), WriteError> {
        out.markup("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
        self.extras.with(|kept| {
            kept.field("Document", 0, &mut out, |out, kept| {
                out.start(tag!("Document"));
                out.attribute("xmlns", NAMESPACE);
                kept.attributes(out);
                out.start_end();
                kept.children(None, out);
                self.write(tag!("BkToCstmrAcctRpt"), out, Kept::NONE);
                kept.children(Some((ROOT, 0)), out);
                out.close(tag!("Document"));
            });
        });
        match out.finish() {
            (Some(error), _) => Err(WriteError::Io(error)),
            (None, Some(found)) => Err(WriteError::Character { found }),
            (None, None) => Ok(()),
        }
    }
}
