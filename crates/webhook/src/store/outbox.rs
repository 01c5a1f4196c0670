//! The sender's outbox: nothing enqueued is lost.
//!
//! The plain JSON is stored, and sealed anew at each attempt: keys rotate between attempts and a dead letter may be
//! sent again days later, when a token sealed at enqueue would no longer open. Retries are few, so the second signature
//! costs little. The store therefore holds payload: protect it as the ledger is protected.

use super::{EntryId, Lease, Owner};
use crate::finding::{Finding, RuleClass};
use crate::headers::{DeliveryHeaders, HeaderError};
use crate::kind::MessageKind;
use bankrail_values::{BoundedText, HyphenatedUuid, StoreFuture, Timestamp};
use std::fmt;
use std::time::Duration;

/// A receiver's endpoint, as the sender names it: 1 to 200 code points.
pub type EndpointId = BoundedText<1, 200>;

/// The most octets of a message's JSON in [`Outgoing::new`]: what fits an envelope by default.
pub const MAX_OUTGOING_OCTETS: usize = 250_000;

/// A message to deliver. [`Outgoing::new`] makes only one that satisfies the specification to the letter;
/// [`Outgoing::from_stored`], for engines, checks nothing.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outgoing {
    endpoint: EndpointId,
    kind: MessageKind,
    headers: DeliveryHeaders,
    body: Vec<u8>,
}

impl Outgoing {
    /// Checks message and headers and writes the message's JSON.
    ///
    /// # Errors
    /// [`OutgoingError::Findings`] for a message with a finding of form, an unknown code or an unknown member;
    /// [`OutgoingError::Headers`] for headers that break the table of the message's kind; [`OutgoingError::TooLarge`] for
    /// more than [`MAX_OUTGOING_OCTETS`]; [`OutgoingError::Endpoint`] for an endpoint's name that not every engine keeps.
    pub fn new(
        endpoint: EndpointId,
        message: &crate::Message,
        headers: DeliveryHeaders,
    ) -> Result<Self, OutgoingError> {
        headers.check(message.kind()).map_err(OutgoingError::Headers)?;
        let mut findings = message.validate();
        findings.retain(|finding| finding.rule.class() != RuleClass::Consistency);
        if !findings.is_empty() {
            return Err(OutgoingError::Findings { findings });
        }
        if endpoint.as_str().contains('\0') {
            return Err(OutgoingError::Endpoint);
        }
        let body = message.to_json();
        if body.len() > MAX_OUTGOING_OCTETS {
            return Err(OutgoingError::TooLarge { found: body.len(), allowed: MAX_OUTGOING_OCTETS });
        }
        Ok(Self { endpoint, kind: message.kind(), headers, body })
    }

    /// A message as a store kept it: made by [`Outgoing::new`] once.
    #[must_use]
    pub fn from_stored(endpoint: EndpointId, kind: MessageKind, headers: DeliveryHeaders, body: Vec<u8>) -> Self {
        Self { endpoint, kind, headers, body }
    }

    /// Whether both are one message, made anew perhaps: kind and headers are equal, and so is the content but for
    /// `creation_date_time`. For engines, of two messages with one `X-Message-Id`.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        let content = |body: &[u8]| Some(crate::Message::from_json(self.kind, body).ok()?.message.fingerprint());
        self.kind == other.kind
            && self.headers == other.headers
            && (self.body == other.body || content(&self.body).is_some_and(|own| content(&other.body) == Some(own)))
    }

    /// Where to.
    #[must_use]
    pub fn endpoint(&self) -> &EndpointId {
        &self.endpoint
    }

    /// Which of the four.
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        self.kind
    }

    /// The headers, the same at each attempt.
    #[must_use]
    pub fn headers(&self) -> &DeliveryHeaders {
        &self.headers
    }

    /// `X-Message-Id`, the same at each attempt.
    #[must_use]
    pub fn message_id(&self) -> HyphenatedUuid {
        self.headers.message_id
    }

    /// The plain JSON.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}

impl fmt::Debug for Outgoing {
    /// Without the body: it holds names and accounts.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Outgoing")
            .field("endpoint", &self.endpoint)
            .field("kind", &self.kind)
            .field("headers", &self.headers)
            .field("body", &format_args!("{} octets", self.body.len()))
            .finish()
    }
}

/// Why a message is not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutgoingError {
    /// The message has findings of form, unknown codes or unknown members.
    #[error("expected a message of the specification's form, found {} findings", findings.len())]
    Findings {
        /// They.
        findings: Vec<Finding>,
    },
    /// The headers break the table of the message's kind.
    #[error("the headers are not those of the message")]
    Headers(#[source] HeaderError),
    /// The message would not be sealed at any attempt.
    #[error("expected a message of at most {allowed} octets, found {found}")]
    TooLarge {
        /// Its octets.
        found: usize,
        /// The most.
        allowed: usize,
    },
    /// U+0000 in the endpoint's name.
    #[error("expected the name of an endpoint without U+0000")]
    Endpoint,
}

/// What [`Outbox::enqueue`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "there or there already")]
pub enum Enqueued {
    /// Stored; due at once.
    New(EntryId),
    /// This message is stored already, under its `X-Message-Id` and for its endpoint: nothing was changed.
    Already(EntryId),
}

impl Enqueued {
    /// The entry.
    #[must_use]
    pub fn id(self) -> EntryId {
        match self {
            Self::New(id) | Self::Already(id) => id,
        }
    }
}

/// The state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "engines store each")]
pub enum OutboxState {
    /// Waits for its time, or is leased.
    Pending,
    /// Delivered.
    Delivered,
    /// Given up: listed by [`Outbox::dead_letters`], sent again by [`Outbox::resend`].
    Dead,
}

impl OutboxState {
    /// A stable name, for stores.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Dead => "dead",
        }
    }

    /// The state of a stable name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Pending, Self::Delivered, Self::Dead].into_iter().find(|state| state.as_str() == name)
    }
}

/// A stored message to deliver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "engines make them")]
pub struct OutboxEntry {
    /// The store's number, rising with the time of enqueueing.
    pub id: EntryId,
    /// The message.
    pub message: Outgoing,
    /// The state.
    pub state: OutboxState,
    /// When it was enqueued.
    pub enqueued_at: Timestamp,
    /// When it is due; of no meaning unless pending.
    pub due: Timestamp,
    /// Attempts recorded since it was enqueued or sent again. The schedule goes by it.
    pub attempts: u32,
}

/// One attempt, without payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "engines and workers make them")]
pub struct Attempt {
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took, in milliseconds as kept.
    pub duration: Duration,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// What went wrong or was odd.
    pub note: Option<AttemptNote>,
}

macro_rules! notes {
    ($( $(#[$doc:meta])* $name:ident = $text:literal, )*) => {
        /// What went wrong with an attempt, or was odd about it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum AttemptNote { $( $(#[$doc])* $name, )* }

        impl AttemptNote {
            /// All notes.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// A stable name, for stores.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$name => $text, )* }
            }

            /// The note of a stable name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|note| note.as_str() == name)
            }
        }
    };
}

notes! {
    /// No answer in time.
    TimedOut = "timed_out",
    /// No connection.
    NoConnection = "no_connection",
    /// The TLS handshake failed.
    Tls = "tls",
    /// The connection broke before the answer was complete.
    Broken = "broken",
    /// A redirection, which is never followed.
    Redirected = "redirected",
    /// A status other than 2xx.
    Refused = "refused",
    /// 2xx, with a body that is no acknowledgement.
    WrongBody = "wrong_body",
    /// 410: the endpoint is gone.
    Gone = "gone",
    /// The message could not be sealed: a key is missing or refuses.
    NotSealed = "not_sealed",
    /// Anything else.
    Other = "other",
}

/// What becomes of an entry after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "engines act on each")]
pub enum Next {
    /// It was delivered.
    Delivered,
    /// It is due again then.
    Retry(Timestamp),
    /// It is given up.
    Dead,
}

/// Which entries to lease.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "engines read them")]
pub struct LeaseRequest<'a> {
    /// Whose they shall be, and until when.
    pub lease: Lease,
    /// The most entries.
    pub limit: u32,
    /// The most entries of one endpoint under lease at once, those of other workers counted. Only leases that last
    /// beyond now count: an attempt that outlives its lease may still be under way and is not counted any more, so a
    /// worker leases for longer than its attempts can take.
    pub per_endpoint: u32,
    /// Endpoints to leave out, as a circuit breaker says.
    pub except: &'a [EndpointId],
}

/// An endpoint that takes no deliveries.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "engines make them")]
pub struct StoppedEndpoint {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Since when.
    pub since: Timestamp,
    /// Why.
    pub reason: String,
}

/// How many entries there are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "engines make them")]
pub struct OutboxCounts {
    /// Waiting or leased.
    pub pending: u64,
    /// Delivered and not yet forgotten.
    pub delivered: u64,
    /// Given up.
    pub dead: u64,
}

/// Where a sender keeps messages until they are delivered. Every answer is durable before it is given.
///
/// Rules for engines, which the suite of the `testing` feature checks:
/// - A lease belongs to its owner strictly before `until`. From `until` on another may take the entry; until somebody
///   does, the owner may still record. Calls by anyone but the owner change nothing and answer `false`.
/// - Entries of a stopped endpoint are kept and not leased.
/// - `now` is the caller's; a store never reads a clock.
pub trait Outbox: fmt::Debug + Send + Sync {
    /// Stores a message, due at once. Durable before it returns. A message for a stopped endpoint is stored too. Another
    /// message ([`Outgoing::says_the_same`]) under an `X-Message-Id` that is stored for the endpoint is an error of the kind
    /// [`StoreErrorKind::Conflict`](bankrail_values::StoreErrorKind::Conflict): it would never be sent.
    fn enqueue<'a>(&'a self, message: &'a Outgoing, now: Timestamp) -> StoreFuture<'a, Enqueued>;

    /// Leases pending entries that are due and free, by due time and then in order of enqueueing.
    fn lease<'a>(&'a self, request: LeaseRequest<'a>, now: Timestamp) -> StoreFuture<'a, Vec<OutboxEntry>>;

    /// Records an attempt and what becomes of the entry, in one step, and ends the lease. `false`: the lease is no
    /// longer the owner's, and nothing was recorded.
    fn record<'a>(
        &'a self,
        id: EntryId,
        owner: Owner,
        attempt: &'a Attempt,
        next: Next,
        now: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Gives an entry back without an attempt, due at `due`: a graceful stop. `false`: the lease is no longer the
    /// owner's.
    fn release(&self, id: EntryId, owner: Owner, due: Timestamp) -> StoreFuture<'_, bool>;

    /// When the next pending entry of an endpoint that is not stopped becomes due or free of its lease. `None`: there
    /// is none.
    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>>;

    /// Every attempt recorded for an entry, in their order, those before a resend included.
    fn attempts(&self, id: EntryId) -> StoreFuture<'_, Vec<Attempt>>;

    /// The entry.
    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxEntry>>;

    /// Entries given up, of one endpoint or of all, after the entry `after`, in the order of enqueueing.
    fn dead_letters<'a>(
        &'a self,
        endpoint: Option<&'a EndpointId>,
        after: Option<EntryId>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<OutboxEntry>>;

    /// Makes a dead entry pending again, due at once, its attempts counted from zero, `X-Message-Id` unchanged.
    /// `false`: it is not dead.
    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool>;

    /// Stops an endpoint. Stopping a stopped one changes nothing.
    fn stop_endpoint<'a>(&'a self, endpoint: &'a EndpointId, reason: &'a str, now: Timestamp) -> StoreFuture<'a, ()>;

    /// Resumes an endpoint; its pending entries go on. `false`: it was not stopped.
    fn resume_endpoint<'a>(&'a self, endpoint: &'a EndpointId) -> StoreFuture<'a, bool>;

    /// The stopped endpoints, by name.
    fn stopped_endpoints(&self) -> StoreFuture<'_, Vec<StoppedEndpoint>>;

    /// Forgets entries, with their attempts, that were delivered before `before`. Says how many.
    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64>;

    /// How many entries there are, of one endpoint or of all.
    fn counts<'a>(&'a self, endpoint: Option<&'a EndpointId>) -> StoreFuture<'a, OutboxCounts>;
}
