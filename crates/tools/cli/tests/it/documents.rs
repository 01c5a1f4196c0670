//! Documents for the tests, made by the library's builders.

use bankrail::camt052::{Document, EntryBuilder, ReportBuilder, ReportIds};
use bankrail::statement::{AccountId, Cursor, NextPage, StatementResponse};
use bankrail::values::{Date, SimpleUuid};

pub(crate) const ACCOUNT: &str = "011222814766538";

pub(crate) fn day() -> Date {
    Date::parse("2021-07-29").unwrap()
}

pub(crate) fn entry(amount: &str) -> EntryBuilder {
    EntryBuilder::new(format!("{amount} AUD").parse().unwrap(), day())
}

/// Returns a report made at this hour.
pub(crate) fn report_at(hour: u8, entries: impl IntoIterator<Item = EntryBuilder>) -> Document {
    report_of(ACCOUNT, hour, entries)
}

pub(crate) fn report_of(
    account: &str,
    hour: u8,
    entries: impl IntoIterator<Item = EntryBuilder>,
) -> Document {
    let ids = ReportIds {
        message: SimpleUuid::parse("44b756ed60c8496391a768af90073f3f").unwrap(),
        report: SimpleUuid::parse("2a49546e4627493c9ba9645df24c9271").unwrap(),
    };
    let created_at = format!("2021-07-29T{hour:02}:10:05.1750344+10:00")
        .parse()
        .unwrap();
    ReportBuilder::new(
        ids,
        "CMM",
        created_at,
        account,
        "1245500.00 AUD".parse().unwrap(),
        day(),
    )
    .entries(entries)
    .build()
    .unwrap()
}

pub(crate) fn xml(entries: impl IntoIterator<Item = EntryBuilder>) -> String {
    report_at(17, entries).to_xml().unwrap()
}

/// Two credits and a debit.
pub(crate) fn three() -> String {
    xml([
        entry("25.00")
            .debtor("JANE CITIZEN")
            .narrative("rent 👍")
            .servicer_reference("REF-1"),
        entry("-12.50")
            .creditor("Power & Light")
            .end_to_end_id("E2E-1"),
        entry("0.75"),
    ])
}

/// Returns the JSON answer with this document, and whether more follows.
pub(crate) fn answer(xml: &str, more: bool) -> String {
    let page = if more {
        NextPage::At {
            cursor: Cursor::parse("eA==").unwrap(),
        }
    } else {
        NextPage::None
    };
    let key = "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003".parse().unwrap();
    StatementResponse::new(&AccountId::parse(ACCOUNT).unwrap(), key, page).to_json(xml)
}
