//! Entries of the outbox, the newest first. The outbox lists them in the order of enqueueing.

use bankrail::mailbox::{EntryId, OutboxQuery, OutboxStore, OutboxSummary};
use bankrail::values::StoreError;

/// At most `most` entries of a query before the number `before`, or of all: the newest first.
/// Further, the number to go on before, if there may be more.
pub(super) async fn newest(
    outbox: &dyn OutboxStore,
    query: &OutboxQuery,
    before: Option<u64>,
    most: usize,
) -> Result<(Vec<OutboxSummary>, Option<u64>), StoreError> {
    let mut end = match before {
        Some(before) => before,
        None => last_number(outbox).await?.saturating_add(1),
    };
    let mut found: Vec<OutboxSummary> = Vec::new();
    while found.len() <= most && end > 1 {
        // There are no more entries than numbers, so that no query leaves one out.
        let begin = end.saturating_sub(OutboxQuery::MAX_LIMIT.into()).max(1);
        let window = query.clone().after(EntryId::new(begin - 1));
        let entries = outbox.list(&window.limit(OutboxQuery::MAX_LIMIT)).await?;
        let entries = entries.into_iter().rev();
        found.extend(entries.filter(|entry| entry.id.get() < end));
        end = begin;
    }
    let more = found.len() > most;
    found.truncate(most);
    let next = found.last().filter(|_| more).map(|entry| entry.id.get());
    Ok((found, next))
}

/// The largest number of an entry; 0 without any.
async fn last_number(outbox: &dyn OutboxStore) -> Result<u64, StoreError> {
    // In growing steps, because no query of an outbox returns its newest number.
    let (mut last, mut step) = (0_u64, 1_u64);
    loop {
        let after = EntryId::new(last.saturating_add(step - 1));
        match outbox
            .list(&OutboxQuery::new().after(after).limit(1))
            .await?
            .first()
        {
            Some(entry) => {
                last = entry.id.get();
                step = step.saturating_mul(2);
            }
            None if step == 1 => return Ok(last),
            None => step = (step / 4).max(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail::mailbox::{DeliveryRecord, Fingerprint};
    use bankrail::mailbox::{
        Disposition, Kind, Lease, LeaseOwner, LeaseRequest, OutboxState, Outgoing,
    };
    use bankrail::stores::sqlite::{SqliteOptions, SqliteStore};
    use bankrail::values::{HyphenatedUuid, Timestamp};
    use std::time::Duration;

    fn now() -> Timestamp {
        Timestamp::parse("2021-07-29T01:02:03.450Z").unwrap()
    }

    async fn with_entries(count: u32) -> Box<dyn OutboxStore> {
        let store = SqliteStore::open_in_memory(SqliteOptions::new()).unwrap();
        let enqueued = store.transaction(move |transaction| -> Result<(), StoreError> {
            for _ in 0..count {
                let message = Outgoing {
                    endpoint: "acme".parse().expect("a short name"),
                    kind: Kind::from_static("query"),
                    message_id: HyphenatedUuid::random(),
                    fingerprint: Fingerprint::from_bytes([0; 32]),
                    attributes: Vec::new().into(),
                    body: Vec::new().into(),
                };
                transaction.enqueue(&message, now())?;
            }
            Ok(())
        });
        enqueued.await.unwrap();
        Box::new(store.outbox())
    }

    fn numbers(found: &[OutboxSummary]) -> Vec<u64> {
        found.iter().map(|entry| entry.id.get()).collect()
    }

    #[tokio::test]
    async fn pages_together_have_every_entry_once() {
        for count in [0, 1, 2, 3, 7, 8, 9, 64, 65] {
            let outbox = with_entries(count).await;
            assert_eq!(last_number(&*outbox).await.unwrap(), u64::from(count));
            let (mut all, mut before) = (Vec::new(), None);
            loop {
                let (page, next) = newest(&*outbox, &OutboxQuery::new(), before, 4)
                    .await
                    .unwrap();
                assert!(page.len() == 4 || next.is_none(), "{count}: {page:?}");
                all.extend(numbers(&page));
                before = next;
                if before.is_none() {
                    break;
                }
            }
            assert_eq!(
                all,
                (1..=u64::from(count)).rev().collect::<Vec<_>>(),
                "{count}"
            );
        }
    }

    #[tokio::test]
    async fn the_few_of_a_state_are_found_among_many() {
        let outbox = with_entries(1500).await;
        let owner = LeaseOwner::from_random_bytes([1; 16]);
        let lease = Lease {
            owner,
            until: now().saturating_add(Duration::from_secs(60)),
        };
        for entry in outbox
            .lease(LeaseRequest::new(lease, 3), now())
            .await
            .unwrap()
        {
            let delivery = DeliveryRecord {
                started_at: now(),
                duration: Duration::ZERO,
                status: None,
                note: None,
            };
            assert!(
                outbox
                    .record(
                        entry.id,
                        owner,
                        &delivery,
                        Disposition::DeadLetter,
                        None,
                        now()
                    )
                    .await
                    .unwrap()
            );
        }
        let dead = OutboxQuery::new().state(OutboxState::DeadLetter);
        let (found, next) = newest(&*outbox, &dead, None, 2).await.unwrap();
        assert_eq!((numbers(&found), next), (vec![3, 2], Some(2)));
        let (found, next) = newest(&*outbox, &dead, next, 2).await.unwrap();
        assert_eq!((numbers(&found), next), (vec![1], None));
        let waiting = OutboxQuery::new().state(OutboxState::Pending);
        let (found, next) = newest(&*outbox, &waiting, Some(6), 50).await.unwrap();
        assert_eq!((numbers(&found), next), (vec![5, 4], None));
    }
}
