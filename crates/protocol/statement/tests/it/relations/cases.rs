//! Ten completions as banks make them, written independently of the rule's code.

use super::bank::thorough;
use crate::support::document_xml;
use bankrail_camt052::{Document, Report};
use bankrail_statement::{
    AccountNotice, AccountPoll, EntryIdentity, EntryLinks, EntryRelation, PageDecision, PolledPage,
    ReceivedNextPage, SeenEntryId, StatementDay,
};
use std::collections::HashMap;

/// Returns an entry of 29 July: its amount and sign, its status, the elements after its booking
/// date, and those of its one transaction.
fn listed(money: &str, status: &str, rest: &str, details: &str) -> String {
    let (sign, amount) = money.split_at(1);
    let sign = if sign == "+" { "CRDT" } else { "DBIT" };
    let details = if details.is_empty() {
        String::new()
    } else {
        format!("<NtryDtls>{details}</NtryDtls>")
    };
    format!(
        "<Ntry><Amt Ccy=\"AUD\">{amount}</Amt><CdtDbtInd>{sign}</CdtDbtInd><Sts>{status}</Sts><BookgDt>\
         <Dt>2021-07-29</Dt></BookgDt>{rest}<BkTxCd><Prtry><Cd>TRF</Cd></Prtry></BkTxCd>{details}</Ntry>"
    )
}

fn text(words: &str) -> String {
    format!("<TxDtls><RmtInf><Ustrd>{words}</Ustrd></RmtInf></TxDtls>")
}

fn reference(number: u32) -> String {
    format!("<AcctSvcrRef>R{number}</AcctSvcrRef>")
}

/// Returns the relations that a second and a third walk find, which list the same entries. Each
/// earlier entry is named by its place in the first walk.
fn relations(walks: [&[String]; 3], currencies: [&str; 3]) -> Vec<String> {
    let now = "2021-07-29T10:00:00.000Z".parse().unwrap();
    let mut poll = AccountPoll::new(None, thorough());
    let mut counts = HashMap::new();
    let mut places: HashMap<SeenEntryId, usize> = HashMap::new();
    let mut said = Vec::new();
    for (number, (entries, currency)) in walks.into_iter().zip(currencies).enumerate() {
        let xml = document_xml(entries).replace("AUD", currency);
        let report: Report = Document::parse(xml).unwrap().document.reports.remove(0);
        let page = PolledPage::new(
            ReceivedNextPage::None,
            report.entries.iter().map(EntryIdentity::of).collect(),
        )
        .links(report.entries.iter().map(EntryLinks::of).collect())
        .day(StatementDay::of(&report));
        poll.cursor(now);
        let known: Vec<u32> = page
            .keys()
            .iter()
            .map(|key| counts.get(key).copied().unwrap_or(0))
            .collect();
        let PageDecision::Commit(commit) = poll.judge(&page, &known, now) else {
            panic!("a full walk")
        };
        let place = |id: &SeenEntryId| format!(" {}", places[id]);
        if number == 1 {
            said.clear();
        }
        for handed in commit.handed_over() {
            let relation = match handed.relation {
                EntryRelation::New { may_replace } if may_replace.is_empty() => "new".to_owned(),
                EntryRelation::New { may_replace } => {
                    let mut may: Vec<String> = may_replace.iter().map(place).collect();
                    may.sort_unstable();
                    format!("may replace{}", may.concat())
                }
                EntryRelation::Replaces(earlier) => format!("replaces{}", place(earlier)),
                other => format!("{other:?}"),
            };
            said.push(format!("{}: {relation}", handed.index));
        }
        for notice in commit.notices() {
            said.push(match notice {
                AccountNotice::Vanished { id, .. } => format!("vanished{}", place(id)),
                other => format!("{other:?}"),
            });
        }
        places.extend(
            commit
                .handed_over()
                .map(|handed| (handed.entry.id(), handed.index)),
        );
        for entry in commit.entries() {
            counts.insert(entry.key, entry.occurrence);
        }
        let _ = poll.committed(commit).unwrap();
    }
    said
}

#[test]
fn ten_completions_of_a_stranger_are_each_what_the_rule_makes_of_them() {
    let booked = |money: &str, rest: &str, details: &str| listed(money, "BOOK", rest, details);
    let payer = "<RltdPties><Dbtr><Nm>Y</Nm></Dbtr></RltdPties>";
    let part = |number: u32| {
        format!(
            "<TxDtls><Refs><EndToEndId>E{number}</EndToEndId></Refs><Amt Ccy=\"AUD\">100.00</Amt>\
             <CdtDbtInd>CRDT</CdtDbtInd>{payer}</TxDtls>"
        )
    };
    let fee = text("FEE");
    type Case = (
        &'static str,
        Vec<String>,
        Vec<String>,
        &'static [&'static str],
    );
    let cases: [Case; 10] = [
        (
            "c01 a pending entry is booked with a value date",
            vec![listed("+120.00", "PDNG", "", &text("RENT"))],
            vec![booked(
                "+120.00",
                "<ValDt><Dt>2021-07-29</Dt></ValDt>",
                &text("RENT"),
            )],
            &["0: replaces 0"],
        ),
        (
            "c02 a reference is added",
            vec![booked("-42.50", "", &text("CARD 1234"))],
            vec![booked("-42.50", &reference(1), &text("CARD 1234"))],
            &["0: replaces 0"],
        ),
        (
            "c03 the text is lengthened, so both have one and these differ",
            vec![booked("+75.00", "", &text("INVOICE 4711"))],
            vec![booked("+75.00", &reference(1), &text("INVOICE 4711 MARCH"))],
            &["0: may replace 0", "vanished 0"],
        ),
        (
            "c04 the payer is added",
            vec![booked(
                "+310.00",
                "",
                "<TxDtls><Refs><EndToEndId>E1</EndToEndId></Refs></TxDtls>",
            )],
            vec![booked(
                "+310.00",
                "",
                &format!("<TxDtls><Refs><EndToEndId>E1</EndToEndId></Refs>{payer}</TxDtls>"),
            )],
            &["0: replaces 0"],
        ),
        (
            "c05 a batch is broken down",
            vec![booked("+300.00", "", "<Btch><NbOfTxs>3</NbOfTxs></Btch>")],
            vec![booked(
                "+300.00",
                "",
                &format!(
                    "<Btch><NbOfTxs>3</NbOfTxs></Btch>{}{}{}",
                    part(1),
                    part(2),
                    part(3)
                ),
            )],
            &["0: replaces 0"],
        ),
        (
            "c06 one of two twins has its reference, in another order",
            vec![
                booked("+25.00", "", ""),
                booked("+10.00", "", &text("A")),
                booked("+25.00", "", ""),
            ],
            vec![
                booked("+10.00", "", &text("A")),
                booked("+25.00", &reference(7), ""),
                booked("+25.00", "", ""),
            ],
            &["1: replaces 2"],
        ),
        (
            "c07 two candidates",
            vec![
                booked("+60.00", "", &text("GIFT")),
                booked("+60.00", "", &format!("<TxDtls>{payer}</TxDtls>")),
            ],
            vec![booked(
                "+60.00",
                &reference(1),
                &format!("<TxDtls>{payer}<RmtInf><Ustrd>GIFT</Ustrd></RmtInf></TxDtls>"),
            )],
            &["0: may replace 0 1", "vanished 0", "vanished 1"],
        ),
        (
            "c08 the date is moved by a day",
            vec![booked("+90.00", "", &text("LATE"))],
            vec![booked("+90.00", "", &text("LATE")).replace("07-29", "07-30")],
            &["0: may replace 0", "vanished 0"],
        ),
        (
            "c09 the amount is corrected, with a reversal",
            vec![booked("-100.00", "", &fee)],
            vec![
                booked("-100.00", &reference(1), &fee),
                booked("+100.00", &reference(2), &fee)
                    .replace("<Sts>", "<RvslInd>true</RvslInd><Sts>"),
                booked("-100.50", &reference(3), &fee),
            ],
            &["0: replaces 0", "1: new", "2: new"],
        ),
        (
            "c10 an account of another currency",
            vec![booked("+50.00", "", "")],
            vec![booked("+50.00", &reference(1), "")],
            &["0: new", "vanished 0"],
        ),
    ];
    let mut wrong = Vec::new();
    for (what, before, after, expected) in cases {
        let currencies = if what.starts_with("c10") {
            ["AUD", "USD", "USD"]
        } else {
            ["AUD"; 3]
        };
        let mut said = relations([&before, &after, &after], currencies);
        said.sort_unstable();
        if said != expected {
            wrong.push(format!("{what}: {said:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
