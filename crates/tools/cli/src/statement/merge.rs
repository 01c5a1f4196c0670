//! `bankrail statement merge`.

use super::source::Source;
use super::{Merge, account_text, signed, text};
use crate::failure::{Failure, causes};
use crate::input;
use crate::output::{Destination, Output};
use crate::text::{counted, shown, shown_lines};
use bankrail::camt052::{
    Balance, DateTimePeriod, Document, Entry, IsoDateTime, ReadError, ReadErrorKind, ReadOptions,
    Report, RunningSummary, StreamItem, WriteOptions,
};
use bankrail::statement::{EntryIdentity, EntryKey, ReceivedNextPage};
use bankrail::values::HyphenatedUuid;
use std::collections::HashMap;
use std::io::Write as _;
use time::{OffsetDateTime, UtcOffset};

pub(super) fn run(arguments: &Merge, output: &mut Output) -> Result<(), Failure> {
    let to = Destination::open(arguments.to.output.as_deref(), output)?;
    let mut merged = Merged::new(arguments.pages);
    for path in &arguments.to.files.files {
        merged.read(path)?;
    }
    if merged.more {
        crate::log(
            "the last answer says that more transactions follow: the document ends without them",
        );
    }
    merged.write(to, arguments.indent)
}

/// The documents that were read so far, as one.
#[derive(Default)]
pub(super) struct Merged {
    pages: bool,
    newest: Option<Newest>,
    /// The number and the currency of the account.
    account: Option<String>,
    entries: Vec<Entry>,
    summary: RunningSummary,
    balances: Vec<(Balance, Option<OffsetDateTime>)>,
    periods_differ: bool,
    counts: HashMap<EntryKey, KeyCounts>,
    /// The number of documents that have begun.
    documents: u32,
    /// The number of the document with the first page of the statement whose next page is read.
    first_page: u32,
    left_out: u64,
    /// True if the last answer promises more entries.
    more: bool,
}

/// The document with the newest report, without its entries, and the time at which that was made.
struct Newest {
    document: Document,
    created: Option<OffsetDateTime>,
}

/// The counts of the entries with one key.
#[derive(Default)]
struct KeyCounts {
    kept: u32,
    /// The number of entries that the statement has listed up to `document`.
    counted: u32,
    /// The number of the last document that listed such an entry.
    document: u32,
}

/// A document while it is read.
struct OpenDocument {
    name: String,
    report: Option<Report>,
    created: Option<OffsetDateTime>,
}

impl Merged {
    /// Begins without a document. With `pages`, all documents are the pages of one statement.
    pub(super) fn new(pages: bool) -> Self {
        Self {
            pages,
            ..Self::default()
        }
    }

    /// Adds the document of a file, entry by entry.
    fn read(&mut self, path: &str) -> Result<(), Failure> {
        let mut source = Source::open(path, ReadOptions::default())?;
        let mut part = self.begin(source.name.clone());
        let mut findings = 0;
        let refused = |error: &ReadError| match error.kind() {
            ReadErrorKind::Io(cause) => input::unreadable(path, cause),
            _ => Failure::refused(
                format_args!("{}: {error}", input::name(path)),
                "merge documents that can be read whole",
            ),
        };
        let mut document = None;
        while let Some(read) = source.next().map_err(|error| refused(&error))? {
            findings += u64::try_from(read.findings.len()).unwrap_or(u64::MAX);
            match read.item.map_err(|error| refused(&error))? {
                StreamItem::Start(report) => {
                    if let Some(found) = source
                        .reader
                        .message()
                        .filter(|found| found != "camt.052.001.06")
                    {
                        let name = &source.name;
                        return Err(Failure::refused(
                            format_args!("{name}: expected a camt.052.001.06, found a {found}"),
                            "merge documents of this message and version only",
                        ));
                    }
                    // Entries are repeated from one document to the next, not within one.
                    if source.reader.documents() > 1 {
                        let name = &source.name;
                        return Err(Failure::refused(
                            format_args!("{name}: expected one document, found several"),
                            "pass each document in a file of its own",
                        ));
                    }
                    let found = account_text(&report.account.id);
                    if let Some(asked) = source
                        .answer
                        .as_ref()
                        .map(|answer| &answer.account_id)
                        .filter(|id| **id != found)
                    {
                        let name = &part.name;
                        let what = format!(
                            "{name}: expected the account of the answer, {asked}, found {found}"
                        );
                        return Err(Failure::refused(
                            shown(&what),
                            "repeat the call that got this answer",
                        ));
                    }
                    self.same_account(&part, &report)?;
                }
                StreamItem::Entry(entry) => self.entry(&part, *entry),
                StreamItem::End(report) => self.report(&mut part, *report),
                StreamItem::MessageEnd(message) => document = Some(*message),
                _ => {}
            }
        }
        findings += source.reader.further_findings().total();
        if findings > 0 {
            let found = counted(findings, "finding", "findings");
            crate::log(format_args!(
                "{}: {found}; bankrail statement check lists them",
                part.name
            ));
        }
        if let Some(document) = document {
            self.end(
                part,
                document,
                source.answer.as_ref().map(|answer| &answer.next_page),
            );
        }
        Ok(())
    }

    /// Adds a page that has been read whole.
    pub(super) fn page(
        &mut self,
        mut document: Document,
        page: &ReceivedNextPage,
    ) -> Result<(), Failure> {
        let mut part = self.begin(format!("page {}", self.documents + 1));
        for mut report in std::mem::take(&mut document.reports) {
            self.same_account(&part, &report)?;
            for entry in std::mem::take(&mut report.entries) {
                self.entry(&part, entry);
            }
            self.report(&mut part, report);
        }
        self.end(part, document, Some(page));
        Ok(())
    }

    /// Begins a document, which is the next page of the one before or overlaps with it.
    fn begin(&mut self, name: String) -> OpenDocument {
        self.documents += 1;
        // The next document continues a page that promises more.
        if !self.pages && !self.more {
            self.first_page = self.documents;
        }
        OpenDocument {
            name,
            report: None,
            created: None,
        }
    }

    /// Refuses a report of another account, or in another currency.
    fn same_account(&mut self, part: &OpenDocument, report: &Report) -> Result<(), Failure> {
        let currency = report
            .account
            .currency
            .as_ref()
            .map_or_else(String::new, |currency| format!(" in {currency}"));
        let found = format!("{}{currency}", account_text(&report.account.id));
        let expected = self.account.get_or_insert_with(|| found.clone());
        if *expected == found {
            return Ok(());
        }
        let what = format!(
            "{}: expected the account {expected}, found {found}",
            part.name
        );
        Err(Failure::refused(
            shown(&what),
            "merge the documents of each account separately",
        ))
    }

    /// Keeps an entry unless it repeats a kept one: the statement has listed no more entries of its
    /// key than are kept. Entries with a reference are counted on each page, others over all pages
    /// of a statement.
    fn entry(&mut self, part: &OpenDocument, entry: Entry) {
        let identity = EntryIdentity::of(&entry);
        let counts = self.counts.entry(identity.key).or_default();
        if counts.document
            < if identity.has_reference {
                self.documents
            } else {
                self.first_page
            }
        {
            counts.counted = 0;
        }
        counts.document = self.documents;
        counts.counted = counts.counted.saturating_add(1);
        if counts.counted <= counts.kept {
            self.left_out += 1;
            left_out(&part.name, &entry, identity.has_reference);
            return;
        }
        counts.kept = counts.counted;
        self.summary.add(&entry.direction, entry.amount.value());
        self.entries.push(entry);
    }

    /// Adds a report without its entries.
    fn report(&mut self, part: &mut OpenDocument, mut report: Report) {
        let at = instant(report.created_at.as_ref());
        part.created = part.created.max(at);
        std::mem::take(&mut report.balances)
            .into_iter()
            .for_each(|balance| self.balance(balance, at));
        part.report.get_or_insert(report);
    }

    /// Keeps the newest balance of each kind, and the oldest of each kind of opening balance, in
    /// the order of the documents.
    fn balance(&mut self, balance: Balance, at: Option<OffsetDateTime>) {
        match self
            .balances
            .iter_mut()
            .find(|(other, _)| other.kind == balance.kind)
        {
            None => self.balances.push((balance, at)),
            Some(other) if balance.is_opening() == (at < other.1) => *other = (balance, at),
            Some(_) => {}
        }
    }

    /// Ends a document.
    fn end(&mut self, part: OpenDocument, mut document: Document, page: Option<&ReceivedNextPage>) {
        self.more = matches!(
            page,
            Some(ReceivedNextPage::At { .. } | ReceivedNextPage::WithoutCursor)
        );
        document.reports = part.report.into_iter().collect();
        let created = part.created;
        if let Some(newest) = &self.newest {
            self.periods_differ |= period(&newest.document) != period(&document);
            if created < newest.created {
                return;
            }
        }
        self.newest = Some(Newest { document, created });
    }

    /// Writes everything as one document, and reports the numbers on standard error.
    pub(super) fn write(self, mut to: Destination<'_>, indent: bool) -> Result<(), Failure> {
        let nothing = || {
            Failure::refused(
                "expected at least one report, found none",
                "name a document with a report",
            )
        };
        let Newest { mut document, .. } = self.newest.ok_or_else(nothing)?;
        let report = document.reports.first_mut().ok_or_else(nothing)?;
        let summary = self.summary.finish().ok_or_else(|| {
            Failure::refused(
                "the entries cannot be summed: one is neither credit nor debit, or the sum has too many digits",
                "run bankrail statement check on each file",
            )
        })?;
        report.id = Some(HyphenatedUuid::random().to_simple().to_string().into());
        report.pagination = None;
        report.summary = Some(Box::new(summary));
        report.balances = self
            .balances
            .into_iter()
            .map(|(balance, _)| balance)
            .collect();
        let kept = counted(self.entries.len(), "entry", "entries");
        report.entries = self.entries;
        if self.periods_differ {
            report.period = None;
        }
        if let Some(header) = &mut document.group_header {
            header.message_id = HyphenatedUuid::random().to_simple().to_string().into();
            header.pagination = None;
        }
        let options = WriteOptions::default()
            .indent(indent.then_some(2))
            .incomplete(true);
        let xml = document
            .to_xml_with(&options)
            .map_err(|error| Failure::refused(causes(&error), "mend the document"))?;
        let xml = if to.is_terminal() {
            shown_lines(&xml)
        } else {
            xml.into()
        };
        writeln!(to, "{xml}")?;
        to.finish()?;
        crate::log(format_args!(
            "{kept} written, {} left out as written before",
            self.left_out
        ));
        Ok(())
    }
}

/// Returns the period that the first report of a document covers.
fn period(document: &Document) -> Option<&DateTimePeriod> {
    document.reports.first()?.period.as_ref()
}

/// Reports an entry that is left out on standard error, with the reason.
fn left_out(name: &str, entry: &Entry, by_reference: bool) {
    let amount = signed(entry.amount.value(), &entry.direction);
    let reference = entry
        .references()
        .find(|(kind, _)| by_reference && *kind == "AcctSvcrRef");
    let why = reference.map_or("the same content".to_owned(), |(_, text)| {
        format!("the reference {text}")
    });
    let day = text(entry.booking_date.as_ref());
    crate::log(format_args!(
        "{name}: left out {amount} of {day}: {why} came before"
    ));
}

/// Returns the time at which a report was made. A time without an offset is assumed to be in UTC.
fn instant(at: Option<&IsoDateTime>) -> Option<OffsetDateTime> {
    at?.to_time(UtcOffset::UTC)
}
