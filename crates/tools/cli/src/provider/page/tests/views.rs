//! The content of each view.

use super::world::{World, call};
use bankrail::mailbox::{Circuit, Intervention};
use bankrail::values::{Clock as _, SystemClock, Timestamp};
use bankrail_emulator::Endpoint;

/// Checks that a page contains all of these texts.
fn has(page: &str, expected: &[&str]) {
    for text in expected {
        assert!(page.contains(text), "{text}\n{page}");
    }
}

/// Returns the addresses of links with this text before their end.
fn links_to(page: &str, text: &str) -> Vec<String> {
    let ends = page.split(&format!("\">{text}</a>")).collect::<Vec<_>>();
    let (_, before) = ends.split_last().unwrap();
    before
        .iter()
        .map(|before| {
            before
                .rsplit_once("href=\"")
                .unwrap()
                .1
                .split('"')
                .next()
                .unwrap()
        })
        .map(plain)
        .collect()
}

fn plain(address: &str) -> String {
    address.replace("&#38;", "&").replace("&amp;", "&")
}

/// Returns the pages of a list, from the first one on.
async fn pages(world: &World, first: &str) -> Vec<String> {
    let mut pages = vec![world.page(first).await];
    while let Some(next) = next_page(pages.last().unwrap()) {
        pages.push(world.page(&next).await);
        assert!(pages.len() < 20);
    }
    pages
}

fn next_page(page: &str) -> Option<String> {
    let (before, _) = page.split_once("\" rel=\"next\"")?;
    Some(plain(before.rsplit_once("href=\"").unwrap().1))
}

#[tokio::test]
async fn the_overview_says_what_needs_somebody() {
    let world = World::new().await;
    world.fill("no such endpoint").await;
    let data = world.folder.path().join("my data").display().to_string();
    has(
        &world.page("/").await,
        &[
            "<b>3</b> calls since the start",
            "<b>2</b> refused",
            "<b>2</b> messages waiting",
            "<b>1</b> dead letter",
            "<b>1</b> message dropped",
            "Needs attention",
            "2 of the newest 500 calls refused",
            "1 dead letter is no longer delivered",
            "stopped by dispatcher: no such endpoint",
            &format!(
                "bankrail provider --data &#39;{data}&#39; control resume --endpoint &#39;gone no such endpoint&#39;"
            ),
        ],
    );
    std::fs::write(world.folder.path().join("customers/beta.toml"), "code = 1").unwrap();
    world.directory.reload().await.unwrap_err();
    has(
        &world.page("/").await,
        &[
            "A change of the customers' files is not in force",
            "beta.toml",
        ],
    );
}

#[tokio::test]
async fn calls_have_their_reasons_and_are_filtered() {
    let world = World::new().await;
    world.calls.record(call());
    let mut refused = call();
    (refused.status, refused.customer, refused.endpoint) =
        (Some(401), Some("BETA".to_owned()), Endpoint::Token);
    refused.reason = Some("exp: expected at most 60 minutes ahead".to_owned());
    world.calls.record(refused);
    let all = world.page("/calls").await;
    has(
        &all,
        &[
            "<time datetime=\"2021-07-29T01:02:03.450Z\"",
            "exp: expected at most 60 minutes ahead",
            "<pre>POST /accounts/v2.0/statement</pre>",
            "Start the provider with <code>--control 127.0.0.1:0</code>",
            "f3b1c0de-1111-4222-8333-444455556666",
            "data-later=\"/calls/later?after=2\"",
        ],
    );
    // The newest first.
    assert!(all.find(">401<") < all.find(">200<"), "{all}");
    let rows = |page: &str| page.matches("<li class=\"call").count();
    for (address, expected) in [
        ("/calls?refused=yes", 1),
        ("/calls?customer=ACME", 1),
        ("/calls?customer=ACME&refused=yes", 0),
        ("/calls?customer=NOBODY", 0),
        ("/calls?customer=&key=&from=&until=", 2),
        ("/calls?key=8333-4444", 2),
        ("/calls?key=8333-4445", 0),
        ("/calls?from=2021-07-29T01:02&until=2021-07-29T01:02:03", 2),
        ("/calls?from=2021-07-29T01:02:04", 0),
        ("/calls?until=2021-07-29T01:02:02", 0),
        ("/calls?from=2021-07-29T01:02:03.450Z", 2),
    ] {
        assert_eq!(rows(&world.page(address).await), expected, "{address}");
    }
    assert_eq!(world.get("/calls?from=noon").await.status, 400);
    let filtered = world
        .page("/calls?customer=ACME&from=2021-07-29T01:02")
        .await;
    has(
        &filtered,
        &[
            "name=\"from\" value=\"2021-07-29T01:02:00\"",
            "name=\"customer\" value=\"ACME\"",
        ],
    );
    let address = "/calls?refused=yes&customer=ACME&from=2021-07-29T01%3A02%3A00.000Z";
    assert_eq!(links_to(&filtered, "Refused"), [address]);
    for _ in 0..118 {
        world.calls.record(call());
    }
    let pages = pages(&world, "/calls").await;
    assert_eq!(
        pages.iter().map(|page| rows(page)).collect::<Vec<_>>(),
        [25, 25, 25, 25, 20]
    );
    // Later calls go to the top of the first page only.
    assert!(pages[0].contains("data-later") && !pages[1].contains("data-later"));
}

#[tokio::test]
async fn a_kept_call_has_its_bodies_and_is_repeated_with_curl() {
    let world = World::new().await;
    let mut kept = call();
    kept.headers.insert("apikey", "(masked)".parse().unwrap());
    kept.body = "{\"accountId\":\"1\"}".into();
    kept.answer_headers
        .insert("content-type", "application/json".parse().unwrap());
    kept.answer = "{\"a\":\"<b>\"}".into();
    world.calls.record(kept);
    has(
        &world.page("/calls").await,
        &[
            "<pre>POST /accounts/v2.0/statement\napikey: (masked)\n\n{&#34;accountId&#34;:&#34;1&#34;}</pre>",
            "<pre>200\ncontent-type: application/json\n\n{&#34;a&#34;:&#34;&#60;b&#62;&#34;}</pre>",
            "curl -i -X POST https://127.0.0.1:18100/accounts/v2.0/statement -H &#39;apikey: (masked)&#39;",
        ],
    );
}

#[tokio::test]
async fn messages_have_their_states_and_commands() {
    let world = World::new().await;
    world.fill("no such endpoint").await;
    let list = world.page("/outbox").await;
    has(
        &list,
        &[
            "2 waiting",
            "1 delivered",
            "1 dead letter",
            "1 dropped",
            "1, last 503 refused",
            "1, last timed out",
            "being delivered",
            "control resend --number 1</code>",
        ],
    );
    has(
        &world.page("/outbox/1").await,
        &[
            "dead letter</span> since",
            "503 refused",
            "12 ms",
            "control message --number 1</code>",
            "control drop --number 1</code>",
        ],
    );
    has(
        &world.page("/outbox/2").await,
        &[
            "delivered</span> since",
            "control message --number 2</code>",
        ],
    );
    assert!(!world.page("/outbox/2").await.contains("control drop"));
    has(
        &world.page("/outbox/5").await,
        &["by <bdi>dispatcher: no such endpoint</bdi>"],
    );
    let rows = |page: &str| page.matches("data-label=\"Number\"").count();
    for (address, expected) in [
        ("/outbox", 5),
        ("/outbox?state=dead_letter", 1),
        ("/outbox?state=pending", 2),
        ("/outbox?endpoint=acme", 4),
        ("/outbox?state=pending&endpoint=acme", 1),
    ] {
        assert_eq!(rows(&world.page(address).await), expected, "{address}");
    }
    for address in [
        "/outbox?state=done",
        "/outbox/6",
        "/outbox/18446744073709551615",
        "/outbox?endpoint=",
    ] {
        assert_eq!(world.get(address).await.status, 404, "{address}");
    }
    for _ in 0..100 {
        world.enqueue("acme").await;
    }
    let pages = pages(&world, "/outbox").await;
    assert_eq!(
        pages.iter().map(|page| rows(page)).collect::<Vec<_>>(),
        [25, 25, 25, 25, 5]
    );
}

#[tokio::test]
async fn endpoints_have_their_condition_and_commands() {
    let world = World::new().await;
    world.fill("no such endpoint").await;
    let page = world.page("/endpoints").await;
    has(
        &page,
        &[
            "https://biller.example/hooks",
            "running</span>",
            "1 waiting, 1 dead letter",
            "control resend --endpoint acme</code>",
            "control pause --endpoint acme</code>",
            "control resume --endpoint acme</code>",
            "stopped</span> since",
            "control resume --endpoint &#39;gone no such endpoint&#39;</code>",
        ],
    );
    assert_eq!(
        world
            .page("/endpoints?after=acme")
            .await
            .matches("<li>\n<h2>")
            .count(),
        1
    );
}

#[tokio::test]
async fn who_gave_no_reason_is_named_alone() {
    let world = World::new().await;
    let by = Intervention {
        by: "root".parse().unwrap(),
        reason: "".parse().unwrap(),
    };
    world
        .outbox
        .stop_endpoint(&"acme".parse().unwrap(), &by, SystemClock.now())
        .await
        .unwrap();
    let entry = world.enqueue("acme").await;
    world
        .outbox
        .drop_entry(entry, &by, SystemClock.now())
        .await
        .unwrap();
    has(
        &world.page("/").await,
        &["Nothing is delivered to the endpoint acme: stopped by root</a>"],
    );
    for address in ["/endpoints", &format!("/outbox/{entry}")] {
        has(&world.page(address).await, &["by <bdi>root</bdi>"]);
    }
}

#[tokio::test]
async fn an_endpoint_whose_delivery_failed_needs_attention() {
    let world = World::new().await;
    world.enqueue("acme").await;
    assert!(world.page("/").await.contains("Nothing needs attention."));
    world.dispatcher.run_once().await.unwrap();
    has(
        &world.page("/").await,
        &[
            "Needs attention",
            "Deliveries to the endpoint acme fail: 1 in a row",
            "control resume --endpoint acme</code>",
        ],
    );
}

#[tokio::test]
async fn an_endpoint_that_keeps_failing_says_when_the_next_delivery_is() {
    let world = World::new().await;
    let entry = world.enqueue("acme").await;
    has(&world.page("/outbox").await, &["waiting</span>, next now"]);
    let until = Timestamp::parse("2099-01-02T03:04:05.000Z").unwrap();
    let circuit = Circuit {
        openings: 1,
        open_until: Some(until),
        rests_until: None,
    };
    world
        .outbox
        .hold_endpoint(&"acme".parse().unwrap(), circuit)
        .await
        .unwrap();
    has(
        &world.page("/outbox").await,
        &["waiting</span>, next <time datetime=\"2099-01-02T03:04:05.000Z\""],
    );
    let failing = "failing</span> next delivery at <time datetime=\"2099-01-02";
    has(
        &world.page("/endpoints").await,
        &[failing, "control resume --endpoint acme</code>"],
    );
    let failing =
        "Deliveries to the endpoint acme keep failing: the next one is at 2099-01-02 03:04:05 UTC";
    has(
        &world.page("/").await,
        &[
            "Needs attention",
            failing,
            "control resume --endpoint acme</code>",
        ],
    );
    has(
        &world.page(&format!("/outbox/{entry}")).await,
        &["control resume --endpoint acme</code>"],
    );
    let by = Intervention {
        by: "root".parse().unwrap(),
        reason: "".parse().unwrap(),
    };
    world
        .outbox
        .drop_entry(entry, &by, SystemClock.now())
        .await
        .unwrap();
    has(
        &world.page("/endpoints").await,
        &["0 waiting", "control resume --endpoint acme</code>"],
    );
    world
        .outbox
        .resume_endpoint(&"acme".parse().unwrap(), SystemClock.now())
        .await
        .unwrap();
    assert!(!world.page("/endpoints").await.contains("control resume"));
}
