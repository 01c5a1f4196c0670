//! Access to the page.

use super::world::{TOKEN, World};

const VIEWS: [&str; 5] = ["/", "/calls", "/calls/events", "/outbox", "/endpoints"];

#[tokio::test]
async fn the_link_is_exchanged_for_a_cookie() {
    let world = World::new().await;
    let entered = world.ask("GET", &format!("/?token={TOKEN}"), &[]).await;
    assert_eq!(
        (entered.status, entered.header("location")),
        (303, Some("/"))
    );
    let cookie = entered.header("set-cookie").unwrap();
    assert!(
        cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"),
        "{cookie}"
    );
    assert!(!cookie.contains(TOKEN), "{cookie}");
    let (cookie, _) = cookie.split_once(';').unwrap();
    let answer = world
        .ask(
            "GET",
            "/",
            &[("Cookie", &format!("theme=dark; {cookie}; a=b"))],
        )
        .await;
    assert_eq!(answer.status, 200);
    assert!(answer.body.contains("https://127.0.0.1:18100"));
}

#[tokio::test]
async fn nothing_is_shown_without_the_link() {
    let world = World::new().await;
    let cookie = world.cookie().await;
    let (name, value) = cookie.split_once('=').unwrap();
    let wrong = [
        String::new(),
        format!(
            "{name}={}",
            value.replace(value.chars().next().unwrap(), "0")
        ),
        format!("{name}={}", &value[1..]),
        format!("{name}="),
        format!("{name}={TOKEN}"),
        format!("other={value}"),
    ];
    for view in
        VIEWS
            .into_iter()
            .chain(["/?token=", "/?token=token-of-the-linx", "/?token=a&token=b"])
    {
        for cookie in &wrong {
            let answer = world.ask("GET", view, &[("Cookie", cookie)]).await;
            assert_eq!(answer.status, 403, "{view} {cookie}");
            assert!(
                answer.body.contains("Not shown") && !answer.body.contains("18100"),
                "{}",
                answer.body
            );
        }
    }
    // A wrong token is refused even with a valid cookie.
    assert_eq!(world.get("/?token=wrong").await.status, 403);
    // The token opens the page at one path only.
    assert_eq!(
        world
            .ask("GET", &format!("/calls?token={TOKEN}"), &[])
            .await
            .status,
        403
    );
}

#[tokio::test]
async fn the_page_is_shown_through_loopback_addresses_only() {
    let world = World::new().await;
    let cookie = world.cookie().await;
    for (host, status) in [
        ("localhost", 200),
        ("LOCALHOST:18100", 200),
        ("127.0.0.1:1", 200),
        ("[::1]:18100", 200),
        ("bank.example", 403),
        ("127.0.0.1.bank.example", 403),
        ("localhost.bank.example:80", 403),
        ("10.0.0.1", 403),
        ("[2001:db8::1]", 403),
        ("", 403),
        ("local host", 403),
    ] {
        let answer = world
            .ask("GET", "/", &[("Cookie", &cookie), ("Host", host)])
            .await;
        assert_eq!(answer.status, status, "{host}");
        // Not even the style sheet is served.
        let answer = world.ask("GET", "/page.css", &[("Host", host)]).await;
        assert_eq!(answer.status, status, "{host}");
    }
    let both = [
        ("Cookie", cookie.as_str()),
        ("Host", "localhost"),
        ("Host", "bank.example"),
    ];
    assert_eq!(world.ask("GET", "/", &both).await.status, 403);
    let absolute = world
        .ask(
            "GET",
            "http://bank.example/",
            &[("Cookie", &cookie), ("Host", "localhost")],
        )
        .await;
    assert_eq!(absolute.status, 403);
}

#[tokio::test]
async fn whatever_is_not_get_is_refused() {
    let world = World::new().await;
    let cookie = world.cookie().await;
    for method in [
        "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND",
    ] {
        for target in VIEWS.into_iter().chain(["/page.css", "/nothing"]) {
            let answer = world.ask(method, target, &[("Cookie", &cookie)]).await;
            assert_eq!(
                (answer.status, answer.header("allow")),
                (405, Some("GET")),
                "{method} {target}"
            );
        }
    }
}

#[tokio::test]
async fn all_answers_tell_the_browser_to_be_strict() {
    let world = World::new().await;
    let cookie = world.cookie().await;
    let link = format!("/?token={TOKEN}");
    for (method, target, cookie, status) in [
        ("GET", "/", cookie.as_str(), 200),
        ("GET", &link, "", 303),
        ("GET", "/", "", 403),
        ("GET", "/nothing", &cookie, 404),
        ("GET", "/outbox/1", &cookie, 404),
        ("GET", "/calls?before=x", &cookie, 400),
        ("POST", "/", &cookie, 405),
        ("GET", "/page.css", "", 200),
        ("GET", "/page.js", "", 200),
        ("GET", "/icon.svg", "", 200),
    ] {
        let answer = world.ask(method, target, &[("Cookie", cookie)]).await;
        assert_eq!(answer.status, status, "{method} {target}");
        for (name, value) in [
            (
                "content-security-policy",
                "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
                 base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
            ),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{method} {target}");
        }
    }
}
