//! Statements in several pages (Specification: "Statement response", `cursor` and
//! `moreTransactionsAvailable`).
//!
//! The request member that carries the cursor, and the one that asks for short pages, are left open
//! by the specification. `cursor` and `maxEntries` are tried; a provider that does not know them is
//! not judged by this.

use super::statement::{Statement, Statements, ask};
use super::xml::{REPORT, children, read, text};
use super::{Endpoint, Judge};
use crate::error::JudgeError;
use crate::row::Verdict;
use roxmltree::Node;
use serde_json::{Value, json};
use std::collections::HashMap;

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

/// The pages of one statement that are asked for.
const MAX_PAGES: usize = 20;

/// Walks over the pages of a statement that is asked for in short pages, or else of one that has
/// several by itself.
pub(super) async fn judge(judge: &mut Judge, statements: &Statements) -> Result<(), JudgeError> {
    if !judge.wants(ALL.0) && !judge.wants(ONCE.0) {
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
        .max_by_key(|found| entries(found).len());
    let (mut walked, mut ends) = (None, [None, None]);
    if let Some(whole) = whole.filter(|whole| entries(whole).len() > 1) {
        // Three pages if there are entries for them.
        let short = entries(whole).len().div_ceil(3).clamp(1, 500);
        let request =
            json!({ "accountId": whole.account, "includeNarrative": true, "maxEntries": short });
        walked = Some((walk(judge, &request, None).await?, Some(whole)));
        if walked.as_ref().is_some_and(|(walk, _)| walk.pages > 1) {
            let all = entries(whole).len().min(1000);
            let asked = [(EXACT, all, false), (REST, all - 1, true)];
            for (end, ((id, title), count, more)) in ends.iter_mut().zip(asked) {
                if judge.wants_row(id, title) {
                    let got = ask(
                        judge,
                        &json!({ "accountId": whole.account, "maxEntries": count }),
                    )
                    .await?;
                    let says_right = |page: Statement| {
                        let found = entries(&page).len();
                        // Something else was booked meanwhile.
                        let right = page.more == more || found != count;
                        Verdict::when(right, || {
                            format!("expected {more} for {found} entries, found {}", !more)
                        })
                    };
                    *end = Some(got.map_or_else(|verdict| verdict, says_right));
                }
            }
        }
    }
    // Without a statement that is whole there is nothing to compare with, but an entry may still be
    // there twice.
    if let Some(first) = long.filter(|_| walked.as_ref().is_none_or(|(walk, _)| walk.pages < 2)) {
        let request = json!({ "accountId": first.account, "includeNarrative": true });
        walked = Some((walk(judge, &request, Some(first)).await?, None));
    }
    let (all, once) = match walked {
        Some((
            Walk {
                end: Ok(()),
                pages,
                found,
            },
            whole,
        )) if pages > 1 => {
            let listed = whole.map(entries).unwrap_or_default();
            let mut once = once(twice(&found));
            if let (Some(whole), Verdict::Passed, 1..) = (whole, &once, surplus(&found, &listed)) {
                // Entries without a reference can be shown again, or were booked meanwhile.
                let got = ask(
                    judge,
                    &json!({ "accountId": whole.account, "includeNarrative": true }),
                )
                .await?;
                once = got.map_or_else(
                    |verdict| verdict,
                    |now| self::once(surplus(&found, &entries(&now))),
                );
            }
            let all = match surplus(&listed, &found) {
                0 => Verdict::Passed,
                lost => Verdict::Failed(format!(
                    "expected every transaction on a page, found {lost} on none"
                )),
            };
            (all, once)
        }
        Some((Walk { end: Ok(()), .. }, _)) => same(Verdict::NotSeen(
            "the provider makes no short pages".to_owned(),
        )),
        Some((
            Walk {
                end: Err(verdict),
                pages: 0,
                ..
            },
            _,
        )) if !matches!(verdict, Verdict::NotRun(_)) => same(Verdict::NotSeen(
            "the provider does not answer a request for short pages".to_owned(),
        )),
        Some((
            Walk {
                end: Err(verdict), ..
            },
            _,
        )) => same(verdict),
        None => same(match &statements.unseen {
            Verdict::NotRun(why) => Verdict::NotRun(why.clone()),
            _ => Verdict::NotSeen("no statement has two entries; book some of today".to_owned()),
        }),
    };
    let unseen = match &all {
        verdict @ (Verdict::NotRun(_) | Verdict::NotSeen(_)) => verdict.clone(),
        _ => Verdict::NotSeen("no statement was walked over in short pages".to_owned()),
    };
    judge.row(ALL.0, ALL.1, all);
    let ends = ends.map(|end| end.unwrap_or_else(|| unseen.clone()));
    judge.rows([EXACT, REST], ends);
    judge.row(ONCE.0, ONCE.1, once);
    Ok(())
}

fn same(verdict: Verdict) -> (Verdict, Verdict) {
    (verdict.clone(), verdict)
}

struct Walk {
    /// Why it ended before the last page.
    end: Result<(), Verdict>,
    pages: usize,
    found: Vec<Entry>,
}

/// The identity of an entry: its reference, or everything else about it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Entry {
    reference: Option<String>,
    facts: Vec<String>,
}

async fn walk(
    judge: &mut Judge,
    request: &Value,
    first: Option<&Statement>,
) -> Result<Walk, JudgeError> {
    let mut walk = Walk {
        end: Ok(()),
        pages: 0,
        found: Vec::new(),
    };
    let mut cursors: Vec<String> = Vec::new();
    let mut next = None;
    if let Some(first) = first {
        walk.pages = 1;
        walk.found = entries(first);
        next.clone_from(&first.cursor);
    }
    loop {
        let mut request = request.clone();
        if let (Some(cursor), Some(members)) = (&next, request.as_object_mut()) {
            members.insert("cursor".to_owned(), json!(cursor));
        }
        let page = match ask(judge, &request).await? {
            Ok(page) => page,
            // The first request with a cursor: what its member is called is left open.
            Err(Verdict::Failed(_)) if walk.pages == 1 => {
                walk.end = Err(Verdict::NotSeen(
                    "the provider does not answer a request with cursor".to_owned(),
                ));
                return Ok(walk);
            }
            Err(verdict) => {
                walk.end = Err(verdict);
                return Ok(walk);
            }
        };
        if walk.pages == 1 && page.more && page.cursor == next && entries(&page) == walk.found {
            walk.end = Err(Verdict::NotSeen(
                "the provider does not go on with the member cursor".to_owned(),
            ));
            return Ok(walk);
        }
        walk.pages += 1;
        walk.found.extend(entries(&page));
        next = match (page.more, page.cursor) {
            (false, _) => return Ok(walk),
            (true, None) => {
                let what = format!(
                    "expected a cursor on page {}, beyond which there is more, found none",
                    walk.pages
                );
                walk.end = Err(Verdict::Failed(what));
                return Ok(walk);
            }
            (true, Some(cursor)) => Some(cursor),
        };
        let cursor = next.clone().unwrap_or_default();
        // A cursor that comes again would lead around for as long as the budget lasts.
        if cursors.contains(&cursor) {
            walk.end = Err(Verdict::Failed(
                "expected another cursor on each page, found one again".to_owned(),
            ));
            return Ok(walk);
        }
        cursors.push(cursor);
        // A walk without end would use up the budget of the rows that follow.
        if walk.pages >= MAX_PAGES || judge.left(Endpoint::Statement) == 0 {
            let why = format!("the statement has more than {} pages", walk.pages);
            walk.end = Err(Verdict::NotRun(why));
            return Ok(walk);
        }
    }
}

fn entries(statement: &Statement) -> Vec<Entry> {
    let own = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let entry = |entry: Node<'_, '_>| {
        let reference =
            text(entry, "AcctSvcrRef").or_else(|| text(entry, "NtryDtls/TxDtls/Refs/AcctSvcrRef"));
        let paths = [
            "Amt",
            "CdtDbtInd",
            "BookgDt/Dt",
            "ValDt/Dt",
            "NtryDtls/TxDtls/RmtInf/Ustrd",
        ];
        Entry {
            reference: reference.map(str::to_owned),
            facts: paths
                .into_iter()
                .map(|path| own(text(entry, path)))
                .collect(),
        }
    };
    let entries = read(&statement.payload, REPORT, |report| {
        children(report, "Ntry").map(entry).collect()
    });
    entries.unwrap_or_default()
}

/// The number of entries that are beyond those of another list, alike ones counted.
fn surplus(entries: &[Entry], others: &[Entry]) -> usize {
    let others = tally(others);
    tally(entries)
        .iter()
        .map(|(entry, count)| count.saturating_sub(others.get(entry).copied().unwrap_or(0)))
        .sum()
}

/// The number of references of the bank that are there several times. Two entries without one can
/// both be real.
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

fn tally(entries: &[Entry]) -> HashMap<&Entry, usize> {
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
