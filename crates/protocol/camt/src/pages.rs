//! Reports that were sent in several pages.

use crate::report::Report;
use crate::{Balance, BalanceCode, CurrencyCode, Pagination, summary_of};
use bankrail_iso20022::__private::shown;
use std::collections::HashMap;

/// The most balances of a report that are compared with each other.
const MOST_BALANCES: usize = 1_000;

/// Reports whose pages are merged, and what was wrong with the pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergedPages {
    /// The reports, each at the place of the page of it that was given first. Pages that are not
    /// merged are there one after another, by their numbers.
    pub reports: Vec<Report>,
    /// The problems: those of pages in the order of the reports, then those of sequence numbers.
    pub problems: Vec<PageProblem>,
}

/// A page or report that is missing, that is there twice or that cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("account {account}, report {report}: {kind}")]
#[non_exhaustive]
pub struct PageProblem {
    /// The number of the account, with escapes and at most 40 characters.
    pub account: String,
    /// The identification of the report or of its first page, with escapes and at most 40
    /// characters; empty where it has none.
    pub report: String,
    /// The problem itself.
    pub kind: PageProblemKind,
}

/// The kind of a [`PageProblem`]. After each but [`Twice`](Self::Twice) the pages of the report are
/// returned as they were; those of sequence numbers leave the merged report as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PageProblemKind {
    /// Pages before one that is there are missing.
    #[error("expected the pages {first} to {last}, found none of them")]
    Missing {
        /// The first missing page.
        first: u64,
        /// The last missing page.
        last: u64,
    },
    /// The last of the pages is not marked as the last.
    #[error("expected page {expected} after a page that is not the last, found none")]
    Unfinished {
        /// The first missing page.
        expected: u64,
    },
    /// A page is there twice with the same content. The second one is left out.
    #[error("page {page} is there twice with the same content")]
    Twice {
        /// The number of the page.
        page: u64,
    },
    /// A page is there twice with different content.
    #[error("page {page} is there twice with different content")]
    Different {
        /// The number of the page.
        page: u64,
    },
    /// A page has a higher number than the one that is marked as the last.
    #[error("page {page} follows a page that is marked as the last")]
    AfterLast {
        /// The number of the page.
        page: u64,
    },
    /// The pages have different texts or parts beyond the schema, for which one report has no room,
    /// too many balances, or a number that cannot be read.
    #[error("the pages cannot be merged because of their {part}")]
    Unmergeable {
        /// The part of the report.
        part: &'static str,
    },
    /// Electronic sequence numbers between two reports of the account are missing.
    #[error("expected the electronic sequence numbers {first} to {last} before it, found none")]
    SequenceMissing {
        /// The first missing number.
        first: u64,
        /// The last missing number.
        last: u64,
    },
    /// Two reports of the account have the same electronic sequence number.
    #[error("the electronic sequence number {number} is there twice")]
    SequenceTwice {
        /// The number.
        number: u64,
    },
}

/// Merges the pages of reports that were sent in several, in any order.
///
/// [`AnyDocument::into_reports`](crate::AnyDocument::into_reports) gives the reports of a document,
/// also statements and notifications, with their pages. Merge each of the three by itself.
///
/// Pages belong together that are of one account and currency, with the same electronic sequence
/// number, or without one the same identification, and the same period. A report without a page
/// number is the only page. All pages of a report must be there, up to one that is marked as the
/// last. They become one report without a page number:
///
/// - The parts before the entries are those of page 1, the entries are those of all pages in order.
///   Interest of a later page is added unless it repeats that before.
/// - Opening balances are those of the first page that has one of the kind, closing balances those
///   of the last, of others equal ones are kept once. Interim balances are left out that close a
///   page before the last or open a page after the first.
/// - The summary is the last one. Where that counts only the entries of its page, it is
///   [`summary_of`] all entries, without totals by bank transaction code.
///
/// What is not merged is returned as it was, with its reason among the problems.
///
/// Electronic sequence numbers are compared over all reports of an account that have one. Where a
/// bank begins anew each year, merge each year by itself.
///
/// ```
/// use bankrail_camt::{AnyDocument, PageProblemKind, merge_pages};
///
/// let page = |number, last, amount| {
///     let xml = format!(r#"<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.06">
///     <BkToCstmrAcctRpt><GrpHdr><MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05Z</CreDtTm>
///     <MsgPgntn><PgNb>{number}</PgNb><LastPgInd>{last}</LastPgInd></MsgPgntn></GrpHdr>
///     <Rpt><Id>r</Id><CreDtTm>2021-07-29T17:10:05Z</CreDtTm><Acct><Id><Othr><Id>1</Id></Othr></Id></Acct>
///     <Ntry><Amt Ccy="AUD">{amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>
///     </Rpt></BkToCstmrAcctRpt></Document>"#);
///     AnyDocument::parse(&xml).map(|parsed| parsed.document.into_reports())
/// };
/// let merged = merge_pages([page(2, true, "2.00")?, page(1, false, "1.00")?].concat());
/// assert_eq!((merged.reports.len(), merged.reports[0].entries.len()), (1, 2));
///
/// let merged = merge_pages([page(3, true, "2.00")?, page(1, false, "1.00")?].concat());
/// assert_eq!(merged.reports.len(), 2);
/// assert_eq!(merged.problems[0].kind, PageProblemKind::Missing { first: 2, last: 2 });
/// # Ok::<(), bankrail_camt::ReadError>(())
/// ```
#[must_use]
pub fn merge_pages(reports: impl IntoIterator<Item = Report>) -> MergedPages {
    let mut groups: Vec<Vec<Report>> = Vec::new();
    let mut places = HashMap::new();
    for report in reports {
        let sequence = report.electronic_sequence.map(|own| own.value());
        let id = report.id.clone().filter(|_| sequence.is_none());
        let key = (
            account(&report),
            sequence,
            id,
            format!("{:?}", report.period),
        );
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(report),
            None => groups.push(vec![report]),
        }
    }
    let mut merged = MergedPages::default();
    let mut sequences = Vec::new();
    for mut pages in groups {
        let mut found = order(&mut pages);
        let Some(first) = pages.first() else { continue };
        let account = account(first);
        let id = first.id.as_ref().map_or("", |id| id.as_str()).to_owned();
        if let Some(number) = first.electronic_sequence
            && let Ok(number) = u64::try_from(number.value())
        {
            sequences.push((account.clone(), number, id.clone()));
        }
        let twice = |kind: &PageProblemKind| matches!(kind, PageProblemKind::Twice { .. });
        if found.iter().all(twice) && pages.len() > 1 {
            match obstacle(&pages) {
                Some(part) => found.push(PageProblemKind::Unmergeable { part }),
                None => merge(&mut pages),
            }
        }
        let problem = |kind| PageProblem::new(&account.0, &id, kind);
        merged.problems.extend(found.into_iter().map(problem));
        merged.reports.append(&mut pages);
    }
    sequences.sort();
    for pair in sequences.windows(2) {
        if let [(account, before, _), (same, number, id)] = pair
            && account == same
        {
            let kind = match number - before {
                0 => PageProblemKind::SequenceTwice { number: *number },
                1 => continue,
                _ => PageProblemKind::SequenceMissing {
                    first: before + 1,
                    last: number - 1,
                },
            };
            merged.problems.push(PageProblem::new(&account.0, id, kind));
        }
    }
    merged
}

impl PageProblem {
    fn new(account: &str, report: &str, kind: PageProblemKind) -> Self {
        Self {
            account: shown(account),
            report: shown(report),
            kind,
        }
    }
}

/// Returns the account of a report and its currency.
fn account(report: &Report) -> (String, Option<CurrencyCode>) {
    (
        report.account.id.to_string(),
        report.account.currency.clone(),
    )
}

/// Returns the number of a page; 0 for one that cannot be read.
fn number(page: &Report) -> u64 {
    let number = |page: &Pagination| page.page.to_number().unwrap_or_default();
    page.pagination.as_ref().map_or(1, number)
}

/// Puts pages in order, leaves out copies, and returns what it found so.
fn order(pages: &mut Vec<Report>) -> Vec<PageProblemKind> {
    let mut found = Vec::new();
    let mut kept: Vec<Report> = Vec::new();
    // The first page with a number, with which others are compared.
    let mut first = 0;
    let mut expected = 1;
    let mut last = false;
    pages.sort_by_key(number);
    for report in pages.drain(..) {
        let page = number(&report);
        match kept.get(first).filter(|other| number(other) == page) {
            Some(other) if is_copy(&report, other) => {
                found.push(PageProblemKind::Twice { page });
                continue;
            }
            Some(_) => found.push(PageProblemKind::Different { page }),
            None => {
                first = kept.len();
                if page > expected {
                    let last = page - 1;
                    found.push(PageProblemKind::Missing {
                        first: expected,
                        last,
                    });
                }
                if last {
                    found.push(PageProblemKind::AfterLast { page });
                }
            }
        }
        expected = page + 1;
        last = report.pagination.as_ref().is_none_or(|page| page.last_page);
        kept.push(report);
    }
    if !last {
        found.push(PageProblemKind::Unfinished { expected });
    }
    *pages = kept;
    found
}

/// Returns true for pages with the same content; one may be marked as a copy.
fn is_copy(page: &Report, other: &Report) -> bool {
    let mut page = page.clone();
    page.copy_duplicate.clone_from(&other.copy_duplicate);
    page == *other
}

/// Returns the part because of which pages cannot become one report.
fn obstacle(pages: &[Report]) -> Option<&'static str> {
    let mut texts = pages
        .iter()
        .filter_map(|page| page.additional_information.as_ref());
    let text = texts.next();
    let extras = pages.first().map(|page| &page.extras);
    let balances: usize = pages.iter().map(|page| page.balances.len()).sum();
    let found = [
        (
            "additional information",
            texts.any(|other| Some(other) != text),
        ),
        (
            "parts beyond the schema",
            pages.iter().any(|page| Some(&page.extras) != extras),
        ),
        ("number of balances", balances > MOST_BALANCES),
        ("page numbers", pages.iter().any(|page| number(page) == 0)),
    ];
    found
        .into_iter()
        .find_map(|(part, differs)| differs.then_some(part))
}

/// Makes one report of all its pages, in order.
fn merge(pages: &mut Vec<Report>) {
    let balances = joined(pages);
    let summary = pages.iter().rev().find_map(|page| {
        let summary = page.summary.clone()?;
        Some((summary, u64::try_from(page.entries.len()).ok()))
    });
    let later: Vec<Report> = pages.drain(1..).collect();
    let Some(report) = pages.first_mut() else {
        return;
    };
    for mut page in later {
        report.entries.append(&mut page.entries);
        if !report.interest.ends_with(&page.interest) {
            report.interest.append(&mut page.interest);
        }
        let text = page.additional_information;
        report.additional_information = report.additional_information.take().or(text);
    }
    report.balances = balances;
    report.pagination = None;
    report.summary = summary.and_then(|(stated, own)| {
        let counted = stated
            .all
            .as_ref()
            .and_then(|all| all.entries.as_ref()?.to_number());
        if counted == own {
            summary_of(&report.entries).map(Box::new)
        } else {
            Some(stated)
        }
    });
}

/// Returns the balances of a report of several pages.
fn joined(pages: &[Report]) -> Vec<Balance> {
    let mut all: Vec<Balance> = Vec::new();
    for (index, page) in pages.iter().enumerate() {
        let opening = page.opening_balance().filter(|_| index > 0);
        let closing = page.closing_balance().filter(|_| index + 1 < pages.len());
        let carried = [opening, closing].into_iter().flatten();
        let carried = carried.filter(|other| other.is(&BalanceCode::InterimBooked));
        let earlier = all.len();
        for balance in &page.balances {
            if carried.clone().any(|other| std::ptr::eq(other, balance)) {
                continue;
            }
            let closes = balance.is(&BalanceCode::ClosingBooked)
                || balance.is(&BalanceCode::ClosingAvailable);
            let alike = |other: &&mut Balance| {
                let same = other.kind == balance.kind
                    && other.amount.currency() == balance.amount.currency();
                same && (closes || balance.is_opening() || **other == *balance)
            };
            match all.iter_mut().take(earlier).find(alike) {
                Some(other) if closes => other.clone_from(balance),
                Some(_) => {}
                None => all.push(balance.clone()),
            }
        }
    }
    all
}
