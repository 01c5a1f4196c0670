//! The sender's side of outcomes.

use bankrail_values::{Date, HyphenatedUuid, Timestamp};
use bankrail_webhook::sender::{
    OriginalRequest, PaymentCondition, PaymentInstruction, RecordedRequest, ReportError,
    RequestMismatchError,
};
use bankrail_webhook::*;

fn id(number: u8) -> HyphenatedUuid {
    HyphenatedUuid::from_random_bytes([number; 16])
}

fn now() -> Timestamp {
    "2021-07-29T01:02:03.450Z".parse().unwrap()
}

fn day(number: u8) -> Date {
    format!("2021-07-{number:02}").parse().unwrap()
}

fn instruction() -> PaymentInstruction {
    let request = OriginalRequest::new(id(1)).with_correlation_id(id(2));
    let uetr = "ba5eba11-0000-4000-8000-00000000002a".parse().unwrap();
    PaymentInstruction::new(request, "I-42".parse().unwrap()).with_uetr(uetr)
}

fn future_dated() -> PaymentCondition {
    PaymentCondition::FutureDated {
        requested_execution_date: day(30),
    }
}

fn failed() -> PaymentCondition {
    PaymentCondition::Failed {
        reason_code: "AM04".parse().unwrap(),
    }
}

/// The specification's table: condition and next status, and whether an outcome follows.
#[test]
fn each_condition_has_its_status() {
    for (condition, status, follows) in [
        (PaymentCondition::Settled, "ACSC", false),
        (future_dated(), "PDNG", true),
        (PaymentCondition::Delayed, "ACSP", true),
        (failed(), "RJCT", false),
    ] {
        let mut instruction = instruction();
        assert!(instruction.expects_outcome() && instruction.status().is_none());
        let outcome = instruction.report(&condition, now(), day(29)).unwrap();
        assert_eq!(outcome.transaction_status.as_str(), status);
        assert_eq!(
            (instruction.status(), instruction.expects_outcome()),
            (Some(status.into()), follows),
            "{status}"
        );
        assert_eq!(outcome.creation_date_time, now());
        assert_eq!(
            outcome.instruction_identification.as_ref(),
            Some(instruction.instruction_identification())
        );
        assert_eq!(outcome.uetr, instruction.uetr());
        let reason = outcome
            .transaction_status_reason_code
            .as_ref()
            .map(|code| code.as_str());
        assert_eq!(reason, (status == "RJCT").then_some("AM04"));
        assert_eq!(outcome.validate(), []);
    }
}

#[test]
fn a_settlement_outcome_follows_a_warehoused_instruction_from_its_date_on() {
    let mut warehoused = instruction();
    warehoused.report(&future_dated(), now(), day(29)).unwrap();
    assert_eq!(warehoused.due(), Some(day(30)));
    for early in [PaymentCondition::Settled, PaymentCondition::Delayed] {
        assert_eq!(
            warehoused.report(&early, now(), day(29)),
            Err(ReportError::NotDue { until: day(30) })
        );
        assert!(warehoused.clone().report(&early, now(), day(30)).is_ok());
        assert!(warehoused.clone().report(&early, now(), day(31)).is_ok());
    }
    assert!(
        warehoused.clone().report(&failed(), now(), day(29)).is_ok(),
        "it may be found invalid on any day"
    );
    let again = warehoused.report(&future_dated(), now(), day(29));
    assert_eq!(
        again,
        Err(ReportError::Reported {
            status: TransactionStatus::Warehoused
        })
    );
    for not_future in [28, 29] {
        let condition = PaymentCondition::FutureDated {
            requested_execution_date: day(not_future),
        };
        let refused = instruction().report(&condition, now(), day(29));
        assert_eq!(
            refused,
            Err(ReportError::NotFutureDated {
                requested_execution_date: day(not_future)
            })
        );
    }
}

#[test]
fn a_settlement_outcome_follows_a_delayed_instruction() {
    let mut delayed = instruction();
    delayed.report(&future_dated(), now(), day(29)).unwrap();
    delayed
        .report(&PaymentCondition::Delayed, now(), day(30))
        .unwrap();
    assert_eq!(delayed.due(), None);
    for condition in [PaymentCondition::Delayed, future_dated()] {
        let again = delayed.report(&condition, now(), day(29));
        assert_eq!(
            again,
            Err(ReportError::Reported {
                status: TransactionStatus::SettlementPending
            })
        );
    }
    for condition in [PaymentCondition::Settled, failed()] {
        let mut delayed = delayed.clone();
        delayed.report(&condition, now(), day(30)).unwrap();
        assert!(!delayed.expects_outcome());
    }
}

#[test]
fn nothing_follows_a_final_status() {
    for (last, status) in [
        (
            PaymentCondition::Settled,
            TransactionStatus::SettlementCompleted,
        ),
        (failed(), TransactionStatus::Rejected),
    ] {
        let mut done = instruction();
        done.report(&last, now(), day(29)).unwrap();
        let before = done.clone();
        for condition in [
            PaymentCondition::Settled,
            future_dated(),
            PaymentCondition::Delayed,
            failed(),
        ] {
            let refused = done.report(&condition, now(), day(31));
            assert_eq!(
                refused,
                Err(ReportError::Final {
                    status: status.clone()
                })
            );
        }
        assert_eq!(done, before);
    }
}

/// A receiver derives from the outcomes the state that the sender reported.
#[test]
fn a_receivers_history_follows_every_sequence_that_can_be_reported() {
    let mut open = vec![(instruction(), history::PaymentHistory::new(), now())];
    let mut ended = 0;
    while let Some((instruction, history, at)) = open.pop() {
        let later = at.saturating_add(std::time::Duration::from_secs(1));
        for condition in [
            PaymentCondition::Settled,
            future_dated(),
            PaymentCondition::Delayed,
            failed(),
        ] {
            for today in [29, 30] {
                let (mut instruction, mut history) = (instruction.clone(), history.clone());
                let Ok(outcome) = instruction.report(&condition, later, day(today)) else {
                    continue;
                };
                assert_eq!(history.apply(&outcome), history::Observation::Advanced);
                assert_eq!(history.is_final(), !instruction.expects_outcome());
                if history.is_final() {
                    ended += 1;
                } else {
                    open.push((instruction, history, later));
                }
            }
        }
    }
    assert!(ended > 10, "{ended}");
}

#[test]
fn an_outcome_echoes_its_request() {
    let mut instruction = instruction();
    let outcome = Message::from(
        instruction
            .report(&PaymentCondition::Delayed, now(), day(29))
            .unwrap(),
    );
    let headers = DeliveryHeaders::answering(instruction.request(), id(9));
    assert_eq!(
        (headers.request_key, headers.correlation_id),
        (Some(id(1)), Some(id(2)))
    );
    assert_eq!(headers.message_id, id(9));
    headers.check(MessageKind::PaymentOutcome).unwrap();
    let payment = RecordedRequest::Payment(instruction.clone());
    let check = |message: &Message, headers: &DeliveryHeaders| payment.check(message, headers);
    check(&outcome, &headers).unwrap();
    let mut without = headers;
    without.correlation_id = None;
    check(&outcome, &without).unwrap();

    for (request_key, correlation_id, name) in [
        (Some(id(3)), Some(id(2)), "X-RequestKey"),
        (None, Some(id(2)), "X-RequestKey"),
        (Some(id(1)), Some(id(3)), "X-Correlation-Id"),
    ] {
        let mut other = headers;
        (other.request_key, other.correlation_id) = (request_key, correlation_id);
        assert_eq!(
            check(&outcome, &other),
            Err(RequestMismatchError::Header { name })
        );
    }
    // A request without an `X-Correlation-Id` has none to echo.
    let uncorrelated = OriginalRequest::new(id(1));
    assert_eq!(uncorrelated.check(&without), Ok(()));
    assert_eq!(
        uncorrelated.check(&headers),
        Err(RequestMismatchError::Header {
            name: "X-Correlation-Id"
        })
    );
    let of = |change: fn(&mut PaymentOutcome)| {
        let Message::PaymentOutcome(mut outcome) = outcome.clone() else {
            unreachable!()
        };
        change(&mut outcome);
        check(&outcome.into(), &headers)
    };
    assert_eq!(of(|outcome| outcome.uetr = None), Ok(()));
    assert_eq!(
        of(|outcome| outcome.instruction_identification = Some("I-43".parse().unwrap())),
        Err(RequestMismatchError::Instruction {
            pointer: "/instruction_identification"
        })
    );
    assert_eq!(
        of(|outcome| outcome.uetr = Some("ba5eba11-0000-4000-8000-00000000002b".parse().unwrap())),
        Err(RequestMismatchError::Instruction { pointer: "/uetr" })
    );
    let never = of(|outcome| outcome.transaction_status = TransactionStatus::SettlementCompleted);
    assert_eq!(never, Err(RequestMismatchError::Status));
    let mandate = Message::from(samples::mandate_outcome(
        &ActionType::Create,
        &ActionStatus::Pending,
    ));
    assert_eq!(check(&mandate, &headers), Err(RequestMismatchError::Kind));
    RecordedRequest::Mandate(*instruction.request())
        .check(&mandate, &headers)
        .unwrap();
    assert!(!RequestMismatchError::Status.to_string().contains("I-4"));
}

#[test]
fn an_instruction_is_stored_and_comes_back() {
    let mut instruction = instruction();
    instruction.report(&future_dated(), now(), day(29)).unwrap();
    let stored = serde_json::to_string(&instruction).unwrap();
    let mut back: PaymentInstruction = serde_json::from_str(&stored).unwrap();
    assert_eq!(back, instruction);
    back.report(&failed(), now(), day(29)).unwrap();
    let stored = serde_json::to_string(&back).unwrap();
    assert_eq!(
        serde_json::from_str::<PaymentInstruction>(&stored).unwrap(),
        back
    );
}
