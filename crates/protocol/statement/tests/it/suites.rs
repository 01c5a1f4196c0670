//! The suites pass on their own model, and find the fault in each faulty model.

use crate::support::block_on;
use bankrail_statement::testing::{
    ModelSeenEntries, ModelWork, seen_entries_suite, transactional_seen_entries_suite,
};
use bankrail_statement::{
    AccountId, EntryKey, PageRecord, PositionChange, Recorded, SeenEntries, SeenEntry,
    TransactionalSeenEntries, find_new,
};
use bankrail_values::{Date, StoreFuture};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// A mistake that an engine may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// The engine does not separate accounts.
    OneAccount,
    /// Only the first occurrence of a key is kept.
    FirstOnly,
    /// A key without a day gets the first day that is recorded.
    ADayForAll,
    /// One day too few is forgotten.
    LateDay,
    /// The position is forgotten together with days.
    ForgottenPosition,
    /// A record without a position erases the stored one.
    ErasedPosition,
    /// The entries are recorded before the position is checked.
    TwoSteps,
    /// The engine does not check that a new entry was not recorded meanwhile.
    Unchecked,
    /// The engine also checks that an entry that is not new was not recorded meanwhile.
    AllChecked,
    /// The page is recorded before the work runs, and stays if it fails.
    RecordedFirst,
    /// The page's position is left out.
    WithoutPosition,
    /// Only the new entries are recorded.
    NewOnly,
    /// The position before is not compared, without or with work.
    AnyPosition,
    AnyPositionInWork,
}

#[derive(Debug)]
struct Faulty(ModelSeenEntries, Fault);

impl Faulty {
    fn account(&self, account: &AccountId) -> AccountId {
        if self.1 == Fault::OneAccount {
            "ALL".parse().unwrap()
        } else {
            account.clone()
        }
    }

    fn changed(&self, entries: &[SeenEntry]) -> Vec<SeenEntry> {
        let a_day = (self.1 == Fault::ADayForAll).then(|| "2024-01-02".parse().unwrap());
        let kept = entries
            .iter()
            .filter(|entry| self.1 != Fault::FirstOnly || entry.occurrence < 2);
        kept.map(|entry| SeenEntry::new(entry.key, entry.occurrence, entry.day.or(a_day)))
            .collect()
    }
}

impl SeenEntries for Faulty {
    fn counts<'a>(
        &'a self,
        account: &'a AccountId,
        keys: &'a [EntryKey],
    ) -> StoreFuture<'a, Vec<u32>> {
        Box::pin(async move { self.0.counts(&self.account(account), keys).await })
    }

    fn record<'a>(
        &'a self,
        account: &'a AccountId,
        entries: &'a [SeenEntry],
        position: Option<PositionChange<'a>>,
    ) -> StoreFuture<'a, Recorded> {
        Box::pin(async move {
            let own = self.account(account);
            let current = self.0.position(&own).await?;
            let position = match (self.1, position) {
                (Fault::ErasedPosition, None) => {
                    Some(PositionChange::new(current.as_deref(), Some("")))
                }
                (Fault::AnyPosition, Some(change)) => {
                    Some(PositionChange::new(current.as_deref(), change.after))
                }
                (_, position) => position,
            };
            let entries = self.changed(entries);
            if self.1 == Fault::TwoSteps {
                let _ = self.0.record(&own, &entries, None).await?;
            }
            self.0.record(&own, &entries, position).await
        })
    }

    fn position<'a>(&'a self, account: &'a AccountId) -> StoreFuture<'a, Option<String>> {
        Box::pin(async move { self.0.position(&self.account(account)).await })
    }

    fn forget_before<'a>(&'a self, account: &'a AccountId, day: Date) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            let own = self.account(account);
            if self.1 == Fault::ForgottenPosition {
                let current = self.0.position(&own).await?;
                let change = PositionChange::new(current.as_deref(), Some(""));
                let _ = self.0.record(&own, &[], Some(change)).await?;
            }
            let late = self.1 == Fault::LateDay && day.to_string() == "2024-03-01";
            self.0
                .forget_before(
                    &own,
                    if late {
                        "2024-02-29".parse().unwrap()
                    } else {
                        day
                    },
                )
                .await
        })
    }
}

impl TransactionalSeenEntries for Faulty {
    type Work = ModelWork;

    fn record_with<'a>(
        &'a self,
        account: &'a AccountId,
        page: PageRecord<'a>,
        work: ModelWork,
    ) -> StoreFuture<'a, Recorded> {
        Box::pin(async move {
            let new_only: Vec<SeenEntry> = page.new_entries().cloned().collect();
            let now_new = find_new(&self.0, account, page.entries).await?;
            let current = self.0.position(account).await?;
            let mut page = page;
            match self.1 {
                Fault::AnyPositionInWork => {
                    let after = page.position.and_then(|change| change.after);
                    page.position = Some(PositionChange::new(current.as_deref(), after));
                }
                Fault::Unchecked => page.new = &now_new,
                Fault::AllChecked => page.new = &[],
                Fault::WithoutPosition => page.position = None,
                Fault::NewOnly => (page.entries, page.new) = (&new_only, &[]),
                Fault::RecordedFirst
                    if !page.is_overtaken(&self.0.counts(account, &page.new_keys()).await?) =>
                {
                    let _ = self.0.record(account, page.entries, page.position).await?;
                    page.position = None;
                    page.new = &[false; 9];
                }
                _ => {}
            }
            self.0.record_with(account, page, work).await
        })
    }
}

/// Runs the suites for two handles of one store of the model with this fault.
fn check(fault: Fault) {
    block_on(seen_entries_suite(async || {
        Faulty(ModelSeenEntries::new(), fault)
    }));
    let store = Faulty(ModelSeenEntries::new(), fault);
    let effects: Arc<Mutex<Vec<u32>>> = Arc::default();
    let work = |number: u32, fails: bool| {
        let effects = Arc::clone(&effects);
        ModelWork::new(move || {
            if fails {
                return Err("as a test".into());
            }
            effects.lock().unwrap().push(number);
            Ok(())
        })
    };
    block_on(transactional_seen_entries_suite(
        &store,
        &store,
        work,
        async || effects.lock().unwrap().clone(),
    ));
}

#[test]
fn the_model_passes_its_suites() {
    check(Fault::None);
}

#[test]
fn the_suites_find_each_fault() {
    for fault in [
        Fault::OneAccount,
        Fault::FirstOnly,
        Fault::ADayForAll,
        Fault::LateDay,
        Fault::ForgottenPosition,
        Fault::ErasedPosition,
        Fault::TwoSteps,
        Fault::Unchecked,
        Fault::AllChecked,
        Fault::RecordedFirst,
        Fault::WithoutPosition,
        Fault::NewOnly,
        Fault::AnyPosition,
        Fault::AnyPositionInWork,
    ] {
        assert!(
            catch_unwind(AssertUnwindSafe(|| check(fault))).is_err(),
            "{fault:?} passes"
        );
    }
}
