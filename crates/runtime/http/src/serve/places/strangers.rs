//! The connections of strangers, in the order in which they are evicted.

use super::{Activity, Source};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use tokio::time::Instant;

/// A group of strangers: all of them, or those whose connections last named this caller.
type Group = Option<u64>;

/// A connection of a group: the time of its start or of its last known caller, and its number.
type Oldest = (Instant, u64);

/// The rank of an address in its network: the number of its connections, and its oldest one in the
/// group.
type Standing = (usize, Reverse<Oldest>, Source);

/// The rank of a network: the number of its connections, and its address that is evicted from next.
type Rank = (usize, Standing);

/// The counts of strangers' connections, in an order that gives a full server the connection to
/// evict in logarithmic time.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    sources: BTreeMap<Source, Counted>,
    networks: BTreeMap<(IpAddr, Group), Crowd<Standing>>,
    groups: BTreeMap<Group, Crowd<Rank>>,
    /// The callers, by the number of their connections.
    callers: BTreeSet<(usize, Group)>,
}

/// The connections of one address as they were last counted.
#[derive(Debug, Default)]
struct Counted {
    connections: BTreeMap<u64, (Group, Instant)>,
    groups: BTreeMap<Group, BTreeSet<Oldest>>,
}

/// The number of a group's connections, and the order of their owners.
#[derive(Debug)]
struct Crowd<T> {
    connections: usize,
    order: BTreeSet<T>,
}

impl<T> Default for Crowd<T> {
    fn default() -> Self {
        Self {
            connections: 0,
            order: BTreeSet::new(),
        }
    }
}

impl Strangers {
    /// Returns the number of strangers' connections.
    pub(super) fn connections(&self) -> usize {
        self.groups.get(&None).map_or(0, |all| all.connections)
    }

    /// Returns address and number of the connection to evict next: one of a caller with more
    /// connections than `share`, or else of any stranger.
    pub(super) fn first(&self, share: usize) -> Option<(Source, u64)> {
        let most = self.callers.last().map(|(connections, _)| *connections);
        let callers = self.callers.iter().rev();
        let beyond = callers
            .take_while(|(connections, _)| *connections > share && Some(*connections) == most);
        let next = |group: &Group| self.groups.get(group)?.order.last();
        let first = beyond.filter_map(|(_, group)| next(group)).max();
        let (_, (_, Reverse((_, number)), source)) = first.or_else(|| next(&None))?;
        Some((*source, *number))
    }

    /// Counts a connection by its present caller and time, also if it is counted already.
    pub(super) fn insert(&mut self, source: Source, connection: &Activity) {
        let (number, caller) = (connection.number(), connection.caller());
        let since = connection.useful_at();
        self.change(source, |counted| {
            counted.remove(number);
            counted.connections.insert(number, (caller, since));
            for group in groups(caller) {
                let of_group = counted.groups.entry(group).or_default();
                of_group.insert((since, number));
            }
        });
    }

    /// Removes a connection from the counts.
    pub(super) fn remove(&mut self, source: Source, number: u64) {
        self.change(source, |counted| counted.remove(number));
    }

    /// Removes all connections of an address from the counts.
    pub(super) fn remove_all(&mut self, source: Source) {
        self.change(source, |counted| *counted = Counted::default());
    }

    /// Changes the counts of an address, and the ranks that depend on them.
    fn change(&mut self, source: Source, change: impl FnOnce(&mut Counted)) {
        let mut counted = self.sources.remove(&source).unwrap_or_default();
        let network = source.network();
        // The rank of the whole network changes with the number of its connections.
        self.rank(network, |order, rank| {
            order.remove(&rank);
        });
        self.add(source, &counted, false);
        change(&mut counted);
        self.add(source, &counted, true);
        self.rank(network, |order, rank| {
            order.insert(rank);
        });
        if !counted.connections.is_empty() {
            self.sources.insert(source, counted);
        }
    }

    /// Changes the rank of a network in each group that has connections from there.
    fn rank(&mut self, network: IpAddr, change: impl Fn(&mut BTreeSet<Rank>, Rank)) {
        let of_network = self.networks.range((network, None)..);
        let mut all = 0;
        for ((_, group), crowd) in of_network.take_while(|((of, _), _)| *of == network) {
            // The group of all comes first, and is the largest.
            all = all.max(crowd.connections);
            if let (Some(ranks), Some(first)) = (self.groups.get_mut(group), crowd.order.last()) {
                change(&mut ranks.order, (all, *first));
            }
        }
    }

    /// Adds the connections of an address to its network and to their groups, or takes them away.
    fn add(&mut self, source: Source, counted: &Counted, is_new: bool) {
        for (group, connections) in &counted.groups {
            let Some(oldest) = connections.first() else {
                continue;
            };
            let at = (source.network(), *group);
            let network = self.networks.entry(at).or_default();
            let ranks = self.groups.entry(*group).or_default();
            let standing = (counted.connections.len(), Reverse(*oldest), source);
            self.callers.remove(&(ranks.connections, *group));
            if is_new {
                network.order.insert(standing);
                network.connections += connections.len();
                ranks.connections += connections.len();
            } else {
                network.order.remove(&standing);
                network.connections -= connections.len();
                ranks.connections -= connections.len();
            }
            if group.is_some() && ranks.connections > 0 {
                self.callers.insert((ranks.connections, *group));
            }
            if network.connections == 0 {
                self.networks.remove(&at);
            }
            if ranks.connections == 0 {
                self.groups.remove(group);
            }
        }
    }
}

impl Counted {
    fn remove(&mut self, number: u64) {
        let Some((caller, since)) = self.connections.remove(&number) else {
            return;
        };
        for group in groups(caller) {
            if let Some(of_group) = self.groups.get_mut(&group) {
                of_group.remove(&(since, number));
                if of_group.is_empty() {
                    self.groups.remove(&group);
                }
            }
        }
    }
}

/// Returns the groups that a connection of this caller is in.
fn groups(caller: Group) -> impl Iterator<Item = Group> {
    [None].into_iter().chain(caller.map(Some))
}
