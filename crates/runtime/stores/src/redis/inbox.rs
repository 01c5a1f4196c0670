//! The inbox: one script call for each operation.

use super::RenewedConnection;
use super::script::{RedisUrlError, Script, Server, manager};
use crate::UNREADABLE;
use crate::columns::{Cells, corrupt, readable};
use bankrail_mailbox::{
    EntryId, Inbox, InboxCounts, InboxEntry, InboxUpdate, Incoming, Kind, Lease, LeaseOwner,
    OpaqueBytes, ReceiveOutcome,
};
use bankrail_values::{EXPIRY_GRACE, StoreError, StoreErrorKind, StoreFuture, Timestamp};
use redis::aio::ConnectionLike;
use redis::{Cmd, FromRedisValue};
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

const SCRIPT: &str = include_str!("inbox.lua");

/// The maximum number of entries that one call forgets.
const FORGET_BATCH: u32 = 500;

bankrail_values::options! {
    /// Options of a [`RedisInbox`].
    #[derive(Clone, Debug)]
    pub struct RedisInboxOptions {
        /// The name, for inboxes that share a server. Keys start with `{bankrail:NAME}`. Default:
        /// `inbox`.
        name(&str => |name| name.into()): Box<str> = "inbox".into(),
        /// The maximum duration of a call, connecting included. Default: 2 s.
        timeout: Duration = Duration::from_secs(2),
        /// The retention of completed messages. Default: 30 days.
        retention: Duration = Duration::from_secs(30 * 86_400),
    }
}

/// The inbox of one receiver, or of several that share it, on a Valkey or Redis server or cluster.
///
/// - Each operation is one script, which the server runs alone. So message and acknowledgement are
///   stored in one step, and only one delivery takes a duplicate key.
/// - All keys of an inbox are in one hash slot. Inboxes of other names may be on other nodes of a
///   cluster. While a cluster moves an inbox's slot from node to node key by key, each call fails
///   with [`StoreErrorKind::Unavailable`] and has done nothing; the sender delivers again.
/// - Pending messages and dead letters never expire. A completed message and its keys are
///   forgotten once [`RedisInboxOptions::retention`] and [`EXPIRY_GRACE`] have passed since its
///   completion, by the callers' clock. Each received message drops up to eight such messages, so
///   no sweeper is needed; [`Inbox::forget`] drops all of them at once. A later duplicate counts as
///   new, but receivers refuse it for its age.
/// - An answer is as durable as the server makes it: run it with `appendonly yes`,
///   `appendfsync always` and `maxmemory-policy noeviction`. After a failover that loses
///   acknowledged writes, an acknowledged message is lost, because the sender does not deliver it
///   again.
/// - A handler's effect cannot share this engine's transaction: handlers run at least once.
///
/// ```no_run
/// use bankrail_stores::redis::{RedisInbox, RedisInboxOptions};
/// use std::time::Duration;
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let options = RedisInboxOptions::new().retention(Duration::from_secs(90 * 86_400));
/// let inbox = RedisInbox::open("redis://127.0.0.1/", options)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RedisInbox<C = RenewedConnection> {
    server: Server<C>,
    script: std::sync::Arc<Script>,
    prefix: Box<str>,
    /// A key that never exists. While its slot moves in a cluster, no node accepts a command for
    /// this key and another one.
    absent: Box<str>,
    options: RedisInboxOptions,
}

impl RedisInbox {
    /// Creates the inbox on the server at `url`, such as `redis://127.0.0.1/`. The first request
    /// connects, and later ones reconnect after the connection was lost or gave no answer
    /// ([`RenewedConnection`]). Call this within a tokio runtime.
    ///
    /// # Errors
    /// [`RedisUrlError`] if `url` is not a URL of a server, or needs a feature that this build does
    /// not have.
    pub fn open(url: &str, options: RedisInboxOptions) -> Result<Self, RedisUrlError> {
        Ok(Self::over(manager(url)?, options))
    }
}

impl<C: ConnectionLike + Clone + Send + Sync> RedisInbox<C> {
    /// Creates the inbox over this connection: a multiplexed connection, a connection manager or a
    /// cluster connection.
    #[must_use]
    pub fn over(connection: C, options: RedisInboxOptions) -> Self {
        let prefix = format!("{{bankrail:{}}}", options.name);
        let script = std::sync::Arc::new(Script::new(SCRIPT));
        let absent = format!("{prefix}:absent").into();
        Self {
            server: Server {
                connection,
                timeout: options.timeout,
            },
            script,
            prefix: prefix.into(),
            absent,
            options,
        }
    }

    /// Runs one operation.
    async fn call<T: FromRedisValue>(
        &self,
        operation: &str,
        now: Timestamp,
        arguments: impl Fn(&mut Cmd),
    ) -> Result<T, StoreError> {
        let keys: [&str; 2] = [&self.prefix, &self.absent];
        let arguments = |command: &mut Cmd| {
            command.arg(operation).arg(now.unix_millis());
            arguments(command);
        };
        self.server.run(&self.script, &keys, arguments).await
    }

    /// Returns entries, and the numbers of the entries that this version cannot read.
    async fn entries(
        &self,
        operation: &str,
        now: Timestamp,
        arguments: impl Fn(&mut Cmd),
    ) -> Result<(Vec<InboxEntry>, Vec<EntryId>), StoreError> {
        let rows: Vec<Vec<Option<Vec<u8>>>> = self.call(operation, now, arguments).await?;
        let mut entries = Vec::with_capacity(rows.len());
        let mut unreadable = Vec::new();
        for row in rows {
            match readable(&Fields(row))? {
                Ok(entry) => entries.push(entry),
                Err(id) => unreadable.push(id),
            }
        }
        Ok((entries, unreadable))
    }
}

impl<C: ConnectionLike + Clone + Send + Sync> Inbox for RedisInbox<C> {
    fn receive<'a>(
        &'a self,
        message: &'a Incoming,
        now: Timestamp,
    ) -> StoreFuture<'a, ReceiveOutcome> {
        let keys: Vec<String> = message
            .key
            .hashes()
            .iter()
            .map(ToString::to_string)
            .collect();
        let keys = keys.join(" ");
        let fingerprints = [message.fingerprint]
            .into_iter()
            .chain(message.other_spellings.iter().copied());
        let fingerprints: Vec<u8> = fingerprints
            .flat_map(|fingerprint| *fingerprint.as_bytes())
            .collect();
        let before = now
            .saturating_sub(self.options.retention)
            .saturating_sub(EXPIRY_GRACE);
        Box::pin(async move {
            let answer = self.call("receive", now, |command| {
                command
                    .arg(before.unix_millis())
                    .arg(&keys)
                    .arg(&fingerprints);
                command.arg("interim").arg(u8::from(message.interim));
                command.arg("kind").arg(message.kind.as_str());
                command.arg("attributes").arg(&*message.attributes);
                command
                    .arg("acknowledgement")
                    .arg(&*message.acknowledgement);
                command.arg("body").arg(&*message.body);
            });
            outcome(answer.await?).ok_or_else(|| StoreErrorKind::Corrupt.into())
        })
    }

    fn lease<'a>(
        &'a self,
        kinds: &'a [Kind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<InboxEntry>> {
        // Each kind once.
        let kinds: BTreeSet<&str> = kinds.iter().map(Kind::as_str).collect();
        Box::pin(async move {
            let leased = self.entries("lease", now, |command| {
                command
                    .arg(limit)
                    .arg(lease.owner.as_bytes())
                    .arg(lease.until.unix_millis());
                for kind in &kinds {
                    command.arg(kind);
                }
            });
            let (entries, unreadable) = leased.await?;
            for id in unreadable {
                // Made a dead letter, because each lease would find it again. A failure does not
                // hold up the other entries.
                if let Err(error) = self.dead_letter(id, lease.owner, UNREADABLE, now).await {
                    tracing::error!(entry = %id, %error, "an unreadable entry could not be made a dead letter");
                }
            }
            Ok(entries)
        })
    }

    fn update<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        update: InboxUpdate<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        Box::pin(self.call("update", now, move |command| {
            command
                .arg(id.get())
                .arg(owner.as_bytes())
                .arg(update.state.as_str());
            for instant in [update.due, update.until] {
                command.arg(
                    instant
                        .map(|instant| instant.unix_millis().to_string())
                        .unwrap_or_default(),
                );
            }
            command.arg(update.error);
        }))
    }

    fn release_all<'a>(&'a self, owners: &'a [LeaseOwner]) -> StoreFuture<'a, u64> {
        let owners: Vec<u8> = owners.iter().flat_map(|owner| *owner.as_bytes()).collect();
        Box::pin(async move {
            let released = self.call("release_all", Timestamp::UNIX_EPOCH, |command| {
                command.arg(&owners);
            });
            released.await
        })
    }

    fn recall(&self, latest: Timestamp, now: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.call("recall", now, move |command| {
            command.arg(latest.unix_millis());
        }))
    }

    fn dead_letters(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>> {
        Box::pin(async move {
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let mut after = after.map_or(0, EntryId::get);
            let mut listed = Vec::new();
            while listed.len() < limit {
                let page = self.entries("dead_letters", Timestamp::UNIX_EPOCH, |command| {
                    command.arg(after).arg(limit - listed.len());
                });
                let (entries, unreadable) = page.await?;
                let Some(last) = entries.iter().map(|entry| entry.id).chain(unreadable).max()
                else {
                    break;
                };
                after = last.get();
                listed.extend(entries);
            }
            Ok(listed)
        })
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.call("resend", now, move |command| {
            command.arg(id.get());
        }))
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<InboxEntry>> {
        Box::pin(async move {
            let found = self.entries("find", Timestamp::UNIX_EPOCH, |command| {
                command.arg(id.get());
            });
            let (mut entries, unreadable) = found.await?;
            if unreadable.is_empty() {
                Ok(entries.pop())
            } else {
                Err(StoreErrorKind::Corrupt.into())
            }
        })
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(async move {
            let mut forgotten = 0;
            loop {
                let piece = self.call("forget", before, |command| {
                    command.arg(before.unix_millis()).arg(FORGET_BATCH);
                });
                match piece.await? {
                    0 => return Ok(forgotten),
                    piece => forgotten += piece,
                }
            }
        })
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(async move {
            let received: Option<i64> = self.call("oldest", Timestamp::UNIX_EPOCH, |_| {}).await?;
            let instant = |millis| {
                Timestamp::from_unix_millis(millis).ok_or_else(|| StoreErrorKind::Corrupt.into())
            };
            received.map(instant).transpose()
        })
    }

    fn counts(&self) -> StoreFuture<'_, InboxCounts> {
        Box::pin(async move {
            let (pending, completed, dead_letters) =
                self.call("counts", Timestamp::UNIX_EPOCH, |_| {}).await?;
            Ok(InboxCounts {
                pending,
                completed,
                dead_letters,
            })
        })
    }

    fn retention(&self) -> Option<Duration> {
        Some(self.options.retention)
    }
}

impl<C> fmt::Debug for RedisInbox<C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RedisInbox")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// Reads an answer of the script. Returns `None` if the answer is malformed.
fn outcome(
    (word, id, acknowledgement, with): (String, String, Vec<u8>, Option<String>),
) -> Option<ReceiveOutcome> {
    let id = entry_id(&id)?;
    let acknowledgement = OpaqueBytes::from(acknowledgement);
    Some(match word.as_str() {
        "new" => ReceiveOutcome::New {
            id,
            acknowledgement,
        },
        "duplicate" => ReceiveOutcome::Duplicate {
            id,
            acknowledgement,
        },
        "in_progress" => ReceiveOutcome::InProgress {
            id,
            acknowledgement,
        },
        "conflict" => ReceiveOutcome::Conflict {
            id,
            acknowledgement,
            with: entry_id(&with?)?,
        },
        _ => return None,
    })
}

/// The fields of an entry, in the order in which the script returns them (`FIELDS` there).
const FIELDS: [&str; 11] = [
    "id",
    "kind",
    "attributes",
    "body",
    "acknowledgement",
    "received",
    "conflicts_with",
    "follows",
    "state",
    "attempts",
    "last_error",
];

/// An entry as the script returns it. Numbers are text.
struct Fields(Vec<Option<Vec<u8>>>);

impl Cells for Fields {
    fn integer(&self, column: &str) -> Result<Option<i64>, StoreError> {
        self.text(column)?
            .map(|text| text.parse().map_err(corrupt))
            .transpose()
    }

    fn text(&self, column: &str) -> Result<Option<&str>, StoreError> {
        self.blob(column)?
            .map(|bytes| str::from_utf8(bytes).map_err(corrupt))
            .transpose()
    }

    fn blob(&self, column: &str) -> Result<Option<&[u8]>, StoreError> {
        let at = FIELDS.iter().position(|field| *field == column);
        Ok(at.and_then(|at| self.0.get(at)?.as_deref()))
    }
}

fn entry_id(text: &str) -> Option<EntryId> {
    text.parse().ok().map(EntryId::new)
}
