//! Specification: Statement payload. One test per row of its table, on what the builder emits.

use crate::tree::{leaves, texts};
use bankrail_camt052::{
    BuildError, CreationTime, Document, EntryBuilder, FindingKind, IsoDateTime, Mode, ReadOptions,
    ReportBuilder, ReportIds,
};
use bankrail_values::{Currency, Date, Decimal, Money, SimpleUuid};

fn builder() -> ReportBuilder {
    in_balance("1245500.00 AUD")
}

fn in_balance(balance: &str) -> ReportBuilder {
    of_balance(balance.parse().unwrap())
}

fn of_balance(balance: Money) -> ReportBuilder {
    ReportBuilder::new(
        ReportIds {
            message: SimpleUuid::parse("44b756ed60c8496391a768af90073f3f").unwrap(),
            report: SimpleUuid::parse("2a49546e4627493c9ba9645df24c9271").unwrap(),
        },
        "CMM",
        "2021-07-29T17:10:05.1750344+10:00".parse().unwrap(),
        "011222814766538",
        balance,
        Date::parse("2021-07-29").unwrap(),
    )
}

fn entry(amount: &str) -> EntryBuilder {
    EntryBuilder::new(amount.parse().unwrap(), Date::parse("2021-07-29").unwrap())
}

/// Returns a report with a credit that has everything, a debit, and a credit that has nothing
/// optional.
pub(crate) fn full() -> String {
    let everything = entry("25.00 AUD")
        .value_date(Date::parse("2021-07-30").unwrap())
        .servicer_reference("1234567890123456789")
        .end_to_end_id("Tx0000163773")
        .reference("ServiceLevel", "ics1.clear.V01")
        .debtor("JANE CITIZEN")
        .creditor("BILBO BAGGINS")
        .creditor_account("006430991", Some("010201"))
        .narrative("payment 12345 - sample emoji 👍");
    let document = builder()
        .entries([everything, entry("-10.5 AUD"), entry("0.00 AUD")])
        .build()
        .unwrap();
    let xml = document.to_xml().unwrap();
    let strict = ReadOptions::default()
        .mode(Mode::Strict)
        .deny_findings(true);
    assert_eq!(
        Document::parse_with(&xml, &strict).unwrap().document,
        document
    );
    xml
}

fn empty() -> String {
    builder().build().unwrap().to_xml().unwrap()
}

fn assert_texts(path: &str, expected: &[&str]) {
    assert_eq!(texts(&full(), path), expected, "{path}");
}

#[test]
fn root_and_namespace() {
    let xml = full();
    assert!(xml.starts_with(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
         <Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.052.001.06\"><BkToCstmrAcctRpt><GrpHdr>"
    ));
}

#[test]
fn group_header_message_id() {
    assert_texts("GrpHdr/MsgId", &["44b756ed60c8496391a768af90073f3f"]);
}

#[test]
fn group_header_creation_time() {
    assert_texts("GrpHdr/CreDtTm", &["2021-07-29T17:10:05.1750344+10:00"]);
    for refused in ["2021-07-29T17:10:05.1750344", "2021-07-29T17:10:05+10:00"] {
        let expected =
            format!("expected a creation time with fraction digits and offset, found {refused:?}");
        assert_eq!(
            refused.parse::<CreationTime>().unwrap_err().to_string(),
            expected
        );
        let at: IsoDateTime = refused.parse().unwrap();
        assert_eq!(
            CreationTime::try_from(at).unwrap_err().to_string(),
            expected
        );
    }
}

#[test]
fn report_id() {
    assert_texts("Rpt/Id", &["2a49546e4627493c9ba9645df24c9271"]);
}

#[test]
fn report_creation_time() {
    assert_texts("Rpt/CreDtTm", &["2021-07-29T17:10:05.1750344+10:00"]);
}

#[test]
fn reporting_source() {
    assert_texts("Rpt/RptgSrc/Prtry", &["CMM"]);
}

#[test]
fn account_id() {
    assert_texts("Rpt/Acct/Id/Othr/Id", &["011222814766538"]);
}

#[test]
fn account_currency() {
    assert_texts("Rpt/Acct/Ccy", &["AUD"]);
    let in_currency = |currency: &str| in_balance(&format!("1.00 {currency}"));
    for currency in ["USD", "JPY", "XAU"] {
        assert!(in_currency(currency).build().is_ok(), "{currency}");
    }
    for currency in ["QQQ", "DEM"] {
        let refused = in_currency(currency).build().unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("expected a currency that ISO 4217 lists, found {currency}")
        );
        let document = in_currency(currency)
            .allow_unlisted_currency()
            .build()
            .unwrap();
        assert_eq!(
            texts(&document.to_xml().unwrap(), "Rpt/Acct/Ccy"),
            [currency]
        );
    }
}

#[test]
fn balance_type() {
    assert_texts("Rpt/Bal/Tp/CdOrPrtry/Cd", &["ITAV"]);
}

#[test]
fn balance_sub_type() {
    assert_texts("Rpt/Bal/Tp/SubTp/Prtry", &["Current"]);
}

#[test]
fn balance_amount() {
    assert_texts("Rpt/Bal/Amt", &["1245500.00"]);
    assert_texts("Rpt/Bal/Amt/@Ccy", &["AUD"]);
}

#[test]
fn balance_direction() {
    assert_texts("Rpt/Bal/CdtDbtInd", &["CRDT"]);
    let id = SimpleUuid::parse("44b756ed60c8496391a768af90073f3f").unwrap();
    let date = Date::parse("2021-07-29").unwrap();
    let at = "2021-07-29T17:10:05.1+10:00".parse().unwrap();
    let overdrawn = ReportBuilder::new(
        ReportIds {
            message: id,
            report: id,
        },
        "CMM",
        at,
        "1",
        "-7.50 AUD".parse().unwrap(),
        date,
    )
    .build()
    .unwrap();
    let xml = overdrawn.to_xml().unwrap();
    assert_eq!(
        (texts(&xml, "Bal/Amt"), texts(&xml, "Bal/CdtDbtInd")),
        (vec!["7.50".into()], vec!["DBIT".into()])
    );
}

#[test]
fn balance_date() {
    assert_texts("Rpt/Bal/Dt/Dt", &["2021-07-29"]);
}

#[test]
fn summary_of_all_entries() {
    assert_texts("TxsSummry/TtlNtries/NbOfNtries", &["3"]);
    assert_texts("TxsSummry/TtlNtries/Sum", &["35.50"]);
    assert_texts("TxsSummry/TtlNtries/TtlNetNtry/Amt", &["14.50"]);
    assert_texts("TxsSummry/TtlNtries/TtlNetNtry/CdtDbtInd", &["CRDT"]);
}

#[test]
fn summary_of_credits() {
    assert_texts("TxsSummry/TtlCdtNtries/NbOfNtries", &["2"]);
    assert_texts("TxsSummry/TtlCdtNtries/Sum", &["25.00"]);
}

#[test]
fn summary_of_debits() {
    assert_texts("TxsSummry/TtlDbtNtries/NbOfNtries", &["1"]);
    assert_texts("TxsSummry/TtlDbtNtries/Sum", &["10.5"]);
}

#[test]
fn a_sum_of_no_entries_is_spelled_like_the_others() {
    let xml = builder()
        .entry(entry("219.50 AUD"))
        .build()
        .unwrap()
        .to_xml()
        .unwrap();
    assert_eq!(texts(&xml, "TxsSummry/TtlDbtNtries/Sum"), ["0.00"]);
    let xml = builder()
        .entry(entry("-15 AUD"))
        .build()
        .unwrap()
        .to_xml()
        .unwrap();
    assert_eq!(texts(&xml, "TxsSummry/TtlCdtNtries/Sum"), ["0"]);
}

#[test]
fn a_report_without_entries_has_zero_counts_and_sums() {
    let xml = empty();
    let summary: Vec<_> = leaves(&xml)
        .into_iter()
        .filter(|(path, _)| path.contains("TxsSummry"))
        .collect();
    let texts: Vec<_> = summary.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["0", "0", "0", "CRDT", "0", "0", "0", "0"]);
    assert!(!xml.contains("<Ntry>"));
}

#[test]
fn entries() {
    assert_eq!(full().matches("<Ntry>").count(), 3);
}

#[test]
fn entry_amount_and_direction() {
    assert_texts("Rpt/Ntry/Amt", &["25.00", "10.5", "0.00"]);
    assert_texts("Rpt/Ntry/Amt/@Ccy", &["AUD", "AUD", "AUD"]);
    assert_texts("Rpt/Ntry/CdtDbtInd", &["CRDT", "DBIT", "CRDT"]);
}

#[test]
fn entry_status() {
    assert_texts("Ntry/Sts", &["BOOK", "BOOK", "BOOK"]);
}

#[test]
fn entry_dates() {
    assert_texts(
        "Ntry/BookgDt/Dt",
        &["2021-07-29", "2021-07-29", "2021-07-29"],
    );
    assert_texts("Ntry/ValDt/Dt", &["2021-07-30", "2021-07-29", "2021-07-29"]);
}

#[test]
fn entry_bank_transaction_codes() {
    assert_texts("Ntry/BkTxCd/Domn/Cd", &["PMNT"; 3]);
    assert_texts("Ntry/BkTxCd/Domn/Fmly/Cd", &["RCDT", "ICDT", "RCDT"]);
    assert_texts("Ntry/BkTxCd/Domn/Fmly/SubFmlyCd", &["DMCT"; 3]);
}

/// Nothing is a credit, however it is signed.
#[test]
fn a_negated_zero_is_a_credit() {
    let zero = Money::new(-Decimal::new(0, 2), Currency::AUD);
    assert!(zero.amount().is_sign_negative());
    let entry = EntryBuilder::new(zero, Date::parse("2021-07-29").unwrap());
    let xml = of_balance(zero)
        .entry(entry)
        .build()
        .unwrap()
        .to_xml()
        .unwrap();
    assert_eq!(texts(&xml, "Bal/CdtDbtInd"), ["CRDT"]);
    assert_eq!(texts(&xml, "TxDtls/CdtDbtInd"), ["CRDT"]);
    assert_eq!(texts(&xml, "Ntry/BkTxCd/Domn/Fmly/Cd"), ["RCDT"]);
}

#[test]
fn transaction_references() {
    assert_texts("TxDtls/Refs/AcctSvcrRef", &["1234567890123456789"]);
    assert_texts("TxDtls/Refs/EndToEndId", &["Tx0000163773"]);
    assert_texts("TxDtls/Refs/Prtry/Tp", &["ServiceLevel"]);
    assert_texts("TxDtls/Refs/Prtry/Ref", &["ics1.clear.V01"]);
    assert_eq!(
        full().matches("<Refs>").count(),
        1,
        "only where there is a reference"
    );
}

#[test]
fn transaction_amount_and_direction() {
    assert_texts("TxDtls/Amt", &["25.00", "10.5", "0.00"]);
    assert_texts("TxDtls/Amt/@Ccy", &["AUD"; 3]);
    assert_texts("TxDtls/CdtDbtInd", &["CRDT", "DBIT", "CRDT"]);
}

#[test]
fn related_parties() {
    assert_texts("RltdPties/Dbtr/Nm", &["JANE CITIZEN"]);
    assert_texts("RltdPties/Cdtr/Nm", &["BILBO BAGGINS"]);
    assert_texts("RltdPties/CdtrAcct/Id/Othr/Id", &["006430991"]);
    assert_texts("RltdPties/CdtrAcct/Id/Othr/Issr", &["010201"]);
    assert_eq!(
        full().matches("<RltdPties>").count(),
        1,
        "only where there is a party"
    );
}

#[test]
fn unstructured_remittance() {
    assert_texts("RmtInf/Ustrd", &["payment 12345 - sample emoji 👍"]);
    let narrative = "👍".repeat(300);
    let document = builder()
        .entry(entry("1.00 AUD").narrative(&narrative))
        .build()
        .unwrap();
    let pieces = texts(&document.to_xml().unwrap(), "Ustrd");
    assert_eq!(
        pieces
            .iter()
            .map(|piece| piece.chars().count())
            .collect::<Vec<_>>(),
        [140, 140, 20]
    );
    assert_eq!(document.reports[0].entries[0].narrative(), narrative);
}

#[test]
fn the_net_of_the_summary_has_a_direction() {
    for (amounts, net, direction) in [
        (["5.00 AUD", "-7.50 AUD"], "2.50", "DBIT"),
        (["7.50 AUD", "-5.00 AUD"], "2.50", "CRDT"),
        (["5.00 AUD", "-5.00 AUD"], "0.00", "CRDT"),
    ] {
        let xml = builder()
            .entries(amounts.map(entry))
            .build()
            .unwrap()
            .to_xml()
            .unwrap();
        assert_eq!(
            texts(&xml, "TtlNtries/TtlNetNtry/Amt"),
            [net],
            "{amounts:?}"
        );
        assert_eq!(
            texts(&xml, "TtlNtries/TtlNetNtry/CdtDbtInd"),
            [direction],
            "{amounts:?}"
        );
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    assert!(
        builder().entry(entry("1.00 USD")).build().is_err(),
        "another currency"
    );
    assert!(
        builder().entry(entry("1.000001 AUD")).build().is_err(),
        "six decimals"
    );
    assert!(
        builder()
            .entry(entry("1.00 AUD").end_to_end_id(&"x".repeat(36)))
            .build()
            .is_err(),
        "too long"
    );
    let forbidden = builder()
        .entry(entry("1.00 AUD").narrative("\u{1}"))
        .build()
        .unwrap_err();
    let BuildError::Invalid {
        path,
        kind: FindingKind::Character { found: '\u{1}' },
    } = forbidden
    else {
        panic!("{forbidden:?}")
    };
    assert!(path.ends_with("/RmtInf/Ustrd[1]"), "{path}");
    assert!(
        builder()
            .entry(entry("1.00 AUD").debtor(""))
            .build()
            .is_err(),
        "empty"
    );
}

#[test]
fn entries_that_are_ready_are_taken_as_they_are() {
    let ready = entry("-3.00 AUD").narrative("rent").build().unwrap();
    let document = builder()
        .entry(ready.clone())
        .entry(entry("1.00 AUD"))
        .account_name("Trust")
        .build()
        .unwrap();
    assert_eq!(document.reports[0].entries[0], ready);
    assert_eq!(document.reports[0].account.name.as_ref().unwrap(), "Trust");
    assert_eq!(
        texts(&document.to_xml().unwrap(), "TtlNtries/Sum"),
        ["4.00"]
    );
    let dollars = entry("1.00 USD").build().unwrap();
    assert!(
        matches!(builder().entries([ready, dollars]).build(), Err(BuildError::Currency { found, .. }) if found == "USD")
    );
}

#[test]
fn the_xml_in_a_json_string_is_the_same_xml() {
    let document = builder()
        .entry(entry("1.00 AUD").narrative("\"quoted\" \\ <&>\n\r\t👍"))
        .build()
        .unwrap();
    let mut json = String::from("{\"payload\":");
    document.write_json_string(&mut json).unwrap();
    json.push('}');
    let body: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        body["payload"].as_str().unwrap(),
        document.to_xml().unwrap()
    );
}
