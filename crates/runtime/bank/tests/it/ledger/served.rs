//! The entries of a document, served again by the statement endpoint.

use super::ledger;
use super::loading::{booked, sample};
use crate::customers::fixture::{Folder, customer};
use crate::engines::{Books, Engine, over_both};
use crate::world::World;
use bankrail_camt052::{Document, Entry, Mode, ReadOptions};
use bankrail_service::{LedgerEntry, ProviderOptions, RegisteredAccount};
use bankrail_statement::{AccountId, EntryChannel};
use bankrail_values::{Currency, Decimal, Money};
use std::sync::Arc;

async fn a_loaded_document_is_served_with_equal_entries<E: Engine>() {
    let Some(xml) = sample("02-intraday-6-entries.xml") else {
        return;
    };
    let ledger = ledger::<E>().await;
    let account: AccountId = "011222814766538".parse().unwrap();
    let mut document = Document::parse(&xml).unwrap().document;
    let days = booked(&document);
    let [(id, _, entries)] = days.as_slice() else {
        panic!("{days:?}")
    };
    assert_eq!(*id, account.as_str());
    // The balance of a report is the one after its entries.
    let after = document.reports[0].balances[0].signed_amount().unwrap();
    let change: Decimal = entries.iter().filter_map(Entry::signed_amount).sum();
    let opening = Money::new(after - change, Currency::AUD);
    ledger.open_account(&account, opening).await.unwrap();
    for entry in entries {
        let entry = LedgerEntry::new(entry.clone(), EntryChannel::FastPayment);
        ledger.book_entry(&account, &entry, None).await.unwrap();
    }
    let facts = RegisteredAccount::new(Currency::AUD).with_virtual_accounts();
    ledger
        .register(&"ACME".parse().unwrap(), vec![(account, facts)])
        .await
        .unwrap();

    let folder = Folder::new();
    folder.write("A.toml", &customer("ACME", "acme", &["key-of-acme"], ""));
    // In UTC the day before, in Sydney the day of the entries.
    folder
        .clock
        .set("2021-07-28T15:00:00.000Z".parse().unwrap());
    let options = ProviderOptions::new().report_time_zone("Australia/Sydney");
    let world = World::new(
        Arc::new(folder.open()),
        Arc::new(ledger),
        folder.clock.clone(),
        options,
    );
    let served = async |narrative: bool| {
        let token = world.token().await;
        let body = format!(r#"{{"accountId":"011222814766538","includeNarrative":{narrative}}}"#);
        let answer = world.statement("key-of-acme", &token, &body).await;
        let payload = answer.json["payload"]
            .as_str()
            .unwrap_or_else(|| panic!("{}", answer.json))
            .to_owned();
        // No finding: neither of the schema nor of counts, sums and currencies.
        let strict = ReadOptions::default()
            .mode(Mode::Strict)
            .deny_findings(true);
        Document::parse_with(payload, &strict)
            .unwrap()
            .document
            .reports
            .remove(0)
    };

    let loaded = document.reports.remove(0);
    let report = served(true).await;
    assert_eq!(report.entries, loaded.entries);
    assert_eq!(
        report.created_at.unwrap().to_string(),
        "2021-07-29T01:00:00.000+10:00"
    );
    assert_eq!(report.balances[0].amount, loaded.balances[0].amount);
    assert_eq!(report.summary, loaded.summary);
    let hidden = served(false).await;
    assert_eq!(hidden.entries.len(), loaded.entries.len());
    let transactions = hidden.entries.iter().flat_map(|entry| entry.transactions());
    assert!(
        transactions
            .into_iter()
            .all(|transaction| transaction.parties.is_none())
    );
}

over_both! {
    a_loaded_document_is_served_with_equal_entries,
}
