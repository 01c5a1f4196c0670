//! The report that is made from a ledger's page (Specification: "Statement payload").

use crate::ProviderOptions;
use crate::endpoints::ledger::{LedgerEntry, LedgerPage, PageEntry};
use bankrail_camt052::{
    BuildError, CreationTime, Entry, ReportBuilder, ReportIds, WriteError, WrittenEntry,
};
use bankrail_statement::{AccountKind, StatementResponse, apply_narrative};
use bankrail_values::{HyphenatedUuid, Money, StoreError, Timestamp};
use bytes::Bytes;

/// An estimate of an entry's length in bytes, so that the body is seldom reallocated.
const BYTES_AN_ENTRY: usize = 1024;

/// Errors of a page of the ledger.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    #[error("expected at most {allowed} entries, found {found}")]
    TooManyEntries { allowed: usize, found: usize },
    #[error("expected a new position, found that of this page again")]
    NoProgress,
    #[error("expected entries on a page that is not the last, found none")]
    NothingBeforeMore,
    #[error("expected an element Ntry where the ledger has written one, found another text")]
    Entry,
    #[error("the report cannot be built")]
    Build(#[from] BuildError),
    #[error("the report cannot be written")]
    Write(#[from] WriteError),
}

impl PageError {
    /// Returns the error and its element for the log, without any text of the ledger.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::TooManyEntries { .. }
            | Self::NoProgress
            | Self::NothingBeforeMore
            | Self::Entry => self.to_string(),
            Self::Build(BuildError::Invalid { path, kind }) => {
                format!("{self}: {path}: {}", kind.name())
            }
            Self::Build(error) => format!("{self}: {}", variant(error)),
            Self::Write(WriteError::Invalid { finding }) => {
                format!("{self}: {}: {}", finding.path, finding.kind.name())
            }
            Self::Write(WriteError::Character { .. }) => {
                format!("{self}: a character that XML cannot carry")
            }
            Self::Write(WriteError::Unfaithful { .. }) => {
                format!("{self}: a part that would be read otherwise")
            }
            Self::Write(_) => self.to_string(),
        }
    }
}

/// Returns the name of an error's variant, without its fields.
fn variant(error: &BuildError) -> String {
    format!("{error:?}")
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect()
}

/// Reads the entries of a page that the ledger has written, unless [`write()`] sends them as they
/// are.
pub(crate) async fn read_entries(
    mut page: LedgerPage,
    narrative: bool,
) -> Result<LedgerPage, PageError> {
    let written = page.entries.iter().filter_map(PageEntry::written).count();
    if written == 0 || (narrative && written == page.entries.len()) {
        return Ok(page);
    }
    let entries = std::mem::take(&mut page.entries).into_iter();
    let read = move || -> Result<Vec<PageEntry>, StoreError> {
        entries
            .map(|entry| entry.read().map(PageEntry::Model))
            .collect()
    };
    // A page of a thousand written entries is up to 4 MiB of XML and takes milliseconds to read, so
    // it is not read on a thread that serves other requests.
    page.entries = match tokio::task::spawn_blocking(read).await {
        Ok(entries) => entries.map_err(|_| PageError::Entry)?,
        // A panic goes on here, so that the endpoint answers it 500 like any other.
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => return Err(PageError::Entry),
        },
    };
    Ok(page)
}

/// Writes the JSON of the answer, with a report without the parts that the customer may not see.
/// The XML is written directly into the JSON, escaped and without a copy. Where nothing is hidden,
/// entries that the ledger has written are sent unchanged.
pub(crate) fn write(
    options: &ProviderOptions,
    response: &StatementResponse,
    narrative: bool,
    page: LedgerPage,
    now: Timestamp,
) -> Result<Bytes, PageError> {
    let LedgerPage {
        account,
        balance,
        balance_date,
        entries,
        ..
    } = page;
    let balance = Money::new(balance, account.currency);
    let key = response.request_key;
    let mut report = ReportBuilder::new(
        // Default: the message id is the request key without its hyphens.
        ReportIds {
            message: key.to_simple(),
            report: HyphenatedUuid::random().to_simple(),
        },
        account
            .reporting_source
            .as_deref()
            .unwrap_or(&options.reporting_source),
        CreationTime::from_time(options.report_time_zone.local(now)),
        response.account.as_str(),
        // With the currency's number of decimals, if no digit is lost.
        balance.rescale_to_minor_units().unwrap_or(balance),
        balance_date,
    );
    if let Some(name) = account.name {
        report = report.account_name(name);
    }
    let mut body = String::with_capacity(
        entries
            .len()
            // An estimate only; it saturates rather than overflows for a ledger that ignores the
            // bound.
            .saturating_mul(BYTES_AN_ENTRY)
            .saturating_add(4096),
    );
    let written: Option<Vec<&WrittenEntry>> = entries.iter().map(PageEntry::written).collect();
    if let Some(written) = written.filter(|_| narrative) {
        response.write_json_of(report.build_around(&written)?.parts(), &mut body);
        return Ok(body.into());
    }
    let entries: Result<Vec<LedgerEntry>, _> = entries.into_iter().map(PageEntry::read).collect();
    let entries = entries
        .map_err(|_| PageError::Entry)?
        .into_iter()
        .map(|entry| shown(entry, account.kind, narrative));
    response.write_json(&report.entries(entries).build()?, &mut body)?;
    Ok(body.into())
}

/// Removes the parts of an entry that the customer may not see.
fn shown(entry: LedgerEntry, account: AccountKind, narrative: bool) -> Entry {
    let LedgerEntry { mut entry, channel } = entry;
    apply_narrative(&mut entry, channel, account, narrative);
    entry
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail_values::Currency;

    #[test]
    fn a_log_names_the_kind_of_an_error_and_no_text_of_the_ledger() {
        let other = BuildError::Currency {
            account: Currency::AUD,
            found: "MARK".to_owned(),
        };
        for (error, expected) in [
            (
                PageError::Entry,
                "expected an element Ntry where the ledger has written one, found another text",
            ),
            (other.into(), "the report cannot be built: Currency"),
            (
                WriteError::Character { found: '\0' }.into(),
                "the report cannot be written: a character that XML cannot carry",
            ),
            (
                WriteError::Unfaithful { why: None }.into(),
                "the report cannot be written: a part that would be read otherwise",
            ),
        ] {
            let error: PageError = error;
            assert_eq!(error.place(), expected);
        }
    }
}
