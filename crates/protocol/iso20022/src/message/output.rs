//! Writing a document as XML without checks, and the error of writing.

use super::{Message, Parsed, read};
use crate::extra::KeptParts;
use crate::field::DOCUMENT;
use crate::finding::{Finding, FindingKind};
use crate::output::Output;
use crate::read::{ReadError, ReadLimits, ReadOptions};
use crate::version::Version;
use std::{fmt, io};

/// A document that was not written. `Debug` prints the same text as `Display`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The document lacks a part that the schema demands, or contains an entry that could not be
    /// read; [`WriteOptions::incomplete`](crate::WriteOptions::incomplete) permits it. Under
    /// [`WriteOptions::schema_valid`](crate::WriteOptions::schema_valid), the document violates the
    /// schema in any way.
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
    /// Supplementary data or a kept part would not be read back unchanged, because it is not
    /// well-formed markup or has no place in the document.
    #[error(
        "expected parts beyond the schema that can be read back as they are{}",
        .why.as_ref().map_or_else(String::new, |why| format!(": {why}"))
    )]
    Unfaithful {
        /// The reason why the written document cannot be read, if it cannot.
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

/// Writes the document and reads it again.
pub(super) fn read_back<M: Message>(
    document: &M,
    keep_unreadable: bool,
) -> Result<Result<Parsed<M>, ReadError>, WriteError> {
    let mut text = String::new();
    push(document, Output::plain(&mut text))?;
    // The text was just made from a model in memory, so limits would protect nothing.
    let options = ReadOptions::default()
        .keep_unreadable(keep_unreadable)
        .limits(ReadLimits::NONE);
    Ok(read::parse(text.as_bytes(), &options))
}

/// Returns the document in another version, with a finding for each part that the version lacks.
pub fn to_version<M: Message>(document: &M, version: Version) -> Result<Parsed<M>, WriteError> {
    let mut other = document.clone();
    other.set_version(version);
    let mut text = String::new();
    push(&other, Output::plain(&mut text))?;
    // Reads the text by the other version, and drops the parts that this version does not know.
    let mut options = ReadOptions::default()
        .keep_unreadable(true)
        .limits(ReadLimits::NONE);
    options.drop_unknown = true;
    let mut parsed = read::parse::<M>(text.as_bytes(), &options)
        .map_err(|why| WriteError::Unfaithful { why: Some(why) })?;
    // Writing put the elements into the order of the schema.
    parsed
        .findings
        .retain(|finding| !matches!(finding.kind, FindingKind::OutOfOrder { .. }));
    // Removes the places, which are those of a text that the caller never sees.
    for finding in &mut parsed.findings {
        finding.position = None;
    }
    Ok(parsed)
}

/// Writes the document as it is.
pub(super) fn push<M: Message>(document: &M, out: Output<'_>) -> Result<(), WriteError> {
    let (shape, version) = (M::SHAPE, document.version());
    let mut out = out.in_version(shape.known(version));
    out.markup("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    document.extras().with(|kept| {
        kept.field(DOCUMENT.wire, 0, &mut out, |out, kept| {
            out.start(DOCUMENT);
            out.attribute("xmlns", &shape.namespace(version));
            kept.attributes(out);
            out.start_end();
            kept.children(None, out);
            document.write(M::ROOT, out, KeptParts::NONE);
            kept.children(Some((shape.root_name(), 0)), out);
            out.close(DOCUMENT);
        });
    });
    match out.finish() {
        (Some(error), _) => Err(WriteError::Io(error)),
        (None, Some(found)) => Err(WriteError::Character { found }),
        (None, None) => Ok(()),
    }
}
