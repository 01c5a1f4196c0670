//! Rules of the operations for operators.

use super::{all, at, delivery, endpoint, ids, lease, outgoing, owner};
use crate::kind::Kind;
use crate::lease::EntryId;
use crate::outbox::{
    Circuit, Disposition, DropOutcome, EndpointBacklog, Enqueued, Intervention, LeaseRequest,
    OutboxCounts, OutboxQuery, OutboxState, OutboxStore, OutboxSummary, Outgoing,
};

pub(in crate::testing) fn intervention(reason: &str) -> Intervention {
    let reason = reason.parse().expect("a short reason");
    Intervention {
        by: "on call".parse().expect("a short name"),
        reason,
    }
}

async fn listed(outbox: &impl OutboxStore, query: OutboxQuery) -> Vec<EntryId> {
    outbox
        .list(&query)
        .await
        .expect("list")
        .iter()
        .map(|entry| entry.id)
        .collect()
}

pub(super) async fn entries_are_listed_without_payload(outbox: &impl OutboxStore) {
    let mut stored = Vec::new();
    for (to, number) in [(1, 1), (2, 2), (1, 3), (2, 4), (1, 5)] {
        let kind = Kind::from_static(if number == 3 {
            "another.kind"
        } else {
            "a.kind"
        });
        let message = Outgoing {
            kind,
            ..outgoing(to, number)
        };
        stored.push(
            outbox
                .enqueue(&message, at(number.into()))
                .await
                .expect("enqueue")
                .id(),
        );
    }
    let leased = outbox
        .lease(LeaseRequest::new(lease(1, 50), 1), at(10))
        .await
        .expect("lease");
    assert_eq!(ids(&leased), [stored[0]]);
    let recorded = outbox
        .record(
            stored[0],
            owner(1),
            &delivery(1),
            Disposition::DeadLetter,
            None,
            at(11),
        )
        .await;
    assert!(recorded.expect("record"));
    // The next turn is that of the endpoint after the last leased one.
    outbox
        .lease(
            LeaseRequest::new(lease(2, 60), 1).after(Some(&endpoint(1))),
            at(12),
        )
        .await
        .expect("lease");
    let query = OutboxQuery::new;
    assert_eq!(
        listed(outbox, query()).await,
        stored,
        "without conditions all entries are listed, in the order of their numbers"
    );
    assert_eq!(listed(outbox, query().limit(2)).await, stored[..2]);
    assert_eq!(
        listed(outbox, query().limit(2).after(stored[1])).await,
        stored[2..4],
        "the next page begins after the last entry of the page before"
    );
    assert_eq!(listed(outbox, query().limit(0)).await, []);
    assert_eq!(
        listed(outbox, query().endpoint(endpoint(2))).await,
        [stored[1], stored[3]]
    );
    assert_eq!(
        listed(outbox, query().kind(Kind::from_static("another.kind"))).await,
        [stored[2]]
    );
    assert_eq!(
        listed(outbox, query().enqueued_before(at(3))).await,
        stored[..2],
        "entries enqueued exactly at the time are not listed"
    );
    assert_eq!(
        listed(outbox, query().state(OutboxState::DeadLetter)).await,
        stored[..1]
    );
    assert_eq!(
        listed(outbox, query().state(OutboxState::Delivered)).await,
        []
    );
    let waiting = query()
        .state(OutboxState::Pending)
        .endpoint(endpoint(1))
        .enqueued_before(at(5));
    assert_eq!(
        listed(outbox, waiting).await,
        [stored[2]],
        "an entry is listed if it meets all conditions"
    );
    let message = outgoing(1, 1);
    let want = OutboxSummary {
        id: stored[0],
        endpoint: message.endpoint,
        kind: message.kind,
        message_id: message.message_id,
        state: OutboxState::DeadLetter,
        enqueued_at: at(1),
        due: at(1),
        deliveries: 1,
        leased_until: None,
        finished_at: Some(at(11)),
        dropped: None,
    };
    assert_eq!(
        outbox.summary(stored[0]).await.expect("summary"),
        Some(want),
        "the summary shows the entry as it is now"
    );
    let leased = outbox
        .summary(stored[1])
        .await
        .expect("summary")
        .expect("the entry is there");
    assert_eq!(
        (leased.leased_until, leased.finished_at),
        (Some(at(60)), None),
        "the summary shows until when the entry is leased"
    );
    assert_eq!(
        outbox
            .summary(EntryId::new(999_999))
            .await
            .expect("summary"),
        None
    );
}

pub(super) async fn dropped_entries_are_never_delivered(outbox: &impl OutboxStore) {
    let mut stored = Vec::new();
    for number in 1..=4 {
        stored.push(
            outbox
                .enqueue(&outgoing(1, number), at(0))
                .await
                .expect("enqueue")
                .id(),
        );
    }
    let drops = intervention("sent by other means");
    let drop_entry = async |id, now| outbox.drop_entry(id, &drops, at(now)).await.expect("drop");
    assert_eq!(
        drop_entry(stored[0], 1).await,
        DropOutcome::Dropped,
        "a pending entry can be dropped"
    );
    assert_eq!(
        ids(&outbox.lease(all(lease(1, 10)), at(2)).await.expect("lease")),
        stored[1..],
        "a dropped entry is not leased"
    );
    assert_eq!(
        drop_entry(stored[1], 9).await,
        DropOutcome::Leased { until: at(10) },
        "a leased entry is not dropped, because its delivery may be under way"
    );
    assert!(
        outbox
            .record(
                stored[1],
                owner(1),
                &delivery(1),
                Disposition::DeadLetter,
                None,
                at(9)
            )
            .await
            .expect("record")
    );
    assert_eq!(
        drop_entry(stored[1], 9).await,
        DropOutcome::Dropped,
        "a dead letter can be dropped"
    );
    assert!(
        !outbox.resend(stored[1], at(9)).await.expect("resend"),
        "a dropped entry is not resent"
    );
    assert_eq!(
        outbox
            .resend_all(&endpoint(1), at(9))
            .await
            .expect("resend"),
        0
    );
    assert_eq!(
        drop_entry(stored[2], 10).await,
        DropOutcome::Dropped,
        "an entry can be dropped from the end of its lease on"
    );
    let late = outbox
        .record(
            stored[2],
            owner(1),
            &delivery(1),
            Disposition::Delivered,
            None,
            at(11),
        )
        .await;
    assert!(
        !late.expect("record"),
        "the owner of the lease that is over records nothing for a dropped entry"
    );
    assert!(
        !outbox
            .release(stored[2], owner(1), at(11))
            .await
            .expect("release"),
        "the owner of the lease that is over cannot release a dropped entry"
    );
    assert!(
        outbox
            .record(
                stored[3],
                owner(1),
                &delivery(1),
                Disposition::Delivered,
                None,
                at(11)
            )
            .await
            .expect("record")
    );
    for id in [stored[0], stored[3], EntryId::new(999_999)] {
        assert_eq!(
            drop_entry(id, 12).await,
            DropOutcome::NotOpen,
            "an entry that is dropped, delivered or not there cannot be dropped"
        );
    }
    assert!(
        outbox
            .lease(all(lease(2, 99)), at(50))
            .await
            .expect("lease")
            .is_empty()
    );
    assert_eq!(outbox.next_due().await.expect("next due"), None);
    let kept = outbox
        .summary(stored[1])
        .await
        .expect("summary")
        .expect("it is kept");
    assert_eq!(
        (kept.state, kept.finished_at, kept.dropped),
        (OutboxState::Dropped, Some(at(9)), Some(drops.clone()))
    );
    assert_eq!(
        outbox
            .find(stored[1])
            .await
            .expect("find")
            .expect("it is kept")
            .state,
        OutboxState::Dropped
    );
    assert_eq!(
        outbox.deliveries(stored[1]).await.expect("deliveries"),
        [delivery(1)],
        "the deliveries of a dropped entry are kept"
    );
    let dropped = OutboxQuery::new().state(OutboxState::Dropped);
    assert_eq!(listed(outbox, dropped.clone()).await, stored[..3]);
    assert_eq!(
        listed(outbox, OutboxQuery::new().state(OutboxState::Delivered)).await,
        [stored[3]]
    );
    let counts = OutboxCounts {
        pending: 0,
        delivered: 1,
        dead_letters: 0,
        dropped: 3,
    };
    assert_eq!(outbox.counts(None).await.expect("counts"), counts);
    assert_eq!(
        outbox.counts(Some(&endpoint(1))).await.expect("counts"),
        counts
    );
    assert_eq!(
        outbox.counts(Some(&endpoint(2))).await.expect("counts"),
        OutboxCounts::default()
    );
    let again = outbox
        .enqueue(&outgoing(1, 1), at(13))
        .await
        .expect("enqueue");
    assert_eq!(
        again,
        Enqueued::AlreadyStored(stored[0]),
        "the message id of a dropped entry stays taken"
    );
    assert_eq!(
        outbox.forget(at(10)).await.expect("forget"),
        2,
        "entries that were dropped before the time are forgotten"
    );
    assert_eq!(listed(outbox, dropped).await, [stored[2]]);
    assert!(matches!(
        outbox
            .enqueue(&outgoing(1, 1), at(14))
            .await
            .expect("enqueue"),
        Enqueued::New(_)
    ));
}

pub(super) async fn all_dead_letters_of_an_endpoint_are_resent(outbox: &impl OutboxStore) {
    let mut stored = Vec::new();
    for number in 1..=7 {
        stored.push(
            outbox
                .enqueue(&outgoing(number % 2, number), at(0))
                .await
                .expect("enqueue")
                .id(),
        );
    }
    outbox.lease(all(lease(1, 10)), at(0)).await.expect("lease");
    for id in &stored[..6] {
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
    assert_eq!(
        outbox
            .resend_all(&endpoint(1), at(20))
            .await
            .expect("resend"),
        3,
        "all dead letters of the endpoint are resent, and none of another"
    );
    assert_eq!(
        outbox
            .resend_all(&endpoint(1), at(20))
            .await
            .expect("resend"),
        0,
        "dead letters are resent once"
    );
    let leased = outbox
        .lease(all(lease(2, 99)), at(20))
        .await
        .expect("lease");
    let leased: Vec<_> = leased
        .iter()
        .map(|entry| (entry.id, entry.deliveries, entry.due))
        .collect();
    let fresh = |id: EntryId| (id, 0, at(20));
    assert_eq!(
        leased,
        [
            (stored[6], 0, at(0)),
            fresh(stored[0]),
            fresh(stored[2]),
            fresh(stored[4])
        ],
        "resent entries have no deliveries yet, and are due at once"
    );
    let left = outbox.counts(Some(&endpoint(0))).await.expect("counts");
    assert_eq!(
        left,
        OutboxCounts {
            dead_letters: 3,
            ..OutboxCounts::default()
        }
    );
}

pub(super) async fn what_waits_for_a_resumed_endpoint_is_due_now(outbox: &impl OutboxStore) {
    let mut stored = Vec::new();
    for (to, number) in [(1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (2, 6)] {
        stored.push(
            outbox
                .enqueue(&outgoing(to, number), at(0))
                .await
                .expect("enqueue")
                .id(),
        );
    }
    outbox
        .lease(all(lease(1, 100)), at(0))
        .await
        .expect("lease");
    let retry = |now| Disposition::RetryAt(at(now));
    for (entry, disposition) in [
        (0, retry(90)),
        (1, retry(50)),
        (2, retry(5)),
        (3, Disposition::DeadLetter),
        (5, retry(70)),
    ] {
        let recorded = outbox
            .record(
                stored[entry],
                owner(1),
                &delivery(1),
                disposition,
                None,
                at(1),
            )
            .await;
        assert!(recorded.expect("record"));
    }
    let ill = Circuit {
        openings: 2,
        open_until: Some(at(80)),
        rests_until: Some(at(85)),
    };
    outbox.hold_endpoint(&endpoint(1), ill).await.expect("hold");
    assert!(
        outbox
            .lease(all(lease(2, 99)), at(10))
            .await
            .expect("lease")
            .is_empty()
    );
    outbox
        .resume_endpoint(&endpoint(1), at(10))
        .await
        .expect("resume");
    assert_eq!(outbox.next_due().await.expect("next due"), Some(at(5)));
    let leased = outbox
        .lease(all(lease(2, 99)), at(10))
        .await
        .expect("lease");
    let leased: Vec<_> = leased
        .iter()
        .map(|entry| (entry.id, entry.due, entry.deliveries, entry.circuit))
        .collect();
    assert_eq!(
        leased,
        [
            (stored[2], at(5), 1, None),
            (stored[0], at(10), 1, None),
            (stored[1], at(10), 1, None)
        ],
        "what waited is due now, in the order of enqueueing, after what was due before; its deliveries are counted on"
    );
    let other = outbox
        .summary(stored[5])
        .await
        .expect("summary")
        .expect("the entry is there");
    assert_eq!(
        other.due,
        at(70),
        "what waits for another endpoint waits on"
    );
    let dead = outbox
        .summary(stored[3])
        .await
        .expect("summary")
        .expect("the entry is there");
    assert_eq!(
        (dead.state, dead.due),
        (OutboxState::DeadLetter, at(0)),
        "a dead letter is not resent"
    );
    let recorded = outbox
        .record(stored[4], owner(1), &delivery(1), retry(60), None, at(11))
        .await;
    assert!(
        recorded.expect("record"),
        "a delivery that was under way is recorded as before"
    );
    assert_eq!(outbox.next_due().await.expect("next due"), Some(at(60)));
    outbox
        .stop_endpoint(&endpoint(1), &intervention("maintenance"), at(12))
        .await
        .expect("stop");
    assert!(
        outbox
            .resume_endpoint(&endpoint(1), at(13))
            .await
            .expect("resume"),
        "it was stopped"
    );
    assert_eq!(
        ids(&outbox
            .lease(all(lease(3, 99)), at(13))
            .await
            .expect("lease")),
        stored[4..5],
        "what waits for an endpoint that was stopped is due now, too"
    );
}

pub(super) async fn backlogs_are_told_by_endpoint(outbox: &impl OutboxStore) {
    for (to, number, now) in [(3, 1, 5), (1, 2, 8), (1, 3, 7), (2, 4, 9), (4, 5, 9)] {
        outbox
            .enqueue(&outgoing(to, number), at(now))
            .await
            .expect("enqueue");
    }
    outbox
        .stop_endpoint(&endpoint(1), &intervention("maintenance"), at(9))
        .await
        .expect("stop");
    for entry in outbox.lease(all(lease(1, 20)), at(9)).await.expect("lease") {
        let disposition = match entry.message.endpoint {
            to if to == endpoint(2) => Disposition::DeadLetter,
            to if to == endpoint(4) => Disposition::Delivered,
            _ => continue,
        };
        assert!(
            outbox
                .record(entry.id, owner(1), &delivery(1), disposition, None, at(10))
                .await
                .expect("record")
        );
    }
    let backlog = |to, pending, dead_letters, oldest_due: Option<u64>| EndpointBacklog {
        endpoint: endpoint(to),
        pending,
        dead_letters,
        oldest_due: oldest_due.map(at),
    };
    let all = [
        backlog(1, 2, 0, Some(7)),
        backlog(2, 0, 1, None),
        backlog(3, 1, 0, Some(5)),
    ];
    assert_eq!(
        outbox.backlogs(None, 9).await.expect("backlogs"),
        all,
        "endpoints are in the order of their names; stopped ones and leased messages count"
    );
    assert_eq!(
        outbox
            .backlogs(Some(&endpoint(1)), 1)
            .await
            .expect("backlogs"),
        all[1..2],
        "the next page begins after the endpoint of the page before"
    );
}
