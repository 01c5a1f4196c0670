//! A server that answers with an error.

use super::{charged, counters, counters_at, fails, hour, works, works_again};
use crate::counters::charge;
use crate::redis::server::{SERVERS, Server};
use bankrail_rate_limit::CounterStore;
use bankrail_values::StoreErrorKind;
use std::time::Instant;

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn while_it_loads_what_it_saved() {
    for variable in SERVERS {
        let mut server = Server::start(variable).await;
        works(&server.counters_by_callers()).await;
        let () = server.run(&["DEBUG", "POPULATE", "2000"]).await;
        let () = server.run(&["SAVE"]).await;
        server.kill();
        // Loads one key in a millisecond, and answers requests in between.
        server.start_again(&[
            "--key-load-delay",
            "1000",
            "--loading-process-events-interval-bytes",
            "1024",
        ]);
        let counters = counters(&server);
        let begun = Instant::now();
        let mut loading = 0;
        while loading < 3 {
            let Err(error) = counters.charge(charge("A", &hour(), 0, 1).unwrap()).await else {
                panic!(
                    "loaded before three requests were refused, after {:?}",
                    begun.elapsed()
                );
            };
            let text = std::error::Error::source(&error)
                .map(ToString::to_string)
                .unwrap_or_default();
            loading += usize::from(
                error.kind() == StoreErrorKind::Unavailable
                    && text.to_lowercase().contains("loading"),
            );
        }
        works_again(&counters).await;
        assert_eq!(
            charged(&server).await,
            1,
            "what was saved, and nothing from the refused requests"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn while_a_script_does_not_end() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let counters = counters(&server);
        works(&counters).await;
        let () = server
            .run(&["CONFIG", "SET", "busy-reply-threshold", "10"])
            .await;
        let mut connection = server.connection().await;
        let endless = tokio::spawn(async move {
            redis::cmd("EVAL")
                .arg("while true do end")
                .arg(0)
                .query_async::<()>(&mut connection)
                .await
        });
        let (mut allowed, mut busy, mut unknown) = (1, 0, 0);
        while busy < 3 {
            match counters.charge(charge("A", &hour(), 0, 1).unwrap()).await {
                Ok(_) => allowed += 1, // the script has not begun
                Err(error) if error.kind() == StoreErrorKind::Unavailable => busy += 1,
                Err(_) => unknown += 1,
            }
        }
        let () = server.run(&["SCRIPT", "KILL"]).await;
        assert!(endless.await.unwrap().is_err());
        works_again(&counters).await;
        let charged = charged(&server).await;
        assert!(
            (allowed..=allowed + unknown).contains(&charged),
            "{charged} of {allowed} and {unknown} unknown"
        );
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn when_its_rules_forbid_the_script_the_key_or_the_writing() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        works(&server.counters_by_callers()).await;
        for (name, rules) in [
            ("script", &["+@all", "-evalsha", "~*"][..]),
            ("key", &["+@all", "~other:*"]),
            ("writing", &["+@all", "-set", "~*"]),
        ] {
            let mut words = vec!["ACL", "SETUSER", name, "on", ">secret", "resetkeys"];
            words.extend(rules);
            let () = server.run(&words).await;
            let counters =
                counters_at(&format!("redis://{name}:secret@127.0.0.1:{}/", server.port));
            assert_eq!(
                fails(&counters).await.kind(),
                StoreErrorKind::Unavailable,
                "{name}"
            );
        }
        let stranger = counters_at(&format!("redis://script:wrong@127.0.0.1:{}/", server.port));
        assert_eq!(
            fails(&stranger).await.kind(),
            StoreErrorKind::Unavailable,
            "a wrong password"
        );
        assert_eq!(charged(&server).await, 1);
    }
}
