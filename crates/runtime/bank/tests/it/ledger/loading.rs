//! The loading of entries of documents, and of bookings from CSV.

use super::{account, ledger, today, whole};
use crate::engines::{Books, Engine, Sqlite, over_both};
use bankrail_bank::{LoadError, Loaded, RowError};
use bankrail_camt052::{Document, Entry, EntryStatus};
use bankrail_service::{Ledger as _, LedgerAnswer, LedgerEntry, RegisteredAccount, StatementQuery};
use bankrail_statement::{AccountId, EntryChannel};
use bankrail_values::{Date, Decimal, Money};
use proptest::prelude::*;
use std::io::{BufReader, Cursor};
use std::path::PathBuf;

/// Returns a sample's text; `None` if `BANKRAIL_SHARED` does not name the folder.
pub(super) fn sample(name: &str) -> Option<String> {
    let Some(root) = std::env::var_os("BANKRAIL_SHARED") else {
        println!("BANKRAIL_SHARED not set: skipped");
        return None;
    };
    let path = PathBuf::from(root).join("samples").join(name);
    Some(
        std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    )
}

/// Returns the numbers of rows that were booked, and of those that the ledger had.
fn counts(loaded: Loaded) -> [u64; 2] {
    [loaded.booked, loaded.already]
}

async fn the_balance(ledger: &impl Books) -> String {
    ledger
        .balance(&account())
        .await
        .unwrap()
        .unwrap()
        .to_string()
}

/// Returns the booked entries of a document, by account and day, in their order.
pub(super) fn booked(document: &Document) -> Vec<(String, Date, Vec<Entry>)> {
    let mut days: Vec<(String, Date, Vec<Entry>)> = Vec::new();
    for report in &document.reports {
        let account = match &report.account.id {
            bankrail_camt052::AccountIdentification::Iban(iban) => iban.as_str().to_owned(),
            bankrail_camt052::AccountIdentification::Other(other) => other.id.as_str().to_owned(),
            other => panic!("{other:?}"),
        };
        for entry in report
            .entries
            .iter()
            .filter(|entry| entry.status == EntryStatus::BOOKED)
        {
            let text = entry.booking_date.as_ref().unwrap().to_string();
            let day = Date::parse(&text[..10]).unwrap();
            match days
                .iter_mut()
                .find(|known| known.0 == account && known.1 == day)
            {
                Some((_, _, entries)) => entries.push(entry.clone()),
                None => days.push((account.clone(), day, vec![entry.clone()])),
            }
        }
    }
    days
}

async fn entries_of_real_documents_are_kept_as_they_are<E: Engine>() {
    let mut entries = 0;
    for name in [
        "01-intraday-5-entries.xml",
        "02-intraday-6-entries.xml",
        "03-summary-disagrees.xml",
        "08-reversal.xml",
        "09-batches-32-transactions.xml",
        "10-intraday-17-entries.xml",
    ] {
        let Some(xml) = sample(name) else { return };
        let ledger = ledger::<E>().await;
        let document = Document::parse(&xml).unwrap().document;
        for (account, day, expected) in booked(&document) {
            let id: AccountId = account.parse().unwrap();
            let currency = expected[0].amount.to_money().unwrap().currency();
            ledger
                .open_account(&id, Money::new(Decimal::ZERO, currency))
                .await
                .unwrap();
            for entry in &expected {
                let entry = LedgerEntry::new(entry.clone(), EntryChannel::Ordinary);
                ledger.book_entry(&id, &entry, None).await.unwrap();
            }
            let acme = "ACME".parse().unwrap();
            ledger
                .register(&acme, vec![(id.clone(), RegisteredAccount::new(currency))])
                .await
                .unwrap();
            let answer = ledger
                .statement(&StatementQuery::new(acme, id, day))
                .await
                .unwrap();
            let LedgerAnswer::Page(page) = answer else {
                panic!("{name}: a page")
            };
            let found: Vec<Entry> = page
                .read_entries()
                .unwrap()
                .into_iter()
                .map(|entry| entry.entry)
                .collect();
            assert!(found == expected, "{name}, {day}");
            entries += found.len();
        }
    }
    assert!(entries > 40, "{entries}");
}

const HEAD: &str = "account,date,kind,amount,currency,value_date,reversal,reference,counterparty,narrative,\
                    virtual_account,virtual_account_issuer,key\n";

async fn csv(ledger: &impl Books, text: &str) -> Result<Loaded, LoadError> {
    ledger
        .load_csv(Box::new(Cursor::new(text.as_bytes().to_vec())))
        .await
}

async fn bookings_are_loaded_from_csv<E: Engine>() {
    let ledger = ledger::<E>().await;
    let rows = "999001400100101,2021-07-29,fast_payment_in,1250,AUD,2021-07-30,,FP1,\"Jarrah, \"\"Joinery\"\"\",\
                \"two\nlines 👍\",,,\r\n\
                999001400100101,2021-07-29,fee,15.00,AUD,,false,,,,,,F1\n\
                999001400100101,2021-07-29,fee,15.00,AUD,,true,,,,,,F2\n\
                999001400100101,2021-07-29,virtual_account_credit,1.00,AUD,,,VA1,,,700100901,999042,\n";
    // A byte order mark, as spreadsheets write it, is no part of the first column's name.
    let file = format!("\u{feff}{HEAD}{rows}");
    assert_eq!(counts(csv(&ledger, &file).await.unwrap()), [4, 0]);
    assert_eq!(counts(csv(&ledger, &file).await.unwrap()), [0, 4]);
    assert_eq!(the_balance(&ledger).await, "1251.00 AUD");
    let entries = whole(&ledger, today()).await.read_entries().unwrap();
    let first = &entries[0].entry;
    assert_eq!(
        (first.counterparty_name(), first.narrative().as_str()),
        (Some("Jarrah, \"Joinery\""), "two\nlines 👍")
    );
    assert_eq!(first.value_date.as_ref().unwrap().to_string(), "2021-07-30");
    assert_eq!(entries[2].entry.reversal, Some(true));
    let columns_in_another_order =
        "kind,currency,amount,account,date\nfee,AUD,1.00,999001400100101,2021-07-29\n";
    assert_eq!(
        counts(csv(&ledger, columns_in_another_order).await.unwrap()),
        [1, 0]
    );
    assert_eq!(the_balance(&ledger).await, "1250.00 AUD");
}

async fn each_error_in_csv_names_line_and_column<E: Engine>() {
    let ledger = ledger::<E>().await;
    let good = "999001400100101,2021-07-29,fee,15.00,AUD,,,R1,,,,,\n";
    for (from, to, column) in [
        ("999001400100101", "", "account"),
        ("999001400100101", "no-account", "account"),
        ("999001400100101", "12345", "account"),
        ("2021-07-29", "29.07.2021", "date"),
        ("fee", "bribe", "kind"),
        ("15.00", "15,00", ""),
        ("15.00", "1e3", "amount"),
        ("15.00", "0.00", "amount"),
        ("15.00", "1.005", "amount"),
        ("AUD", "aud", "currency"),
        ("AUD", "USD", "currency"),
        ("AUD,,,R1", "AUD,tomorrow,,R1", "value_date"),
        ("AUD,,,R1", "AUD,,maybe,R1", "reversal"),
        ("R1", "0123456789012345678901234567890123456", "reference"),
        ("R1,,,", "R1,,,7", "virtual_account"),
        ("15.00", "16.00", "reference"),
    ] {
        // Behind a byte order mark, a line that ends as on Windows, and empty lines of both kinds.
        let before = good.replace('\n', "\r\n");
        let file = format!("\u{feff}{HEAD}{before}\n\r\n{}", good.replacen(from, to, 1));
        let error = csv(&ledger, &file).await.unwrap_err();
        match &error {
            LoadError::Row {
                line,
                column: found,
                ..
            } => assert_eq!((*line, *found), (5, column), "{error:?}"),
            LoadError::Columns {
                line: 5,
                expected: 13,
                found: 14,
            } => assert_eq!(column, ""),
            other => panic!("{other:?}"),
        }
        assert!(error.to_string().starts_with("line 5"), "{error}");
    }
    let refused = csv(&ledger, &format!("{HEAD}{}", good.replace("AUD", "USD")))
        .await
        .unwrap_err();
    let LoadError::Row {
        source: RowError::Book(source),
        ..
    } = refused
    else {
        panic!("{refused:?}")
    };
    assert_eq!(source.to_string(), "currency: expected AUD, found USD");
    let column = csv(&ledger, "account,amout\n").await.unwrap_err();
    assert_eq!(
        column.to_string(),
        r#"line 1: expected the name of another column, found "amout""#
    );
    let twice = csv(&ledger, "account,account\n").await.unwrap_err();
    assert!(matches!(twice, LoadError::Column { .. }), "{twice:?}");
    for empty in ["", "account,date,kind,currency\n"] {
        assert!(matches!(
            csv(&ledger, empty).await,
            Err(LoadError::NoColumn { .. })
        ));
    }
    let latin = [
        HEAD.as_bytes(),
        good.as_bytes(),
        b"999001400100101,2021-07-29,fee,1,AUD,,,,,Geb\xfchr,,,\n",
    ]
    .concat();
    let latin = ledger
        .load_csv(Box::new(Cursor::new(latin)))
        .await
        .unwrap_err();
    assert!(matches!(latin, LoadError::Utf8 { line: 3 }), "{latin:?}");
    // Nothing of a file that is refused is booked.
    assert_eq!(the_balance(&ledger).await, "0 AUD");
}

/// A row without an end is refused in bounded memory: a quotation mark without an end makes the
/// rest of a file one row.
async fn a_row_without_end_is_refused_in_bounded_memory<E: Engine>() {
    let ledger = ledger::<E>().await;
    let good = "999001400100101,2021-07-29,fee,15.00,AUD,,,,,,,,\n";
    let rest = BufReader::new(std::io::repeat(b'x'));
    let file = BufReader::new(std::io::Read::chain(
        Cursor::new(format!("{HEAD}{good}\"").into_bytes()),
        rest,
    ));
    let error = ledger.load_csv(Box::new(file)).await.unwrap_err();
    assert!(
        matches!(
            error,
            LoadError::TooLong {
                line: 2,
                most: 65_536
            }
        ),
        "{error:?}"
    );
    let long = good.replace("AUD,,", &format!("AUD,,\"{}\"", "x".repeat(65_600)));
    let wide = csv(&ledger, &format!("{HEAD}{good}{long}"))
        .await
        .unwrap_err();
    assert!(
        matches!(
            wide,
            LoadError::TooLong {
                line: 2,
                most: 65_536
            }
        ),
        "{wide:?}"
    );
    // Many rows are no long row.
    let row = good.replace("AUD,,,,,", &format!("AUD,,,,,{}", "x".repeat(200)));
    let many = format!("{HEAD}{}", row.repeat(600));
    assert_eq!(counts(csv(&ledger, &many).await.unwrap()), [600, 0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Any bytes are loaded or refused; a panic would show as an error of the store.
    #[test]
    fn any_bytes_are_loaded_or_refused(
        rows in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let csv = [HEAD.as_bytes(), b"999001400100101,2021-07-29,fee,1,AUD,,,,,,,,\n", &rows].concat();
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let ledger = ledger::<Sqlite>().await;
            for rows in [csv, rows] {
                let csv = ledger.load_csv(Box::new(Cursor::new(rows))).await;
                assert!(!matches!(csv, Err(LoadError::Store(_))), "{csv:?}");
            }
        });
    }
}

over_both! {
    entries_of_real_documents_are_kept_as_they_are,
    bookings_are_loaded_from_csv,
    each_error_in_csv_names_line_and_column,
    a_row_without_end_is_refused_in_bounded_memory,
}
