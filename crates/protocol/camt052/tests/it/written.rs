//! A report around entries that were written before is the report that is built of their models.

use bankrail_camt052::{BuildError, Entry, EntryBuilder, ReportBuilder, ReportIds, WrittenEntry};
use bankrail_values::{Currency, Date, Decimal, Money, SimpleUuid};
use proptest::prelude::*;

fn today() -> Date {
    Date::parse("2021-07-29").unwrap()
}

fn report(balance: &str) -> ReportBuilder {
    let [message, report] = [1, 2].map(|byte| SimpleUuid::from_random_bytes([byte; 16]));
    let created_at = "2021-07-29T17:10:05.1750344+10:00".parse().unwrap();
    ReportBuilder::new(
        ReportIds { message, report },
        "CMM",
        created_at,
        "1",
        balance.parse().unwrap(),
        today(),
    )
}

fn entry(amount: Decimal, narrative: &str) -> Entry {
    EntryBuilder::new(Money::new(amount, Currency::AUD), today())
        .debtor("J & <Sons>")
        .narrative(narrative)
        .build()
        .unwrap()
}

fn around(builder: ReportBuilder, entries: &[WrittenEntry]) -> Result<String, BuildError> {
    let entries: Vec<&WrittenEntry> = entries.iter().collect();
    Ok(builder.build_around(&entries)?.parts().collect())
}

proptest! {
    #[test]
    fn it_has_the_same_text(
        entries in proptest::collection::vec((-1_000_000_i64..1_000_000, 0_u32..=5, "[a-z <>&\"'👍]{0,20}"), 0..8),
        debits in proptest::collection::vec(any::<bool>(), 8),
    ) {
        let mut models: Vec<Entry> =
            entries.iter().map(|(amount, scale, text)| entry(Decimal::new(*amount, *scale), text)).collect();
        // A zero may be a debit too.
        for (model, debit) in models.iter_mut().zip(debits) {
            if model.amount.value().is_zero() && debit {
                model.direction = bankrail_camt052::Direction::Debit;
            }
        }
        let written: Vec<WrittenEntry> = models.iter().map(|model| WrittenEntry::new(model).unwrap()).collect();
        for (model, written) in models.iter().zip(&written) {
            prop_assert_eq!(written.read(), Some(model.clone()));
            let stored = (written.xml().to_owned(), written.amount(), written.direction().clone());
            prop_assert_eq!(&WrittenEntry::assume_written(stored.0, stored.1, stored.2), written);
        }
        let built = report("1.00 AUD").account_name("Operating").entries(models).build().unwrap();
        let around = around(report("1.00 AUD").account_name("Operating"), &written).unwrap();
        prop_assert_eq!(around, built.to_xml().unwrap());
    }
}

#[test]
fn what_a_report_cannot_have_is_refused() {
    let written =
        |amount: &str| WrittenEntry::new(&entry(amount.parse().unwrap(), "rent")).unwrap();
    let euros = around(report("1.00 EUR"), &[written("1.00")]).unwrap_err();
    assert_eq!(euros.to_string(), "expected an entry in EUR, found AUD");
    let twice = around(
        report("1.00 AUD"),
        &[written("600000000000000000"), written("600000000000000000")],
    );
    assert!(twice.is_err(), "a sum of nineteen digits");
    let mut long = entry("1.00".parse().unwrap(), "rent");
    long.servicer_reference = Some("x".repeat(36).as_str().into());
    assert!(matches!(
        WrittenEntry::new(&long),
        Err(BuildError::Invalid { .. })
    ));
    let any = Money::new("1.00".parse().unwrap(), Currency::AUD);
    for text in ["", "<Ntry>", "<Ntry/><Ntry/>", "no element"] {
        let credit = bankrail_camt052::Direction::Credit;
        assert_eq!(
            WrittenEntry::assume_written(text.to_owned(), any, credit).read(),
            None,
            "{text}"
        );
    }
}
