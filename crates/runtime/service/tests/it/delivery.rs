//! Deliveries from an outbox in memory to a receiver that answers by script.

mod circuit;
mod endpoints;
mod fair;
mod faulty;
mod https;
mod leaks;
mod operators;
mod outages;
mod requests;
mod retries;
mod returned;
mod running;
mod shared;
mod snapshot;
mod transactions;
mod urls;
mod ways;
pub(crate) mod world;

use self::world::{Reply, World, endpoint, fresh_headers};
use bankrail_mailbox::{DeliveryNote, Enqueued, OutboxState};
use bankrail_secured_payload::SecuredPayload;
use bankrail_service::delivery::{BreakerPolicy, EnqueueError, MissingAcknowledgement};
use bankrail_webhook::{
    CaseType, DebtorInformation, DeliveryHeaders, Message, MessageKind, OutgoingError,
    OutgoingOptions, Priority, samples,
};
use std::time::Duration;

#[tokio::test]
async fn deliveries_go_by_their_time_whatever_the_priority() {
    let world = World::with(|options| options.concurrency(1));
    let message = samples::all().remove(0);
    let mut expected = Vec::new();
    for priority in [
        Priority::Unattended,
        Priority::Attended,
        Priority::Unattended,
        Priority::Attended,
    ] {
        let headers = fresh_headers(message.kind()).priority(priority);
        world
            .dispatcher
            .enqueue(&world.acme, &message, headers)
            .await
            .unwrap();
        expected.push((headers.message_id.to_string(), priority.as_str()));
        world.clock.advance(Duration::from_millis(1));
    }
    while world.dispatcher.run_once().await.unwrap() > 0 {}
    let requests = world.receiver.all();
    let made = requests.iter().map(|request| {
        let value = |name: &str| request.headers[name].to_str().unwrap();
        (value("x-message-id").to_owned(), value("priority"))
    });
    assert_eq!(made.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn each_kind_goes_to_its_receiver_with_the_headers_of_the_table_and_no_others() {
    let world = World::new();
    let mut seen = Vec::new();
    for message in samples::all() {
        let kind = message.kind();
        if seen.contains(&kind) {
            continue;
        }
        seen.push(kind);
        let headers = fresh_headers(kind).priority(Priority::Unattended);
        let mut expected = vec![
            "accept",
            "accept-encoding",
            "content-type",
            "priority",
            "x-api-key",
            "x-message-id",
        ];
        if kind.answers_a_request() {
            expected.extend(["x-correlation-id", "x-requestkey"]);
            expected.sort_unstable();
        }
        let stored = world
            .dispatcher
            .enqueue(&world.acme, &message, headers)
            .await
            .unwrap();
        assert_eq!(world.dispatcher.run_once().await.unwrap(), 1);
        let request = world.receiver.last();
        assert_eq!(
            request.url.as_str(),
            format!("https://acme.example/hooks{}", kind.default_path())
        );
        let mut names: Vec<_> = request.headers.keys().map(|name| name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, expected, "{kind}");
        let value = |name: &str| request.headers[name].to_str().unwrap();
        assert_eq!(value("x-message-id"), headers.message_id.to_string());
        assert_eq!(
            (value("content-type"), value("x-api-key")),
            ("application/json", "hunter2")
        );
        assert_eq!(value("priority"), "UNATTENDED");
        if kind.answers_a_request() {
            assert_eq!(
                value("x-requestkey"),
                headers.request_key.unwrap().to_string()
            );
            assert_eq!(
                value("x-correlation-id"),
                headers.correlation_id.unwrap().to_string()
            );
        }
        let envelope = SecuredPayload::from_json(&request.body).unwrap();
        assert_eq!(
            world.opener.open(&envelope.secured_payload).unwrap().json(),
            message.to_json().as_bytes()
        );
        assert!(!format!("{request:?}").contains("hunter2"));
        let entry = world.entry(stored.id()).await;
        assert_eq!((entry.state, entry.deliveries), (OutboxState::Delivered, 1));
        let [delivery] = world.deliveries(stored.id()).await.try_into().unwrap();
        assert_eq!((delivery.status, delivery.note), (Some(200), None));
    }
    assert_eq!(seen.len(), MessageKind::ALL.len());
    assert_eq!(
        world.dispatcher.run_once().await.unwrap(),
        0,
        "delivered once each"
    );
}

/// A message of each kind is sent as soon as it is enqueued, and nothing else is sent before or
/// with it.
#[tokio::test]
async fn each_event_is_sent_when_it_is_enqueued_and_only_then() {
    for kind in MessageKind::ALL {
        let world = World::new();
        world.clock.advance(Duration::from_secs(3600));
        assert_eq!(world.dispatcher.run_once().await.unwrap(), 0, "{kind}");
        let message = samples::of(kind).remove(0);
        world
            .dispatcher
            .enqueue(&world.acme, &message, fresh_headers(kind))
            .await
            .unwrap();
        assert_eq!(world.dispatcher.run_once().await.unwrap(), 1, "{kind}");
        world.clock.advance(Duration::from_secs(7 * 24 * 3600));
        assert_eq!(world.dispatcher.run_once().await.unwrap(), 0, "{kind}");
        let [request] = world.receiver.all().try_into().unwrap();
        assert_eq!(request.url.path(), format!("/hooks{}", kind.default_path()));
        let envelope = SecuredPayload::from_json(&request.body).unwrap();
        assert_eq!(
            world.opener.open(&envelope.secured_payload).unwrap().json(),
            message.to_json().as_bytes(),
            "{kind}"
        );
    }
}

#[tokio::test]
async fn a_message_that_breaks_the_specification_is_not_stored() {
    let world = World::new();
    let outcome = samples::all()
        .into_iter()
        .find(|message| message.kind() == MessageKind::MandateOutcome)
        .unwrap();
    let query = samples::all()
        .into_iter()
        .find(|message| message.kind() == MessageKind::Query)
        .unwrap();
    let (with_key, without) = (
        fresh_headers(MessageKind::MandateOutcome),
        fresh_headers(MessageKind::Query),
    );
    let mut correlated = without;
    correlated.correlation_id = Some(without.message_id);
    let refused = [
        (&outcome, without),
        (&query, with_key),
        (&query, correlated),
        (&query, without.priority(Priority::Attended)),
    ];
    for (message, headers) in refused {
        let error = world
            .dispatcher
            .enqueue(&world.acme, message, headers)
            .await
            .unwrap_err();
        assert!(
            matches!(error, EnqueueError::Refused(OutgoingError::Headers(_))),
            "{error:?}"
        );
    }
    let text = outcome
        .to_json()
        .replace("\"ACTV\"", "\"WHAT\"")
        .replace("\"CRTD\"", "\"WHAT\"");
    let unknown = Message::from_json(MessageKind::MandateOutcome, text.as_bytes())
        .unwrap()
        .message;
    let error = world
        .dispatcher
        .enqueue(&world.acme, &unknown, with_key)
        .await
        .unwrap_err();
    assert!(
        matches!(error, EnqueueError::Refused(OutgoingError::Findings { .. })),
        "{error:?}"
    );
    let error = world
        .dispatcher
        .enqueue(&"nobody".parse().unwrap(), &outcome, with_key)
        .await
        .unwrap_err();
    assert!(matches!(error, EnqueueError::UnknownEndpoint { .. }));
    assert_eq!(world.pending().await, 0);
}

#[tokio::test]
async fn a_message_beyond_a_default_is_stored_where_that_is_allowed() {
    let mut query = samples::query(&CaseType::Mandate);
    query.mandate_details.debtor_information = Some(DebtorInformation::new().party_name("Café"));
    let message = Message::from(query);
    for allow in [false, true] {
        let world =
            World::with(|options| options.outgoing(OutgoingOptions::new().beyond_defaults(allow)));
        let stored = world
            .dispatcher
            .enqueue(&world.acme, &message, fresh_headers(MessageKind::Query))
            .await;
        assert_eq!(stored.is_ok(), allow, "{stored:?}");
    }
}

#[tokio::test]
async fn one_message_id_is_stored_once() {
    let world = World::new();
    let message = samples::all().remove(0);
    let headers: DeliveryHeaders = fresh_headers(message.kind());
    let first = world
        .dispatcher
        .enqueue(&world.acme, &message, headers)
        .await
        .unwrap();
    let again = world
        .dispatcher
        .enqueue(&world.acme, &message, headers)
        .await
        .unwrap();
    assert!(matches!(first, Enqueued::New(id) if again == Enqueued::AlreadyStored(id)));
    world.dispatcher.run_once().await.unwrap();
    assert_eq!(world.receiver.count(), 1);
}

#[tokio::test]
async fn only_the_acknowledgement_ends_a_delivery() {
    let id = "9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11";
    let with_status = |status: &str| format!(r#"{{"id":"{id}","status":"{status}"}}"#);
    for (body, acknowledged) in [
        (with_status("RCVD"), true),
        (with_status("RJCT"), false),
        (with_status("rcvd"), false),
        (with_status("RCVD").replace(id, "7"), false),
        (r#"{"status":"RCVD"}"#.to_owned(), false),
        ("<html>It works!</html>".to_owned(), false),
        (String::new(), false),
    ] {
        for status in [200, 202] {
            for counts_anyway in [false, true] {
                let world = World::with(|options| match counts_anyway {
                    false => options,
                    true => options.missing_acknowledgement(MissingAcknowledgement::Delivered),
                });
                world.receiver.script([Reply::Body(status, body.clone())]);
                let id = world.enqueue_one().await;
                world.dispatcher.run_once().await.unwrap();
                let delivered = acknowledged || counts_anyway;
                let state = if delivered {
                    OutboxState::Delivered
                } else {
                    OutboxState::Pending
                };
                assert_eq!(world.entry(id).await.state, state, "{status} {body}");
                let note = (!acknowledged).then_some(DeliveryNote::Unacknowledged);
                let [delivery] = world.deliveries(id).await.try_into().unwrap();
                assert_eq!(
                    (delivery.status, delivery.note),
                    (Some(status), note),
                    "{body}"
                );
                if !delivered {
                    world.clock.set(world.entry(id).await.due);
                    world.dispatcher.run_once().await.unwrap();
                    assert_eq!(
                        world.entry(id).await.state,
                        OutboxState::Delivered,
                        "the next delivery is acknowledged"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn one_receiver_has_its_own_rule_of_acknowledgements() {
    use MissingAcknowledgement::{Delivered, Failed};
    for (of_all, of_acme, expected) in [
        (Failed, Some(Delivered), OutboxState::Delivered),
        (Delivered, Some(Failed), OutboxState::Pending),
        (Delivered, None, OutboxState::Delivered),
        (Failed, None, OutboxState::Pending),
    ] {
        let world = World::with(|options| options.missing_acknowledgement(of_all));
        if let Some(rule) = of_acme {
            let acme = endpoint(&world.acme, 0).with_missing_acknowledgement(rule);
            world.endpoints.insert(acme);
        }
        world.receiver.script([Reply::Body(200, String::new())]);
        let id = world.enqueue_one().await;
        world.dispatcher.run_once().await.unwrap();
        assert_eq!(
            world.entry(id).await.state,
            expected,
            "{of_all:?} {of_acme:?}"
        );
    }
}

/// A page in place of the acknowledgement shows that the receiver is down; only its own answer
/// shows that it is up.
#[tokio::test]
async fn pages_in_place_of_acknowledgements_open_the_circuit() {
    for (body, opens) in [
        ("<html>It works!</html>", true),
        (
            r#"{"id":"9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11","status":"RJCT"}"#,
            false,
        ),
    ] {
        let world = World::with(|options| options.breaker(BreakerPolicy::new().failures(1)));
        world.receiver.script([Reply::Body(200, body.to_owned())]);
        world.enqueue_one().await;
        world.dispatcher.run_once().await.unwrap();
        assert_eq!(world.paused().await.is_empty(), !opens, "{body}");
    }
}

#[tokio::test]
async fn keys_change_between_deliveries() {
    let world = World::new();
    world.receiver.script([Reply::Status(500)]);
    world.enqueue_one().await;
    world.dispatcher.run_once().await.unwrap();
    let opener = world.change_keys();
    world.clock.advance(Duration::from_secs(10));
    world.dispatcher.run_once().await.unwrap();
    let [first, second] = world.receiver.all().try_into().unwrap();
    let open = |opener: &bankrail_secured_payload::Opener, body: &[u8]| {
        opener
            .open(&SecuredPayload::from_json(body).unwrap().secured_payload)
            .is_ok()
    };
    assert!(open(&world.opener, &first.body) && !open(&opener, &first.body));
    assert!(open(&opener, &second.body) && !open(&world.opener, &second.body));
}
