//! Merged documents, against a model that has all entries in memory and writes the document as a
//! whole.

use crate::documents::{ACCOUNT, answer};
use crate::{Folder, run, shared};
use bankrail::camt052::{
    Balance, BalanceCode, BalanceTypeCode, Document, IsoDateTime, ReadOptions, WriteOptions,
    summary_of,
};
use bankrail::statement::{EntryIdentity, EntryKey, PageWalk, ReceivedNextPage};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use time::{OffsetDateTime, UtcOffset};

/// A document, with true if it is in an answer that promises more entries.
#[derive(Debug)]
struct File {
    xml: Vec<u8>,
    more: Option<bool>,
}

/// Returns the document with the content of all files, the number of its entries, and the number of
/// entries left out; `None` if a file cannot be read.
fn merged(files: &[File], pages: bool) -> Option<(Document, usize, usize)> {
    let (mut entries, mut left_out, mut balances, mut newest) =
        (Vec::new(), 0, Vec::new(), None::<Document>);
    let (mut known, mut walk, mut periods_differ) =
        (HashMap::<EntryKey, u32>::new(), None::<PageWalk>, false);
    let at = |at: &Option<IsoDateTime>| at.as_ref()?.to_time(UtcOffset::UTC);
    let mut accounts = HashSet::new();
    for file in files {
        let mut document = Document::read_with(&*file.xml, &ReadOptions::default())
            .ok()?
            .document;
        let mut listed = Vec::new();
        for report in &mut document.reports {
            accounts.insert(format!(
                "{:?} {:?}",
                report.account.id, report.account.currency
            ));
            let at = at(&report.created_at);
            balances.extend(
                std::mem::take(&mut report.balances)
                    .into_iter()
                    .map(|balance| (balance, at)),
            );
            listed.append(&mut report.entries);
        }
        let identities: Vec<EntryIdentity> = listed.iter().map(EntryIdentity::of).collect();
        let mut through = walk.take().unwrap_or_default();
        let page = through.receive(&ReceivedNextPage::None, &identities);
        for (entry, seen) in listed.into_iter().zip(page.entries()) {
            let known = known.entry(seen.key).or_default();
            if seen.occurrence > *known {
                *known = seen.occurrence;
                entries.push(entry);
            } else {
                left_out += 1;
            }
        }
        let _ = page.stored().unwrap();
        walk = (pages || file.more == Some(true)).then_some(through);
        let created = |document: &Document| {
            document
                .reports
                .iter()
                .filter_map(|report| at(&report.created_at))
                .max()
        };
        periods_differ |= newest
            .as_ref()
            .is_some_and(|newest| newest.reports[0].period != document.reports[0].period);
        if newest
            .as_ref()
            .is_none_or(|newest| created(&document) >= created(newest))
        {
            newest = Some(document);
        }
    }
    let mut document = newest.filter(|_| accounts.len() == 1)?;
    document.reports.truncate(1);
    let report = &mut document.reports[0];
    report.pagination = None;
    report.summary = Some(Box::new(summary_of(&entries)?));
    report.balances = newest_of_each_kind(balances);
    let count = entries.len();
    report.entries = entries;
    if periods_differ {
        report.period = None;
    }
    if let Some(header) = &mut document.group_header {
        header.pagination = None;
    }
    Some((document, count, left_out))
}

fn newest_of_each_kind(all: Vec<(Balance, Option<OffsetDateTime>)>) -> Vec<Balance> {
    use BalanceCode::{OpeningAvailable, OpeningBooked, PreviouslyClosedBooked};
    let mut kept: Vec<(Balance, Option<OffsetDateTime>)> = Vec::new();
    for (balance, at) in all {
        let opening = [OpeningBooked, OpeningAvailable, PreviouslyClosedBooked];
        let is_opening =
            matches!(&balance.kind.code, BalanceTypeCode::Code(code) if opening.contains(code));
        match kept
            .iter_mut()
            .find(|(other, _)| other.kind == balance.kind)
        {
            None => kept.push((balance, at)),
            Some(other) if is_opening == (at < other.1) => *other = (balance, at),
            Some(_) => {}
        }
    }
    kept.into_iter().map(|(balance, _)| balance).collect()
}

/// Merges the files by the program and by the model, and compares the results byte for byte.
/// Returns true if there is a document.
fn check(files: &[File], pages: bool, indent: bool, seed: &str) -> bool {
    let folder = Folder::new();
    let written = files
        .iter()
        .enumerate()
        .map(|(number, file)| match file.more {
            Some(more) => folder.file(
                &format!("{number}.json"),
                answer(std::str::from_utf8(&file.xml).unwrap(), more),
            ),
            None => folder.file(&format!("{number}.xml"), &file.xml),
        });
    let to = folder.path("all.xml").to_str().unwrap().to_owned();
    let mut arguments: Vec<String> = ["statement", "merge", "-o", &to].map(str::to_owned).into();
    arguments.extend(written);
    arguments.extend(pages.then(|| "--pages".to_owned()));
    arguments.extend(indent.then(|| "--indent".to_owned()));
    let run = run(arguments);
    let expected = merged(files, pages).and_then(|(mut document, count, left_out)| {
        let out = std::fs::read(&to).ok();
        let ids = out
            .and_then(|out| Document::parse(out).ok())
            .map(|parsed| parsed.document);
        if let Some(ids) = &ids {
            document.reports[0].id = ids.reports[0].id.clone();
            if let (Some(header), Some(with)) = (&mut document.group_header, &ids.group_header) {
                header.message_id = with.message_id.clone();
            }
        }
        let options = WriteOptions::default()
            .indent(indent.then_some(2))
            .incomplete(true);
        Some((document.to_xml_with(&options).ok()? + "\n", count, left_out))
    });
    let Some((xml, count, left_out)) = expected else {
        assert_eq!(run.status, 1, "{seed}: {}", run.err);
        assert!(!std::fs::exists(&to).unwrap(), "{seed}");
        return false;
    };
    assert_eq!(run.status, 0, "{seed}: {}", run.err);
    assert_eq!(std::fs::read_to_string(&to).unwrap(), xml, "{seed}");
    let entries = if count == 1 { "entry" } else { "entries" };
    let said = format!("{count} {entries} written, {left_out} left out as written before\n");
    assert!(run.err.ends_with(&said), "{seed}: {said}{}", run.err);
    true
}

/// A generator of pseudorandom numbers.
struct Dice {
    state: u64,
    /// The maximum number of entries of a report.
    entries: u64,
}

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % bound
    }

    fn one_of(&mut self, texts: &[&'static str]) -> &'static str {
        texts[usize::try_from(self.below(texts.len() as u64)).unwrap()]
    }

    /// Returns the text once in `times` calls, and otherwise an empty text.
    fn seldom(&mut self, times: u64, text: &str) -> String {
        if self.below(times) == 0 {
            text.to_owned()
        } else {
            String::new()
        }
    }

    fn entry(&mut self) -> String {
        let attribute = self.seldom(20, " odd=\"&lt;1&gt;\"");
        let (amount, sign) = (
            self.one_of(&["4.50", "4.5", "12.00", "x"]),
            self.one_of(&["CRDT", "DBIT"]),
        );
        // Seldom cannot be read.
        let amount = if amount == "x" && self.below(40) > 0 {
            "7.25"
        } else {
            amount
        };
        let (status, day) = (
            self.one_of(&["BOOK", "PDNG"]),
            self.one_of(&["2021-07-28", "2021-07-29"]),
        );
        let reference = self.one_of(&["", "", "R1", "R2", "NONREF"]);
        let reference = if reference.is_empty() {
            String::new()
        } else {
            format!("<AcctSvcrRef>{reference}</AcctSvcrRef>")
        };
        let odd = self.seldom(20, "<o:Odd xmlns:o=\"urn:odd\"> <o:Ntry/>\r\n</o:Odd>");
        let text = self.seldom(30, " beside 👍 &amp; ");
        let words = self.one_of(&[
            "",
            "",
            "<AddtlNtryInf>coffee &amp; \u{9b}cake 👍</AddtlNtryInf>",
        ]);
        format!(
            "<Ntry{attribute}><Amt Ccy=\"AUD\">{amount}</Amt><CdtDbtInd>{sign}</CdtDbtInd><Sts>{status}</Sts>\
             <BookgDt><Dt>{day}</Dt></BookgDt>{reference}<BkTxCd/>{odd}{text}{words}</Ntry>"
        )
    }

    fn created(&mut self) -> String {
        let hour = self.below(4) + 9;
        let offset = self.one_of(&["", "Z", "+10:00"]);
        let created = format!("<CreDtTm>2021-07-29T{hour:02}:10:05{offset}</CreDtTm>");
        if self.below(20) == 0 {
            String::new()
        } else {
            created
        }
    }

    fn report(&mut self) -> String {
        let page = self.seldom(
            3,
            "<RptPgntn><PgNb>1</PgNb><LastPgInd>true</LastPgInd></RptPgntn>",
        );
        let created = self.created();
        let day = self.one_of(&["2021-07-28", "2021-07-29"]);
        let period = format!(
            "<FrToDt><FrDtTm>{day}T00:00:00Z</FrDtTm><ToDtTm>{day}T23:00:00Z</ToDtTm></FrToDt>"
        );
        let period = self.seldom(2, &period);
        let balances: String = (0..self.below(4))
            .map(|_| {
                let (kind, amount) = (self.one_of(&["OPBD", "PRCD", "ITAV", "CLBD"]), self.below(100));
                format!(
                    "<Bal><Tp><CdOrPrtry><Cd>{kind}</Cd></CdOrPrtry></Tp><Amt Ccy=\"AUD\">{amount}.00</Amt>\
                     <CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>{day}</Dt></Dt></Bal>"
                )
            })
            .collect();
        let summary = self.seldom(
            3,
            "<TxsSummry><TtlNtries><NbOfNtries>2</NbOfNtries></TtlNtries></TxsSummry>",
        );
        let entries: String = (0..self.below(self.entries))
            .map(|_| {
                let odd = self.seldom(12, "<o:Odd xmlns:o=\"urn:odd\">&lt;</o:Odd>");
                let text = self.seldom(20, "between");
                self.entry() + &odd + &text
            })
            .collect();
        let end = self.seldom(4, "<AddtlRptInf>end</AddtlRptInf>")
            + &self.seldom(20, "<Odd xmlns=\"urn:odd\"/>");
        let account = if self.below(60) == 0 { "999" } else { ACCOUNT };
        let currency = if self.below(60) == 0 { "NZD" } else { "AUD" };
        format!(
            "<Rpt><Id>r</Id>{page}{created}{period}<Acct><Id><Othr><Id>{account}</Id></Othr></Id><Ccy>{currency}</Ccy>\
             </Acct>{balances}{summary}{entries}{end}</Rpt>"
        )
    }

    fn file(&mut self) -> File {
        let created = self.created();
        let page = self.seldom(
            3,
            "<MsgPgntn><PgNb>1</PgNb><LastPgInd>true</LastPgInd></MsgPgntn>",
        );
        let header = self.seldom(40, "<GrpHdr><MsgId>m</MsgId></GrpHdr>");
        let header = if header.is_empty() {
            format!("<GrpHdr><MsgId>m</MsgId>{created}{page}</GrpHdr>")
        } else {
            header
        };
        let reports: String = (0..self.below(10) / 4 + 1).map(|_| self.report()).collect();
        let end = self.seldom(20, "<o:Odd xmlns:o=\"urn:odd\"/>");
        let xml = format!(
            "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.052.001.06\"><BkToCstmrAcctRpt>\
             {header}{reports}{end}</BkToCstmrAcctRpt></Document>"
        );
        let more = (self.below(3) == 0).then(|| self.below(2) == 0);
        File {
            xml: xml.into_bytes(),
            more,
        }
    }
}

#[test]
fn invented_reports_are_merged_as_in_memory() {
    let mut merged = 0;
    for seed in 0..150 {
        let mut dice = Dice {
            state: seed,
            entries: 7,
        };
        let files: Vec<File> = (0..dice.below(4) + 1).map(|_| dice.file()).collect();
        merged += u32::from(check(
            &files,
            dice.below(3) == 0,
            dice.below(3) == 0,
            &format!("seed {seed}"),
        ));
    }
    assert!((60..150).contains(&merged), "{merged} of 150 were merged");
}

#[test]
fn entries_that_go_to_a_file_are_merged_as_in_memory() {
    let mut dice = Dice {
        state: 1,
        entries: 1,
    };
    let mut page = || {
        let File { xml, more } = dice.file();
        let entries: String = (0..8000)
            .map(|_| dice.entry().replace(">x</Amt>", ">9.75</Amt>"))
            .collect();
        let xml =
            String::from_utf8(xml)
                .unwrap()
                .replacen("</Rpt>", &format!("{entries}</Rpt>"), 1);
        File {
            xml: xml.into_bytes(),
            more,
        }
    };
    let pages = [page(), page()];
    // Most of them are kept.
    assert!(pages.iter().all(|page| page.xml.len() > 1 << 20));
    assert!(check(&pages, true, false, "pages"));
    assert!(check(&pages, true, true, "pages, indented"));
}

#[test]
fn samples_are_merged_as_in_memory() {
    let Some(folder) = shared() else { return };
    let read = |folder: PathBuf| {
        std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().path())
    };
    let mut files: Vec<PathBuf> = read(folder.clone())
        .chain(read(folder.join("edge")))
        .collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "xml"));
    files.sort();
    let file = |path: &PathBuf| File {
        xml: std::fs::read(path).unwrap(),
        more: None,
    };
    let mut merged = 0;
    for (index, one) in files.iter().enumerate() {
        merged += u32::from(check(
            &[file(one)],
            false,
            index % 2 == 0,
            one.to_str().unwrap(),
        ));
        merged += u32::from(check(
            &[file(one), file(one)],
            index % 2 == 0,
            true,
            one.to_str().unwrap(),
        ));
    }
    assert!(merged >= 12, "{merged}");
}
