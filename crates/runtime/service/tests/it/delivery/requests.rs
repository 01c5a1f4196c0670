//! Outcomes against the record of the requests that they answer.

use super::world::World;
use bankrail_mailbox::EndpointId;
use bankrail_service::delivery::{EnqueueError, RecordedRequests};
use bankrail_values::{Clock as _, HyphenatedUuid, StoreErrorKind, StoreFuture};
use bankrail_webhook::sender::{
    OriginalRequest, PaymentCondition, PaymentInstruction, RecordedRequest, RequestMismatchError,
};
use bankrail_webhook::{ActionStatus, ActionType, CaseType, DeliveryHeaders, Message, samples};
use std::sync::{Arc, Mutex};

/// The requests of ACME.
#[derive(Debug, Default)]
struct Records {
    mandates: Mutex<Vec<(HyphenatedUuid, OriginalRequest)>>,
    payments: Mutex<Vec<PaymentInstruction>>,
    fails: bool,
}

impl RecordedRequests for Records {
    fn find<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        outcome: &'a Message,
    ) -> StoreFuture<'a, Option<RecordedRequest>> {
        Box::pin(async move {
            if self.fails {
                return Err(StoreErrorKind::Unavailable.into());
            }
            if endpoint.as_str() != "acme" {
                return Ok(None);
            }
            Ok(match outcome {
                Message::MandateOutcome(outcome) => {
                    let mandates = self.mandates.lock().unwrap();
                    let found = mandates
                        .iter()
                        .find(|(id, _)| Some(*id) == outcome.request_id);
                    found.map(|(_, request)| RecordedRequest::Mandate(*request))
                }
                Message::PaymentOutcome(outcome) => {
                    let payments = self.payments.lock().unwrap();
                    let id = outcome.instruction_identification.as_ref();
                    let found = payments
                        .iter()
                        .find(|payment| Some(payment.instruction_identification()) == id);
                    found.cloned().map(RecordedRequest::Payment)
                }
                other => panic!("no outcome: {other:?}"),
            })
        })
    }
}

fn fresh() -> HyphenatedUuid {
    HyphenatedUuid::random()
}

#[tokio::test]
async fn an_outcome_echoes_the_key_of_its_recorded_request() {
    let records = Arc::new(Records::default());
    let world = World::with(|options| options.requests(records.clone()));
    let enqueue = |message: Message, headers: DeliveryHeaders| {
        let world = &world;
        async move {
            world
                .dispatcher
                .enqueue(&world.acme, &message, headers)
                .await
        }
    };
    let outcome = samples::mandate_outcome(&ActionType::Create, &ActionStatus::Pending);
    let request = OriginalRequest::new(fresh()).with_correlation_id(fresh());
    let headers = DeliveryHeaders::answering(&request, fresh());
    let unknown = enqueue(outcome.clone().into(), headers).await;
    assert!(
        matches!(unknown, Err(EnqueueError::UnknownRequest)),
        "{unknown:?}"
    );
    records
        .mandates
        .lock()
        .unwrap()
        .push((outcome.request_id.unwrap(), request));
    let other = DeliveryHeaders::answering(&OriginalRequest::new(fresh()), fresh());
    let refused = enqueue(outcome.clone().into(), other).await.unwrap_err();
    let expected = RequestMismatchError::Header {
        name: "X-RequestKey",
    };
    assert!(
        matches!(refused, EnqueueError::OtherRequest(found) if found == expected),
        "{refused:?}"
    );
    assert_eq!(world.pending().await, 0, "nothing was stored");
    enqueue(outcome.clone().into(), headers).await.unwrap();
    world.dispatcher.run_once().await.unwrap();
    let sent = world.receiver.last();
    assert_eq!(
        sent.headers["x-requestkey"].to_str().unwrap(),
        request.request_key().to_string()
    );
    assert_eq!(
        sent.headers["x-correlation-id"].to_str().unwrap(),
        request.correlation_id().unwrap().to_string()
    );
    // Another customer's request.
    let elsewhere = world
        .dispatcher
        .enqueue(&world.beta, &outcome.into(), headers)
        .await;
    assert!(
        matches!(elsewhere, Err(EnqueueError::UnknownRequest)),
        "{elsewhere:?}"
    );
    // A query answers no request.
    enqueue(
        samples::query(&CaseType::Mandate).into(),
        DeliveryHeaders::new(fresh()),
    )
    .await
    .unwrap();
}

#[tokio::test]
async fn no_outcome_of_a_payment_is_enqueued_after_its_final_one() {
    let records = Arc::new(Records::default());
    let world = World::with(|options| options.requests(records.clone()));
    let mut instruction =
        PaymentInstruction::new(OriginalRequest::new(fresh()), "I-42".parse().unwrap());
    let (now, today) = (world.clock.now(), "2021-07-29".parse().unwrap());
    let mut last = None;
    for condition in [PaymentCondition::Delayed, PaymentCondition::Settled] {
        let outcome = instruction.report(&condition, now, today).unwrap();
        *records.payments.lock().unwrap() = vec![instruction.clone()];
        let headers = DeliveryHeaders::answering(instruction.request(), fresh());
        world
            .dispatcher
            .enqueue(&world.acme, &outcome.clone().into(), headers)
            .await
            .unwrap();
        last = Some(outcome);
    }
    let mut rejected = last.unwrap();
    rejected.transaction_status = bankrail_webhook::TransactionStatus::Rejected;
    rejected.transaction_status_reason_code = Some("AM04".parse().unwrap());
    let headers = DeliveryHeaders::answering(instruction.request(), fresh());
    let refused = world
        .dispatcher
        .enqueue(&world.acme, &rejected.into(), headers)
        .await
        .unwrap_err();
    assert!(
        matches!(
            refused,
            EnqueueError::OtherRequest(RequestMismatchError::Status)
        ),
        "{refused:?}"
    );
    assert_eq!(world.pending().await, 2);
}

#[tokio::test]
async fn nothing_is_enqueued_while_the_records_fail() {
    let world = World::with(|options| {
        options.requests(Arc::new(Records {
            fails: true,
            ..Records::default()
        }))
    });
    let outcome = samples::mandate_outcome(&ActionType::Create, &ActionStatus::Pending);
    let headers = DeliveryHeaders::answering(&OriginalRequest::new(fresh()), fresh());
    let failed = world
        .dispatcher
        .enqueue(&world.acme, &outcome.into(), headers)
        .await;
    assert!(
        matches!(failed, Err(EnqueueError::Requests(_))),
        "{failed:?}"
    );
    assert_eq!(world.pending().await, 0);
}
