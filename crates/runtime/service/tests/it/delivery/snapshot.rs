//! The snapshot of a dispatcher that an operator sees.

use super::world::{Reply, World};
use bankrail_service::delivery::{BreakerPolicy, CircuitState};
use std::time::Duration;

#[tokio::test]
async fn a_snapshot_shows_outbox_circuits_and_stopped_endpoints() {
    let world = World::with(|options| options.breaker(BreakerPolicy::new().failures(1)));
    let (acme, beta) = (world.acme.clone(), world.beta.clone());
    let empty = world.dispatcher.snapshot().await.unwrap();
    assert_eq!((empty.oldest_pending, empty.running.len()), (None, 0));
    assert!(
        empty
            .endpoints
            .iter()
            .all(|endpoint| endpoint.circuit == CircuitState::Closed { failures: 0 })
    );

    world.receiver.always(Reply::Status(500));
    world.enqueue_to(&acme).await;
    world.dispatcher.run_once().await.unwrap();
    world.receiver.always(Reply::Status(410));
    world.enqueue_to(&beta).await;
    world.dispatcher.run_once().await.unwrap();
    let begun = empty.at;
    world.clock.advance(Duration::from_secs(5));
    let seen = world.dispatcher.snapshot().await.unwrap();
    assert_eq!((seen.outbox.pending, seen.oldest_pending), (2, Some(begun)));
    assert_eq!(seen.at, begun.saturating_add(Duration::from_secs(5)));
    let names: Vec<_> = seen
        .endpoints
        .iter()
        .map(|endpoint| &endpoint.endpoint)
        .collect();
    assert_eq!(names, [&acme, &beta], "by name");
    let until = begun.saturating_add(Duration::from_secs(30));
    assert_eq!(seen.endpoints[0].circuit, CircuitState::Open { until });
    assert_eq!(
        seen.stopped
            .iter()
            .map(|stopped| &stopped.endpoint)
            .collect::<Vec<_>>(),
        [&beta]
    );
}

#[tokio::test]
async fn a_snapshot_shows_the_deliveries_under_way() {
    let world = World::new();
    world.receiver.gate.forget_permits(usize::MAX);
    let id = world.enqueue_one().await;
    let dispatcher = world.dispatcher.clone();
    let delivering = tokio::spawn(async move { dispatcher.run_once().await });
    while world.receiver.count() == 0 {
        tokio::task::yield_now().await;
    }
    let seen = world.dispatcher.snapshot().await.unwrap();
    assert_eq!(
        seen.running
            .iter()
            .map(|running| (running.entry, &running.endpoint))
            .collect::<Vec<_>>(),
        [(id, &world.acme)]
    );
    world.receiver.gate.add_permits(1);
    delivering.await.unwrap().unwrap();
    assert_eq!(world.dispatcher.snapshot().await.unwrap().running, []);
}
