//! The report made from a ledger's page (Specification: "Statement payload").

use crate::ProviderOptions;
use crate::ledger::{LedgerEntry, LedgerPage};
use crate::time_zone::ReportTimeZone;
use bankrail_camt052::{BuildError, DateTime, Document, Entry, ReportBuilder, ReportIds, WriteError};
use bankrail_statement::{AccountId, AccountKind, StatementResponse, apply_narrative};
use bankrail_values::{HyphenatedUuid, Money, SimpleUuid, Timestamp};
use bytes::Bytes;
use std::fmt;
use uuid::Uuid;

/// The digits after the seconds in a report's times.
const FRACTION_DIGITS: u8 = 3;
/// An estimate of an entry's length in bytes, so that the body is seldom reallocated.
const BYTES_AN_ENTRY: usize = 1024;

/// What is wrong with a page of the ledger.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    #[error("expected at most {allowed} entries, found {found}")]
    TooManyEntries { allowed: usize, found: usize },
    #[error("expected a new position, found that of this page again")]
    NoProgress,
    #[error("expected entries on a page that is not the last, found none")]
    NothingBeforeMore,
    #[error("the report cannot be built")]
    Build(#[from] BuildError),
    #[error("the report cannot be written")]
    Write(#[from] WriteError),
}

impl PageError {
    /// What is wrong and in which element, for the log: no text of the ledger's.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::TooManyEntries { .. } | Self::NoProgress | Self::NothingBeforeMore => self.to_string(),
            Self::Build(BuildError::Invalid { path, kind }) => format!("{self}: {path}: {}", variant(kind)),
            Self::Build(error) => format!("{self}: {}", variant(error)),
            Self::Write(WriteError::Invalid { finding }) => {
                format!("{self}: {}: {}", finding.path, variant(&finding.kind))
            }
            Self::Write(error) => format!("{self}: {}", variant(error)),
        }
    }
}

/// The name of an error's variant, without its fields.
fn variant(error: &impl fmt::Debug) -> String {
    format!("{error:?}").chars().take_while(char::is_ascii_alphanumeric).collect()
}

/// The report, without what the customer may not see.
pub(crate) fn document(
    options: &ProviderOptions,
    key: HyphenatedUuid,
    account: &AccountId,
    narrative: bool,
    page: LedgerPage,
    now: Timestamp,
) -> Result<Document, PageError> {
    let balance = Money::new(page.balance, page.account.currency);
    let mut report = ReportBuilder::new(
        // Default: the message id is the request key without its hyphens.
        ReportIds { message: key.to_simple(), report: SimpleUuid::from(Uuid::new_v4()) },
        page.account.reporting_source.as_deref().unwrap_or(&options.reporting_source),
        created_at(now, &options.report_time_zone),
        account.as_str(),
        // With the currency's number of decimals, if no digit is lost.
        balance.rescale_to_minor_units().unwrap_or(balance),
        page.balance_date,
    )
    .entries(page.entries.into_iter().map(|entry| shown(entry, page.account.kind, narrative)));
    if let Some(name) = page.account.name {
        report = report.account_name(name);
    }
    Ok(report.build()?)
}

/// The JSON of the answer. The XML is written directly into it, escaped and without a copy.
pub(crate) fn write(response: &StatementResponse, document: &Document) -> Result<Bytes, PageError> {
    let entries = document.reports.iter().map(|report| report.entries.len()).sum::<usize>();
    let mut body = String::with_capacity(entries.saturating_mul(BYTES_AN_ENTRY).saturating_add(4096));
    response.write_json(document, &mut body)?;
    Ok(body.into())
}

fn shown(entry: LedgerEntry, account: AccountKind, narrative: bool) -> Entry {
    let LedgerEntry { mut entry, channel } = entry;
    apply_narrative(&mut entry, channel, account, narrative);
    entry
}

fn created_at(now: Timestamp, zone: &ReportTimeZone) -> DateTime {
    DateTime::from_time(zone.local(now), FRACTION_DIGITS)
}
