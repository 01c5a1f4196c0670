//! Circuits that the workers over one outbox share.

use super::operators::intervention;
use super::{all, at, delivery, endpoint, ids, lease, outgoing, owner};
use crate::outbox::{Circuit, Disposition, EndpointCircuit, OutboxStore};

fn open(openings: u32, until: u64) -> Circuit {
    Circuit { openings, open_until: Some(at(until)), rests_until: None }
}

fn rest(until: u64) -> Circuit {
    Circuit { rests_until: Some(at(until)), ..Circuit::default() }
}

async fn circuits(outbox: &impl OutboxStore) -> Vec<EndpointCircuit> {
    outbox.circuits().await.expect("circuits")
}

fn of(to: u8, circuit: Circuit) -> EndpointCircuit {
    EndpointCircuit { endpoint: endpoint(to), circuit }
}

pub(super) async fn held_endpoints_are_left_alone(outbox: &impl OutboxStore) {
    let mut stored = Vec::new();
    for (to, number) in [(1, 1), (2, 2), (3, 3)] {
        stored.push(outbox.enqueue(&outgoing(to, number), at(0)).await.expect("enqueue").id());
    }
    assert!(circuits(outbox).await.is_empty());
    outbox.hold_endpoint(&endpoint(1), rest(30)).await.expect("hold");
    outbox.hold_endpoint(&endpoint(2), open(1, 20)).await.expect("hold");
    assert_eq!(circuits(outbox).await, [of(1, rest(30)), of(2, open(1, 20))], "by name");
    let leased = outbox.lease(all(lease(1, 25)), at(19)).await.expect("lease");
    assert_eq!(ids(&leased), stored[2..], "neither at rest nor open");
    assert_eq!(leased.first().and_then(|entry| entry.circuit), None, "and it is well");
    assert!(outbox.record(stored[2], owner(1), &delivery(1), Disposition::Delivered, at(19)).await.expect("record"));
    assert_eq!(outbox.next_due().await.expect("next due"), Some(at(20)), "due when the first may be leased");
    let leased = outbox.lease(all(lease(1, 25)), at(20)).await.expect("lease");
    assert_eq!(ids(&leased), stored[1..2], "exactly at its end");
    assert_eq!(leased.first().and_then(|entry| entry.circuit), Some(open(1, 20)), "its worker knows of the trial");
    let found = outbox.find(stored[1]).await.expect("find").expect("the entry is there");
    assert_eq!(found.circuit, None, "only leased entries have it");
    assert_eq!(outbox.next_due().await.expect("next due"), Some(at(25)));
    let leased = outbox.lease(all(lease(2, 90)), at(30)).await.expect("lease");
    assert_eq!(ids(&leased), stored[..2], "the lease of the trial is over, and so is the rest");
}

pub(super) async fn a_trial_is_one_entry_of_all_workers(outbox: &impl OutboxStore) {
    let mut stored = Vec::new();
    for number in 1..=4 {
        stored.push(outbox.enqueue(&outgoing(1, number), at(number.into())).await.expect("enqueue").id());
    }
    let leased = outbox.lease(all(lease(1, 30)).per_endpoint(1), at(9)).await.expect("lease");
    assert_eq!(ids(&leased), stored[..1]);
    outbox.hold_endpoint(&endpoint(1), open(1, 20)).await.expect("hold");
    assert!(outbox.lease(all(lease(2, 90)), at(20)).await.expect("lease").is_empty(), "one is under way still");
    let trial = outbox.lease(all(lease(2, 90)), at(30)).await.expect("lease");
    assert_eq!(ids(&trial), stored[..1], "one of four");
    assert!(outbox.lease(all(lease(3, 99)), at(31)).await.expect("lease").is_empty(), "while the trial is under way");
    outbox.hold_endpoint(&endpoint(1), open(2, 70)).await.expect("hold");
    let failed = outbox.record(stored[0], owner(2), &delivery(1), Disposition::RetryAt(at(99)), at(40)).await;
    assert!(failed.expect("record"));
    assert!(outbox.lease(all(lease(3, 99)), at(69)).await.expect("lease").is_empty(), "open again");
    assert_eq!(ids(&outbox.lease(all(lease(3, 99)), at(70)).await.expect("lease")), stored[1..2]);
    outbox.close_circuit(&endpoint(1), 2, at(71)).await.expect("close");
    assert!(circuits(outbox).await.is_empty());
    assert_eq!(ids(&outbox.lease(all(lease(3, 99)), at(72)).await.expect("lease")), stored[2..], "closed");
}

pub(super) async fn circuits_are_joined_and_closed(outbox: &impl OutboxStore) {
    let hold = async |circuit| outbox.hold_endpoint(&endpoint(1), circuit).await.expect("hold");
    hold(open(1, 20)).await;
    hold(open(1, 25)).await;
    assert_eq!(circuits(outbox).await, [of(1, open(1, 20))], "the first of one number stays");
    hold(Circuit { rests_until: Some(at(50)), ..open(3, 30) }).await;
    hold(open(2, 90)).await;
    hold(rest(40)).await;
    let joined = Circuit { rests_until: Some(at(50)), ..open(3, 30) };
    assert_eq!(circuits(outbox).await, [of(1, joined)], "the highest number and the latest rest");
    outbox.close_circuit(&endpoint(1), 3, at(49)).await.expect("close");
    assert_eq!(circuits(outbox).await, [of(1, rest(50))], "a rest that lasts stays");
    outbox.close_circuit(&endpoint(1), 0, at(50)).await.expect("close");
    assert!(circuits(outbox).await.is_empty(), "until its end");
    outbox.close_circuit(&endpoint(1), 0, at(50)).await.expect("closing what is closed changes nothing");
    hold(open(1, 30)).await;
    outbox.close_circuit(&endpoint(1), 0, at(20)).await.expect("close");
    assert_eq!(circuits(outbox).await, [of(1, open(1, 30))], "the delivery began before it opened");
    outbox.close_circuit(&endpoint(1), 1, at(30)).await.expect("close");
    assert!(circuits(outbox).await.is_empty(), "its trial closes it");
    hold(joined).await;
    assert!(!outbox.resume_endpoint(&endpoint(1)).await.expect("resume"), "it was not stopped");
    assert!(circuits(outbox).await.is_empty(), "and is resumed from whatever holds it");
    hold(joined).await;
    outbox.stop_endpoint(&endpoint(1), &intervention("gone"), at(60)).await.expect("stop");
    assert!(outbox.resume_endpoint(&endpoint(1)).await.expect("resume"));
    assert!(circuits(outbox).await.is_empty(), "from all at once");
}
