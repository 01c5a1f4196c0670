//! Histories end in the same state for any order and number of deliveries.

use crate::rows::Wrong;
use bankrail_values::Timestamp;
use bankrail_webhook::history::{
    MandateHistory, MandateState, Observation, PaymentHistory, PaymentState,
};
use bankrail_webhook::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix_millis(1_600_000_000_000 + seconds * 1000).unwrap()
}

fn payment(seconds: i64, status: &str) -> PaymentOutcome {
    let mut outcome = PaymentOutcome::new(at(seconds), status.into());
    outcome.instruction_identification = Some("I1".parse().unwrap());
    outcome
}

fn action(number: u32) -> ActionId {
    format!("{number:012x}11eb8{:015x}", 1).parse().unwrap()
}

fn mandate_id() -> MandateId {
    "0b7c2f6e8a1d11eb8dcd0242ac130003".parse().unwrap()
}

/// A step in the life of a mandate.
#[derive(Clone, Copy, Debug)]
enum Step {
    Create,
    Confirm,
    Decline,
    Amend,
    AmendPending,
    RejectedCancel,
    Suspend,
    Release,
    Cancel,
}

#[derive(Clone, Debug)]
enum Told {
    Outcome(MandateActionOutcome),
    Notification(MandateNotification),
}

impl Told {
    fn apply(&self, history: &mut MandateHistory) -> Observation {
        match self {
            Self::Outcome(outcome) => history.apply_outcome(outcome),
            Self::Notification(notification) => history.apply_notification(notification),
        }
    }
}

fn outcome(time: i64, number: u32, action_type: &str, status: &str, mandate: &str) -> Told {
    let mut outcome = MandateActionOutcome::new(at(time), OutcomeStatus::Succeeded);
    outcome.mandate_identification = Some(mandate_id());
    outcome.action_identification = Some(action(number));
    outcome.action_type = Some(action_type.into());
    outcome.action_status = Some(status.into());
    outcome.mandate_status = Some(mandate.into());
    Told::Outcome(outcome)
}

fn notification(
    time: i64,
    number: u32,
    trigger: &str,
    action_type: &str,
    status: &str,
    mandate: &str,
) -> Told {
    let mut notification = MandateNotification::new(
        at(time),
        trigger.into(),
        "user".parse().unwrap(),
        mandate_id(),
        action(number),
        action_type.into(),
        status.into(),
    );
    notification.mandate_status = Some(mandate.into());
    Told::Notification(notification)
}

/// Returns the messages of a legal sequence of steps, and the state in which it ends. Times are the
/// sender's, with noise.
fn tell(steps: &[Step], by_payer: &[bool], noise: &[i64]) -> (Vec<Told>, MandateState) {
    let mut state = MandateState::Unknown;
    let mut told = Vec::new();
    let mut number = 0;
    for (index, step) in steps.iter().enumerate() {
        let time = i64::try_from(index).unwrap() * 10 + noise[index % noise.len()];
        let payer = by_payer[index % by_payer.len()];
        number += 1;
        let current = if state == MandateState::Suspended {
            "SUSD"
        } else {
            "ACTV"
        };
        let running = matches!(state, MandateState::Active | MandateState::Suspended);
        match (step, state) {
            (Step::Create, MandateState::Unknown) => {
                number = 1;
                told.push(outcome(time, 1, "CREA", "PEND", "CRTD"));
                state = MandateState::Created;
            }
            (Step::Confirm, MandateState::Created) => {
                told.push(notification(time, 1, "MCRC", "CREA", "CMPL", "ACTV"));
                state = MandateState::Active;
            }
            (Step::Decline, MandateState::Created) => {
                told.push(notification(time, 1, "MCRD", "CREA", "DECL", "CNCD"));
                state = MandateState::Cancelled;
            }
            (Step::Amend, _) if running => {
                told.push(notification(time, number, "MAMN", "AMND", "CMPL", current))
            }
            (Step::AmendPending, _) if running => {
                told.push(outcome(time, number, "AMND", "PEND", current))
            }
            (Step::RejectedCancel, _) if running => {
                let Told::Outcome(mut rejected) = outcome(time, number, "STCH", "CMPL", "CNCD")
                else {
                    unreachable!()
                };
                rejected.status = OutcomeStatus::Rejected;
                told.push(Told::Outcome(rejected));
            }
            (Step::Suspend, MandateState::Active)
            | (Step::Release, MandateState::Suspended)
            | (Step::Cancel, _)
                if running =>
            {
                let (mandate, next) = match step {
                    Step::Suspend => ("SUSD", MandateState::Suspended),
                    Step::Release => ("ACTV", MandateState::Active),
                    _ => ("CNCD", MandateState::Cancelled),
                };
                told.push(if payer {
                    notification(time, number, "MSCH", "STCH", "CMPL", mandate)
                } else {
                    outcome(time, number, "STCH", "CMPL", mandate)
                });
                state = next;
            }
            _ => {}
        }
    }
    (told, state)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_legal_payment_ends_the_same_in_any_order(
        path in prop::sample::subsequence(vec!["PDNG", "ACSP"], 0..=2),
        end in prop::sample::select(vec![None, Some("ACSC"), Some("RJCT")]),
        order in prop::collection::vec((any::<prop::sample::Index>(), 0_i64..5), 0..12),
        seed: u64,
    ) {
        let mut legal: Vec<PaymentOutcome> =
            path.iter().copied().chain(end).enumerate().map(|(i, s)| payment(i as i64, s)).collect();
        let want = match legal.last().map(|outcome| outcome.transaction_status.as_str()) {
            None => PaymentState::Unknown,
            Some("PDNG") => PaymentState::Warehoused,
            Some("ACSP") => PaymentState::SettlementPending,
            Some("ACSC") => PaymentState::Settled,
            Some(_) => PaymentState::Rejected,
        };
        // Regenerated duplicates: the same content processed at another time.
        for (index, later) in order {
            if !legal.is_empty() {
                let mut again = index.get(&legal).clone();
                let later = std::time::Duration::from_secs(later as u64);
                again.creation_date_time = again.creation_date_time.saturating_add(later);
                legal.push(again);
            }
        }
        shuffle(&mut legal, seed);
        let mut history = PaymentHistory::new();
        for outcome in &legal {
            let seen = history.apply(outcome);
            prop_assert!(seen != Observation::Contradictory && seen != Observation::NotApplicable);
            prop_assert_eq!(history.apply(outcome), Observation::Repeated);
        }
        prop_assert_eq!(history.state(), want);
    }

    #[test]
    fn a_legal_mandate_ends_the_same_in_any_order(
        steps in prop::collection::vec(prop::sample::select(vec![
            Step::Decline, Step::Confirm, Step::Confirm, Step::Amend, Step::AmendPending, Step::RejectedCancel,
            Step::Suspend, Step::Suspend, Step::Release, Step::Release, Step::Cancel,
        ]), 0..14),
        by_payer in prop::collection::vec(any::<bool>(), 3),
        noise in prop::collection::vec(-4_i64..5, 4),
        duplicates in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        seed: u64,
    ) {
        let steps: Vec<Step> = [Step::Create].into_iter().chain(steps).collect();
        let (mut told, want) = tell(&steps, &by_payer, &noise);
        for index in duplicates {
            told.push(index.get(&told).clone());
        }
        shuffle(&mut told, seed);
        let mut history = MandateHistory::new();
        for message in &told {
            prop_assert_ne!(message.apply(&mut history), Observation::Contradictory);
            prop_assert_eq!(message.apply(&mut history), Observation::Repeated);
        }
        prop_assert_eq!(history.state(), want, "{:?}", told);
        prop_assert!(history.is_complete());
    }

    /// With wrong clocks and lost messages, the order of arrival changes nothing, and a complete
    /// history has the right state.
    #[test]
    fn what_is_called_complete_is_right(
        steps in prop::collection::vec(prop::sample::select(vec![
            Step::Confirm, Step::Amend, Step::Suspend, Step::Suspend, Step::Release, Step::Release,
        ]), 0..14),
        noise in prop::collection::vec(-30_i64..30, 4),
        lost in prop::collection::vec(any::<prop::sample::Index>(), 0..2),
        confirmed: bool,
        seed: u64,
    ) {
        let steps: Vec<Step> = [Step::Create, Step::Confirm].into_iter().chain(steps).collect();
        // With right clocks, any message but the last may be lost; with wrong clocks, only the
        // creation.
        let noise = if lost.is_empty() { noise } else { vec![0] };
        let (mut told, want) = tell(&steps, &[true, false], &noise);
        for index in lost {
            if told.len() > 1 {
                told.remove(index.index(told.len() - 1));
            }
        }
        if !confirmed {
            told.retain(|one| !matches!(one, Told::Notification(told) if told.action_type == ActionType::Create));
        }
        let mut history = MandateHistory::new();
        for message in &told {
            message.apply(&mut history);
        }
        shuffle(&mut told, seed);
        let mut shuffled = MandateHistory::new();
        for message in &told {
            message.apply(&mut shuffled);
        }
        prop_assert_eq!((history.state(), history.is_complete()), (shuffled.state(), shuffled.is_complete()));
        let turns = told.iter().any(|one| match one {
            Told::Outcome(outcome) => outcome.action_type == Some(ActionType::StatusChange),
            Told::Notification(notification) => notification.action_type == ActionType::StatusChange,
        });
        prop_assert!(!turns || !history.is_complete() || history.state() == want, "{:?}", told);
    }
}

/// All orders of a short sequence.
#[test]
fn every_permutation_of_a_short_life_ends_the_same() {
    let steps = [
        Step::Create,
        Step::Confirm,
        Step::Suspend,
        Step::Release,
        Step::Suspend,
        Step::Amend,
    ];
    let (told, want) = tell(&steps, &[true, false], &[0, 40, -40]);
    assert_eq!((told.len(), want), (6, MandateState::Suspended));
    let mut orders = 0;
    permutations(&mut (0..told.len()).collect::<Vec<_>>(), 0, &mut |order| {
        let mut history = MandateHistory::new();
        for index in order {
            told[*index].apply(&mut history);
        }
        assert_eq!(history.state(), want, "{order:?}");
        orders += 1;
    });
    assert_eq!(orders, 720);
}

fn permutations(order: &mut Vec<usize>, from: usize, visit: &mut impl FnMut(&[usize])) {
    if from == order.len() {
        return visit(order);
    }
    for index in from..order.len() {
        order.swap(from, index);
        permutations(order, from + 1, visit);
        order.swap(from, index);
    }
}

fn shuffle<T>(items: &mut [T], mut seed: u64) {
    for index in (1..items.len()).rev() {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        items.swap(index, (seed >> 33) as usize % (index + 1));
    }
}

#[test]
fn settled_and_rejected_is_surfaced() {
    for order in [["ACSC", "RJCT"], ["RJCT", "ACSC"]] {
        let mut history = PaymentHistory::new();
        assert_eq!(history.apply(&payment(1, order[0])), Observation::Advanced);
        assert_eq!(
            history.apply(&payment(2, order[1])),
            Observation::Contradictory
        );
        assert_eq!(history.state(), PaymentState::Contradictory);
        assert_eq!(
            history.apply(&payment(3, "PDNG")),
            Observation::Contradictory
        );
    }
}

#[test]
fn a_payment_says_what_each_outcome_meant() {
    let mut history = PaymentHistory::new();
    assert_eq!(history.apply(&payment(5, "ACSP")), Observation::Advanced);
    assert_eq!(history.apply(&payment(1, "PDNG")), Observation::Stale);
    assert_eq!(
        history.apply(&payment(6, "XXXX")),
        Observation::NotApplicable
    );
    assert_eq!(
        history.apply(&payment(2, "ACSC")),
        Observation::OutOfSequence
    );
    assert_eq!(history.apply(&payment(9, "ACSC")), Observation::Repeated);
    // The outcome is in sequence, also if both were processed at the same time.
    for (time, expected) in [
        (4, Observation::OutOfSequence),
        (5, Observation::Advanced),
        (6, Observation::Advanced),
    ] {
        let mut history = PaymentHistory::new();
        assert_eq!(history.apply(&payment(5, "PDNG")), Observation::Advanced);
        assert_eq!(history.apply(&payment(time, "ACSC")), expected, "{time}");
    }
    let mut other = payment(9, "ACSC");
    other.clearing_system_reference = Some("C".parse().unwrap());
    assert_eq!(history.apply(&other), Observation::Unchanged);
    assert!(history.is_final());
}

#[test]
fn a_mandate_says_what_each_message_meant() {
    let mut history = MandateHistory::new();
    let confirm = notification(10, 1, "MCRC", "CREA", "CMPL", "ACTV");
    assert_eq!(confirm.apply(&mut history), Observation::Advanced);
    assert_eq!(
        outcome(0, 1, "CREA", "PEND", "CRTD").apply(&mut history),
        Observation::Stale
    );
    let release = notification(30, 3, "MSCH", "STCH", "CMPL", "ACTV");
    assert_eq!(release.apply(&mut history), Observation::Unchanged);
    assert!(!history.is_complete(), "a release without a suspension");
    assert_eq!(
        notification(20, 2, "MSCH", "STCH", "CMPL", "SUSD").apply(&mut history),
        Observation::Stale
    );
    assert!(history.is_complete());
    assert_eq!(
        outcome(40, 4, "AMND", "PEND", "ACTV").apply(&mut history),
        Observation::Unchanged,
        "it says no status"
    );
    assert_eq!(
        outcome(50, 5, "STCH", "CMPL", "CNCD").apply(&mut history),
        Observation::Advanced
    );
    assert_eq!(
        notification(99, 6, "MSCH", "STCH", "CMPL", "SUSD").apply(&mut history),
        Observation::Stale
    );
    assert_eq!(history.state(), MandateState::Cancelled);
    assert_eq!(
        notification(11, 1, "MCRD", "CREA", "DECL", "CNCD").apply(&mut history),
        Observation::Contradictory
    );
    assert_eq!(history.state(), MandateState::Contradictory);
}

#[test]
fn resolution_requested_by_changes_no_state() {
    let Told::Outcome(mut pending) = outcome(0, 1, "CREA", "PEND", "CRTD") else {
        unreachable!()
    };
    pending.resolution_requested_by = Some(at(-1_000_000));
    let mut history = MandateHistory::new();
    history.apply_outcome(&pending);
    assert_eq!(history.state(), MandateState::Created);
}

#[test]
fn a_cancellation_is_final_however_it_becomes_known() {
    let mut history = MandateHistory::new();
    notification(20, 2, "MSCH", "STCH", "CMPL", "SUSD").apply(&mut history);
    assert_eq!(
        (history.state(), history.is_complete()),
        (MandateState::Suspended, false),
        "no creation is known"
    );
    let mut outcome = MandateActionOutcome::new(at(5), OutcomeStatus::Succeeded);
    outcome.mandate_status = Some(MandateStatus::Cancelled);
    assert_eq!(history.apply_outcome(&outcome), Observation::OutOfSequence);
    assert_eq!(
        (history.state(), history.is_complete()),
        (MandateState::Cancelled, false)
    );
    assert_eq!(
        notification(30, 3, "MSCH", "STCH", "CMPL", "CNCD").apply(&mut history),
        Observation::Unchanged
    );
    assert!(history.is_complete());
}

#[test]
fn where_turns_are_missing_time_decides() {
    let mut history = MandateHistory::new();
    notification(10, 1, "MCRC", "CREA", "CMPL", "ACTV").apply(&mut history);
    notification(20, 2, "MSCH", "STCH", "CMPL", "SUSD").apply(&mut history);
    assert_eq!(
        notification(40, 4, "MSCH", "STCH", "CMPL", "SUSD").apply(&mut history),
        Observation::Unchanged
    );
    assert!(!history.is_complete(), "two suspensions without a release");
    assert_eq!(
        notification(30, 3, "MSCH", "STCH", "CMPL", "ACTV").apply(&mut history),
        Observation::Stale
    );
    assert_eq!(
        (history.state(), history.is_complete()),
        (MandateState::Suspended, true)
    );
    let mut history = MandateHistory::new();
    for (time, number) in [(50, 5), (30, 3)] {
        notification(time, number, "MSCH", "STCH", "CMPL", "ACTV").apply(&mut history);
    }
    assert_eq!(
        (history.state(), history.is_complete()),
        (MandateState::Active, false)
    );
    // An amendment mentions a suspension that was not reported.
    let mut history = MandateHistory::new();
    notification(10, 1, "MCRC", "CREA", "CMPL", "ACTV").apply(&mut history);
    let amended = notification(20, 2, "MAMN", "AMND", "CMPL", "SUSD");
    assert_eq!(amended.apply(&mut history), Observation::OutOfSequence);
    assert_eq!(history.state(), MandateState::Suspended);
    // A mention counts if it is later than the last change that is known.
    for (time, state, complete) in [
        (19, MandateState::Suspended, true),
        (20, MandateState::Suspended, true),
        (21, MandateState::Active, false),
    ] {
        let mut history = MandateHistory::new();
        notification(10, 1, "MCRC", "CREA", "CMPL", "ACTV").apply(&mut history);
        notification(20, 2, "MSCH", "STCH", "CMPL", "SUSD").apply(&mut history);
        notification(time, 3, "MAMN", "AMND", "CMPL", "ACTV").apply(&mut history);
        assert_eq!(
            (history.state(), history.is_complete()),
            (state, complete),
            "{time}"
        );
    }
}

/// The end of an action is at the time of its first report, whichever report arrives first.
#[test]
fn of_two_reports_of_one_action_the_earlier_time_counts() {
    for (by_outcome, by_notification) in [(20, 50), (50, 20)] {
        let reports = [
            notification(10, 1, "MCRC", "CREA", "CMPL", "ACTV"),
            outcome(by_outcome, 2, "STCH", "CMPL", "SUSD"),
            notification(by_notification, 2, "MSCH", "STCH", "CMPL", "SUSD"),
            notification(30, 3, "MSCH", "STCH", "CMPL", "ACTV"),
        ];
        let mut order = vec![0, 1, 2, 3];
        permutations(&mut order, 0, &mut |order| {
            let mut history = MandateHistory::new();
            for at in order {
                reports[*at].apply(&mut history);
            }
            assert_eq!(
                (history.state(), history.is_complete()),
                (MandateState::Active, true),
                "{order:?}"
            );
        });
    }
}

/// A regenerated report has a new time, which must not change the state.
#[test]
fn of_one_report_that_is_sent_twice_the_earlier_time_counts() {
    for (first, again) in [(20, 50), (50, 20)] {
        let mut history = MandateHistory::new();
        notification(10, 1, "MCRC", "CREA", "CMPL", "ACTV").apply(&mut history);
        notification(30, 3, "MSCH", "STCH", "CMPL", "ACTV").apply(&mut history);
        notification(first, 2, "MSCH", "STCH", "CMPL", "SUSD").apply(&mut history);
        let repeated = notification(again, 2, "MSCH", "STCH", "CMPL", "SUSD");
        assert_eq!(repeated.apply(&mut history), Observation::Repeated);
        assert_eq!(
            (history.state(), history.is_complete()),
            (MandateState::Active, true)
        );
    }
    for (first, again) in [(20, 50), (50, 20)] {
        let mut history = PaymentHistory::new();
        history.apply(&payment(first, "PDNG"));
        assert_eq!(
            history.apply(&payment(again, "PDNG")),
            Observation::Repeated
        );
        assert_eq!(
            history.apply(&payment(30, "ACSC")),
            Observation::Advanced,
            "settled after the earlier time"
        );
    }
}

#[test]
fn a_refused_creation_excludes_what_only_a_created_mandate_has() {
    let refused = notification(10, 1, "MCRD", "CREA", "DECL", "CNCD");
    for (other, state) in [
        (
            outcome(20, 2, "CREA", "CMPL", "ACTV"),
            MandateState::Contradictory,
        ),
        (
            outcome(20, 2, "STCH", "CMPL", "SUSD"),
            MandateState::Contradictory,
        ),
        (
            outcome(20, 2, "STCH", "CMPL", "ACTV"),
            MandateState::Contradictory,
        ),
        (
            outcome(20, 2, "STCH", "CMPL", "CNCD"),
            MandateState::Cancelled,
        ),
        (
            outcome(20, 2, "AMND", "CMPL", "ACTV"),
            MandateState::Cancelled,
        ),
    ] {
        for order in [[&refused, &other], [&other, &refused]] {
            let mut history = MandateHistory::new();
            for told in order {
                told.apply(&mut history);
            }
            let complete = state == MandateState::Cancelled;
            assert_eq!(
                (history.state(), history.is_complete()),
                (state, complete),
                "{other:?}"
            );
        }
    }
}

#[test]
fn a_history_that_starts_late_or_has_a_hole_does_not_pass_for_complete() {
    let told = |turns: &[(i64, &str)]| {
        let mut history = MandateHistory::new();
        for (number, (time, mandate)) in (2..).zip(turns) {
            notification(*time, number, "MSCH", "STCH", "CMPL", mandate).apply(&mut history);
        }
        history
    };
    let late = told(&[(10, "ACTV"), (20, "SUSD")]);
    assert_eq!(
        (late.state(), late.is_complete()),
        (MandateState::Suspended, false)
    );
    let mut hole = told(&[(20, "SUSD"), (40, "SUSD"), (50, "ACTV")]);
    notification(10, 1, "MCRC", "CREA", "CMPL", "ACTV").apply(&mut hole);
    assert_eq!(
        (hole.state(), hole.is_complete()),
        (MandateState::Active, false)
    );
}

#[test]
fn histories_are_kept_between_processes() {
    let mut payments = PaymentHistory::new();
    for (time, status) in [(1, "PDNG"), (2, "ACSP"), (3, "ACSC"), (4, "RJCT")] {
        payments.apply(&payment(time, status));
        let json = serde_json::to_string(&payments).unwrap();
        assert_eq!(
            serde_json::from_str::<PaymentHistory>(&json).unwrap(),
            payments
        );
    }
    let (told, state) = tell(
        &[Step::Create, Step::Confirm, Step::Suspend],
        &[true, false, true],
        &[0, 0, 0],
    );
    let mut mandate = MandateHistory::new();
    for message in &told {
        message.apply(&mut mandate);
        let json = serde_json::to_string(&mandate).unwrap();
        mandate = serde_json::from_str(&json).unwrap();
        assert_eq!(message.apply(&mut mandate), Observation::Repeated, "{json}");
    }
    assert_eq!(mandate.state(), state);
    for bad in [
        r#"[{"status":"PDNG"}]"#,
        r#"[{"status":"XXXX","fingerprint":"00","at":"2021-07-29T01:02:03.000Z"}]"#,
        "7",
    ] {
        assert!(
            serde_json::from_str::<PaymentHistory>(bad).is_err(),
            "{bad}"
        );
    }
    let short = r#"[{"status":"PDNG","fingerprint":"00","at":"2021-07-29T01:02:03.000Z"}]"#;
    assert!(serde_json::from_str::<PaymentHistory>(short).is_err());
}

#[test]
fn only_settled_and_rejected_payments_are_final() {
    for (status, state, last) in [
        ("PDNG", PaymentState::Warehoused, false),
        ("ACSP", PaymentState::SettlementPending, false),
        ("ACSC", PaymentState::Settled, true),
        ("RJCT", PaymentState::Rejected, true),
    ] {
        let mut history = PaymentHistory::new();
        assert_eq!(history.apply(&payment(1, status)), Observation::Advanced);
        assert_eq!(
            (history.state(), history.is_final()),
            (state, last),
            "{status}"
        );
    }
}

#[test]
fn a_creation_that_is_recalled_or_times_out_cancels_the_mandate() {
    for status in ["RECL", "TIMO", "DECL"] {
        let mut history = MandateHistory::new();
        outcome(0, 1, "CREA", "PEND", "CRTD").apply(&mut history);
        assert_eq!(
            outcome(5, 1, "CREA", status, "CNCD").apply(&mut history),
            Observation::Advanced,
            "{status}"
        );
        assert_eq!(
            (history.state(), history.is_complete()),
            (MandateState::Cancelled, true),
            "{status}"
        );
        // Any other action with this end leaves the mandate unchanged.
        let mut running = MandateHistory::new();
        outcome(0, 1, "CREA", "CMPL", "ACTV").apply(&mut running);
        assert_eq!(
            outcome(5, 2, "AMND", status, "ACTV").apply(&mut running),
            Observation::Unchanged,
            "{status}"
        );
        assert_eq!(running.state(), MandateState::Active, "{status}");
    }
}

#[test]
fn the_id_of_a_history_has_a_name_that_is_read_back() {
    use bankrail_webhook::history::HistoryId;
    let both = samples::payment_outcome(&TransactionStatus::Rejected);
    let mut odd = both.clone();
    odd.instruction_identification = Some("uetr: 1:2".parse().unwrap());
    odd.uetr = None;
    let messages: [Message; 4] = [
        both.into(),
        odd.into(),
        samples::mandate_notification(&Trigger::StatusChanged)
            .unwrap()
            .into(),
        samples::mandate_outcome(&ActionType::Create, &ActionStatus::Completed).into(),
    ];
    let ids: Vec<HistoryId> = messages.iter().flat_map(HistoryId::of).collect();
    assert!(ids.len() >= 4, "{ids:?}");
    for id in ids {
        assert_eq!(id.to_string().parse::<HistoryId>(), Ok(id));
    }
    for name in [
        "",
        "mandate",
        "mandate:1",
        "uetr:",
        "instruction:",
        "query:1",
    ] {
        assert!(name.parse::<HistoryId>().is_err(), "{name}");
    }
}

#[test]
fn a_kept_history_is_read_back_and_other_bytes_are_not() {
    use bankrail_webhook::history::{Fold, History};
    let message =
        Message::from(samples::mandate_notification(&Trigger::CreationConfirmed).unwrap());
    let fold = Fold::of(&message, Vec::new(), at(0)).unwrap();
    assert_eq!(
        History::from_json(fold.history.to_json().as_bytes()),
        Some(fold.history)
    );
    for bytes in ["", "{}", "[]", r#"{"mandate":1}"#, r#"{"other":{}}"#] {
        assert_eq!(History::from_json(bytes.as_bytes()), None, "{bytes}");
    }
}

/// The changes of the store that follow from a message and the histories that have its names.
#[test]
fn a_fold_says_whether_the_state_changes_and_joins_the_histories_of_one_payment() {
    use bankrail_webhook::history::{Fold, History, HistoryId, HistoryState, KeptHistory};
    let kept = |number: u64, messages: &[Message]| {
        let folded = messages.iter().fold(Vec::new(), |known, message| {
            let Fold { ids, history, .. } = Fold::of(message, known, at(0)).unwrap();
            let mut kept = KeptHistory::new(number, ids, history, at(0));
            kept.change = number;
            vec![kept]
        });
        folded.into_iter().next().unwrap()
    };
    let mandate = |told: Told| match told {
        Told::Outcome(outcome) => Message::from(outcome),
        Told::Notification(notification) => notification.into(),
    };
    let confirmed = mandate(notification(10, 1, "MCRC", "CREA", "CMPL", "ACTV"));
    for (message, changed) in [
        (confirmed.clone(), false),
        (mandate(outcome(0, 1, "CREA", "PEND", "CRTD")), false),
        (mandate(outcome(20, 2, "STCH", "CMPL", "SUSD")), true),
        // The mandate is still active, but the sequence now has a gap.
        (mandate(outcome(20, 2, "STCH", "CMPL", "ACTV")), true),
    ] {
        let fold = Fold::of(
            &message,
            vec![kept(4, std::slice::from_ref(&confirmed))],
            at(0),
        )
        .unwrap();
        assert_eq!(
            (fold.number, fold.changed, fold.merged),
            (Some(4), changed, vec![]),
            "{message:?}"
        );
    }
    let first = Fold::of(&confirmed, Vec::new(), at(0)).unwrap();
    assert_eq!(
        (first.number, first.changed, first.merged),
        (None, true, vec![])
    );

    let paid = |status: &str, by_instruction: bool, by_uetr: bool| {
        let mut outcome = samples::payment_outcome(&TransactionStatus::Warehoused);
        outcome.transaction_status = status.into();
        outcome.instruction_identification = outcome
            .instruction_identification
            .filter(|_| by_instruction);
        outcome.uetr = outcome.uetr.filter(|_| by_uetr);
        Message::from(outcome)
    };
    let both = paid("ACSP", true, true);
    for (by_instruction, by_uetr, state) in [
        ("ACSP", "PDNG", PaymentState::SettlementPending),
        ("PDNG", "RJCT", PaymentState::Rejected),
        ("ACSC", "PDNG", PaymentState::Settled),
        ("ACSC", "RJCT", PaymentState::Contradictory),
    ] {
        let known = [
            kept(9, &[paid(by_uetr, false, true)]),
            kept(7, &[paid(by_instruction, true, false)]),
        ];
        let fold = Fold::of(&both, known.to_vec(), at(0)).unwrap();
        assert_eq!(
            (fold.number, fold.changed, fold.merged),
            (Some(7), true, vec![9]),
            "{by_uetr}: one of two is gone"
        );
        assert_eq!(fold.ids, HistoryId::of(&both), "{by_uetr}");
        assert_eq!(
            fold.history.state(),
            HistoryState::Payment(state),
            "{by_instruction} {by_uetr}"
        );
        let mut joined: History = fold.history;
        for message in [
            both.clone(),
            paid(by_uetr, false, true),
            paid(by_instruction, true, false),
        ] {
            assert_eq!(joined.apply(&message), Observation::Repeated, "{message:?}");
        }
    }
}

/// Somebody who delivers all samples to one receiver gets no conflict and no contradictory history
/// from them.
#[test]
fn samples_do_not_contradict_each_other() {
    let all = samples::all();
    let pending = |message: &Message| match message {
        Message::MandateOutcome(outcome) => outcome.action_status == Some(ActionStatus::Pending),
        _ => false,
    };
    let (mut mandates, mut payments) = (
        BTreeMap::<_, MandateHistory>::new(),
        BTreeMap::<_, PaymentHistory>::new(),
    );
    for (at, message) in all.iter().enumerate() {
        let key = |message: &Message| {
            message.duplicate_key("", samples::headers(message.kind()).message_id)
        };
        for other in &all[..at] {
            // An outcome that moves on from pending is news.
            let apart = !key(message).overlaps(&key(other)) || pending(message) != pending(other);
            assert!(apart, "{message:?}\n{other:?}");
        }
        match message {
            Message::MandateOutcome(outcome) => {
                if let Some(mandate) = outcome.mandate_identification {
                    mandates.entry(mandate).or_default().apply_outcome(outcome);
                }
            }
            Message::MandateNotification(notification) => {
                mandates
                    .entry(notification.mandate_identification)
                    .or_default()
                    .apply_notification(notification);
            }
            Message::PaymentOutcome(outcome) => {
                payments
                    .entry(outcome.instruction_identification.clone())
                    .or_default()
                    .apply(outcome);
            }
            Message::Query(_) => {}
        }
    }
    assert_eq!((mandates.len(), payments.len()), (4, 2));
    assert!(
        mandates
            .values()
            .all(|history| history.state() == MandateState::Cancelled && history.is_complete())
    );
    let ends: Vec<PaymentState> = payments.values().map(PaymentHistory::state).collect();
    assert_eq!(ends, [PaymentState::Rejected, PaymentState::Settled]);
}

/// The effect of a message on the history of its mandate, as the history keeps it. The table is
/// typed by hand (Default: "Transitions").
#[test]
fn each_message_has_its_effect() {
    let kept = |history: MandateHistory| -> String {
        let json: serde_json::Value =
            serde_json::from_str(&history::History::Mandate(history).to_json()).unwrap();
        let events = json["mandate"].as_object().unwrap();
        events.values().next().unwrap()["effect"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let mut wrong = Wrong::default();
    let seen = [
        (Some("CRTD"), "seen_created"),
        (Some("ACTV"), "seen_active"),
        (Some("SUSD"), "seen_suspended"),
        (Some("CNCD"), "seen_cancelled"),
        (Some("NEWS"), "none"),
        (None, "none"),
    ];
    let always = |effect| seen.map(|(mandate, _)| (mandate, effect));
    // Without an action status, the mandate status decides.
    let mut created = seen;
    (created[0].1, created[1].1, created[3].1) =
        ("creation_pending", "activated", "creation_refused");
    let mut changed = seen;
    (changed[1].1, changed[2].1, changed[3].1) = ("released", "suspended", "cancelled");
    for (action, status, effects) in [
        (Some("CREA"), Some("PEND"), always("creation_pending")),
        (Some("CREA"), Some("CMPL"), always("activated")),
        (Some("CREA"), Some("DECL"), always("creation_refused")),
        (Some("CREA"), Some("RECL"), always("creation_refused")),
        (Some("CREA"), Some("TIMO"), always("creation_refused")),
        (Some("CREA"), Some("NEWS"), created),
        (Some("CREA"), None, created),
        (Some("STCH"), Some("PEND"), always("waiting")),
        (Some("STCH"), Some("CMPL"), changed),
        (Some("STCH"), None, changed),
        (Some("STCH"), Some("DECL"), seen),
        (Some("STCH"), Some("TIMO"), seen),
        (Some("AMND"), Some("PEND"), always("waiting")),
        (Some("AMND"), Some("CMPL"), seen),
        (Some("AMND"), None, seen),
        (Some("PORT"), Some("PEND"), always("waiting")),
        (Some("PORT"), Some("DECL"), seen),
        (Some("NEWS"), Some("CMPL"), seen),
        (None, Some("PEND"), seen),
        (None, None, seen),
    ] {
        for (mandate, effect) in effects {
            let mut outcome = MandateActionOutcome::new(at(0), OutcomeStatus::Succeeded);
            outcome.action_type = action.map(Into::into);
            outcome.action_status = status.map(Into::into);
            outcome.mandate_status = mandate.map(Into::into);
            for (succeeded, expected) in [(true, effect), (false, "none")] {
                outcome.status = if succeeded {
                    OutcomeStatus::Succeeded
                } else {
                    OutcomeStatus::Rejected
                };
                let mut history = MandateHistory::new();
                history.apply_outcome(&outcome);
                let row = format!("{} {action:?} {status:?} {mandate:?}", outcome.status);
                wrong.unless_equal(row, kept(history), expected.to_owned());
            }
        }
    }
    // The change that a notification names decides before the mandate status.
    for (change, mandate, effect) in [
        (Some("CNCL"), Some("ACTV"), "cancelled"),
        (Some("SUSP"), Some("ACTV"), "suspended"),
        (Some("SUSP"), None, "suspended"),
        (Some("RELS"), Some("SUSD"), "released"),
        (Some("RELS"), None, "released"),
        (Some("NEWS"), Some("SUSD"), "seen_suspended"),
        (None, Some("SUSD"), "suspended"),
        (None, Some("ACTV"), "released"),
    ] {
        let mut notification = samples::mandate_notification(&Trigger::StatusChanged).unwrap();
        notification.mandate_status = mandate.map(Into::into);
        notification.details = change.map(|change| StatusChange::new(change).into());
        let mut history = MandateHistory::new();
        history.apply_notification(&notification);
        wrong.unless_equal(
            format!("{change:?} {mandate:?}"),
            kept(history),
            effect.to_owned(),
        );
    }
    wrong.none();
}

/// A date far ahead would prevail over every later report.
#[test]
fn a_message_of_the_year_9999_does_not_decide_for_ever() {
    use bankrail_webhook::history::{Fold, HistoryState, KeptHistory};
    const DAY: i64 = 86_400;
    let told = |time: Timestamp, number, state| {
        let Told::Notification(mut message) =
            notification(0, number, "MSCH", "STCH", "CMPL", state)
        else {
            unreachable!("made above");
        };
        message.creation_date_time = time;
        Message::MandateNotification(message)
    };
    let Told::Notification(created) = notification(0, 1, "MCRC", "CREA", "CMPL", "ACTV") else {
        unreachable!("made above");
    };
    let created = Message::MandateNotification(created);
    for (dated, expected) in [
        (Timestamp::MAX, MandateState::Active),
        (at(20 + DAY + 1), MandateState::Active),
        // The date is no further ahead than a clock may be, so the later date prevails.
        (at(20 + DAY), MandateState::Suspended),
    ] {
        let mut known = Vec::new();
        for (now, message) in [
            (10, created.clone()),
            (20, told(dated, 2, "SUSD")),
            (30, told(at(30), 3, "ACTV")),
            // The same report again, later.
            (40, told(dated, 2, "SUSD")),
        ] {
            let fold = Fold::of(&message, known, at(now)).unwrap();
            known = vec![KeptHistory::new(1, fold.ids, fold.history, at(now))];
        }
        assert_eq!(known[0].state(), HistoryState::Mandate(expected), "{dated}");
    }
}
