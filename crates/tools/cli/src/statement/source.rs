//! Reads a document piece by piece, from XML or from the JSON answer of the statement endpoint, and
//! the documents of an archive.

use super::MAX_JSON_BYTES;
use crate::failure::{Failure, Outcome, causes};
use crate::input;
use crate::text::shown;
use bankrail::camt052::{
    AnyReader, Archive, ArchiveError, ArchiveLimits, Finding, Position, ReadError, ReadErrorKind,
    ReadOptions, StreamItem,
};
use bankrail::statement::{ReceivedStatement, StatementReply};
use serde::Serialize;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, Cursor, Read, Seek};
use std::path::Path;

/// A document that is being read.
pub(super) struct Source<'a> {
    /// The name of the file for people.
    pub(super) name: String,
    pub(super) reader: AnyReader<Box<dyn BufRead + 'a>>,
    /// The answer around the document, if there is any, without its payload.
    pub(super) answer: Option<ReceivedStatement>,
    is_member: bool,
}

/// A finding or an error of a document, which is printed as a line or as JSON.
#[derive(Serialize)]
pub(super) struct Found {
    file: String,
    line: Option<u64>,
    column: Option<u64>,
    element: String,
    pub(super) finding: String,
}

impl fmt::Display for Found {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.file)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(out, ":{line}:{column}")?;
        }
        if !self.element.is_empty() {
            write!(out, ": {}", self.element)?;
        }
        write!(out, ": {}", self.finding)
    }
}

/// The last item of a document, with the findings since the one before.
pub(super) struct Item {
    /// The error is that of an entry that cannot be read. Reading continues after it.
    pub(super) item: Result<StreamItem, Box<ReadError>>,
    pub(super) findings: Vec<Finding>,
}

/// Reads the documents of all files, with the path of each.
pub(super) fn each(
    files: &[String],
    mut read: impl FnMut(&str, Source<'_>) -> Result<Outcome, Failure>,
) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::Fine;
    for path in files {
        let of_file = each_of(path, ReadOptions::default(), |source| read(path, source));
        outcome = outcome.and(of_file?);
    }
    Ok(outcome)
}

/// Reads the document of a file, or each document of an archive.
///
/// A member of an archive that is refused is logged, and the next one follows.
pub(super) fn each_of(
    path: &str,
    options: ReadOptions,
    mut read: impl FnMut(Source<'_>) -> Result<Outcome, Failure>,
) -> Result<Outcome, Failure> {
    let mut source = input::open(path)?;
    let unreadable = |error| input::unreadable(path, &error);
    let begin = source.fill_buf().map_err(unreadable)?;
    let kinds: [&[u8]; 3] = [b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b"];
    if !kinds.iter().any(|kind| begin.starts_with(kind)) {
        let name = input::name(path).to_owned();
        return read(Source::new(name, Box::new(source), options, false)?);
    }
    if path != input::STANDARD && Path::new(path).is_file() {
        let file = File::open(path).map_err(unreadable)?;
        return members(path, file, options, &mut read);
    }
    // Reads the rest into memory, because a pipe cannot be read again.
    let bytes = input::read_rest(path, source, MAX_JSON_BYTES)?;
    members(path, Cursor::new(&*bytes), options, &mut read)
}

fn members(
    path: &str,
    source: impl Read + Seek,
    options: ReadOptions,
    read: &mut dyn FnMut(Source<'_>) -> Result<Outcome, Failure>,
) -> Result<Outcome, Failure> {
    let path = input::name(path);
    let failed = |name: &str, error: &ArchiveError| {
        let next = "unpack it with another program, or ask the sender for another archive";
        Failure::refused(shown(&format!("{name}: {error}")), next)
    };
    let limits = ArchiveLimits::default();
    let mut archive = Archive::new(source, limits).map_err(|error| failed(path, &error))?;
    let mut outcome = Outcome::Fine;
    while let Some(member) = archive
        .next_member()
        .map_err(|error| failed(path, &error))?
    {
        let name = if member.name.is_empty() {
            path.to_owned()
        } else {
            shown(&format!("{path}/{}", member.name)).into_owned()
        };
        let document = match member.content {
            Err(ArchiveError::Directory) => continue,
            Err(error) => Err(failed(&name, &error)),
            Ok(content) => Source::new(name, content, options, true),
        };
        match document.and_then(&mut *read) {
            Ok(of_member) => outcome = outcome.and(of_member),
            Err(Failure::Refused(line)) => {
                outcome = Outcome::Findings;
                crate::log(line);
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(outcome)
}

impl<'a> Source<'a> {
    /// Opens the document of a file.
    pub(super) fn open(path: &str, options: ReadOptions) -> Result<Self, Failure> {
        let source = input::open(path)?;
        let name = input::name(path).to_owned();
        Self::new(name, Box::new(source), options, false)
    }

    fn new(
        name: String,
        source: Box<dyn BufRead + 'a>,
        options: ReadOptions,
        is_member: bool,
    ) -> Result<Self, Failure> {
        let (xml, answer) = match open(&name, source) {
            // Only this member cannot be read.
            Err(Failure::Unable(line)) if is_member => return Err(Failure::Refused(line)),
            opened => opened?,
        };
        Ok(Self {
            name,
            // A payload is text, even if it declares an encoding.
            reader: AnyReader::new(xml, options.text(answer.is_some())),
            answer,
            is_member,
        })
    }

    /// Reads the next item. Reading ends after an error.
    pub(super) fn next(&mut self) -> Result<Option<Item>, Box<ReadError>> {
        let item = match self.reader.next_item() {
            Ok(None) => return Ok(None),
            Ok(Some(item)) => Ok(item),
            Err(error) if error.unread().is_some() => Err(Box::new(error)),
            Err(error) => return Err(Box::new(error)),
        };
        Ok(Some(Item {
            item,
            findings: self.reader.take_findings(),
        }))
    }

    fn found(&self, at: Option<Position>, element: &str, what: impl ToString) -> Found {
        let inside = if at.is_some() && self.answer.is_some() {
            " (payload)"
        } else {
            ""
        };
        Found {
            file: format!("{}{inside}", self.name),
            line: at.map(|at| at.line),
            column: at.map(|at| at.column),
            element: element.to_owned(),
            finding: what.to_string(),
        }
    }

    /// Reports a finding in a document.
    pub(super) fn finding(&self, finding: &Finding) -> Found {
        self.found(finding.position, &finding.path, &finding.kind)
    }

    /// An error of reading.
    pub(super) fn error(&self, error: &ReadError) -> Found {
        let path = if error.path().is_empty() {
            "/"
        } else {
            error.path()
        };
        self.found(Some(error.position()), path, error.kind())
    }

    /// Reports how many findings of each kind did not fit.
    pub(super) fn further(&self) -> impl Iterator<Item = (Found, u64)> {
        let further = self.reader.further_findings().iter();
        further.map(|(name, count)| {
            (
                self.remark(format!("{count} more of the kind {name}")),
                count,
            )
        })
    }

    /// A finding about the document as a whole.
    pub(super) fn remark(&self, what: impl ToString) -> Found {
        self.found(None, "", what)
    }

    /// The failure of a command that cannot read further.
    pub(super) fn failure(&self, error: &ReadError) -> Failure {
        match error.kind() {
            ReadErrorKind::Io(_) if self.is_member => Failure::refused(
                self.error(error),
                "unpack the archive, or ask for another one",
            ),
            ReadErrorKind::Io(cause) => input::unreadable(&self.name, cause),
            ReadErrorKind::Limit { .. } => {
                Failure::refused(self.error(error), "no document of this kind is that large")
            }
            ReadErrorKind::NotXml { .. } => Failure::refused(
                self.error(error),
                "pass a camt.052, camt.053 or camt.054, unpacked, or the whole answer that it came in",
            ),
            ReadErrorKind::PackedDocument { .. } | ReadErrorKind::OtherEncoding { .. } => {
                Failure::refused(
                    self.error(error),
                    "put each document into a file of its own",
                )
            }
            _ => Failure::refused(
                self.error(error),
                "ask the sender for a camt.052, camt.053 or camt.054",
            ),
        }
    }
}

/// Returns the XML of a document, and the JSON answer around it, if there is one.
fn open<'a>(
    name: &str,
    mut source: Box<dyn BufRead + 'a>,
) -> Result<(Box<dyn BufRead + 'a>, Option<ReceivedStatement>), Failure> {
    const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
    let begin = source
        .fill_buf()
        .map_err(|error| input::unreadable(name, &error))?;
    let begin = begin.strip_prefix(BYTE_ORDER_MARK).unwrap_or(begin);
    let begin = begin.trim_ascii_start();
    // A SWIFT message also begins with a brace.
    if !begin.starts_with(b"{") || begin.starts_with(b"{1:") {
        return Ok((source, None));
    }
    let body = input::read_rest(name, source, MAX_JSON_BYTES)?;
    let refused = |what: String, next| Failure::refused(shown(&format!("{name}: {what}")), next);
    match StatementReply::parse(200, &body) {
        Ok(StatementReply::Statement(mut statement)) => {
            let xml = Cursor::new(std::mem::take(&mut statement.payload).into_bytes());
            Ok((Box::new(xml), Some(statement)))
        }
        Ok(StatementReply::Error(error)) => {
            let code = error.code.as_ref().map_or("no code", |code| code.as_str());
            let title = error.title.as_deref().unwrap_or("no title");
            let what = format!("expected a statement, found the error {code}: {title}");
            Err(refused(what, "repeat the call that got this answer"))
        }
        Err(error) => Err(refused(
            causes(&error),
            "pass the whole body of a statement answer, or its XML",
        )),
    }
}
