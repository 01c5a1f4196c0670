//! A cluster of three nodes. Each key lies on one of them, so nothing but the connection differs.

use super::same_answers::traces;
use super::server::{SERVERS, Server, free_port};
use super::{charge, policy};
use bankrail_rate_limit::{Algorithm, CounterStore, Counting, Policy};
use bankrail_stores::redis::RedisCounters;
use bankrail_values::StoreErrorKind;
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use std::time::{Duration, Instant};

const SLOTS: [(&str, &str); 3] = [("0", "5460"), ("5461", "10922"), ("10923", "16383")];

struct Cluster {
    nodes: Vec<Server>,
}

impl Cluster {
    async fn start(variable: &str) -> Self {
        let mut nodes = Vec::new();
        for (first, last) in SLOTS {
            let bus = free_port().to_string();
            let options = ["--cluster-enabled", "yes", "--cluster-port", &bus, "--cluster-require-full-coverage", "no"];
            let node = Server::with_options(variable, &options).await;
            let () = node.run(&["CLUSTER", "ADDSLOTSRANGE", first, last]).await;
            if let Some(met) = nodes.first() {
                let met: &(Server, String) = met;
                let () = node.run(&["CLUSTER", "MEET", "127.0.0.1", &met.0.port.to_string(), &met.1]).await;
            }
            nodes.push((node, bus));
        }
        let nodes: Vec<Server> = nodes.into_iter().map(|(node, _)| node).collect();
        let begun = Instant::now();
        for node in &nodes {
            loop {
                let info: String = node.run(&["CLUSTER", "INFO"]).await;
                if info.contains("cluster_state:ok") && info.contains("cluster_slots_assigned:16384") {
                    break;
                }
                assert!(begun.elapsed() < Duration::from_secs(60), "no cluster: {info}");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        Self { nodes }
    }

    /// As the engine's documentation advises: the connection tries nothing again by itself.
    async fn counters(&self) -> RedisCounters<ClusterConnection> {
        let client = ClusterClientBuilder::new(self.nodes.iter().map(Server::url)).retries(0).build().unwrap();
        let connection = client.get_async_connection().await.unwrap();
        RedisCounters::over(connection).with_client_time().with_timeout(Duration::from_secs(20))
    }

    /// The node that a customer's key lies on, and the key's slot.
    async fn place(&self, customer: &str) -> (usize, u16) {
        let key = format!("bankrail:limit:payment:{customer}");
        let slot: u16 = self.nodes[0].run(&["CLUSTER", "KEYSLOT", &key]).await;
        let on = SLOTS.iter().position(|(_, last)| slot <= last.parse().unwrap()).unwrap();
        (on, slot)
    }

    /// A customer whose key lies on this node.
    async fn customer_on(&self, node: usize) -> String {
        for number in 0.. {
            let customer = format!("customer {number}");
            if self.place(&customer).await.0 == node {
                return customer;
            }
        }
        unreachable!("each node has a third of the slots")
    }
}

fn hundred() -> Policy {
    policy(Algorithm::Sliding, Counting::Admitted, &[(3_600_000, 100), (1_000, 100)])
}

async fn left(counters: &impl CounterStore, customer: &str, cost: u32) -> Option<u32> {
    let decision = counters.charge(charge(customer, hundred(), 0, cost).unwrap()).await.unwrap();
    assert!(decision.is_allowed());
    decision.remaining()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn three_nodes_answer_like_memory_and_share_the_keys() {
    for variable in SERVERS {
        let cluster = Cluster::start(variable).await;
        assert!(traces(cluster.counters().await, 0..600).await > 4_000);
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
        let (from, to, slot) = (&cluster.nodes[from], &cluster.nodes[2], slot.to_string());
        let from_id: String = from.run(&["CLUSTER", "MYID"]).await;
        let to_id: String = to.run(&["CLUSTER", "MYID"]).await;
        let () = to.run(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &from_id]).await;
        let () = from.run(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &to_id]).await;
        let key = format!("bankrail:limit:payment:{customer}");
        let () = from.run(&["MIGRATE", "127.0.0.1", &to.port.to_string(), &key, "0", "5000"]).await;
        for node in [to, from] {
            let () = node.run(&["CLUSTER", "SETSLOT", &slot, "NODE", &to_id]).await;
        }
        // The connection still thinks that the key is where it was.
        assert_eq!(left(&counters, &customer, 1).await, Some(98));
        assert_eq!(left(&counters, &customer, 1).await, Some(97));
        assert_eq!(left(&cluster.counters().await, &customer, 0).await, Some(97));
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn a_node_that_stops_or_dies_takes_only_its_own_keys_with_it() {
    const TIMEOUT: Duration = Duration::from_millis(200);
    for variable in SERVERS {
        let mut cluster = Cluster::start(variable).await;
        let patient = cluster.counters().await;
        let (here, there) = (cluster.customer_on(1).await, cluster.customer_on(2).await);
        for customer in [&here, &there] {
            assert_eq!(left(&patient, customer, 1).await, Some(99));
        }
        let counters = cluster.counters().await.with_timeout(TIMEOUT);
        cluster.nodes[1].signal("STOP");
        for _ in 0..3 {
            let asked = Instant::now();
            let error = counters.charge(charge(&here, hundred(), 0, 1).unwrap()).await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Timeout);
            assert!(asked.elapsed() < TIMEOUT + Duration::from_secs(2));
        }
        assert_eq!(left(&patient, &there, 1).await, Some(98), "another node's key");
        cluster.nodes[1].signal("CONT");
        let remaining = left(&patient, &here, 0).await.unwrap();
        assert!((96..=99).contains(&remaining), "{remaining}: each at most once");

        cluster.nodes[1].kill();
        for _ in 0..3 {
            let asked = Instant::now();
            assert!(counters.charge(charge(&here, hundred(), 0, 1).unwrap()).await.is_err());
            assert!(asked.elapsed() < TIMEOUT + Duration::from_secs(2));
        }
    }
}
