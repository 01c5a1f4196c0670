//! The ends of pages.

use super::{account, ledger, page, paid, today};
use crate::engines::{Books, Engine, over_both};
use bankrail_camt052::{ReportBuilder, ReportIds};
use bankrail_service::{LedgerAnswer, LedgerPage};
use bankrail_statement::SortOrder;
use bankrail_values::{Money, SimpleUuid};

/// Returns all pages of a walk.
async fn walk(ledger: &impl Books, order: SortOrder, most: u16) -> Vec<LedgerPage> {
    let mut pages: Vec<LedgerPage> = Vec::new();
    loop {
        let position = pages.last().and_then(|page| page.next.clone());
        let LedgerAnswer::Page(page) = page(ledger, today(), order, most, position).await else {
            panic!("a page")
        };
        let is_last = page.next.is_none();
        pages.push(*page);
        if is_last {
            return pages;
        }
    }
}

/// No page's sums have more than 18 digits, so that each can be sent.
async fn a_page_ends_where_its_sums_would_not_fit<E: Engine>() {
    let ledger = ledger::<E>().await;
    for _ in 0..3 {
        ledger
            .book(&account(), &paid("6000000000000000.00 AUD"))
            .await
            .unwrap();
        let sent = bankrail_bank::Booking::new(
            bankrail_bank::BookingKind::FastPaymentOut,
            "6000000000000000.00 AUD".parse().unwrap(),
            today(),
        );
        ledger.book(&account(), &sent).await.unwrap();
    }
    for order in [SortOrder::Forward, SortOrder::Backward] {
        let pages = walk(&ledger, order, 1000).await;
        assert_eq!(
            pages
                .iter()
                .map(|page| page.entries.len())
                .collect::<Vec<_>>(),
            [1; 6]
        );
        for page in pages {
            let any = SimpleUuid::from_random_bytes([1; 16]);
            let balance = Money::new(page.balance, page.account.currency);
            let created_at = "2021-07-29T17:10:05.175+10:00".parse().unwrap();
            let ids = ReportIds {
                message: any,
                report: any,
            };
            let report = ReportBuilder::new(ids, "CMM", created_at, "1", balance, today());
            assert!(
                report
                    .entries(
                        page.read_entries()
                            .unwrap()
                            .into_iter()
                            .map(|entry| entry.entry)
                    )
                    .build()
                    .is_ok()
            );
        }
    }
}

/// Large entries make short pages, so that a page takes a bounded amount of memory.
async fn a_page_ends_where_it_would_be_too_large<E: Engine>() {
    let ledger = ledger::<E>().await;
    let mut entry = paid("1.00 AUD")
        .narrative("👍".repeat(280))
        .to_entry()
        .unwrap();
    let transaction = entry.entry.details[0].transactions[0].clone();
    entry.entry.details[0].transactions = vec![transaction; 1_600];
    for _ in 0..3 {
        ledger.book_entry(&account(), &entry, None).await.unwrap();
    }
    let pages = walk(&ledger, SortOrder::Forward, 1000).await;
    let lengths: Vec<_> = pages.iter().map(|page| page.entries.len()).collect();
    assert_eq!(lengths.iter().sum::<usize>(), 3);
    assert!(lengths.len() > 1, "{lengths:?}");
    entry.entry.details[0].transactions.extend_from_within(..);
    entry.entry.details[0].transactions.extend_from_within(..);
    let large = ledger
        .book_entry(&account(), &entry, None)
        .await
        .unwrap_err();
    assert_eq!(
        large.to_string(),
        "expected an entry of at most 4194304 bytes as XML, found a larger one"
    );
}

over_both! {
    a_page_ends_where_its_sums_would_not_fit,
    a_page_ends_where_it_would_be_too_large,
}
