//! An enqueue wakes the idle workers of other processes.
//!
//! - `NOTIFY` makes transactions wait for each other's commit. So an enqueue notifies as a rule
//!   only while a worker is idle.
//! - An idle worker holds all of some advisory locks, shared with other idle ones. An enqueue tries
//!   for one of two of them alone, until its transaction ends, and notifies if it gets neither.
//! - So the enqueue notifies; or the worker gets that lock only after its commit, and looks again
//!   then.
//! - The first notification makes the worker give the locks back, and it waits a little before it
//!   takes them again: busy enqueues hardly ever find one that is idle.
//! - Of enqueues by 8 and 16 connections to one server, half of which asked for the locks and half
//!   did not, the former took at most 2 % longer.
//! - Nothing depends on a notification: a worker also looks at its own interval.

use crate::postgres::pool::Notifications;
use crate::postgres::values::get;
use crate::postgres::{Fault, PostgresStore, Shared};
use bankrail_values::StoreError;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio_postgres::Statement;
use tokio_postgres::types::Type;

/// The number of the locks, for the statements below.
const LOCKS: i32 = 64;

/// A lock by its number. Schemas have locks of their own.
macro_rules! lock {
    ($number:literal) => {
        concat!(
            "hashtextextended('bankrail_outbox_idle', 64 * 'bankrail_outbox_queue'::regclass::oid::bigint + ",
            $number,
            ")"
        )
    };
}
pub(super) use lock;

/// Notifies the idle workers, if there are any, once this transaction is committed. Two enqueues
/// that meet at a lock take each other for a worker, unless the one gets a second lock: connections
/// that were opened one after the other have different first locks, and most others a different
/// second one.
macro_rules! notified {
    () => {
        concat!(
            "CASE WHEN pg_try_advisory_xact_lock(",
            crate::postgres::outbox::changed::lock!("pg_backend_pid() % 64"),
            ") THEN FALSE WHEN pg_try_advisory_xact_lock(",
            crate::postgres::outbox::changed::lock!("pg_backend_pid() / 64 % 64"),
            ") THEN FALSE
            ELSE pg_notify('bankrail_outbox_' || 'bankrail_outbox_queue'::regclass::oid, '') IS NOT NULL
            END AS notified"
        )
    };
}
pub(super) use notified;

const CHANNEL: &str =
    "SELECT 'bankrail_outbox_' || 'bankrail_outbox_queue'::regclass::oid AS channel";

/// Takes locks, and returns those that an enqueue has.
const HOLD: &str = concat!(
    "SELECT number FROM unnest($1::int[]) AS number WHERE NOT pg_try_advisory_lock_shared(",
    lock!("number"),
    ")"
);

/// Whether there is a message that the last lease did not see. Numbers of another cluster's
/// transactions, as after a restore, say nothing.
macro_rules! fresh {
    ($before:literal) => {
        concat!(
            "WITH state AS MATERIALIZED (SELECT seen FROM bankrail_outbox_cursor ORDER BY number DESC LIMIT 1)
            SELECT ",
            $before,
            "EXISTS (SELECT FROM bankrail_outbox_queue
                WHERE freed >= (SELECT txid_snapshot_xmax(seen) FROM state)
                    AND freed < txid_snapshot_xmax(txid_current_snapshot()))
            OR EXISTS (SELECT FROM bankrail_outbox_queue
                WHERE freed IS NOT NULL AND freed = ANY (ARRAY(SELECT txid_snapshot_xip(seen) FROM state))) AS fresh"
        )
    };
}

const LOOK: &str = fresh!("");

/// Gives all locks back and looks.
const END: &str = fresh!("pg_advisory_unlock_all(), ");

/// For how long a worker is idle before it takes the locks.
const SETTLES: Duration = Duration::from_millis(15);

/// How often the connection is used while nothing is heard, so that it is noticed if it was lost
/// without a word.
const PROVES: Duration = Duration::from_secs(30);

/// Lets PostgreSQL 14 and later end this session, and free its locks, when it has not been used for
/// three times
/// [`PROVES`]: its program is stopped or cut off.
const BOUND: &str = "SELECT set_config(name, '90s', FALSE) FROM pg_settings WHERE name = 'idle_session_timeout' AND context = 'user'";

/// The pause before a connection is made again, and the longest one before locks are tried for
/// again.
const AGAIN: Duration = Duration::from_secs(1);

/// The workers of a store that wait for messages, and the task that listens for them.
#[derive(Debug, Default)]
pub(in crate::postgres) struct Idle {
    waiting: watch::Sender<usize>,
    told: Arc<Notify>,
    listening: Mutex<Option<JoinHandle<()>>>,
}

/// A worker that waits.
struct Waiting<'a>(&'a watch::Sender<usize>);

impl<'a> Waiting<'a> {
    fn new(waiting: &'a watch::Sender<usize>) -> Self {
        waiting.send_modify(|workers| *workers += 1);
        Self(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|workers| *workers -= 1);
    }
}

pub(super) async fn changed(store: &PostgresStore) -> Result<(), StoreError> {
    if !store.shared.pool.keeps_sessions() {
        return std::future::pending().await;
    }
    let Idle {
        waiting,
        told,
        listening,
    } = &store.shared.idle;
    let _waiting = Waiting::new(waiting);
    {
        let mut listening = listening.lock().unwrap_or_else(PoisonError::into_inner);
        // It also ends with the runtime of the first call.
        if listening.as_ref().is_none_or(JoinHandle::is_finished) {
            let listen = listen(
                Arc::downgrade(&store.shared),
                waiting.subscribe(),
                Arc::clone(told),
            );
            *listening = Some(tokio::spawn(listen));
        }
    }
    told.notified().await;
    Ok(())
}

/// Until the store is no longer used.
async fn listen(store: Weak<Shared>, waiting: watch::Receiver<usize>, told: Arc<Notify>) {
    let mut failed = false;
    loop {
        let Some(shared) = store.upgrade() else {
            return;
        };
        let timeout = shared.timeout;
        let opened = bounded(timeout, shared.pool.apart()).await;
        drop(shared);
        let ended = match opened {
            Ok(notifications) => {
                failed = false;
                follow(notifications, timeout, waiting.clone(), &told).await
            }
            Err(fault) => Err(fault),
        };
        let Err(fault) = ended else { return };
        if !failed {
            tracing::warn!(error = %StoreError::from(fault), "enqueued messages are not heard of");
        }
        failed = true;
        tokio::time::sleep(AGAIN).await;
    }
}

/// Tells waiting workers of what a connection hears. `Ok`: the store is no longer used.
async fn follow(
    Notifications {
        told: mut heard,
        client,
    }: Notifications,
    timeout: Duration,
    mut waiting: watch::Receiver<usize>,
    told: &Notify,
) -> Result<(), Fault> {
    let prepare = async {
        client.batch_execute(BOUND).await?;
        let channel: String = client.query_typed_one(CHANNEL, &[]).await?.get(0);
        client.batch_execute(&format!("LISTEN {channel}")).await?;
        let [hold, look] = [
            client.prepare_typed(HOLD, &[Type::INT4_ARRAY]),
            client.prepare_typed(LOOK, &[]),
        ];
        Ok((
            hold.await?,
            look.await?,
            client.prepare_typed(END, &[]).await?,
        ))
    };
    let (hold, look, end) = bounded(timeout, prepare).await?;
    let is_fresh = async |look: &Statement| {
        let answer = bounded(timeout, async { Ok(client.query_one(look, &[]).await?) }).await?;
        Ok::<bool, Fault>(get(&answer, "fresh")?)
    };
    loop {
        let someone = async { waiting.wait_for(|workers| *workers > 0).await.is_ok() };
        match tokio::time::timeout(PROVES, someone).await {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(_) => {
                bounded(timeout, async { Ok(client.batch_execute("SELECT").await?) }).await?;
                continue;
            }
        }
        tokio::time::sleep(SETTLES).await;
        if *waiting.borrow() == 0 {
            continue;
        }
        // The look below sees what this was about.
        while heard.try_recv().is_ok() {}
        let (mut left, mut pause) = ((0..LOCKS).collect::<Vec<i32>>(), SETTLES);
        loop {
            let rows = bounded(timeout, async { Ok(client.query(&hold, &[&left]).await?) }).await?;
            left = rows
                .iter()
                .map(|row| get(row, "number"))
                .collect::<Result<_, _>>()?;
            if is_fresh(&look).await? {
                break;
            }
            tokio::select! {
                notification = heard.recv() => {
                    notification.ok_or(Fault::Lost("the connection was lost"))?;
                    break;
                }
                // An enqueue that has one of the locks need not notify. It may be in a long
                // transaction.
                () = tokio::time::sleep(if left.is_empty() { PROVES } else { pause }) => {}
                Err(_) = waiting.wait_for(|_| false) => return Ok(()),
            }
            pause = (pause * 2).min(AGAIN);
        }
        if is_fresh(&end).await? && *waiting.borrow() > 0 {
            told.notify_one();
        }
    }
}

async fn bounded<T>(
    timeout: Duration,
    work: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    tokio::time::timeout(timeout, work)
        .await
        .unwrap_or(Err(Fault::Lost("there was no answer in time")))
}
