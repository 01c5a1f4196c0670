//! The choice of entries to lease, in which the endpoints take turns.

use super::EndpointId;
use crate::lease::{EntryId, Lease};

/// A request to lease entries. To exclude an endpoint, stop it
/// ([`Outbox::stop_endpoint`](super::Outbox::stop_endpoint)) or hold it back
/// ([`Outbox::hold_endpoint`](super::Outbox::hold_endpoint)).
///
/// - The endpoints take turns. An entry's turn is the number of its endpoint's leases that last
///   beyond now, of all workers, plus the number of the endpoint's due and free entries before it.
///   These are in the order of their due times, then of enqueueing. Lower turns go first.
/// - Within a turn the endpoints go round in the order of their names, from the one after
///   [`LeaseRequest::after`] on. So no backlog, however long and old, keeps another endpoint's
///   first entry waiting for more than one round.
/// - Of an endpoint whose circuit has opened at most one entry is under lease
///   ([`Circuit`](crate::Circuit)).
/// - Slow endpoints have a separate limit and a separate round ([`LeaseRequest::slow`]).
/// - An entry of a later turn is leased only if enough of the limit stays free
///   ([`LeaseRequest::reserve`]).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LeaseRequest<'a> {
    /// The lease that the entries get.
    pub lease: Lease,
    /// The maximum number of entries of endpoints that are not slow.
    pub limit: u32,
    /// The endpoint that was leased last.
    pub after: Option<&'a EndpointId>,
    /// The maximum number of entries of one endpoint under lease at once.
    pub per_endpoint: u32,
    /// The slow endpoints, which have a separate limit.
    pub slow: &'a [EndpointId],
    /// The maximum number of entries of slow endpoints.
    pub slow_limit: u32,
    /// The slow endpoint that was leased last.
    pub slow_after: Option<&'a EndpointId>,
    /// The number of entries that stay free of a limit for each turn: an entry of turn `n`, counted
    /// from 0, is leased only if `n * reserve` more entries fit the limit.
    pub reserve: u32,
}

impl<'a> LeaseRequest<'a> {
    /// Creates a request for at most `limit` entries of any endpoints, under this lease.
    #[must_use]
    pub fn new(lease: Lease, limit: u32) -> Self {
        Self {
            lease,
            limit,
            after: None,
            per_endpoint: u32::MAX,
            slow: &[],
            slow_limit: 0,
            slow_after: None,
            reserve: 0,
        }
    }

    /// Sets the endpoint whose entry was leased last; the round continues after it. Default: the
    /// round begins with the first name.
    #[must_use]
    pub fn after(mut self, endpoint: Option<&'a EndpointId>) -> Self {
        self.after = endpoint;
        self
    }

    /// Sets the maximum number of entries of one endpoint under lease at once, by all workers. Only
    /// leases that last beyond now count. A delivery that outlives its lease no longer counts, so a
    /// worker needs leases that are longer than its deliveries. Default: no bound.
    #[must_use]
    pub fn per_endpoint(mut self, entries: u32) -> Self {
        self.per_endpoint = entries;
        self
    }

    /// Sets the slow endpoints, whose entries count against this limit and not against that of
    /// [`LeaseRequest::new`], and the slow endpoint whose entry was leased last. Default: none.
    #[must_use]
    pub fn slow(
        mut self,
        endpoints: &'a [EndpointId],
        limit: u32,
        after: Option<&'a EndpointId>,
    ) -> Self {
        self.slow = endpoints;
        self.slow_limit = limit;
        self.slow_after = after;
        self
    }

    /// Sets the number of entries that stay free for each turn: an entry of turn `n`, counted from
    /// 0, is leased only if `n * entries` more fit its limit. The free places are for endpoints
    /// with fewer entries under lease. Default: 0.
    #[must_use]
    pub fn reserve(mut self, entries: u32) -> Self {
        self.reserve = entries;
        self
    }

    /// Chooses among the candidates, for engines: the entries to lease, in their order, those of
    /// slow endpoints last.
    ///
    /// The candidates are the first due and free entries of each endpoint that is neither stopped
    /// nor held: as many as [`Circuit::bound`](crate::Circuit::bound) of
    /// [`LeaseRequest::per_endpoint`] allows in addition to its leases, or as many as the limit
    /// allows. A lease that is already over does not count, so an endpoint below its bound may have
    /// any number of candidates.
    #[must_use]
    pub fn choose(&self, mut candidates: Vec<LeaseCandidate>) -> Vec<EntryId> {
        let is_next_round = |entry: &LeaseCandidate| {
            let after = if entry.slow {
                self.slow_after
            } else {
                self.after
            };
            after.is_some_and(|after| entry.endpoint.as_str() <= after.as_str())
        };
        candidates.sort_by(|a, b| {
            let key = |entry: &LeaseCandidate| (entry.slow, entry.turn, is_next_round(entry));
            key(a)
                .cmp(&key(b))
                .then_with(|| a.endpoint.cmp(&b.endpoint))
        });
        let mut quick = 0_u64;
        let mut slow = 0_u64;
        candidates.retain(|entry| {
            let (taken, limit) = if entry.slow {
                (&mut slow, self.slow_limit)
            } else {
                (&mut quick, self.limit)
            };
            let reserved = u64::from(entry.turn) * u64::from(self.reserve);
            let fits = (*taken + 1).saturating_add(reserved) <= u64::from(limit);
            *taken += u64::from(fits);
            fits
        });
        candidates.iter().map(|entry| entry.id).collect()
    }
}

/// A pending entry that is due and free, for [`LeaseRequest::choose`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "engines make them")]
pub struct LeaseCandidate {
    /// The entry.
    pub id: EntryId,
    /// The name of the endpoint.
    pub endpoint: String,
    /// The turn of the entry, counted from 0 ([`LeaseRequest`]).
    pub turn: u32,
    /// True if the endpoint is one of [`LeaseRequest::slow`].
    pub slow: bool,
}
