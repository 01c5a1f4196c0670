//! Reports that were sent in several pages.

use crate::report::Report;
use crate::{AnyDocument, Balance, BalanceCode, Entry, Pagination, summary_of};
use bankrail_iso20022::__private::shown;
use std::collections::{BTreeSet, HashMap};
use std::mem;

/// The maximum number of balances of a report that are compared with each other.
const MAX_COMPARED_BALANCES: usize = 1_000;

/// Reports whose pages were merged, and the errors of the pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergedPages {
    /// The reports, each at the place of its first page in the input. Unmerged pages follow each
    /// other, ordered by number.
    pub reports: Vec<Report>,
    /// The errors: errors of pages in the order of the reports, then errors of sequence numbers.
    pub errors: Vec<MergeError>,
}

/// A page or report that is missing, doubled or impossible to merge.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("account {account}, report {report}: {kind}")]
#[non_exhaustive]
pub struct MergeError {
    /// The number of the account, with escapes and at most 40 characters.
    pub account: String,
    /// The identification of the report or of its first page, with escapes and at most 40
    /// characters; empty if it has none.
    pub report: String,
    /// The kind of the error.
    pub kind: MergeErrorKind,
}

/// The kind of a [`MergeError`]. After each error of pages except [`Twice`](Self::Twice), the pages
/// of the report are returned unmerged. Errors of sequence numbers do not affect the merged report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeErrorKind {
    /// Pages before a present one are missing.
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
    /// A page occurs twice with the same content. The second one is left out.
    #[error("page {page} occurs twice with the same content")]
    Twice {
        /// The number of the page.
        page: u64,
    },
    /// A page occurs twice with different content.
    #[error("page {page} occurs twice with different content")]
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
    /// The pages contradict each other in a part that a report has once, have too many balances, or
    /// have a page number that cannot be read.
    #[error("the pages cannot be merged because of their {part}")]
    Unmergeable {
        /// The name of the part of the report.
        part: &'static str,
    },
    /// Electronic sequence numbers between two reports of the account are missing.
    #[error(
        "expected the electronic sequence numbers {first} to {last} before this report, found none"
    )]
    SequenceMissing {
        /// The first missing number.
        first: u64,
        /// The last missing number.
        last: u64,
    },
    /// Two reports of the account have the same electronic sequence number.
    #[error("the electronic sequence number {number} occurs twice")]
    SequenceTwice {
        /// The number.
        number: u64,
    },
}

/// Merges the pages of reports in documents, which may come in any order. Reports, statements and
/// notifications are merged separately.
///
/// Pages belong together if they have the same account and period, and the same electronic sequence
/// number or, without one, the same identification. An account number in two currencies is two
/// accounts; a report without a currency is of the only currency that other reports of the account
/// state. The page number is that of the report, otherwise that of its message (`MsgPgntn`); a
/// report without either is a single page. All pages of a report must be present, up to one that is
/// marked as the last. In a message of several reports, which may begin and end on any page of the
/// message, only pages between two present ones must be. The pages become one report without a page
/// number:
///
/// - Identification, time of creation and mark of a copy are those of page 1. A part before the
///   entries may be on some of the pages only; if two pages state different values, nothing is
///   merged. Interest of a later page is added unless it repeats that of the previous one.
/// - The entries are those of all pages in order.
/// - Opening balances are those of the first page that has the kind, closing balances those of the
///   last. Of other balances, equal ones are kept once. Interim balances that close a page before
///   the last or open a page after the first are left out.
/// - The summary is the last one. If that counts only the entries of its page, it is replaced by
///   [`summary_of`] all entries, without totals by bank transaction code.
///
/// Pages that cannot be merged are returned unchanged, and the errors have the reason. Headers of
/// messages do not belong to reports and are left out.
///
/// Electronic sequence numbers are compared over all reports of an account that have such a number.
/// If a bank restarts its numbers each year, merge each year separately.
///
/// ```
/// use bankrail_camt::{AnyDocument, MergeErrorKind, merge_pages};
///
/// let page = |number, last, amount| {
///     let xml = format!(r#"<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.06">
///     <BkToCstmrAcctRpt><GrpHdr><MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05Z</CreDtTm>
///     <MsgPgntn><PgNb>{number}</PgNb><LastPgInd>{last}</LastPgInd></MsgPgntn></GrpHdr>
///     <Rpt><Id>r</Id><CreDtTm>2021-07-29T17:10:05Z</CreDtTm><Acct><Id><Othr><Id>1</Id></Othr></Id></Acct>
///     <Ntry><Amt Ccy="AUD">{amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>
///     </Rpt></BkToCstmrAcctRpt></Document>"#);
///     AnyDocument::parse(&xml).map(|parsed| parsed.document)
/// };
/// let merged = merge_pages([page(2, true, "2.00")?, page(1, false, "1.00")?]);
/// assert_eq!((merged.reports.len(), merged.reports[0].entries.len()), (1, 2));
///
/// let merged = merge_pages([page(3, true, "2.00")?, page(1, false, "1.00")?]);
/// assert_eq!(merged.reports.len(), 2);
/// assert_eq!(merged.errors[0].kind, MergeErrorKind::Missing { first: 2, last: 2 });
/// # Ok::<(), bankrail_camt::ReadError>(())
/// ```
#[must_use]
pub fn merge_pages(documents: impl IntoIterator<Item = AnyDocument>) -> MergedPages {
    let mut merged = MergedPages::default();
    let mut sequences = Vec::new();
    for Group {
        account,
        mut pages,
        is_cut_anywhere,
    } in groups(documents)
    {
        let mut found = order(&mut pages, is_cut_anywhere);
        let Some(first) = pages.first() else { continue };
        let id = first.id.as_ref().map_or("", |id| id.as_str()).to_owned();
        if let Some(number) = first.electronic_sequence
            && let Ok(number) = u64::try_from(number.value())
        {
            sequences.push((account.clone(), number, id.clone()));
        }
        let twice = |kind: &MergeErrorKind| matches!(kind, MergeErrorKind::Twice { .. });
        if let [alone] = &mut pages[..] {
            if is_cut_anywhere {
                alone.pagination = None;
            }
        } else if found.iter().all(twice)
            && let Err(part) = merge(&mut pages)
        {
            found.push(MergeErrorKind::Unmergeable { part });
        }
        let error = |kind| MergeError::new(&account.id, &id, kind);
        merged.errors.extend(found.into_iter().map(error));
        merged.reports.append(&mut pages);
    }
    sequences.sort();
    for pair in sequences.windows(2) {
        if let [(account, before, _), (same, number, id)] = pair
            && account == same
        {
            let kind = match number - before {
                0 => MergeErrorKind::SequenceTwice { number: *number },
                1 => continue,
                _ => MergeErrorKind::SequenceMissing {
                    first: before + 1,
                    last: number - 1,
                },
            };
            merged.errors.push(MergeError::new(&account.id, id, kind));
        }
    }
    merged
}

impl MergeError {
    fn new(account: &str, report: &str, kind: MergeErrorKind) -> Self {
        Self {
            account: shown(account),
            report: shown(report),
            kind,
        }
    }
}

/// An account in the reports of one message type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct ReportedAccount {
    /// The type of the message, as its index in the family.
    message: u8,
    id: String,
    currency: Option<String>,
}

/// The pages of a report.
struct Group {
    account: ReportedAccount,
    pages: Vec<Report>,
    /// True if the pages are those of a message with several reports, each of which may begin and
    /// end on any page.
    is_cut_anywhere: bool,
}

/// Groups the pages of each report.
fn groups(documents: impl IntoIterator<Item = AnyDocument>) -> Vec<Group> {
    let mut all = Vec::new();
    let mut currencies: HashMap<_, BTreeSet<String>> = HashMap::new();
    for document in documents {
        let message = match document {
            AnyDocument::Report(_) => 2,
            AnyDocument::Statement(_) => 3,
            AnyDocument::Notification(_) => 4,
        };
        let document = document.into_report_document();
        let header = document.group_header.and_then(|header| header.pagination);
        let are_several = document.reports.len() > 1;
        for mut report in document.reports {
            let is_cut_anywhere = are_several && header.is_some() && report.pagination.is_none();
            report.pagination = report.pagination.or_else(|| header.clone());
            let currency = report.account.currency.as_ref().map(ToString::to_string);
            let id = report.account.id.to_string();
            let stated = currencies.entry((message, id.clone())).or_default();
            stated.extend(currency.clone());
            let account = ReportedAccount {
                message,
                id,
                currency,
            };
            all.push((account, report, is_cut_anywhere));
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut places = HashMap::new();
    for (mut account, report, is_cut_anywhere) in all {
        let stated = currencies.get(&(account.message, account.id.clone()));
        if let Some(stated) = stated.filter(|stated| stated.len() == 1) {
            account.currency = stated.first().cloned();
        }
        let sequence = report.electronic_sequence.map(|own| own.value());
        let id = report.id.clone().filter(|_| sequence.is_none());
        let key = (
            account.clone(),
            sequence,
            id,
            format!("{:?}", report.period),
        );
        let place = *places.entry(key).or_insert(groups.len());
        if let Some(group) = groups.get_mut(place) {
            group.pages.push(report);
            group.is_cut_anywhere |= is_cut_anywhere;
        } else {
            groups.push(Group {
                account,
                pages: vec![report],
                is_cut_anywhere,
            });
        }
    }
    groups
}

/// Returns the number of a page; 0 for one that cannot be read.
fn number(page: &Report) -> u64 {
    let number = |page: &Pagination| page.page.to_number().unwrap_or_default();
    page.pagination.as_ref().map_or(1, number)
}

/// Puts pages in order, removes copies, and returns the errors that it found.
fn order(pages: &mut Vec<Report>, is_cut_anywhere: bool) -> Vec<MergeErrorKind> {
    let mut found = Vec::new();
    let mut kept: Vec<Report> = Vec::new();
    // The first page with a number, with which the others are compared.
    let mut first = 0;
    let mut last = false;
    pages.sort_by_key(number);
    let begin = pages.first().filter(|_| is_cut_anywhere);
    let mut expected = begin.map_or(1, number);
    for report in pages.drain(..) {
        let page = number(&report);
        match kept.get(first).filter(|other| number(other) == page) {
            Some(other) if is_copy(&report, other) => {
                found.push(MergeErrorKind::Twice { page });
                continue;
            }
            Some(_) => found.push(MergeErrorKind::Different { page }),
            None => {
                first = kept.len();
                if page > expected {
                    let last = page - 1;
                    found.push(MergeErrorKind::Missing {
                        first: expected,
                        last,
                    });
                }
                if last {
                    found.push(MergeErrorKind::AfterLast { page });
                }
            }
        }
        expected = page + 1;
        last = report.pagination.as_ref().is_none_or(|page| page.last_page);
        kept.push(report);
    }
    if !last && !is_cut_anywhere {
        found.push(MergeErrorKind::Unfinished { expected });
    }
    *pages = kept;
    found
}

/// Returns true for pages with the same content, even if one is marked as a copy.
fn is_copy(page: &Report, other: &Report) -> bool {
    let mut page = page.clone();
    page.copy_duplicate.clone_from(&other.copy_duplicate);
    page == *other
}

/// Makes one report of all its pages, in order. An error names the part that prevents the merge;
/// the pages are then unchanged.
fn merge(pages: &mut Vec<Report>) -> Result<(), &'static str> {
    // Takes the entries out, so that the other parts are merged without copying entries.
    let entries: Vec<Vec<Entry>> = pages
        .iter_mut()
        .map(|page| mem::take(&mut page.entries))
        .collect();
    match united(pages) {
        Ok(mut whole) => {
            let stated = pages.iter().zip(&entries).rev();
            let mut stated =
                stated.filter_map(|(page, own)| Some((page.summary.clone()?, own.len())));
            let summary = stated.next();
            whole.entries = entries.into_iter().flatten().collect();
            whole.summary = summary.and_then(|(stated, own)| {
                let all = stated.all.as_ref();
                let counted = all.and_then(|all| all.entries.as_ref()?.to_number());
                if counted == u64::try_from(own).ok() {
                    summary_of(&whole.entries).map(Box::new)
                } else {
                    Some(stated)
                }
            });
            *pages = vec![whole];
            Ok(())
        }
        Err(part) => {
            for (page, own) in pages.iter_mut().zip(entries) {
                page.entries = own;
            }
            Err(part)
        }
    }
}

/// Merges the parts of pages, except entries and summary.
fn united(pages: &[Report]) -> Result<Report, &'static str> {
    let Some((first, later)) = pages.split_first() else {
        return Err("number of pages");
    };
    if pages.iter().any(|page| number(page) == 0) {
        return Err("page numbers");
    }
    if pages.iter().map(|page| page.balances.len()).sum::<usize>() > MAX_COMPARED_BALANCES {
        return Err("number of balances");
    }
    let mut whole = first.clone();
    for page in later {
        let (own, account) = (&mut whole.account, &page.account);
        let same_account = agree(&mut own.kind, &account.kind)
            && agree(&mut own.currency, &account.currency)
            && agree(&mut own.name, &account.name)
            && agree(&mut own.proxy, &account.proxy)
            && agree(&mut own.owner, &account.owner)
            && agree(&mut own.servicer, &account.servicer)
            && own.extras == account.extras;
        let parts = [
            ("account", same_account),
            (
                "related account",
                agree(&mut whole.related_account, &page.related_account),
            ),
            ("source", agree(&mut whole.source, &page.source)),
            (
                "legal sequence number",
                agree(&mut whole.legal_sequence, &page.legal_sequence),
            ),
            (
                "sequence ranges",
                agree(&mut whole.sequence_ranges, &page.sequence_ranges),
            ),
            (
                "additional information",
                agree(
                    &mut whole.additional_information,
                    &page.additional_information,
                ),
            ),
            ("parts beyond the schema", whole.extras == page.extras),
        ];
        if let Some((part, _)) = parts.iter().find(|(_, same)| !same) {
            return Err(part);
        }
        if !whole.interest.ends_with(&page.interest) {
            whole.interest.extend_from_slice(&page.interest);
        }
    }
    whole.balances = joined(pages);
    whole.pagination = None;
    Ok(whole)
}

/// Copies a part that only the other page states. Returns false if both pages state different
/// values.
fn agree<T: Clone + PartialEq>(own: &mut Option<T>, other: &Option<T>) -> bool {
    if own.is_none() {
        own.clone_from(other);
    }
    other.is_none() || own == other
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
