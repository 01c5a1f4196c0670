//! Faults of a provider that the judge must find, and behaviour that it must not take for a fault.

use crate::subject::{KEY, Subject, failure, rows};
use bankrail_conformance::{Customer, Judgement, ProviderJudgeOptions, Verdict};

const PASSED: &[&Verdict] = &[&Verdict::Passed];

fn options() -> ProviderJudgeOptions {
    ProviderJudgeOptions::new().budget(
        "tokens=100,statements=100,tokens-per-second=1000"
            .parse()
            .unwrap(),
    )
}

async fn judge(fault: &'static str, only: &[&str]) -> Judgement {
    let subject = Subject::new(fault, &["AUD"], 4).await;
    subject.judge(only, options()).await
}

/// Judges the limit of statements of an hour, after the rows that `only` selects.
async fn counted(fault: &'static str, only: &[&str], with_clock: bool) -> Judgement {
    let subject = Subject::new(fault, &["AUD", "USD"], 1).await;
    let mut options = options().limits(true);
    if with_clock {
        options = options.clock(subject.hook("/clock"));
    }
    subject.judge(only, options).await
}

#[tokio::test]
async fn a_limit_passes_only_between_the_call_that_is_answered_and_the_one_that_is_refused() {
    let alone = &["S25.16"];
    assert_eq!(rows(&counted("", alone, false).await, "S25.16"), PASSED);
    let found = counted("30 with refused ones", alone, false).await;
    let why = failure(&found, "S25.16");
    assert!(why.contains("expected 25 answers, found 30"), "{why}");
    // Requests that were refused before may count, which would hide the number of answered ones.
    for fault in ["", "30 with refused ones"] {
        let beside = &["S25.16", "S19.10", "S19.22", "S19.29"];
        let found = counted(fault, beside, false).await;
        let [Verdict::NotSeen(why)] = rows(&found, "S25.16")[..] else {
            panic!("{fault}: {found}");
        };
        assert!(
            why.contains("--clock") && why.contains("--only S25"),
            "{why}"
        );
        // Two hours later, none of these requests counts.
        let found = counted(fault, beside, true).await;
        let passed = matches!(rows(&found, "S25.16")[..], [Verdict::Passed]);
        assert_eq!(passed, fault.is_empty(), "{found}");
    }
}

#[tokio::test]
async fn a_limit_that_never_ends_is_found_by_stepping_the_clock() {
    for fault in ["", "locked out for ever"] {
        let found = counted(fault, &["S24.7"], true).await;
        let [again, _] = rows(&found, "S24.7")[..] else {
            panic!("{found}");
        };
        assert_eq!(again == PASSED[0], fault.is_empty(), "{found}");
    }
    let found = counted("", &["S24.7"], false).await;
    assert!(rows(&found, "S24.7")[0].detail().contains("--clock"));
}

#[tokio::test]
async fn the_other_customers_budget_pays_for_further_token_requests() {
    let subject = Subject::new("", &["AUD", "AUD"], 1).await;
    for (has_other, expected) in [(false, 1), (true, 2)] {
        let mut options =
            ProviderJudgeOptions::new().budget("tokens=2,tokens-per-second=1000".parse().unwrap());
        if has_other {
            let other = Customer::new("OTHER", "its-key".into(), ["999001400100099"]);
            options = options
                .second_customer(other)
                .second_signing_key(KEY.clone());
        }
        let found = subject.judge(&["S8.13"], options).await;
        // The small provider takes every assertion.
        let judged = rows(&found, "S8.13")
            .into_iter()
            .filter(|verdict| matches!(verdict, Verdict::Failed(_)))
            .count();
        assert_eq!(judged, expected, "{found}");
    }
}

#[tokio::test]
async fn a_limit_for_each_token_is_found() {
    let found = counted("a limit for each token", &["S25.16"], false).await;
    let why = failure(&found, "S25.16");
    assert!(why.contains("expected 25 answers, found 50"), "{why}");
}

#[tokio::test]
async fn a_token_that_dies_before_its_end_is_found_by_stepping_the_clock() {
    for fault in ["", "tokens die early"] {
        let subject = Subject::new(fault, &["AUD"], 1).await;
        let options = options().clock(subject.hook("/clock"));
        let found = subject.judge(&["S22.6"], options).await;
        let verdicts = rows(&found, "S22.6");
        if fault.is_empty() {
            assert_eq!(verdicts, [PASSED[0]; 3], "{found}");
        } else {
            let why = failure(&found, "S22.6");
            assert!(
                why.contains("of 3600 s") && why.contains("found 401"),
                "{why}"
            );
        }
    }
    // Without a clock nothing shows the end of tokens, and the row names what would.
    let found = judge("tokens die early", &["S22.6"]).await;
    let unseen = rows(&found, "S22.6");
    assert!(
        unseen
            .iter()
            .any(|verdict| verdict.detail().contains("--clock")),
        "{unseen:?}"
    );
}

#[tokio::test]
async fn a_short_page_that_calls_itself_the_last_is_found() {
    let found = judge("every page is the last", &["S4.15"]).await;
    let why = failure(&found, "S4.15");
    assert!(why.contains("found 2 on none"), "{why}");
    let whole = judge("", &["S4.15"]).await;
    assert!(
        whole.passed() && rows(&whole, "S4.15")[0] == &Verdict::Passed,
        "{whole}"
    );
}

#[tokio::test]
async fn decimals_of_dong_are_found_wherever_the_account_stands() {
    for currencies in [&["VND", "AUD"], &["AUD", "VND"]] {
        for fault in ["", "dong with decimals"] {
            let subject = Subject::new(fault, currencies, 2).await;
            let found = subject.judge(&["S19.26"], options()).await;
            if fault.is_empty() {
                assert_eq!(rows(&found, "S19.26"), PASSED);
            } else {
                let why = failure(&found, "S19.26");
                assert!(why.contains("without decimals"), "{why}");
            }
        }
    }
}

#[tokio::test]
async fn bookings_are_ordered_on_every_account() {
    let rows_of_book = ["S6.24", "S6.25", "S6.33", "S19.15", "S19.17"];
    for fault in ["", "the second account turns directions"] {
        let subject = Subject::new(fault, &["AUD", "USD", "VND"], 1).await;
        let options = options().book(subject.hook("/book"));
        let found = subject.judge(&rows_of_book, options).await;
        if fault.is_empty() {
            assert!(found.passed(), "{found}");
        } else {
            let why = failure(&found, "S6.25");
            assert!(
                why.starts_with("statement 2, ") && why.contains("expected DBIT USD"),
                "{why}"
            );
        }
    }
}

#[tokio::test]
async fn a_statement_without_entries_is_judged_although_bookings_are_ordered() {
    let subject = Subject::new("", &["AUD"], 0).await;
    let options = options().book(subject.hook("/book"));
    let found = subject.judge(&["S6.24", "S6.37"], options).await;
    // The small provider writes no summary, and its statement has entries after the bookings.
    let why = failure(&found, "S6.37");
    assert!(why.contains("expected 0, found none"), "{why}");
}

#[tokio::test]
async fn bookings_that_the_budget_does_not_last_for_are_not_run() {
    let subject = Subject::new("", &["AUD", "AUD", "USD"], 1).await;
    let options = ProviderJudgeOptions::new()
        .budget("statements=7".parse().unwrap())
        .book(subject.hook("/book"));
    let found = subject.judge(&["S6.33"], options).await;
    // Three statements, and two with bookings of each currency.
    let [Verdict::NotRun(why), _] = rows(&found, "S6.33")[..] else {
        panic!("{found}");
    };
    assert!(why.contains("1 account"), "{why}");
}

#[tokio::test]
async fn a_row_lists_five_defects_and_counts_the_rest() {
    let subject = Subject::new("every entry is pending", &["AUD", "USD"], 4).await;
    let found = subject.judge(&["S6.26"], options()).await;
    let why = failure(&found, "S6.26");
    assert_eq!(why.matches("expected BOOK").count(), 5, "{why}");
    assert!(
        why.starts_with("statement 1, entry 1: ") && why.ends_with("; and 3 more"),
        "{why}"
    );
}

#[tokio::test]
async fn pages_that_lose_their_narrative_lose_no_transaction() {
    let found = judge("pages lose their narrative", &["S4.15", "S6.24", "S19.15"]).await;
    let why = failure(&found, "S19.15");
    assert!(why.contains("page"), "{why}");
    let others = [rows(&found, "S4.15"), rows(&found, "S6.24")].concat();
    assert!(
        !others
            .iter()
            .any(|verdict| matches!(verdict, Verdict::Failed(_))),
        "{found}"
    );
}

#[tokio::test]
async fn a_lifetime_in_another_spelling_of_json_is_no_fault() {
    let found = judge("number with a fraction of zero", &["S7.3"]).await;
    assert_eq!(rows(&found, "S7.3"), PASSED);
}
#[tokio::test]
async fn a_plain_run_names_the_options_that_would_find_more_and_their_price() {
    let found = judge("", &[]).await;
    let more = found.more().join("\n");
    for option in [
        "--book",
        "--limits",
        "--clock",
        "--second-connection",
        "--wait",
        "--account",
    ] {
        assert!(more.contains(option), "{option}\n{more}");
    }
    assert!(
        more.contains("2 to 4 statements for each account"),
        "{more}"
    );
    assert!(found.to_string().ends_with(&more), "{found}");
    let json: serde_json::Value = serde_json::from_str(&found.to_json()).unwrap();
    assert_eq!(json["more"].as_array().unwrap().len(), found.more().len());
    // An option that is given is not named.
    let subject = Subject::new("", &["AUD"], 1).await;
    let booked = options().book(subject.hook("/book"));
    let found = subject.judge(&["S6"], booked).await;
    let mut more = found.more().iter();
    assert!(!more.any(|line| line.starts_with("--book")), "{found}");
}
