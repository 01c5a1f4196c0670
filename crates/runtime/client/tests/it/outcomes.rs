//! Announced outcomes that do not arrive.

use crate::log::Log;
use crate::provider::start;
use bankrail_client::receivers::{OutcomeWatch, OutcomeWatchOptions};
use bankrail_stores::memory::{MemoryHistories, MemoryStore};
use bankrail_values::{Clock, ManualClock, Timestamp};
use bankrail_webhook::history::{Histories, OpenState};
use bankrail_webhook::{
    ActionStatus, ActionType, Message, PaymentOutcome, TransactionStatus, samples,
};
use std::sync::Arc;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);
const MANDATE: &str = "mandate:0b7c2f6e8a1d11eb8dcd0242ac130003";
const UETR: &str = "uetr:ba5eba11-0000-4000-8000-00000000002b";

pub(crate) fn action(status: &ActionStatus, deadline: Option<Timestamp>) -> Message {
    let mut outcome = samples::mandate_outcome(&ActionType::Amend, status);
    outcome.creation_date_time = start();
    outcome.action_identification = Some(samples::action_id());
    outcome.resolution_requested_by = deadline;
    outcome.into()
}

pub(crate) fn payment(status: TransactionStatus) -> Message {
    let mut outcome = PaymentOutcome::new(start(), status);
    outcome.instruction_identification = Some("I-MARKED".parse().unwrap());
    outcome.uetr = Some("ba5eba11-0000-4000-8000-00000000002b".parse().unwrap());
    outcome.into()
}

/// Makes a watch over these histories with this clock.
pub(crate) fn watch(
    histories: &MemoryHistories,
    clock: &Arc<ManualClock>,
    options: OutcomeWatchOptions,
) -> OutcomeWatch {
    OutcomeWatch::new(Arc::new(histories.clone()), options.clock(clock.clone()))
}

pub(crate) async fn told(histories: &MemoryHistories, message: &Message) {
    histories.apply("", message, start()).await.unwrap();
}

async fn overdue(watch: &OutcomeWatch) -> Vec<OpenState> {
    let overdue = watch.look().await.unwrap();
    overdue.into_iter().map(|(_, one)| one.state).collect()
}

#[tokio::test]
async fn an_outcome_that_never_comes_is_warned_of_once_when_it_is_overdue() {
    let settled = || payment(TransactionStatus::SettlementCompleted);
    let declined = || action(&ActionStatus::Declined, None);
    for (announced, state, allowed, about, end) in [
        (
            action(&ActionStatus::Pending, None),
            OpenState::Pending,
            DAY * 5,
            MANDATE,
            declined(),
        ),
        (
            payment(TransactionStatus::Warehoused),
            OpenState::Warehoused,
            DAY * 35,
            UETR,
            settled(),
        ),
        (
            payment(TransactionStatus::SettlementPending),
            OpenState::SettlementPending,
            DAY * 3,
            UETR,
            settled(),
        ),
    ] {
        let log = Log::start();
        let (histories, clock) = (
            MemoryStore::new().histories(),
            Arc::new(ManualClock::new(start())),
        );
        let watch = watch(&histories, &clock, OutcomeWatchOptions::new());
        assert_eq!(overdue(&watch).await, [], "nothing was announced");
        told(&histories, &announced).await;
        clock.advance(allowed);
        assert_eq!(overdue(&watch).await, [], "in time until the last moment");
        assert_eq!(log.text(), "");
        clock.advance(Duration::from_millis(1));
        for _ in 0..3 {
            assert_eq!(overdue(&watch).await, [state]);
            // Delivered again, it is the same outcome.
            told(&histories, &announced).await;
        }
        let text = log.text();
        assert_eq!(text.lines().count(), 1, "{text}");
        let since = start();
        let (kind, code) = (state.kind(), state.as_str());
        for part in [
            "WARN".to_owned(),
            "an announced outcome has not come".to_owned(),
            format!(
                "kind={kind} state=\"{code}\" about={about} history=1 since={since} due={since}"
            ),
        ] {
            assert!(text.contains(&part), "{part} in {text}");
        }
        assert!(!text.contains("MARKED"), "{text}");
        told(&histories, &end).await;
        told(&histories, &announced).await;
        assert_eq!(overdue(&watch).await, [], "it has come");
        assert_eq!(log.text(), text);
    }
}

#[tokio::test]
async fn an_outcome_that_is_overdue_is_warned_of_after_a_restart_and_when_it_is_announced_again() {
    let (histories, clock) = (
        MemoryStore::new().histories(),
        Arc::new(ManualClock::new(start())),
    );
    told(&histories, &payment(TransactionStatus::Warehoused)).await;
    clock.advance(DAY * 36);
    for _ in 0..2 {
        let log = Log::start();
        let watch = watch(&histories, &clock, OutcomeWatchOptions::new());
        assert_eq!(overdue(&watch).await, [OpenState::Warehoused]);
        assert_eq!(log.text().lines().count(), 1, "{}", log.text());
    }
    let watch = watch(&histories, &clock, OutcomeWatchOptions::new());
    overdue(&watch).await;
    told(&histories, &payment(TransactionStatus::SettlementPending)).await;
    let log = Log::start();
    assert_eq!(overdue(&watch).await, [OpenState::SettlementPending]);
    assert!(log.text().contains("ACSP"), "{}", log.text());
}

#[tokio::test]
async fn each_state_has_its_own_time_and_the_deadline_of_a_message_counts() {
    let (histories, clock) = (
        MemoryStore::new().histories(),
        Arc::new(ManualClock::new(start())),
    );
    let deadline = start().saturating_add(DAY * 2);
    told(&histories, &action(&ActionStatus::Pending, Some(deadline))).await;
    told(&histories, &payment(TransactionStatus::SettlementPending)).await;
    let after = |hours: u64| Duration::from_secs(hours * 3600);
    let watch = watch(
        &histories,
        &clock,
        OutcomeWatchOptions::new()
            .pending(after(1))
            .warehoused(after(10))
            .settlement_pending(after(5)),
    );
    clock.advance(after(6));
    assert_eq!(overdue(&watch).await, [OpenState::SettlementPending]);
    told(&histories, &payment(TransactionStatus::SettlementCompleted)).await;
    clock.advance(after(43));
    assert_eq!(overdue(&watch).await, [], "an hour after the deadline");
    clock.advance(after(1));
    assert_eq!(overdue(&watch).await, [OpenState::Pending]);
    let mut another = PaymentOutcome::new(clock.now(), TransactionStatus::Warehoused);
    another.instruction_identification = Some("I-2".parse().unwrap());
    told(&histories, &another.into()).await;
    clock.advance(after(11));
    assert_eq!(
        overdue(&watch).await,
        [OpenState::Pending, OpenState::Warehoused]
    );
}

#[tokio::test]
async fn a_watch_that_runs_looks_at_once_and_ends_when_it_is_stopped() {
    let (histories, clock) = (
        MemoryStore::new().histories(),
        Arc::new(ManualClock::new(start())),
    );
    told(&histories, &payment(TransactionStatus::Warehoused)).await;
    clock.advance(DAY * 36);
    let log = Log::start();
    let watch = watch(&histories, &clock, OutcomeWatchOptions::new());
    let stop = async {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    };
    watch.run(stop).await;
    assert_eq!(
        log.text().matches("has not come").count(),
        1,
        "{}",
        log.text()
    );
}
