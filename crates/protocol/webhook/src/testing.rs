//! The suite that every engine of [`Histories`] runs (feature `testing`).
//!
//! The suite panics with the rule that an engine breaks.

#![allow(
    clippy::indexing_slicing,
    reason = "a suite says what it expects by panicking"
)]

use crate::history::{
    Histories, HistoryId, HistoryState, KeptHistory, MandateState, Observation, OpenOutcomes,
    OpenState, PaymentState,
};
use crate::{
    ActionStatus, ActionType, CaseType, MandateNotification, Message, PaymentOutcome,
    TransactionStatus, Trigger, Uetr, samples,
};
use bankrail_values::{HyphenatedUuid, Timestamp};

/// Runs every case on a fresh, empty store made by `make`.
///
/// # Panics
/// If the engine breaks a rule; the panic's text states the rule.
pub async fn histories_suite<H: Histories>(mut make: impl AsyncFnMut() -> H) {
    a_mandate_is_folded(&make().await).await;
    a_payment_has_two_names(&make().await).await;
    other_messages_are_not_applicable(&make().await).await;
    lists_have_pages(&make().await).await;
    changes_are_numbered(&make().await).await;
    final_histories_are_forgotten(&make().await).await;
    open_outcomes_are_followed(&make().await).await;
}

fn at(millis: i64) -> Timestamp {
    Timestamp::saturating_from_unix_millis(millis)
}

fn notification(trigger: &Trigger) -> MandateNotification {
    samples::mandate_notification(trigger).expect("a known trigger")
}

/// Returns the confirmation of the creation of the mandate with this number.
fn confirmed(number: u8) -> Message {
    let mut message = notification(&Trigger::CreationConfirmed);
    message.mandate_identification = mandate(number);
    message.into()
}

fn mandate(number: u8) -> crate::MandateId {
    format!("0b7c2f6e8a1d11eb8dcd0242ac1300{number:02x}")
        .parse()
        .expect("an id of version 1")
}

fn paid(instruction: Option<&str>, uetr: Option<u8>, status: TransactionStatus) -> Message {
    let mut outcome = PaymentOutcome::new(at(1_000), status);
    outcome.instruction_identification = instruction.map(|id| id.parse().expect("short"));
    outcome.uetr = uetr.map(uetr_of);
    outcome.into()
}

fn uetr_of(number: u8) -> Uetr {
    Uetr::from_uuid(HyphenatedUuid::from_random_bytes([number; 16])).expect("version 4")
}

async fn apply(store: &impl Histories, message: &Message, now: i64) -> Observation {
    store.apply("", message, at(now)).await.expect("apply")
}

async fn find(store: &impl Histories, id: &HistoryId) -> Option<KeptHistory> {
    store.find("", id).await.expect("find")
}

async fn a_mandate_is_folded(store: &impl Histories) {
    let message = notification(&Trigger::CreationConfirmed);
    let id = HistoryId::Mandate(message.mandate_identification);
    assert_eq!(find(store, &id).await, None);
    let confirmed = Message::from(message);
    assert_eq!(apply(store, &confirmed, 5).await, Observation::Advanced);
    let kept = find(store, &id).await.expect("it is kept");
    let active = HistoryState::Mandate(MandateState::Active);
    assert_eq!(
        (kept.state(), &kept.ids, kept.changed_at),
        (active, &vec![id.clone()], at(5))
    );
    assert_eq!(apply(store, &confirmed, 6).await, Observation::Repeated);
    assert_eq!(
        find(store, &id).await.as_ref(),
        Some(&kept),
        "a repeated message changes nothing"
    );
    let mut pending = samples::mandate_outcome(&ActionType::Create, &ActionStatus::Pending);
    pending.mandate_identification = kept.ids.first().and_then(|id| match id {
        HistoryId::Mandate(id) => Some(*id),
        _ => None,
    });
    assert_eq!(apply(store, &pending.into(), 7).await, Observation::Stale);
    let later = find(store, &id).await.expect("it is kept");
    let unchanged = (later.number, later.change, later.changed_at);
    assert_eq!(
        unchanged,
        (kept.number, kept.change, kept.changed_at),
        "a stale message is kept and is no change"
    );
    assert_ne!(later.history, kept.history, "it is kept");
    assert_eq!(
        store.find("other", &id).await.expect("find"),
        None,
        "scopes are apart"
    );
    assert_eq!(
        store
            .apply("other", &confirmed, at(8))
            .await
            .expect("apply"),
        Observation::Advanced
    );
    let other = store
        .find("other", &id)
        .await
        .expect("find")
        .expect("it is kept");
    assert_eq!(
        (other.scope.as_str(), other.number == kept.number),
        ("other", false)
    );
}

async fn a_payment_has_two_names(store: &impl Histories) {
    let (instruction, uetr) = (
        HistoryId::Instruction("I-1".parse().expect("short")),
        HistoryId::Uetr(uetr_of(1)),
    );
    apply(
        store,
        &paid(Some("I-1"), None, TransactionStatus::Warehoused),
        1,
    )
    .await;
    apply(
        store,
        &paid(None, Some(1), TransactionStatus::SettlementPending),
        2,
    )
    .await;
    let first = find(store, &instruction).await.expect("it is kept");
    let second = find(store, &uetr).await.expect("it is kept");
    assert_ne!(
        first.number, second.number,
        "nothing says yet that they are the same"
    );
    let both = paid(Some("I-1"), Some(1), TransactionStatus::SettlementCompleted);
    assert_eq!(apply(store, &both, 3).await, Observation::Advanced);
    let one = find(store, &instruction).await.expect("it is kept");
    assert_eq!(
        find(store, &uetr).await.as_ref(),
        Some(&one),
        "one history under both names"
    );
    assert_eq!(
        (one.number, one.state()),
        (first.number, HistoryState::Payment(PaymentState::Settled))
    );
    assert_eq!(one.ids, [instruction, uetr], "with both names");
    let changes = store.changes_after(0, 9).await.expect("changes");
    assert_eq!(changes, [one], "the other is gone");
    let late = paid(None, Some(1), TransactionStatus::Warehoused);
    assert_eq!(
        apply(store, &late, 4).await,
        Observation::Stale,
        "its outcomes were kept"
    );
    let rejected = paid(Some("I-1"), None, TransactionStatus::Rejected);
    assert_eq!(apply(store, &rejected, 5).await, Observation::Contradictory);
}

async fn other_messages_are_not_applicable(store: &impl Histories) {
    let query = Message::from(samples::query(&CaseType::Mandate));
    assert_eq!(apply(store, &query, 1).await, Observation::NotApplicable);
    let nameless = paid(None, None, TransactionStatus::SettlementCompleted);
    assert_eq!(apply(store, &nameless, 1).await, Observation::NotApplicable);
    assert!(
        store.changes_after(0, 9).await.expect("changes").is_empty(),
        "nothing is kept of them"
    );
}

async fn lists_have_pages(store: &impl Histories) {
    for number in 0..5 {
        apply(store, &confirmed(number), 1).await;
    }
    apply(
        store,
        &paid(Some("I-1"), None, TransactionStatus::SettlementCompleted),
        1,
    )
    .await;
    let active = HistoryState::Mandate(MandateState::Active);
    let (mut after, mut listed) = (None, Vec::new());
    loop {
        let page = store.list("", active, after, 2).await.expect("list");
        let Some(last) = page.last() else { break };
        assert!(page.len() <= 2, "up to the limit");
        after = Some(last.number);
        listed.extend(page.into_iter().flat_map(|kept| kept.ids));
    }
    let all: Vec<_> = (0..5)
        .map(|number| HistoryId::Mandate(mandate(number)))
        .collect();
    assert_eq!(listed, all, "each once, in order");
    let suspended = HistoryState::Mandate(MandateState::Suspended);
    assert!(
        store
            .list("", suspended, None, 9)
            .await
            .expect("list")
            .is_empty(),
        "in this state only"
    );
    assert!(
        store
            .list("other", active, None, 9)
            .await
            .expect("list")
            .is_empty(),
        "of this scope only"
    );
}

async fn changes_are_numbered(store: &impl Histories) {
    let numbers =
        |changes: &[KeptHistory]| changes.iter().map(|kept| kept.change).collect::<Vec<_>>();
    apply(store, &confirmed(1), 1).await;
    apply(store, &confirmed(2), 2).await;
    let first = store.changes_after(0, 9).await.expect("changes");
    assert!(
        first.len() == 2 && first[0].change < first[1].change,
        "in the order of the changes"
    );
    assert_eq!(
        store.changes_after(0, 1).await.expect("changes"),
        first[..1],
        "up to the limit"
    );
    assert_eq!(
        store
            .changes_after(first[0].change, 9)
            .await
            .expect("changes"),
        first[1..],
        "after a change"
    );
    store
        .changed_after(first[0].change)
        .await
        .expect("there is one already");
    let mut cancelled =
        samples::mandate_outcome(&ActionType::StatusChange, &ActionStatus::Completed);
    cancelled.mandate_identification = Some(mandate(1));
    cancelled.action_identification = Some(
        "5e1f0a728a1d11eb8dcd0242ac130004"
            .parse()
            .expect("an id of version 1"),
    );
    cancelled.mandate_status = Some(crate::MandateStatus::Cancelled);
    assert_eq!(
        apply(store, &cancelled.into(), 3).await,
        Observation::Advanced
    );
    let then = store
        .changes_after(first[1].change, 9)
        .await
        .expect("changes");
    assert_eq!(
        then.iter().map(|kept| kept.number).collect::<Vec<_>>(),
        [first[0].number],
        "the changed one only"
    );
    assert!(numbers(&then)[0] > first[1].change, "under a new number");
    assert_eq!(
        numbers(&store.changes_after(0, 9).await.expect("changes")),
        [first[1].change, then[0].change]
    );
}

async fn final_histories_are_forgotten(store: &impl Histories) {
    apply(
        store,
        &paid(Some("I-1"), Some(1), TransactionStatus::SettlementCompleted),
        5,
    )
    .await;
    apply(
        store,
        &paid(Some("I-2"), None, TransactionStatus::Warehoused),
        5,
    )
    .await;
    apply(store, &confirmed(1), 5).await;
    let last = store
        .changes_after(0, 9)
        .await
        .expect("changes")
        .last()
        .map_or(0, |kept| kept.change);
    assert_eq!(
        store.forget(at(5)).await.expect("forget"),
        0,
        "changed before, strictly"
    );
    assert_eq!(
        store.forget(at(6)).await.expect("forget"),
        1,
        "only what is final"
    );
    for id in [
        HistoryId::Instruction("I-1".parse().expect("short")),
        HistoryId::Uetr(uetr_of(1)),
    ] {
        assert_eq!(find(store, &id).await, None, "under no name");
    }
    assert_eq!(store.changes_after(0, 9).await.expect("changes").len(), 2);
    apply(
        store,
        &paid(Some("I-1"), None, TransactionStatus::SettlementCompleted),
        7,
    )
    .await;
    let again = store.changes_after(last, 9).await.expect("changes");
    assert_eq!(again.len(), 1, "a new history, under a higher number");
}

/// Returns the open outcomes by the number of their history. A second reader, which starts from
/// nothing, must find the same ones.
async fn open(store: &impl Histories, reader: &mut OpenOutcomes) -> Vec<(u64, OpenState)> {
    let listed = |reader: &OpenOutcomes| {
        let mut open: Vec<_> = reader
            .iter()
            .map(|(kept, one)| (kept.number, one.state))
            .collect();
        open.sort_unstable();
        open
    };
    let mut restarted = OpenOutcomes::new();
    for reader in [&mut *reader, &mut restarted] {
        reader.refresh(store).await.expect("refresh");
    }
    assert_eq!(
        listed(reader),
        listed(&restarted),
        "a restart loses nothing"
    );
    listed(reader)
}

async fn open_outcomes_are_followed(store: &impl Histories) {
    let mut reader = OpenOutcomes::new();
    for (instruction, uetr) in [(Some("I-1"), None), (None, Some(1))] {
        apply(
            store,
            &paid(instruction, uetr, TransactionStatus::Warehoused),
            1,
        )
        .await;
    }
    let both = open(store, &mut reader).await;
    assert_eq!(both.len(), 2, "nothing says yet that they are the same");
    let one = paid(Some("I-1"), Some(1), TransactionStatus::SettlementPending);
    apply(store, &one, 2).await;
    assert_eq!(
        open(store, &mut reader).await,
        [(both[0].0, OpenState::SettlementPending)],
        "two histories that became one have one open outcome"
    );
    apply(store, &confirmed(1), 3).await;
    let mut pending = samples::mandate_outcome(&ActionType::Amend, &ActionStatus::Pending);
    pending.mandate_identification = Some(mandate(1));
    let mut ended = samples::mandate_outcome(&ActionType::Amend, &ActionStatus::Declined);
    ended.mandate_identification = Some(mandate(1));
    ended.action_identification = pending.action_identification;
    apply(store, &pending.clone().into(), 4).await;
    apply(store, &pending.clone().into(), 5).await;
    let of_mandate = open(store, &mut reader).await;
    assert_eq!(
        of_mandate
            .iter()
            .map(|(_, state)| *state)
            .collect::<Vec<_>>(),
        [OpenState::SettlementPending, OpenState::Pending],
        "an action that changes no state is open, too, once"
    );
    let settled = paid(None, Some(1), TransactionStatus::SettlementCompleted);
    apply(store, &settled, 6).await;
    apply(store, &ended.into(), 7).await;
    apply(store, &pending.into(), 8).await;
    assert_eq!(
        open(store, &mut reader).await,
        [],
        "what has come is not open"
    );
}
