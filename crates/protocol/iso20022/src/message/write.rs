//! Writing a document that has been checked.

use super::Message;
use super::check;
use super::output::{WriteError, push, read_back};
use crate::finding::Finding;
use crate::output::Output;
use crate::read::ReadError;
use std::io;

bankrail_values::options! {
    /// The form in which a document is written, by default compact.
    ///
    /// ```
    /// use bankrail_iso20022::WriteOptions;
    /// let options = WriteOptions::default().indent(2).schema_valid(true);
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct WriteOptions {
        /// Sets the number of spaces per level, and puts each element on its own line. Default:
        /// none, everything on one line.
        indent(into): Option<u8> = None,
        /// Refuses every document that the schema refuses, not only a document with missing parts.
        /// Default: false.
        schema_valid: bool = false,
        /// Writes a document that lacks a part that the schema demands, or holds an entry that
        /// could not be read ([`keep_unreadable`](crate::ReadOptions::keep_unreadable)), so that
        /// every document that was read can be written. Default: false. Without effect together
        /// with `schema_valid`.
        incomplete: bool = false,
    }
}

/// Writes the document as XML in a string.
pub fn to_xml<M: Message>(document: &M, options: &WriteOptions) -> Result<String, WriteError> {
    refuse(document, options)?;
    let mut text = String::new();
    push(
        document,
        Output::plain(&mut text).indented(options.indent.map(usize::from)),
    )?;
    Ok(text)
}

/// Writes the document as XML in pieces of about 64 kB.
pub fn write_to<M: Message>(
    document: &M,
    sink: &mut dyn io::Write,
    options: &WriteOptions,
) -> Result<(), WriteError> {
    // Checks before the first byte, because a sink cannot take back what it was given.
    refuse(document, options)?;
    let mut text = String::new();
    push(
        document,
        Output::plain(&mut text)
            .indented(options.indent.map(usize::from))
            .with_sink(sink),
    )
}

/// Appends the document to a JSON text as a string literal, quotes included.
pub fn write_json_string<M: Message>(document: &M, json: &mut String) -> Result<(), WriteError> {
    let length = json.len();
    json.push('"');
    let written = append_json_content(document, json);
    json.push('"');
    // Removes a half-written document, which would make the JSON text invalid.
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
    // Nearly every document is plain, which saves reading it again.
    if !document.is_plain(M::SHAPE.known(document.version())) {
        return refuse_kept(document, options);
    }
    let refused = if options.schema_valid {
        check::check_schema(document)
    } else {
        None
    };
    refused.map_or(Ok(()), |finding| Err(invalid(finding)))
}

/// Refuses kept parts that would not be read back unchanged or that the schema refuses. The writer
/// copies them verbatim, so only reading the document again finds this.
#[cold]
fn refuse_kept<M: Message>(document: &M, options: &WriteOptions) -> Result<(), WriteError> {
    let lacks = if options.schema_valid || options.incomplete {
        None
    } else {
        check::first_missing(document)
    };
    if let Some(finding) = lacks {
        return Err(invalid(finding));
    }
    let why = match read_back(document, options.schema_valid || options.incomplete) {
        Ok(Ok(again)) if again.document == *document => {
            let refused = again
                .findings
                .into_iter()
                .find(|finding| options.schema_valid && finding.kind.is_schema());
            return refused.map_or(Ok(()), |finding| {
                Err(invalid(Finding {
                    position: None,
                    ..finding
                }))
            });
        }
        Ok(again) => {
            let why = again.err();
            // An entry that cannot be read may be written on request, and so may a document with
            // missing parts.
            let kept = || matches!(read_back(document, true), Ok(Ok(again)) if again.document == *document);
            let unreadable = why.as_ref().and_then(ReadError::finding).filter(|_| kept());
            unreadable.map_or(WriteError::Unfaithful { why }, invalid)
        }
        Err(error) => error,
    };
    let refused = if options.schema_valid {
        check::check_schema(document)
    } else {
        None
    };
    Err(refused.map_or(why, invalid))
}

fn invalid(finding: Finding) -> WriteError {
    WriteError::Invalid {
        finding: Box::new(finding),
    }
}
