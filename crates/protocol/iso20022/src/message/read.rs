//! Reading a whole document.

use super::{Documents, Message};
use crate::finding::{Finding, FurtherFindings};
use crate::read::{
    Around, Cursor, CursorOver, Halt, ReadError, ReadOptions, Shape, TextTokens, plain_text,
};
use std::io::BufRead;

/// A document and its findings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parsed<M> {
    /// The document.
    pub document: M,
    /// The findings, in the order of the document; disagreements of counts and sums come last.
    pub findings: Vec<Finding>,
    /// The further findings of each kind beyond those that
    /// [`ReadLimits::max_findings`](crate::ReadLimits::max_findings) has room for.
    pub further_findings: FurtherFindings,
    /// The parts around the document and before it; `None` if there is neither a wrapper nor an
    /// application header.
    pub around: Option<Box<Around>>,
}

impl<M> Parsed<M> {
    /// Replaces the document by the result of a function, and keeps everything else.
    #[must_use]
    pub fn map<T>(self, change: impl FnOnce(M) -> T) -> Parsed<T> {
        Parsed {
            document: change(self.document),
            findings: self.findings,
            further_findings: self.further_findings,
            around: self.around,
        }
    }
}

/// A document in memory: text, whose declared encoding is ignored, or bytes, which are decoded by
/// the encoding that they declare.
pub trait Source: AsRef<[u8]> {
    /// True for text.
    const IS_TEXT: bool;
}

impl Source for str {
    const IS_TEXT: bool = true;
}

impl Source for String {
    const IS_TEXT: bool = true;
}

impl Source for [u8] {
    const IS_TEXT: bool = false;
}

impl Source for Vec<u8> {
    const IS_TEXT: bool = false;
}

impl<const BYTES: usize> Source for [u8; BYTES] {
    const IS_TEXT: bool = false;
}

impl<S: Source + ?Sized> Source for &S {
    const IS_TEXT: bool = S::IS_TEXT;
}

/// Returns the options for a document in memory.
pub fn options_for<S: Source>(_: &S, options: &ReadOptions) -> ReadOptions {
    if S::IS_TEXT {
        options.text(true)
    } else {
        *options
    }
}

/// Reads a document from text or bytes.
pub fn parse<M: Message>(bytes: &[u8], options: &ReadOptions) -> Result<Parsed<M>, ReadError> {
    in_memory(bytes, options, &[M::SHAPE], one)
}

/// Reads a document from a source.
pub fn read<M: Message>(
    source: impl BufRead,
    options: &ReadOptions,
) -> Result<Parsed<M>, ReadError> {
    one(Documents::open(source, options, &[M::SHAPE]).erased())
}

/// Reads the documents in a text or bytes, each of which is one of several messages, and skips the
/// wrappers around them. `each` is called after the start tag of a document and reads the rest of
/// the document.
pub fn parse_any(
    bytes: &[u8],
    options: &ReadOptions,
    shapes: &[&'static Shape],
    each: &mut dyn FnMut(&mut Cursor<'_>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    in_memory(bytes, options, shapes, |cursor| {
        while cursor.find_document(shapes)? {
            each(cursor)?;
        }
        Ok(())
    })
}

/// Reads a text or bytes. A text in memory is not copied, and its lines and columns are counted
/// only for findings.
fn in_memory<T>(
    bytes: &[u8],
    options: &ReadOptions,
    shapes: &[&'static Shape],
    read: impl FnOnce(&mut Cursor<'_>) -> T,
) -> T {
    match plain_text(bytes, options) {
        Some(text) => read(CursorOver::new(TextTokens::new(text), *options, shapes).erased()),
        None => read(Documents::open(bytes, options, shapes).erased()),
    }
}

/// Reads the only document of an input.
fn one<M: Message>(cursor: &mut Cursor<'_>) -> Result<Parsed<M>, ReadError> {
    match cursor.find_message(&[M::SHAPE]) {
        Ok(()) => finish(cursor),
        Err(halt) => Err(cursor.error(halt)),
    }
}

/// Reads a document from the end of its first start tag on.
pub fn finish<M: Message>(cursor: &mut Cursor<'_>) -> Result<Parsed<M>, ReadError> {
    match document(cursor) {
        Ok(document) => {
            let findings = cursor.take_findings();
            Ok(Parsed {
                document,
                findings,
                further_findings: cursor.take_further_findings(),
                around: cursor.take_around(),
            })
        }
        Err(halt) => Err(cursor.error(halt)),
    }
}

fn document<M: Message>(cursor: &mut Cursor<'_>) -> Result<M, Halt> {
    cursor.hold_document(size_of::<Parsed<M>>() * 2)?;
    cursor.open_message()?;
    let mut document = M::read(cursor)?;
    document.extras_mut().extend(cursor.close_document()?);
    // Refuses at the end, so that the error carries all findings of the document.
    cursor.refuse_findings()?;
    Ok(document)
}

/// Reads a document with or without the fast reader, and returns how many elements the fast reader
/// took and declined, for tests.
pub fn read_counting<M: Message>(
    source: impl BufRead,
    options: &ReadOptions,
    fast: bool,
) -> (Result<Parsed<M>, ReadError>, usize, usize) {
    count(Documents::open(source, options, &[M::SHAPE]).erased(), fast)
}

/// Does the same as [`read_counting`] for a text in memory whose characters XML allows.
pub fn parse_counting<M: Message>(
    text: &str,
    options: &ReadOptions,
    fast: bool,
) -> (Result<Parsed<M>, ReadError>, usize, usize) {
    let tokens = TextTokens::new(text);
    count(
        CursorOver::new(tokens, *options, &[M::SHAPE]).erased(),
        fast,
    )
}

fn count<M: Message>(
    cursor: &mut Cursor<'_>,
    fast: bool,
) -> (Result<Parsed<M>, ReadError>, usize, usize) {
    cursor.set_fast(fast);
    let outcome = one(cursor);
    let (taken, declined) = cursor.scanned();
    (outcome, taken, declined)
}
