//! Starting, waking and stopping a dispatcher.

use super::faulty::Faulty;
use super::world::{World, fresh_headers};
use bankrail_mailbox::{OutboxCounts, OutboxOperator as _, OutboxState};
use bankrail_service::delivery::DispatcherOptions;
use bankrail_webhook::samples;
use std::sync::Arc;
use tokio::sync::oneshot;

#[tokio::test]
async fn stopping_waits_for_running_deliveries_and_starts_no_more() {
    let world = Arc::new(World::with(|options| options.concurrency(1)));
    // No request is answered before the gate opens.
    let permits = world.receiver.gate.available_permits();
    world.receiver.gate.forget_permits(permits);
    let (first, second) = (world.enqueue_one().await, world.enqueue_one().await);
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn({
        let world = Arc::clone(&world);
        async move {
            world
                .dispatcher
                .run(async move { drop(stopped.await) })
                .await
        }
    });
    while world.receiver.count() == 0 {
        tokio::task::yield_now().await;
    }
    stop.send(()).unwrap();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!running.is_finished(), "one delivery is running");
    world.receiver.gate.add_permits(10);
    running.await.unwrap();
    assert_eq!(world.entry(first).await.state, OutboxState::Delivered);
    assert_eq!(world.entry(second).await.state, OutboxState::Pending);
    assert_eq!(world.receiver.count(), 1);
}

#[tokio::test]
async fn a_loop_that_may_deliver_none_at_once_delivers_one() {
    let world = Arc::new(World::with(|options| {
        options.concurrency(0).per_endpoint(0)
    }));
    let ids = [world.enqueue_one().await, world.enqueue_one().await];
    assert_eq!(world.dispatcher.run_once().await.unwrap(), 1);
    let all = async {
        while world.pending().await > 0 {
            tokio::task::yield_now().await;
        }
    };
    world.dispatcher.run(all).await;
    for id in ids {
        assert_eq!(world.entry(id).await.state, OutboxState::Delivered);
    }
}

#[tokio::test]
async fn enqueueing_wakes_the_loop_and_a_restart_continues() {
    let world = Arc::new(World::with(|options| {
        options.longest_idle(std::time::Duration::from_secs(3600))
    }));
    for _ in 0..2 {
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn({
            let world = Arc::clone(&world);
            async move {
                world
                    .dispatcher
                    .run(async move { drop(stopped.await) })
                    .await
            }
        });
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        let id = world.enqueue_one().await;
        while world.entry(id).await.state != OutboxState::Delivered {
            tokio::task::yield_now().await;
        }
        stop.send(()).unwrap();
        running.await.unwrap();
    }
}

#[tokio::test]
async fn old_delivered_messages_are_forgotten() {
    let day = std::time::Duration::from_secs(86_400);
    let world = Arc::new(World::with(|options| options.retention(day)));
    let id = world.enqueue_one().await;
    world.dispatcher.run_once().await.unwrap();
    for (more, left) in [(day, true), (day / 2, false)] {
        world.clock.advance(more);
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn({
            let world = Arc::clone(&world);
            async move {
                world
                    .dispatcher
                    .run(async move { drop(stopped.await) })
                    .await
            }
        });
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(world.outbox.find(id).await.unwrap().is_some(), left);
        stop.send(()).unwrap();
        running.await.unwrap();
    }
}

#[tokio::test]
async fn a_loop_that_is_dropped_loses_nothing() {
    let world = Arc::new(World::new());
    let permits = world.receiver.gate.available_permits();
    world.receiver.gate.forget_permits(permits);
    let id = world.enqueue_one().await;
    let running = tokio::spawn({
        let world = Arc::clone(&world);
        async move { world.dispatcher.run(std::future::pending()).await }
    });
    while world.receiver.count() == 0 {
        tokio::task::yield_now().await;
    }
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    world.receiver.gate.add_permits(10);
    assert_eq!(
        world.dispatcher.run_once().await.unwrap(),
        0,
        "it is leased"
    );
    world.clock.advance(std::time::Duration::from_secs(60));
    assert_eq!(world.dispatcher.run_once().await.unwrap(), 1);
    assert_eq!(world.entry(id).await.state, OutboxState::Delivered);
}

#[tokio::test]
async fn the_next_delivery_does_not_wait_for_the_record_of_the_last_one() {
    let world = World::new();
    let outbox = Arc::new(Faulty::new());
    outbox
        .records
        .forget_permits(outbox.records.available_permits());
    let options = DispatcherOptions::new()
        .concurrency(1)
        .slow_concurrency(1)
        .per_endpoint(10);
    let dispatcher = world.dispatcher_over(outbox.clone(), options);
    let message = samples::all().remove(0);
    for _ in 0..4 {
        dispatcher
            .enqueue(&world.acme, &message, fresh_headers(message.kind()))
            .await
            .unwrap();
    }
    let counts = async || outbox.counts(None).await.unwrap();
    let all = async {
        // As many deliveries wait for their records as there are places.
        while world.receiver.count() < 2 {
            tokio::task::yield_now().await;
        }
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!((world.receiver.count(), counts().await.delivered), (2, 0));
        for made in 1..=4 {
            outbox.records.add_permits(1);
            while counts().await.delivered < made {
                tokio::task::yield_now().await;
            }
        }
    };
    dispatcher.run(all).await;
    assert_eq!(
        (world.receiver.count(), counts().await),
        (
            4,
            OutboxCounts {
                delivered: 4,
                ..Default::default()
            }
        )
    );
}
