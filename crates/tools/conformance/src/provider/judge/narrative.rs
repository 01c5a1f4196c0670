//! The effect of `includeNarrative` (Specification: "Request statement").

use super::checks::{combined, expect};
use super::statement::ask;
use super::xml::{child, children, read, text};
use super::{ProviderJudge, Statement, Statements};
use crate::error::JudgeError;
use crate::row::Verdict;
use roxmltree::Node;
use serde_json::json;

const SHOWN: (&str, &str) = (
    "S19.15",
    "includeNarrative true: fast payments carry RltdPties and Ustrd",
);
const VIRTUAL: (&str, &str) = (
    "S19.16",
    "includeNarrative true: a credit to a virtual account has its number and branch code",
);
const HIDDEN: (&str, &str) = (
    "S19.17",
    "includeNarrative false: fast payments carry neither",
);
const OPTIONAL: (&str, &str) = ("S19.14", "includeNarrative may be left out");

/// Judges every statement that shows related parties.
pub(super) async fn judge(
    judge: &mut ProviderJudge,
    statements: &Statements,
) -> Result<(), JudgeError> {
    if let Some(first) = statements
        .found
        .first()
        .filter(|_| judge.wanted.has(OPTIONAL.0))
    {
        let got = ask(judge, &json!({ "accountId": first.account })).await?;
        judge.row(OPTIONAL, got.map_or_else(|why| why, |_| Verdict::Passed));
    }
    let with_virtual = statements
        .found
        .iter()
        .map(virtual_credits)
        .max()
        .unwrap_or_default();
    let unseen = |what: &str| {
        let budget =
            |left_out| format!("--budget: {what}, and it did not last for {left_out} accounts");
        statements.without(budget, || {
            format!("--account names one with one of today: {what}")
        })
    };
    let shown = if with_virtual > 0 {
        Verdict::Passed
    } else {
        unseen("no entry is a credit to a virtual account")
    };
    judge.row(VIRTUAL, shown);
    if !statements.found.iter().any(|one| parties(&one.payload) > 0) {
        if !judge.wanted.has(HIDDEN.0) && !judge.wanted.has(SHOWN.0) {
            return Ok(());
        }
        let (shown, hidden) =
            nothing_shown(judge, statements, unseen("no entry has RltdPties")).await?;
        judge.rows([SHOWN, HIDDEN], [shown, hidden]);
        return Ok(());
    }
    let with_parties = statements
        .found
        .iter()
        .filter(|one| parties(&one.payload) > 0);
    let with_parties: Vec<_> = with_parties.collect();
    let shown = with_parties
        .iter()
        .map(|one| (&one.place, has_texts(&one.payload)));
    judge.row(SHOWN, combined(shown, &Verdict::Passed));
    if judge.wanted.has(HIDDEN.0) {
        let (mut found, mut unseen) = (Vec::new(), Verdict::Passed);
        for one in with_parties {
            // The first is always asked for, and others are where that keeps no other row from its
            // call.
            if !found.is_empty() && judge.statements.left() <= statements.kept {
                break;
            }
            let request = json!({ "accountId": one.account, "includeNarrative": false });
            match ask(judge, &request).await? {
                Ok(without) => found.push((&one.place, hides(&one.payload, &without.payload))),
                Err(failed @ Verdict::Failed(_)) => found.push((&one.place, failed)),
                Err(verdict) => unseen = verdict,
            }
        }
        judge.row(HIDDEN, combined(found, &unseen));
    }
    Ok(())
}

/// Compares a statement with that without narrative. Transactions of other channels may have the
/// same in both.
fn hides(with: &str, without: &str) -> Verdict {
    let mut looks = vec![("RltdPties", parties as fn(&str) -> usize)];
    if count(with, has_both) > 0 {
        looks.push(("Ustrd", texts));
    }
    for (what, counted) in looks {
        let (shown, left) = (counted(with), counted(without));
        if left >= shown {
            return Verdict::Failed(format!(
                "expected fewer transactions with {what} than {shown}, found {left}"
            ));
        }
    }
    Verdict::Passed
}

/// Judges the case that no statement has related parties. If a statement that was requested without
/// narrative has them, the provider has interchanged the two. If one that was requested with the
/// text "true" has them, the provider does not accept a boolean.
async fn nothing_shown(
    judge: &mut ProviderJudge,
    statements: &Statements,
    unseen: Verdict,
) -> Result<(Verdict, Verdict), JudgeError> {
    let longest = statements
        .found
        .iter()
        .max_by_key(|statement| entries(&statement.payload));
    let Some(longest) = longest.filter(|longest| entries(&longest.payload) > 0) else {
        return Ok((unseen.clone(), unseen));
    };
    for (other, name) in [(json!(false), "false"), (json!("true"), "\"true\"")] {
        let got = ask(
            judge,
            &json!({ "accountId": longest.account, "includeNarrative": other }),
        )
        .await?;
        let shown = got.map_or(0, |without| parties(&without.payload));
        if shown > 0 {
            let found = format!("found {shown} with includeNarrative {name} only");
            let what = format!("expected entries with RltdPties, {found}");
            let hidden = if other == json!(false) {
                Verdict::Failed(what.clone())
            } else {
                unseen
            };
            return Ok((Verdict::Failed(what), hidden));
        }
    }
    Ok((unseen.clone(), unseen))
}

/// Right unless no transaction with related parties has a text.
fn has_texts(xml: &str) -> Verdict {
    let expected = "RmtInf/Ustrd beside RltdPties";
    expect(count(xml, has_both) > 0, expected, None)
}

fn has_both(transaction: Node<'_, '_>) -> bool {
    child(transaction, "RltdPties").is_some() && has_text(transaction)
}

fn has_text(transaction: Node<'_, '_>) -> bool {
    text(transaction, "RmtInf/Ustrd").is_some_and(|text| !text.is_empty())
}

fn texts(xml: &str) -> usize {
    count(xml, has_text)
}

fn virtual_credits(statement: &Statement) -> usize {
    count(&statement.payload, |transaction| {
        text(transaction, "RltdPties/CdtrAcct/Id/Othr/Id").is_some()
            && text(transaction, "RltdPties/CdtrAcct/Id/Othr/Issr").is_some()
    })
}

fn parties(xml: &str) -> usize {
    count(xml, |transaction| child(transaction, "RltdPties").is_some())
}

fn entries(xml: &str) -> usize {
    reports(xml, |report| children(report, "Ntry").count())
}

/// Counts the transactions that satisfy the predicate.
fn count(xml: &str, is_so: impl Fn(Node<'_, '_>) -> bool) -> usize {
    reports(xml, |report| {
        let details = children(report, "Ntry").flat_map(|entry| children(entry, "NtryDtls"));
        details
            .flat_map(|details| children(details, "TxDtls"))
            .filter(|transaction| is_so(*transaction))
            .count()
    })
}

/// Counts in the reports of a statement; returns 0 for an answer that is not a statement.
fn reports(xml: &str, count: impl Fn(Node<'_, '_>) -> usize) -> usize {
    let counted = read(xml, "BkToCstmrAcctRpt", |message| {
        children(message, "Rpt").map(count).sum()
    });
    counted.unwrap_or(0)
}
