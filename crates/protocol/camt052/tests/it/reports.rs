//! The payer, the purpose, and sums that do not add up: the cases of public bug reports.

use crate::findings::document;
use crate::shared::shared;
use bankrail_camt052::{
    CounterpartyAccount, Disagreement, Document, EntryReader, Finding, Party, ReadOptions,
    Remittance, Report,
};
use std::path::Path;

fn report(before: &str, entries: &str) -> Report {
    let parsed = Document::parse(document(before, entries)).unwrap();
    parsed.document.reports.into_iter().next().unwrap()
}

/// Returns the texts of the findings beyond the schema.
fn disagreements(findings: &[Finding]) -> Vec<String> {
    let found = findings.iter().map(|finding| &finding.kind);
    found
        .filter(|kind| Disagreement::of(kind).is_some())
        .map(ToString::to_string)
        .collect()
}

/// Returns the same of a whole document, of its model, and of a stream.
fn found(xml: &str) -> Vec<String> {
    let parsed = Document::parse(xml).unwrap();
    let whole = disagreements(&parsed.findings);
    assert_eq!(disagreements(&parsed.document.check()), whole);
    let mut reader = EntryReader::new(xml.as_bytes(), ReadOptions::default());
    let mut streamed = Vec::new();
    while reader.next_item().unwrap().is_some() {
        streamed.extend(reader.take_findings());
    }
    assert_eq!(disagreements(&streamed), whole);
    whole
}

fn name(party: Option<&Party>) -> Option<&str> {
    party?.name.as_ref().map(|name| name.as_str())
}

fn transaction(currency: &str, amount: &str, direction: &str, more: &str) -> String {
    format!(
        "<TxDtls><Amt Ccy=\"{currency}\">{amount}</Amt><CdtDbtInd>{direction}</CdtDbtInd>{more}</TxDtls>"
    )
}

fn entry(amount: &str, direction: &str, reversal: &str, rest: &str) -> String {
    format!(
        "<Ntry><Amt Ccy=\"AUD\">{amount}</Amt><CdtDbtInd>{direction}</CdtDbtInd>{reversal}<Sts>BOOK</Sts>\
         <BkTxCd/>{rest}</Ntry>"
    )
}

fn one(direction: &str, reversal: &str, more: &str) -> String {
    let transaction = transaction("AUD", "5.00", direction, more);
    let details = format!("<NtryDtls>{transaction}</NtryDtls>");
    entry("5.00", direction, reversal, &details)
}

fn balance(code: &str, amount: &str) -> String {
    let (direction, amount) = match amount.strip_prefix('-') {
        Some(amount) => ("DBIT", amount),
        None => ("CRDT", amount),
    };
    format!(
        "<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp><Amt Ccy=\"AUD\">{amount}</Amt>\
         <CdtDbtInd>{direction}</CdtDbtInd><Dt><Dt>2021-07-29</Dt></Dt></Bal>"
    )
}

fn page(number: u32, last: bool) -> String {
    format!("<RptPgntn><PgNb>{number}</PgNb><LastPgInd>{last}</LastPgInd></RptPgntn>")
}

/// Returns a document of a page, whose number stands before the time of creation.
fn paged(page: &str, before: &str, entries: &str) -> String {
    let xml = document(before, entries);
    xml.replace("<Rpt><Id>r</Id>", &format!("<Rpt><Id>r</Id>{page}"))
}

const RETURN: &str = "<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>";
const REVERSED: &str = "<RvslInd>true</RvslInd>";

#[test]
fn the_counterparty_is_never_the_accounts_own_party() {
    // The account is 1, of nobody in particular.
    let party = |role: &str, name: &str, id: &str| {
        let account = format!("<{role}Acct><Id><Othr><Id>{id}</Id></Othr></Id></{role}Acct>");
        let account = if id.is_empty() {
            String::new()
        } else {
            account
        };
        format!("<{role}><Nm>{name}</Nm></{role}>{account}")
    };
    let sides = |debtor: &str, creditor: &str| {
        let (debtor, creditor) = (
            debtor
                .split_once(' ')
                .map_or_else(String::new, |(name, id)| party("Dbtr", name, id)),
            creditor
                .split_once(' ')
                .map_or_else(String::new, |(name, id)| party("Cdtr", name, id)),
        );
        format!("<RltdPties>{debtor}{creditor}</RltdPties>")
    };
    for (direction, reversal, debtor, creditor, returned, expected) in [
        ("CRDT", "", "They 2", "Own 1", "", Some("They")),
        ("DBIT", "", "Own 1", "They 2", "", Some("They")),
        ("CRDT", "", "Own 1", "They 2", RETURN, Some("They")),
        ("DBIT", "", "They 2", "Own 1", RETURN, Some("They")),
        // Both marks together are still one return.
        ("DBIT", REVERSED, "They 2", "Own 1", RETURN, Some("They")),
        ("CRDT", REVERSED, "Own 1", "They 2", RETURN, Some("They")),
        // Without accounts, the roles decide.
        ("DBIT", "", "They ", "Own ", RETURN, Some("They")),
        ("CRDT", "", "Own ", "They ", "<RtrInf/>", Some("They")),
        ("DBIT", "", "They ", "Own ", "", Some("Own")),
        // The bank names the parties of the return itself, not those of the payment.
        ("DBIT", "", "Own 1", "They 2", RETURN, Some("They")),
        ("CRDT", REVERSED, "They 2", "Own 1", "", Some("They")),
        // Only one of them is named.
        ("CRDT", "", "", "Own 1", RETURN, None),
        ("CRDT", "", "Own 1", "", RETURN, None),
        ("DBIT", "", "They 2", "", RETURN, Some("They")),
        // Between two accounts of one owner, and from an account to itself.
        ("CRDT", "", "Own 2", "Own 1", "", Some("Own")),
        ("CRDT", "", "Own 1", "Own 1", "", None),
    ] {
        let more = sides(debtor, creditor) + returned;
        let report = report("", &one(direction, reversal, &more));
        let line = report.lines().next().unwrap();
        let case = format!("{direction} {reversal} {debtor} {creditor} {returned}");
        assert_eq!(name(line.counterparty()), expected, "{case}");
        let account = line
            .counterparty_account()
            .and_then(|held| held.id.as_str());
        assert_ne!(account, Some("1"), "{case}");
    }
    // If the parties have no accounts, the owner's name decides.
    let owned = |xml: String| {
        let xml = xml.replace(
            "<Ccy>AUD</Ccy></Acct>",
            "<Ccy>AUD</Ccy><Ownr><Nm>Own</Nm></Ownr></Acct>",
        );
        Document::parse(xml).unwrap().document.reports.remove(0)
    };
    let wrong = owned(document(
        "",
        &one("DBIT", REVERSED, &sides("Own ", "They ")),
    ));
    assert_eq!(
        name(wrong.lines().next().unwrap().counterparty()),
        Some("They")
    );
    // The return of a credit to a virtual account, with the roles of the payment or of the return.
    for (debtor, creditor) in [("They 2", "Own 7"), ("Own 7", "They 2")] {
        let more = sides(debtor, creditor) + RETURN;
        let returned = owned(document("", &one("DBIT", "", &more)));
        let line = returned.lines().next().unwrap();
        assert_eq!(name(line.counterparty()), Some("They"), "{debtor}");
        let id = |held: Option<&CounterpartyAccount>| {
            held.and_then(|held| held.id.as_str()).map(str::to_owned)
        };
        assert_eq!(id(line.own_account()).as_deref(), Some("7"), "{debtor}");
        let other = id(line.counterparty_account());
        assert_eq!(other.as_deref(), Some("2"), "{debtor}");
    }
    // A payment to another account of the owner's is to that account.
    let moved = owned(document("", &one("DBIT", "", &sides("Us 1", "Own 7"))));
    let line = moved.lines().next().unwrap();
    assert_eq!(name(line.counterparty()), Some("Own"));
    // In a batch each transaction has its own roles.
    let two = [
        transaction("AUD", "2.00", "DBIT", &(sides("They 2", "Own 1") + RETURN)),
        transaction("AUD", "3.00", "DBIT", &sides("Own 1", "Others 3")),
    ];
    let batch = entry(
        "5.00",
        "DBIT",
        "",
        &format!("<NtryDtls>{}</NtryDtls>", two.concat()),
    );
    let report = report("", &batch);
    let names: Vec<_> = report
        .lines()
        .map(|line| name(line.counterparty()))
        .collect();
    assert_eq!(names, [Some("They"), Some("Others")]);
}

#[test]
fn the_ultimate_party_is_offered() {
    let ultimate = |role: &str| format!("<Ultmt{role}><Nm>End</Nm></Ultmt{role}>");
    for (direction, returned, parties, expected, beside) in [
        (
            "CRDT",
            "",
            format!("<Dbtr><Nm>PSP</Nm></Dbtr>{}", ultimate("Dbtr")),
            Some("PSP"),
            Some("End"),
        ),
        ("CRDT", "", ultimate("Dbtr"), Some("End"), Some("End")),
        (
            "CRDT",
            "",
            format!("<Dbtr/>{}", ultimate("Dbtr")),
            Some("End"),
            Some("End"),
        ),
        ("CRDT", "", ultimate("Cdtr"), None, None),
        ("DBIT", "", ultimate("Cdtr"), Some("End"), Some("End")),
        ("DBIT", RETURN, ultimate("Dbtr"), Some("End"), Some("End")),
        ("DBIT", RETURN, ultimate("Cdtr"), None, None),
        (
            "DBIT",
            "",
            "<Cdtr><Nm>Shop</Nm></Cdtr>".to_owned(),
            Some("Shop"),
            None,
        ),
    ] {
        let more = format!("<RltdPties>{parties}</RltdPties>{returned}");
        let report = report("", &one(direction, "", &more));
        let line = report.lines().next().unwrap();
        assert_eq!(name(line.counterparty()), expected, "{direction} {more}");
        assert_eq!(
            name(line.ultimate_counterparty()),
            beside,
            "{direction} {more}"
        );
        assert_eq!(report.entries[0].counterparty_name(), expected);
    }
}

#[test]
fn pieces_of_text_are_lines_unless_they_were_cut() {
    let (full, short, emoji) = ("x".repeat(140), "y".repeat(139), "👍".repeat(140));
    for (pieces, expected) in [
        (
            vec!["Invoice 1234", "Customer 99"],
            "Invoice 1234\nCustomer 99".to_owned(),
        ),
        (vec![&full, "rest"], format!("{full}rest")),
        (vec![&emoji, "rest"], format!("{emoji}rest")),
        (vec![&short, "next"], format!("{short}\nnext")),
        (
            vec![&full, &full, "rest", "next"],
            format!("{full}{full}rest\nnext"),
        ),
        (vec!["first", &full, "rest"], format!("first\n{full}rest")),
        (vec![&full], full.clone()),
        (vec![], String::new()),
    ] {
        let elements: String = pieces
            .iter()
            .map(|piece| format!("<Ustrd>{piece}</Ustrd>"))
            .collect();
        let report = report(
            "",
            &one("CRDT", "", &format!("<RmtInf>{elements}</RmtInf>")),
        );
        assert_eq!(report.entries[0].narrative(), expected);
        let structured = elements.replace("Ustrd", "AddtlRmtInf");
        let more = format!("<RmtInf><Strd>{structured}</Strd></RmtInf>");
        let report = self::report("", &one("CRDT", "", &more));
        assert_eq!(report.entries[0].narrative(), expected);
    }
    for text in [
        "a".repeat(139),
        "b".repeat(140),
        "c".repeat(141),
        "d".repeat(420),
    ] {
        assert_eq!(Remittance::from_narrative(&text).narrative(), text);
    }
}

#[test]
fn the_reason_of_a_return_is_in_the_narrative() {
    let full = "x".repeat(105);
    for (returned, expected) in [
        (
            "<Rsn><Cd>MS03</Cd></Rsn><AddtlInf>other reasons</AddtlInf>".to_owned(),
            "memo\nMS03\nother reasons\nend".to_owned(),
        ),
        (
            "<Rsn><Prtry>own code</Prtry></Rsn>".to_owned(),
            "memo\nown code\nend".to_owned(),
        ),
        (
            "<AddtlInf>one</AddtlInf><AddtlInf>two</AddtlInf>".to_owned(),
            "memo\none\ntwo\nend".to_owned(),
        ),
        (
            format!("<AddtlInf>{full}</AddtlInf><AddtlInf>two</AddtlInf>"),
            format!("memo\n{full}two\nend"),
        ),
        (String::new(), "memo\nend".to_owned()),
    ] {
        let more = format!(
            "<RmtInf><Ustrd>memo</Ustrd></RmtInf><RtrInf>{returned}</RtrInf><AddtlTxInf>end</AddtlTxInf>"
        );
        let report = report("", &one("DBIT", "", &more));
        assert_eq!(report.entries[0].narrative(), expected);
        assert_eq!(report.lines().next().unwrap().narrative(), expected);
    }
}

#[test]
fn each_line_has_a_number_its_references_and_its_amount_on_the_account() {
    let details = |amounts: &str| format!("<AmtDtls>{amounts}</AmtDtls>");
    let amount = |name: &str, currency: &str, value: &str| {
        format!("<{name}><Amt Ccy=\"{currency}\">{value}</Amt></{name}>")
    };
    let counter = details(&(amount("TxAmt", "EUR", "1.00") + &amount("CntrValAmt", "AUD", "1.60")));
    let between = details(&(amount("InstdAmt", "AUD", "9") + &amount("TxAmt", "AUD", "3.20")));
    let ordered = details(&amount("InstdAmt", "AUD", "4.80"));
    let transactions = [
        transaction("AUD", "2.00", "CRDT", ""),
        transaction("EUR", "1.00", "CRDT", &counter),
        transaction("EUR", "2.00", "DBIT", &between),
        transaction("EUR", "3.00", "CRDT", &ordered),
        transaction("EUR", "4.00", "CRDT", ""),
        transaction("AUD", "5.00", "DBIT", "").replacen(
            "<Amt",
            "<Refs><AcctSvcrRef>S2</AcctSvcrRef><EndToEndId>E2E</EndToEndId></Refs><Amt",
            1,
        ),
    ];
    let batch = format!("<NtryDtls>{}</NtryDtls>", transactions.concat());
    let batch = entry("9.00", "CRDT", "", &batch)
        .replace("<BkTxCd/>", "<AcctSvcrRef>S1</AcctSvcrRef><BkTxCd/>");
    let report = report("", &batch);
    let lines: Vec<_> = report.lines().collect();
    let numbers: Vec<_> = lines.iter().map(|line| line.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    let amounts: Vec<_> = lines
        .iter()
        .map(|line| line.account_money().map(|money| money.to_string()))
        .collect();
    let amounts: Vec<_> = amounts.iter().map(Option::as_deref).collect();
    assert_eq!(
        amounts,
        [
            Some("2.00 AUD"),
            Some("1.60 AUD"),
            Some("-3.20 AUD"),
            Some("4.80 AUD"),
            None,
            Some("-5.00 AUD")
        ]
    );
    assert_eq!(lines[5].end_to_end_id(), Some("E2E"));
    assert_eq!(lines[0].end_to_end_id(), None);
    let references: Vec<_> = lines[5].references().collect();
    assert_eq!(
        references,
        [
            ("AcctSvcrRef", "S1"),
            ("AcctSvcrRef", "S2"),
            ("EndToEndId", "E2E")
        ]
    );
    // Alone, the entry's amount is its own; an entry without details is line 0.
    for (details, number) in [
        (transaction("EUR", "3.00", "DBIT", &ordered), 1),
        (String::new(), 0),
    ] {
        let report = self::report(
            "",
            &entry(
                "5.00",
                "DBIT",
                "",
                &format!("<NtryDtls>{details}</NtryDtls>"),
            ),
        );
        let line = report.lines().next().unwrap();
        assert_eq!(line.number, number);
        assert_eq!(line.account_money().unwrap().to_string(), "-5.00 AUD");
    }
}

#[test]
fn details_that_do_not_sum_up_to_their_entry_are_found() {
    let two = |first: &str, second: &str, more: &str| {
        let both = [
            transaction("AUD", first, "DBIT", more),
            transaction("AUD", second, "DBIT", ""),
        ];
        format!("<NtryDtls>{}</NtryDtls>", both.concat())
    };
    let charges =
        |amount: &str| format!("<Chrgs><Rcrd><Amt Ccy=\"AUD\">{amount}</Amt></Rcrd></Chrgs>");
    let sum = |summed: &str, difference: &str| {
        vec![format!(
            "the details of the entry of -1526.00 sum up to {summed}, the difference is {difference}"
        )]
    };
    let missing = sum("-1100.00", "-426.00");
    for (reversal, rest, expected) in [
        ("", two("1000.00", "526.00", ""), vec![]),
        ("", two("1000.00", "526", ""), vec![]),
        ("", two("1000.00", "100.00", ""), missing.clone()),
        (REVERSED, two("1000.00", "100.00", ""), missing.clone()),
        ("", two("1000.00", "600.00", ""), sum("-1600.00", "74.00")),
        // Charges that may be the difference, and charges that cannot.
        ("", two("1000.00", "100.00", &charges("426.00")), vec![]),
        (
            "",
            two("1000.00", "100.00", &charges("425.99")),
            missing.clone(),
        ),
        (
            "",
            two("1000.00", "100.00", &charges("5").replace("AUD", "EUR")),
            vec![],
        ),
        ("", charges("500") + &two("1000.00", "100.00", ""), vec![]),
        (
            "",
            charges("5") + &two("1000.00", "100.00", ""),
            missing.clone(),
        ),
        ("", two("1000.00", "100.00", "<Intrst/>"), vec![]),
        ("", two("1000.00", "100.00", "<Tax/>"), vec![]),
        (
            "",
            format!("<Intrst/>{}", two("1000.00", "100.00", "")),
            vec![],
        ),
        // Details that are not all there.
        ("", two("1000.00", "100.00", "") + "<NtryDtls/>", vec![]),
        (
            "",
            two("1000.00", "100.00", "") + "<NtryDtls><TxDtls/></NtryDtls>",
            vec![],
        ),
        ("", String::new(), vec![]),
        // The transactions are in two `NtryDtls`.
        (
            "",
            two("1000.00", "100.00", "") + &two("400.00", "26.00", ""),
            vec![],
        ),
        // The other direction: a reversal may repeat what it reverses.
        (
            "",
            two("1000.00", "526.00", "").replace("DBIT", "CRDT"),
            sum("1526.00", "-3052.00"),
        ),
        (
            REVERSED,
            two("1000.00", "526.00", "").replace("DBIT", "CRDT"),
            vec![],
        ),
    ] {
        let xml = document("", &entry("1526.00", "DBIT", reversal, &rest));
        assert_eq!(found(&xml), expected, "{reversal} {rest}");
    }
    // The batch says already that not all of its transactions are detailed.
    let part = two("1000.00", "100.00", "").replacen(
        "<TxDtls>",
        "<Btch><NbOfTxs>3</NbOfTxs></Btch><TxDtls>",
        1,
    );
    let xml = document("", &entry("1526.00", "DBIT", "", &part));
    assert_eq!(
        found(&xml),
        ["the batch states 3 transactions, 2 are detailed"]
    );
}

#[test]
fn a_batch_against_the_direction_of_its_details_is_found() {
    for (stated, direction, total, expected) in [
        ("CRDT", "CRDT", "<TtlAmt Ccy=\"AUD\">5.00</TtlAmt>", vec![]),
        (
            "DBIT",
            "CRDT",
            "<TtlAmt Ccy=\"AUD\">5.00</TtlAmt>",
            vec!["the batch states DBIT, its details sum up to 5.00"],
        ),
        (
            "DBIT",
            "CRDT",
            "",
            vec!["the batch states DBIT, its details sum up to 5.00"],
        ),
        (
            "CRDT",
            "DBIT",
            "",
            vec!["the batch states CRDT, its details sum up to -5.00"],
        ),
        ("DBIT", "DBIT", "", vec![]),
        ("BOTH", "DBIT", "", vec![]),
    ] {
        let batch = format!("<Btch>{total}<CdtDbtInd>{stated}</CdtDbtInd></Btch>");
        let xml = one(direction, "", "").replace("<TxDtls>", &format!("{batch}<TxDtls>"));
        assert_eq!(
            found(&document("", &xml)),
            expected,
            "{stated} {direction} {total}"
        );
    }
}

#[test]
fn each_transaction_in_another_currency_than_its_entry_is_named() {
    let foreign = [
        transaction("EUR", "1.00", "CRDT", ""),
        transaction("EUR", "2.00", "CRDT", ""),
    ]
    .concat();
    let xml = document(
        "",
        &entry(
            "5.00",
            "CRDT",
            "",
            &format!("<NtryDtls>{foreign}</NtryDtls>"),
        ),
    );
    assert_eq!(
        found(&xml),
        [
            "expected transaction 1 in the entry's currency AUD, found EUR",
            "expected transaction 2 in the entry's currency AUD, found EUR"
        ]
    );
    // Amounts without a currency cannot be compared.
    for (from, to) in [(" Ccy=\"EUR\"", ""), (" Ccy=\"AUD\"", "")] {
        assert_eq!(found(&xml.replace(from, to)), [""; 0]);
    }
}

#[test]
fn a_closing_balance_that_does_not_follow_is_found_where_the_document_decides() {
    let gap = |opening: &str, booked: &str, summed: &str, closing: &str| {
        vec![format!(
            "the closing balance is {closing}, the opening balance of {opening} and the booked entries of {booked} \
             are {summed}"
        )]
    };
    let ten = entry("10.00", "CRDT", "", "");
    let both = |opening: (&str, &str), closing: (&str, &str)| {
        balance(opening.0, opening.1) + &balance(closing.0, closing.1)
    };
    let wrong = both(("OPBD", "100.00"), ("CLBD", "500.00"));
    let missed = gap("100.00", "10.00", "110.00", "500.00");
    for (page, balances, entries, expected) in [
        (String::new(), wrong.clone(), ten.clone(), missed.clone()),
        (page(1, true), wrong.clone(), ten.clone(), missed.clone()),
        (
            String::new(),
            both(("OPBD", "100.00"), ("CLBD", "110")),
            ten.clone(),
            vec![],
        ),
        (
            String::new(),
            both(("PRCD", "100.00"), ("CLBD", "500.00")),
            ten.clone(),
            missed.clone(),
        ),
        (
            String::new(),
            both(("OPBD", "-100.00"), ("CLBD", "90.00")),
            ten.clone(),
            gap("-100.00", "10.00", "-90.00", "90.00"),
        ),
        // One page has the balances of the whole statement, or an interim balance of any time.
        (page(1, false), wrong.clone(), ten.clone(), vec![]),
        (page(2, true), wrong.clone(), ten.clone(), vec![]),
        (
            String::new(),
            both(("OPBD", "100.00"), ("ITBD", "500.00")),
            ten.clone(),
            vec![],
        ),
        (
            String::new(),
            both(("ITBD", "100.00"), ("CLBD", "500.00")),
            ten.clone(),
            vec![],
        ),
        // A page that an interim balance opens.
        (
            page(2, true),
            both(("ITBD", "100.00"), ("CLBD", "500.00")),
            ten.clone(),
            missed.clone(),
        ),
        (
            page(2, false),
            both(("ITBD", "100.00"), ("ITBD", "500.00")),
            ten.clone(),
            missed.clone(),
        ),
        (
            page(2, false),
            both(("ITBD", "100.00"), ("ITBD", "110.00")),
            ten.clone(),
            vec![],
        ),
        (
            page(2, false),
            balance("ITBD", "100.00"),
            ten.clone(),
            vec![],
        ),
        // Missing balances, no entries, entries that are pending or in another currency.
        (
            String::new(),
            balance("OPBD", "100.00"),
            ten.clone(),
            vec![],
        ),
        (
            String::new(),
            balance("CLBD", "100.00"),
            ten.clone(),
            vec![],
        ),
        (String::new(), wrong.clone(), String::new(), vec![]),
        (
            String::new(),
            wrong.clone(),
            ten.clone() + &ten.replace("BOOK", "PDNG"),
            vec![],
        ),
        (
            String::new(),
            wrong.clone(),
            ten.clone() + &ten.replace("BOOK", "FUTR"),
            vec![],
        ),
        (
            String::new(),
            wrong.clone(),
            ten.clone() + &ten.replace("CRDT", "BOTH"),
            vec![],
        ),
        (
            String::new(),
            wrong.clone(),
            ten.clone() + &ten.replace("BOOK", "INFO"),
            missed.clone(),
        ),
        (
            String::new(),
            wrong.replacen("AUD", "EUR", 1),
            ten.clone(),
            vec![],
        ),
        (
            String::new(),
            wrong.replace("AUD", "EUR"),
            ten.clone(),
            vec![],
        ),
        (
            String::new(),
            wrong.replace(" Ccy=\"AUD\"", ""),
            ten.replace(" Ccy=\"AUD\"", ""),
            vec![],
        ),
        // A part that could not be read may have been an entry.
        (
            String::new(),
            wrong.clone(),
            ten.clone() + "<Other/>",
            vec![],
        ),
    ] {
        let xml = paged(&page, &balances, &entries);
        let found: Vec<_> = found(&xml)
            .into_iter()
            .filter(|text| text.contains("balance"))
            .collect();
        assert_eq!(found, expected, "{xml}");
    }
    // Each report is summed up for itself.
    let xml = document(&both(("OPBD", "100.00"), ("CLBD", "110.00")), &ten);
    let (start, end) = (xml.find("<Rpt>").unwrap(), xml.find("</BkTo").unwrap());
    let rpt = &xml[start..end];
    assert_eq!(found(&xml.replace(rpt, &rpt.repeat(3))), [""; 0]);
}

#[test]
fn an_interim_balance_opens_a_later_page() {
    let both = balance("ITBD", "150.00") + &balance("CLBD", "100.00");
    for (page, balances, expected) in [
        (page(2, true), both.clone(), Some("160.00")),
        (page(1, true), both.clone(), None),
        (String::new(), both.clone(), None),
        (page(2, true), balance("ITBD", "150.00"), None),
        (
            page(2, true),
            balance("OPBD", "1.00") + &both,
            Some("11.00"),
        ),
    ] {
        let xml = paged(&page, &balances, &entry("10.00", "CRDT", "", ""));
        let report = Document::parse(xml).unwrap().document.reports.remove(0);
        let (_, after) = report.running_balances().next().unwrap();
        assert_eq!(
            after.map(|after| after.to_string()).as_deref(),
            expected,
            "{page} {balances}"
        );
    }
}

#[test]
fn the_inputs_of_public_reports_are_read_as_their_index_says() {
    let Some(folder) = shared("samples/reports") else {
        return;
    };
    let read = |file: &str| {
        let xml = std::fs::read_to_string(folder.join(file)).unwrap();
        let found = found(&xml);
        (
            Document::parse(xml).unwrap().document.reports.remove(0),
            found,
        )
    };
    for (file, expected) in [
        (
            "closing-not-opening-plus-entries.xml",
            "the closing balance is 500.00, the opening balance of 100.00 and the booked entries of 10.00 are 110.00",
        ),
        (
            "sum-of-tx-differs-without-reason.xml",
            "the details of the entry of -1526.00 sum up to -1100.00, the difference is -426.00",
        ),
        (
            "tx-in-payment-currency.xml",
            "expected transaction 1 in the entry's currency CHF, found EUR",
        ),
    ] {
        assert_eq!(read(file).1, [expected], "{file}");
    }
    for (file, counterparty, beside, narrative) in [
        (
            "returned-debit-both-parties.xml",
            Some("Sam Debtor"),
            None,
            "RETURNED DEBIT\nMS03\nother reasons",
        ),
        (
            "ustrd-pieces-lines.xml",
            None,
            None,
            "Invoice 1234\nCustomer 99",
        ),
        (
            "ultimate-only.xml",
            Some("End Customer"),
            Some("End Customer"),
            "",
        ),
        (
            "ultimate-and-psp.xml",
            Some("PSP Europe"),
            Some("End Customer"),
            "",
        ),
    ] {
        let (report, found) = read(file);
        assert_eq!(found, [""; 0], "{file}");
        let line = report.lines().next().unwrap();
        assert_eq!(name(line.counterparty()), counterparty, "{file}");
        assert_eq!(
            report.entries[0].counterparty_name(),
            counterparty,
            "{file}"
        );
        assert_eq!(name(line.ultimate_counterparty()), beside, "{file}");
        assert_eq!(report.entries[0].narrative(), narrative, "{file}");
    }
    let (report, _) = read("tx-in-payment-currency.xml");
    let line = report.lines().next().unwrap();
    assert_eq!(line.signed_money().unwrap().to_string(), "100.00 EUR");
    assert_eq!(line.account_money().unwrap().to_string(), "109.36 CHF");
    for (file, expected) in [("page1.xml", "150.00"), ("page2.xml", "100.00")] {
        let (report, found) = read(file);
        assert_eq!(found, [""; 0], "{file}");
        let (_, after) = report.running_balances().next().unwrap();
        assert_eq!(after.unwrap().to_string(), expected, "{file}");
    }
}

/// Returns the XML files of a folder and of those below it.
fn xml_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                xml_files(&path)
            } else {
                vec![path]
            }
        })
        .filter(|path| path.extension().is_some_and(|kind| kind == "xml"))
        .collect()
}

#[test]
fn real_documents_give_no_false_finding_of_sums() {
    let Some(folder) = shared("samples") else {
        return;
    };
    let files = xml_files(&folder);
    let files = files
        .iter()
        .filter(|path| !path.components().any(|part| part.as_os_str() == "reports"));
    let (mut read, mut found) = (0, Vec::new());
    for path in files {
        let Ok(parsed) = Document::parse(std::fs::read(path).unwrap()) else {
            continue;
        };
        read += 1;
        let sums = parsed.findings.iter().filter(|finding| {
            matches!(
                Disagreement::of(&finding.kind),
                Some(
                    Disagreement::ClosingBalance { .. }
                        | Disagreement::DetailsSum { .. }
                        | Disagreement::BatchDirection { .. }
                        | Disagreement::TransactionCurrency { .. }
                )
            )
        });
        let name = path.file_name().unwrap().to_string_lossy();
        found.extend(sums.map(|finding| format!("{name}: {}", finding.kind)));
    }
    assert!(read > 25, "{read} documents");
    // The one pays in dollars from an account in kronor; the other was made from a document with
    // one transaction, by a second one.
    found.sort();
    assert_eq!(
        found,
        [
            "06-charges-exchange.xml: expected transaction 1 in the entry's currency SEK, found USD",
            "71-txdtls-repeated.xml: the details of the entry of 8.00 sum up to 9.00, the difference is -1.00",
        ]
    );
}
