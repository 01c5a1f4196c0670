//! No failure of an endpoint logs a key, a token, an assertion, an account, a name or an amount.

use crate::capture::Capture;
use crate::world::{
    API_KEY, AUDIENCE, Answer, Fault, MARK, OTHER_KEY, SCOPES, World, failure, keys,
    statement_request, token_request,
};
use axum::body::Body;
use bankrail_client_assertion::ReplayPolicy;
use bankrail_client_assertion::token::{TokenRequest, names};
use bankrail_jose::SigningKey;
use bankrail_jose::jws::{self, JwsHeader};
use bankrail_rate_limit::{Charge, CounterStore, Decision, Limiter, Limits};
use bankrail_service::ProviderOptions;
use bankrail_values::{Clock as _, StoreFuture};
use futures_util::stream;
use http::Request;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The amount of every marked entry.
const AMOUNT: &str = "313371337";

#[derive(Debug)]
struct Down;

impl CounterStore for Down {
    fn charge<'a>(&'a self, _: Charge<'a>) -> StoreFuture<'a, Decision> {
        Box::pin(async { Err(failure()) })
    }
}

/// Sends requests and collects the answers.
struct Driver {
    world: World,
    statuses: BTreeSet<u16>,
}

impl Driver {
    fn new(change: impl FnOnce(ProviderOptions) -> ProviderOptions) -> Self {
        Self {
            world: World::with(change),
            statuses: BTreeSet::new(),
        }
    }

    async fn send(&mut self, request: Request<Body>) -> Answer {
        // Within every limit.
        self.world.clock.advance(Duration::from_secs(900));
        let answer = self.world.send(request).await;
        self.statuses.insert(answer.status.as_u16());
        answer
    }

    async fn statement(&mut self, body: &str) -> Answer {
        self.world.clock.advance(Duration::from_secs(900));
        let token = self.world.token("ACME", names::STATEMENT_READ).await;
        let answer = self
            .world
            .send(statement_request(API_KEY, &token, body.to_owned()))
            .await;
        self.statuses.insert(answer.status.as_u16());
        answer
    }
}

fn signed(world: &World, key: &SigningKey, claims: &str) -> String {
    let second = world.clock.now().unix_seconds() + 900;
    let claims = claims
        .replace("SOON", &(second + 60).to_string())
        .replace("NOW", &second.to_string());
    jws::sign(key, &JwsHeader::new().typ("jwt"), claims.as_bytes()).unwrap()
}

fn form(assertion: &str) -> String {
    TokenRequest::new(assertion, SCOPES.parse().unwrap()).to_form()
}

async fn every_token_failure() -> BTreeSet<u16> {
    let mut driver = Driver::new(|options| {
        options
            .replay_policy(ReplayPolicy::WholeAssertion)
            .max_token_body_bytes(9000)
    });
    let [acme, beta] = keys();
    let good = |world: &World| {
        let claims = format!(r#"{{"sub":"ACME","exp":SOON,"aud":"{AUDIENCE}","note":"{MARK}"}}"#);
        signed(world, acme, &claims)
    };
    let mut assertions = vec![
        MARK.to_owned(),
        format!("{MARK}.{MARK}.{MARK}"),
        good(&driver.world).replace('.', ".."),
    ];
    for claims in [
        format!(r#"{{"sub":"{MARK}","exp":SOON,"aud":"{AUDIENCE}"}}"#),
        format!(r#"{{"sub":"mark-{MARK}","exp":SOON,"aud":"{AUDIENCE}"}}"#),
        format!(r#"{{"sub":"ACME","exp":SOON,"aud":"urn:{MARK}"}}"#),
        format!(r#"{{"sub":"ACME","exp":"{MARK}","aud":"{AUDIENCE}"}}"#),
        format!(r#"{{"sub":"ACME","exp":1,"aud":"{AUDIENCE}","x":"{MARK}"}}"#),
        format!(r#"{{"sub":"ACME","exp":99999999999,"aud":"{AUDIENCE}","x":"{MARK}"}}"#),
        format!(r#"{{"sub":"ACME","exp":SOON,"iat":99999999999,"aud":"{AUDIENCE}","x":"{MARK}"}}"#),
        format!(r#"{{"sub":"ACME","exp":SOON,"iss":"{MARK}","aud":"{AUDIENCE}"}}"#),
        format!(r#"{{"sub":"ACME","exp":SOON,"jti":"","aud":"{AUDIENCE}","x":"{MARK}"}}"#),
        format!(r#"{{"sub":"ACME","sub":"{MARK}","exp":SOON,"aud":"{AUDIENCE}"}}"#),
        format!(r#"["{MARK}"]"#),
    ] {
        assertions.push(signed(&driver.world, acme, &claims));
        // Each has its own second, and is sent 900 s later.
        driver
            .send(token_request(API_KEY, form(assertions.last().unwrap())))
            .await;
    }
    assertions.push(signed(
        &driver.world,
        beta,
        &format!(r#"{{"sub":"ACME","exp":SOON,"aud":"{AUDIENCE}"}}"#),
    ));
    for assertion in &assertions {
        driver.send(token_request(API_KEY, form(assertion))).await;
    }
    let mut odd_type = JwsHeader::new();
    odd_type = odd_type.typ(MARK);
    let odd_type = jws::sign(
        acme,
        &odd_type,
        format!(r#"{{"sub":"ACME","x":"{MARK}"}}"#).as_bytes(),
    )
    .unwrap();
    driver.send(token_request(API_KEY, form(&odd_type))).await;
    // Forms, headers and bodies.
    let right = form(&good(&driver.world));
    driver
        .send(token_request(API_KEY, format!("{right}&client_id={MARK}")))
        .await;
    let right = form(&good(&driver.world));
    for broken in [
        MARK.to_owned(),
        format!("{right}&{MARK}=1&{MARK}=2"),
        right.replace("client_credentials", MARK),
        right.replace("jwt-bearer", MARK),
        right.replace("GBL.INSTO", &format!("%22{MARK}")),
        format!("{right}&x={}", MARK.repeat(2000)),
    ] {
        driver.send(token_request(API_KEY, broken)).await;
    }
    for (name, value) in [("content-type", MARK), ("content-encoding", MARK)] {
        let mut request = token_request(API_KEY, right.clone());
        request.headers_mut().insert(name, value.parse().unwrap());
        driver.send(request).await;
    }
    driver.send(token_request(MARK, right.clone())).await;
    driver
        .send(token_request(OTHER_KEY, form(&good(&driver.world))))
        .await;
    driver
        .send(
            Request::get(format!("/v1.0/auth?{MARK}"))
                .body(Body::empty())
                .unwrap(),
        )
        .await;
    let broken = Body::from_stream(stream::iter([
        Ok(MARK.to_owned()),
        Err(std::io::Error::other(MARK)),
    ]));
    driver.send(token_request(API_KEY, broken)).await;
    // A scope that is not permitted, a token, the same assertion again, and too many.
    let unpermitted =
        TokenRequest::new(good(&driver.world), format!("{MARK}.READ").parse().unwrap()).to_form();
    driver.send(token_request(API_KEY, unpermitted)).await;
    let used = form(&good(&driver.world));
    let granted = driver.send(token_request(API_KEY, used.clone())).await;
    let token = granted.json["access_token"].as_str().unwrap().to_owned();
    driver.world.send(token_request(API_KEY, used)).await;
    for _ in 0..4 {
        let answer = driver
            .world
            .send(token_request(API_KEY, driver.world.form(SCOPES)))
            .await;
        driver.statuses.insert(answer.status.as_u16());
    }
    // Failures of the provider's own.
    driver.world.stores.replay.set(Fault::Fails);
    driver
        .send(token_request(API_KEY, form(&good(&driver.world))))
        .await;
    for fault in [Fault::Fails, Fault::Panics] {
        let mut faulty = Driver::new(|options| options);
        faulty.world.stores.tokens.set(fault);
        faulty
            .send(token_request(API_KEY, form(&good(&faulty.world))))
            .await;
        faulty.world.book.fault.set(fault);
        faulty
            .send(token_request(API_KEY, form(&good(&faulty.world))))
            .await;
        driver.statuses.extend(faulty.statuses);
    }
    let mut down = Driver::new(|options| {
        options.limiter(Arc::new(Limiter::new(Limits::default(), Arc::new(Down))))
    });
    down.send(token_request(API_KEY, form(&good(&down.world))))
        .await;
    down.send(token_request(API_KEY, MARK)).await;
    let mut slow = Driver::new(|options| options.body_timeout(Duration::ZERO));
    let hanging = Body::from_stream(stream::pending::<Result<String, std::io::Error>>());
    slow.send(token_request(API_KEY, hanging)).await;
    driver.statuses.extend(slow.statuses);
    driver.statuses.extend(down.statuses);
    assert!(!token.is_empty());
    driver.statuses
}

async fn every_statement_failure() -> BTreeSet<u16> {
    let mut driver = Driver::new(|options| options);
    let body = r#"{"accountId":"1"}"#;
    for account in [
        "LONG",
        "CHARACTER",
        "DIGITS",
        "CURRENCY",
        "NAME",
        "NOBODYS",
        "",
        "-",
    ] {
        let answer = driver
            .statement(&format!(r#"{{"accountId":"{MARK}{account}"}}"#))
            .await;
        assert_ne!(answer.status, 200, "{account}");
    }
    for broken in [
        MARK.to_owned(),
        format!(r#"{{"{MARK}":1,"{MARK}":2}}"#),
        format!(r#"{{"accountId":["{MARK}"]}}"#),
        format!(r#"{{"accountId":"1","sortOrder":"{MARK}"}}"#),
        format!(r#"{{"accountId":"1","cursor":"{MARK}"}}"#),
        format!(r#"{{"accountId":"{}"}}"#, MARK.repeat(4000)),
    ] {
        driver.statement(&broken).await;
    }
    for (name, value) in [
        ("content-type", MARK),
        ("content-encoding", MARK),
        ("authorization", MARK),
    ] {
        let token = driver.world.token("ACME", names::STATEMENT_READ).await;
        let mut request = statement_request(API_KEY, &token, body);
        request.headers_mut().insert(name, value.parse().unwrap());
        driver.send(request).await;
    }
    for (api_key, scope) in [
        (MARK, names::STATEMENT_READ),
        (OTHER_KEY, names::STATEMENT_READ),
        (API_KEY, MARK),
    ] {
        let token = driver.world.token("ACME", scope).await;
        driver.send(statement_request(api_key, &token, body)).await;
    }
    driver.send(statement_request(API_KEY, MARK, body)).await;
    driver
        .send(
            Request::post(format!("/{MARK}?{MARK}"))
                .body(Body::from(MARK))
                .unwrap(),
        )
        .await;
    driver
        .send(
            Request::get("/accounts/v2.0/statement")
                .body(Body::empty())
                .unwrap(),
        )
        .await;
    let broken = Body::from_stream(stream::iter([
        Ok(MARK.to_owned()),
        Err(std::io::Error::other(MARK)),
    ]));
    driver
        .send(statement_request(
            API_KEY,
            &driver.world.token("ACME", names::STATEMENT_READ).await,
            broken,
        ))
        .await;
    for _ in 0..27 {
        let answer = driver.world.statement(body).await;
        driver.statuses.insert(answer.status.as_u16());
    }
    // Pages that the ledger should not have answered.
    for part in 0..3 {
        let ledger = Arc::clone(&driver.world.ledger);
        [&ledger.surplus, &ledger.barren, &ledger.stuck][part].store(1, Ordering::SeqCst);
        let first = driver
            .statement(r#"{"accountId":"1","maxEntries":2}"#)
            .await;
        if let Some(cursor) = first.json["cursor"].as_str() {
            driver
                .statement(&format!(
                    r#"{{"accountId":"1","maxEntries":2,"cursor":"{cursor}"}}"#
                ))
                .await;
        }
        [&ledger.surplus, &ledger.barren, &ledger.stuck][part].store(0, Ordering::SeqCst);
    }
    for fault in [Fault::Fails, Fault::Panics] {
        let mut faulty = Driver::new(|options| options);
        faulty.world.ledger.fault.set(fault);
        faulty
            .statement(&format!(r#"{{"accountId":"{MARK}LONG"}}"#))
            .await;
        let token = faulty.world.token("ACME", names::STATEMENT_READ).await;
        faulty.world.stores.tokens.set(fault);
        faulty.send(statement_request(API_KEY, &token, body)).await;
        faulty.world.book.fault.set(fault);
        faulty.send(statement_request(API_KEY, &token, body)).await;
        driver.statuses.extend(faulty.statuses);
    }
    let mut down = Driver::new(|options| {
        options.limiter(Arc::new(Limiter::new(Limits::default(), Arc::new(Down))))
    });
    down.statement(body).await;
    down.send(statement_request(
        API_KEY,
        "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003",
        body,
    ))
    .await;
    let mut slow = Driver::new(|options| options.body_timeout(Duration::ZERO));
    let token = slow.world.token("ACME", names::STATEMENT_READ).await;
    let hanging = Body::from_stream(stream::pending::<Result<String, std::io::Error>>());
    slow.send(statement_request(API_KEY, &token, hanging)).await;
    driver.statuses.extend(slow.statuses);
    driver.statuses.extend(down.statuses);
    driver.statuses
}

#[tokio::test(flavor = "current_thread")]
async fn no_failure_of_an_endpoint_logs_a_secret_or_content() {
    let log = Capture::start();
    let token = every_token_failure().await;
    let statement = every_statement_failure().await;
    let text = log.text();
    assert_eq!(
        token.into_iter().collect::<Vec<_>>(),
        [200, 400, 401, 405, 408, 413, 429, 500, 503]
    );
    assert_eq!(
        statement.into_iter().collect::<Vec<_>>(),
        [200, 400, 401, 403, 404, 405, 408, 413, 415, 429, 500, 503]
    );
    // What support staff need is there.
    for wanted in [
        "ledger failed",
        "store failed",
        "counter store failed",
        "the store is unavailable",
        "/Nm: ",
        "as the claim aud; VerifierOptions::also_audience accepts others",
    ] {
        assert!(text.contains(wanted), "{wanted} in {text}");
    }
    for secret in [MARK, AMOUNT, API_KEY, OTHER_KEY, "eyJ", "A. Payer", "Rent"] {
        let line = text.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
}
