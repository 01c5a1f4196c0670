//! The inbox passes the suite of all engines, and keeps its records over time and restarts.

use super::server::{SERVERS, Server};
use crate::engines::{at, incoming, lease, owner, query, receive_and_lease};
use crate::inbox::{
    answers_as_the_model, every_entry_goes_to_one_worker, one_of_many_receivers_stores_it,
    one_of_many_workers_gets_it,
};
use crate::unreadable::stands_in_no_inboxs_way;
use bankrail_mailbox::testing::inbox_suite;
use bankrail_mailbox::{EntryId, Inbox, ReceiveOutcome};
use bankrail_stores::redis::{RedisInbox, RedisInboxOptions};
use bankrail_values::StoreErrorKind;
use std::time::Duration;

/// The grace period in milliseconds by which completed messages outlive the retention.
const GRACE: i64 = 3_600_000;

#[tokio::test]
async fn its_retention_is_known_to_receivers() {
    let inbox = RedisInbox::open("redis://127.0.0.1:1/", Default::default()).unwrap();
    assert_eq!(inbox.retention(), Some(Duration::from_secs(30 * 86_400)));
    let options = RedisInboxOptions::new().retention(Duration::from_secs(7));
    let inbox = RedisInbox::open("redis://127.0.0.1:1/", options).unwrap();
    assert_eq!(inbox.retention(), Some(Duration::from_secs(7)));
}

fn inbox(server: &Server, name: u32) -> RedisInbox {
    inbox_with(server, name, RedisInboxOptions::new())
}

fn inbox_with(server: &Server, name: u32, options: RedisInboxOptions) -> RedisInbox {
    let options = options
        .timeout(Duration::from_secs(20))
        .name(&format!("test-{name}"));
    RedisInbox::open(&server.url(), options).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs redis-server and valkey-server"]
async fn passes_the_suite() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let mut names = 0..;
        let mut make = || inbox(&server, names.next().unwrap());
        answers_as_the_model(make()).await;
        one_of_many_receivers_stores_it(make()).await;
        one_of_many_workers_gets_it(make()).await;
        every_entry_goes_to_one_worker(make()).await;
        inbox_suite(async || make()).await;
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn an_unreadable_entry_stands_in_nobodys_way() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let inbox = inbox(&server, 1);
        let spoil = async |id: EntryId| {
            let key = format!("{{bankrail:test-1}}:entry:{id}");
            let () = server
                .run(&["HSET", &key, "received", "of another version"])
                .await;
        };
        stands_in_no_inboxs_way(&inbox, spoil).await;
    }
}

/// Entries whose hash was deleted by hand or evicted by a full server do not block others.
#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn a_lost_entry_stands_in_nobodys_way() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let inbox = inbox_with(
            &server,
            1,
            RedisInboxOptions::new().retention(Duration::from_millis(100)),
        );
        for number in 0..4 {
            inbox
                .receive(&incoming(&query(number, "Why?"), number), at(0))
                .await
                .unwrap();
        }
        inbox.lease(&[], 2, lease(1, 10), at(0)).await.unwrap();
        assert!(
            inbox
                .complete(EntryId::new(1), owner(1), at(1))
                .await
                .unwrap()
        );
        for lost in 1..=3 {
            let () = server
                .run(&["DEL", &format!("{{bankrail:test-1}}:entry:{lost}")])
                .await;
        }
        assert_eq!(
            inbox.release_all(&[owner(1)]).await.unwrap(),
            0,
            "the one that was leased is lost"
        );
        let leased = inbox.lease(&[], 9, lease(2, 20), at(10)).await.unwrap();
        assert_eq!(
            leased
                .iter()
                .map(|entry| entry.id.get())
                .collect::<Vec<_>>(),
            [4]
        );
        let known: Vec<String> = server.run(&["SMEMBERS", "{bankrail:test-1}:leased"]).await;
        assert_eq!(known, ["4"], "nothing else is taken for leased");
        assert_eq!(inbox.release_all(&[owner(2)]).await.unwrap(), 1);
        assert_eq!(
            inbox.lease(&[], 9, lease(2, 20), at(10)).await.unwrap()[0].attempts,
            1
        );
        assert!(
            inbox
                .complete(EntryId::new(4), owner(2), at(11))
                .await
                .unwrap()
        );
        let keys: Vec<String> = server.run(&["KEYS", "*:leased"]).await;
        assert!(keys.is_empty(), "what is done is leased no more: {keys:?}");
        let later = at(1000 + GRACE);
        let again = inbox
            .receive(&incoming(&query(1, "Why?"), 9), later)
            .await
            .unwrap();
        assert!(
            matches!(again, ReceiveOutcome::New { .. }),
            "what was lost is taken again: {again:?}"
        );
        assert_eq!(
            inbox.forget(later).await.unwrap(),
            0,
            "the completed one went in passing"
        );
    }
}

/// One call reads a bounded number of the entries that are due.
#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn many_that_come_due_at_once_are_all_handed_out() {
    let server = Server::start(SERVERS[0]).await;
    let inbox = inbox(&server, 1);
    for number in 0..1500 {
        receive_and_lease(
            &inbox,
            &incoming(&query(number, "Why?"), number),
            lease(1, 10),
            at(0),
        )
        .await;
    }
    let mut handed_out = 0;
    loop {
        match inbox
            .lease(&[], 100, lease(2, 1000), at(20))
            .await
            .unwrap()
            .len()
        {
            0 => break,
            some => handed_out += some,
        }
    }
    assert_eq!(handed_out, 1500);
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn all_keys_of_an_inbox_lie_in_one_slot() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let inbox = inbox(&server, 1);
        let first =
            receive_and_lease(&inbox, &incoming(&query(1, "Why?"), 1), lease(1, 10), at(0)).await;
        receive_and_lease(&inbox, &incoming(&query(2, "Why?"), 2), lease(1, 10), at(0)).await;
        inbox
            .receive(&incoming(&query(3, "Why?"), 3), at(0))
            .await
            .unwrap();
        assert!(inbox.complete(first, owner(1), at(1)).await.unwrap());
        let keys: Vec<String> = server.run(&["KEYS", "*"]).await;
        assert!(
            keys.len() > 6 && keys.iter().all(|key| key.starts_with("{bankrail:test-1}")),
            "{keys:?}"
        );
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn only_what_was_completed_long_ago_is_forgotten_in_passing() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let inbox = inbox_with(
            &server,
            1,
            RedisInboxOptions::new().retention(Duration::from_millis(100)),
        );
        for number in 0..3 {
            receive_and_lease(
                &inbox,
                &incoming(&query(number, "Why?"), number),
                lease(1, 10),
                at(0),
            )
            .await;
        }
        assert!(
            inbox
                .complete(EntryId::new(1), owner(1), at(5))
                .await
                .unwrap()
        );
        assert!(
            inbox
                .dead_letter(EntryId::new(2), owner(1), "poison", at(5))
                .await
                .unwrap()
        );
        let again = async |now| {
            inbox
                .receive(&incoming(&query(0, "Why?"), 9), at(now))
                .await
                .unwrap()
        };
        assert!(
            matches!(again(105 + GRACE).await, ReceiveOutcome::Duplicate { .. }),
            "not yet"
        );
        assert!(matches!(
            again(106 + GRACE).await,
            ReceiveOutcome::New { .. }
        ));
        assert_eq!(inbox.find(EntryId::new(1)).await.unwrap(), None);
        let counts = inbox.counts().await.unwrap();
        assert_eq!(
            (counts.pending, counts.completed, counts.dead_letters),
            (2, 0, 1)
        );
        let keys: Vec<String> = server.run(&["KEYS", "*:key:*"]).await;
        assert_eq!(keys.len(), 3);
        for key in keys {
            assert_eq!(
                server.run::<i64>(&["TTL", &key]).await,
                -1,
                "nothing expires by the server's clock"
            );
        }
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn what_was_answered_survives_the_end_of_the_server() {
    for variable in SERVERS {
        let durable = ["--appendonly", "yes", "--appendfsync", "always"];
        let mut server = Server::with_options(variable, &durable).await;
        let inbox = inbox(&server, 1);
        let first = inbox
            .receive(&incoming(&query(1, "Why?"), 1), at(0))
            .await
            .unwrap();
        server.kill();
        let gone = inbox
            .receive(&incoming(&query(2, "Why?"), 2), at(0))
            .await
            .unwrap_err();
        assert!(
            matches!(
                gone.kind(),
                StoreErrorKind::Unavailable | StoreErrorKind::Timeout
            ),
            "{gone:?}"
        );
        server.restart().await;
        let inbox = super::inbox::inbox(&server, 1);
        let again = inbox
            .receive(&incoming(&query(1, "Why?"), 3), at(0))
            .await
            .unwrap();
        assert!(matches!(again, ReceiveOutcome::InProgress { .. }));
        assert_eq!(
            (again.id(), again.acknowledgement()),
            (first.id(), first.acknowledgement())
        );
    }
}
