//! Findings, their places, and what strict reading refuses.

use bankrail_camt052::{
    AccountIdentification, Amount, CountedEntries, CounterpartyAccount, Disagreement, Document,
    Finding, FindingKind, Mode, NAMESPACE, ReadErrorKind, ReadOptions, WriteOptions,
};

const ENTRY: &str =
    r#"<Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>"#;

/// Returns a document with a summary, some entries, and something after them.
pub(crate) fn document(before_entries: &str, entries: &str) -> String {
    format!(
        r#"<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.06"><BkToCstmrAcctRpt>
<GrpHdr><MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05Z</CreDtTm></GrpHdr>
<Rpt><Id>r</Id><CreDtTm>2021-07-29T17:10:05Z</CreDtTm><Acct><Id><Othr><Id>1</Id></Othr></Id><Ccy>AUD</Ccy></Acct>
{before_entries}
{entries}
</Rpt></BkToCstmrAcctRpt></Document>"#
    )
}

fn findings(xml: &str) -> Vec<Finding> {
    Document::parse(xml)
        .unwrap_or_else(|error| panic!("{error:?}"))
        .findings
}

fn only(xml: &str) -> Finding {
    let found = findings(xml);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.into_iter().next().unwrap()
}

/// Returns the findings of a check of the model, for a document whose elements are in order.
fn checked(xml: &str) -> Vec<(FindingKind, String)> {
    let parsed = Document::parse(xml).unwrap();
    let found = kinds(parsed.document.check());
    assert_eq!(found, kinds(parsed.findings), "reading finds the same");
    found
}

fn kinds(findings: Vec<Finding>) -> Vec<(FindingKind, String)> {
    findings
        .into_iter()
        .map(|finding| (finding.kind, finding.path))
        .collect()
}

/// Strict reading refuses a finding of the schema, `deny_findings` any.
fn assert_refused(xml: &str, kind: &FindingKind) {
    let options = ReadOptions::default().mode(Mode::Strict);
    let strict = Document::parse_with(xml, &options);
    assert_eq!(strict.is_err(), kind.is_schema(), "{kind}");
    let error = Document::parse_with(xml, &options.deny_findings(true)).unwrap_err();
    assert!(
        matches!(error.kind(), ReadErrorKind::Refused(found) if found == kind),
        "{error:?}"
    );
}

#[test]
fn entries_whose_sum_is_out_of_range_are_counted() {
    let summary =
        "<TxsSummry><TtlNtries><NbOfNtries>3</NbOfNtries><Sum>1</Sum></TtlNtries></TxsSummry>";
    let entries = ENTRY.replace("5.00", &"9".repeat(28)).repeat(9);
    // Sums are no longer known, also where what follows fits again.
    for (entries, counted) in [(entries.clone(), 9), (entries + ENTRY, 10)] {
        let mut found = findings(&document(summary, &entries));
        found.retain(|finding| !finding.kind.is_schema());
        let expected = Disagreement::EntryCount {
            entries: CountedEntries::All,
            stated: 3,
            counted,
        };
        assert_eq!(
            found
                .into_iter()
                .map(|finding| finding.kind)
                .collect::<Vec<_>>(),
            [expected.into()]
        );
    }
}

#[test]
fn counts_and_sums_of_the_summary() {
    let summary = "<TxsSummry><TtlNtries><NbOfNtries>3</NbOfNtries><Sum>11.00</Sum><TtlNetNtry><Amt>9.00</Amt>\
        <CdtDbtInd>DBIT</CdtDbtInd></TtlNetNtry></TtlNtries><TtlCdtNtries><NbOfNtries>1</NbOfNtries><Sum>5.0</Sum>\
        </TtlCdtNtries><TtlDbtNtries><NbOfNtries>1</NbOfNtries><Sum>0.00</Sum></TtlDbtNtries></TxsSummry>";
    let xml = document(summary, &ENTRY.repeat(2));
    let found = checked(&xml);
    let decimal = |text: &str| bankrail_values::parse_decimal(text).unwrap();
    let expected = [
        Disagreement::EntryCount {
            entries: CountedEntries::All,
            stated: 3,
            counted: 2,
        },
        Disagreement::EntrySum {
            entries: CountedEntries::All,
            stated: decimal("11.00"),
            summed: decimal("10.00"),
        },
        Disagreement::NetAmount {
            entries: CountedEntries::All,
            stated: decimal("-9.00"),
            summed: decimal("10.00"),
        },
        Disagreement::EntryCount {
            entries: CountedEntries::Credit,
            stated: 1,
            counted: 2,
        },
        Disagreement::EntrySum {
            entries: CountedEntries::Credit,
            stated: decimal("5.0"),
            summed: decimal("10.00"),
        },
        Disagreement::EntryCount {
            entries: CountedEntries::Debit,
            stated: 1,
            counted: 0,
        },
    ]
    .map(FindingKind::from);
    assert_eq!(
        found
            .iter()
            .map(|(kind, _)| kind.clone())
            .collect::<Vec<_>>(),
        expected
    );
    assert!(
        found
            .iter()
            .all(|(_, path)| path == "/Document/BkToCstmrAcctRpt/Rpt[1]")
    );
    assert_refused(&xml, &expected[0]);
}

#[test]
fn totals_of_bank_transaction_codes() {
    let code = |sub: &str| {
        format!(
            "<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>{sub}</SubFmlyCd></Fmly></Domn></BkTxCd>"
        )
    };
    let own = "<BkTxCd><Prtry><Cd>NTRF</Cd><Issr>X</Issr></Prtry></BkTxCd>";
    let total =
        |facts: &str, code: &str| format!("<TtlNtriesPerBkTxCd>{facts}{code}</TtlNtriesPerBkTxCd>");
    let entries = [
        ENTRY.replace("<BkTxCd/>", &code("DMCT")),
        ENTRY.replace("<BkTxCd/>", own),
    ];
    let pending = entries[0].replace("BOOK", "PDNG");
    let entries = format!("{}{}{pending}", entries[0], entries[1]);
    let summary = |totals: &[String]| {
        document(
            &format!("<TxsSummry>{}</TxsSummry>", totals.concat()),
            &entries,
        )
    };
    let agreeing = summary(&[
        total("<NbOfNtries>2</NbOfNtries><Sum>10</Sum>", &code("DMCT")),
        total("<NbOfNtries>1</NbOfNtries><Sum>5</Sum>", own),
        total("<NbOfNtries>0</NbOfNtries><Sum>0</Sum>", &code("ESCT")),
    ]);
    assert_eq!(checked(&agreeing), []);
    let booked = summary(&[
        total("<NbOfNtries>1</NbOfNtries><FcstInd>false</FcstInd>", own),
        total(
            "<NbOfNtries>1</NbOfNtries><FcstInd>true</FcstInd>",
            &code("DMCT"),
        ),
    ]);
    assert_eq!(checked(&booked), []);
    // Two totals of one code differ in a way that the check does not know, so they are not
    // compared.
    let twice = total("<NbOfNtries>1</NbOfNtries>", &code("DMCT")).repeat(2);
    assert_eq!(checked(&summary(&[twice])), []);
    let net = "<TtlNetNtry><Amt>5</Amt><CdtDbtInd>DBIT</CdtDbtInd></TtlNetNtry>";
    let found = checked(&summary(&[
        total(
            &format!("<NbOfNtries>3</NbOfNtries><Sum>1</Sum>{net}"),
            &code("DMCT"),
        ),
        total("<NbOfNtries>2</NbOfNtries>", own),
    ]));
    let texts: Vec<String> = found.iter().map(|(kind, _)| kind.to_string()).collect();
    assert_eq!(
        texts,
        [
            "the summary states 3 entries of the bank transaction code PMNT/RCDT/DMCT, the report has 2",
            "the summary states 1 as sum of entries of the bank transaction code PMNT/RCDT/DMCT, they sum up to 10.00",
            "the summary states -5 as net amount of entries of the bank transaction code PMNT/RCDT/DMCT, \
             credits less debits are 10.00",
            "the summary states 2 entries of the proprietary bank transaction code NTRF of X, the report has 1",
        ]
    );
}

#[test]
fn a_model_that_was_built_is_checked_as_one_that_was_read() {
    let summary =
        "<TxsSummry><TtlNtries><NbOfNtries>1</NbOfNtries><Sum>5</Sum></TtlNtries></TxsSummry>";
    let mut document = Document::parse(document(summary, ENTRY)).unwrap().document;
    assert_eq!(document.check(), []);
    let report = &mut document.reports[0];
    let mut other = report.entries[0].clone();
    other.amount = Amount::new(
        bankrail_values::Decimal::ONE,
        bankrail_values::Currency::USD,
    )
    .unwrap();
    report.entries.push(other);
    report.related_account = Some(Box::new(CounterpartyAccount::new(
        AccountIdentification::Iban("DE88370400440532013000".into()),
    )));
    let found: Vec<(String, bool)> = document
        .check()
        .iter()
        .map(|finding| (finding.to_string(), finding.kind.is_schema()))
        .collect();
    let report = "/Document/BkToCstmrAcctRpt/Rpt[1]";
    assert_eq!(
        found,
        [
            format!("{report}/RltdAcct/Id/IBAN: the check digits of the IBAN DE88370400440532013000 are wrong"),
            format!("{report}/Ntry[2]: expected the account's currency AUD, found USD"),
            format!("{report}: the summary states 1 entries, the report has 2"),
            format!("{report}: the summary states 5 as sum of entries, they sum up to 6.00"),
        ]
        .map(|text| (text, false))
    );
    let options = WriteOptions::default().schema_valid(true);
    assert!(
        document.to_xml_with(&options).is_ok(),
        "the schema does not count"
    );
}

#[test]
fn each_report_is_counted_by_itself() {
    let summary =
        "<TxsSummry><TtlNtries><NbOfNtries>1</NbOfNtries><Sum>5</Sum></TtlNtries></TxsSummry>";
    let one = document(summary, ENTRY);
    let report = one
        .split_once("<Rpt>")
        .unwrap()
        .1
        .split_once("</Rpt>")
        .unwrap()
        .0;
    let two = one.replace("</Rpt>", &format!("</Rpt><Rpt>{report}</Rpt>"));
    assert_eq!(findings(&two), []);
}

#[test]
fn currency_of_entries() {
    let xml = document("", &ENTRY.replace("AUD", "USD"));
    let finding = only(&xml);
    assert_eq!(
        finding.kind,
        Disagreement::EntryCurrency {
            account: "AUD".into(),
            found: "USD".into()
        }
        .into()
    );
    assert_eq!(finding.path, "/Document/BkToCstmrAcctRpt/Rpt[1]/Ntry[1]");
    assert_eq!(
        (
            finding.position.unwrap().line,
            finding.position.unwrap().column
        ),
        (5, 1)
    );
    assert_refused(&xml, &finding.kind);
}

#[test]
fn batches_against_their_details() {
    let details = "<NtryDtls><Btch><NbOfTxs>3</NbOfTxs><TtlAmt Ccy=\"AUD\">4.00</TtlAmt></Btch>\
        <TxDtls><Amt Ccy=\"AUD\">2.00</Amt><CdtDbtInd>CRDT</CdtDbtInd></TxDtls>\
        <TxDtls><Amt Ccy=\"AUD\">3.00</Amt><CdtDbtInd>CRDT</CdtDbtInd></TxDtls></NtryDtls></Ntry>";
    let xml = document("", &ENTRY.replace("</Ntry>", details));
    let kinds: Vec<_> = checked(&xml).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(
        kinds[0],
        Disagreement::BatchCount {
            stated: 3,
            counted: 2
        }
        .into()
    );
    assert!(
        matches!(
            Disagreement::of(&kinds[1]),
            Some(Disagreement::BatchTotal { .. })
        ),
        "{kinds:?}"
    );
    assert_eq!(kinds.len(), 2);
    assert_refused(&xml, &kinds[0]);
    // Each is found once, also where something below the entry is wrong, too.
    let account = "<RltdPties><DbtrAcct><Id><IBAN>DE88370400440532013000</IBAN></Id></DbtrAcct></RltdPties></TxDtls>";
    let found = checked(&xml.replacen("</TxDtls>", account, 1));
    let names: Vec<_> = found.iter().map(|(kind, _)| kind.name()).collect();
    assert_eq!(names, ["IbanCheckDigits", "BatchCount", "BatchTotal"]);
}

/// A summary counts what is known: with a direction that the schema does not have, nothing is
/// summed up.
#[test]
fn entries_of_an_unknown_direction_are_counted_and_not_summed() {
    let part = |name: &str, count: u32| {
        format!("<{name}><NbOfNtries>{count}</NbOfNtries><Sum>1</Sum></{name}>")
    };
    let summary = |all: u32, credits: u32, debits: u32| {
        let parts = [
            part("TtlNtries", all),
            part("TtlCdtNtries", credits),
            part("TtlDbtNtries", debits),
        ];
        format!("<TxsSummry>{}</TxsSummry>", parts.concat())
    };
    let debit = ENTRY.replace("CRDT", "DBIT").repeat(4);
    let entries = format!(
        "{}{}{debit}",
        ENTRY.repeat(2),
        ENTRY.replace("CRDT", "BOTH").repeat(3)
    );
    let texts = |summary: &str| {
        let found = findings(&document(summary, &entries)).into_iter();
        found
            .filter(|found| !found.kind.is_schema())
            .map(|found| found.kind.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(&summary(9, 2, 4)), [""; 0]);
    assert_eq!(
        texts(&summary(8, 3, 5)),
        [
            "the summary states 8 entries, the report has 9",
            "the summary states 3 credit entries, the report has 2",
            "the summary states 5 debit entries, the report has 4",
        ]
    );
}

#[test]
fn credits_and_debits_are_summed_up_apart() {
    let net = |amount: &str| {
        format!("<TtlNetNtry><Amt>{amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd></TtlNetNtry>")
    };
    let entries = format!("{ENTRY}{}", ENTRY.replace("CRDT", "DBIT").repeat(3));
    let summary = |all: &str, amount: &str, credits: &str, debits: &str| {
        format!(
            "<TxsSummry><TtlNtries><NbOfNtries>4</NbOfNtries><Sum>{all}</Sum>{}</TtlNtries><TtlCdtNtries><Sum>{credits}\
             </Sum></TtlCdtNtries><TtlDbtNtries><Sum>{debits}</Sum></TtlDbtNtries></TxsSummry>",
            net(amount)
        )
    };
    assert_eq!(
        checked(&document(&summary("20", "10.0", "5", "15"), &entries)),
        []
    );
    let found = checked(&document(&summary("21", "11", "6", "16"), &entries));
    let texts: Vec<String> = found.iter().map(|(kind, _)| kind.to_string()).collect();
    assert_eq!(
        texts,
        [
            "the summary states 21 as sum of entries, they sum up to 20.00",
            "the summary states -11 as net amount of entries, credits less debits are -10.00",
            "the summary states 6 as sum of credit entries, they sum up to 5.00",
            "the summary states 16 as sum of debit entries, they sum up to 15.00",
        ]
    );
}

/// A summary after the entries is read when they have been counted already, so its totals of codes
/// are not compared.
#[test]
fn a_summary_behind_the_entries_is_compared_but_for_its_codes() {
    let code = "<BkTxCd><Prtry><Cd>NTRF</Cd></Prtry></BkTxCd>";
    let total =
        format!("<TtlNtriesPerBkTxCd><NbOfNtries>7</NbOfNtries>{code}</TtlNtriesPerBkTxCd>");
    let summary =
        format!("<TxsSummry><TtlNtries><NbOfNtries>2</NbOfNtries></TtlNtries>{total}</TxsSummry>");
    let entry = ENTRY.replace("<BkTxCd/>", code);
    for (xml, expected) in [
        (
            document(&entry, &summary),
            vec!["the summary states 2 entries, the report has 1"],
        ),
        (
            document(&summary, &entry),
            vec![
                "the summary states 2 entries, the report has 1",
                "the summary states 7 entries of the proprietary bank transaction code NTRF, the report has 1",
            ],
        ),
    ] {
        let found = findings(&xml)
            .into_iter()
            .filter(|found| !found.kind.is_schema());
        assert_eq!(
            found
                .map(|found| found.kind.to_string())
                .collect::<Vec<_>>(),
            expected
        );
    }
}

#[test]
fn codes_of_entries_are_named_in_full() {
    let domain = "<Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn>";
    let own = "<Prtry><Cd>NTRF</Cd></Prtry>";
    for (code, named) in [
        (String::new(), "no bank transaction code"),
        (
            domain.to_owned(),
            "the bank transaction code PMNT/RCDT/DMCT",
        ),
        (own.to_owned(), "the proprietary bank transaction code NTRF"),
        (
            format!("{domain}{own}"),
            "the bank transaction code PMNT/RCDT/DMCT and the proprietary one NTRF",
        ),
    ] {
        let code = format!("<BkTxCd>{code}</BkTxCd>");
        let total =
            format!("<TtlNtriesPerBkTxCd><NbOfNtries>2</NbOfNtries>{code}</TtlNtriesPerBkTxCd>");
        // One of the entries has the code.
        let other = "<BkTxCd><Prtry><Cd>OTHR</Cd></Prtry></BkTxCd>";
        let entries = [
            ENTRY.replace("<BkTxCd/>", &code),
            ENTRY.replace("<BkTxCd/>", other),
        ]
        .concat();
        let found = checked(&document(
            &format!("<TxsSummry>{total}</TxsSummry>"),
            &entries,
        ));
        let texts: Vec<String> = found.iter().map(|(kind, _)| kind.to_string()).collect();
        assert_eq!(
            texts,
            [format!(
                "the summary states 2 entries of {named}, the report has 1"
            )]
        );
    }
}

#[test]
fn totals_of_codes_tell_booked_entries_from_others() {
    let code = "<BkTxCd><Prtry><Cd>NTRF</Cd></Prtry></BkTxCd>";
    let entries = ENTRY.replace("<BkTxCd/>", code).repeat(2)
        + &ENTRY.replace("<BkTxCd/>", code).replace("BOOK", "PDNG");
    for (forecast, counted) in [
        ("", 3),
        ("<FcstInd>true</FcstInd>", 1),
        ("<FcstInd>false</FcstInd>", 2),
    ] {
        let total = format!(
            "<TtlNtriesPerBkTxCd><NbOfNtries>9</NbOfNtries>{forecast}{code}</TtlNtriesPerBkTxCd>"
        );
        let found = checked(&document(
            &format!("<TxsSummry>{total}</TxsSummry>"),
            &entries,
        ));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0]
                .0
                .to_string()
                .ends_with(&format!("the report has {counted}")),
            "{forecast}: {found:?}"
        );
    }
}

#[test]
fn batches_are_compared_where_their_details_can_be_summed_up() {
    let amount = |currency: &str, value: &str, direction: &str| {
        format!(
            "<TxDtls><Amt Ccy=\"{currency}\">{value}</Amt><CdtDbtInd>{direction}</CdtDbtInd></TxDtls>"
        )
    };
    let two = [amount("AUD", "2.00", "CRDT"), amount("AUD", "3.00", "CRDT")].concat();
    let mixed = [amount("AUD", "2.00", "CRDT"), amount("AUD", "3.00", "DBIT")].concat();
    let batch =
        |count: &str, total: &str| format!("<Btch><NbOfTxs>{count}</NbOfTxs>{total}</Btch>");
    let total =
        |currency: &str, value: &str| format!("<TtlAmt Ccy=\"{currency}\">{value}</TtlAmt>");
    for (details, expected) in [
        (batch("2", &total("AUD", "5.00")) + &two, vec![]),
        (
            batch("2", &total("AUD", "1")) + &mixed,
            vec!["the details of the entry of 5.00 sum up to -1.00, the difference is 6.00"],
        ),
        (batch("2", "") + &two, vec![]),
        (
            batch("3", "") + &two,
            vec!["the batch states 3 transactions, 2 are detailed"],
        ),
        (
            batch("2", &total("AUD", "6")) + &two,
            vec!["the batch states a total of 6, its details sum up to 5.00"],
        ),
        (batch("2", &total("EUR", "6")) + &two, vec![]),
        (
            batch("2", &total("AUD", "6")) + &two.replace("AUD\">3", "EUR\">3"),
            vec!["expected transaction 2 in the entry's currency AUD, found EUR"],
        ),
        (
            batch("2", &total("AUD", "6")) + "<TxDtls/><TxDtls/>",
            vec![],
        ),
        (batch("2", &total("AUD", "6")), vec![]),
        (two.clone(), vec![]),
    ] {
        let xml = document(
            "",
            &ENTRY.replace("</Ntry>", &format!("<NtryDtls>{details}</NtryDtls></Ntry>")),
        );
        let found = findings(&xml)
            .into_iter()
            .filter(|found| !found.kind.is_schema());
        assert_eq!(
            found
                .map(|found| found.kind.to_string())
                .collect::<Vec<_>>(),
            expected,
            "{details}"
        );
    }
}

#[test]
fn entries_are_compared_with_a_currency_that_the_account_has() {
    let none = document("", ENTRY).replace("<Ccy>AUD</Ccy>", "");
    assert_eq!(findings(&none), []);
    let without = document("", &ENTRY.replace(" Ccy=\"AUD\"", ""));
    assert_eq!(only(&without).kind, FindingKind::MissingCurrency);
    assert_eq!(Disagreement::of(&FindingKind::MissingCurrency), None);
    let usd = only(&document("", &ENTRY.replace("AUD", "USD"))).kind;
    assert!(matches!(
        Disagreement::of(&usd),
        Some(Disagreement::EntryCurrency { .. })
    ));
}

#[test]
fn check_digits_and_countries() {
    let related = |id: &str| document(&format!("<RltdAcct><Id>{id}</Id></RltdAcct>"), "");
    let finding = only(&related("<IBAN>DE88370400440532013000</IBAN>"));
    assert_eq!(
        finding.kind,
        FindingKind::IbanCheckDigits {
            found: "DE88370400440532013000".into()
        }
    );
    assert_eq!(
        finding.path,
        "/Document/BkToCstmrAcctRpt/Rpt[1]/RltdAcct/Id/IBAN"
    );
    assert_eq!(
        findings(&related("<IBAN>DE89370400440532013000</IBAN>")),
        []
    );
    let servicer = |bic: &str| {
        document("", "").replace(
            "</Acct>",
            &format!("<Svcr><FinInstnId><BICFI>{bic}</BICFI></FinInstnId></Svcr></Acct>"),
        )
    };
    assert_eq!(
        only(&servicer("ABCDZZFF")).kind,
        FindingKind::BicCountry {
            found: "ABCDZZFF".into()
        }
    );
    // ISO 3166-1, typed in by hand, and XK.
    let assigned = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT \
        BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH \
        ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT \
        HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS \
        LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI \
        NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG \
        SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG \
        UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW";
    let letters = || 'A'..='Z';
    for code in letters().flat_map(|a| letters().map(move |b| format!("{a}{b}"))) {
        let known = findings(&servicer(&format!("ABCD{code}FF"))).is_empty();
        assert_eq!(known, assigned.split(' ').any(|one| one == code), "{code}");
    }
}

#[test]
fn what_the_schema_refuses_is_kept_and_reported() {
    let cases: [(&str, String, &str); 12] = [
        ("unknown element", document("", &format!("{ENTRY}<Foo a='1'>x<Bar/></Foo>")), "/Rpt[1]/Foo"),
        ("unknown attribute", document("", &ENTRY.replace("<Sts>", "<Sts x='1'>")), "/Ntry[1]/Sts"),
        (
            "wrong order",
            document(
                ENTRY,
                "<Bal><Tp><CdOrPrtry><Cd>ITAV</Cd></CdOrPrtry></Tp><Amt Ccy='AUD'>1</Amt><CdtDbtInd>CRDT</CdtDbtInd>\
                 <Dt><Dt>2021-07-29</Dt></Dt></Bal>",
            ),
            "/Bal[1]",
        ),
        ("twice", document("", &ENTRY.replace("<BkTxCd/>", "<BkTxCd/><BkTxCd/>")), "/Ntry[1]/BkTxCd"),
        ("code", document("", &ENTRY.replace("BOOK", "FUTR")), "/Ntry[1]/Sts"),
        (
            "too long",
            document("", &ENTRY.replace("<Ntry>", &format!("<Ntry><NtryRef>{}</NtryRef>", "x".repeat(36)))),
            "/Ntry[1]/NtryRef",
        ),
        ("no currency", document("", &ENTRY.replace(" Ccy=\"AUD\"", "")), "/Ntry[1]/Amt"),
        ("currency", document("", &ENTRY.replace("AUD", "aud")).replace("<Ccy>AUD</Ccy>", ""), "/Ntry[1]/Amt"),
        ("text", document("", &ENTRY.replace("<Sts>", "text<Sts>")), "/Ntry[1]"),
        ("choice", document("", &ENTRY.replace("<BkTxCd/>", "<BookgDt><Foo/></BookgDt><BkTxCd/>")), "/Ntry[1]/BookgDt"),
        (
            "second choice",
            document(
                "",
                &ENTRY.replace(
                    "<BkTxCd/>",
                    "<BookgDt><Dt>2021-07-29</Dt><DtTm>2021-07-29T10:00:00</DtTm></BookgDt><BkTxCd/>",
                ),
            ),
            "/BookgDt/DtTm",
        ),
        ("no creation time", document("", "").replacen("<CreDtTm>2021-07-29T17:10:05Z</CreDtTm>", "", 1), "/GrpHdr"),
    ];
    for (name, xml, path) in cases {
        let parsed = Document::parse(&xml).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert!(!parsed.findings.is_empty(), "{name}");
        let finding = parsed.findings.last().unwrap();
        assert!(
            finding.kind.is_schema() && finding.path.ends_with(path),
            "{name}: {finding:?}"
        );
        assert!(finding.position.unwrap().line > 1, "{name}: {finding:?}");
        assert_refused(&xml, &parsed.findings[0].kind);
        match parsed.document.to_xml() {
            Ok(written) => {
                let again = Document::parse(&written)
                    .unwrap_or_else(|error| panic!("{name}: {error:?}\n{written}"));
                assert_eq!(again.document, parsed.document, "{name}");
                assert_eq!(
                    name == "wrong order",
                    parsed.document.check().is_empty(),
                    "{name}"
                );
            }
            Err(error) => assert!(name.starts_with("no "), "{name}: {error}"),
        }
    }
}

#[test]
fn unknown_parts_stay_in_their_place() {
    let amount = "<Amt Ccy=\"AUD\" x=\"&lt;\" p:y=\"2\" xmlns:p=\"urn:p\">5.00<Note xmlns=\"urn:n\">?</Note></Amt>";
    let entry = ENTRY.replace(
        "<Amt Ccy=\"AUD\">5.00</Amt>",
        &format!("<First/>{amount}<Second z='1'/>"),
    );
    let xml = document("", &entry);
    let written = Document::parse(&xml).unwrap().document.to_xml().unwrap();
    let kept = "<Ntry><First/><Amt Ccy=\"AUD\" x=\"&lt;\" xmlns:p=\"urn:p\" p:y=\"2\">5.00\
                <Note xmlns=\"urn:n\">?</Note></Amt><Second z='1'/><CdtDbtInd>";
    assert!(written.contains(kept), "{written}");
}

/// Found by changing documents: the second `Nm`, kept as it was behind `Ccy`, came to stand before
/// the first.
#[test]
fn a_second_element_stays_behind_the_first_when_order_is_mended() {
    let account = "<Nm><Foo/>first</Nm><Ccy>AUD</Ccy><Nm>second</Nm></Acct>";
    let xml = document("", ENTRY).replace("<Ccy>AUD</Ccy></Acct>", account);
    let read = Document::parse(&xml).unwrap().document;
    let written = read.to_xml().unwrap();
    assert!(
        written.contains("<Ccy>AUD</Ccy><Nm>first<Foo/></Nm><Nm>second</Nm>"),
        "{written}"
    );
    assert_eq!(Document::parse(&written).unwrap().document, read);
    // Parts at several places, of elements in wrong order.
    let xml = document(ENTRY, "<Foo/><RptgSrc><Prtry>s</Prtry></RptgSrc><Bar/>");
    let read = Document::parse(&xml).unwrap().document;
    assert_eq!(
        Document::parse(read.to_xml().unwrap()).unwrap().document,
        read
    );
}

#[test]
fn strict_reading_reports_every_finding() {
    let xml = document("", &ENTRY.replace("BOOK", "FUTR").repeat(3));
    let options = ReadOptions::default().mode(Mode::Strict);
    let error = Document::parse_with(&xml, &options).unwrap_err();
    assert_eq!(error.findings().len(), 3);
    assert_eq!(
        error.path(),
        "/Document/BkToCstmrAcctRpt/Rpt[1]/Ntry[1]/Sts"
    );
}

/// `X@Y` without an issuer is another code than `X` of the issuer `Y`.
#[test]
fn codes_that_look_the_same_in_one_text_are_counted_apart() {
    let total = |code: &str, count: u32| {
        format!(
            "<TtlNtriesPerBkTxCd><NbOfNtries>{count}</NbOfNtries><BkTxCd><Prtry>{code}</Prtry></BkTxCd>\
             </TtlNtriesPerBkTxCd>"
        )
    };
    let (joined, issued) = ("<Cd>X@Y</Cd>", "<Cd>X</Cd><Issr>Y</Issr>");
    let summary = format!(
        "<TxsSummry>{}{}</TxsSummry>",
        total(joined, 1),
        total(issued, 3)
    );
    let entry = |code: &str| {
        ENTRY.replace(
            "<BkTxCd/>",
            &format!("<BkTxCd><Prtry>{code}</Prtry></BkTxCd>"),
        )
    };
    let entries = [joined, issued, issued].map(entry).join("");
    let found = checked(&document(&summary, &entries));
    let counted = CountedEntries::BankTransactionCode {
        domain: None,
        proprietary: Some("X".into()),
        issuer: Some("Y".into()),
    };
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        found[0].0,
        Disagreement::EntryCount {
            entries: counted,
            stated: 3,
            counted: 2
        }
        .into()
    );
}

/// The same text of two issuers is two codes, each with entries of its own.
#[test]
fn proprietary_codes_of_two_issuers_are_counted_apart() {
    let code = |issuer: &str| {
        format!("<BkTxCd><Prtry><Cd>NTRF</Cd><Issr>{issuer}</Issr></Prtry></BkTxCd>")
    };
    let total = |issuer: &str, count: u32| {
        let code = code(issuer);
        format!("<TtlNtriesPerBkTxCd><NbOfNtries>{count}</NbOfNtries>{code}</TtlNtriesPerBkTxCd>")
    };
    let summary = format!("<TxsSummry>{}{}</TxsSummry>", total("X", 1), total("Y", 1));
    let entries = ["X", "Y", "Y"]
        .map(|issuer| ENTRY.replace("<BkTxCd/>", &code(issuer)))
        .join("");
    let found = checked(&document(&summary, &entries));
    let texts: Vec<String> = found.iter().map(|(kind, _)| kind.to_string()).collect();
    assert_eq!(
        texts,
        [
            "the summary states 1 entries of the proprietary bank transaction code NTRF of Y, the report has 2"
        ]
    );
}

/// The one exception to "strict is exactly the schema": a validator judges what the schema knows
/// within supplementary data, and `xsi:type` there; strict reading keeps it as it stands.
#[test]
fn the_content_of_supplementary_data_is_kept_and_not_judged() {
    let declared = format!(
        "xmlns='' xmlns:i='http://www.w3.org/2001/XMLSchema-instance' \
         xmlns:x='http://www.w3.org/2001/XMLSchema' xmlns:o='{NAMESPACE}'"
    );
    for held in [
        "<o:Document><x/></o:Document>",
        "<o:Document><o:BkToCstmrAcctRpt/></o:Document>",
        "<a i:type='x:int'>abc</a>",
        "<a i:type='o:Nothing'/>",
        "<a i:type='o:Max35Text'/>",
        "<a i:type='x:ID'>one</a><a i:type='x:ID'>one</a>",
        "<a i:type='x:IDREF'>one</a>",
    ] {
        let data = format!(
            "<SplmtryData><Envlp><r {declared}>{held}</r></Envlp></SplmtryData></BkToCstmrAcctRpt>"
        );
        let xml = document("", ENTRY).replace("</BkToCstmrAcctRpt>", &data);
        assert_eq!(checked(&xml), [], "{held}");
        let strict = ReadOptions::default().mode(Mode::Strict);
        let parsed = Document::parse_with(&xml, &strict).unwrap();
        let kept = parsed.document.supplementary_data[0].envelope.as_xml();
        assert!(kept.contains(held), "{kept}");
        let again = Document::parse(parsed.document.to_xml().unwrap()).unwrap();
        assert_eq!(again.document, parsed.document);
    }
}

#[test]
fn supplementary_data_is_one_element_in_a_model_as_in_a_document() {
    let base = document("", ENTRY);
    for (markup, one) in [
        ("<a/>", true),
        ("<a>x<b/>y</a>", true),
        (" <!-- c --><a/><?p?>\n", true),
        ("<a/><b/>", false),
        ("<a/>text", false),
        ("&amp;<a/>", false),
        ("<a/><![CDATA[x]]>", false),
        ("<!-- c -->", false),
        ("text", false),
        ("", false),
    ] {
        let data = format!("<SplmtryData><Envlp>{markup}</Envlp></SplmtryData></BkToCstmrAcctRpt>");
        let found = checked(&base.replace("</BkToCstmrAcctRpt>", &data));
        assert_eq!(found.is_empty(), one, "{markup}: {found:?}");
        assert!(
            found.iter().all(|(kind, _)| *kind == FindingKind::Envelope),
            "{markup}: {found:?}"
        );
    }
}
