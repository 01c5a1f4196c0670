//! The rules of an outbox as cases, and a comparison with the model.

mod circuits;
mod operators;

pub(super) use self::operators::intervention;
use super::model_outbox::ModelOutbox;
use super::oldest_suite::oldest_in_outbox;
use super::random::Random;
use super::{at, lease, owner};
use crate::key::Fingerprint;
use crate::kind::Kind;
use crate::lease::{EntryId, Lease};
use crate::outbox::{
    Circuit, DeliveryNote, DeliveryRecord, Disposition, EndpointId, Enqueued, LeaseRequest, Outbox,
    OutboxCounts, OutboxEntry, OutboxOperator, OutboxQuery, OutboxState, OutboxStore,
    OutboxSummary, Outgoing,
};
use bankrail_values::{HyphenatedUuid, StoreErrorKind};
use std::collections::HashMap;
use std::time::Duration;

fn endpoint(number: u8) -> EndpointId {
    EndpointId::parse(&format!("endpoint {number}")).expect("a short name")
}

fn outgoing(to: u8, number: u8) -> Outgoing {
    outgoing_with(to, number, b'.')
}

/// Makes a message; other content makes another message with the same id.
fn outgoing_with(to: u8, number: u8, content: u8) -> Outgoing {
    Outgoing {
        endpoint: endpoint(to),
        kind: Kind::from_static("a.kind"),
        message_id: HyphenatedUuid::from_random_bytes([number; 16]),
        fingerprint: Fingerprint::from_bytes([content; 32]),
        attributes: vec![0, 0xff, number].into(),
        body: vec![b'{', number, content, 0xff].into(),
    }
}

fn delivery(number: u64) -> DeliveryRecord {
    let status = if number.is_multiple_of(2) {
        Some(503)
    } else {
        None
    };
    let note = if number.is_multiple_of(3) {
        Some(DeliveryNote::TimedOut)
    } else {
        None
    };
    DeliveryRecord {
        started_at: at(number),
        duration: Duration::from_millis(number),
        status,
        note,
    }
}

fn all(lease: Lease) -> LeaseRequest<'static> {
    LeaseRequest::new(lease, 100)
}

fn ids(entries: &[OutboxEntry]) -> Vec<EntryId> {
    entries.iter().map(|entry| entry.id).collect()
}

/// Runs every case on a fresh, empty outbox made by `make`, then compares with the model on some
/// random runs.
///
/// # Panics
/// If the engine breaks a rule; the panic's text states the rule.
pub async fn outbox_suite<O: OutboxStore>(mut make: impl AsyncFnMut() -> O) {
    enqueued_once(&make().await).await;
    oldest_in_outbox(&make().await).await;
    leases_run_out(&make().await).await;
    all_leases_of_an_owner_are_given_back(&make().await).await;
    what_a_clock_was_ahead_by_is_undone(&make().await).await;
    deliveries_are_recorded(&make().await).await;
    endpoints_have_bounds(&make().await).await;
    only_leases_that_last_count(&make().await).await;
    endpoints_take_turns(&make().await).await;
    the_round_goes_on_after_the_last_one(&make().await).await;
    slow_endpoints_have_a_limit_of_their_own(&make().await).await;
    dead_letters_are_sent_again(&make().await).await;
    delivered_entries_are_resent(&make().await).await;
    delivered_entries_are_forgotten(&make().await).await;
    circuits::held_endpoints_are_left_alone(&make().await).await;
    circuits::a_trial_is_one_entry_of_all_workers(&make().await).await;
    circuits::circuits_are_joined_and_forgotten(&make().await).await;
    circuits::the_first_success_closes_the_circuit(&make().await).await;
    circuits::an_endpoint_that_is_up_again_gets_one_trial(&make().await).await;
    operators::entries_are_listed_without_payload(&make().await).await;
    operators::dropped_entries_are_never_delivered(&make().await).await;
    operators::all_dead_letters_of_an_endpoint_are_resent(&make().await).await;
    operators::what_waits_for_a_resumed_endpoint_is_due_now(&make().await).await;
    operators::backlogs_are_told_by_endpoint(&make().await).await;
    for seed in 0..4 {
        outbox_against_model(&make().await, seed, 300).await;
    }
}

async fn enqueued_once(outbox: &impl OutboxStore) {
    assert_eq!(
        outbox.next_due().await.expect("next due"),
        None,
        "nothing is due in an empty outbox"
    );
    let first = outbox
        .enqueue(&outgoing(1, 1), at(5))
        .await
        .expect("enqueue");
    let Enqueued::New(id) = first else {
        panic!("a first message is new")
    };
    let again = outbox
        .enqueue(&outgoing(1, 1), at(6))
        .await
        .expect("enqueue");
    assert_eq!(
        again,
        Enqueued::AlreadyStored(id),
        "a message id is enqueued once for an endpoint"
    );
    let anew = Outgoing {
        body: b"generated again".to_vec().into(),
        ..outgoing(1, 1)
    };
    let again = outbox.enqueue(&anew, at(6)).await.expect("enqueue");
    assert_eq!(
        again,
        Enqueued::AlreadyStored(id),
        "the fingerprint says whether it is the same"
    );
    let other = Outgoing {
        attributes: Vec::new().into(),
        ..outgoing(1, 1)
    };
    let conflict = outbox
        .enqueue(&other, at(6))
        .await
        .expect_err("other attributes under its id");
    assert_eq!(
        conflict.kind(),
        StoreErrorKind::Conflict,
        "attributes are part of a message"
    );
    let conflict = outbox
        .enqueue(&outgoing_with(1, 1, b'!'), at(6))
        .await
        .expect_err("another message under its id");
    assert_eq!(
        conflict.kind(),
        StoreErrorKind::Conflict,
        "another message is not taken for the first, and not dropped"
    );
    let other = outbox
        .enqueue(&outgoing(2, 1), at(7))
        .await
        .expect("enqueue");
    assert!(
        matches!(other, Enqueued::New(other) if other > id),
        "the same message id is new for another endpoint, under a higher number"
    );
    assert_eq!(
        outbox.next_due().await.expect("next due"),
        Some(at(5)),
        "an enqueued message is due at once"
    );
    let entry = outbox
        .find(id)
        .await
        .expect("find")
        .expect("the entry is there");
    let want = OutboxEntry {
        id,
        message: outgoing(1, 1),
        state: OutboxState::Pending,
        enqueued_at: at(5),
        due: at(5),
        deliveries: 0,
        circuit: None,
    };
    assert_eq!(entry, want, "an entry is kept as it was enqueued");
}

async fn leases_run_out(outbox: &impl OutboxStore) {
    let id = outbox
        .enqueue(&outgoing(1, 1), at(0))
        .await
        .expect("enqueue")
        .id();
    assert_eq!(
        ids(&outbox.lease(all(lease(1, 10)), at(0)).await.expect("lease")),
        [id]
    );
    assert_eq!(
        outbox.next_due().await.expect("next due"),
        Some(at(10)),
        "a leased message is due at the end of its lease"
    );
    assert!(
        outbox
            .lease(all(lease(2, 20)), at(9))
            .await
            .expect("lease")
            .is_empty(),
        "a leased message is not leased again before the end of its lease"
    );
    assert_eq!(
        ids(&outbox
            .lease(all(lease(2, 20)), at(10))
            .await
            .expect("lease")),
        [id],
        "a message is free again exactly at the end of its lease"
    );
    let late = outbox
        .record(
            id,
            owner(1),
            &delivery(1),
            Disposition::Delivered,
            None,
            at(13),
        )
        .await
        .expect("record");
    assert!(!late, "an owner whose lease was taken over records nothing");
    assert!(
        !outbox.release(id, owner(1), at(13)).await.expect("release"),
        "an owner whose lease was taken over cannot release the message"
    );
    assert!(outbox.deliveries(id).await.expect("deliveries").is_empty());
    assert!(
        outbox.release(id, owner(2), at(30)).await.expect("release"),
        "the owner releases the message"
    );
    assert!(
        outbox
            .lease(all(lease(1, 99)), at(29))
            .await
            .expect("lease")
            .is_empty(),
        "a released message is not leased before the time that its owner named"
    );
    assert_eq!(
        ids(&outbox
            .lease(all(lease(1, 40)), at(30))
            .await
            .expect("lease")),
        [id],
        "a released message is leased at the time that its owner named"
    );
    let own = outbox
        .record(
            id,
            owner(1),
            &delivery(1),
            Disposition::Delivered,
            None,
            at(50),
        )
        .await
        .expect("record");
    assert!(
        own,
        "an owner whose lease is over may record a delivery if nobody took the message over"
    );
}

/// Checks the correction of entries that were enqueued, leased and released, and of circuits that
/// were held, while the clock was ahead.
async fn what_a_clock_was_ahead_by_is_undone(outbox: &impl OutboxStore) {
    let enqueue = async |to, number, now| {
        let stored = outbox.enqueue(&outgoing(to, number), at(now)).await;
        stored.expect("enqueue").id()
    };
    let lease_of = async |number, until, now| {
        let leased = outbox.lease(all(lease(number, until)), at(now)).await;
        let mut leased = ids(&leased.expect("lease"));
        leased.sort_unstable();
        leased
    };
    for ahead in [3_601, 1_000_000, 31_536_000] {
        let number = u8::try_from(ahead % 251).expect("a short number");
        let unfinished = enqueue(1, number, ahead).await;
        let released = enqueue(2, number, ahead).await;
        let both = lease_of(1, ahead + 60, ahead).await;
        assert_eq!(both, [unfinished, released], "both are due");
        let given_back = outbox.release(released, owner(1), at(ahead + 30)).await;
        assert!(given_back.expect("release"));
        let waiting = enqueue(1, number.wrapping_add(1), ahead).await;
        let held = enqueue(3, number, 0).await;
        let rests_until = Some(at(ahead));
        let rest = Circuit {
            rests_until,
            ..Circuit::default()
        };
        // The second one has no messages.
        for to in [endpoint(3), endpoint(9)] {
            outbox.hold_endpoint(&to, rest).await.expect("hold");
        }
        let soon = enqueue(4, number, 0).await;
        assert_eq!(lease_of(2, 10, 0).await, [soon], "the others are ahead");
        let later = outbox.release(soon, owner(2), at(3_600)).await;
        assert!(later.expect("release"));
        assert_eq!(
            outbox.recall(at(3_600), at(0)).await.expect("recall"),
            3,
            "entries that wait beyond the latest instant, and no others"
        );
        assert_eq!(
            lease_of(3, 10, 0).await,
            [unfinished, released, waiting, held],
            "what waited for a clock that was ahead is due now"
        );
        assert!(outbox.circuits().await.expect("circuits").is_empty());
        assert_eq!(outbox.recall(at(3_600), at(0)).await.expect("recall"), 0);
        assert_eq!(lease_of(4, 4_000, 3_600).await.last(), Some(&soon));
        for id in [unfinished, released, waiting, held, soon] {
            let done = Disposition::Delivered;
            let recorded = outbox
                .record(id, owner(4), &delivery(1), done, None, at(3_601))
                .await;
            assert!(recorded.expect("record"));
        }
    }
}

async fn all_leases_of_an_owner_are_given_back(outbox: &impl OutboxStore) {
    let mut stored = Vec::new();
    for number in 1..=4 {
        stored.push(
            outbox
                .enqueue(&outgoing(number, number), at(0))
                .await
                .expect("enqueue")
                .id(),
        );
    }
    for (number, leased) in [(1, 2), (2, 1), (3, 1)] {
        let entries = outbox
            .lease(LeaseRequest::new(lease(number, 99), leased), at(0))
            .await
            .expect("lease");
        assert_eq!(
            entries.len(),
            usize::try_from(leased).expect("a small number"),
            "three owners"
        );
    }
    let lost = [owner(1), owner(3), owner(4)];
    assert_eq!(
        outbox.release_all(&[]).await.expect("release"),
        0,
        "no owner has anything to give back"
    );
    assert_eq!(
        outbox.release_all(&lost).await.expect("release"),
        3,
        "two owners give back three entries"
    );
    assert_eq!(
        outbox.release_all(&lost).await.expect("release"),
        0,
        "they were given back before"
    );
    let again = ids(&outbox.lease(all(lease(5, 99)), at(1)).await.expect("lease"));
    assert_eq!(
        again,
        [stored[0], stored[1], stored[3]],
        "they are free, and due as before"
    );
    let recorded = outbox
        .record(
            stored[2],
            owner(2),
            &delivery(1),
            Disposition::Delivered,
            None,
            at(2),
        )
        .await;
    assert!(
        recorded.expect("record"),
        "what is another owner's stays so"
    );
}

async fn deliveries_are_recorded(outbox: &impl OutboxStore) {
    let id = outbox
        .enqueue(&outgoing(1, 1), at(0))
        .await
        .expect("enqueue")
        .id();
    let mut now = 0;
    for number in 0..3 {
        assert_eq!(
            ids(&outbox
                .lease(all(lease(1, now + 5)), at(now))
                .await
                .expect("lease")),
            [id]
        );
        now += 10;
        assert!(
            outbox
                .record(
                    id,
                    owner(1),
                    &delivery(number),
                    Disposition::RetryAt(at(now)),
                    None,
                    at(now)
                )
                .await
                .expect("record")
        );
        let entry = outbox
            .find(id)
            .await
            .expect("find")
            .expect("the entry is there");
        assert_eq!(
            (u64::from(entry.deliveries), entry.due),
            (number + 1, at(now)),
            "deliveries are counted"
        );
    }
    outbox
        .lease(all(lease(1, now + 5)), at(now))
        .await
        .expect("lease");
    assert!(
        outbox
            .record(
                id,
                owner(1),
                &delivery(3),
                Disposition::Delivered,
                None,
                at(now)
            )
            .await
            .expect("record")
    );
    let again = outbox
        .record(
            id,
            owner(1),
            &delivery(4),
            Disposition::Delivered,
            None,
            at(now),
        )
        .await
        .expect("record");
    assert!(!again, "a delivered entry takes no more deliveries");
    assert!(
        outbox
            .lease(all(lease(1, 999)), at(999))
            .await
            .expect("lease")
            .is_empty(),
        "a delivered message is not leased"
    );
    let deliveries = outbox.deliveries(id).await.expect("deliveries");
    assert_eq!(
        deliveries,
        [delivery(0), delivery(1), delivery(2), delivery(3)],
        "every delivery is kept, in order"
    );
    assert_eq!(outbox.next_due().await.expect("next due"), None);
}

async fn endpoints_have_bounds(outbox: &impl OutboxStore) {
    let mut stored = Vec::new();
    for (to, number, now) in [(1, 1, 3), (1, 2, 2), (1, 3, 1), (2, 4, 4), (3, 5, 5)] {
        stored.push(
            outbox
                .enqueue(&outgoing(to, number), at(now))
                .await
                .expect("enqueue")
                .id(),
        );
    }
    let rest = Circuit {
        rests_until: Some(at(20)),
        ..Circuit::default()
    };
    outbox
        .hold_endpoint(&endpoint(3), rest)
        .await
        .expect("hold");
    let request = |number| all(lease(number, 50)).per_endpoint(2);
    let leased = outbox.lease(request(1), at(10)).await.expect("lease");
    assert_eq!(
        ids(&leased),
        [stored[2], stored[3], stored[1]],
        "endpoints take turns by due time, at most two messages of each, and none of one at rest"
    );
    let more = outbox.lease(request(2), at(10)).await.expect("lease");
    assert!(
        more.is_empty(),
        "leases of all workers count towards the bound of an endpoint"
    );
    outbox
        .stop_endpoint(&endpoint(1), &intervention("gone"), at(11))
        .await
        .expect("stop");
    outbox
        .stop_endpoint(&endpoint(1), &intervention("again"), at(12))
        .await
        .expect("stop");
    let stopped = outbox.stopped_endpoints().await.expect("stopped");
    let stopped: Vec<_> = stopped
        .into_iter()
        .map(|s| (s.endpoint, s.since, s.intervention))
        .collect();
    assert_eq!(
        stopped,
        [(endpoint(1), at(11), intervention("gone"))],
        "a second stop of an endpoint changes neither its time nor its reason"
    );
    assert!(
        outbox
            .record(
                stored[2],
                owner(1),
                &delivery(1),
                Disposition::RetryAt(at(12)),
                None,
                at(12)
            )
            .await
            .expect("record")
    );
    outbox
        .enqueue(&outgoing(1, 6), at(12))
        .await
        .expect("a stopped endpoint's messages are kept");
    assert_eq!(
        outbox.next_due().await.expect("next due"),
        Some(at(20)),
        "a stopped endpoint is never due"
    );
    let leased = outbox
        .lease(LeaseRequest::new(lease(1, 50), 1).per_endpoint(2), at(60))
        .await
        .expect("lease");
    assert_eq!(
        ids(&leased),
        [stored[3]],
        "a lease takes as many messages as its limit says, and none of a stopped endpoint"
    );
    assert!(
        outbox
            .resume_endpoint(&endpoint(1), at(60))
            .await
            .expect("resume")
    );
    assert!(
        !outbox
            .resume_endpoint(&endpoint(1), at(60))
            .await
            .expect("resume"),
        "an endpoint that is not stopped is not resumed again"
    );
    let leased = outbox
        .lease(all(lease(3, 90)), at(60))
        .await
        .expect("lease");
    assert_eq!(
        leased
            .iter()
            .filter(|entry| entry.message.endpoint == endpoint(1))
            .count(),
        4,
        "all messages of a resumed endpoint are leased again"
    );
    let counts = outbox.counts(Some(&endpoint(1))).await.expect("counts");
    assert_eq!(
        counts,
        OutboxCounts {
            pending: 4,
            ..OutboxCounts::default()
        }
    );
}

async fn only_leases_that_last_count(outbox: &impl OutboxStore) {
    let mut stored = Vec::new();
    for number in 1..=4_u8 {
        stored.push(
            outbox
                .enqueue(&outgoing(1, number), at(number.into()))
                .await
                .expect("enqueue")
                .id(),
        );
    }
    let request = |number, until| all(lease(number, until)).per_endpoint(2);
    let leased = outbox
        .lease(LeaseRequest::new(lease(1, 40), 1).per_endpoint(2), at(10))
        .await
        .expect("lease");
    assert_eq!(ids(&leased), [stored[0]]);
    let leased = outbox.lease(request(1, 20), at(10)).await.expect("lease");
    assert_eq!(ids(&leased), [stored[1]]);
    // The second lease has ended, even if its delivery has not, so one entry may be leased: the one
    // that is due first.
    let leased = outbox.lease(request(2, 30), at(20)).await.expect("lease");
    assert_eq!(
        ids(&leased),
        [stored[1]],
        "the first lease still lasts, so that one place is free"
    );
    assert!(
        outbox
            .lease(request(3, 90), at(29))
            .await
            .expect("lease")
            .is_empty(),
        "no message is leased while both places of the endpoint are taken"
    );
    assert!(
        !outbox
            .record(
                stored[1],
                owner(1),
                &delivery(1),
                Disposition::Delivered,
                None,
                at(29)
            )
            .await
            .expect("record"),
        "an owner whose lease was taken over records nothing"
    );
    let leased = outbox.lease(request(3, 90), at(40)).await.expect("lease");
    assert_eq!(
        ids(&leased),
        [stored[0], stored[1]],
        "both leases are over, so that both messages are leased"
    );
}

async fn endpoints_take_turns(outbox: &impl OutboxStore) {
    let mut stored = Vec::new();
    // The first endpoint's backlog is the oldest, the third one's message is the youngest.
    for (to, number) in [(1, 1), (1, 2), (1, 3), (1, 4), (2, 5), (2, 6), (3, 7)] {
        stored.push(
            outbox
                .enqueue(&outgoing(to, number), at(number.into()))
                .await
                .expect("enqueue")
                .id(),
        );
    }
    let request = |number, limit| LeaseRequest::new(lease(number, 90), limit);
    let leased = outbox.lease(request(1, 4), at(50)).await.expect("lease");
    assert_eq!(
        ids(&leased),
        [stored[0], stored[4], stored[6], stored[1]],
        "each endpoint's first message is leased before the second of any"
    );
    stored.push(
        outbox
            .enqueue(&outgoing(3, 8), at(51))
            .await
            .expect("enqueue")
            .id(),
    );
    let leased = outbox.lease(request(2, 2), at(51)).await.expect("lease");
    assert_eq!(
        ids(&leased),
        [stored[5], stored[7]],
        "endpoints with fewer leases of all workers are next"
    );
    let leased = outbox
        .lease(request(3, 8).reserve(4), at(52))
        .await
        .expect("lease");
    assert!(
        leased.is_empty(),
        "beside two leases, eight places have to stay free"
    );
    let leased = outbox
        .lease(request(3, 8).reserve(3), at(52))
        .await
        .expect("lease");
    assert_eq!(
        ids(&leased),
        [stored[2]],
        "six have to stay free beside two leases, nine beside three"
    );
    assert_eq!(
        ids(&outbox.lease(request(3, 9), at(52)).await.expect("lease")),
        [stored[3]]
    );
}

async fn the_round_goes_on_after_the_last_one(outbox: &impl OutboxStore) {
    for (to, number) in [
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 4),
        (2, 5),
        (2, 6),
        (3, 7),
        (3, 8),
        (3, 9),
    ] {
        outbox
            .enqueue(&outgoing(to, number), at(0))
            .await
            .expect("enqueue");
    }
    // Each delivery ends before the next lease, so that all turns are equal.
    let mut last = None;
    let mut order = Vec::new();
    for now in 1..=9 {
        let request = LeaseRequest::new(lease(1, 90), 1).after(last.as_ref());
        let entry = outbox
            .lease(request, at(now))
            .await
            .expect("lease")
            .remove(0);
        let recorded = outbox
            .record(
                entry.id,
                owner(1),
                &delivery(now),
                Disposition::Delivered,
                None,
                at(now),
            )
            .await;
        assert!(recorded.expect("record"));
        order.push(entry.message.endpoint.clone());
        last = Some(entry.message.endpoint);
    }
    let round = [endpoint(1), endpoint(2), endpoint(3)];
    assert_eq!(
        order,
        round.iter().cycle().take(9).cloned().collect::<Vec<_>>(),
        "the endpoints take turns in the order of their names, after the one that was last"
    );
}

async fn slow_endpoints_have_a_limit_of_their_own(outbox: &impl OutboxStore) {
    let mut stored = Vec::new();
    for (to, number) in [(1, 1), (1, 2), (2, 3), (2, 4), (3, 5), (3, 6)] {
        stored.push(
            outbox
                .enqueue(&outgoing(to, number), at(number.into()))
                .await
                .expect("enqueue")
                .id(),
        );
    }
    let (slow, first) = ([endpoint(1), endpoint(2)], endpoint(1));
    let request = |number, limit, slow_limit| {
        LeaseRequest::new(lease(number, 90), limit).slow(&slow, slow_limit, Some(&first))
    };
    let leased = outbox.lease(request(1, 0, 3), at(50)).await.expect("lease");
    assert_eq!(
        ids(&leased),
        [stored[2], stored[0], stored[3]],
        "slow endpoints take turns among themselves, and no others are leased"
    );
    assert!(
        outbox
            .lease(request(1, 0, 0), at(50))
            .await
            .expect("lease")
            .is_empty(),
        "nothing is leased without a place for slow or other endpoints"
    );
    let leased = outbox.lease(request(1, 9, 0), at(50)).await.expect("lease");
    assert_eq!(
        ids(&leased),
        [stored[4], stored[5]],
        "no message of a slow endpoint is leased without a place for slow endpoints"
    );
    assert_eq!(
        ids(&outbox.lease(request(1, 0, 1), at(50)).await.expect("lease")),
        [stored[1]]
    );
}

async fn dead_letters_are_sent_again(outbox: &impl OutboxStore) {
    let mut stored = Vec::new();
    for number in 1..=3 {
        stored.push(
            outbox
                .enqueue(&outgoing(number % 2, number), at(0))
                .await
                .expect("enqueue")
                .id(),
        );
    }
    outbox.lease(all(lease(1, 10)), at(0)).await.expect("lease");
    for id in &stored {
        assert!(
            outbox
                .record(
                    *id,
                    owner(1),
                    &delivery(1),
                    Disposition::DeadLetter,
                    None,
                    at(1)
                )
                .await
                .expect("record")
        );
    }
    assert!(
        outbox
            .lease(all(lease(1, 99)), at(50))
            .await
            .expect("lease")
            .is_empty(),
        "dead letters are not leased"
    );
    assert!(outbox.resend(stored[0], at(60)).await.expect("resend"));
    assert!(
        !outbox.resend(stored[0], at(60)).await.expect("resend"),
        "a dead letter is resent once"
    );
    let leased = outbox
        .lease(all(lease(2, 99)), at(60))
        .await
        .expect("lease");
    let leased: Vec<_> = leased
        .iter()
        .map(|e| (e.id, e.deliveries, e.message.message_id))
        .collect();
    assert_eq!(
        leased,
        [(stored[0], 0, outgoing(1, 1).message_id)],
        "a resent message has no deliveries yet, and the same message id"
    );
    assert_eq!(
        outbox.deliveries(stored[0]).await.expect("deliveries"),
        [delivery(1)],
        "the deliveries before a message was resent are kept"
    );
}

async fn delivered_entries_are_resent(outbox: &impl OutboxStore) {
    let id = outbox
        .enqueue(&outgoing(1, 1), at(0))
        .await
        .expect("enqueue")
        .id();
    for round in 1..=2 {
        assert!(!outbox.resend(id, at(9)).await.expect("resend"), "pending");
        let leased = outbox.lease(all(lease(1, 99)), at(9)).await.expect("lease");
        let leased: Vec<_> = leased.iter().map(|e| (e.id, e.deliveries)).collect();
        assert_eq!(leased, [(id, 0)], "round {round}");
        let (made, done) = (delivery(9), Disposition::Delivered);
        let recorded = outbox.record(id, owner(1), &made, done, None, at(10));
        assert!(recorded.await.expect("record"));
        assert!(outbox.resend(id, at(9)).await.expect("resend"), "delivered");
    }
    let deliveries = outbox.deliveries(id).await.expect("deliveries");
    assert_eq!(deliveries, [delivery(9), delivery(9)], "all are kept");
    assert_eq!(
        outbox
            .resend_all(&endpoint(1), at(9))
            .await
            .expect("resend"),
        0,
        "dead letters only"
    );
    let counts = outbox.counts(Some(&endpoint(1))).await.expect("counts");
    assert_eq!((counts.pending, counts.delivered), (1, 0));
}

async fn delivered_entries_are_forgotten(outbox: &impl OutboxStore) {
    let first = outbox
        .enqueue(&outgoing(1, 1), at(0))
        .await
        .expect("enqueue")
        .id();
    outbox.lease(all(lease(1, 10)), at(0)).await.expect("lease");
    outbox
        .record(
            first,
            owner(1),
            &delivery(1),
            Disposition::Delivered,
            None,
            at(5),
        )
        .await
        .expect("record");
    outbox
        .enqueue(&outgoing(1, 2), at(0))
        .await
        .expect("enqueue");
    assert_eq!(
        outbox.forget(at(5)).await.expect("forget"),
        0,
        "a message that was delivered exactly at the time of forgetting is kept"
    );
    assert_eq!(
        outbox.forget(at(6)).await.expect("forget"),
        1,
        "one delivered message is forgotten, and none that is pending"
    );
    assert_eq!(outbox.find(first).await.expect("find"), None);
    assert!(
        outbox
            .deliveries(first)
            .await
            .expect("deliveries")
            .is_empty(),
        "the deliveries of a forgotten message are forgotten"
    );
    let again = outbox
        .enqueue(&outgoing(1, 1), at(7))
        .await
        .expect("enqueue");
    assert!(
        matches!(again, Enqueued::New(id) if id > first),
        "a message that was forgotten is new when it is enqueued again, under a higher number"
    );
}

/// Runs `steps` random operations on an empty outbox and on the model, and compares every answer.
///
/// # Panics
/// At the first answer that differs.
#[doc(hidden)]
pub async fn outbox_against_model(outbox: &impl OutboxStore, seed: u64, steps: u32) {
    let model = ModelOutbox::new();
    let mut random = Random::new(seed);
    // The engine's entry numbers, by the model's.
    let mut numbers: HashMap<EntryId, EntryId> = HashMap::new();
    let mut known: Vec<EntryId> = vec![EntryId::new(999_999)];
    let mut now = 0;
    for step in 0..steps {
        now += random.below(4);
        let lease = lease(random.small(3), now + random.below(12));
        let id = random.pick(&known).unwrap_or(EntryId::new(0));
        let theirs = numbers.get(&id).copied().unwrap_or(id);
        let due = at(now + random.below(6));
        let to = endpoint(random.small(3));
        let content = if random.below(6) == 0 { b'!' } else { b'.' };
        let message = outgoing_with(random.small(3), random.small(40), content);
        let limit = u32::try_from(random.below(5)).unwrap_or(0);
        let delivery = delivery(u64::from(step));
        let context = format!("seed {seed}, step {step}");
        let now = at(now);
        match random.below(17) {
            0..=3 => {
                let got = outbox
                    .enqueue(&message, now)
                    .await
                    .map_err(|error| error.kind());
                let want = model
                    .enqueue(&message, now)
                    .await
                    .map_err(|error| error.kind());
                if let (Ok(Enqueued::New(theirs)), Ok(Enqueued::New(id))) = (got, want) {
                    numbers.insert(id, theirs);
                    known.push(id);
                }
                let want = want.map(|want| match want {
                    Enqueued::New(id) => Enqueued::New(numbers.get(&id).copied().unwrap_or(id)),
                    Enqueued::AlreadyStored(id) => {
                        Enqueued::AlreadyStored(numbers.get(&id).copied().unwrap_or(id))
                    }
                });
                assert_eq!(got, want, "enqueue, {context}");
            }
            4..=5 => {
                let per_endpoint = u32::try_from(random.below(3)).unwrap_or(0);
                let slow = if random.below(2) == 0 {
                    vec![endpoint(1), endpoint(2)]
                } else {
                    Vec::new()
                };
                let slow_limit = u32::try_from(random.below(4)).unwrap_or(0);
                let reserve = u32::try_from(random.below(3)).unwrap_or(0);
                let request = LeaseRequest::new(lease, limit).per_endpoint(per_endpoint);
                let (after, slow_after) = (endpoint(random.small(3)), endpoint(random.small(3)));
                let after = (random.below(3) > 0).then_some(&after);
                let request = request
                    .after(after)
                    .slow(&slow, slow_limit, Some(&slow_after))
                    .reserve(reserve);
                let got = outbox.lease(request, now).await.expect("store");
                let want = model.lease(request, now).await.expect("store");
                assert_eq!(got, entries(want, &numbers), "lease, {context}");
            }
            6..=7 => {
                let disposition = match random.below(3) {
                    0 => Disposition::Delivered,
                    1 => Disposition::DeadLetter,
                    _ => Disposition::RetryAt(due),
                };
                let answered = (random.below(2) == 0).then_some(&to);
                let got = outbox.record(theirs, lease.owner, &delivery, disposition, answered, now);
                let want = model.record(id, lease.owner, &delivery, disposition, answered, now);
                assert_eq!(
                    got.await.expect("store"),
                    want.await.expect("store"),
                    "record, {context}"
                );
            }
            8 if random.below(3) == 0 => {
                let got = outbox.release_all(&[lease.owner]).await.expect("store");
                assert_eq!(
                    got,
                    model.release_all(&[lease.owner]).await.expect("store"),
                    "release all, {context}"
                );
            }
            8 => {
                let got = outbox
                    .release(theirs, lease.owner, due)
                    .await
                    .expect("store");
                assert_eq!(
                    got,
                    model.release(id, lease.owner, due).await.expect("store"),
                    "release, {context}"
                );
            }
            9 => {
                let got = outbox.resend(theirs, now).await.expect("store");
                assert_eq!(
                    got,
                    model.resend(id, now).await.expect("store"),
                    "resend, {context}"
                );
            }
            10 if random.below(2) == 0 => {
                outbox
                    .stop_endpoint(&to, &intervention("test"), now)
                    .await
                    .expect("store");
                model
                    .stop_endpoint(&to, &intervention("test"), now)
                    .await
                    .expect("store");
            }
            10 => {
                let got = outbox.forget(now).await.expect("store");
                assert_eq!(
                    got,
                    model.forget(now).await.expect("store"),
                    "forget, {context}"
                );
            }
            12 if random.below(3) == 0 => {
                let got = outbox.resend_all(&to, now).await.expect("store");
                assert_eq!(
                    got,
                    model.resend_all(&to, now).await.expect("store"),
                    "resend all, {context}"
                );
            }
            12 => {
                let got = outbox
                    .drop_entry(theirs, &intervention("test"), now)
                    .await
                    .expect("store");
                let want = model
                    .drop_entry(id, &intervention("test"), now)
                    .await
                    .expect("store");
                assert_eq!(got, want, "drop, {context}");
            }
            13 => {
                let mut query = OutboxQuery::new().limit(limit).enqueued_before(due);
                query.endpoint = (random.below(2) == 0).then(|| to.clone());
                query.state = random
                    .pick(OutboxState::ALL)
                    .filter(|_| random.below(3) > 0);
                query.after = (random.below(2) == 0).then_some(id);
                let want = model.list(&query).await.expect("store");
                query.after = query.after.map(|_| theirs);
                let got = outbox.list(&query).await.expect("store");
                assert_eq!(got, summaries(want, &numbers), "list, {context}");
            }
            14 => {
                let openings = u32::try_from(random.below(3)).unwrap_or(0);
                let open_until = (openings > 0).then_some(due);
                let rests_until = (random.below(3) == 0).then_some(lease.until);
                let circuit = Circuit {
                    openings,
                    open_until,
                    rests_until,
                };
                outbox.hold_endpoint(&to, circuit).await.expect("store");
                model.hold_endpoint(&to, circuit).await.expect("store");
            }
            15 => {
                outbox.retry_endpoint(&to, now).await.expect("store");
                model.retry_endpoint(&to, now).await.expect("store");
            }
            _ => {
                let got = outbox.resume_endpoint(&to, now).await.expect("store");
                assert_eq!(
                    got,
                    model.resume_endpoint(&to, now).await.expect("store"),
                    "resume, {context}"
                );
            }
        }
        let got = outbox.find(theirs).await.expect("store");
        let want = model.find(id).await.expect("store");
        assert_eq!(
            got,
            want.map(|entry| entries(vec![entry], &numbers).remove(0)),
            "find, {context}"
        );
        let got = outbox.summary(theirs).await.expect("store");
        let want = model.summary(id).await.expect("store");
        assert_eq!(
            got,
            want.map(|entry| summaries(vec![entry], &numbers).remove(0)),
            "summary, {context}"
        );
        let got = outbox.deliveries(theirs).await.expect("store");
        assert_eq!(
            got,
            model.deliveries(id).await.expect("store"),
            "deliveries, {context}"
        );
        let (got, want) = (
            outbox.counts(Some(&to)).await,
            model.counts(Some(&to)).await,
        );
        assert_eq!(
            got.expect("store"),
            want.expect("store"),
            "counts, {context}"
        );
        let (got, want) = (
            outbox.backlogs(Some(&to), limit).await,
            model.backlogs(Some(&to), limit).await,
        );
        assert_eq!(
            got.expect("store"),
            want.expect("store"),
            "backlogs, {context}"
        );
        let (got, want) = (
            outbox.next_due().await.expect("store"),
            model.next_due().await.expect("store"),
        );
        assert_eq!(got, want, "next due, {context}");
        let (got, want) = (
            outbox.oldest_pending().await.expect("store"),
            model.oldest_pending().await.expect("store"),
        );
        assert_eq!(got, want, "oldest, {context}");
        let (got, want) = (outbox.circuits().await, model.circuits().await);
        assert_eq!(
            got.expect("store"),
            want.expect("store"),
            "circuits, {context}"
        );
        let (got, want) = (
            outbox.stopped_endpoints().await,
            model.stopped_endpoints().await,
        );
        assert_eq!(
            got.expect("store"),
            want.expect("store"),
            "stopped endpoints, {context}"
        );
    }
}

fn entries(entries: Vec<OutboxEntry>, numbers: &HashMap<EntryId, EntryId>) -> Vec<OutboxEntry> {
    let theirs = |id: EntryId| numbers.get(&id).copied().unwrap_or(id);
    entries
        .into_iter()
        .map(|entry| OutboxEntry {
            id: theirs(entry.id),
            ..entry
        })
        .collect()
}

fn summaries(
    entries: Vec<OutboxSummary>,
    numbers: &HashMap<EntryId, EntryId>,
) -> Vec<OutboxSummary> {
    let theirs = |id: EntryId| numbers.get(&id).copied().unwrap_or(id);
    entries
        .into_iter()
        .map(|entry| OutboxSummary {
            id: theirs(entry.id),
            ..entry
        })
        .collect()
}
