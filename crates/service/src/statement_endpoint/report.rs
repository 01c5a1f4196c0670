//! The report out of a ledger's page (Specification: "Statement payload").

use crate::ledger::{EntryChannel, LedgerEntry, LedgerPage};
use crate::provider::Options;
use bankrail_camt052::{
    Account, Amount, Balance, BalanceCode, BalanceSubType, BalanceType, BalanceTypeCode, CountAndSum, CountSumAndNet,
    DateOrDateTime, DateTime, Direction, Document, Entry, GroupHeader, NetAmount, NonNegativeDecimal, NumberError,
    OtherAccountId, PlainDecimal, Report, ReportingSource, Summary, WriteError,
};
use bankrail_statement::{AccountId, StatementResponse};
use bankrail_values::{Currency, Decimal, HyphenatedUuid, Money, Timestamp};
use bytes::Bytes;

/// Digits of the seconds' fraction in a report's times.
const FRACTION_DIGITS: u8 = 3;
/// A first guess at an entry's octets, so that the body seldom grows.
const OCTETS_AN_ENTRY: usize = 1024;

/// What is wrong with a page that the ledger answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(super) enum PageError {
    #[error("expected at most {allowed} entries, found {found}")]
    TooManyEntries { allowed: usize, found: usize },
    #[error("expected a next position, found the one of this page again")]
    NoProgress,
    #[error("expected entries in {expected}, found {found}")]
    Currency { expected: Currency, found: String },
    #[error("the amounts cannot be summed exactly")]
    Sum,
    #[error("an amount does not fit the report")]
    Amount(#[from] NumberError),
    #[error("the schema refuses the report at {path}")]
    Schema { path: String },
    #[error("the report cannot be written")]
    Write(#[from] WriteError),
}

/// The report, without what the customer is not to see.
pub(super) fn document(
    options: &Options,
    key: HyphenatedUuid,
    account: &AccountId,
    narrative: bool,
    page: LedgerPage,
    now: Timestamp,
) -> Result<Document, PageError> {
    let currency = page.account.currency;
    let created = created_at(now, options.offset_minutes);
    let mut about = Account::new(bankrail_camt052::AccountId::Other(OtherAccountId::new(account.as_str().into())));
    about.currency = Some(currency.into());
    about.name = page.account.name.as_deref().map(Into::into);

    let report_id = crate::answer::fresh_request_key().to_simple().to_string();
    let mut report = Report::new(report_id.into(), about);
    report.created_at = Some(created.clone());
    let source = page.account.reporting_source.as_deref().unwrap_or(&options.reporting_source);
    report.source = Some(ReportingSource::Proprietary(source.into()));
    report.balances.push(balance(page.balance, currency, page.balance_date)?);
    report.entries = page.entries.into_iter().map(|entry| shown(entry, narrative)).collect();
    report.summary = Some(Box::new(summary(&report.entries, currency)?));

    let mut header = GroupHeader::new(key.to_simple().to_string().into());
    header.created_at = Some(created);
    let mut document = Document::new(vec![report]);
    document.group_header = Some(header);
    match document.check().into_iter().next() {
        Some(finding) => Err(PageError::Schema { path: finding.path }),
        None => Ok(document),
    }
}

/// The answer's JSON around the report. The XML is written once, in its escaped form, to its place.
pub(super) fn write(response: &StatementResponse, document: &Document) -> Result<Bytes, PageError> {
    let entries = document.reports.iter().map(|report| report.entries.len()).sum::<usize>();
    let mut body = String::with_capacity(entries.saturating_mul(OCTETS_AN_ENTRY).saturating_add(4096));
    let shell = response.to_json("");
    // The members before it hold no quotation mark of their own.
    let (head, tail) = shell.split_once(r#""payload":"""#).unwrap_or_default();
    body.push_str(head);
    body.push_str(r#""payload":"#);
    document.write_json_string(&mut body)?;
    body.push_str(tail);
    Ok(body.into())
}

/// Related parties and unstructured text of fast payments are shown only where they were asked for; an ordinary entry
/// keeps its text (Specification: "Request statement", includeNarrative).
fn shown(entry: LedgerEntry, narrative: bool) -> Entry {
    let LedgerEntry { mut entry, channel } = entry;
    if !narrative && channel == EntryChannel::FastPayment {
        for transaction in entry.details.iter_mut().flat_map(|details| &mut details.transactions) {
            transaction.parties = None;
            if let Some(remittance) = &mut transaction.remittance {
                remittance.unstructured.clear();
                if remittance.structured.is_empty() {
                    transaction.remittance = None;
                }
            }
        }
    }
    entry
}

fn created_at(now: Timestamp, offset_minutes: i16) -> DateTime {
    let offset = time::UtcOffset::from_whole_seconds(i32::from(offset_minutes) * 60).unwrap_or(time::UtcOffset::UTC);
    // At the ends of the calendar there may be no such local time.
    let local = now.to_time().checked_to_offset(offset).unwrap_or_else(|| now.to_time());
    DateTime::from_time(local, FRACTION_DIGITS)
}

/// The interim available balance, current, with a direction in place of a sign.
fn balance(amount: Decimal, currency: Currency, date: bankrail_values::Date) -> Result<Balance, PageError> {
    let mut kind = BalanceType::new(BalanceTypeCode::Code(BalanceCode::InterimAvailable));
    kind.sub_kind = Some(BalanceSubType::Proprietary("Current".into()));
    let shown = Money::new(amount.abs(), currency);
    // In the currency's own decimals where that loses nothing.
    let shown = shown.to_minor_units().unwrap_or(shown);
    let mut balance = Balance::new(kind, Amount::try_from(shown)?, direction(amount));
    balance.date = Some(DateOrDateTime::Date(date.into()));
    Ok(balance)
}

fn direction(amount: Decimal) -> Direction {
    if amount.is_sign_negative() && !amount.is_zero() { Direction::Debit } else { Direction::Credit }
}

/// Counts and sums over the entries of the page.
fn summary(entries: &[Entry], currency: Currency) -> Result<Summary, PageError> {
    let (mut credits, mut debits) = (Total::default(), Total::default());
    for entry in entries {
        let found = entry.amount.currency();
        if found.and_then(|code| code.to_currency()) != Some(currency) {
            let found = found.map_or_else(|| "none".to_owned(), ToString::to_string);
            return Err(PageError::Currency { expected: currency, found });
        }
        let total = if entry.direction == Direction::Credit { &mut credits } else { &mut debits };
        total.add(entry.amount.value())?;
    }
    let sum = credits.sum.checked_add(debits.sum).ok_or(PageError::Sum)?;
    let net = credits.sum.checked_sub(debits.sum).ok_or(PageError::Sum)?;
    let mut all = CountSumAndNet::new();
    all.entries = Some(credits.count.saturating_add(debits.count).into());
    all.sum = Some(PlainDecimal::new(sum)?);
    all.net = Some(NetAmount::new(NonNegativeDecimal::new(net.abs())?, direction(net)));
    let mut summary = Summary::new();
    summary.all = Some(all);
    summary.credits = Some(credits.count_and_sum()?);
    summary.debits = Some(debits.count_and_sum()?);
    Ok(summary)
}

#[derive(Default)]
struct Total {
    count: u64,
    sum: Decimal,
}

impl Total {
    fn add(&mut self, amount: Decimal) -> Result<(), PageError> {
        self.count = self.count.saturating_add(1);
        self.sum = self.sum.checked_add(amount).ok_or(PageError::Sum)?;
        Ok(())
    }

    fn count_and_sum(&self) -> Result<CountAndSum, PageError> {
        let mut total = CountAndSum::new();
        total.entries = Some(self.count.into());
        total.sum = Some(PlainDecimal::new(self.sum)?);
        Ok(total)
    }
}
