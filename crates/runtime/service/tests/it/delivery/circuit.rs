//! The circuit of an endpoint that keeps failing, and the limit on one endpoint.

use super::world::{Reply, World};
use bankrail_mailbox::OutboxState;
use bankrail_service::delivery::BreakerPolicy;
use bankrail_values::Clock as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

#[tokio::test]
async fn five_failures_in_a_row_open_the_circuit_and_one_trial_closes_it() {
    let world = World::with(|options| options.per_endpoint(1));
    world.receiver.always(Reply::Status(500));
    for _ in 0..8 {
        world.enqueue_one().await;
    }
    for made in 1..=5 {
        assert_eq!(world.dispatcher.run_once().await.unwrap(), 1);
        assert_eq!(world.receiver.count(), made);
    }
    assert_eq!(world.paused().await, std::slice::from_ref(&world.acme));
    assert_eq!(
        world.dispatcher.run_once().await.unwrap(),
        0,
        "deliveries to it are paused"
    );
    let other = world.beta.clone();
    world.enqueue_to(&other).await;
    world.receiver.script([Reply::Good]);
    assert_eq!(
        world.dispatcher.run_once().await.unwrap(),
        1,
        "others are not"
    );

    world.clock.advance(Duration::from_secs(30));
    world.receiver.always(Reply::Good);
    assert_eq!(world.dispatcher.run_once().await.unwrap(), 1);
    assert!(world.paused().await.is_empty());
    while world.dispatcher.run_once().await.unwrap() > 0 {}
    assert_eq!(world.pending().await, 0);
}

#[tokio::test]
async fn of_several_entries_only_one_is_the_trial_and_no_delivery_is_lost() {
    let world = World::with(|options| {
        options
            .per_endpoint(4)
            .breaker(BreakerPolicy::new().failures(4))
    });
    world.receiver.always(Reply::Status(500));
    let mut ids = Vec::new();
    for _ in 0..8 {
        ids.push(world.enqueue_one().await);
    }
    world.dispatcher.run_once().await.unwrap();
    world.clock.advance(Duration::from_secs(30));
    world.dispatcher.run_once().await.unwrap();
    assert_eq!(world.receiver.count(), 5, "four, then one trial");
    let mut deliveries = 0;
    for id in ids {
        deliveries += world.deliveries(id).await.len();
    }
    assert_eq!(
        deliveries, 5,
        "an entry that was given back was not delivered"
    );
    assert_eq!(world.pending().await, 8);
}

/// Entries that wait for a running trial stay in the outbox, without repeated leases.
#[tokio::test]
async fn entries_that_wait_for_a_trial_are_not_leased() {
    let hour = Duration::from_secs(3600);
    let world = Arc::new(World::with(|options| {
        let breaker = BreakerPolicy::new().failures(1);
        options
            .per_endpoint(2)
            .breaker(breaker)
            .longest_idle(hour)
            .shortest_idle(hour)
    }));
    world
        .receiver
        .script([Reply::Status(500), Reply::Status(500)]);
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(world.enqueue_one().await);
    }
    assert_eq!(world.dispatcher.run_once().await.unwrap(), 2);
    world.clock.advance(Duration::from_secs(30));
    let permits = world.receiver.gate.available_permits();
    world.receiver.gate.forget_permits(permits);
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
    while world.receiver.count() == 2 {
        tokio::task::yield_now().await;
    }
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    let now = world.clock.now();
    for id in &ids {
        assert!(
            world.entry(*id).await.due <= now,
            "an entry that waits for the trial is not postponed"
        );
    }
    assert_eq!(world.paused().await, std::slice::from_ref(&world.acme));
    world.receiver.gate.add_permits(1000);
    while world.pending().await > 0 {
        tokio::task::yield_now().await;
        world.dispatcher.wake();
        world.clock.advance(Duration::from_secs(1));
    }
    stop.send(()).unwrap();
    running.await.unwrap();
}

#[tokio::test]
async fn a_dropped_trial_does_not_block_others() {
    let world = Arc::new(World::with(|options| {
        options.breaker(BreakerPolicy::new().failures(1))
    }));
    world.receiver.script([Reply::Status(500)]);
    let id = world.enqueue_one().await;
    world.dispatcher.run_once().await.unwrap();
    world.clock.advance(Duration::from_secs(30));
    let permits = world.receiver.gate.available_permits();
    world.receiver.gate.forget_permits(permits);
    let running = tokio::spawn({
        let world = Arc::clone(&world);
        async move { world.dispatcher.run(std::future::pending()).await }
    });
    while world.receiver.count() == 1 {
        tokio::task::yield_now().await;
    }
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    world.receiver.gate.add_permits(10);
    world.clock.advance(Duration::from_secs(60));
    assert_eq!(world.dispatcher.run_once().await.unwrap(), 1);
    assert_eq!(world.entry(id).await.state, OutboxState::Delivered);
}

#[tokio::test]
async fn refusals_of_a_message_do_not_count_against_the_endpoint() {
    let world = World::new();
    world.receiver.always(Reply::Status(400));
    for _ in 0..8 {
        world.enqueue_one().await;
    }
    while world.dispatcher.run_once().await.unwrap() > 0 {}
    assert_eq!(world.receiver.count(), 8);
    assert!(world.paused().await.is_empty());
}

#[tokio::test]
async fn deliveries_to_one_endpoint_are_limited() {
    let world = World::with(|options| options.per_endpoint(2));
    for _ in 0..5 {
        world.enqueue_one().await;
    }
    for expected in [2, 2, 1, 0] {
        assert_eq!(world.dispatcher.run_once().await.unwrap(), expected);
    }
    let world = World::with(|options| options.concurrency(3));
    for _ in 0..5 {
        world.enqueue_one().await;
    }
    for expected in [3, 2, 0] {
        assert_eq!(world.dispatcher.run_once().await.unwrap(), expected);
    }
}
