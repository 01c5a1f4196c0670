//! Used assertions, tokens and seen entries: the suites of all engines, then tests of this engine.

mod faults;

use super::cluster::Cluster;
use super::server::{SERVERS, Server};
use crate::engines::at;
use crate::{alike, replay, tokens};
use bankrail_client_assertion::testing::token_cache_suite;
use bankrail_client_assertion::token::{TokenGrant, TokenHash, TokenStore};
use bankrail_client_assertion::{ReplayKey, ReplayStore};
use bankrail_statement::testing::seen_entries_suite;
use bankrail_statement::{AccountId, EntryKey, SeenEntries, SeenEntry};
use bankrail_stores::redis::{RedisStore, RedisStoreOptions};
use bankrail_values::StoreErrorKind;
use redis::aio::ConnectionLike;
use redis::cluster_async::ClusterConnection;
use std::sync::Arc;
use std::time::Duration;

const HOUR: i64 = 3_600_000;

/// Makes a store over a new connection.
fn store(server: &Server) -> RedisStore {
    store_with(server, patient())
}

fn store_with(server: &Server, options: RedisStoreOptions) -> RedisStore {
    RedisStore::open(&server.url(), options).unwrap()
}

/// Returns options with a long time-out, so that a busy machine fails only tests of time-outs.
fn patient() -> RedisStoreOptions {
    RedisStoreOptions::new().timeout(Duration::from_secs(20))
}

fn grant(from: i64, until: i64) -> TokenGrant {
    TokenGrant::new(
        "CUSTOMER-7".parse().unwrap(),
        "READ".parse().unwrap(),
        at(from),
        at(until),
    )
}

fn account(id: &str) -> AccountId {
    id.parse().unwrap()
}

fn entry(key: u8, occurrence: u32, day: Option<&str>) -> SeenEntry {
    SeenEntry::new(
        EntryKey::from([key; 32]),
        occurrence,
        day.map(|day| day.parse().unwrap()),
    )
}

async fn count(store: &impl SeenEntries, id: &str, key: u8) -> u32 {
    store
        .counts(&account(id), &[EntryKey::from([key; 32])])
        .await
        .unwrap()[0]
}

fn key(kind: &str, byte: u8) -> String {
    format!("bankrail:{kind}:{}", format!("{byte:02x}").repeat(32))
}

async fn passes_the_suites<C>(connection: C)
where
    C: ConnectionLike + Clone + Send + Sync + 'static,
{
    let mut names = 0..;
    // Each case has a prefix of its own.
    let mut make = || {
        let prefix = format!("test-{}:", names.next().unwrap());
        RedisStore::over(connection.clone(), patient().prefix(&prefix))
    };
    replay::once_until_it_expires(make()).await;
    replay::a_clock_that_lags_sets_nothing_free(make()).await;
    replay::keys_are_apart(make()).await;
    replay::one_of_many_callers_is_the_first(make()).await;
    replay::a_backlog_of_expired_ones_shrinks(make()).await;
    replay::a_clock_that_was_ahead_or_behind_frees_nothing(make()).await;
    tokens::found_until_it_expires(make()).await;
    tokens::a_clock_that_lags_finds_them(make()).await;
    tokens::replaced_by_a_later_grant(make()).await;
    tokens::revoked_at_once(make()).await;
    tokens::one_of_a_clock_that_was_ahead_is_not_found(make()).await;
    token_cache_suite(async || make()).await;
    seen_entries_suite(async || make()).await;
    alike::claims_as_the_function_decides(&mut make).await;
    alike::answers_as_memory(make).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn one_server_passes_the_suites() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        passes_the_suites(server.connection().await).await;
        let store = store(&server);
        store.check().await.unwrap();
        let _: () = server.run(&["CONFIG", "SET", "maxmemory", "1"]).await;
        store.check().await.unwrap_err();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn three_nodes_pass_the_suites() {
    for variable in SERVERS {
        let cluster = Cluster::start(variable).await;
        passes_the_suites(cluster.connection(0).await).await;
        for node in &cluster.nodes {
            assert!(node.run::<usize>(&["DBSIZE"]).await > 50);
        }
    }
}

async fn in_cluster(cluster: &Cluster, retries: u32) -> RedisStore<ClusterConnection> {
    RedisStore::over(cluster.connection(retries).await, patient())
}

/// No assertion is used twice, no revoked token is found and no known entry counts as new at any
/// step of a move.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn what_moves_to_another_node_is_not_forgotten_on_the_way() {
    for variable in SERVERS {
        let cluster = Cluster::start(variable).await;
        // One connection follows redirections, the other does not.
        let stores = [in_cluster(&cluster, 2).await, in_cluster(&cluster, 0).await];
        let store = &stores[0];
        assert!(
            store
                .claim(ReplayKey::new([1; 32], at(HOUR)), at(0))
                .await
                .unwrap()
        );
        store
            .insert(TokenHash::from([2; 32]), grant(0, HOUR))
            .await
            .unwrap();
        assert!(store.revoke(TokenHash::from([2; 32])).await.unwrap());
        store
            .insert(TokenHash::from([3; 32]), grant(0, HOUR))
            .await
            .unwrap();
        let _ = store
            .record(&account("A"), &[entry(4, 2, Some("2024-01-02"))], None)
            .await
            .unwrap();
        let seen = [
            "bankrail:seen:{A}".to_owned(),
            "bankrail:seen:{A}:days".to_owned(),
        ];
        let tokens = [key("token", 2), key("token", 3)];
        let (mut recorded, mut refused) = (Vec::new(), Vec::new());
        let mut look = async || {
            for store in &stores {
                nothing_is_forgotten(store).await;
                let byte = u8::try_from(recorded.len() + refused.len()).unwrap() + 10;
                match store
                    .record(&account("A"), &[entry(byte, 1, Some("2024-01-01"))], None)
                    .await
                {
                    Ok(_) => recorded.push(byte),
                    Err(error) => {
                        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error:?}");
                        refused.push(byte);
                    }
                }
            }
        };
        for keys in [&[key("replay", 1)][..], &tokens[..1], &tokens[1..], &seen] {
            let (from, slot) = cluster.place_of(&keys[0]).await;
            let (from, to) = (&cluster.nodes[from], &cluster.nodes[(from + 1) % 3]);
            cluster.begin_move(slot, from, to).await;
            look().await;
            for key in keys {
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
                look().await;
            }
            assert_eq!(
                from.run::<usize>(&["CLUSTER", "COUNTKEYSINSLOT", &slot.to_string()])
                    .await,
                0
            );
            cluster.end_move(slot, from, to).await;
            look().await;
        }
        for store in &stores {
            assert!(
                !store
                    .claim(ReplayKey::new([1; 32], at(HOUR)), at(0))
                    .await
                    .unwrap()
            );
            assert_eq!(
                store.find(TokenHash::from([2; 32]), at(1)).await.unwrap(),
                None
            );
            assert_eq!(
                store.find(TokenHash::from([3; 32]), at(1)).await.unwrap(),
                Some(grant(0, HOUR))
            );
            assert_eq!(count(store, "A", 4).await, 2);
        }
        assert!(
            recorded.len() > 10 && !refused.is_empty(),
            "{recorded:?} {refused:?}"
        );
        for (bytes, expected) in [(&recorded, 1), (&refused, 0)] {
            for byte in bytes {
                assert_eq!(
                    count(store, "A", *byte).await,
                    expected,
                    "{recorded:?} {refused:?}"
                );
            }
        }
        let forgotten = store
            .forget_before(&account("A"), "2024-01-03".parse().unwrap())
            .await
            .unwrap();
        assert_eq!(
            forgotten,
            1 + u64::try_from(recorded.len()).unwrap(),
            "the days have moved too"
        );
    }
}

/// Calls may fail, but each answer is right.
async fn nothing_is_forgotten(store: &(impl ReplayStore + TokenStore + SeenEntries)) {
    if let Ok(first) = store.claim(ReplayKey::new([1; 32], at(HOUR)), at(0)).await {
        assert!(!first);
    }
    if let Ok(found) = store.find(TokenHash::from([2; 32]), at(1)).await {
        assert_eq!(found, None);
    }
    if let Ok(found) = store.find(TokenHash::from([3; 32]), at(1)).await {
        assert_eq!(found, Some(grant(0, HOUR)));
    }
    if let Ok(counts) = store
        .counts(&account("A"), &[EntryKey::from([4; 32])])
        .await
    {
        assert_eq!(counts, [2]);
    }
}

/// Exactly one of two machines, each with its own connection, uses an assertion.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn of_two_machines_exactly_one_uses_an_assertion() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let machines = [store(&server), store(&server)].map(Arc::new);
        let (rounds, mut won) = (500_u32, [0_u32; 2]);
        for round in 0..rounds {
            let mut key = [0; 32];
            key[..4].copy_from_slice(&round.to_be_bytes());
            let together = Arc::new(tokio::sync::Barrier::new(2));
            let claims = machines.each_ref().map(|machine| {
                let (machine, together) = (Arc::clone(machine), Arc::clone(&together));
                tokio::spawn(async move {
                    together.wait().await;
                    machine
                        .claim(ReplayKey::new(key, at(HOUR)), at(0))
                        .await
                        .unwrap()
                })
            });
            let mut first = 0;
            for (claim, won) in claims.into_iter().zip(&mut won) {
                let is_first = u32::from(claim.await.unwrap());
                first += is_first;
                *won += is_first;
            }
            assert_eq!(first, 1, "round {round}");
        }
        assert_eq!(won.iter().sum::<u32>(), rounds);
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn the_server_drops_what_has_long_expired() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let store = store(&server);
        // Lifetimes are by the callers' clock. The instants of `at` may be before or after the
        // server's time.
        assert!(
            store
                .claim(ReplayKey::new([1; 32], at(HOUR)), at(0))
                .await
                .unwrap()
        );
        assert!(
            store
                .claim(ReplayKey::new([2; 32], at(0)), at(HOUR))
                .await
                .unwrap()
        );
        store
            .insert(TokenHash::from([3; 32]), grant(0, 2 * HOUR))
            .await
            .unwrap();
        for (name, hours) in [
            (key("replay", 1), 2),
            (key("replay", 2), 1),
            (key("token", 3), 3),
        ] {
            let left: i64 = server.run(&["PTTL", &name]).await;
            assert!(
                (hours * HOUR - 60_000..=hours * HOUR).contains(&left),
                "{name}: {left}"
            );
        }
        // An expired assertion can be claimed again, with its new lifetime.
        assert!(
            store
                .claim(ReplayKey::new([2; 32], at(HOUR)), at(1))
                .await
                .unwrap()
        );
        assert!(server.run::<i64>(&["PTTL", &key("replay", 2)]).await > HOUR + HOUR / 2);
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn seen_entries_stay_unless_idle_accounts_are_let_go() {
    const DAY: i64 = 86_400_000;
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let names = ["bankrail:seen:{A}", "bankrail:seen:{A}:days"];
        let store = store(&server);
        let idle = store_with(
            &server,
            patient().idle_retention(Duration::from_secs(400 * 86_400)),
        );
        for (store, expected) in [
            (&store, -1..=-1),
            (&idle, 399 * DAY..=400 * DAY),
            (&store, -1..=-1),
        ] {
            let _ = store
                .record(
                    &account("A"),
                    &[entry(1, 1, Some("2024-01-02")), entry(2, 1, None)],
                    None,
                )
                .await
                .unwrap();
            for name in names {
                let left: i64 = server.run(&["PTTL", name]).await;
                assert!(expected.contains(&left), "{name}: {left}");
            }
        }
        let keys: Vec<String> = server.run(&["KEYS", "*"]).await;
        assert_eq!(keys.len(), 2);
        assert_eq!(
            store
                .forget_before(&account("A"), "2024-01-03".parse().unwrap())
                .await
                .unwrap(),
            1
        );
        assert_eq!(
            server.run::<Vec<String>>(&["KEYS", "*"]).await,
            [names[0]],
            "the one without a day"
        );
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn a_page_that_does_not_fit_is_refused_as_a_whole() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let store = store_with(&server, patient().seen_capacity(2));
        let _ = store
            .record(&account("A"), &[entry(1, 1, None)], None)
            .await
            .unwrap();
        let page = [entry(1, 7, None), entry(2, 1, None), entry(3, 1, None)];
        assert_eq!(
            store
                .record(&account("A"), &page, None)
                .await
                .unwrap_err()
                .kind(),
            StoreErrorKind::Full
        );
        for (key, expected) in [(1, 1), (2, 0), (3, 0)] {
            assert_eq!(count(&store, "A", key).await, expected);
        }
        let _ = store.record(&account("B"), &page[1..], None).await.unwrap();
        let _ = store
            .record(
                &account("A"),
                &[entry(1, 2, None), entry(2, 1, None), entry(2, 2, None)],
                None,
            )
            .await
            .unwrap();
        assert_eq!(
            (count(&store, "A", 1).await, count(&store, "A", 2).await),
            (2, 2)
        );
    }
}

/// An account has more entries than one call handles, and than a Lua function has arguments.
#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn an_account_of_many_entries_is_kept_and_forgotten() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let (store, own) = (store(&server), account("A"));
        let key = |n: u32| {
            let mut key = [0; 32];
            key[..4].copy_from_slice(&n.to_be_bytes());
            EntryKey::from(key)
        };
        let day = Some("2024-01-02".parse().unwrap());
        let page: Vec<_> = (0..20_000)
            .map(|n| SeenEntry::new(key(n), 1, day))
            .collect();
        let _ = store.record(&own, &page, None).await.unwrap();
        let keys: Vec<_> = (0..20_001).map(key).collect();
        assert_eq!(
            store.counts(&own, &keys).await.unwrap().iter().sum::<u32>(),
            20_000
        );
        let memory: u64 = server
            .run::<u64>(&["MEMORY", "USAGE", "bankrail:seen:{A}", "SAMPLES", "0"])
            .await
            + server
                .run::<u64>(&["MEMORY", "USAGE", "bankrail:seen:{A}:days", "SAMPLES", "0"])
                .await;
        assert!(memory / 20_000 < 400, "{} bytes an entry", memory / 20_000);
        assert_eq!(
            store
                .forget_before(&own, "2024-01-03".parse().unwrap())
                .await
                .unwrap(),
            20_000
        );
        assert_eq!(server.run::<usize>(&["DBSIZE"]).await, 0);
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn no_token_and_nothing_but_hashes_is_kept() {
    use bankrail_client_assertion::token::AccessToken;
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let token = AccessToken::generate().unwrap();
        store(&server)
            .insert(token.hash(), grant(0, HOUR))
            .await
            .unwrap();
        let names: Vec<String> = server.run(&["KEYS", "*"]).await;
        let hash: String = token
            .hash()
            .as_bytes()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(names, [format!("bankrail:token:{hash}")]);
        let kept: String = server.run(&["GET", &names[0]]).await;
        assert!(!kept.contains(token.expose_secret()), "{kept}");
    }
}
