//! Calls that are added to an open page.

use super::world::{World, call};

fn record(world: &World, status: u16, customer: &str) {
    let mut call = call();
    (call.status, call.customer) = (Some(status), Some(customer.to_owned()));
    call.path = format!("/{status}/{customer}/end");
    world.calls.record(call);
}

/// Returns the statuses and customers of a list, and the address of the one after it.
async fn list(world: &World, address: &str) -> (Vec<String>, String) {
    let page = world.page(address).await;
    let between = |text: &str, begin: &str, end: &str| {
        let (_, rest) = text.split_once(begin).unwrap();
        rest.split_once(end).unwrap().0.to_owned()
    };
    let calls = page.split("<li class=\"call").skip(1);
    let calls = calls.map(|call| between(call, "<pre>POST /", "/end</pre>"));
    let next = between(&page, "data-later=\"", "\"").replace("&#38;", "&");
    (calls.collect(), next)
}

#[tokio::test]
async fn calls_come_once_as_they_are_in_the_page() {
    let world = World::new().await;
    record(&world, 200, "ACME");
    let (calls, next) = list(&world, "/calls").await;
    assert_eq!((calls.len(), next.as_str()), (1, "/calls/later?after=1"));
    assert_eq!(list(&world, &next).await, (Vec::new(), next.clone()));
    record(&world, 401, "ACME");
    record(&world, 200, "BETA");
    let page = world.page(&next).await;
    assert!(page.starts_with("<ol class=\"calls\""), "{page}");
    assert!(page.contains("<li class=\"call refused\">"), "{page}");
    let (calls, next) = list(&world, &next).await;
    assert_eq!(calls, ["200/BETA", "401/ACME"], "the newest first");
    assert_eq!(next, "/calls/later?after=3");
    assert_eq!(world.get("/calls/later?after=x").await.status, 400);
}

#[tokio::test]
async fn the_filter_of_the_page_holds() {
    let world = World::new().await;
    let (_, next) = list(&world, "/calls?refused=yes&customer=ACME").await;
    for (status, customer) in [(200, "ACME"), (401, "BETA"), (401, "ACME"), (404, "ACME")] {
        record(&world, status, customer);
    }
    let (calls, next) = list(&world, &next).await;
    assert_eq!(calls, ["404/ACME", "401/ACME"]);
    record(&world, 200, "ACME");
    let (calls, next) = list(&world, &next).await;
    assert!(calls.is_empty() && next.ends_with("after=5"), "{next}");
}

#[tokio::test]
async fn of_a_flood_the_newest_come() {
    let world = World::new().await;
    let (_, next) = list(&world, "/calls").await;
    for _ in 0..503 {
        record(&world, 200, "ACME");
    }
    record(&world, 200, "BETA");
    let (calls, next) = list(&world, &next).await;
    assert_eq!((calls.len(), calls[0].as_str()), (200, "200/BETA"));
    assert!(next.ends_with("after=504"), "{next}");
}
