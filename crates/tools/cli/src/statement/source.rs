//! A document, read piece by piece, whether it is XML or in the JSON answer of the statement
//! endpoint.

use super::MAX_JSON_BYTES;
use crate::failure::{Failure, causes};
use crate::input;
use crate::text::shown;
use bankrail::camt052::{
    AnyReader, Finding, FurtherFindings, GroupHeader, Position, ReadError, ReadErrorKind,
    ReadOptions, StreamItem,
};
use bankrail::statement::{ReceivedStatement, StatementReply};
use std::io::{BufRead, Cursor};

/// A document that is being read.
pub(crate) struct Source {
    name: String,
    reader: AnyReader<Box<dyn BufRead>>,
    answer: Option<ReceivedStatement>,
}

/// The last item of a document, with the findings since the one before.
pub(crate) struct Read {
    /// The error is that of an entry that cannot be read. Reading goes on behind it.
    pub(crate) item: Result<StreamItem, Box<ReadError>>,
    pub(crate) findings: Vec<Finding>,
}

impl Source {
    /// Opens a document.
    pub(crate) fn open(path: &str, options: ReadOptions) -> Result<Self, Failure> {
        let (xml, answer) = open(path)?;
        Ok(Self {
            name: input::name(path).to_owned(),
            // A payload is text, whatever encoding it declares.
            reader: AnyReader::new(xml, options.text(answer.is_some())),
            answer,
        })
    }

    /// The name of the file for people.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The answer around the document, if there is any, without its payload.
    pub(crate) fn answer(&self) -> Option<&ReceivedStatement> {
        self.answer.as_ref()
    }

    /// The name of the message, such as `camt.052.001.06`, once it is known.
    pub(crate) fn message(&self) -> Option<String> {
        self.reader.message()
    }

    /// The header of the message, once it has been read.
    pub(crate) fn header(&self) -> Option<&GroupHeader> {
        self.reader.header()
    }

    /// Returns the count of findings that did not fit.
    pub(crate) fn further(&self) -> &FurtherFindings {
        self.reader.further_findings()
    }

    /// Reads the next item. Reading ends after an error.
    pub(crate) fn next(&mut self) -> Result<Option<Read>, Box<ReadError>> {
        let item = match self.reader.next_item() {
            Ok(None) => return Ok(None),
            Ok(Some(item)) => Ok(item),
            Err(error) if error.unread().is_some() => Err(Box::new(error)),
            Err(error) => return Err(Box::new(error)),
        };
        Ok(Some(Read {
            item,
            findings: self.reader.take_findings(),
        }))
    }

    /// `FILE:LINE:COLUMN`.
    pub(crate) fn place(&self, at: Position) -> String {
        let inside = if self.answer.is_some() {
            " (payload)"
        } else {
            ""
        };
        format!("{}{inside}:{}:{}", self.name, at.line, at.column)
    }

    /// A finding in one line.
    pub(crate) fn finding(&self, finding: &Finding) -> String {
        let place = finding
            .position
            .map_or_else(|| self.name.clone(), |at| self.place(at));
        format!("{place}: {}: {}", finding.path, finding.kind)
    }

    /// An error of reading in one line.
    pub(crate) fn error(&self, error: &ReadError) -> String {
        let path = if error.path().is_empty() {
            "/"
        } else {
            error.path()
        };
        format!("{}: {path}: {}", self.place(error.position()), error.kind())
    }

    /// The failure of a command that cannot read further.
    pub(crate) fn failure(&self, error: &ReadError) -> Failure {
        match error.kind() {
            ReadErrorKind::Io(cause) => input::unreadable(&self.name, cause),
            ReadErrorKind::Limit { .. } => {
                Failure::refused(self.error(error), "no document of this kind is that large")
            }
            ReadErrorKind::NotXml { .. } => Failure::refused(
                self.error(error),
                "pass a camt.052, camt.053 or camt.054, unpacked, or the whole answer that it came in",
            ),
            _ => Failure::refused(
                self.error(error),
                "ask the sender for a camt.052, camt.053 or camt.054",
            ),
        }
    }
}

/// The XML of a document, and the answer that it came in, if it did.
fn open(path: &str) -> Result<(Box<dyn BufRead>, Option<ReceivedStatement>), Failure> {
    const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
    let mut source = input::open(path)?;
    let begin = source
        .fill_buf()
        .map_err(|error| input::unreadable(path, &error))?;
    let begin = begin.strip_prefix(BYTE_ORDER_MARK).unwrap_or(begin);
    let begin = begin.trim_ascii_start();
    // A SWIFT message begins with a brace, too.
    if !begin.starts_with(b"{") || begin.starts_with(b"{1:") {
        return Ok((Box::new(source), None));
    }
    let body = input::read_rest(path, source, MAX_JSON_BYTES)?;
    let refused = |what: String, next| {
        Failure::refused(shown(&format!("{}: {what}", input::name(path))), next)
    };
    match StatementReply::parse(200, &body) {
        Ok(StatementReply::Statement(mut statement)) => {
            let xml = Cursor::new(std::mem::take(&mut statement.payload).into_bytes());
            Ok((Box::new(xml), Some(statement)))
        }
        Ok(StatementReply::Error(error)) => {
            let code = error.code.as_ref().map_or("no code", |code| code.as_str());
            let title = error.title.as_deref().unwrap_or("no title");
            let what = format!("expected a statement, found the error {code}: {title}");
            Err(refused(what, "repeat the call that was answered so"))
        }
        Err(error) => Err(refused(
            causes(&error),
            "pass the whole body of a statement answer, or its XML",
        )),
    }
}
