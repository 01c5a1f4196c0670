//! Entries that cannot be read: only they are left out, and they are handed over once they can be
//! read.

use super::*;

/// A customer: a store that outlives the poller, and the entries that were handed over.
#[derive(Default)]
struct Customer {
    store: Arc<MemoryStore>,
    handed: Handed,
    notices: Arc<std::sync::Mutex<Vec<AccountNotice>>>,
}

impl Customer {
    /// Polls for this time with a poller that was just started, and returns the notices.
    async fn run(&self, bank: &Bank, time: Duration) -> Vec<AccountNotice> {
        let (handed, notices) = (self.handed.clone(), self.notices.clone());
        let handler = move |new: NewEntries| {
            handed.take(&new);
            notices.lock().unwrap().extend(new.notices.clone());
            async { Ok(()) }
        };
        let sink = Plain {
            store: self.store.clone(),
            handler: Arc::new(handler),
        };
        let accounts = [PolledAccount::new(id(A))];
        let poller = Poller::with(Arc::new(bank.clone()), accounts, sink, PollerOptions::new());
        run_for(&poller, time).await;
        assert_eq!(poller.check(), Ok(()));
        assert_eq!(poller.status()[0].stopped_since, None);
        std::mem::take(&mut *self.notices.lock().unwrap())
    }
}

const HOURS: Duration = Duration::from_secs(3 * 3_600);

/// Returns the elements that cannot be read, by their place in the report.
fn places(notices: &[AccountNotice]) -> Vec<String> {
    let place = |notice: &AccountNotice| match notice {
        AccountNotice::Unreadable { place } => {
            let (path, at) = place.split_once(" (line 1, column ").unwrap();
            assert!(at.ends_with(')'), "{place}");
            path.replace("/Document/BkToCstmrAcctRpt/Rpt[1]/", "")
        }
        other => panic!("{other:?}"),
    };
    notices.iter().map(place).collect()
}

fn cannot_read(bank: &Bank, amounts: &[u32]) {
    bank.with(|table| table.unreadable = amounts.to_vec());
}

#[tokio::test(start_paused = true)]
async fn a_bad_amount_costs_its_entry_alone_and_is_said_once_with_its_place() {
    let bank = Bank::new(&[(A, &[&[1, 2, 3], &[4, 5]])]);
    cannot_read(&bank, &[2, 4]);
    let customer = Customer::default();
    let notices = customer.run(&bank, HOURS).await;
    assert_eq!(places(&notices), ["Ntry[2]/Amt", "Ntry[1]/Amt"]);
    assert_eq!(customer.handed.amounts(A), ["1", "3", "5"]);
    // After a restart, too.
    assert_eq!(customer.run(&bank, HOURS).await, []);
    cannot_read(&bank, &[]);
    assert_eq!(customer.run(&bank, HOURS).await, []);
    assert_eq!(customer.run(&bank, HOURS).await, []);
    assert_eq!(customer.handed.amounts(A), ["1", "3", "5", "2", "4"]);
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_cannot_be_read_any_more_has_not_vanished_and_comes_once() {
    let bank = Bank::new(&[(A, &[&[1, 2], &[3, 4]])]);
    let customer = Customer::default();
    assert_eq!(customer.run(&bank, HOURS).await, []);
    cannot_read(&bank, &[2, 4]);
    assert_eq!(customer.run(&bank, HOURS).await.len(), 2);
    assert_eq!(customer.run(&bank, HOURS).await, []);
    cannot_read(&bank, &[]);
    assert_eq!(customer.run(&bank, HOURS).await, []);
    assert_eq!(customer.handed.amounts(A), ["1", "2", "3", "4"]);
    // An entry that is not listed once all entries can be read has vanished.
    bank.list(A, &[&[1, 2], &[3]]);
    let notices = customer.run(&bank, HOURS).await;
    assert!(
        matches!(notices[..], [AccountNotice::Vanished { booked: true, .. }]),
        "{notices:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_cannot_be_read_costs_no_call() {
    let mut calls = Vec::new();
    for unreadable in [&[][..], &[2, 4], &[1, 2, 3, 4, 5, 6]] {
        let bank = Bank::new(&[(A, &[&[1, 2], &[3], &[4, 5], &[6]])]);
        cannot_read(&bank, unreadable);
        let customer = Customer::default();
        customer.run(&bank, HOURS).await;
        calls.push(bank.calls(A));
    }
    assert_eq!(calls[0], calls[1]);
    assert_eq!(calls[0], calls[2]);
}
