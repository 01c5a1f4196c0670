//! The places of a server's connections, and who gives up theirs when all are taken.
//!
//! A peer that has proved nothing never takes the place of one that has:
//!
//! - An address is known for an hour after a request from it had a known caller ([`KnownCaller`](crate::KnownCaller)).
//!   All others are strangers, who together have three quarters of the places.
//! - A stranger for whom no place is left takes that of another stranger. It is chosen from the address that has the
//!   most connections: there, the one that began longest ago. So whoever holds few connections keeps them, however many
//!   others come.
//! - A known address takes the place of a stranger in the same way, and else that of the known connection that has been
//!   idle longest. If none of them is idle, it waits.
//! - An address with as many connections as it may have gives up its own.

use super::activity::Activity;
use super::options::ServerOptions;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long an address is known after a request with a known caller.
const KNOWN_FOR: Duration = Duration::from_secs(3600);

/// How many addresses without a connection are remembered as known.
const MOST_REMEMBERED: usize = 16 * 1024;

/// How often those that are no longer known are looked for, while too many are remembered.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// Who a connection is counted for: an IPv4 address, or the network of 64 bits that an IPv6 address is in, because one
/// subscriber has all of its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Source(IpAddr);

impl Source {
    fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
            address => address,
        })
    }
}

/// Why there is no place for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoPlace {
    /// All are taken by known peers whose requests are under way. There will be one.
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
    peers: HashMap<Source, Peer>,
    taken: usize,
    /// When those that are no longer known were forgotten.
    swept: Option<Instant>,
}

#[derive(Debug, Default)]
struct Peer {
    connections: Vec<Arc<Activity>>,
    known_until: Option<Instant>,
    /// A proxy, behind which many peers are.
    trusted: bool,
}

impl Peer {
    fn is_known(&self, now: Instant) -> bool {
        self.trusted || self.known_until.is_some_and(|until| now < until)
    }
}

impl Places {
    pub(super) fn new(options: ServerOptions) -> Arc<Self> {
        Arc::new(Self { options, table: Mutex::default() })
    }

    /// Takes a place for a connection from this address.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Result<Place, NoPlace> {
        let (now, source) = (Instant::now(), Source::of(address));
        let trusted = self.options.trusted_proxies.iter().any(|proxies| proxies.contains(&address.to_canonical()));
        let table = &mut *self.lock();
        let peer = table.peers.get(&source);
        let known = trusted || peer.is_some_and(|peer| peer.is_known(now));
        let own = peer.map_or(&[][..], |peer| &peer.connections);
        if !trusted && own.len() >= self.options.max_connections_per_address {
            let mine = own.iter().filter(|one| !known || one.is_idle());
            let victim = mine.min_by_key(|one| one.useful_at()).cloned().ok_or(NoPlace::Refused)?;
            table.evict(source, &victim);
        }
        let all = self.options.max_connections;
        let most = if known { all } else { all - all / 4 };
        // Counting strangers takes a while, and a server is seldom full.
        if table.taken >= most && (table.taken >= all || table.strangers(now) >= most) {
            let none = if known { NoPlace::Wait } else { NoPlace::Refused };
            let (from, victim) = table.least_missed(now, known).ok_or(none)?;
            table.evict(from, &victim);
        }
        let activity = Arc::new(Activity::new());
        let peer = table.peers.entry(source).or_default();
        peer.trusted = trusted;
        peer.connections.push(Arc::clone(&activity));
        table.taken += 1;
        Ok(Place { activity, source, places: Arc::clone(self) })
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// The number of connections of strangers.
    fn strangers(&self, now: Instant) -> usize {
        self.peers.values().filter(|peer| !peer.is_known(now)).map(|peer| peer.connections.len()).sum()
    }

    /// The connection that gives up its place: a stranger's, or else, for a known peer, an idle one of a known peer.
    fn least_missed<'a>(&'a self, now: Instant, for_known: bool) -> Option<(Source, Arc<Activity>)> {
        let strangers = self.peers.iter().filter(|(_, peer)| !peer.is_known(now));
        let most = strangers.clone().map(|(_, peer)| peer.connections.len()).max().unwrap_or_default();
        let of_peer = |(source, peer): (&'a Source, &'a Peer)| peer.connections.iter().map(move |one| (*source, one));
        let candidates: Vec<_> = if most > 0 {
            strangers.filter(|(_, peer)| peer.connections.len() == most).flat_map(of_peer).collect()
        } else if for_known {
            self.peers.iter().flat_map(of_peer).filter(|(_, one)| one.is_idle()).collect()
        } else {
            return None;
        };
        let (source, one) = candidates.into_iter().min_by_key(|(_, one)| one.useful_at())?;
        Some((source, Arc::clone(one)))
    }

    fn evict(&mut self, from: Source, victim: &Arc<Activity>) {
        tracing::debug!(address = %from.0, "a connection gives up its place to a new one");
        self.leave(from, victim);
        victim.evict();
    }

    fn leave(&mut self, source: Source, activity: &Arc<Activity>) {
        let Some(peer) = self.peers.get_mut(&source) else { return };
        if let Some(at) = peer.connections.iter().position(|one| Arc::ptr_eq(one, activity)) {
            peer.connections.swap_remove(at);
            self.taken -= 1;
        }
        if peer.connections.is_empty() && peer.known_until.is_none() {
            self.peers.remove(&source);
        }
    }

    /// A request from this address had a known caller.
    fn knows(&mut self, source: Source) {
        let now = Instant::now();
        if self.peers.len() > MOST_REMEMBERED && self.swept.is_none_or(|swept| now >= swept + SWEEP_EVERY) {
            self.peers.retain(|_, peer| !peer.connections.is_empty() || peer.is_known(now));
            self.swept = Some(now);
        }
        let has_room = self.peers.len() <= MOST_REMEMBERED;
        if let Some(peer) = self.peers.get_mut(&source).filter(|peer| has_room || peer.known_until.is_some()) {
            peer.known_until = Some(now + KNOWN_FOR);
        }
    }
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

    /// What tells that a caller of this connection is known.
    pub(super) fn knows(&self) -> Arc<dyn Fn() + Send + Sync> {
        let (places, source) = (Arc::clone(&self.places), self.source);
        Arc::new(move || places.lock().knows(source))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().leave(self.source, &self.activity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(connections: usize) -> Arc<Places> {
        Places::new(ServerOptions::new().max_connections(connections).max_connections_per_address(4))
    }

    fn address(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    async fn later() {
        tokio::time::advance(Duration::from_secs(1)).await;
    }

    fn evicted(places: &[&Place]) -> Vec<usize> {
        let evicted = |place: &Place| place.activity.is_evicted();
        (0..places.len()).filter(|at| evicted(places[*at])).collect()
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
        known.knows()();
        let more = [places.admit(address(7)).unwrap(), places.admit(address(7)).unwrap()];
        assert_eq!(evicted(&strangers), [0, 1], "a quarter of the places was free for who is known");
        drop((seventh, more));
    }

    #[tokio::test(start_paused = true)]
    async fn who_holds_few_connections_keeps_them() {
        let places = places(16);
        let honest = places.admit(address(200)).unwrap();
        later().await;
        let mut hostile = Vec::new();
        for round in 0..1_000 {
            hostile.push(places.admit(address(u8::try_from(round % 5).unwrap())).unwrap());
            later().await;
        }
        assert!(!honest.activity.is_evicted());
        assert_eq!(hostile.iter().filter(|place| !place.activity.is_evicted()).count(), 11);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_unknown_takes_the_place_of_who_is_known_within_an_hour() {
        let places = places(4);
        let known = places.admit(address(1)).unwrap();
        known.knows()();
        let others: Vec<_> = (0..3).map(|_| places.admit(address(1)).unwrap()).collect();
        assert_eq!(places.admit(address(2)).err(), Some(NoPlace::Refused));
        later().await;
        let replacing = places.admit(address(1)).unwrap();
        assert!(known.activity.is_evicted(), "its own oldest idle one");
        let busy: Vec<_> = others.iter().chain([&replacing]).map(|place| place.activity.begin()).collect();
        assert_eq!(places.admit(address(1)).err(), Some(NoPlace::Refused), "none of its own is idle");
        drop(busy);
        tokio::time::advance(KNOWN_FOR).await;
        assert!(places.admit(address(2)).is_ok(), "it is a stranger again");
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_known_waits_while_all_others_who_are_known_are_busy() {
        let places = places(2);
        let [one, other] = [1, 2].map(|last| {
            let place = places.admit(address(last)).unwrap();
            place.knows()();
            place
        });
        let [busy, _also] = [&one, &other].map(|place| place.activity.begin());
        drop(other);
        let third = places.admit(address(3)).unwrap();
        third.knows()();
        let _third_busy = third.activity.begin();
        assert_eq!(places.admit(address(2)).err(), Some(NoPlace::Wait));
        drop(busy);
        assert!(places.admit(address(2)).is_ok());
        assert!(one.activity.is_evicted());
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_has_a_bound_and_a_trusted_proxy_has_none() {
        let options = ServerOptions::new().max_connections(10).max_connections_per_address(2);
        let places = Places::new(options.trusted_proxies(&["10.0.0.0/30".parse().unwrap()]));
        let mut held = Vec::new();
        for network in ["2001:db8::1", "2001:db8::2:1", "2001:db8::3", "::ffff:192.0.2.1", "192.0.2.1", "192.0.2.1"] {
            held.push(places.admit(network.parse().unwrap()).unwrap());
            later().await;
        }
        let held: Vec<&Place> = held.iter().collect();
        assert_eq!(evicted(&held), [0, 3], "the third of one network of 64 bits, and of one IPv4 address");
        let proxied: Vec<_> = (0..8).map(|_| places.admit("::ffff:10.0.0.1".parse().unwrap()).unwrap()).collect();
        let proxied: Vec<&Place> = proxied.iter().collect();
        assert_eq!(evicted(&proxied), []);
        assert_eq!(evicted(&held).len(), 4, "for two of them strangers gave up their places");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_remembered_is_bounded() {
        let places = places(4);
        for number in 0..40_000_u32 {
            places.admit(std::net::Ipv4Addr::from_bits(number).into()).unwrap().knows()();
        }
        assert!(places.lock().peers.len() <= MOST_REMEMBERED + 1);
        assert_eq!(places.lock().taken, 0);
        tokio::time::advance(KNOWN_FOR).await;
        let place = places.admit(address(1)).unwrap();
        place.knows()();
        assert_eq!(places.lock().peers.len(), 1);
    }
}
