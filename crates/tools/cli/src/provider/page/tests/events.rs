//! Calls as they come.

use super::world::{World, call};
use crate::provider::page::events::MAX_STREAMS;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

/// A stream of events, and what has come of it.
struct Events {
    stream: TcpStream,
    text: String,
}

impl Events {
    async fn open(world: &World, target: &str, headers: &[(&str, &str)]) -> Self {
        let cookie = world.cookie().await;
        let headers = [headers, &[("Cookie", &cookie)]].concat();
        let mut events = Self {
            stream: world.open("GET", target, &headers).await,
            text: String::new(),
        };
        events.until("calls as they come").await;
        events
    }

    /// Reads until this text has come.
    async fn until(&mut self, text: &str) {
        while !self.text.contains(text) {
            let mut bytes = [0; 4096];
            let read = self.stream.read(&mut bytes).await.unwrap();
            assert!(read > 0, "ended before {text}: {}", self.text);
            self.text
                .push_str(std::str::from_utf8(&bytes[..read]).unwrap());
        }
    }

    /// The numbers of the calls, and of what stands in place of lost ones.
    fn numbers(&self) -> Vec<&str> {
        self.text
            .lines()
            .filter_map(|line| line.strip_prefix("id: "))
            .collect()
    }
}

fn record(world: &World, status: u16, customer: &str) {
    let mut call = call();
    (call.status, call.customer) = (Some(status), Some(customer.to_owned()));
    call.path = format!("/{status}/{customer}/end");
    world.calls.record(call);
}

#[tokio::test]
async fn calls_come_as_they_are_in_the_page() {
    let world = World::new().await;
    record(&world, 200, "ACME");
    let mut events = Events::open(&world, "/calls/events?after=1", &[]).await;
    assert!(
        events.text.contains("content-type: text/event-stream"),
        "{}",
        events.text
    );
    record(&world, 401, "ACME");
    events.until("/401/ACME/end").await;
    record(&world, 200, "BETA");
    events.until("/200/BETA/end").await;
    assert_eq!(events.numbers(), ["2", "3"]);
    assert!(
        events.text.contains("data: <li class=\"call refused\">"),
        "{}",
        events.text
    );
}

#[tokio::test]
async fn what_came_before_the_stream_is_not_missed() {
    let world = World::new().await;
    for _ in 0..3 {
        record(&world, 200, "ACME");
    }
    record(&world, 200, "BETA");
    let mut since_the_page = Events::open(&world, "/calls/events?after=1", &[]).await;
    since_the_page.until("/200/BETA/end").await;
    assert_eq!(since_the_page.numbers(), ["2", "3", "4"]);
    // The browser comes back to the address that it first had.
    let mut again = Events::open(&world, "/calls/events?after=1", &[("Last-Event-ID", "3")]).await;
    again.until("/200/BETA/end").await;
    assert_eq!(again.numbers(), ["4"]);
    // The page is of the program's run before.
    let mut restarted = Events::open(&world, "/calls/events?after=77", &[]).await;
    restarted.until("/200/BETA/end").await;
    assert_eq!(restarted.numbers(), ["1", "2", "3", "4"]);
}

#[tokio::test]
async fn the_filter_of_the_page_holds() {
    let world = World::new().await;
    let mut events = Events::open(
        &world,
        "/calls/events?refused=yes&customer=ACME&after=0",
        &[],
    )
    .await;
    for (status, customer) in [(200, "ACME"), (401, "BETA"), (401, "ACME"), (404, "ACME")] {
        record(&world, status, customer);
    }
    events.until("/404/ACME/end").await;
    assert_eq!(events.numbers(), ["3", "4"]);
}

#[tokio::test]
async fn lost_calls_are_marked() {
    let world = World::new().await;
    for _ in 0..503 {
        record(&world, 200, "ACME");
    }
    record(&world, 200, "BETA");
    let mut events = Events::open(&world, "/calls/events?after=1", &[]).await;
    events.until("/200/BETA/end").await;
    // 504 calls, of which 500 are kept: 2, 3 and 4 are not.
    let (_, marked) = events.text.split_once("event: lost").unwrap();
    assert!(
        marked.trim_start().starts_with("id: 4\ndata: 3\n"),
        "{}",
        marked.get(..40).unwrap()
    );
    assert_eq!(events.numbers().len(), 501);
}

#[tokio::test]
async fn streams_are_bounded() {
    let world = World::new().await;
    let mut open = Vec::new();
    for _ in 0..MAX_STREAMS {
        open.push(Events::open(&world, "/calls/events", &[]).await);
    }
    let refused = world.get("/calls/events").await;
    assert_eq!(
        (refused.status, refused.body.as_str()),
        (503, "too many pages are open\n")
    );
    // Another view is no stream.
    world.page("/calls").await;
}
