//! Statements in several pages (Specification: "Statement response", `cursor` and
//! `moreTransactionsAvailable`).
//!
//! The specification leaves open which request member carries the cursor, and which one requests
//! short pages. The judge tries `cursor` and `maxEntries`; a provider that does not know them is
//! not judged here.

use super::statement::ask;
use super::xml::{REPORT, children, read, text};
use super::{ProviderJudge, Statement, Statements};
use crate::error::JudgeError;
use crate::row::Verdict;
use roxmltree::Node;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::hash::Hash;

const ALL: (&str, &str) = (
    "S4.15",
    "the pages up to moreTransactionsAvailable false have every transaction",
);
const EXACT: (&str, &str) = (
    "S4.15",
    "a page that takes exactly what there is says that nothing follows",
);
const REST: (&str, &str) = (
    "S4.15",
    "a page that leaves out one transaction says that more follows",
);
const ONCE: (&str, &str) = ("S6.24", "no transaction is on two pages");
const NARRATIVE: (&str, &str) = (
    "S19.15",
    "each page has the narrative that the whole statement has",
);

/// The maximum number of pages of a statement that are requested.
const MAX_PAGES: usize = 20;

/// Walks over the pages of a statement that is asked for in short pages, or else of one that has
/// several by itself.
pub(super) async fn judge(
    judge: &mut ProviderJudge,
    statements: &Statements,
) -> Result<(), JudgeError> {
    if ![ALL, ONCE, NARRATIVE]
        .iter()
        .any(|(id, title)| judge.wanted.has_row(id, title))
    {
        return Ok(());
    }
    let long = statements
        .found
        .iter()
        .find(|statement| statement.more && statement.cursor.is_some());
    let whole = statements
        .found
        .iter()
        .filter(|statement| !statement.more)
        .max_by_key(|found| entries(&found.payload).len());
    let whole = whole.filter(|whole| entries(&whole.payload).len() > 1);
    let (mut end, mut pages, mut ends) = (None, Vec::new(), [None, None]);
    if let Some(whole) = whole {
        let listed = entries(&whole.payload).len();
        // Requests three pages if there are enough entries.
        let short = listed.div_ceil(3).clamp(1, 500);
        let request =
            json!({ "accountId": whole.account, "includeNarrative": true, "maxEntries": short });
        end = Some(walk(judge, &request, None, &mut pages).await?);
        let all = listed.min(1000);
        let asked = [(EXACT, all, false), (REST, all - 1, true)];
        for (end, ((id, title), count, more)) in ends.iter_mut().zip(asked) {
            if pages.len() > 1 && judge.wanted.has_row(id, title) {
                let request = json!({ "accountId": whole.account, "maxEntries": count });
                let says_right = |page: Statement| {
                    let found = entries(&page.payload).len();
                    // Accepts that other entries were booked meanwhile.
                    let right = page.more == more || found != count;
                    Verdict::when(right, || {
                        format!("expected {more} for {found} entries, found {}", !more)
                    })
                };
                *end = Some(ask(judge, &request).await?.map_or_else(|it| it, says_right));
            }
        }
    }
    // Without a complete statement there is nothing to compare with, but an entry may still occur
    // twice.
    let mut whole = whole;
    if let Some(first) = long.filter(|_| pages.len() < 2) {
        (whole, pages) = (None, vec![first.payload.clone()]);
        let request = json!({ "accountId": first.account, "includeNarrative": true });
        end = Some(walk(judge, &request, Some(first), &mut pages).await?);
    }
    let found: Vec<_> = pages.iter().flat_map(|page| entries(page)).collect();
    let listed = whole.map_or_else(Vec::new, |whole| entries(&whole.payload));
    let lost = surplus(&listed, &found);
    let same = |verdict: Verdict| [(); 3].map(|()| verdict.clone());
    let [all, once, narrative] = match end {
        None => same(match &statements.unseen {
            not_run @ Verdict::NotRun(_) => not_run.clone(),
            _ => Verdict::not_seen("no statement has two entries; book some of today"),
        }),
        Some(Err(Verdict::Failed(_) | Verdict::NotSeen(_))) if pages.is_empty() => same(
            Verdict::not_seen("the provider does not answer a request for short pages"),
        ),
        Some(Err(verdict)) => same(verdict),
        // A single page with all entries shows that the provider makes no short pages.
        Some(Ok(())) if pages.len() == 1 && lost == 0 => {
            same(Verdict::not_seen("the provider makes no short pages"))
        }
        Some(Ok(())) => {
            let mut once = once(twice(&found));
            if let (Some(whole), Verdict::Passed, 1..) = (whole, &once, surplus(&found, &listed)) {
                // Entries without a reference can be shown again, or were booked meanwhile.
                let request = json!({ "accountId": whole.account, "includeNarrative": true });
                let now = ask(judge, &request).await?;
                once = now.map_or_else(
                    |verdict| verdict,
                    |now| self::once(surplus(&found, &entries(&now.payload))),
                );
            }
            let all = Verdict::when(lost == 0, || {
                format!("expected every transaction on a page, found {lost} on none")
            });
            let on_pages: Vec<_> = pages.iter().flat_map(|page| texts(page)).collect();
            let narrative = whole.map_or_else(
                || Verdict::not_seen("no statement is there whole and in pages"),
                |whole| match surplus(&texts(&whole.payload), &on_pages) - lost {
                    0 => Verdict::Passed,
                    other => Verdict::Failed(format!(
                        "expected the narrative of the whole statement, found another of {other} transactions on a page"
                    )),
                },
            );
            [all, once, narrative]
        }
    };
    let unseen = match &all {
        verdict @ (Verdict::NotRun(_) | Verdict::NotSeen(_)) => verdict.clone(),
        _ => Verdict::not_seen("no statement was walked over in short pages"),
    };
    let [exact, rest] = ends.map(|end| end.unwrap_or_else(|| unseen.clone()));
    judge.rows(
        [ALL, EXACT, REST, ONCE, NARRATIVE],
        [all, exact, rest, once, narrative],
    );
    Ok(())
}

/// The identity of an entry: its reference, or everything else except its narrative, because a page
/// may hide the narrative of the same entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Entry {
    reference: Option<String>,
    facts: Vec<String>,
}

/// Requests page after page. Returns the reason if the walk ended before the last page.
async fn walk(
    judge: &mut ProviderJudge,
    request: &Value,
    first: Option<&Statement>,
    pages: &mut Vec<String>,
) -> Result<Result<(), Verdict>, JudgeError> {
    let mut cursors: Vec<String> = Vec::new();
    let mut next = first.and_then(|first| first.cursor.clone());
    loop {
        let mut request = request.clone();
        if let (Some(cursor), Some(members)) = (&next, request.as_object_mut()) {
            members.insert("cursor".to_owned(), json!(cursor));
        }
        let is_second = pages.len() == 1;
        let page = match ask(judge, &request).await? {
            Ok(page) => page,
            // This is the first request with a cursor, whose member's name the specification leaves
            // open.
            Err(Verdict::Failed(_)) if is_second => {
                let why = "the provider does not answer a request with cursor";
                return Ok(Err(Verdict::not_seen(why)));
            }
            Err(verdict) => return Ok(Err(verdict)),
        };
        let is_first = |page: &Statement| {
            let before = pages.first().map(|first| entries(first));
            before.is_some_and(|before| before == entries(&page.payload))
        };
        if is_second && page.more && page.cursor == next && is_first(&page) {
            let why = "the provider does not go on with the member cursor";
            return Ok(Err(Verdict::not_seen(why)));
        }
        pages.push(page.payload);
        let cursor = match (page.more, page.cursor) {
            (false, _) => return Ok(Ok(())),
            (true, None) => {
                return Ok(Err(Verdict::Failed(format!(
                    "expected a cursor on page {}, beyond which there is more, found none",
                    pages.len()
                ))));
            }
            (true, Some(cursor)) => cursor,
        };
        // A repeated cursor would make the walk circle until the budget is used up.
        if cursors.contains(&cursor) {
            let why = "expected another cursor on each page, found one again";
            return Ok(Err(Verdict::failed(why)));
        }
        next = Some(cursor.clone());
        cursors.push(cursor);
        // A walk without end would use up the budget of the rows that follow.
        if pages.len() >= MAX_PAGES || judge.statements.left() == 0 {
            let why = format!("the statement has more than {} pages", pages.len());
            return Ok(Err(Verdict::NotRun(why)));
        }
    }
}

fn entries(xml: &str) -> Vec<Entry> {
    texts(xml).into_iter().map(|(entry, _)| entry).collect()
}

/// Returns the entries, each with its narrative.
fn texts(xml: &str) -> Vec<(Entry, String)> {
    let own = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let entry = |entry: Node<'_, '_>| {
        let reference =
            text(entry, "AcctSvcrRef").or_else(|| text(entry, "NtryDtls/TxDtls/Refs/AcctSvcrRef"));
        let paths = ["Amt", "CdtDbtInd", "BookgDt/Dt", "ValDt/Dt"];
        let identity = Entry {
            reference: reference.map(str::to_owned),
            facts: paths.map(|path| own(text(entry, path))).into(),
        };
        (identity, own(text(entry, "NtryDtls/TxDtls/RmtInf/Ustrd")))
    };
    let entries = read(xml, REPORT, |report| {
        children(report, "Ntry").map(entry).collect()
    });
    entries.unwrap_or_default()
}

/// Returns the number of entries that are not in another list, counting equal entries.
fn surplus<T: Eq + Hash>(entries: &[T], others: &[T]) -> usize {
    let others = tally(others);
    tally(entries)
        .iter()
        .map(|(entry, count)| count.saturating_sub(others.get(entry).copied().unwrap_or(0)))
        .sum()
}

/// Returns the number of the bank's references that occur several times. Two equal entries without
/// a reference can both be real.
fn twice(pages: &[Entry]) -> usize {
    let references = pages
        .iter()
        .filter(|entry| entry.reference.is_some())
        .cloned()
        .collect::<Vec<_>>();
    tally(&references)
        .values()
        .filter(|count| **count > 1)
        .count()
}

fn once(again: usize) -> Verdict {
    match again {
        0 => Verdict::Passed,
        again => Verdict::Failed(format!(
            "expected each transaction once, found {again} again on another page"
        )),
    }
}

fn tally<T: Eq + Hash>(entries: &[T]) -> HashMap<&T, usize> {
    let mut tally = HashMap::new();
    for entry in entries {
        *tally.entry(entry).or_default() += 1;
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(reference: Option<&str>, amount: &str) -> Entry {
        Entry {
            reference: reference.map(str::to_owned),
            facts: vec![amount.to_owned()],
        }
    }

    #[test]
    fn entries_are_counted_and_two_without_a_reference_may_be_alike() {
        let (first, plain) = (entry(Some("R1"), "1"), entry(None, "5"));
        let pages = [first.clone(), plain.clone(), plain.clone()];
        assert_eq!((twice(&pages), surplus(&pages, &pages)), (0, 0));
        assert_eq!(
            (
                surplus(&pages, &[first.clone(), plain]),
                surplus(&[], &pages)
            ),
            (1, 0)
        );
        assert_eq!(twice(&[first.clone(), first]), 1);
    }
}
