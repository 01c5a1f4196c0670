//! Reports that were sent in several pages are merged, and faults of pages are reported.

use crate::family::bytes;
use bankrail_camt::report::{Document, Report};
use bankrail_camt::{
    AnyDocument, CopyDuplicate, Finding, GroupHeader, MergeErrorKind, MergedPages, ReportingSource,
    Text, WholeNumber, merge_pages,
};
use std::fmt::Write as _;

/// A statement of booked credits and debits, in parts.
struct Whole {
    entries: Vec<i64>,
    sequence: u64,
    day: u64,
    header_pages: bool,
    /// True if the summary of each page counts the page's own entries; otherwise it counts all
    /// entries.
    own_summaries: bool,
}

impl Whole {
    fn new(seed: u64) -> Self {
        let bytes = bytes(seed, 64);
        let entries = usize::from(bytes[0] % 24) + 4;
        Self {
            entries: (1..=entries)
                .map(|index| i64::from(bytes[index]) - 128)
                .collect(),
            sequence: u64::from(bytes[1]) + 1,
            day: 29,
            header_pages: bytes[2].is_multiple_of(2),
            own_summaries: bytes[3].is_multiple_of(2),
        }
    }

    /// Returns a message with the statement from entry to entry, with balances around it.
    fn part(&self, from: usize, to: usize, page: Option<(usize, bool)>) -> Document {
        let pages = page.map(|(page, last)| {
            format!("Pgntn><PgNb>{page}</PgNb><LastPgInd>{last}</LastPgInd></")
        });
        let in_header = pages.iter().filter(|_| self.header_pages);
        let in_header: String = in_header
            .map(|pages| format!("<Msg{pages}MsgPgntn>"))
            .collect();
        let own = pages.iter().filter(|_| !self.header_pages);
        let own: String = own.map(|pages| format!("<Stmt{pages}StmtPgntn>")).collect();
        let mut xml = format!(
            "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.06\"><BkToCstmrStmt>\
            <GrpHdr><MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05Z</CreDtTm>{in_header}</GrpHdr>\
            <Stmt><Id>s{0}</Id>{own}<ElctrncSeqNb>{0}</ElctrncSeqNb>\
            <CreDtTm>2021-07-29T17:10:05Z</CreDtTm><FrToDt><FrDtTm>2021-07-{1:02}T00:00:00Z</FrDtTm>\
            <ToDtTm>2021-07-{1:02}T23:59:59Z</ToDtTm></FrToDt><Acct><Id><Othr><Id>1</Id></Othr></Id></Acct>",
            self.sequence, self.day
        );
        let before = |index: usize| 1_000 + self.entries[..index].iter().sum::<i64>();
        let count = self.entries.len();
        let kinds = [
            (if from == 0 { "OPBD" } else { "ITBD" }, before(from)),
            (if to == count { "CLBD" } else { "ITBD" }, before(to)),
        ];
        for (kind, amount) in kinds {
            write!(
                xml,
                "<Bal><Tp><CdOrPrtry><Cd>{kind}</Cd></CdOrPrtry></Tp>{}\
                <Dt><Dt>2021-07-29</Dt></Dt></Bal>",
                signed(amount)
            )
            .unwrap();
        }
        let summed = if self.own_summaries {
            &self.entries[from..to]
        } else {
            &self.entries[..]
        };
        let half = |credit: bool| {
            let of: Vec<i64> = summed
                .iter()
                .copied()
                .filter(|own| (*own >= 0) == credit)
                .collect();
            let sum = of.iter().map(|own| own.abs()).sum::<i64>();
            format!("<NbOfNtries>{}</NbOfNtries><Sum>{sum}</Sum>", of.len())
        };
        let net = summed.iter().sum::<i64>();
        let direction = if net < 0 { "DBIT" } else { "CRDT" };
        write!(
            xml,
            "<TxsSummry><TtlNtries><NbOfNtries>{}</NbOfNtries><Sum>{}</Sum><TtlNetNtry>\
            <Amt>{}</Amt><CdtDbtInd>{direction}</CdtDbtInd></TtlNetNtry></TtlNtries>\
            <TtlCdtNtries>{}</TtlCdtNtries><TtlDbtNtries>{}</TtlDbtNtries></TxsSummry>",
            summed.len(),
            summed.iter().map(|own| own.abs()).sum::<i64>(),
            net.abs(),
            half(true),
            half(false)
        )
        .unwrap();
        for (index, entry) in self.entries.iter().enumerate().take(to).skip(from) {
            write!(
                xml,
                "<Ntry><NtryRef>{index}</NtryRef>{}<Sts>BOOK</Sts><BkTxCd/></Ntry>",
                signed(*entry)
            )
            .unwrap();
        }
        // Like many banks, states the additional information on the last page only.
        if to == count {
            xml.push_str("<AddtlStmtInf>end</AddtlStmtInf>");
        }
        xml.push_str("</Stmt></BkToCstmrStmt></Document>");
        AnyDocument::parse(&xml)
            .unwrap()
            .document
            .into_report_document()
    }

    fn whole(&self) -> Report {
        self.part(0, self.entries.len(), None).reports.remove(0)
    }

    /// Returns the statement in pages, in any order but always the same.
    fn pages(&self, seed: u64) -> Vec<Document> {
        let bytes = bytes(seed, 96);
        let mut cuts: Vec<usize> = (1..self.entries.len())
            .filter(|index| bytes[*index].is_multiple_of(4))
            .collect();
        if cuts.is_empty() {
            cuts.push(1);
        }
        cuts.insert(0, 0);
        cuts.push(self.entries.len());
        let last = cuts.len() - 1;
        let pages = cuts.windows(2).zip(1..);
        let mut pages: Vec<_> = pages
            .map(|(cut, page)| self.part(cut[0], cut[1], Some((page, page == last))))
            .collect();
        for index in (1..pages.len()).rev() {
            pages.swap(index, usize::from(bytes[40 + index]) % (index + 1));
        }
        pages
    }
}

fn signed(amount: i64) -> String {
    let direction = if amount < 0 { "DBIT" } else { "CRDT" };
    let amount = amount.abs();
    format!("<Amt Ccy=\"AUD\">{amount}</Amt><CdtDbtInd>{direction}</CdtDbtInd>")
}

/// Returns the report of a message, with its page.
fn report(message: &Document) -> Report {
    let mut report = message.reports[0].clone();
    let header = message.group_header.as_ref().unwrap();
    report.pagination = report.pagination.or(header.pagination.clone());
    report
}

fn page(message: &Document) -> (u64, bool) {
    let page = report(message).pagination.unwrap();
    (page.page.to_number().unwrap(), page.last_page)
}

fn reports(messages: &[Document]) -> Vec<Report> {
    messages.iter().map(report).collect()
}

fn merge(messages: impl IntoIterator<Item = Document>) -> MergedPages {
    let messages = messages.into_iter().map(Box::new);
    merge_pages(messages.map(AnyDocument::Report))
}

/// Returns the findings of a report alone.
fn findings(report: &Report) -> Vec<Finding> {
    let mut document = Document::new(vec![report.clone()]);
    document.group_header = Some(GroupHeader::new("m".into()));
    let found = document.check();
    found
        .into_iter()
        .filter(|finding| !finding.kind.is_schema())
        .collect()
}

fn kinds(merged: &MergedPages) -> Vec<&MergeErrorKind> {
    merged.errors.iter().map(|error| &error.kind).collect()
}

#[test]
fn pages_in_any_order_become_the_report_that_was_cut() {
    for seed in 0..200 {
        let whole = Whole::new(seed);
        let merged = merge(whole.pages(seed + 1));
        assert_eq!(merged.errors, []);
        assert_eq!(merged.reports, [whole.whole()], "{seed}");
        assert_eq!(findings(&merged.reports[0]), []);
        let mut wrong = merged.reports[0].clone();
        wrong.entries.pop();
        assert_ne!(findings(&wrong), []);
    }
}

#[test]
fn a_page_that_is_not_there_is_exactly_the_gap() {
    for seed in 0..200 {
        let mut pages = Whole::new(seed).pages(seed + 1);
        let dropped = usize::try_from(seed).unwrap() % pages.len();
        let (number, last) = page(&pages.remove(dropped));
        let merged = merge(pages.clone());
        let expected = if last {
            MergeErrorKind::Unfinished { expected: number }
        } else {
            MergeErrorKind::Missing {
                first: number,
                last: number,
            }
        };
        assert_eq!(kinds(&merged), [&expected], "{seed}");
        // Nothing was merged.
        pages.sort_by_key(page);
        assert_eq!(merged.reports, reports(&pages));
    }
}

#[test]
fn a_page_that_is_there_twice_is_left_out_once() {
    for seed in 0..200 {
        let whole = Whole::new(seed);
        let mut pages = whole.pages(seed + 1);
        let mut double = pages[usize::try_from(seed).unwrap() % pages.len()].clone();
        let (number, _) = page(&double);
        double.reports[0].copy_duplicate = Some(CopyDuplicate::Duplicate).filter(|_| seed % 2 == 0);
        pages.push(double);
        let merged = merge(pages);
        assert_eq!(kinds(&merged), [&MergeErrorKind::Twice { page: number }]);
        assert_eq!(merged.reports, [whole.whole()], "{seed}");
    }
}

#[test]
fn pages_with_one_number_and_different_content_stay_apart() {
    let whole = Whole::new(1);
    let count = whole.entries.len();
    let pages = [
        whole.part(0, 2, Some((1, false))),
        whole.part(2, count, Some((2, true))),
        whole.part(3, count, Some((2, true))),
    ];
    let merged = merge(pages.clone());
    assert_eq!(kinds(&merged), [&MergeErrorKind::Different { page: 2 }]);
    assert_eq!(merged.reports, reports(&pages));
    assert_eq!(
        merged.errors[0].to_string(),
        format!(
            "account 1, report s{}: page 2 occurs twice with different content",
            whole.sequence
        )
    );

    let pages = [
        whole.part(0, 2, Some((1, true))),
        whole.part(2, count, Some((2, true))),
    ];
    let merged = merge(pages.clone());
    assert_eq!(kinds(&merged), [&MergeErrorKind::AfterLast { page: 2 }]);
    assert_eq!(merged.reports, reports(&pages));
}

#[test]
fn sequence_numbers_that_are_missing_or_twice_are_found() {
    let of = |sequence, day| {
        let whole = Whole {
            sequence,
            day,
            ..Whole::new(day)
        };
        let mut message = whole.part(0, whole.entries.len(), None);
        // Some state the currency of the account, others leave it out.
        let currency = Some("AUD".into()).filter(|_| day % 2 == 0);
        message.reports[0].account.currency = currency;
        message
    };
    let statements = [of(9, 5), of(3, 1), of(4, 2), of(5, 3), of(5, 4)];
    let merged = merge(statements.clone());
    assert_eq!(
        kinds(&merged),
        [
            &MergeErrorKind::SequenceTwice { number: 5 },
            &MergeErrorKind::SequenceMissing { first: 6, last: 8 },
        ]
    );
    assert_eq!(merged.errors[1].report, "s9");
    assert_eq!(merged.reports, reports(&statements));
}

#[test]
fn texts_that_differ_keep_pages_apart() {
    let mut pages = halves(&Whole::new(1));
    pages[0].reports[0].additional_information = Some("begin".into());
    let merged = merge(pages.clone());
    let part = "additional information";
    assert_eq!(kinds(&merged), [&MergeErrorKind::Unmergeable { part }]);
    assert_eq!(merged.reports, reports(&pages));
}

/// Two pages of one report.
fn halves(whole: &Whole) -> [Document; 2] {
    [
        whole.part(0, 2, Some((1, false))),
        whole.part(2, whole.entries.len(), Some((2, true))),
    ]
}

#[test]
fn parts_before_the_entries_may_be_on_any_page() {
    let whole = Whole::new(1);
    let mut expected = whole.whole();
    let mut pages = halves(&whole);
    expected.account.currency = Some("AUD".into());
    pages[0].reports[0].account.currency = Some("AUD".into());
    expected.account.name = Some("Rent".into());
    pages[1].reports[0].account.name = Some("Rent".into());
    expected.source = Some(source("core"));
    pages[1].reports[0].source = Some(source("core"));
    let merged = merge(pages);
    assert_eq!(merged.errors, []);
    assert_eq!(merged.reports, [expected]);
}

fn source(text: &str) -> ReportingSource {
    ReportingSource::Proprietary(Text::from(text))
}

#[test]
fn parts_before_the_entries_that_differ_keep_pages_apart() {
    let state = |report: &mut Report, part: &str, text: &str| match part {
        "account" => report.account.name = Some(text.into()),
        "source" => report.source = Some(source(text)),
        _ => report.legal_sequence = Some(WholeNumber::parse(text).unwrap()),
    };
    for part in ["account", "source", "legal sequence number"] {
        let mut pages = halves(&Whole::new(1));
        state(&mut pages[0].reports[0], part, "1");
        state(&mut pages[1].reports[0], part, "2");
        let merged = merge(pages.clone());
        assert_eq!(kinds(&merged), [&MergeErrorKind::Unmergeable { part }]);
        assert_eq!(merged.reports, reports(&pages));
    }
}

#[test]
fn an_account_in_two_currencies_is_two() {
    let [mut first, mut second] = halves(&Whole::new(1));
    first.reports[0].account.currency = Some("AUD".into());
    second.reports[0].account.currency = Some("EUR".into());
    let merged = merge([first, second]);
    assert_eq!(
        kinds(&merged),
        [
            &MergeErrorKind::Unfinished { expected: 2 },
            &MergeErrorKind::Missing { first: 1, last: 1 },
        ]
    );
}

#[test]
fn a_report_of_a_message_with_several_begins_and_ends_on_any_page() {
    let wholes = [1, 2, 3].map(|sequence| Whole {
        sequence,
        header_pages: true,
        ..Whole::new(1)
    });
    let count = wholes[0].entries.len();
    // The second statement is on all three pages of the message.
    let message = |page, last, statements: &[(usize, usize, usize)]| {
        let mut messages = statements
            .iter()
            .map(|(whole, from, to)| wholes[*whole].part(*from, *to, Some((page, last))));
        let mut message = messages.next().unwrap();
        message.reports.extend(messages.flat_map(|one| one.reports));
        message
    };
    let pages = [
        message(1, false, &[(0, 0, count), (1, 0, 1)]),
        message(2, false, &[(1, 1, 2)]),
        message(3, true, &[(1, 2, count), (2, 0, count)]),
    ];
    let merged = merge(pages.clone());
    assert_eq!(merged.errors, []);
    assert_eq!(merged.reports, wholes.each_ref().map(Whole::whole));

    let [first, _, third] = pages;
    let merged = merge([first, third]);
    assert_eq!(
        kinds(&merged),
        [&MergeErrorKind::Missing { first: 2, last: 2 }]
    );
    assert_eq!(merged.reports.len(), 4);
}

#[test]
fn reports_and_statements_are_apart() {
    let [first, second] = halves(&Whole::new(1));
    let first = AnyDocument::Report(Box::new(first));
    let xml = second.to_xml().unwrap();
    let xml = xml.replace("camt.052", "camt.053");
    let xml = xml.replace("BkToCstmrAcctRpt", "BkToCstmrStmt");
    let xml = xml
        .replace("Rpt>", "Stmt>")
        .replace("RptPgntn", "StmtPgntn");
    let second = AnyDocument::parse(xml.replace("AddtlRptInf", "AddtlStmtInf")).unwrap();
    assert_eq!(merge_pages([first, second.document]).reports.len(), 2);
}
