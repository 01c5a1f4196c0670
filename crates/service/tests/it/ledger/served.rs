//! A loaded document, served again by the statement endpoint.

use super::ledger;
use super::loading::sample;
use crate::world::{API_KEY, AUDIENCE, World, send, statement_request};
use bankrail_camt052::{Document, Mode, ReadOptions};
use bankrail_client_assertion::token::names;
use bankrail_client_assertion::{Audience, Verifier, VerifierOptions};
use bankrail_service::{LoadOptions, Provider, ProviderOptions, RegisteredAccount};
use bankrail_values::{Clock, Currency};
use std::io::Cursor;
use std::sync::Arc;

#[tokio::test]
async fn a_loaded_document_is_served_with_equal_entries() {
    let Some(xml) = sample("02-intraday-6-entries.xml") else { return };
    let ledger = ledger().await;
    ledger.load_camt052(Cursor::new(xml.clone()), &LoadOptions::new()).await.unwrap();
    let account = "011222814766538".parse().unwrap();
    let facts = RegisteredAccount::new(Currency::AUD).with_virtual_accounts();
    ledger.register(&"ACME".parse().unwrap(), vec![(account, facts)]).await.unwrap();

    let world = World::new();
    // In UTC the day before, in Sydney the day of the entries.
    world.clock.set("2021-07-28T15:00:00.000Z".parse().unwrap());
    let options =
        ProviderOptions::new().clock(Arc::clone(&world.clock) as Arc<dyn Clock>).report_time_zone("Australia/Sydney");
    let verifier = Verifier::new(Audience::parse(AUDIENCE).unwrap(), VerifierOptions::new());
    let (book, stores) = (Arc::clone(&world.book), Arc::clone(&world.stores));
    let provider = Provider::new(book, Arc::new(ledger), stores.clone(), stores, verifier, options).unwrap();
    let served = async |narrative: bool| {
        let token = world.token("ACME", names::STATEMENT_READ).await;
        let body = format!(r#"{{"accountId":"011222814766538","includeNarrative":{narrative}}}"#);
        let answer = send(provider.router(), statement_request(API_KEY, &token, body)).await;
        let payload = answer.json["payload"].as_str().unwrap_or_else(|| panic!("{}", answer.text)).to_owned();
        // No finding: neither of the schema nor of counts, sums and currencies.
        let strict = ReadOptions::default().mode(Mode::Strict).deny_findings(true);
        Document::parse_with(payload, &strict).unwrap().document.reports.remove(0)
    };

    let loaded = Document::parse(&xml).unwrap().document.reports.remove(0);
    let report = served(true).await;
    assert_eq!(report.entries, loaded.entries);
    assert_eq!(report.created_at.unwrap().to_string(), "2021-07-29T01:00:00.000+10:00");
    assert_eq!(report.balances[0].amount, loaded.balances[0].amount);
    assert_eq!(report.summary, loaded.summary);
    let hidden = served(false).await;
    assert_eq!(hidden.entries.len(), loaded.entries.len());
    let transactions = hidden.entries.iter().flat_map(|entry| entry.transactions());
    assert!(transactions.into_iter().all(|transaction| transaction.parties.is_none()));
}
