//! The narrative rule and the identity of entries.

use crate::support::{document, entry, entry_xml, plain};
use bankrail_camt052::{AccountIdentification, Entry};
use bankrail_statement::{
    AccountKind, EntryChannel, EntryIdentity, VirtualAccount, apply_narrative,
};

const PARTIES: &str = "<RltdPties><Dbtr><Nm>PAYER</Nm></Dbtr><Cdtr><Nm>PAYEE</Nm></Cdtr><CdtrAcct><Id><Othr>\
                       <Id>006430991</Id><Issr>010201</Issr></Othr></Id></CdtrAcct></RltdPties>";
const STRUCTURED: &str = "<Strd><CdtrRefInf><Ref>RF18</Ref></CdtrRefInf></Strd>";

fn fast(remittance: &str) -> Entry {
    entry(entry_xml(
        "25.00",
        "<Dt>2021-07-29</Dt>",
        "",
        &format!("{PARTIES}<RmtInf>{remittance}</RmtInf>"),
        "",
    ))
}

fn shown(mut entry: Entry, channel: EntryChannel, account: AccountKind, include: bool) -> Entry {
    apply_narrative(&mut entry, channel, account, include);
    entry
}

/// Returns the entry without its creditor account.
fn without_creditor_account(mut entry: Entry) -> Entry {
    entry.details[0].transactions[0]
        .parties
        .as_mut()
        .unwrap()
        .creditor_account = None;
    entry
}

#[test]
fn only_fast_payments_lose_their_narrative_and_only_when_it_is_not_asked_for() {
    let whole = fast("<Ustrd>👍 one</Ustrd><Ustrd>two</Ustrd>");
    for channel in [EntryChannel::FastPayment, EntryChannel::Ordinary] {
        for account in [AccountKind::Ordinary, AccountKind::WithVirtualAccounts] {
            assert_eq!(
                shown(whole.clone(), channel, account, true),
                whole,
                "{channel:?} {account:?}"
            );
        }
    }
    let bare = shown(
        whole.clone(),
        EntryChannel::FastPayment,
        AccountKind::Ordinary,
        false,
    );
    let transaction = &bare.details[0].transactions[0];
    assert!(transaction.parties.is_none() && transaction.remittance.is_none());
    let mut expected = whole;
    expected.details[0].transactions[0].parties = None;
    expected.details[0].transactions[0].remittance = None;
    assert_eq!(bare, expected, "nothing else is removed");
    let memo = entry(plain("8.00", "Memo"));
    assert_eq!(
        shown(
            memo.clone(),
            EntryChannel::Ordinary,
            AccountKind::Ordinary,
            false
        ),
        memo
    );
}

#[test]
fn the_account_decides_on_virtual_accounts_and_the_channel_on_the_rest() {
    let with_issuer = fast("<Ustrd>text</Ustrd>");
    let without_issuer = {
        let mut entry = with_issuer.clone();
        let parties = entry.details[0].transactions[0].parties.as_mut().unwrap();
        let Some(AccountIdentification::Other(id)) = parties
            .creditor_account
            .as_mut()
            .map(|account| &mut account.id)
        else {
            panic!("another identifier")
        };
        id.issuer = None;
        entry
    };
    // An ordinary account's ordinary entry stays unchanged, with an issuer or without.
    for entry in [&with_issuer, &without_issuer] {
        assert_eq!(
            shown(
                entry.clone(),
                EntryChannel::Ordinary,
                AccountKind::Ordinary,
                false
            ),
            *entry
        );
    }
    // A virtual account is hidden in every channel, with an issuer or without.
    for entry in [with_issuer, without_issuer] {
        let hidden = shown(
            entry.clone(),
            EntryChannel::Ordinary,
            AccountKind::WithVirtualAccounts,
            false,
        );
        assert_eq!(
            hidden,
            without_creditor_account(entry.clone()),
            "names and text stay"
        );
        let bare = shown(
            entry,
            EntryChannel::FastPayment,
            AccountKind::WithVirtualAccounts,
            false,
        );
        assert!(bare.details[0].transactions[0].parties.is_none());
    }
    // The account that the customer has paid is not a virtual account of its own.
    let debit = entry_xml("25.00", "<Dt>2021-07-29</Dt>", "", PARTIES, "").replace("CRDT", "DBIT");
    let mut debit = entry(debit);
    assert_eq!(
        shown(
            debit.clone(),
            EntryChannel::Ordinary,
            AccountKind::WithVirtualAccounts,
            false
        ),
        debit
    );
    // A credit that is reversed is a debit, too.
    debit.reversal = Some(true);
    let hidden = shown(
        debit.clone(),
        EntryChannel::Ordinary,
        AccountKind::WithVirtualAccounts,
        false,
    );
    assert_eq!(hidden, without_creditor_account(debit));
}

#[test]
fn structured_remittance_stays_and_every_transaction_is_stripped() {
    let mut whole = fast(&format!("<Ustrd>text</Ustrd>{STRUCTURED}"));
    let second = whole.details[0].transactions[0].clone();
    whole.details[0].transactions.push(second);
    let bare = shown(
        whole,
        EntryChannel::FastPayment,
        AccountKind::Ordinary,
        false,
    );
    for transaction in &bare.details[0].transactions {
        let remittance = transaction.remittance.as_ref().unwrap();
        assert_eq!(
            (remittance.unstructured.len(), remittance.structured.len()),
            (0, 1)
        );
    }
    let mut document = document(&[]);
    document.reports[0].entries.push(bare);
    let xml = document.to_xml().unwrap();
    assert!(
        !xml.contains("Ustrd") && !xml.contains("RltdPties") && xml.contains("RF18"),
        "{xml}"
    );
}

#[test]
fn no_text_beyond_the_schema_is_left_where_the_narrative_is_not_asked_for() {
    for structured in ["", STRUCTURED] {
        let mut secret = fast(&format!(
            "<Ustrd>text</Ustrd>{structured}<Note>secret</Note>"
        ));
        let parties = fast("<Ustrd>x</Ustrd>").details[0].transactions[0]
            .parties
            .clone();
        assert!(parties.is_some());
        let bare = shown(
            secret.clone(),
            EntryChannel::FastPayment,
            AccountKind::Ordinary,
            false,
        );
        assert!(!format!("{bare:?}").contains("secret"), "{bare:?}");
        let kept = shown(
            secret.clone(),
            EntryChannel::Ordinary,
            AccountKind::Ordinary,
            false,
        );
        assert_eq!(kept, secret);
        // A second remittance information is kept in addition to the first.
        let twice = format!(
            "{PARTIES}<RmtInf><Ustrd>one</Ustrd></RmtInf><RmtInf><Ustrd>secret</Ustrd></RmtInf>"
        );
        secret = entry(entry_xml("25.00", "<Dt>2021-07-29</Dt>", "", &twice, ""));
        assert!(format!("{secret:?}").contains("secret"));
        let bare = shown(
            secret,
            EntryChannel::FastPayment,
            AccountKind::Ordinary,
            false,
        );
        assert!(!format!("{bare:?}").contains("secret"), "{bare:?}");
    }
}

#[test]
fn only_a_debit_that_takes_a_credit_back_hides_its_creditor_account() {
    let returned = "<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>";
    for (reversal, returned, hides) in [
        (None, "", false),
        (Some(false), "", false),
        (Some(true), "", true),
        (None, returned, true),
        (Some(false), returned, true),
    ] {
        let rest = format!("{PARTIES}{returned}");
        let debit =
            entry_xml("25.00", "<Dt>2021-07-29</Dt>", "", &rest, "").replace("CRDT", "DBIT");
        let mut debit = entry(debit);
        debit.reversal = reversal;
        let kind = AccountKind::WithVirtualAccounts;
        let found = shown(debit.clone(), EntryChannel::Ordinary, kind, false);
        let expected = if hides {
            without_creditor_account(debit)
        } else {
            debit
        };
        assert_eq!(found, expected, "{reversal:?} {returned}");
    }
}

#[test]
fn the_payee_of_a_returned_payment_is_no_virtual_account_of_the_payer() {
    let credit = |rest: &str| entry(entry_xml("25.00", "<Dt>2021-07-29</Dt>", "", rest, ""));
    let number = |entry: &Entry| VirtualAccount::of(entry).map(|own| own.number().to_owned());
    let mut paid = credit(PARTIES);
    assert_eq!(number(&paid).as_deref(), Some("006430991"));
    paid.reversal = Some(false);
    assert_eq!(number(&paid).as_deref(), Some("006430991"));
    paid.reversal = Some(true);
    assert_eq!(number(&paid), None);
    assert_eq!(number(&credit(&format!("{PARTIES}<RtrInf/>"))), None);
}

#[test]
fn virtual_accounts_are_named_with_their_branch() {
    let virtual_account = VirtualAccount::new("006430991", "010201").unwrap();
    let mut credited = entry(plain("25.00", "x"));
    virtual_account.show_in(&mut credited);
    assert_eq!(
        VirtualAccount::of(&credited).as_ref(),
        Some(&virtual_account)
    );
    let mut document = document(&[]);
    document.reports[0].entries.push(credited.clone());
    let part = "<CdtrAcct><Id><Othr><Id>006430991</Id><Issr>010201</Issr></Othr></Id></CdtrAcct>";
    assert!(document.to_xml().unwrap().contains(part));
    for channel in [EntryChannel::FastPayment, EntryChannel::Ordinary] {
        let hidden = shown(
            credited.clone(),
            channel,
            AccountKind::WithVirtualAccounts,
            false,
        );
        assert!(
            hidden.details[0].transactions[0].parties.is_none(),
            "{channel:?}"
        );
    }
    let mut silent = credited;
    silent.details[0].transactions[0].direction = None;
    assert_eq!(
        VirtualAccount::of(&silent).as_ref(),
        Some(&virtual_account),
        "the entry says that it is a credit"
    );
    let hidden = shown(
        silent,
        EntryChannel::Ordinary,
        AccountKind::WithVirtualAccounts,
        false,
    );
    assert!(hidden.details[0].transactions[0].parties.is_none());
    let debit = plain("25.00", "x").replace("CRDT", "DBIT");
    let mut debited = entry(debit);
    virtual_account.show_in(&mut debited);
    assert_eq!(VirtualAccount::of(&debited), None);
    assert!(
        VirtualAccount::new("", "1").is_none()
            && VirtualAccount::new(&"1".repeat(35), "1").is_none()
    );
    assert!(VirtualAccount::new("1", "").is_none());
}

fn identity(xml: String) -> EntryIdentity {
    EntryIdentity::of(&entry(xml))
}

#[test]
fn spelling_does_not_count_and_content_does() {
    let base = identity(plain("10.00", "memo"));
    assert!(!base.has_reference);
    assert_eq!(base.day.unwrap().to_string(), "2021-07-29");
    let same = [
        plain("10.0000", "memo"),
        plain("10", "me</Ustrd><Ustrd>mo"),
        plain("10.00", "memo").replace("<Dt>2021-07-29</Dt>", "<Dt>2021-07-29+10:00</Dt>"),
        plain("10.00", "memo").replace("<Ntry>", "<Ntry><NtryRef>7</NtryRef>"),
        plain("10.00", "memo").replace("<Sts>", "<RvslInd>false</RvslInd><Sts>"),
    ];
    for xml in same {
        assert_eq!(identity(xml.clone()), base, "{xml}");
    }
    let other = [
        plain("10.01", "memo"),
        plain("10.00", "Memo"),
        plain("10.00", "memo").replace("AUD", "USD"),
        plain("10.00", "memo").replace("CRDT", "DBIT"),
        plain("10.00", "memo").replace("BOOK", "PDNG"),
        plain("10.00", "memo").replace("2021-07-29", "2021-07-30"),
        plain("10.00", "memo").replace("DMCT", "XBCT"),
        plain("10.00", "memo").replace("<Sts>", "<RvslInd>true</RvslInd><Sts>"),
        plain("10.00", "memo").replace(
            "<RmtInf>",
            "<RltdPties><Dbtr><Nm>A</Nm></Dbtr></RltdPties><RmtInf>",
        ),
        plain("10.00", "memo").replace(
            "<RmtInf>",
            "<RltdPties><Cdtr><Nm>A</Nm></Cdtr></RltdPties><RmtInf>",
        ),
        entry_xml(
            "10.00",
            "<Dt>2021-07-29</Dt>",
            "<Refs><EndToEndId>e</EndToEndId></Refs>",
            "",
            "",
        ),
        entry_xml(
            "10.00",
            "<Dt>2021-07-29</Dt>",
            "<Refs><TxId>e</TxId></Refs>",
            "",
            "",
        ),
        entry_xml("10.00", "<DtTm>2021-07-29T01:00:00</DtTm>", "", "", ""),
        entry_xml("10.00", "<DtTm>2021-07-29T01:00:01</DtTm>", "", "", ""),
    ];
    for time in ["01:00:00", "23:59:59.999+10:00", "00:00:00-05:00"] {
        let timed = identity(plain("10.00", "memo").replace(
            "<Dt>2021-07-29</Dt>",
            &format!("<DtTm>2021-07-29T{time}</DtTm>"),
        ));
        assert_eq!(timed.day, base.day, "{time}: the day as it is written");
    }
    let mut keys: Vec<_> = other.into_iter().map(identity).collect();
    assert!(keys.iter().all(|identity| !identity.has_reference));
    keys.push(base);
    let count = keys.len();
    keys.sort_by_key(|identity| identity.key);
    keys.dedup_by_key(|identity| identity.key);
    assert_eq!(keys.len(), count, "each of them is another entry");
}

/// Every reference of a transaction is part of the content, except `AcctSvcrRef`, which identifies
/// an entry alone.
#[test]
fn each_reference_is_part_of_the_content() {
    let names = "MsgId PmtInfId InstrId EndToEndId TxId MndtId ChqNb ClrSysRef AcctOwnrTxId AcctSvcrTxId \
        MktInfrstrctrTxId PrcgId";
    let refs = names.split(' ').map(|name| format!("<{name}>1</{name}>"));
    let own = [("a", "1"), ("b", "1"), ("a", "2")]
        .map(|(kind, text)| format!("<Tp>{kind}</Tp><Ref>{text}</Ref>"));
    let refs = refs
        .chain(own.map(|own| format!("<Prtry>{own}</Prtry>")))
        .chain([String::new()]);
    let of = |refs: String| {
        identity(entry_xml(
            "1.00",
            "<Dt>2021-07-29</Dt>",
            &format!("<Refs>{refs}</Refs>"),
            "",
            "",
        ))
    };
    let keys: std::collections::HashSet<_> = refs.map(|refs| of(refs).key).collect();
    assert_eq!(keys.len(), 16);
}

#[test]
fn the_banks_reference_names_an_entry() {
    let refs = |reference: &str| format!("<Refs><AcctSvcrRef>{reference}</AcctSvcrRef></Refs>");
    let of = |reference: &str, memo: &str, amount: &str| {
        let rest = format!("<RmtInf><Ustrd>{memo}</Ustrd></RmtInf>");
        identity(entry_xml(
            amount,
            "<Dt>2021-07-29</Dt>",
            &refs(reference),
            &rest,
            "",
        ))
    };
    let base = of("R1", "memo", "1.00");
    assert!(base.has_reference);
    assert_eq!(
        of("R1", "another text", "1.0"),
        base,
        "the text does not count"
    );
    for other in [of("R2", "memo", "1.00"), of("R1", "memo", "1.01")] {
        assert!(other.has_reference && other.key != base.key);
    }
    let on_entry = |servicer: &str, references: &str| {
        identity(entry_xml(
            "1.00",
            "<Dt>2021-07-29</Dt>",
            references,
            "",
            servicer,
        ))
    };
    let servicer = "<AcctSvcrRef>R1</AcctSvcrRef>";
    assert_eq!(on_entry(servicer, "").key, base.key);
    assert_eq!(
        on_entry(servicer, &refs("other")).key,
        base.key,
        "the entry's own reference counts"
    );
    assert!(!on_entry("", &refs(" ")).has_reference);
    // A batch has a reference only if all of its transactions have one.
    let batch = |first: &str, second: &str| {
        let xml = entry_xml("1.00", "<Dt>2021-07-29</Dt>", first, "", "");
        let transaction = &xml[xml.find("<TxDtls>").unwrap()..xml.find("</NtryDtls>").unwrap()];
        let more = transaction.replace(first, second);
        identity(xml.replace("</NtryDtls>", &format!("{more}</NtryDtls>")))
    };
    assert!(batch(&refs("R1"), &refs("R2")).has_reference);
    assert_ne!(
        batch(&refs("R1"), &refs("R2")).key,
        batch(&refs("R2"), &refs("R1")).key
    );
    assert!(!batch(&refs("R1"), "<Refs><TxId>e</TxId></Refs>").has_reference);
    let bare = "<Ntry><Amt Ccy=\"AUD\">1.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><ValDt><Dt>2021-07-28</Dt>\
                </ValDt><BkTxCd><Prtry><Cd>x</Cd></Prtry></BkTxCd></Ntry>";
    let bare = identity(bare.to_owned());
    assert_eq!(
        (bare.has_reference, bare.day.unwrap().to_string().as_str()),
        (false, "2021-07-28")
    );
}
