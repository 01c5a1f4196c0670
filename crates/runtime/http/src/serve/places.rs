//! The places of a server's connections, and the choice of the one to evict when all are taken.
//!
//! A connection that has proved no more than an API key never takes the place of one whose request
//! has proved to be its caller's:
//!
//! - An address is known for an hour after a request from it had a known caller
//!   ([`KnownCaller`](crate::KnownCaller)). All others are strangers, who together have at least a
//!   quarter of the places, and at most three quarters.
//! - A stranger for whom no place is left takes the place of another stranger: of a caller with
//!   more than a quarter of the places, if there is one. Otherwise the evicted connection is the
//!   oldest one of the address with the most connections in the network with the most. So a caller
//!   with few connections keeps them, however many connections have another API key. A customer
//!   whose machines make their first calls at the same time keeps them too.
//! - A known address takes the place of a stranger in the same way, while strangers have more
//!   than their quarter. Otherwise, and for a stranger while strangers have less, the evicted
//!   connection is one of a known address that has had no known caller itself, or else the one
//!   without a known caller for the longest time. If each has a request with a known caller under
//!   way, the new one waits.
//! - If an address has its maximum of connections, or a caller half of all places or as many
//!   requests under way, one of its own connections is evicted, in the same order. Such a caller
//!   loses half of its connections that have had no known caller. Over HTTP/2 a connection has up
//!   to 64 requests.
//! - When the operating system gives no more file descriptors, a stranger's connection is ended in
//!   the same way, and without one, as behind a proxy, a connection that has had no known caller.
//!
//! No server can distinguish honest strangers from attackers whose networks are as many as the
//! places.

mod strangers;

use super::activity::Activity;
use super::connection::MAX_HTTP2_REQUESTS;
use super::options::ServerOptions;
use crate::endpoint::Knows;
use ipnet::IpNet;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use strangers::Strangers;
use tokio::time::Instant;

/// The time for which an address is known after a request with a known caller.
const KNOWN_FOR: Duration = Duration::from_secs(3600);

/// The maximum number of addresses without a connection that stay known.
const MAX_REMEMBERED_PEERS: usize = 16 * 1024;

/// The peer that a connection is counted for: an IPv4 address, or the network of 64 bits that an
/// IPv6 address is in, because one subscriber has all of its addresses. A trusted proxy, behind
/// which many peers are, is counted by its whole address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    address: IpAddr,
    trusted: bool,
}

impl Source {
    fn of(address: IpAddr, proxies: &[IpNet]) -> Self {
        let address = address.to_canonical();
        let trusted = proxies.iter().any(|network| network.contains(&address));
        Self {
            address: if trusted {
                address
            } else {
                network(address, 32, 64)
            },
            trusted,
        }
    }

    /// Returns the network of one owner: 24 bits of an IPv4 address, 48 of an IPv6 address.
    fn network(self) -> IpAddr {
        network(self.address, 24, 48)
    }
}

/// Returns the first bits of an address, the others being zero.
fn network(address: IpAddr, of_v4: u8, of_v6: u8) -> IpAddr {
    let bits = if address.is_ipv4() { of_v4 } else { of_v6 };
    IpNet::new(address, bits).map_or(address, |network| network.network())
}

/// The reason why there is no place for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoPlace {
    /// Requests with a known caller take all places; one will become free.
    Wait,
    /// The connection is to be closed.
    Refused,
}

/// The places of one server.
#[derive(Debug)]
pub(super) struct Places {
    options: ServerOptions,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    peers: BTreeMap<Source, Peer>,
    callers: HashMap<u64, Caller>,
    strangers: Strangers,
    /// The known addresses, by the time until which they are known.
    known: BTreeSet<(Instant, Source)>,
    taken: usize,
    /// The number of connections that have begun.
    begun: u64,
}

/// The counts of one caller.
#[derive(Debug, Default)]
struct Caller {
    connections: usize,
    /// The count of requests under way: each has a clone.
    requests: Arc<()>,
}

#[derive(Debug, Default)]
struct Peer {
    connections: Vec<Arc<Activity>>,
    known_until: Option<Instant>,
}

impl Peer {
    fn is_known(&self, source: &Source) -> bool {
        source.trusted || self.known_until.is_some()
    }
}

impl Places {
    pub(super) fn new(options: ServerOptions) -> Arc<Self> {
        Arc::new(Self {
            options,
            table: Mutex::default(),
        })
    }

    /// Takes a place for a connection from this address.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Result<Place, NoPlace> {
        let source = Source::of(address, &self.options.trusted_proxies);
        // The place is judged and taken under one lock, so that two connections never get one
        // place.
        let table = &mut *self.lock();
        table.forget(Instant::now());
        let peer = table.peers.get(&source);
        let known = source.trusted || peer.is_some_and(|peer| peer.is_known(&source));
        let own = peer.map_or(&[][..], |peer| &peer.connections);
        if !source.trusted && own.len() >= self.options.max_connections_per_address {
            let (_, victim) =
                expendable(own.iter().map(|one| (source, one))).ok_or(NoPlace::Refused)?;
            table.evict(source, &victim);
        }
        let all = self.options.max_connections;
        let share = all / 4;
        let most = if known { all } else { all - share };
        let strangers = table.strangers.connections();
        if table.taken >= all || strangers >= most {
            let least = if known { share + 1 } else { share.max(1) };
            let victim = if strangers >= least {
                table.least_missed(share)
            } else {
                expendable(table.known_connections())
            };
            let (from, victim) = victim.ok_or(NoPlace::Wait)?;
            table.evict(from, &victim);
        }
        let activity = Arc::new(Activity::new(table.begun));
        table
            .peers
            .entry(source)
            .or_default()
            .connections
            .push(Arc::clone(&activity));
        table.taken += 1;
        table.begun += 1;
        table.count(source, &activity);
        Ok(Place {
            activity,
            source,
            places: Arc::clone(self),
        })
    }

    /// Ends the connection of a stranger, or else one that has had no known caller, to free its
    /// descriptor. Returns false if there is no such connection.
    pub(super) fn give_up_one(&self) -> bool {
        let table = &mut *self.lock();
        table.forget(Instant::now());
        let unproved = |(_, one): &(_, Arc<Activity>)| !one.has_known_caller();
        let victim = table
            .least_missed(self.options.max_connections / 4)
            .or_else(|| expendable(table.known_connections()).filter(unproved));
        victim.is_some_and(|(from, victim)| {
            table.evict(from, &victim);
            true
        })
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // Each change leaves the table consistent, so a panic elsewhere does no harm.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Returns the connections of addresses that are known.
    fn known_connections(&self) -> impl Iterator<Item = (Source, &Arc<Activity>)> {
        let peers = self.peers.iter();
        peers
            .filter(|(source, peer)| peer.is_known(source))
            .flat_map(|(source, peer)| peer.connections.iter().map(|one| (*source, one)))
    }

    /// Counts a connection among those of strangers, unless its address is known.
    fn count(&mut self, source: Source, connection: &Activity) {
        let peer = self.peers.get(&source);
        if peer.is_some_and(|peer| !peer.is_known(&source)) {
            self.strangers.insert(source, connection);
        }
    }

    /// Picks the stranger's connection to evict, first among the callers that exceed `share`.
    fn least_missed(&mut self, share: usize) -> Option<(Source, Arc<Activity>)> {
        loop {
            let (source, number) = self.strangers.first(share)?;
            let mut own = self.peers.get(&source)?.connections.iter();
            let first = Arc::clone(own.find(|one| one.number() == number)?);
            // The last request of a known caller may have ended since it was counted.
            self.count(source, &first);
            if self.strangers.first(share) == Some((source, number)) {
                return Some((source, first));
            }
        }
    }

    /// Records the caller that a connection's request names. A caller beyond `connections`, or with
    /// `requests` under way, loses other connections, or else this one.
    fn named(
        &mut self,
        source: Source,
        activity: &Arc<Activity>,
        caller: u64,
        connections: usize,
        requests: usize,
    ) {
        // A connection without a place is not counted, because its end would not uncount it.
        let peer = self.peers.get(&source);
        if !peer.is_some_and(|peer| {
            peer.connections
                .iter()
                .any(|one| Arc::ptr_eq(one, activity))
        }) {
            return;
        }
        let count = self.callers.entry(caller).or_default();
        let before = activity.caller();
        let is_new = before != Some(caller);
        count.connections += usize::from(is_new);
        let has = count.connections;
        if is_new {
            activity.set_caller(caller, &count.requests);
            self.count(source, activity);
        }
        let too_many = has > connections;
        if too_many || activity.requests_of_caller() >= requests {
            let all = self
                .peers
                .iter()
                .flat_map(|(source, peer)| peer.connections.iter().map(|one| (*source, one)));
            let others: Vec<_> = all
                .filter(|(_, one)| one.caller() == Some(caller) && !Arc::ptr_eq(one, activity))
                .collect();
            let others = others.iter().copied();
            let unproved = others.clone().filter(|(_, one)| !one.has_known_caller());
            let mut victims: Vec<_> = unproved.map(|(from, one)| (from, one.clone())).collect();
            // Half of them are evicted at once: a search for each connection of a crowd would hold
            // up all others.
            victims.sort_by_key(|(_, one)| one.useful_at());
            victims.truncate((victims.len() / 2).max(1));
            if victims.is_empty() {
                let own =
                    || (too_many || activity.is_expendable()).then(|| (source, activity.clone()));
                // Connections with a proved request under way are not evicted for the bound on
                // requests.
                victims.extend(expendable(others).or_else(own));
            }
            for (from, victim) in victims {
                self.evict(from, &victim);
            }
        }
        if let Some(before) = before.filter(|before| *before != caller) {
            self.uncount(before);
        }
    }

    fn uncount(&mut self, caller: u64) {
        if let Some(count) = self.callers.get_mut(&caller) {
            count.connections -= 1;
            if count.connections == 0 {
                self.callers.remove(&caller);
            }
        }
    }

    fn evict(&mut self, from: Source, victim: &Arc<Activity>) {
        tracing::debug!(address = %from.address, "a connection gives up its place to a new one");
        self.leave(from, victim);
        victim.evict();
    }

    fn leave(&mut self, source: Source, activity: &Arc<Activity>) {
        let Some(peer) = self.peers.get_mut(&source) else {
            return;
        };
        if let Some(at) = peer
            .connections
            .iter()
            .position(|one| Arc::ptr_eq(one, activity))
        {
            peer.connections.swap_remove(at);
            self.taken -= 1;
            if peer.connections.is_empty() && peer.known_until.is_none() {
                self.peers.remove(&source);
            }
            self.strangers.remove(source, activity.number());
            if let Some(caller) = activity.caller() {
                self.uncount(caller);
            }
        }
    }

    /// Records that a request from this address had a known caller.
    fn knows(&mut self, source: Source) {
        let now = Instant::now();
        self.forget(now);
        // The connection may have been evicted before its caller was known.
        let before = self.peers.get(&source).and_then(|peer| peer.known_until);
        if before.is_some() || self.peers.len() <= MAX_REMEMBERED_PEERS {
            let until = now + KNOWN_FOR;
            self.peers.entry(source).or_default().known_until = Some(until);
            if let Some(before) = before {
                self.known.remove(&(before, source));
            }
            self.known.insert((until, source));
            self.strangers.remove_all(source);
        }
    }

    /// Forgets the addresses that are no longer known.
    fn forget(&mut self, now: Instant) {
        while let Some((until, source)) = self.known.first().copied()
            && until <= now
        {
            self.known.pop_first();
            if let Some(peer) = self.peers.get_mut(&source) {
                peer.known_until = None;
                // A trusted proxy is never a stranger.
                for one in peer.connections.iter().filter(|_| !source.trusted) {
                    self.strangers.insert(source, one);
                }
                if peer.connections.is_empty() {
                    self.peers.remove(&source);
                }
            }
        }
    }
}

/// Picks the connection to evict, without regard to addresses: one that had no known caller, or
/// else one that has none now.
fn expendable<'a>(
    connections: impl Iterator<Item = (Source, &'a Arc<Activity>)>,
) -> Option<(Source, Arc<Activity>)> {
    let expendable = connections.filter(|(_, one)| one.is_expendable());
    let first = expendable.min_by_key(|(_, one)| (one.has_known_caller(), one.useful_at()));
    first.map(|(source, one)| (source, Arc::clone(one)))
}

/// The place of a connection, which it has until this is dropped or another connection takes it.
#[derive(Debug)]
pub(super) struct Place {
    activity: Arc<Activity>,
    source: Source,
    places: Arc<Places>,
}

impl Place {
    pub(super) fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }

    /// Returns the notification about the callers of this connection.
    pub(super) fn knows(&self) -> Arc<Knows> {
        let (places, source) = (Arc::clone(&self.places), self.source);
        let activity = Arc::clone(&self.activity);
        Arc::new(move |name| {
            let Some(name) = name else {
                return places.lock().knows(source);
            };
            let mut hasher = DefaultHasher::new();
            name.hash(&mut hasher);
            let caller = hasher.finish();
            // Each connection of a proxy carries requests of many callers, one after the other.
            let most = (places.options.max_connections / 2).max(1);
            let requests = most.max(MAX_HTTP2_REQUESTS.into());
            if !source.trusted
                && (activity.caller() != Some(caller) || activity.requests_of_caller() >= requests)
            {
                let table = &mut places.lock();
                table.named(source, &activity, caller, most, requests);
            }
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // The place is freed on drop, so that a connection that panics frees it too.
        self.places.lock().leave(self.source, &self.activity);
    }
}

#[cfg(test)]
mod tests {
    use super::super::activity::InProgress;
    use super::*;
    use std::cmp::Reverse;

    fn places(connections: usize) -> Arc<Places> {
        Places::new(
            ServerOptions::new()
                .max_connections(connections)
                .max_connections_per_address(4),
        )
    }

    fn address(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    async fn later() {
        tokio::time::advance(Duration::from_secs(1)).await;
    }

    fn evicted(places: &[&Place]) -> Vec<usize> {
        let evicted = |place: &Place| place.activity.is_evicted();
        (0..places.len())
            .filter(|at| evicted(places[*at]))
            .collect()
    }

    /// Begins a request with a known caller.
    fn known_request(place: &Place) -> InProgress {
        let request = place.activity.begin();
        request.known_caller(place.knows()).tell();
        request
    }

    fn named_connections(places: &Places) -> usize {
        let table = places.lock();
        table.callers.values().map(|one| one.connections).sum()
    }

    /// Begins a request with this caller's API key that proves nothing more.
    fn named_request(place: &Place, caller: &str) -> InProgress {
        let request = place.activity.begin();
        request.known_caller(place.knows()).name(caller);
        request
    }

    /// Finds the stranger's connection to evict by a comparison of all.
    fn naive(table: &Table, share: usize) -> Option<u64> {
        let strangers = table
            .peers
            .iter()
            .filter(|(source, peer)| !peer.is_known(source));
        let all: Vec<_> = strangers
            .flat_map(|(source, peer)| peer.connections.iter().map(|one| (*source, one)))
            .collect();
        let like = |is_like: &dyn Fn(Source, &Activity) -> bool| {
            all.iter()
                .filter(|(source, one)| is_like(*source, one))
                .count()
        };
        assert_eq!(table.strangers.connections(), all.len());
        let least = all.iter().max_by_key(|(source, one)| {
            let caller = one.caller();
            let of_caller = caller.map(|_| like(&|_, other| other.caller() == caller));
            (
                of_caller.filter(|connections| *connections > share),
                like(&|other, _| other.network() == source.network()),
                like(&|other, _| other == *source),
                Reverse((one.useful_at(), one.number())),
                *source,
            )
        });
        least.map(|(_, one)| one.number())
    }

    #[tokio::test(start_paused = true)]
    async fn the_counts_choose_the_connection_that_a_look_at_each_would() {
        let mut state = 1_u64;
        let mut below = |end: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % end
        };
        let options = ServerOptions::new().max_connections(24);
        let options = options.trusted_proxies(&["10.0.0.1/32".parse().unwrap()]);
        let places = Places::new(options.max_connections_per_address(5));
        let (mut held, mut requests) = (Vec::new(), Vec::new());
        let mut beyond = 0;
        for _ in 0..6_000 {
            held.retain(|place: &Place| !place.activity.is_evicted());
            requests.truncate(20);
            let at = usize::try_from(below(held.len().max(1) as u64)).unwrap();
            match below(20) {
                0..10 => {
                    let [network, last] =
                        [below(4), below(5)].map(|part| u8::try_from(part).unwrap());
                    held.extend(places.admit([10, 0, network, last].into()));
                }
                10..14 if !held.is_empty() => {
                    let caller = below(4).min(2).to_string();
                    requests.push(named_request(&held[at], &caller));
                }
                14 if !held.is_empty() && below(20) == 0 => requests.push(known_request(&held[at])),
                15..17 if !requests.is_empty() => {
                    drop(requests.swap_remove(at % requests.len()));
                }
                17 if !held.is_empty() => drop(held.swap_remove(at)),
                18 if below(40) == 0 => tokio::time::advance(KNOWN_FOR).await,
                _ => tokio::time::advance(Duration::from_millis(below(3))).await,
            }
            let table = &mut *places.lock();
            table.forget(Instant::now());
            for share in [2, 6, 24] {
                let (chosen, expected) = (table.least_missed(share), naive(table, share));
                let chosen = chosen.map(|(_, one)| one.number());
                assert_eq!(chosen, expected);
                let all = table.least_missed(usize::MAX).map(|(_, one)| one.number());
                beyond += usize::from(chosen != all);
            }
        }
        assert!(beyond > 500, "callers beyond their share are met: {beyond}");
        drop((held, requests));
        assert_eq!(places.lock().strangers.first(0), None);
    }

    #[tokio::test(start_paused = true)]
    async fn strangers_leave_a_quarter_of_the_places_and_replace_each_other() {
        let places = places(8);
        let mut strangers = Vec::new();
        for last in 1..=6 {
            strangers.push(places.admit(address(last)).unwrap());
            later().await;
        }
        let strangers: Vec<&Place> = strangers.iter().collect();
        assert_eq!(evicted(&strangers), []);
        let seventh = places.admit(address(7)).unwrap();
        assert_eq!(evicted(&strangers), [0], "the oldest gives up its place");
        let known = places.admit(address(7)).unwrap();
        assert_eq!(evicted(&strangers), [0, 1]);
        known.knows()(None);
        let more = [
            places.admit(address(7)).unwrap(),
            places.admit(address(7)).unwrap(),
        ];
        assert_eq!(
            evicted(&strangers),
            [0, 1],
            "a quarter of the places was free for who is known"
        );
        drop((seventh, more));
    }

    #[tokio::test(start_paused = true)]
    async fn who_holds_few_connections_keeps_them() {
        let places = places(16);
        let honest = places.admit(address(200)).unwrap();
        later().await;
        let mut hostile = Vec::new();
        for round in 0..1_000 {
            hostile.push(
                places
                    .admit(address(u8::try_from(round % 5).unwrap()))
                    .unwrap(),
            );
            later().await;
        }
        assert!(!honest.activity.is_evicted());
        assert_eq!(
            hostile
                .iter()
                .filter(|place| !place.activity.is_evicted())
                .count(),
            11
        );
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_is_known_for_an_hour_and_gives_up_its_own() {
        let places = places(4);
        let known = places.admit(address(1)).unwrap();
        known.knows()(None);
        let others: Vec<_> = (0..3).map(|_| places.admit(address(1)).unwrap()).collect();
        later().await;
        let replacing = places.admit(address(1)).unwrap();
        assert!(known.activity.is_evicted(), "its own oldest idle one");
        let busy: Vec<_> = others
            .iter()
            .chain([&replacing])
            .map(known_request)
            .collect();
        assert_eq!(
            places.admit(address(1)).err(),
            Some(NoPlace::Refused),
            "none of its own is idle"
        );
        drop(busy);
        tokio::time::advance(KNOWN_FOR).await;
        assert!(places.admit(address(2)).is_ok(), "it is a stranger again");
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_known_waits_while_all_others_who_are_known_are_busy() {
        let places = places(2);
        let [one, other] = [1, 2].map(|last| places.admit(address(last)).unwrap());
        let [busy, _also] = [&one, &other].map(known_request);
        drop(other);
        let third = places.admit(address(3)).unwrap();
        let _third_busy = known_request(&third);
        assert_eq!(places.admit(address(2)).err(), Some(NoPlace::Wait));
        drop(busy);
        assert!(places.admit(address(2)).is_ok());
        assert!(one.activity.is_evicted());
    }

    #[tokio::test(start_paused = true)]
    async fn beside_who_is_known_those_that_proved_nothing_give_way_busy_or_not() {
        let places = Places::new(
            ServerOptions::new()
                .max_connections(4)
                .max_connections_per_address(3),
        );
        let known = places.admit(address(1)).unwrap();
        let _busy = known_request(&known);
        let hostile: Vec<_> = (0..2).map(|_| places.admit(address(1)).unwrap()).collect();
        let _requests: Vec<_> = hostile.iter().map(|place| place.activity.begin()).collect();
        let again = places.admit(address(1)).unwrap();
        assert!(
            hostile[0].activity.is_evicted(),
            "of the address that has as many as it may"
        );
        let other = places.admit(address(2)).unwrap();
        let _busy = known_request(&other);
        let third = places.admit(address(2)).unwrap();
        assert!(hostile[1].activity.is_evicted(), "in a full server");
        assert_eq!(evicted(&[&known, &again, &other, &third]), []);
    }

    #[tokio::test(start_paused = true)]
    async fn a_holder_of_one_api_key_shuts_out_nobody() {
        let places = places(16);
        let customer = places.admit([10, 0, 0, 1].into()).unwrap();
        drop(known_request(&customer));
        let stranger = places.admit([10, 0, 1, 1].into()).unwrap();
        let mut requests = vec![named_request(&stranger, "another")];
        let mut hostile = Vec::new();
        for network in 2..202 {
            later().await;
            hostile.push(places.admit([10, 0, network, 1].into()).unwrap());
            let one = hostile.last().unwrap();
            requests.push(named_request(one, "stolen"));
        }
        let mut honest = Vec::new();
        for network in 202..212 {
            honest.push(places.admit([10, 0, network, 1].into()).unwrap());
            requests.push(named_request(honest.last().unwrap(), "another"));
            honest.push(places.admit([10, 0, 0, 1].into()).unwrap());
            known_request(honest.last().unwrap());
            honest.truncate(2);
        }
        let honest: Vec<&Place> = honest.iter().chain([&customer, &stranger]).collect();
        assert_eq!(evicted(&honest), []);
        assert!(named_connections(&places) <= 16);
    }

    #[tokio::test(start_paused = true)]
    async fn a_quarter_of_the_places_is_for_strangers_also_among_busy_connections() {
        let places = places(8);
        let mut known: Vec<_> = (0..4).map(|_| places.admit(address(1)).unwrap()).collect();
        let mut requests: Vec<_> = known.iter().map(known_request).collect();
        for _ in 0..4 {
            known.push(places.admit(address(2)).unwrap());
        }
        requests.extend(known[4..6].iter().map(known_request));
        // Their later requests have bodies that never end.
        let stalled: Vec<_> = known[6..].iter().collect();
        for place in &stalled {
            drop(known_request(place));
            requests.push(named_request(place, ""));
            later().await;
        }
        let mut strangers = Vec::new();
        for number in 1..=2 {
            strangers.push(places.admit(address(9)).unwrap());
            assert_eq!(evicted(&stalled).len(), number);
            later().await;
        }
        strangers.push(places.admit(address(10)).unwrap());
        let strangers: Vec<_> = strangers.iter().collect();
        assert_eq!(evicted(&strangers), [0], "no more than their quarter");
        let known: Vec<_> = known[..6].iter().collect();
        assert_eq!(evicted(&known), [], "they have proved what they ask for");
        assert_eq!(places.admit(address(2)).err(), Some(NoPlace::Wait));
        assert_eq!(evicted(&strangers), [0]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_has_half_of_the_places_and_behind_a_proxy_any_number() {
        let proxies = ["10.0.0.9/32".parse().unwrap()];
        let options = ServerOptions::new().max_connections(8);
        let places = Places::new(options.trusted_proxies(&proxies));
        let mut own = Vec::new();
        let mut requests = Vec::new();
        for last in 1..=4 {
            own.push(places.admit(address(last)).unwrap());
            requests.push(named_request(&own[own.len() - 1], "one"));
            later().await;
        }
        requests[1].known_caller(own[1].knows()).tell();
        let proxied: Vec<_> = (0..2).map(|_| places.admit(address(9)).unwrap()).collect();
        requests.extend(proxied.iter().map(|place| named_request(place, "one")));
        for expected in [&[0][..], &[0, 2]] {
            own.push(places.admit(address(5)).unwrap());
            requests.push(named_request(&own[own.len() - 1], "one"));
            assert_eq!(evicted(&own.iter().collect::<Vec<_>>()), expected);
            later().await;
        }
        // Neither the name of an ended connection nor an earlier name of a live one is counted.
        let (ended, knows) = (own.remove(1), own[1].knows());
        let late = ended.knows();
        drop(ended);
        late(Some("two"));
        knows(Some("two"));
        assert_eq!(named_connections(&places), 3);
        drop(own);
        assert_eq!(named_connections(&places), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_customer_whose_first_requests_are_slow_keeps_its_connections_beside_a_crowd() {
        let places = places(64);
        let (mut honest, mut requests, mut crowd) = (Vec::new(), Vec::new(), Vec::new());
        for network in 0..14 {
            honest.push(places.admit([10, 1, network, 1].into()).unwrap());
            requests.push(named_request(&honest[honest.len() - 1], "honest"));
        }
        for network in 0..200 {
            later().await;
            crowd.push(places.admit([10, 2, network % 10, 1].into()).unwrap());
        }
        assert_eq!(evicted(&honest.iter().collect::<Vec<_>>()), []);
        assert_eq!(evicted(&crowd.iter().collect::<Vec<_>>()).len(), 200 - 34);
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_has_as_many_requests_under_way_as_connections() {
        let places = places(200);
        let own = [1, 2, 3].map(|last| places.admit(address(last)).unwrap());
        let proved = known_request(&own[0]);
        let mut requests: Vec<_> = (0..50).map(|_| named_request(&own[0], "one")).collect();
        requests.extend((0..50).map(|_| named_request(&own[1], "one")));
        assert_eq!(evicted(&own.each_ref()), []);
        requests.push(named_request(&own[2], "one"));
        assert_eq!(evicted(&own.each_ref()), [1], "a proved request stays");
        requests.extend((0..49).map(|_| named_request(&own[2], "one")));
        assert_eq!(evicted(&own.each_ref()), [1]);
        requests.push(named_request(&own[2], "one"));
        assert_eq!(evicted(&own.each_ref()), [1, 2], "its own, without another");
        requests.truncate(10);
        let again = places.admit(address(4)).unwrap();
        requests.extend((0..64).map(|_| named_request(&again, "one")));
        assert!(
            !again.activity.is_evicted(),
            "requests that ended are not counted"
        );
        drop(proved);
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_beyond_its_half_whose_requests_are_all_proved_gets_no_more() {
        let places = places(4);
        let own = [1, 2, 3].map(|last| places.admit(address(last)).unwrap());
        let _busy = [0, 1].map(|at| {
            let request = named_request(&own[at], "one");
            request.known_caller(own[at].knows()).tell();
            request
        });
        let _third = named_request(&own[2], "one");
        assert_eq!(evicted(&own.each_ref()), [2]);
    }

    #[tokio::test(start_paused = true)]
    async fn many_addresses_of_one_network_do_not_shut_out_another() {
        let places = places(16);
        let honest = [
            places.admit(address(1)).unwrap(),
            places.admit(address(1)).unwrap(),
        ];
        let mut hostile = Vec::new();
        for subnet in 0..500_u16 {
            later().await;
            let address = std::net::Ipv6Addr::new(0x2001, 0xdb8, 1, subnet, 0, 0, 0, 1);
            hostile.push(places.admit(address.into()).unwrap());
        }
        assert_eq!(evicted(&[&honest[0], &honest[1]]), []);
        assert_eq!(
            hostile
                .iter()
                .filter(|place| !place.activity.is_evicted())
                .count(),
            10
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_that_is_known_after_its_place_was_taken_is_remembered() {
        let places = places(1);
        let first = places.admit(address(1)).unwrap();
        let _second = places.admit(address(2)).unwrap();
        assert!(first.activity.is_evicted());
        first.knows()(None);
        let again = places.admit(address(1)).unwrap();
        let _busy = known_request(&again);
        assert_eq!(places.admit(address(2)).err(), Some(NoPlace::Wait));
        assert!(!again.activity.is_evicted());
    }

    #[tokio::test(start_paused = true)]
    async fn for_a_descriptor_a_stranger_is_ended_and_then_who_had_no_known_caller() {
        let options = ServerOptions::new().trusted_proxies(&["10.0.0.9/32".parse().unwrap()]);
        let places = Places::new(options);
        let [known, silent, stranger] = [9, 9, 1].map(|last| places.admit(address(last)).unwrap());
        drop(known_request(&known));
        for expected in [&[2_usize][..], &[1, 2]] {
            assert!(places.give_up_one());
            assert_eq!(evicted(&[&known, &silent, &stranger]), expected);
        }
        assert!(
            !places.give_up_one(),
            "a connection of a known caller stays"
        );
        assert_eq!(evicted(&[&known, &silent, &stranger]), [1, 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_has_a_bound_and_a_trusted_proxy_has_none() {
        let options = ServerOptions::new()
            .max_connections(10)
            .max_connections_per_address(2);
        let places = Places::new(options.trusted_proxies(&["10.0.0.0/30".parse().unwrap()]));
        let mut held = Vec::new();
        for network in [
            "2001:db8::1",
            "2001:db8::2:1",
            "2001:db8::3",
            "::ffff:192.0.2.1",
            "192.0.2.1",
            "192.0.2.1",
        ] {
            held.push(places.admit(network.parse().unwrap()).unwrap());
            later().await;
        }
        let held: Vec<&Place> = held.iter().collect();
        assert_eq!(
            evicted(&held),
            [0, 3],
            "the third of one network of 64 bits, and of one IPv4 address"
        );
        let proxied: Vec<_> = (0..8)
            .map(|_| places.admit("::ffff:10.0.0.1".parse().unwrap()).unwrap())
            .collect();
        let proxied: Vec<&Place> = proxied.iter().collect();
        assert_eq!(evicted(&proxied), []);
        assert_eq!(
            evicted(&held).len(),
            4,
            "for two of them strangers gave up their places"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_remembered_is_bounded() {
        let places = places(4);
        for number in 0..40_000_u32 {
            places
                .admit(std::net::Ipv4Addr::from_bits(number).into())
                .unwrap()
                .knows()(None);
        }
        assert!(places.lock().peers.len() <= MAX_REMEMBERED_PEERS + 1);
        assert_eq!(places.lock().taken, 0);
        tokio::time::advance(KNOWN_FOR).await;
        let place = places.admit(address(1)).unwrap();
        place.knows()(None);
        assert_eq!(places.lock().peers.len(), 1);
    }
}
