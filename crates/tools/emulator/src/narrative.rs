//! Faults of statement pages, and of the clock, for single calls.

use bankrail_camt052::EntryStatus;
use bankrail_service::{Ledger, LedgerAnswer, LedgerPage, ReportDay, StatementQuery};
use bankrail_statement::{EntryChannel, strip_narrative};
use bankrail_values::{Clock, Date, StoreFuture, Timestamp};
use std::sync::Arc;
use std::time::Duration;

tokio::task_local! {
    // These values belong to the task, because the provider uses the clock and the ledger without
    // knowing of faults.
    /// The fault of the page of the call in progress.
    pub(crate) static WRONG_PAGE: WrongPage;
    /// The lead of the clock for the call in progress.
    pub(crate) static AHEAD: Duration;
}

/// A fault of a page of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrongPage {
    NarrativeHidden,
    NarrativeShown,
    MissingEntry,
    Pending,
    NextDay,
}

/// A clock that is ahead for calls that meet the fault.
#[derive(Debug)]
pub(crate) struct FaultyClock(pub(crate) Arc<dyn Clock>);

impl Clock for FaultyClock {
    fn now(&self) -> Timestamp {
        self.0
            .now()
            .saturating_add(AHEAD.try_with(|ahead| *ahead).unwrap_or_default())
    }
}

/// A ledger that spoils the pages of calls that meet the fault. The provider hides the narrative
/// that the customer may not see; with a fault of the narrative, it hides the opposite.
#[derive(Debug)]
pub(crate) struct FaultyLedger(pub(crate) Arc<dyn Ledger>);

impl Ledger for FaultyLedger {
    fn follow_report_day(&self, day: &ReportDay) {
        self.0.follow_report_day(day);
    }

    fn statement<'a>(&'a self, query: &'a StatementQuery) -> StoreFuture<'a, LedgerAnswer> {
        let Ok(wrong) = WRONG_PAGE.try_with(|wrong| *wrong) else {
            return self.0.statement(query);
        };
        Box::pin(async move {
            let mut query = query.clone();
            let next_day = query.day.to_time().next_day().and_then(Date::from_time);
            if let Some(day) = next_day.filter(|_| wrong == WrongPage::NextDay) {
                (query.day, query.position) = (day, None);
            }
            let mut answer = self.0.statement(&query).await?;
            if let LedgerAnswer::Page(page) = &mut answer {
                let mut entries = LedgerPage::clone(page).read_entries()?;
                if wrong == WrongPage::MissingEntry {
                    entries = entries.split_off(entries.len().min(1));
                }
                for entry in &mut entries {
                    match wrong {
                        // The provider never hides the narrative of ordinary entries.
                        WrongPage::NarrativeShown => entry.channel = EntryChannel::Ordinary,
                        WrongPage::NarrativeHidden
                            if entry.channel == EntryChannel::FastPayment =>
                        {
                            strip_narrative(&mut entry.entry);
                        }
                        WrongPage::Pending => {
                            entry.entry.status = EntryStatus::PENDING;
                            entry.entry.servicer_reference = Some("PENDING".into());
                        }
                        _ => {}
                    }
                }
                page.entries = entries.into_iter().map(Into::into).collect();
            }
            Ok(answer)
        })
    }
}
