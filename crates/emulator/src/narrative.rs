//! Statements whose narrative is shown against what the call asks for.

use bankrail_service::{Ledger, LedgerAnswer, LedgerPage, ReportDay, StatementQuery};
use bankrail_statement::{EntryChannel, strip_narrative};
use bankrail_values::StoreFuture;
use std::sync::Arc;

tokio::task_local! {
    /// The narrative that the call in progress shows against what it asks for.
    pub(crate) static WRONG_NARRATIVE: WrongNarrative;
}

/// How the narrative of a call is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrongNarrative {
    Hidden,
    Shown,
}

/// A ledger that spoils the narrative of calls that meet the fault. The provider hides what the customer may not see;
/// after the fault, it hides the opposite.
#[derive(Debug)]
pub(crate) struct NarrativeLedger(pub(crate) Arc<dyn Ledger>);

impl Ledger for NarrativeLedger {
    fn follow_report_day(&self, day: &ReportDay) {
        self.0.follow_report_day(day);
    }

    fn statement<'a>(&'a self, query: &'a StatementQuery) -> StoreFuture<'a, LedgerAnswer> {
        let Ok(wrong) = WRONG_NARRATIVE.try_with(|wrong| *wrong) else { return self.0.statement(query) };
        Box::pin(async move {
            let mut answer = self.0.statement(query).await?;
            if let LedgerAnswer::Page(page) = &mut answer {
                let mut entries = LedgerPage::clone(page).read_entries()?;
                for entry in &mut entries {
                    match wrong {
                        // What the provider takes for an ordinary entry keeps its narrative.
                        WrongNarrative::Shown => entry.channel = EntryChannel::Ordinary,
                        WrongNarrative::Hidden if entry.channel == EntryChannel::FastPayment => {
                            strip_narrative(&mut entry.entry);
                        }
                        WrongNarrative::Hidden => {}
                    }
                }
                page.entries = entries.into_iter().map(Into::into).collect();
            }
            Ok(answer)
        })
    }
}
