//! The outbox: messages to deliver.

use super::connection::{Database, Fault};
use super::statements::{changes, first, run};
use crate::columns::entry_number;
use bankrail_mailbox::{
    Circuit, DeliveryNote, DeliveryRecord, Disposition, EndpointId, Enqueued, EntryId,
    Intervention, LeaseOwner, LeaseRequest, Outbox, OutboxEntry, OutboxState, Outgoing,
};
use bankrail_values::{StoreErrorKind, StoreFuture, Timestamp};
use rusqlite::{Connection, named_params, params};
use std::ops::ControlFlow;
use std::sync::Arc;

mod changed;
mod circuit;
mod lease;
mod operator;

const INSERT: &str = "INSERT INTO bankrail_outbox
    (endpoint, kind, message_id, fingerprint, attributes, state, enqueued, due)
    VALUES (:endpoint, :kind, :message_id, :fingerprint, :attributes, 'pending', :now, :now)
    ON CONFLICT (endpoint, message_id) DO NOTHING";

const INSERT_BODY: &str = "INSERT INTO bankrail_outbox_body (id, body) VALUES (?1, ?2)";

// Selects an entry by a left join, so that one whose payload is missing is found as unreadable.
const WITH_BODY: &str =
    "SELECT o.id, endpoint, kind, message_id, fingerprint, attributes, body, enqueued, due,
        deliveries, state
    FROM bankrail_outbox o LEFT JOIN bankrail_outbox_body b ON b.id = o.id WHERE o.id = ?1";

const SAME_ID: &str =
    "SELECT o.id, endpoint, kind, message_id, fingerprint, attributes, body, enqueued, due,
        deliveries, state
    FROM bankrail_outbox o LEFT JOIN bankrail_outbox_body b ON b.id = o.id 
    WHERE endpoint = ?1 AND message_id = ?2";

const RELEASE: &str =
    "UPDATE bankrail_outbox SET due = ?3, owner = NULL, until = NULL WHERE id = ?1 AND owner = ?2";

const RELEASE_ALL: &str =
    "UPDATE bankrail_outbox SET owner = NULL, until = NULL WHERE owner IS NOT NULL AND owner = ?1";

// Corrects the times of one endpoint's messages, by the indexes of its pending and its leased ones.
const RECALL: &str = "UPDATE bankrail_outbox SET due = CASE WHEN due > ?2 THEN ?3 ELSE due END,
    owner = CASE WHEN until > ?2 THEN NULL ELSE owner END,
    until = CASE WHEN until > ?2 THEN NULL ELSE until END
    WHERE id IN (SELECT id FROM bankrail_outbox
        WHERE state = 'pending' AND endpoint = ?1 AND due > ?2
        UNION ALL
        SELECT id FROM bankrail_outbox WHERE owner IS NOT NULL AND endpoint = ?1 AND until > ?2)";

const RECORD: &str =
    "UPDATE bankrail_outbox SET state = :state, due = coalesce(:due, due), finished = :finished,
    deliveries = deliveries + 1, owner = NULL, until = NULL WHERE id = :id AND owner = :owner";

const INSERT_DELIVERY: &str = "INSERT INTO bankrail_delivery
        (entry, number, started, duration, status, note)
    VALUES
    (:entry, (SELECT coalesce(max(number), 0) + 1 FROM bankrail_delivery WHERE entry = :entry),
        :started, :duration, :status, :note)";

const STOP: &str =
    "INSERT INTO bankrail_stopped (endpoint, since, stopped_by, reason) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (endpoint) DO NOTHING";

// Deletes a bounded number of entries, so that other writes run in between. `INDEXED BY` prevents
// that SQLite uses the index by state and endpoint and then sorts all delivered entries.
const FORGET: &str = "DELETE FROM bankrail_outbox WHERE id IN (SELECT id FROM bankrail_outbox
        INDEXED BY bankrail_outbox_delivered
        WHERE state = 'delivered' AND finished < ?1 ORDER BY finished LIMIT ?2)";

#[cfg(test)]
pub(super) use circuit::DAILY as DAILY_CIRCUITS;
#[cfg(test)]
pub(super) use lease::DAILY as DAILY_LEASES;
#[cfg(test)]
pub(super) use operator::{DAILY as DAILY_INTERVENTIONS, LOOKS};

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[
    INSERT,
    INSERT_BODY,
    WITH_BODY,
    SAME_ID,
    RELEASE,
    RELEASE_ALL,
    RECALL,
    RECORD,
    INSERT_DELIVERY,
    STOP,
    FORGET,
];

/// The outbox of a [`SqliteStore`](super::SqliteStore).
#[derive(Clone, Debug)]
pub struct SqliteOutbox {
    pub(super) database: Arc<Database>,
}

impl Outbox for SqliteOutbox {
    fn enqueue<'a>(&'a self, message: &'a Outgoing, now: Timestamp) -> StoreFuture<'a, Enqueued> {
        let message = message.clone();
        self.database
            .write(move |connection| enqueue(connection, &message, now))
    }

    fn release(&self, id: EntryId, owner: LeaseOwner, due: Timestamp) -> StoreFuture<'_, bool> {
        self.database.write(move |connection| {
            let values = params![entry_number(id), owner.as_bytes(), due.unix_millis()];
            changes(connection, RELEASE, values)
        })
    }

    fn release_all<'a>(&'a self, owners: &'a [LeaseOwner]) -> StoreFuture<'a, u64> {
        let owners = owners.to_vec();
        self.database.write(move |connection| {
            owners.iter().try_fold(0, |released, owner| {
                let more = run(connection, RELEASE_ALL, params![owner.as_bytes()])?;
                Ok(released + u64::try_from(more).map_err(Fault::corrupt)?)
            })
        })
    }

    fn recall(&self, latest: Timestamp, now: Timestamp) -> StoreFuture<'_, u64> {
        self.database.write(move |connection| {
            let mut recalled = 0;
            lease::each_endpoint(connection, "", None, |endpoint| {
                let ahead = params![endpoint, latest.unix_millis(), now.unix_millis()];
                recalled += run(connection, RECALL, ahead)?;
                Ok(ControlFlow::Continue(()))
            })?;
            run(connection, circuit::RECALL, [latest.unix_millis()])?;
            u64::try_from(recalled).map_err(Fault::corrupt)
        })
    }

    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>> {
        self.database.read(lease::next_due)
    }

    fn hold_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        circuit: Circuit,
    ) -> StoreFuture<'a, ()> {
        let endpoint = endpoint.clone();
        self.database
            .write(move |connection| circuit::hold(connection, &endpoint, circuit))
    }

    fn retry_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            operator::make_due(&self.database, endpoint, now, &[circuit::END_OPENING])
                .await
                .map(drop)
        })
    }

    fn stop_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        intervention: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        let endpoint = endpoint.clone();
        let intervention = intervention.clone();
        self.database.write(move |connection| {
            let Intervention { by, reason } = &intervention;
            let since = now.unix_millis();
            let values = params![endpoint.as_str(), since, by.as_str(), reason.as_str()];
            run(connection, STOP, values).map(drop)
        })
    }

    fn lease<'a>(
        &'a self,
        request: LeaseRequest<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<OutboxEntry>> {
        let slow = request.slow.to_vec();
        let after = request.after.cloned();
        let slow_after = request.slow_after.cloned();
        let LeaseRequest {
            lease,
            limit,
            per_endpoint,
            slow_limit,
            reserve,
            ..
        } = request;
        self.database.write(move |connection| {
            let request = LeaseRequest::new(lease, limit)
                .after(after.as_ref())
                .per_endpoint(per_endpoint);
            lease::run(
                connection,
                &request
                    .slow(&slow, slow_limit, slow_after.as_ref())
                    .reserve(reserve),
                now,
            )
        })
    }

    fn record<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        delivery: &'a DeliveryRecord,
        disposition: Disposition,
        answered: Option<&'a EndpointId>,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let delivery = delivery.clone();
        let answered = answered.cloned();
        let (state, due) = match disposition {
            Disposition::Delivered => (OutboxState::Delivered, None),
            Disposition::RetryAt(due) => (OutboxState::Pending, Some(due.unix_millis())),
            Disposition::DeadLetter => (OutboxState::DeadLetter, None),
        };
        self.database.write(move |connection| {
            if let Some(endpoint) = &answered {
                circuit::close(connection, endpoint, now)?;
            }
            let values = named_params! {
                ":id": entry_number(id),
                ":owner": owner.as_bytes(),
                ":state": state.as_str(),
                ":due": due,
                ":finished": due.is_none().then_some(now.unix_millis()),
            };
            if !changes(connection, RECORD, values)? {
                return Ok(false);
            }
            let values = named_params! {
                ":entry": entry_number(id),
                ":started": delivery.started_at.unix_millis(),
                ":duration": i64::try_from(delivery.duration.as_millis()).unwrap_or(i64::MAX),
                ":status": delivery.status,
                ":note": delivery.note.map(DeliveryNote::as_str),
            };
            changes(connection, INSERT_DELIVERY, values)
        })
    }

    fn changed(&self) -> StoreFuture<'_, ()> {
        Box::pin(changed::changed(&self.database))
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(
            self.database
                .forget_in_pieces(FORGET, move |most| (before.unix_millis(), most)),
        )
    }
}

pub(super) fn enqueue(
    connection: &Connection,
    message: &Outgoing,
    now: Timestamp,
) -> Result<Enqueued, Fault> {
    let message_id = message.message_id.to_string();
    let values = named_params! {
        ":endpoint": message.endpoint.as_str(),
        ":kind": message.kind.as_str(),
        ":message_id": message_id,
        ":fingerprint": message.fingerprint.as_bytes(),
        ":attributes": &*message.attributes,
        ":now": now.unix_millis(),
    };
    if changes(connection, INSERT, values)? {
        let id = connection.last_insert_rowid();
        run(connection, INSERT_BODY, params![id, &*message.body])?;
        return u64::try_from(id)
            .map(|id| Enqueued::New(EntryId::new(id)))
            .map_err(Fault::corrupt);
    }
    match first::<OutboxEntry>(
        connection,
        SAME_ID,
        params![message.endpoint.as_str(), message_id],
    )? {
        Some(there) if there.message.has_same_content(message) => {
            Ok(Enqueued::AlreadyStored(there.id))
        }
        _ => Err(Fault::Store(StoreErrorKind::Conflict.into())),
    }
}
