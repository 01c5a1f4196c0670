//! The places of a server's connections, and who gives up theirs when all are taken.
//!
//! A peer that has proved nothing never takes the place of one that has:
//!
//! - An address is known for an hour after a request from it had a known caller
//!   ([`KnownCaller`](crate::KnownCaller)). All others are strangers, who together have three
//!   quarters of the places.
//! - A stranger for whom no place is left takes that of another stranger. It is chosen from the
//!   network that has the most connections, there from the address that has the most, and there it
//!   is the one that began longest ago. So a network with few connections keeps them.
//! - A known address takes the place of a stranger in the same way. Without one it takes that of a
//!   connection, from any address, that has had no known caller itself, and else that of the one
//!   that has been idle longest. If none of them is idle, it waits.
//! - An address with as many connections as it may have gives up its own, in the same order.
//! - When the operating system gives no more file descriptors, a stranger's connection is ended in
//!   the same way, and without one, as behind a proxy, a connection that has had no known caller.
//!
//! What no server can do is to know honest strangers among strangers from as many networks as there
//! are places.

use super::activity::Activity;
use super::options::ServerOptions;
use ipnet::IpNet;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The time for which an address is known after a request with a known caller.
const KNOWN_FOR: Duration = Duration::from_secs(3600);

/// The most addresses without a connection that are remembered as known.
const MAX_REMEMBERED_PEERS: usize = 16 * 1024;

/// The time between two searches for addresses that are no longer known, while too many are
/// remembered.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// The peer that a connection is counted for: an IPv4 address, or the network of 64 bits that an
/// IPv6 address is in, because one subscriber has all of its addresses. A trusted proxy, behind
/// which many peers are, is counted by its whole address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

    /// The network of one owner: 24 bits of an IPv4 address, 48 of an IPv6 address.
    fn network(self) -> IpAddr {
        network(self.address, 24, 48)
    }
}

/// The first bits of an address, the others being zero.
fn network(address: IpAddr, of_v4: u8, of_v6: u8) -> IpAddr {
    let bits = if address.is_ipv4() { of_v4 } else { of_v6 };
    IpNet::new(address, bits).map_or(address, |network| network.network())
}

/// The reason for which there is no place for a connection.
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
    /// The time at which addresses that are no longer known were last forgotten.
    swept: Option<Instant>,
}

#[derive(Debug, Default)]
struct Peer {
    connections: Vec<Arc<Activity>>,
    known_until: Option<Instant>,
}

impl Peer {
    fn is_known(&self, source: &Source, now: Instant) -> bool {
        source.trusted || self.known_until.is_some_and(|until| now < until)
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
        let (now, source) = (
            Instant::now(),
            Source::of(address, &self.options.trusted_proxies),
        );
        // Judged and taken under one lock: two connections never get one place.
        let table = &mut *self.lock();
        let peer = table.peers.get(&source);
        let known = source.trusted || peer.is_some_and(|peer| peer.is_known(&source, now));
        let own = peer.map_or(&[][..], |peer| &peer.connections);
        if !source.trusted && own.len() >= self.options.max_connections_per_address {
            let (_, victim) =
                expendable(own.iter().map(|one| (source, one))).ok_or(NoPlace::Refused)?;
            table.evict(source, &victim);
        }
        let all = self.options.max_connections;
        let most = if known { all } else { all - all / 4 };
        // Counting strangers takes a while, and a server is seldom full.
        if table.taken >= all || (table.taken >= most && table.held_by_strangers(now) >= most) {
            let none = if known {
                NoPlace::Wait
            } else {
                NoPlace::Refused
            };
            let (from, victim) = table.least_missed(now, known).ok_or(none)?;
            table.evict(from, &victim);
        }
        let activity = Arc::new(Activity::new());
        table
            .peers
            .entry(source)
            .or_default()
            .connections
            .push(Arc::clone(&activity));
        table.taken += 1;
        Ok(Place {
            activity,
            source,
            places: Arc::clone(self),
        })
    }

    /// Ends the connection of a stranger, or else one that has had no known caller, so that its
    /// descriptor is free. `false`: there is none.
    pub(super) fn give_up_one(&self) -> bool {
        let table = &mut *self.lock();
        let victim = table
            .least_missed(Instant::now(), true)
            .filter(|(_, one)| !one.has_known_caller());
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
    /// The connections of strangers.
    fn strangers(&self, now: Instant) -> impl Iterator<Item = (Source, &[Arc<Activity>])> {
        let strangers = self
            .peers
            .iter()
            .filter(move |(source, peer)| !peer.is_known(source, now));
        strangers.map(|(source, peer)| (*source, &*peer.connections))
    }

    fn held_by_strangers(&self, now: Instant) -> usize {
        self.strangers(now)
            .map(|(_, connections)| connections.len())
            .sum()
    }

    /// The connection that gives up its place: a stranger's, or else, for a known peer, one of a
    /// known peer.
    fn least_missed(&self, now: Instant, for_known: bool) -> Option<(Source, Arc<Activity>)> {
        let mut networks: HashMap<IpAddr, usize> = HashMap::new();
        for (source, connections) in self.strangers(now) {
            *networks.entry(source.network()).or_default() += connections.len();
        }
        let held = |source: Source, own: &[Arc<Activity>]| {
            (networks.get(&source.network()).copied(), own.len())
        };
        let most = self
            .strangers(now)
            .map(|(source, own)| held(source, own))
            .max();
        let greediest = self
            .strangers(now)
            .filter(|(source, own)| Some(held(*source, own)) == most);
        let of_greediest =
            greediest.flat_map(|(source, own)| own.iter().map(move |one| (source, one)));
        match of_greediest.min_by_key(|(_, one)| one.useful_at()) {
            Some((source, one)) => Some((source, Arc::clone(one))),
            None if for_known => {
                let all = self.peers.iter();
                expendable(
                    all.flat_map(|(source, peer)| {
                        peer.connections.iter().map(|one| (*source, one))
                    }),
                )
            }
            None => None,
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
        }
        if peer.connections.is_empty() && peer.known_until.is_none() {
            self.peers.remove(&source);
        }
    }

    /// A request from this address had a known caller.
    fn knows(&mut self, source: Source) {
        let now = Instant::now();
        // A sweep goes through all peers under the lock, so it is made when there are too many, and
        // seldom.
        if self.peers.len() > MAX_REMEMBERED_PEERS
            && self.swept.is_none_or(|swept| now >= swept + SWEEP_EVERY)
        {
            self.peers
                .retain(|source, peer| !peer.connections.is_empty() || peer.is_known(source, now));
            self.swept = Some(now);
        }
        // The connection may have given up its place before its caller was known.
        let is_remembered = self
            .peers
            .get(&source)
            .is_some_and(|peer| peer.known_until.is_some());
        if is_remembered || self.peers.len() <= MAX_REMEMBERED_PEERS {
            self.peers.entry(source).or_default().known_until = Some(now + KNOWN_FOR);
        }
    }
}

/// Picks the connection to evict, without regard to their addresses: one that had no known caller,
/// or else one that is idle.
fn expendable<'a>(
    connections: impl Iterator<Item = (Source, &'a Arc<Activity>)>,
) -> Option<(Source, Arc<Activity>)> {
    let expendable = connections.filter(|(_, one)| !one.has_known_caller() || one.is_idle());
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

    /// Returns the notification that a caller of this connection is known.
    pub(super) fn knows(&self) -> Arc<dyn Fn() + Send + Sync> {
        let (places, source) = (Arc::clone(&self.places), self.source);
        Arc::new(move || places.lock().knows(source))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // On drop, so that a connection that panics gives up its place too.
        self.places.lock().leave(self.source, &self.activity);
    }
}

#[cfg(test)]
mod tests {
    use super::super::activity::InProgress;
    use super::*;

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

    /// A request with a known caller is under way.
    fn known_request(place: &Place) -> InProgress {
        let request = place.activity.begin();
        request.known_caller(place.knows()).tell();
        request
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
    async fn nobody_unknown_takes_the_place_of_who_is_known_within_an_hour() {
        let places = places(4);
        let known = places.admit(address(1)).unwrap();
        known.knows()();
        let others: Vec<_> = (0..3).map(|_| places.admit(address(1)).unwrap()).collect();
        assert_eq!(places.admit(address(2)).err(), Some(NoPlace::Refused));
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
        first.knows()();
        let again = places.admit(address(1)).unwrap();
        assert!(places.admit(address(2)).is_err());
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
                .knows()();
        }
        assert!(places.lock().peers.len() <= MAX_REMEMBERED_PEERS + 1);
        assert_eq!(places.lock().taken, 0);
        tokio::time::advance(KNOWN_FOR).await;
        let place = places.admit(address(1)).unwrap();
        place.knows()();
        assert_eq!(places.lock().peers.len(), 1);
    }
}
