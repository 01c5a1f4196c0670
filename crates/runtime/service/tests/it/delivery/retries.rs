//! Failed deliveries, the schedule, `Retry-After` and dead letters.

use super::world::{Reply, World, sealed_by};
use bankrail_mailbox::{
    DEFAULT_DELAYS, DeliveryNote, EntryId, Intervention, OutboxOperator as _, OutboxQuery,
    OutboxState,
};
use bankrail_service::delivery::{
    BreakerPolicy, CpuPool, SealFuture, SealPayload, TransportErrorKind,
};
use bankrail_values::Clock as _;
use std::time::Duration;

/// Moves the clock to the time when an entry is due, and returns the time in between.
async fn move_to_due(world: &World, id: EntryId) -> Duration {
    let entry = world.entry(id).await;
    let wait = entry.due.saturating_since(world.clock.now());
    world.clock.set(entry.due);
    wait
}

#[tokio::test]
async fn ten_deliveries_on_the_schedule_then_a_dead_letter_that_can_be_resent() {
    let world = World::with(|options| options.breaker(BreakerPolicy::new().failures(u32::MAX)));
    world.receiver.always(Reply::Status(500));
    let id = world.enqueue_one().await;
    for (made, delay) in DEFAULT_DELAYS.iter().enumerate() {
        let wait = move_to_due(&world, id).await;
        assert!(
            wait >= delay.mul_f64(0.8) && wait <= delay.mul_f64(1.2),
            "{made}: {wait:?} for {delay:?}"
        );
        assert_eq!(world.entry(id).await.state, OutboxState::Pending);
        assert_eq!(world.dispatcher.run_once().await.unwrap(), 1, "{made}");
        assert_eq!(
            world.dispatcher.run_once().await.unwrap(),
            0,
            "not before its time"
        );
    }
    let dead = world
        .outbox
        .list(&OutboxQuery::new().state(OutboxState::DeadLetter))
        .await
        .unwrap();
    assert_eq!(dead.iter().map(|entry| entry.id).collect::<Vec<_>>(), [id]);
    let deliveries = world.deliveries(id).await;
    assert_eq!(deliveries.len(), DEFAULT_DELAYS.len());
    assert!(
        deliveries
            .iter()
            .all(|one| (one.status, one.note) == (Some(500), Some(DeliveryNote::Refused)))
    );

    world.receiver.always(Reply::Good);
    assert!(world.dispatcher.resend(id).await.unwrap());
    world.dispatcher.run_once().await.unwrap();
    assert_eq!(world.entry(id).await.state, OutboxState::Delivered);
    let ids: Vec<_> = world
        .receiver
        .all()
        .iter()
        .map(|request| request.headers["x-message-id"].clone())
        .collect();
    assert_eq!(ids.len(), 11);
    assert!(
        ids.iter().all(|one| one == ids[0]),
        "one message id in all deliveries"
    );
    let bodies: std::collections::HashSet<_> = world
        .receiver
        .all()
        .into_iter()
        .map(|request| request.body)
        .collect();
    assert_eq!(bodies.len(), 11, "sealed anew each time");
}

#[tokio::test]
async fn every_failure_is_recorded_as_what_it_was() {
    for (reply, status, note) in [
        (Reply::Status(404), Some(404), DeliveryNote::Refused),
        (Reply::Status(302), Some(302), DeliveryNote::Redirected),
        (Reply::Status(100), Some(100), DeliveryNote::Refused),
        (
            Reply::Fails(TransportErrorKind::Connect),
            None,
            DeliveryNote::NoConnection,
        ),
        (
            Reply::Fails(TransportErrorKind::Tls),
            None,
            DeliveryNote::Tls,
        ),
        (
            Reply::Fails(TransportErrorKind::Timeout),
            None,
            DeliveryNote::TimedOut,
        ),
        (
            Reply::Fails(TransportErrorKind::Broken),
            None,
            DeliveryNote::Broken,
        ),
        (Reply::Panics, None, DeliveryNote::Other),
    ] {
        let world = World::new();
        world.receiver.script([reply.clone()]);
        let id = world.enqueue_one().await;
        world.dispatcher.run_once().await.unwrap();
        let deliveries = world.deliveries(id).await;
        assert_eq!(deliveries.len(), 1);
        assert_eq!(
            (deliveries[0].status, deliveries[0].note),
            (status, Some(note)),
            "{reply:?}"
        );
        assert_eq!(deliveries[0].started_at, world.clock.now());
        assert_eq!(world.entry(id).await.state, OutboxState::Pending);
    }
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_never_answers_is_cut_off() {
    let world = World::new();
    world.receiver.script([Reply::Never]);
    let id = world.enqueue_one().await;
    let begun = tokio::time::Instant::now();
    world.dispatcher.run_once().await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 15);
    assert_eq!(
        world.deliveries(id).await[0].note,
        Some(DeliveryNote::TimedOut)
    );
}

/// A sealer with a remote key that never answers.
#[derive(Debug)]
struct Hangs;

impl SealPayload for Hangs {
    fn seal<'a>(&'a self, _json: &'a [u8], _pool: &'a CpuPool) -> SealFuture<'a> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_sealer_that_never_answers_is_cut_off_too() {
    let world = World::new();
    world
        .endpoints
        .insert(sealed_by(&world.acme, std::sync::Arc::new(Hangs)));
    let id = world.enqueue_one().await;
    world.dispatcher.run_once().await.unwrap();
    assert_eq!(
        world.deliveries(id).await[0].note,
        Some(DeliveryNote::NotSealed)
    );
    assert_eq!(
        (world.entry(id).await.state, world.receiver.count()),
        (OutboxState::Pending, 0)
    );
}

#[tokio::test]
async fn retry_after_is_honoured_up_to_a_day() {
    for (asked, least, most) in [
        ("3600", 3600, 3600),
        ("0", 4, 6),
        ("99999999999999", 86_400, 86_400),
        ("Thu, 29 Jul 2021 02:00:00 GMT", 3600, 3600),
        ("Thu, 29 Jul 2021 00:00:00 GMT", 4, 6),
        ("later", 4, 6),
    ] {
        let world = World::new();
        world
            .receiver
            .script([Reply::Asking(503, asked.to_owned())]);
        let id = world.enqueue_one().await;
        world.dispatcher.run_once().await.unwrap();
        let wait = move_to_due(&world, id).await;
        assert!(
            (Duration::from_secs(least)..=Duration::from_secs(most)).contains(&wait),
            "{asked}: {wait:?}"
        );
    }
}

#[tokio::test]
async fn a_retry_after_pauses_all_deliveries_to_the_endpoint() {
    for (status, rests) in [(429, true), (503, true), (500, false)] {
        let world = World::with(|options| options.per_endpoint(2));
        world.receiver.script_for(
            &world.acme,
            [Reply::Asking(status, "3600".to_owned()), Reply::Good],
        );
        let ids = [
            world.enqueue_one().await,
            world.enqueue_one().await,
            world.enqueue_one().await,
        ];
        let other = world.enqueue_to(&world.beta.clone()).await;
        assert_eq!(world.dispatcher.run_once().await.unwrap(), 3);
        assert_eq!(world.entry(other).await.state, OutboxState::Delivered);
        // A running delivery that succeeds does not end the rest.
        assert_eq!(
            world.dispatcher.run_once().await.unwrap(),
            usize::from(!rests),
            "{status}"
        );
        let left_alone = world.paused().await;
        assert_eq!(
            left_alone,
            if rests {
                vec![world.acme.clone()]
            } else {
                Vec::new()
            }
        );
        world.clock.advance(Duration::from_secs(3600));
        while world.dispatcher.run_once().await.unwrap() > 0 {}
        for id in ids {
            assert_eq!(world.entry(id).await.state, OutboxState::Delivered);
        }
    }
    let world = World::new();
    world
        .receiver
        .script([Reply::Asking(429, "3600".to_owned())]);
    let id = world.enqueue_one().await;
    world.dispatcher.run_once().await.unwrap();
    world.dispatcher.resume(&world.acme).await.unwrap();
    assert!(world.paused().await.is_empty(), "unless it is resumed");
    assert_eq!(world.entry(id).await.state, OutboxState::Pending);
}

#[tokio::test]
async fn a_receiver_that_is_gone_gets_nothing_until_it_is_resumed() {
    let world = World::new();
    world.receiver.script([Reply::Status(410)]);
    let first = world.enqueue_one().await;
    world.dispatcher.run_once().await.unwrap();
    assert_eq!(
        world.deliveries(first).await[0].note,
        Some(DeliveryNote::Gone)
    );
    let stopped = world.outbox.stopped_endpoints().await.unwrap();
    assert_eq!((stopped.len(), &stopped[0].endpoint), (1, &world.acme));
    let Intervention { by, reason } = &stopped[0].intervention;
    assert_eq!(
        (by.as_str(), reason.as_str()),
        ("dispatcher", "the endpoint answered 410 Gone")
    );
    // Messages to it are still enqueued; messages to others are delivered.
    let second = world.enqueue_one().await;
    let other = world.enqueue_to(&world.beta.clone()).await;
    world.clock.advance(Duration::from_secs(1_000_000));
    assert_eq!(world.dispatcher.run_once().await.unwrap(), 1);
    assert_eq!(world.entry(other).await.state, OutboxState::Delivered);
    assert!(world.dispatcher.resume(&world.acme).await.unwrap());
    assert!(!world.dispatcher.resume(&world.acme).await.unwrap());
    assert_eq!(world.dispatcher.run_once().await.unwrap(), 2);
    for id in [first, second] {
        assert_eq!(world.entry(id).await.state, OutboxState::Delivered);
    }
}

#[tokio::test]
async fn a_message_to_a_removed_endpoint_is_kept() {
    let world = World::new();
    let id = world.enqueue_one().await;
    assert!(world.endpoints.remove(&world.acme));
    world.dispatcher.run_once().await.unwrap();
    let entry = world.entry(id).await;
    assert_eq!(
        (entry.state, entry.deliveries, world.receiver.count()),
        (OutboxState::Pending, 0, 0)
    );
    assert_eq!(
        entry.due.saturating_since(world.clock.now()),
        Duration::from_secs(60)
    );
}

/// Every message ends as delivered or as a dead letter, however the receiver behaves, and every
/// delivered message was received.
#[tokio::test]
async fn nothing_is_lost_to_a_receiver_that_fails_at_random() {
    let world = World::new();
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let mut ids = Vec::new();
    for turn in 0..30 {
        let endpoint = if turn % 3 == 0 {
            world.beta.clone()
        } else {
            world.acme.clone()
        };
        ids.push(world.enqueue_to(&endpoint).await);
    }
    for _ in 0..2000 {
        let replies = [
            Reply::Good,
            Reply::Good,
            Reply::Status(500),
            Reply::Asking(429, "30".to_owned()),
            Reply::Fails(TransportErrorKind::Timeout),
            Reply::Fails(TransportErrorKind::Broken),
            Reply::Panics,
            Reply::Status(410),
            Reply::Body(200, "ok".to_owned()),
        ];
        world
            .receiver
            .script((0..8).map(|_| replies[random(9) as usize].clone()));
        world.dispatcher.run_once().await.unwrap();
        for stopped in world.outbox.stopped_endpoints().await.unwrap() {
            world.dispatcher.resume(&stopped.endpoint).await.unwrap();
        }
        world.clock.advance(Duration::from_secs(random(4000)));
        if world.pending().await == 0 {
            break;
        }
    }
    let counts = world.counts().await;
    assert_eq!(
        (counts.pending, counts.delivered + counts.dead_letters),
        (0, 30)
    );
    assert!(counts.delivered > 0);
    let received: Vec<_> = world
        .receiver
        .all()
        .iter()
        .map(|request| request.headers["x-message-id"].clone())
        .collect();
    for id in ids {
        let entry = world.entry(id).await;
        let message_id = entry.message.message_id.to_string();
        let times = received
            .iter()
            .filter(|one| *one == message_id.as_str())
            .count();
        assert_eq!(times, world.deliveries(id).await.len());
        assert!(entry.state != OutboxState::Delivered || times > 0);
    }
}

/// Messages of a time when the clock was ahead are due now: one that was enqueued, and one whose
/// delivery failed with a `Retry-After`.
#[tokio::test]
async fn messages_of_a_clock_that_was_ahead_are_delivered_now() {
    for days in [2, 30, 365] {
        let world = World::new();
        let start = world.clock.now();
        world.clock.advance(Duration::from_secs(days * 86_400));
        world
            .receiver
            .script([Reply::Asking(503, "3600".to_owned())]);
        let failed = world.enqueue_one().await;
        assert_eq!(world.dispatcher.run_once().await.unwrap(), 1);
        let new = world.enqueue_to(&world.beta).await;
        world.clock.set(start);
        assert_eq!(world.dispatcher.run_once().await.unwrap(), 2, "{days}");
        for id in [failed, new] {
            assert_eq!(world.entry(id).await.state, OutboxState::Delivered);
        }
    }
}

/// A message waits at most as long as the clock was ahead, if a delay of the schedule is that long.
#[tokio::test]
async fn a_clock_that_was_ahead_by_less_than_a_delay_costs_no_more_than_that() {
    let world = World::new();
    let start = world.clock.now();
    world.clock.advance(Duration::from_secs(3_600));
    let id = world.enqueue_one().await;
    world.clock.set(start);
    assert_eq!(world.dispatcher.run_once().await.unwrap(), 0);
    world.clock.advance(Duration::from_secs(3_600));
    assert_eq!(world.dispatcher.run_once().await.unwrap(), 1);
    assert_eq!(world.entry(id).await.state, OutboxState::Delivered);
}

/// A restarted dispatcher delivers messages of a clock that was ahead, and of one that was behind.
#[tokio::test]
async fn a_dispatcher_that_begins_finds_messages_of_a_clock_that_was_ahead() {
    let world = World::new();
    let start = world.clock.now();
    world.clock.advance(Duration::from_secs(30 * 86_400));
    let ahead = world.enqueue_one().await;
    world
        .clock
        .set(start.saturating_sub(Duration::from_secs(30 * 86_400)));
    let behind = world.enqueue_to(&world.beta).await;
    world.clock.set(start);
    let restarted = world.dispatcher_over(world.outbox.clone(), Default::default());
    assert_eq!(restarted.run_once().await.unwrap(), 2);
    for id in [ahead, behind] {
        assert_eq!(world.entry(id).await.state, OutboxState::Delivered);
    }
}
