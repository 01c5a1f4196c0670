//! `bankrail statement merge`.

use super::Merge;
use super::row::{account_text, date, signed};
use super::source::read_whole;
use crate::failure::{Failure, causes};
use crate::input;
use crate::output::{Destination, Output};
use crate::text::{counted, shown, shown_lines};
use bankrail::camt052::{
    Balance, BalanceCode, BalanceTypeCode, DateTime, Document, Entry, Report, WriteError, WriteOptions, summary_of,
};
use bankrail::statement::{EntryIdentity, EntryKey, PageWalk, ReceivedPage};
use bankrail::values::HyphenatedUuid;
use std::collections::HashMap;
use std::io::Write as _;
use time::{OffsetDateTime, UtcOffset};

pub(crate) fn run(arguments: &Merge, output: &mut Output) -> Result<(), Failure> {
    let mut merged = Merged::default();
    for path in &arguments.to.files.files {
        let (document, page) = read_whole(path)?;
        merged.add(input::name(path), document, page, arguments.pages)?;
    }
    if merged.more {
        crate::log("the last answer says that more transactions follow: the document ends without them");
    }
    let to = Destination::open(arguments.to.output.as_deref(), output)?;
    let options = WriteOptions::default().indent(arguments.indent.then_some(2)).incomplete(true);
    merged.write(to, options)
}

/// What has been read so far.
#[derive(Default)]
pub(super) struct Merged {
    newest: Option<Document>,
    /// Its number and currency.
    account: Option<String>,
    entries: Vec<Entry>,
    balances: Vec<(Balance, Option<OffsetDateTime>)>,
    periods_differ: bool,
    /// How many entries of each key have been written.
    known: HashMap<EntryKey, u32>,
    walk: Option<PageWalk>,
    left_out: u64,
    /// The last answer says that more follows.
    more: bool,
}

impl Merged {
    /// Adds a document, which is the next page of the one before or overlaps with it.
    pub(super) fn add(
        &mut self,
        name: &str,
        mut document: Document,
        page: Option<ReceivedPage>,
        pages: bool,
    ) -> Result<(), Failure> {
        let mut entries = Vec::new();
        for report in &mut document.reports {
            self.same_account(name, report)?;
            let at = instant(report.created_at.as_ref());
            self.balances.extend(std::mem::take(&mut report.balances).into_iter().map(|balance| (balance, at)));
            entries.append(&mut report.entries);
        }
        let identities: Vec<EntryIdentity> = entries.iter().map(EntryIdentity::of).collect();
        // A page that says that more follows is continued by the next file.
        let mut walk = self.walk.take().unwrap_or_default();
        let more = matches!(page, Some(ReceivedPage::More { .. } | ReceivedPage::MoreWithoutCursor));
        self.more = more;
        let pending = walk.receive(&ReceivedPage::Last, &identities);
        for ((entry, seen), identity) in entries.into_iter().zip(pending.entries()).zip(&identities) {
            let known = self.known.entry(seen.key).or_default();
            if seen.occurrence > *known {
                *known = seen.occurrence;
                self.entries.push(entry);
            } else {
                self.left_out += 1;
                left_out(name, &entry, identity.has_reference);
            }
        }
        // The files end the walk, not their cursors.
        let _ = pending.stored();
        self.walk = (pages || more).then_some(walk);
        let created =
            |document: &Document| document.reports.iter().filter_map(|r| instant(r.created_at.as_ref())).max();
        if let Some(newest) = &self.newest {
            let period = |document: &Document| document.reports.first().and_then(|report| report.period.clone());
            self.periods_differ |= period(newest) != period(&document);
            if created(&document) < created(newest) {
                return Ok(());
            }
        }
        self.newest = Some(document);
        Ok(())
    }

    /// Refuses a report of another account, or in another currency.
    fn same_account(&mut self, name: &str, report: &Report) -> Result<(), Failure> {
        let currency = report.account.currency.as_ref().map_or_else(String::new, |currency| format!(" in {currency}"));
        let found = format!("{}{currency}", account_text(&report.account.id));
        let expected = self.account.get_or_insert_with(|| found.clone());
        if *expected == found {
            return Ok(());
        }
        let what = format!("{name}: expected the account {expected}, found {found}");
        Err(Failure::refused(shown(&what), "merge the documents of each account by themselves"))
    }

    /// Writes everything as one document, and says on standard error how much it is.
    pub(super) fn write(self, mut to: Destination<'_>, options: WriteOptions) -> Result<(), Failure> {
        let (kept, left_out) = (self.entries.len(), self.left_out);
        let document = self.finish()?;
        let failed = |error| match error {
            WriteError::Io(error) => error.into(),
            error => Failure::refused(causes(&error), "mend the document it comes from"),
        };
        if to.is_terminal() {
            to.write_all(shown_lines(&document.to_xml_with(&options).map_err(failed)?).as_bytes())?;
        } else {
            document.write_to(&mut to, &options).map_err(failed)?;
        }
        to.write_all(b"\n")?;
        to.finish()?;
        let kept = counted(kept, "entry", "entries");
        crate::log(format_args!("{kept} written, {left_out} left out as written before"));
        Ok(())
    }

    fn finish(self) -> Result<Document, Failure> {
        let nothing = || Failure::refused("expected at least one report, found none", "name a document with a report");
        let mut document = self.newest.ok_or_else(nothing)?;
        document.reports.truncate(1);
        let report = document.reports.first_mut().ok_or_else(nothing)?;
        let summary = summary_of(&self.entries).ok_or_else(|| {
            Failure::refused(
                "the entries cannot be summed: one is neither credit nor debit, or the sum has too many digits",
                "run bankrail statement check on each file",
            )
        })?;
        report.id = HyphenatedUuid::random().to_simple().to_string().into();
        report.pagination = None;
        report.summary = Some(Box::new(summary));
        report.balances = balances(self.balances);
        report.entries = self.entries;
        if self.periods_differ {
            report.period = None;
        }
        if let Some(header) = &mut document.group_header {
            header.message_id = HyphenatedUuid::random().to_simple().to_string().into();
            header.pagination = None;
        }
        Ok(document)
    }
}

/// Says on standard error which entry is left out, and why.
fn left_out(name: &str, entry: &Entry, by_reference: bool) {
    let amount = signed(entry.amount.value(), &entry.direction);
    let reference = entry.references().find(|(kind, _)| by_reference && *kind == "AcctSvcrRef");
    let why = reference.map_or("the same content".to_owned(), |(_, text)| format!("the reference {text}"));
    let day = date(entry.booking_date.as_ref());
    crate::log(format_args!("{name}: left out {amount} of {day}: {why} was there before"));
}

/// Of each kind the newest balance, of opening balances the oldest, in the order of the documents.
fn balances(all: Vec<(Balance, Option<OffsetDateTime>)>) -> Vec<Balance> {
    let mut kept: Vec<(Balance, Option<OffsetDateTime>)> = Vec::new();
    for (balance, at) in all {
        match kept.iter_mut().find(|(other, _)| other.kind == balance.kind) {
            None => kept.push((balance, at)),
            Some(other) if is_opening(&balance) == (at < other.1) => *other = (balance, at),
            Some(_) => {}
        }
    }
    kept.into_iter().map(|(balance, _)| balance).collect()
}

fn is_opening(balance: &Balance) -> bool {
    matches!(
        &balance.kind.code,
        BalanceTypeCode::Code(
            BalanceCode::OpeningBooked | BalanceCode::OpeningAvailable | BalanceCode::PreviouslyClosedBooked
        )
    )
}

/// When a report was made. A time without an offset is taken for UTC.
fn instant(at: Option<&DateTime>) -> Option<OffsetDateTime> {
    at?.to_time(UtcOffset::UTC)
}
