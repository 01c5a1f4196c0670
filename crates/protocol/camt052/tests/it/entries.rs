//! Amounts with their sign, counterparties, references and totals of entries, transactions and
//! balances.

use crate::findings::document;
use bankrail_camt052::{
    AccountIdentification, Amount, DateOrDateTime, Direction, Document, Entry, EntryStatus,
    IsoDate, OtherAccountId, Remittance, Report, Summary, Text, Transaction, summary_of,
};
use bankrail_values::{Currency, Decimal, Money};

const CODE: &str = "<BkTxCd/>";

fn report(before: &str, entries: &str) -> Report {
    Document::parse(document(before, entries))
        .unwrap()
        .document
        .reports
        .remove(0)
}

/// Returns an entry of one Australian dollar with this after its code.
fn entry(direction: &str, before_code: &str, after_code: &str) -> Entry {
    let xml = format!(
        "<Ntry><NtryRef>e1</NtryRef><Amt Ccy=\"AUD\">1.00</Amt><CdtDbtInd>{direction}</CdtDbtInd>{before_code}\
         <Sts>BOOK</Sts><AcctSvcrRef>s1</AcctSvcrRef>{CODE}{after_code}</Ntry>"
    );
    report("", &xml).entries.remove(0)
}

fn transaction(direction: &str, more: &str) -> String {
    format!("<TxDtls>{more}</TxDtls>").replace(
        "<RltdPties>",
        &format!("<Amt Ccy=\"AUD\">1.00</Amt><CdtDbtInd>{direction}</CdtDbtInd><RltdPties>"),
    )
}

const PARTIES: &str = "<RltdPties><Dbtr><Nm>debtor</Nm></Dbtr><DbtrAcct><Id><Othr><Id>from</Id></Othr></Id></DbtrAcct>\
    <Cdtr><Nm>creditor</Nm></Cdtr><CdtrAcct><Id><Othr><Id>to</Id></Othr></Id></CdtrAcct></RltdPties>";

#[test]
fn the_counterparty_is_at_the_other_end_of_the_payment() {
    for (direction, reversal, name, account) in [
        ("CRDT", "", Some("debtor"), Some("from")),
        ("DBIT", "", Some("creditor"), Some("to")),
        (
            "CRDT",
            "<RvslInd>true</RvslInd>",
            Some("creditor"),
            Some("to"),
        ),
        (
            "DBIT",
            "<RvslInd>true</RvslInd>",
            Some("debtor"),
            Some("from"),
        ),
        (
            "CRDT",
            "<RvslInd>false</RvslInd>",
            Some("debtor"),
            Some("from"),
        ),
        ("BOTH", "", None, None),
    ] {
        let details = format!("<NtryDtls>{}</NtryDtls>", transaction(direction, PARTIES));
        let entry = entry(direction, reversal, &details);
        assert_eq!(entry.counterparty_name(), name, "{direction} {reversal}");
        assert_eq!(entry.counterparty().is_some(), name.is_some());
        let line = entry.lines().next().unwrap();
        assert_eq!(
            line.counterparty()
                .and_then(|party| party.name.as_ref())
                .map(Text::as_str),
            name
        );
        assert_eq!(
            line.counterparty_account()
                .and_then(|held| held.id.as_str()),
            account
        );
        let signed = match direction {
            "CRDT" => Some(Decimal::new(100, 2)),
            "DBIT" => Some(Decimal::new(-100, 2)),
            _ => None,
        };
        assert_eq!(
            (entry.signed_amount(), line.signed_amount()),
            (signed, signed)
        );
        assert_eq!(line.transaction.unwrap().signed_amount(), signed);
        let money = signed.map(|amount| Money::new(amount, Currency::AUD));
        assert_eq!((entry.signed_money(), line.signed_money()), (money, money));
        assert_eq!(line.amount(), Some(&entry.amount));
        assert_eq!(line.direction(), &entry.direction);
    }
    // The first transaction that names one, and none where no transaction does.
    let details = format!(
        "<NtryDtls><TxDtls/>{}</NtryDtls>",
        transaction("CRDT", PARTIES)
    );
    assert_eq!(
        entry("CRDT", "", &details).counterparty_name(),
        Some("debtor")
    );
    let none = entry("CRDT", "", "");
    assert!(
        none.counterparty().is_none()
            && none
                .lines()
                .all(|line| line.counterparty_account().is_none())
    );
    assert_eq!((none.lines().count(), none.transactions().count()), (1, 0));
}

#[test]
fn empty_references_are_none() {
    let refs = "<Refs><EndToEndId/><MndtId></MndtId><ChqNb> </ChqNb><Prtry><Tp>own</Tp><Ref/></Prtry></Refs>";
    let entry = entry(
        "CRDT",
        "",
        &format!("<NtryDtls><TxDtls>{refs}</TxDtls></NtryDtls>"),
    );
    // Counts the references of the entry itself.
    assert_eq!(entry.references().count(), 2);
    let line = entry.lines().next().unwrap();
    assert_eq!((line.references().count(), line.end_to_end_id()), (2, None));
}

#[test]
fn references_are_told_with_their_wire_names() {
    let names = [
        "MsgId",
        "AcctSvcrRef",
        "PmtInfId",
        "InstrId",
        "EndToEndId",
        "TxId",
        "MndtId",
        "ChqNb",
        "ClrSysRef",
        "AcctOwnrTxId",
        "AcctSvcrTxId",
        "MktInfrstrctrTxId",
        "PrcgId",
    ];
    let named: String = names
        .iter()
        .map(|name| format!("<{name}>{name} 1</{name}>"))
        .collect();
    let refs = format!("<Refs>{named}<Prtry><Tp>own</Tp><Ref>p 1</Ref></Prtry></Refs>");
    let entry = entry(
        "CRDT",
        "",
        &format!("<NtryDtls><TxDtls>{refs}</TxDtls><TxDtls/></NtryDtls>"),
    );
    let mut expected: Vec<(String, String)> = names
        .iter()
        .map(|name| ((*name).to_owned(), format!("{name} 1")))
        .collect();
    expected.push(("own".to_owned(), "p 1".to_owned()));
    let owned = |(name, text): (&str, &str)| (name.to_owned(), text.to_owned());
    let transaction = entry.transactions().next().unwrap();
    assert_eq!(
        transaction.references().map(owned).collect::<Vec<_>>(),
        expected
    );
    assert_eq!(
        transaction
            .references
            .as_ref()
            .unwrap()
            .all()
            .map(owned)
            .collect::<Vec<_>>(),
        expected
    );
    let own = [("NtryRef", "e1"), ("AcctSvcrRef", "s1")].map(owned);
    assert_eq!(
        entry.references().map(owned).collect::<Vec<_>>(),
        [own.to_vec(), expected].concat()
    );
    assert_eq!(Transaction::new().references().count(), 0);
}

#[test]
fn a_narrative_is_cut_into_pieces_of_140_code_points() {
    for (length, pieces) in [
        (0, vec![]),
        (1, vec![1]),
        (139, vec![139]),
        (140, vec![140]),
        (141, vec![140, 1]),
        (281, vec![140, 140, 1]),
    ] {
        let remittance = Remittance::from_narrative(&"é".repeat(length));
        let lengths: Vec<usize> = remittance
            .unstructured
            .iter()
            .map(|piece| piece.as_str().chars().count())
            .collect();
        assert_eq!(lengths, pieces, "{length}");
        assert_eq!(remittance.narrative(), "é".repeat(length));
    }
    let transaction = Transaction::with_amount(
        Amount::new(Decimal::ONE, Currency::AUD).unwrap(),
        Direction::Debit,
    );
    assert_eq!(
        (transaction.signed_amount(), transaction.narrative()),
        (Some(Decimal::NEGATIVE_ONE), String::new())
    );
    assert_eq!(transaction.direction, Some(Direction::Debit));
}

fn entries(amounts: &[(&str, Direction)]) -> Vec<Entry> {
    let entry = |(amount, direction): &(&str, Direction)| {
        let amount = Amount::new(Decimal::from_str_exact(amount).unwrap(), Currency::AUD).unwrap();
        Entry::new(amount, direction.clone(), EntryStatus::BOOKED)
    };
    amounts.iter().map(entry).collect()
}

/// Count and sum of all, net and its direction; count and sum of credits, and of debits.
fn shown(summary: &Summary) -> String {
    let all = summary.all.as_ref().unwrap();
    let net = all.net.as_ref().unwrap();
    let part = |part: &Option<bankrail_camt052::CountAndSum>| {
        let part = part.as_ref().unwrap();
        format!("{} {}", part.entries.as_ref().unwrap(), part.sum.unwrap())
    };
    format!(
        "{} {} {} {}, {}, {}",
        all.entries.as_ref().unwrap(),
        all.sum.unwrap(),
        net.amount,
        net.direction,
        part(&summary.credits),
        part(&summary.debits)
    )
}

#[test]
fn totals_of_entries() {
    use Direction::{Credit, Debit};
    for (amounts, expected) in [
        (vec![], "0 0 0 CRDT, 0 0, 0 0"),
        (
            vec![("219.50", Credit)],
            "1 219.50 219.50 CRDT, 1 219.50, 0 0.00",
        ),
        (
            vec![("2.5", Debit), ("2.50", Debit)],
            "2 5.00 5.00 DBIT, 0 0.00, 2 5.00",
        ),
        (
            vec![("3.00", Credit), ("1.00", Debit)],
            "2 4.00 2.00 CRDT, 1 3.00, 1 1.00",
        ),
        (
            vec![("1.00", Credit), ("3.00", Debit), ("0.50", Credit)],
            "3 4.50 1.50 DBIT, 2 1.50, 1 3.00",
        ),
        (
            vec![("1.00", Credit), ("1.00", Debit)],
            "2 2.00 0.00 CRDT, 1 1.00, 1 1.00",
        ),
        (vec![("0.00", Debit)], "1 0.00 0.00 CRDT, 0 0.00, 1 0.00"),
    ] {
        assert_eq!(shown(&summary_of(&entries(&amounts)).unwrap()), expected);
    }
    assert!(summary_of(&entries(&[("1", Credit), ("1", Direction::from("BOTH"))])).is_none());
    // The sum has more digits than the schema allows.
    let most = "9".repeat(18);
    assert!(summary_of(&entries(&[(&most, Credit)])).is_some());
    assert!(summary_of(&entries(&[(&most, Credit), ("1", Credit)])).is_none());
}

#[test]
fn a_balance_without_currency_is_followed_by_none() {
    let balance = |currency: &str| {
        format!(
            "<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt{currency}>1.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>\
             <Dt><Dt>2021-07-29</Dt></Dt></Bal>"
        )
    };
    let entry = |currency: &str| {
        format!(
            "<Ntry><Amt{currency}>1.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts>{CODE}</Ntry>"
        )
    };
    for (of_balance, of_entry, expected) in [
        (" Ccy=\"AUD\"", " Ccy=\"AUD\"", Some(Decimal::new(200, 2))),
        (" Ccy=\"AUD\"", " Ccy=\"EUR\"", None),
        ("", "", None),
    ] {
        let report = report(&balance(of_balance), &entry(of_entry));
        assert_eq!(
            report
                .running_balances()
                .map(|(_, after)| after)
                .collect::<Vec<_>>(),
            [expected],
            "{of_entry}"
        );
    }
}

#[test]
fn identifications_and_days_as_text() {
    assert_eq!(
        AccountIdentification::Iban("DE89370400440532013000".into()).as_str(),
        Some("DE89370400440532013000")
    );
    assert_eq!(
        AccountIdentification::Other(OtherAccountId::new("1".into())).as_str(),
        Some("1")
    );
    assert_eq!(AccountIdentification::Unknown.as_str(), None);
    let day: IsoDate = "2021-07-29".parse().unwrap();
    assert_eq!(DateOrDateTime::Date(day).date(), Some(day));
    assert_eq!(DateOrDateTime::Unknown.date(), None);
}
