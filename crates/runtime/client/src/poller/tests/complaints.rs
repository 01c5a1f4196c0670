//! The most frequent complaints of users of bank interfaces, each as a test named after the
//! complaint. The other complaints have their tests elsewhere. Another audience for each bank is
//! among those of `Client::probe`, and messages that arrive before their subject are among those of
//! histories (any order ends the same). Lost pages and refused messages are among those of the
//! archive.

use super::*;
use bankrail_statement::SeenEntryId;
use bankrail_values::Decimal;
use std::collections::BTreeMap;

/// A ledger that follows the handler's entries, and collects the notices.
#[derive(Clone, Default)]
struct Ledger(Arc<std::sync::Mutex<Kept>>);

type Kept = (BTreeMap<SeenEntryId, Movement>, Vec<AccountNotice>);

impl Ledger {
    /// Makes a poller of account A that updates this ledger.
    fn poller(&self, bank: &Bank, unbooked: bool) -> Poller {
        let ledger = self.clone();
        let handler = move |new: NewEntries| {
            let ledger = ledger.clone();
            async move {
                let (rows, notices) = &mut *ledger.0.lock().unwrap();
                for change in new.changes() {
                    match change {
                        LedgerChange::Remove { id, .. } => assert!(rows.remove(&id).is_some()),
                        LedgerChange::Add(movement) => {
                            assert!(rows.insert(movement.id, movement).is_none())
                        }
                    }
                }
                notices.extend(new.notices);
                Ok(())
            }
        };
        with_handler(
            bank,
            [PolledAccount::new(id(A))],
            handler,
            PollerOptions::new().unbooked(unbooked),
        )
    }

    fn rows(&self) -> Vec<Movement> {
        self.0.lock().unwrap().0.values().cloned().collect()
    }

    /// Returns the amounts with their status, in order.
    fn money(&self) -> Vec<String> {
        let mut money: Vec<_> = self
            .rows()
            .iter()
            .map(|one| format!("{} {}", one.status, one.amount))
            .collect();
        money.sort_unstable();
        money
    }

    fn notices(&self) -> Vec<AccountNotice> {
        self.0.lock().unwrap().1.clone()
    }
}

/// Returns a bank whose account A has one page with these entries.
fn listing(entries: &[String]) -> Bank {
    let bank = Bank::new(&[(A, &[&[]])]);
    relist(&bank, entries);
    bank
}

fn relist(bank: &Bank, entries: &[String]) {
    bank.with(|table| table.entries = Some(entries.concat()));
}

fn aud(amount: &str, direction: &str, status: &str, reference: &str) -> String {
    entry(
        &format!(" Ccy='AUD'>{amount}"),
        direction,
        &format!("<Sts>{status}</Sts>"),
        reference,
    )
}

const NEXT_POLL: Duration = Duration::from_secs(600);

#[tokio::test(start_paused = true)]
async fn a_pending_entry_comes_back_booked_under_another_reference_and_is_there_twice() {
    let bank = listing(&[
        aud("5.00", "DBIT", "PDNG", "P1"),
        aud("9.00", "CRDT", "BOOK", "R1"),
    ]);
    let (every, booked) = (Ledger::default(), Ledger::default());
    let pollers = [every.poller(&bank, true), booked.poller(&bank, false)];
    for poller in &pollers {
        run_for(poller, NEXT_POLL).await;
    }
    assert_eq!(every.money(), ["BOOK 9.00 AUD", "PDNG -5.00 AUD"]);
    relist(
        &bank,
        &[
            aud("9.00", "CRDT", "BOOK", "R1"),
            aud("5.00", "DBIT", "BOOK", "R2"),
        ],
    );
    for poller in &pollers {
        run_for(poller, NEXT_POLL).await;
    }
    for ledger in [every, booked] {
        assert_eq!(ledger.money(), ["BOOK -5.00 AUD", "BOOK 9.00 AUD"]);
        assert_eq!(ledger.notices(), []);
    }
}

#[tokio::test(start_paused = true)]
async fn a_sync_has_gone_stale_and_nobody_sees_it() {
    let bank = listing(&[aud("5.00", "CRDT", "BOOK", "R1")]);
    let ledger = Ledger::default();
    let poller = ledger.poller(&bank, false);
    run_for(&poller, seconds(1)).await;
    assert_eq!(poller.check(), Ok(()));
    bank.fail(A, std::iter::repeat_n(stray(503, AnswerForm::Html), 100));
    run_for(&poller, seconds(2 * 3_600 + 1)).await;
    let said = poller.check().unwrap_err().to_string();
    assert!(
        said.contains('1') && !said.contains(A),
        "the account by its place: {said}"
    );
}

#[tokio::test(start_paused = true)]
async fn rows_vanish_and_come_back_late() {
    let rows = [
        aud("5.00", "CRDT", "BOOK", "R1"),
        aud("7.00", "CRDT", "BOOK", "R2"),
    ];
    let bank = listing(&rows);
    let ledger = Ledger::default();
    let poller = ledger.poller(&bank, false);
    run_for(&poller, NEXT_POLL).await;
    relist(&bank, &rows[..1]);
    run_for(&poller, NEXT_POLL).await;
    assert_eq!(
        ledger.money().len(),
        2,
        "one statement without it may be a mistake"
    );
    run_for(&poller, NEXT_POLL).await;
    let notices = ledger.notices();
    let [AccountNotice::Vanished { id, booked: true }] = notices[..] else {
        panic!("{notices:?}")
    };
    relist(&bank, &rows);
    run_for(&poller, NEXT_POLL).await;
    assert_eq!(ledger.notices()[1..], [AccountNotice::Reappeared { id }]);
    assert_eq!(
        ledger.money(),
        ["BOOK 5.00 AUD", "BOOK 7.00 AUD"],
        "booked money is removed by nobody, nor doubled"
    );
}

#[tokio::test(start_paused = true)]
async fn rows_of_another_account_come_under_the_right_id() {
    let own = aud("5.00", "CRDT", "BOOK", "R1");
    let bank = listing(std::slice::from_ref(&own));
    let balance = |kind: &str, amount: &str| {
        format!(
            "<Bal><Tp><CdOrPrtry><Cd>{kind}</Cd></CdOrPrtry></Tp><Amt Ccy='AUD'>{amount}</Amt><CdtDbtInd>CRDT\
             </CdtDbtInd><Dt><Dt>2026-11-21</Dt></Dt></Bal>"
        )
    };
    let balances =
        balance("OPBD", "100.00") + &balance("ITBD", "105.00") + &balance("ITAV", "93.00");
    bank.with(|table| table.balances = balances);
    let ledger = Ledger::default();
    let poller = ledger.poller(&bank, false);
    run_for(&poller, 2 * NEXT_POLL).await;
    assert_eq!(ledger.notices(), [], "an available balance is not compared");
    relist(&bank, &[own, aud("800.00", "DBIT", "BOOK", "X9")]);
    run_for(&poller, 2 * NEXT_POLL).await;
    assert_eq!(
        ledger.notices(),
        [AccountNotice::BalanceGap {
            difference: Decimal::from(800)
        }]
    );
}

#[tokio::test(start_paused = true)]
async fn the_day_of_posting_is_unclear() {
    // Booked at 00:30 on the 22nd where the bank is, which is the 21st in UTC; and without any
    // booking day.
    let booked = aud("5.00", "CRDT", "BOOK", "R1").replace(
        "<Dt>2026-11-21</Dt>",
        "<DtTm>2026-11-22T00:30:00+11:00</DtTm>",
    );
    let without =
        aud("6.00", "CRDT", "BOOK", "R2").replace("<BookgDt><Dt>2026-11-21</Dt></BookgDt>", "");
    let bank = listing(&[booked, without]);
    let ledger = Ledger::default();
    run_for(&ledger.poller(&bank, false), NEXT_POLL).await;
    let days: Vec<_> = ledger
        .rows()
        .iter()
        .map(|one| (one.amount.to_string(), one.booked_on))
        .collect();
    let day = |text: &str| Some(Date::parse(text).unwrap());
    assert!(
        days.contains(&("5.00 AUD".to_owned(), day("2026-11-22"))),
        "as the bank writes it: {days:?}"
    );
    assert!(
        days.contains(&("6.00 AUD".to_owned(), None)),
        "no other day is invented: {days:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_signs_of_reversals_differ_by_bank() {
    let reversal = |direction: &str, reference: &str| {
        aud("5.00", direction, "BOOK", reference).replace("<Sts>", "<RvslInd>true</RvslInd><Sts>")
    };
    // The direction is that of the reversal, by the message's rule, and never turned round.
    let bank = listing(&[
        aud("5.00", "CRDT", "BOOK", "R1"),
        reversal("DBIT", "R1"),
        reversal("CRDT", "R3"),
    ]);
    let ledger = Ledger::default();
    run_for(&ledger.poller(&bank, false), NEXT_POLL).await;
    assert_eq!(
        ledger.money(),
        ["BOOK -5.00 AUD", "BOOK 5.00 AUD", "BOOK 5.00 AUD"]
    );
}

#[tokio::test(start_paused = true)]
async fn one_reference_has_another_amount_at_each_poll_and_is_handed_over_each_time() {
    let bank = listing(&[aud("5.00", "CRDT", "BOOK", "R1")]);
    let ledger = Ledger::default();
    let poller = ledger.poller(&bank, false);
    run_for(&poller, NEXT_POLL).await;
    for amount in ["5.01", "5.02", "5.01", "6.00"] {
        relist(&bank, &[aud(amount, "CRDT", "BOOK", "R1")]);
        run_for(&poller, NEXT_POLL).await;
        assert!(ledger.money().contains(&format!("BOOK {amount} AUD")));
    }
    // An entry that came back to an earlier amount is known: the one in between is gone after two
    // more walks.
    run_for(&poller, 2 * NEXT_POLL).await;
    assert_eq!(ledger.money(), ["BOOK 6.00 AUD"]);
}

#[tokio::test(start_paused = true)]
async fn an_account_changes_its_currency_and_nothing_says_so() {
    let bank = listing(&[]);
    bank.with(|table| table.currency = "<Ccy>AUD</Ccy>");
    let ledger = Ledger::default();
    let poller = ledger.poller(&bank, false);
    run_for(&poller, NEXT_POLL).await;
    bank.with(|table| table.currency = "<Ccy>USD</Ccy>");
    run_for(&poller, NEXT_POLL).await;
    let changed = AccountNotice::CurrencyChanged {
        from: "AUD".to_owned(),
        to: "USD".to_owned(),
    };
    assert_eq!(ledger.notices(), [changed]);
}
