//! The buttons, and the view of clock and faults.

use super::world::{World, call};
use bankrail::mailbox::{Disposition, EntryId, OutboxState};
use bankrail::values::{Clock as _, Timestamp};
use bankrail_emulator::{Endpoint, Fault};

/// Returns the token of the buttons of a page.
fn token(page: &str) -> &str {
    page.split_once("name=\"token\" value=\"")
        .unwrap()
        .1
        .split('"')
        .next()
        .unwrap()
}

/// Presses a button of the page, and returns the status with the location or the body.
async fn press(world: &World, form: &str) -> (u16, String) {
    let (cookie, page) = (world.cookie().await, world.page("/control").await);
    let form = format!("token={}&{form}", token(&page));
    let answer = world
        .press(
            &form,
            &[("Cookie", &cookie), ("Sec-Fetch-Site", "same-origin")],
        )
        .await;
    let said = answer
        .header("location")
        .map_or(answer.body.clone(), str::to_owned);
    (answer.status, said)
}

fn to(path: &str) -> (u16, String) {
    (303, path.to_owned())
}

#[tokio::test]
async fn buttons_do_what_their_commands_do() {
    let world = World::steered().await;
    world.fill("no such endpoint").await;
    let page = world.page("/endpoints").await;
    for button in ["resend", "resume", "pause"] {
        assert!(
            page.contains(&format!("<button name=\"do\" value=\"{button}\">")),
            "{page}"
        );
    }
    assert!(
        page.contains("<dt>Send a sample message</dt>"),
        "a command alone"
    );
    assert_eq!(
        press(&world, "do=pause&endpoint=acme").await,
        to("/endpoints")
    );
    assert!(
        world
            .page("/")
            .await
            .contains("Nothing is delivered to the endpoint acme: stopped by ")
    );
    assert_eq!(
        press(&world, "do=resume&endpoint=acme").await,
        to("/endpoints")
    );
    assert!(!world.page("/").await.contains("to the endpoint acme"));
    let state = async |number| {
        world
            .outbox
            .summary(EntryId::new(number))
            .await
            .unwrap()
            .unwrap()
            .state
    };
    assert_eq!(press(&world, "do=resend&number=1").await, to("/outbox/1"));
    assert_eq!(state(1).await, OutboxState::Pending);
    assert_eq!(press(&world, "do=drop&number=1").await, to("/outbox/1"));
    assert_eq!(state(1).await, OutboxState::Dropped);
    assert_eq!(
        press(&world, "do=resend&endpoint=acme").await,
        to("/endpoints")
    );
    for (form, why) in [
        (
            "do=resend&number=1",
            "expected a message that was delivered or given up, found one that is dropped",
        ),
        (
            "do=drop&number=2",
            "expected a message to deliver, found one that is delivered",
        ),
        (
            "do=drop&number=4",
            "expected a message that is not being delivered",
        ),
    ] {
        let (status, said) = press(&world, form).await;
        assert!(status == 409 && said.contains(why), "{form}: {said}");
    }
    for (form, status) in [
        ("do=drop&number=x", 409),
        ("do=pause&endpoint=", 409),
        ("do=message&number=1", 404),
        ("", 404),
    ] {
        assert_eq!(press(&world, form).await.0, status, "{form}");
    }
}

#[tokio::test]
async fn a_refused_button_is_answered_with_its_own_page() {
    let world = World::steered().await;
    world.fill("no such endpoint").await;
    for (form, heading, why) in [
        (
            "do=drop&number=2",
            "Message 2",
            "expected a message to deliver, found one that is delivered",
        ),
        (
            "do=pause&endpoint=nobody",
            "Endpoints",
            "expected an endpoint of a customer, found ",
        ),
        (
            "do=remove-fault&number=7",
            "Control",
            "expected the number of a fault that is ordered, found another",
        ),
    ] {
        let (status, page) = press(&world, form).await;
        assert_eq!(status, 409, "{form}");
        let told = format!("<p class=\"wrong\" role=\"alert\">Not done: {why}");
        assert!(
            page.contains(&format!("<h1>{heading}</h1>")) && page.contains(&told),
            "{form}: {page}"
        );
    }
    assert!(!world.page("/control").await.contains("Not done"));
}

#[tokio::test]
async fn a_mistake_in_a_form_is_told_beside_its_field() {
    let world = World::steered().await;
    for (form, field, why) in [
        (
            "do=set-clock&now=tomorrow&rate=2",
            "value=\"tomorrow\" autocomplete=\"off\" id=\"set-clock-now\" name=\"now\"",
            "now: ",
        ),
        (
            "do=add-fault&fault=statement-500&share=2",
            "value=\"2\" autocomplete=\"off\" id=\"add-fault-share\" name=\"share\"",
            "share: expected a rate",
        ),
        (
            "do=step-clock",
            "inputmode=\"numeric\" id=\"step-clock-seconds\" name=\"seconds\" required",
            "expected seconds, found none",
        ),
    ] {
        let (status, page) = press(&world, form).await;
        assert_eq!(status, 409, "{form}");
        let (_, rest) = page.split_once(field).expect(form);
        let marks = " aria-invalid=\"true\" aria-describedby=\"wrong\" autofocus>";
        assert!(rest.starts_with(marks), "{form}: {page}");
        let told = format!("<strong class=\"wrong\" id=\"wrong\">{why}");
        assert!(rest.contains(&told), "{form}: {page}");
        assert_eq!(page.matches("id=\"wrong\"").count(), 1);
    }
    let (_, page) = press(&world, "do=add-fault&fault=statement-500&share=2").await;
    assert!(page.contains("<option selected>statement-500</option>"));
    let (status, page) = press(&world, "do=resend").await;
    let told = "role=\"alert\">expected either a number or an endpoint</strong>";
    assert!(status == 409 && page.contains(told), "{page}");
}

#[tokio::test]
async fn forms_offer_what_exists() {
    let world = World::steered().await;
    world.fill("no such endpoint").await;
    let page = world.page("/control").await;
    for offered in [
        "<option>ACME</option>",
        "<option>BETA</option>",
        "<option>acme</option>",
        "<option>gone no such endpoint</option>",
        "<optgroup label=\"Statement calls\">",
        "<option>statement-repeating-cursor</option>",
        "<option>webhook-flood</option>",
        "<option>bank</option>",
    ] {
        assert!(page.contains(offered), "{offered}: {page}");
    }
    assert!(!page.contains("token-repeating-cursor"), "no such fault");
}

#[tokio::test]
async fn clock_and_faults_are_on_every_view() {
    let world = World::steered().await;
    world.fill("no such endpoint").await;
    let views = [
        "/",
        "/calls",
        "/outbox",
        "/outbox/1",
        "/endpoints",
        "/control",
    ];
    for view in views {
        assert!(!world.page(view).await.contains("<aside"), "{view}");
    }
    let set = "do=set-clock&now=2021-07-29T01:02:03.000Z&rate=0";
    assert_eq!(press(&world, set).await, to("/control"));
    let fault = "do=add-fault&fault=statement-500&count=2";
    assert_eq!(press(&world, fault).await, to("/control"));
    for view in views {
        let page = world.page(view).await;
        for told in [
            "The bank's clock is set: <b>2021-07-29 01:02:03 UTC</b>, standing still.",
            "Faults are ordered: <b><bdi>statement-500, count 2</bdi></b>.",
        ] {
            assert!(page.contains(told), "{view}: {told}: {page}");
        }
    }
    assert_eq!(press(&world, "do=set-clock&now=real").await, to("/control"));
    let page = world.page("/").await;
    assert!(page.contains("<aside") && !page.contains("clock is set"));
}

#[tokio::test]
async fn what_was_ordered_needs_no_attention() {
    let world = World::steered().await;
    let mut refused = call();
    (refused.status, refused.fault) = (Some(500), Some(Fault::Status(500)));
    world.calls.record(refused.clone());
    let page = world.page("/").await;
    assert!(page.contains("Nothing needs attention."), "{page}");
    assert!(page.contains("<b>1</b> refused of the newest 500"));
    assert!(page.contains("<span class=\"badge wait\">500</span>"));
    // A dead letter whose delivery met a fault is still a dead letter.
    let entry = world.enqueue("acme").await;
    let message = world.lease(1).await.remove(0);
    world
        .record(&message, Some(503), None, Disposition::DeadLetter)
        .await;
    assert!(world.page("/").await.contains("1 dead letter is no longer"));
    refused.endpoint = Endpoint::Webhook;
    let id = message.message.message_id.to_string().parse().unwrap();
    refused.headers.insert("x-message-id", id);
    world.calls.record(refused.clone());
    let page = world.page("/").await;
    assert!(page.contains("Nothing needs attention."), "{entry}: {page}");
    // The next call is refused for another reason.
    (refused.endpoint, refused.fault) = (Endpoint::Statement, None);
    world.calls.record(refused);
    let page = world.page("/").await;
    assert!(page.contains("Needs attention") && page.contains("1 of the newest 500 calls refused"));
}

#[tokio::test]
async fn a_message_is_shown_with_what_was_sent_and_answered_and_sent_again() {
    let world = World::steered().await;
    world.fill("no such endpoint").await;
    let of_calls = world.page("/calls").await;
    let page = world.page("/outbox/2").await;
    assert!(
        page.contains("X-Message-Id: ") && page.contains("{&#34;creation_date_time&#34;:"),
        "{page}"
    );
    assert!(!page.contains("Requests and answers"), "not of this run");
    assert!(
        page.contains("<button name=\"do\" value=\"resend\">"),
        "{page}"
    );
    assert_eq!(press(&world, "do=resend&number=2").await, to("/outbox/2"));
    world.dispatcher.run_once().await.unwrap();
    let page = world.page("/outbox/2").await;
    for part in [
        "Requests and answers",
        "Why no answer",
        "no connection to the receiver",
        "x-key: (masked)",
        "POST /hooks/",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(
        !page.contains("curl"),
        "a delivery is repeated by its button"
    );
    assert!(
        !world
            .page("/outbox/3")
            .await
            .contains("Requests and answers"),
        "another message"
    );
    assert_eq!(
        world
            .page("/calls")
            .await
            .matches("<li class=\"call")
            .count(),
        of_calls.matches("<li class=\"call").count() + 1
    );
    let rows = async |view| world.page(view).await.matches("<li class=\"call").count();
    assert_eq!(rows("/calls?deliveries=yes").await, 1);
    assert_eq!(rows("/calls?refused=yes").await, 2, "a delivery is no call");
    for (about, status) in [("5", 409), ("77", 409), ("x", 409)] {
        assert_eq!(
            press(&world, &format!("do=resend&number={about}")).await.0,
            status,
            "{about}"
        );
    }
}

#[tokio::test]
async fn the_messages_of_a_span_are_sent_again() {
    let world = World::steered().await;
    world.fill("no such endpoint").await;
    let page = world.page("/control").await;
    for field in ["number", "endpoint", "since", "until"] {
        let field = format!("id=\"resend-{field}\" name=\"{field}\"");
        assert!(page.contains(&field), "{field}: {page}");
    }
    let state = async || {
        let summary = world.outbox.summary(EntryId::new(2)).await.unwrap();
        summary.unwrap().state
    };
    let span = "do=resend&number=&endpoint=acme&since=2000-01-01T00:00:00.000Z&until=";
    let before = format!("{span}2000-01-02T00:00:00.000Z");
    assert_eq!(press(&world, &before).await, to("/endpoints"));
    assert_eq!(state().await, OutboxState::Delivered, "not of this span");
    assert_eq!(press(&world, span).await, to("/endpoints"));
    assert_eq!(state().await, OutboxState::Pending);
    let (status, said) = press(&world, "do=resend&endpoint=acme&since=yesterday").await;
    assert!(status == 409 && said.contains("since"), "{said}");
}

#[tokio::test]
async fn the_clock_is_set_and_faults_are_ordered() {
    let world = World::steered().await;
    let set = "do=set-clock&now=2021-07-29T01:02:03.000Z&rate=0&assertions=";
    assert_eq!(press(&world, set).await, to("/control"));
    assert_eq!(
        world.clock.now(),
        Timestamp::parse("2021-07-29T01:02:03.000Z").unwrap()
    );
    assert_eq!(
        press(&world, "do=step-clock&seconds=3600").await,
        to("/control")
    );
    assert!(
        world
            .page("/control")
            .await
            .contains("<b>2021-07-29 02:02:03 UTC</b>, standing still</dd>")
    );
    assert_eq!(
        press(&world, "do=add-fault&fault=statement-500&customer=&count=2").await,
        to("/control")
    );
    assert!(
        world
            .page("/control")
            .await
            .contains("<bdi>statement-500, count 2</bdi>")
    );
    assert_eq!(
        press(&world, "do=remove-fault&number=1").await,
        to("/control")
    );
    assert!(
        world
            .page("/control")
            .await
            .contains("No faults are ordered.")
    );
    for (form, status) in [
        ("do=add-fault&fault=none", 409),
        ("do=step-clock", 409),
        ("do=remove-fault&number=7", 409),
        ("do=rotate-api-key&code=ACME", 404),
        ("do=forget-calls", 404),
    ] {
        assert_eq!(press(&world, form).await.0, status, "{form}");
    }
}

#[tokio::test]
async fn nobody_else_can_press_a_button() {
    let world = World::steered().await;
    let (cookie, page) = (world.cookie().await, world.page("/control").await);
    let own = format!("token={}&do=step-clock&seconds=1", token(&page));
    let same = ("Sec-Fetch-Site", "same-origin");
    for (form, headers) in [
        (own.as_str(), vec![same]),
        (&own, vec![same, ("Cookie", "other=1")]),
        ("do=step-clock&seconds=1", vec![same, ("Cookie", &cookie)]),
        (
            "token=&do=step-clock&seconds=1",
            vec![same, ("Cookie", &cookie)],
        ),
        (
            &own,
            vec![("Sec-Fetch-Site", "cross-site"), ("Cookie", &cookie)],
        ),
        (
            &own,
            vec![("Sec-Fetch-Site", "same-site"), ("Cookie", &cookie)],
        ),
        (
            &own,
            vec![same, ("Cookie", &cookie), ("Host", "bank.example")],
        ),
    ] {
        let answer = world.press(form, &headers).await;
        assert_eq!(answer.status, 403, "{form} {headers:?}");
    }
    assert_eq!(
        world.press(&own, &[("Cookie", &cookie)]).await.status,
        303,
        "a browser that does not say its site"
    );
}

#[tokio::test]
async fn without_a_control_there_are_no_buttons() {
    let world = World::new().await;
    world.fill("plain").await;
    for view in ["/", "/outbox", "/outbox/1", "/endpoints", "/control"] {
        assert!(
            !world.page(view).await.contains("method=\"post\""),
            "{view}"
        );
    }
    assert!(
        world
            .page("/control")
            .await
            .contains("<code>--control 127.0.0.1:0</code>")
    );
    let cookie = world.cookie().await;
    let answer = world
        .press("token=&do=drop&number=1", &[("Cookie", &cookie)])
        .await;
    assert_eq!(answer.status, 404);
}
