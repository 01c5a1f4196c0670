//! The texts and balances that users of reports ask for.

use crate::findings::document;
use bankrail_camt052::{
    AccountIdentification, BalanceCode, BalanceSubType, BalanceTypeCode, ChargeType,
    DateOrDateTime, Document, IsoDate, IsoDateTime, IssuedId, OtherAccountId, ReadOptions, Report,
};
use bankrail_values::{Currency, Money};

fn report(before: &str, entries: &str) -> Report {
    let parsed =
        Document::parse(document(before, entries)).unwrap_or_else(|error| panic!("{error}"));
    parsed.document.reports.into_iter().next().unwrap()
}

fn entry(amount: &str, status: &str, direction: &str, more: &str) -> String {
    format!(
        "<Ntry><Amt Ccy=\"AUD\">{amount}</Amt><CdtDbtInd>{direction}</CdtDbtInd>\
         <Sts>{status}</Sts><BkTxCd/>{more}</Ntry>"
    )
}

#[test]
fn the_narrative_is_taken_from_all_places_in_order() {
    let structured = "<Strd><RfrdDocInf><Nb>INV1</Nb></RfrdDocInf><RfrdDocInf><Nb>INV2</Nb></RfrdDocInf><CdtrRefInf>\
        <Ref>RF18</Ref></CdtrRefInf><AddtlRmtInf>more</AddtlRmtInf><AddtlRmtInf>again</AddtlRmtInf></Strd>";
    let transaction = |remittance: &str, more: &str| {
        let remittance = if remittance.is_empty() {
            String::new()
        } else {
            format!("<RmtInf>{remittance}</RmtInf>")
        };
        format!(
            "<TxDtls><Amt Ccy=\"AUD\">1</Amt><CdtDbtInd>CRDT</CdtDbtInd>{remittance}{more}</TxDtls>"
        )
    };
    let first = transaction(
        &format!("<Ustrd>in pieces</Ustrd>{structured}"),
        "<AddtlTxInf>first</AddtlTxInf>",
    );
    let second = transaction(
        "<Ustrd>in pieces</Ustrd>",
        "<AddtlTxInf>second</AddtlTxInf>",
    );
    let third = transaction("", "");
    let details =
        format!("<NtryDtls>{first}{second}{third}</NtryDtls><AddtlNtryInf>whole</AddtlNtryInf>");
    let report = report("", &entry("3", "BOOK", "CRDT", &details));
    let entry = &report.entries[0];
    let of_first = "in pieces\nRF18\nINV1\nINV2\nmore\nagain\nfirst";
    assert_eq!(
        entry.narrative(),
        format!("{of_first}\nsecond\nwhole"),
        "each text once"
    );
    let lines: Vec<String> = report.lines().map(|line| line.narrative()).collect();
    assert_eq!(lines, [of_first, "in pieces\nsecond", "whole"]);
    let remittance = entry
        .transactions()
        .next()
        .unwrap()
        .remittance
        .as_ref()
        .unwrap();
    assert_eq!(
        remittance.narrative(),
        "in pieces\nRF18\nINV1\nINV2\nmore\nagain"
    );
}

#[test]
fn an_entry_without_transactions_says_what_the_entry_says() {
    let report = report(
        "",
        &(entry("1", "BOOK", "CRDT", "<AddtlNtryInf>whole</AddtlNtryInf>")
            + &entry("1", "BOOK", "CRDT", "")),
    );
    let lines: Vec<String> = report.lines().map(|line| line.narrative()).collect();
    assert_eq!(lines, ["whole", ""]);
    assert_eq!(report.entries[0].narrative(), "whole");
}

fn balance(code: &str, amount: &str, direction: &str) -> String {
    format!(
        "<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp><Amt Ccy=\"AUD\">{amount}</Amt>\
         <CdtDbtInd>{direction}</CdtDbtInd><Dt><Dt>2021-07-29</Dt></Dt></Bal>"
    )
}

#[test]
fn balances_by_kind() {
    let balances = [
        "PRCD 1", "OPBD 2", "ITAV 3", "ITBD 4", "ITBD 5", "CLBD 6", "CLBD 7",
    ];
    let of = |names: &[&str]| {
        let balances = names.iter().map(|name| name.split_once(' ').unwrap());
        report(
            &balances
                .map(|(code, amount)| balance(code, amount, "DBIT"))
                .collect::<String>(),
            "",
        )
    };
    let amount = |balance: Option<&bankrail_camt052::Balance>| {
        let amount = balance?.signed_amount()?;
        assert_eq!(
            balance?.signed_money(),
            Some(Money::new(amount, Currency::AUD))
        );
        Some(amount.to_string())
    };
    let all = of(&balances);
    assert_eq!(
        amount(all.balance(&BalanceCode::InterimAvailable)).as_deref(),
        Some("-3")
    );
    assert_eq!(
        amount(all.balance(&BalanceCode::InterimBooked)).as_deref(),
        Some("-4")
    );
    assert_eq!(amount(all.balance(&BalanceCode::Information)), None);
    assert_eq!(amount(all.opening_balance()).as_deref(), Some("-2"));
    assert_eq!(amount(all.closing_balance()).as_deref(), Some("-7"));
    let few = of(&[balances[0], balances[2], balances[3], balances[4]]);
    assert_eq!(amount(few.opening_balance()).as_deref(), Some("-1"));
    assert_eq!(amount(few.closing_balance()).as_deref(), Some("-5"));
    let none = of(&[balances[2]]);
    assert!(none.opening_balance().is_none() && none.closing_balance().is_none());
}

#[test]
fn the_running_balance_follows_the_booked_entries() {
    let entries = [
        entry("5.00", "BOOK", "CRDT", ""),
        entry("100.00", "PDNG", "DBIT", ""),
        entry("20.50", "BOOK", "DBIT", ""),
        entry("1.00", "BOOK", "CRDT", "").replace("AUD", "EUR"),
        entry("1.00", "BOOK", "CRDT", ""),
    ]
    .concat();
    let running = |report: &Report| -> Vec<Option<String>> {
        report
            .running_balances()
            .map(|(_, balance)| balance.map(|balance| balance.to_string()))
            .collect()
    };
    let found = running(&report(&balance("OPBD", "10.00", "CRDT"), &entries));
    let found: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
    assert_eq!(
        found,
        [Some("15.00"), Some("15.00"), Some("-5.50"), None, None]
    );
    assert!(running(&report("", &entries)).iter().all(Option::is_none));
}

/// The element may follow the reports.
#[test]
fn the_header_of_a_stream_is_known_as_soon_as_it_has_been_read() {
    let xml = document("", &entry("1", "BOOK", "CRDT", ""));
    let (start, end) = (
        xml.find("<GrpHdr>").unwrap(),
        xml.find("</GrpHdr>").unwrap() + "</GrpHdr>".len(),
    );
    let header = xml[start..end].to_owned();
    let behind = xml
        .replace(&header, "")
        .replace("</Rpt>", &format!("</Rpt>{header}<SplmtryData/>"));
    let behind = behind.replace(
        "<SplmtryData/>",
        &xml[xml.find("<Rpt>").unwrap()..xml.find("</BkTo").unwrap()],
    );
    for (xml, known) in [
        (xml, vec![true, true, true]),
        (behind, vec![false, false, false, true, true, true]),
    ] {
        let mut reader = bankrail_camt052::EntryReader::new(xml.as_bytes(), ReadOptions::default());
        let mut found = Vec::new();
        while let Some(item) = reader.next_item().unwrap() {
            if let bankrail_camt052::StreamItem::MessageEnd(end) = item {
                assert!(end.group_header.is_some());
            } else {
                found.push(reader.header().is_some());
            }
        }
        assert_eq!(found, known);
    }
}

#[test]
fn choices_print_what_they_hold() {
    let day: IsoDate = "2021-07-29".parse().unwrap();
    let at: IsoDateTime = "2021-07-29T10:00:00Z".parse().unwrap();
    for (printed, expected) in [
        (
            BalanceTypeCode::Code(BalanceCode::ClosingBooked).to_string(),
            "CLBD",
        ),
        (
            BalanceTypeCode::Proprietary("own".into()).to_string(),
            "own",
        ),
        (BalanceTypeCode::Unknown.to_string(), "unknown"),
        (
            AccountIdentification::Iban("DE89370400440532013000".into()).to_string(),
            "DE89370400440532013000",
        ),
        (
            AccountIdentification::Other(OtherAccountId::new("1".into())).to_string(),
            "1",
        ),
        (AccountIdentification::Unknown.to_string(), "unknown"),
        (DateOrDateTime::Date(day).to_string(), "2021-07-29"),
        (
            DateOrDateTime::DateTime(at.clone().into()).to_string(),
            "2021-07-29T10:00:00Z",
        ),
        (
            ChargeType::Code(bankrail_camt052::ChargeTypeCode::Commission).to_string(),
            "COMM",
        ),
        (
            ChargeType::Proprietary(IssuedId::new("own".into())).to_string(),
            "own",
        ),
    ] {
        assert_eq!(printed, expected);
    }
    assert_eq!(
        BalanceTypeCode::Code(BalanceCode::ClosingBooked).code(),
        Some("CLBD")
    );
    assert_eq!(
        BalanceTypeCode::Code(BalanceCode::ClosingBooked).proprietary(),
        None
    );
    assert_eq!(
        BalanceSubType::Proprietary("Current".into()).proprietary(),
        Some("Current")
    );
    assert_eq!(
        DateOrDateTime::DateTime(at.clone().into())
            .date()
            .map(|date| date.day()),
        Some(29)
    );
    assert_eq!(
        AccountIdentification::Other(OtherAccountId::new("1".into()))
            .other()
            .map(|other| other.id.as_str()),
        Some("1")
    );
}

#[test]
fn a_debit_of_nothing_has_no_sign() {
    for (amount, signed) in [("0.00", "0.00"), ("0.05", "-0.05")] {
        let report = report("", &entry(amount, "BOOK", "DBIT", ""));
        assert_eq!(
            report.entries[0].signed_amount().unwrap().to_string(),
            signed
        );
    }
}
