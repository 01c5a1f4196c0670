//! The operations of an operator on a dispatcher.

use super::world::{Reply, World};
use bankrail_mailbox::{
    DropOutcome, Intervention, OutboxOperator as _, OutboxQuery, OutboxState, Schedule,
};
use std::sync::Arc;
use std::time::Duration;

fn intervention() -> Intervention {
    Intervention {
        by: "on call".parse().unwrap(),
        reason: "receiver moves".parse().unwrap(),
    }
}

#[tokio::test]
async fn a_stopped_endpoint_gets_nothing_until_it_is_resumed() {
    let world = World::new();
    world
        .dispatcher
        .stop(&world.acme, &intervention())
        .await
        .unwrap();
    let id = world.enqueue_one().await;
    assert_eq!(world.dispatcher.run_once().await.unwrap(), 0);
    let [stopped] = world
        .outbox
        .stopped_endpoints()
        .await
        .unwrap()
        .try_into()
        .unwrap();
    assert_eq!(
        (stopped.endpoint, stopped.intervention),
        (world.acme.clone(), intervention())
    );
    let [backlog] = world
        .outbox
        .backlogs(None, 10)
        .await
        .unwrap()
        .try_into()
        .unwrap();
    assert_eq!(
        (backlog.pending, backlog.oldest_due),
        (1, Some(stopped.since))
    );
    assert!(world.dispatcher.resume(&world.acme).await.unwrap());
    assert_eq!(world.dispatcher.run_once().await.unwrap(), 1);
    assert_eq!(world.entry(id).await.state, OutboxState::Delivered);
}

#[tokio::test]
async fn what_waits_for_a_receiver_that_is_back_is_sent_now() {
    let world = World::with(|options| options.per_endpoint(1));
    world.receiver.always(Reply::Status(500));
    let mut ids = Vec::new();
    for _ in 0..7 {
        ids.push(world.enqueue_one().await);
    }
    while world.dispatcher.run_once().await.unwrap() > 0 {}
    assert_eq!(world.receiver.count(), 5, "the circuit is open");
    world.receiver.always(Reply::Good);
    assert_eq!(world.dispatcher.run_once().await.unwrap(), 0);
    assert!(
        !world.dispatcher.resume(&world.acme).await.unwrap(),
        "it was not stopped"
    );
    assert!(world.paused().await.is_empty());
    for _ in 0..7 {
        assert_eq!(world.dispatcher.run_once().await.unwrap(), 1);
    }
    assert_eq!(world.receiver.count(), 12);
    for (id, deliveries) in ids.into_iter().zip([2, 2, 2, 2, 2, 1, 1]) {
        assert_eq!(world.entry(id).await.state, OutboxState::Delivered);
        assert_eq!(
            world.deliveries(id).await.len(),
            deliveries,
            "each is delivered once after its failures"
        );
    }
}

#[tokio::test]
async fn dead_letters_are_listed_resent_and_dropped() {
    let world = World::with(|options| options.schedule(Schedule::new([Duration::ZERO], 0)));
    world.receiver.always(Reply::Status(400));
    let ids = [
        world.enqueue_one().await,
        world.enqueue_one().await,
        world.enqueue_one().await,
    ];
    world.dispatcher.run_once().await.unwrap();
    let dead = OutboxQuery::new()
        .state(OutboxState::DeadLetter)
        .endpoint(world.acme.clone());
    let listed = world.outbox.list(&dead).await.unwrap();
    assert_eq!(listed.iter().map(|entry| entry.id).collect::<Vec<_>>(), ids);
    assert!(!format!("{listed:?}").contains("body"), "no payload");
    assert_eq!(
        world
            .dispatcher
            .drop_entry(ids[1], &intervention())
            .await
            .unwrap(),
        DropOutcome::Dropped
    );
    world.receiver.always(Reply::Good);
    assert_eq!(world.dispatcher.resend_all(&world.acme).await.unwrap(), 2);
    assert_eq!(world.dispatcher.run_once().await.unwrap(), 2);
    let counts = world.counts().await;
    assert_eq!(
        (counts.delivered, counts.dead_letters, counts.dropped),
        (2, 0, 1)
    );
    assert_eq!(
        (world.deliveries(ids[1]).await.len(), world.receiver.count()),
        (1, 5)
    );
}

#[tokio::test]
async fn a_message_under_way_is_not_dropped() {
    let world = Arc::new(World::new());
    let permits = world.receiver.gate.available_permits();
    world.receiver.gate.forget_permits(permits);
    let id = world.enqueue_one().await;
    let running = tokio::spawn({
        let world = Arc::clone(&world);
        async move { world.dispatcher.run_once().await.unwrap() }
    });
    while world.receiver.count() == 0 {
        tokio::task::yield_now().await;
    }
    let outcome = world
        .dispatcher
        .drop_entry(id, &intervention())
        .await
        .unwrap();
    assert!(matches!(outcome, DropOutcome::Leased { .. }), "{outcome:?}");
    world.receiver.gate.add_permits(1);
    assert_eq!(running.await.unwrap(), 1);
    assert_eq!(world.entry(id).await.state, OutboxState::Delivered);
    assert_eq!(
        world
            .dispatcher
            .drop_entry(id, &intervention())
            .await
            .unwrap(),
        DropOutcome::NotOpen
    );
}
