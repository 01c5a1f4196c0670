//! Circuits that the workers over one outbox share.

use super::operators::intervention;
use super::{all, at, delivery, endpoint, ids, lease, outgoing, owner};
use crate::outbox::{Circuit, Disposition, EndpointCircuit, LeaseRequest, OutboxStore};

fn open(openings: u32, until: u64) -> Circuit {
    Circuit {
        openings,
        open_until: Some(at(until)),
        rests_until: None,
    }
}

fn rest(until: u64) -> Circuit {
    Circuit {
        rests_until: Some(at(until)),
        ..Circuit::default()
    }
}

async fn circuits(outbox: &impl OutboxStore) -> Vec<EndpointCircuit> {
    outbox.circuits().await.expect("circuits")
}

fn of(to: u8, circuit: Circuit) -> EndpointCircuit {
    EndpointCircuit {
        endpoint: endpoint(to),
        circuit,
    }
}

pub(super) async fn held_endpoints_are_left_alone(outbox: &impl OutboxStore) {
    let mut stored = Vec::new();
    for (to, number) in [(1, 1), (2, 2), (3, 3)] {
        stored.push(
            outbox
                .enqueue(&outgoing(to, number), at(0))
                .await
                .expect("enqueue")
                .id(),
        );
    }
    assert!(circuits(outbox).await.is_empty());
    outbox
        .hold_endpoint(&endpoint(1), rest(30))
        .await
        .expect("hold");
    outbox
        .hold_endpoint(&endpoint(2), open(1, 20))
        .await
        .expect("hold");
    assert_eq!(
        circuits(outbox).await,
        [of(1, rest(30)), of(2, open(1, 20))],
        "circuits are in the order of the names of their endpoints"
    );
    let leased = outbox
        .lease(all(lease(1, 25)), at(19))
        .await
        .expect("lease");
    assert_eq!(
        ids(&leased),
        stored[2..],
        "no message of an endpoint at rest or with an open circuit is leased"
    );
    assert_eq!(
        leased.first().and_then(|entry| entry.circuit),
        None,
        "a message of an endpoint that is well has no circuit"
    );
    assert!(
        outbox
            .record(
                stored[2],
                owner(1),
                &delivery(1),
                Disposition::Delivered,
                None,
                at(19)
            )
            .await
            .expect("record")
    );
    assert_eq!(
        outbox.next_due().await.expect("next due"),
        Some(at(20)),
        "the next due time is that at which the first endpoint is no longer held"
    );
    let leased = outbox
        .lease(all(lease(1, 25)), at(20))
        .await
        .expect("lease");
    assert_eq!(
        ids(&leased),
        stored[1..2],
        "an endpoint is tried exactly at the end of its open circuit"
    );
    assert_eq!(
        leased.first().and_then(|entry| entry.circuit),
        Some(open(1, 20)),
        "the message of a trial has the circuit"
    );
    let found = outbox
        .find(stored[1])
        .await
        .expect("find")
        .expect("the entry is there");
    assert_eq!(
        found.circuit, None,
        "an entry that is found without a lease has no circuit"
    );
    assert_eq!(outbox.next_due().await.expect("next due"), Some(at(25)));
    let leased = outbox
        .lease(all(lease(2, 90)), at(30))
        .await
        .expect("lease");
    assert_eq!(
        ids(&leased),
        stored[..2],
        "messages are leased when the lease of the trial and the rest are over"
    );
}

pub(super) async fn a_trial_is_one_entry_of_all_workers(outbox: &impl OutboxStore) {
    let mut stored = Vec::new();
    for number in 1..=4 {
        stored.push(
            outbox
                .enqueue(&outgoing(1, number), at(number.into()))
                .await
                .expect("enqueue")
                .id(),
        );
    }
    let leased = outbox
        .lease(all(lease(1, 30)).per_endpoint(1), at(9))
        .await
        .expect("lease");
    assert_eq!(ids(&leased), stored[..1]);
    outbox
        .hold_endpoint(&endpoint(1), open(1, 20))
        .await
        .expect("hold");
    assert!(
        outbox
            .lease(all(lease(2, 90)), at(20))
            .await
            .expect("lease")
            .is_empty(),
        "there is no trial while a delivery to the endpoint is under way"
    );
    let trial = outbox
        .lease(all(lease(2, 90)), at(30))
        .await
        .expect("lease");
    assert_eq!(
        ids(&trial),
        stored[..1],
        "one of four messages is the trial"
    );
    assert!(
        outbox
            .lease(all(lease(3, 99)), at(31))
            .await
            .expect("lease")
            .is_empty(),
        "nothing is leased while the trial is under way"
    );
    outbox
        .hold_endpoint(&endpoint(1), open(2, 70))
        .await
        .expect("hold");
    let failed = outbox
        .record(
            stored[0],
            owner(2),
            &delivery(1),
            Disposition::RetryAt(at(99)),
            None,
            at(40),
        )
        .await;
    assert!(failed.expect("record"));
    assert!(
        outbox
            .lease(all(lease(3, 99)), at(69))
            .await
            .expect("lease")
            .is_empty(),
        "nothing is leased while the circuit is open again after a failed trial"
    );
    assert_eq!(
        ids(&outbox
            .lease(all(lease(3, 99)), at(70))
            .await
            .expect("lease")),
        stored[1..2]
    );
    let good = outbox
        .record(
            stored[1],
            owner(3),
            &delivery(2),
            Disposition::Delivered,
            Some(&endpoint(1)),
            at(71),
        )
        .await;
    assert!(good.expect("record"));
    assert!(
        circuits(outbox).await.is_empty(),
        "a trial that succeeded closes the circuit"
    );
    assert_eq!(
        ids(&outbox
            .lease(all(lease(3, 99)), at(72))
            .await
            .expect("lease")),
        stored[2..],
        "the other messages are leased once the circuit is closed"
    );
}

pub(super) async fn circuits_are_joined_and_forgotten(outbox: &impl OutboxStore) {
    let hold = async |circuit| {
        outbox
            .hold_endpoint(&endpoint(1), circuit)
            .await
            .expect("hold")
    };
    hold(open(1, 20)).await;
    hold(open(1, 25)).await;
    assert_eq!(
        circuits(outbox).await,
        [of(1, open(1, 20))],
        "of two circuits with one number of openings the first stays"
    );
    hold(Circuit {
        rests_until: Some(at(50)),
        ..open(3, 30)
    })
    .await;
    hold(open(2, 90)).await;
    hold(rest(40)).await;
    let joined = Circuit {
        rests_until: Some(at(50)),
        ..open(3, 30)
    };
    assert_eq!(
        circuits(outbox).await,
        [of(1, joined)],
        "joined circuits have the highest number of openings and the latest rest"
    );
    hold(joined).await;
    assert!(
        !outbox
            .resume_endpoint(&endpoint(1), at(61))
            .await
            .expect("resume"),
        "an endpoint that was not stopped is not resumed"
    );
    assert!(
        circuits(outbox).await.is_empty(),
        "resuming an endpoint that was not stopped removes its circuit"
    );
    hold(joined).await;
    outbox
        .stop_endpoint(&endpoint(1), &intervention("gone"), at(60))
        .await
        .expect("stop");
    assert!(
        outbox
            .resume_endpoint(&endpoint(1), at(61))
            .await
            .expect("resume")
    );
    assert!(
        circuits(outbox).await.is_empty(),
        "resuming a stopped endpoint removes its circuit"
    );
}

pub(super) async fn the_first_success_closes_the_circuit(outbox: &impl OutboxStore) {
    let mut stored = Vec::new();
    for (to, number) in [(1, 1), (1, 2), (1, 3), (2, 4), (2, 5)] {
        stored.push(
            outbox
                .enqueue(&outgoing(to, number), at(0))
                .await
                .expect("enqueue")
                .id(),
        );
    }
    let hold = async |to, circuit| {
        outbox
            .hold_endpoint(&endpoint(to), circuit)
            .await
            .expect("hold")
    };
    let record = async |entry: usize, number, disposition, answered: Option<u8>, now| {
        let (answered, delivery) = (answered.map(endpoint), delivery(2));
        let recorded = outbox.record(
            stored[entry],
            owner(number),
            &delivery,
            disposition,
            answered.as_ref(),
            at(now),
        );
        recorded.await.expect("record")
    };
    // Two workers lease, as in two processes.
    let leased = outbox
        .lease(LeaseRequest::new(lease(1, 90), 3), at(1))
        .await
        .expect("lease");
    assert_eq!(ids(&leased), [stored[0], stored[3], stored[1]]);
    assert_eq!(
        ids(&outbox.lease(all(lease(2, 90)), at(1)).await.expect("lease")),
        [stored[4], stored[2]]
    );
    let rests = Circuit {
        rests_until: Some(at(50)),
        ..open(3, 80)
    };
    hold(1, rests).await;
    hold(2, open(1, 80)).await;
    assert!(record(3, 1, Disposition::RetryAt(at(20)), None, 10).await);
    assert_eq!(
        circuits(outbox).await,
        [of(1, rests), of(2, open(1, 80))],
        "a delivery that was not answered leaves the circuit as it is"
    );
    assert!(record(4, 2, Disposition::Delivered, Some(2), 11).await);
    assert_eq!(
        circuits(outbox).await,
        [of(1, rests)],
        "a success closes the circuit, even if the delivery was under way when another worker opened it"
    );
    assert_eq!(
        ids(&outbox
            .lease(all(lease(3, 90)), at(20))
            .await
            .expect("lease")),
        stored[3..4],
        "messages to the endpoint are leased again before the end of the pause"
    );
    assert!(record(0, 1, Disposition::DeadLetter, Some(1), 49).await);
    assert_eq!(
        circuits(outbox).await,
        [of(1, rest(50))],
        "closing keeps a rest that lasts"
    );
    assert!(record(1, 1, Disposition::RetryAt(at(99)), Some(1), 50).await);
    assert!(
        circuits(outbox).await.is_empty(),
        "closing at the end of the rest leaves no circuit"
    );
    hold(1, open(1, 80)).await;
    assert!(
        !record(2, 9, Disposition::Delivered, Some(1), 51).await,
        "the lease is another worker's"
    );
    assert!(
        circuits(outbox).await.is_empty(),
        "a success of a worker that has lost its lease closes the circuit"
    );
    assert!(!record(2, 9, Disposition::Delivered, Some(1), 51).await);
    assert!(
        circuits(outbox).await.is_empty(),
        "an endpoint without a circuit gets none"
    );
}

pub(super) async fn an_endpoint_that_is_up_again_gets_one_trial(outbox: &impl OutboxStore) {
    let mut stored = Vec::new();
    for number in 1..=3 {
        let enqueued = outbox.enqueue(&outgoing(1, number), at(0)).await;
        stored.push(enqueued.expect("enqueue").id());
    }
    let record = async |id, by, next, now| {
        let to = endpoint(1);
        let answered = (next == Disposition::Delivered).then_some(&to);
        let recorded = outbox
            .record(id, owner(by), &delivery(1), next, answered, at(now))
            .await;
        assert!(recorded.expect("record"));
    };
    let first = outbox.lease(all(lease(1, 9)), at(0)).await.expect("lease");
    for entry in &first {
        record(entry.id, 1, Disposition::RetryAt(at(500)), 1).await;
    }
    let hold = async |circuit| {
        let held = outbox.hold_endpoint(&endpoint(1), circuit).await;
        held.expect("hold");
    };
    let retry = async |now| {
        let retried = outbox.retry_endpoint(&endpoint(1), now).await;
        retried.expect("retry");
    };
    let leased = async |owner, now| {
        let leased = outbox.lease(all(lease(owner, now + 9)), at(now)).await;
        ids(&leased.expect("lease"))
    };
    hold(open(3, 400)).await;
    retry(at(10)).await;
    assert_eq!(outbox.next_due().await.expect("next due"), Some(at(10)));
    assert_eq!(
        leased(2, 10).await,
        stored[..1],
        "one message is the trial, although all are due"
    );
    retry(at(11)).await;
    assert!(
        leased(3, 11).await.is_empty(),
        "a second worker makes no second trial beside the first"
    );
    hold(open(4, 600)).await;
    record(stored[0], 2, Disposition::RetryAt(at(700)), 12).await;
    assert_eq!(
        circuits(outbox).await,
        [of(1, open(4, 600))],
        "a trial that fails opens the circuit as often as before and once more"
    );
    hold(rest(50)).await;
    retry(at(20)).await;
    assert!(leased(4, 49).await.is_empty(), "a rest is kept");
    assert_eq!(leased(4, 50).await, stored[1..2]);
    record(stored[1], 4, Disposition::Delivered, 51).await;
    let stop = intervention("gone");
    let stopped = outbox.stop_endpoint(&endpoint(1), &stop, at(52)).await;
    stopped.expect("stop");
    retry(at(53)).await;
    assert!(leased(5, 54).await.is_empty(), "a stop is kept");
    assert!(
        circuits(outbox).await.is_empty(),
        "an endpoint without a circuit gets none"
    );
}
