//! A document, read part by part, whether it is XML or in the JSON answer of the statement endpoint.

use super::MOST_JSON;
use super::row::account_text;
use crate::failure::{Failure, causes};
use crate::input;
use crate::text::{counted, shown};
use bankrail::camt052::{
    Document, Entry, EntryReader, Finding, FurtherFindings, GroupHeader, Position, ReadError, ReadErrorKind,
    ReadOptions, Report, StreamItem,
};
use bankrail::statement::{ReceivedPage, ReceivedStatement, ReplyFinding, StatementReply};
use std::io::{BufRead, Cursor};
use zeroize::Zeroizing;

/// A document that is being read.
pub(crate) struct Source {
    name: String,
    reader: EntryReader<Box<dyn BufRead>>,
    answer: Option<Answer>,
}

/// What the JSON around a document says.
pub(crate) struct Answer {
    pub(crate) account_id: String,
    pub(crate) request_key: String,
    pub(crate) findings: Vec<ReplyFinding>,
}

/// A part of a document, and what was found while it was read.
pub(crate) struct Read {
    pub(crate) part: Part,
    pub(crate) findings: Vec<Finding>,
}

pub(crate) enum Part {
    /// A report begins: what stands before its entries.
    Start(Box<Report>),
    Entry(Box<Entry>),
    /// An entry that cannot be read.
    Unread(Box<ReadError>),
    /// A report ends.
    End,
    /// The document ends.
    Document,
}

impl Source {
    /// Opens a document.
    pub(crate) fn open(path: &str, options: ReadOptions) -> Result<Self, Failure> {
        let mut source = input::open(path)?;
        let begin = source.fill_buf().map_err(|error| input::unreadable(path, &error))?;
        let begin = begin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(begin);
        let is_json = begin.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        if !is_json {
            let reader = EntryReader::with_options(Box::new(source) as Box<dyn BufRead>, options);
            return Ok(Self { name: input::name(path).to_owned(), reader, answer: None });
        }
        let body = input::read_rest(path, source, MOST_JSON)?;
        let ReceivedStatement { account_id, payload, request_key, findings, .. } = answer(path, body)?;
        let answer = Answer { account_id, request_key: request_key.to_string(), findings };
        let reader =
            EntryReader::with_options(Box::new(Cursor::new(payload.into_bytes())) as Box<dyn BufRead>, options);
        Ok(Self { name: input::name(path).to_owned(), reader, answer: Some(answer) })
    }

    /// The name of the file for people.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What the JSON around the document says, if there is any.
    pub(crate) fn answer(&self) -> Option<&Answer> {
        self.answer.as_ref()
    }

    /// The header of the message, once it has been read.
    pub(crate) fn header(&self) -> Option<&GroupHeader> {
        self.reader.group_header()
    }

    /// How many findings there was no room for.
    pub(crate) fn further(&self) -> &FurtherFindings {
        self.reader.further_findings()
    }

    /// The next part. After an error there is nothing more.
    pub(crate) fn next(&mut self) -> Result<Option<Read>, Box<ReadError>> {
        let part = match self.reader.next_item() {
            Ok(None) => return Ok(None),
            Ok(Some(StreamItem::ReportStart(report))) => Part::Start(report),
            Ok(Some(StreamItem::Entry(entry))) => Part::Entry(entry),
            Ok(Some(StreamItem::ReportEnd(_))) => Part::End,
            Ok(Some(_)) => Part::Document,
            Err(error) if error.unread().is_some() => Part::Unread(Box::new(error)),
            Err(error) => return Err(Box::new(error)),
        };
        Ok(Some(Read { part, findings: self.reader.take_findings() }))
    }

    /// `FILE:LINE:COLUMN`.
    pub(crate) fn place(&self, at: Position) -> String {
        let inside = if self.answer.is_some() { " (payload)" } else { "" };
        format!("{}{inside}:{}:{}", self.name, at.line, at.column)
    }

    /// A finding in one line.
    pub(crate) fn finding(&self, finding: &Finding) -> String {
        let place = finding.position.map_or_else(|| self.name.clone(), |at| self.place(at));
        format!("{place}: {}: {}", finding.path, finding.kind)
    }

    /// An error of reading in one line.
    pub(crate) fn error(&self, error: &ReadError) -> String {
        let path = if error.path().is_empty() { "/" } else { error.path() };
        format!("{}: {path}: {}", self.place(error.position()), error.kind())
    }

    /// The end of a command that cannot read on.
    pub(crate) fn failure(&self, error: &ReadError) -> Failure {
        match error.kind() {
            ReadErrorKind::Io(cause) => input::unreadable(&self.name, cause),
            ReadErrorKind::Limit { .. } => {
                Failure::refused(self.error(error), "no document of this kind is that large")
            }
            _ => Failure::refused(self.error(error), "ask the sender for a camt.052.001.06 document"),
        }
    }
}

/// Reads the JSON answer of the statement endpoint.
fn answer(path: &str, body: Zeroizing<Vec<u8>>) -> Result<ReceivedStatement, Failure> {
    let name = input::name(path);
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&body);
    match StatementReply::parse(200, body) {
        Ok(StatementReply::Statement(statement)) => Ok(statement),
        Ok(StatementReply::Error(error)) => {
            let code = error.code.as_ref().map_or("no code", |code| code.as_str());
            let title = error.title.as_deref().unwrap_or("no title");
            let what = format!("{name}: expected a statement, found the error {code}: {title}");
            Err(Failure::refused(shown(&what), "repeat the call that was answered so"))
        }
        Err(error) => {
            let what = format_args!("{name}: {}", causes(&error)).to_string();
            Err(Failure::refused(what, "pass the whole body of a statement answer, or its XML"))
        }
    }
}

/// A whole document, for what needs all of it at once.
pub(crate) fn read_whole(path: &str) -> Result<(Document, Option<ReceivedPage>), Failure> {
    let mut source = input::open(path)?;
    let begin = source.fill_buf().map_err(|error| input::unreadable(path, &error))?;
    let begin = begin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(begin);
    let (read, page, asked) = if begin.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{') {
        let statement = answer(path, input::read_rest(path, source, MOST_JSON)?)?;
        (statement.document(), Some(statement.page), Some(statement.account_id))
    } else {
        (Document::read_with(source, &ReadOptions::default()), None, None)
    };
    let name = input::name(path);
    let failed = |error: ReadError| match error.kind() {
        ReadErrorKind::Io(cause) => input::unreadable(path, cause),
        _ => Failure::refused(format_args!("{name}: {error}"), "merge documents that can be read whole"),
    };
    let parsed = read.map_err(failed)?;
    let mut accounts = parsed.document.reports.iter().map(|report| account_text(&report.account.id));
    if let Some(asked) = asked
        && let Some(found) = accounts.find(|found| *found != asked)
    {
        let what = format!("{name}: expected the account of the answer, {asked}, found {found}");
        return Err(Failure::refused(shown(&what), "repeat the call that was answered so"));
    }
    let found = u64::try_from(parsed.findings.len()).unwrap_or(u64::MAX);
    let found = found.saturating_add(parsed.further_findings.total());
    if found > 0 {
        let found = counted(found, "finding", "findings");
        crate::log(format_args!("{name}: {found}; bankrail statement check lists them"));
    }
    Ok((parsed.document, page))
}
