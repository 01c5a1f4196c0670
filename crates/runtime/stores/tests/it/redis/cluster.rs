//! A cluster of three nodes. Each key is on one of them, so only the connection differs.

use super::server::patient;
use super::server::{SERVERS, Server, free_port};
use crate::counters::{charge, policy, traces};
use crate::engines::{at, incoming, lease, owner, query};
use bankrail_mailbox::{EntryId, Inbox, ReceiveOutcome};
use bankrail_rate_limit::{Algorithm, CounterStore, Counting, Policy};
use bankrail_stores::CounterClock;
use bankrail_stores::redis::{RedisCounters, RedisCountersOptions, RedisInbox, RedisInboxOptions};
use bankrail_values::StoreErrorKind;
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use std::sync::Arc;
use std::time::{Duration, Instant};

mod takeover;

const SLOTS: [(&str, &str); 3] = [("0", "5460"), ("5461", "10922"), ("10923", "16383")];

pub(super) struct Cluster {
    pub(super) nodes: Vec<Server>,
}

impl Cluster {
    pub(super) async fn start(variable: &str) -> Self {
        let mut nodes = Vec::new();
        for (first, last) in SLOTS {
            let bus = free_port().to_string();
            let options = [
                "--cluster-enabled",
                "yes",
                "--cluster-port",
                &bus,
                "--cluster-require-full-coverage",
                "no",
            ];
            let node = Server::with_options(variable, &options).await;
            let () = node.run(&["CLUSTER", "ADDSLOTSRANGE", first, last]).await;
            if let Some(met) = nodes.first() {
                let met: &(Server, String) = met;
                let () = node
                    .run(&[
                        "CLUSTER",
                        "MEET",
                        "127.0.0.1",
                        &met.0.port.to_string(),
                        &met.1,
                    ])
                    .await;
            }
            nodes.push((node, bus));
        }
        let nodes: Vec<Server> = nodes.into_iter().map(|(node, _)| node).collect();
        let begun = Instant::now();
        for node in &nodes {
            loop {
                let info: String = node.run(&["CLUSTER", "INFO"]).await;
                if info.contains("cluster_state:ok")
                    && info.contains("cluster_slots_assigned:16384")
                {
                    break;
                }
                assert!(
                    begun.elapsed() < Duration::from_secs(60),
                    "no cluster: {info}"
                );
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        Self { nodes }
    }

    pub(super) async fn connection(&self, retries: u32) -> ClusterConnection {
        let client = ClusterClientBuilder::new(self.nodes.iter().map(Server::url)).retries(retries);
        client
            .min_retry_wait(1)
            .max_retry_wait(2)
            .build()
            .unwrap()
            .get_async_connection()
            .await
            .unwrap()
    }

    /// Makes counters over a connection without its own retries, as the engine's documentation
    /// advises.
    async fn counters(&self) -> RedisCounters<ClusterConnection> {
        self.counters_with(patient()).await
    }

    async fn counters_with(
        &self,
        options: RedisCountersOptions,
    ) -> RedisCounters<ClusterConnection> {
        RedisCounters::over(
            self.connection(0).await,
            options.clock(CounterClock::Callers),
        )
    }

    /// Returns the node of a customer's key, and the key's slot.
    async fn place(&self, customer: &str) -> (usize, u16) {
        self.place_of(&format!("bankrail:limit:payment:{customer}"))
            .await
    }

    pub(super) async fn place_of(&self, key: &str) -> (usize, u16) {
        let slot: u16 = self.nodes[0].run(&["CLUSTER", "KEYSLOT", key]).await;
        let on = SLOTS
            .iter()
            .position(|(_, last)| slot <= last.parse::<u16>().unwrap())
            .unwrap();
        (on, slot)
    }

    /// Begins to move a slot.
    pub(super) async fn begin_move(&self, slot: u16, from: &Server, to: &Server) {
        let (slot, from_id) = (
            slot.to_string(),
            from.run::<String>(&["CLUSTER", "MYID"]).await,
        );
        let to_id: String = to.run(&["CLUSTER", "MYID"]).await;
        let () = to
            .run(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &from_id])
            .await;
        let () = from
            .run(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &to_id])
            .await;
    }

    pub(super) async fn end_move(&self, slot: u16, from: &Server, to: &Server) {
        let to_id: String = to.run(&["CLUSTER", "MYID"]).await;
        // The others too: a new connection asks any of them where slots are.
        for node in [to, from].into_iter().chain(&self.nodes) {
            let () = node
                .run(&["CLUSTER", "SETSLOT", &slot.to_string(), "NODE", &to_id])
                .await;
        }
    }

    /// Returns a customer whose key is on this node.
    async fn customer_on(&self, node: usize) -> String {
        self.customer_of(0, node).await
    }

    /// Returns a customer whose key is on this node, another one for each task.
    async fn customer_of(&self, task: u8, node: usize) -> String {
        for number in 0.. {
            let customer = format!("customer {number} of {task}");
            if self.place(&customer).await.0 == node {
                return customer;
            }
        }
        unreachable!("each node has a third of the slots")
    }
}

fn hundred() -> Policy {
    policy(
        Algorithm::Sliding,
        Counting::Admitted,
        &[(3_600_000, 100), (1_000, 100)],
    )
}

async fn left(counters: &impl CounterStore, customer: &str, cost: u32) -> Option<u32> {
    let decision = counters
        .charge(charge(customer, &hundred(), 0, cost).unwrap())
        .await
        .unwrap();
    assert!(decision.is_allowed());
    decision.remaining()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn three_nodes_answer_like_memory_and_share_the_keys() {
    for variable in SERVERS {
        let cluster = Cluster::start(variable).await;
        let counters = Arc::new(cluster.counters().await);
        assert!(traces(move || Arc::clone(&counters), 0..600).await > 4_000);
        for node in &cluster.nodes {
            assert!(node.run::<usize>(&["DBSIZE"]).await > 50);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn a_key_that_moves_to_another_node_keeps_its_count() {
    for variable in SERVERS {
        let cluster = Cluster::start(variable).await;
        let counters = cluster.counters().await;
        let customer = cluster.customer_on(0).await;
        assert_eq!(left(&counters, &customer, 1).await, Some(99));
        let (from, slot) = cluster.place(&customer).await;
        let (from, to) = (&cluster.nodes[from], &cluster.nodes[2]);
        cluster.begin_move(slot, from, to).await;
        assert_eq!(left(&counters, &customer, 1).await, Some(98), "still here");
        let key = format!("bankrail:limit:payment:{customer}");
        let () = from
            .run(&[
                "MIGRATE",
                "127.0.0.1",
                &to.port.to_string(),
                &key,
                "0",
                "5000",
            ])
            .await;
        let error = counters
            .charge(charge(&customer, &hundred(), 0, 1).unwrap())
            .await
            .unwrap_err();
        assert_eq!(
            error.kind(),
            StoreErrorKind::Unavailable,
            "there already, and the slot is not: {error:?}"
        );
        cluster.end_move(slot, from, to).await;
        // The connection still uses the key's former node.
        assert_eq!(left(&counters, &customer, 1).await, Some(97));
        assert_eq!(left(&counters, &customer, 1).await, Some(96));
        assert_eq!(
            left(&cluster.counters().await, &customer, 0).await,
            Some(96)
        );
    }
}

/// No message is stored or leased twice, or lost, at any step of a move: while its keys are on two
/// nodes, operations fail.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn an_inbox_whose_slot_moves_does_nothing_until_it_has_moved() {
    for variable in SERVERS {
        let cluster = Cluster::start(variable).await;
        // A connection that follows redirections.
        let inbox = RedisInbox::over(
            cluster.connection(2).await,
            RedisInboxOptions::new().timeout(Duration::from_secs(20)),
        );
        let message = |number: u32| incoming(&query(number, "Why?"), number);
        for number in 0..3 {
            inbox.receive(&message(number), at(0)).await.unwrap();
        }
        assert_eq!(
            inbox
                .lease(&[], 1, lease(1, 100), at(0))
                .await
                .unwrap()
                .len(),
            1
        );
        let (from, slot) = cluster.place_of("{bankrail:inbox}").await;
        let (from, to) = (&cluster.nodes[from], &cluster.nodes[(from + 1) % 3]);
        cluster.begin_move(slot, from, to).await;
        let keys: Vec<String> = from
            .run(&["CLUSTER", "GETKEYSINSLOT", &slot.to_string(), "100"])
            .await;
        assert!(keys.len() > 6, "{keys:?}");
        for key in &keys {
            for number in 0..4 {
                let error = inbox.receive(&message(number), at(1)).await.unwrap_err();
                assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error:?}");
            }
            assert_eq!(
                inbox
                    .lease(&[], 9, lease(2, 100), at(1))
                    .await
                    .unwrap_err()
                    .kind(),
                StoreErrorKind::Unavailable
            );
            assert!(
                inbox
                    .complete(EntryId::new(1), owner(1), at(1))
                    .await
                    .is_err()
            );
            let () = from
                .run(&[
                    "MIGRATE",
                    "127.0.0.1",
                    &to.port.to_string(),
                    key,
                    "0",
                    "5000",
                ])
                .await;
        }
        assert!(
            inbox.receive(&message(0), at(1)).await.is_err(),
            "all keys are there, and the slot is not"
        );
        cluster.end_move(slot, from, to).await;
        for number in 0..3 {
            let again = inbox.receive(&message(number), at(2)).await.unwrap();
            assert!(
                matches!(again, ReceiveOutcome::InProgress { .. }),
                "{again:?}"
            );
            assert_eq!(again.id(), EntryId::new(u64::from(number) + 1));
        }
        let leased = inbox.lease(&[], 9, lease(2, 100), at(2)).await.unwrap();
        assert_eq!(
            leased
                .iter()
                .map(|entry| entry.id.get())
                .collect::<Vec<_>>(),
            [2, 3]
        );
        assert!(
            inbox
                .complete(EntryId::new(1), owner(1), at(3))
                .await
                .unwrap()
        );
        assert_eq!(
            inbox.receive(&message(3), at(3)).await.unwrap().id(),
            EntryId::new(4)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn a_node_that_stops_or_dies_takes_only_its_own_keys_with_it() {
    const TIMEOUT: Duration = Duration::from_millis(200);
    for variable in SERVERS {
        let mut cluster = Cluster::start(variable).await;
        let waiting = cluster.counters().await;
        let (here, there) = (cluster.customer_on(1).await, cluster.customer_on(2).await);
        for customer in [&here, &there] {
            assert_eq!(left(&waiting, customer, 1).await, Some(99));
        }
        let counters = cluster.counters_with(patient().timeout(TIMEOUT)).await;
        cluster.nodes[1].signal("STOP");
        for _ in 0..3 {
            let asked = Instant::now();
            let error = counters
                .charge(charge(&here, &hundred(), 0, 1).unwrap())
                .await
                .unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Timeout);
            assert!(asked.elapsed() < TIMEOUT + Duration::from_secs(2));
        }
        assert_eq!(
            left(&waiting, &there, 1).await,
            Some(98),
            "another node's key"
        );
        cluster.nodes[1].signal("CONT");
        let remaining = left(&waiting, &here, 0).await.unwrap();
        assert!(
            (96..=99).contains(&remaining),
            "{remaining}: each at most once"
        );

        cluster.nodes[1].kill();
        for _ in 0..3 {
            let asked = Instant::now();
            assert!(
                counters
                    .charge(charge(&here, &hundred(), 0, 1).unwrap())
                    .await
                    .is_err()
            );
            assert!(asked.elapsed() < TIMEOUT + Duration::from_secs(2));
        }
    }
}
