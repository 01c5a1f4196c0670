//! The steps that a probe reports, with and without obstacles.

use crate::provider::{Provider, Reply};
use bankrail_client::{Probe, ProbeStep};
use bankrail_rate_limit::Policy;
use std::time::Duration;

/// Makes an answer whose `Date` is the client's own time.
fn timely(status: u16, body: impl Into<Vec<u8>>) -> Reply {
    Reply::new(status, body).header("date", "Sat, 21 Nov 2026 06:00:00 GMT")
}

/// Returns the answers of a service without metadata.
fn no_metadata() -> [Reply; 2] {
    [(); 2].map(|()| timely(404, ""))
}

fn step<'a>(probe: &'a Probe, name: &str) -> &'a ProbeStep {
    probe
        .steps
        .iter()
        .find(|step| step.name == name)
        .unwrap_or_else(|| panic!("{name} in {probe}"))
}

#[tokio::test]
async fn a_free_way_takes_one_token_call_and_no_statement_call() {
    let (provider, client, clock) = Provider::client().await;
    let refused = || Reply::new(401, "");
    provider
        .statements(no_metadata())
        .statements([refused()])
        .tokens([Reply::token(1, 3600), Reply::token(2, 3600)]);
    for _ in 0..2 {
        let probe = client.probe(None).await;
        clock.advance(Duration::from_secs(1));
        let token = "ok    token   there is a new one, one of 10 in 3600 s\n";
        assert!(
            probe.passed() && probe.to_string().contains(token),
            "{probe}"
        );
        let names: Vec<&str> = probe.steps.iter().map(|step| step.name).collect();
        assert_eq!(names, ["reach", "clock", "token", "scopes", "service"]);
        let fine = |line: &&str| line.starts_with("ok    ");
        assert_eq!(probe.to_string().lines().filter(fine).count(), 5, "{probe}");
        provider.statements(no_metadata()).statements([refused()]);
    }
    assert_eq!(provider.token_calls().len(), 2);
    let used = client.tokens().token().await.unwrap();
    assert_eq!(
        used.access_token.expose_secret(),
        crate::provider::token_text(2),
        "the new one is kept and used"
    );
    let calls = provider.statement_calls();
    assert_eq!(
        calls
            .iter()
            .map(|call| call.header("authorization"))
            .collect::<Vec<_>>(),
        ["", ""]
    );
    let documents = provider
        .calls()
        .into_iter()
        .filter(|call| call.path.starts_with("/.well-known/"));
    assert!(
        documents.clone().count() == 4
            && documents
                .clone()
                .all(|call| call.header("apikey").is_empty())
    );
}

#[tokio::test]
async fn a_probe_with_a_refused_key_fails_although_a_token_is_kept() {
    let (provider, client, _) = Provider::client().await;
    provider.tokens([
        Reply::token(1, 3600),
        timely(401, r#"{"error":"invalid_client"}"#),
    ]);
    client.tokens().token().await.unwrap();
    provider.statements(no_metadata());
    let probe = client.probe(None).await;
    assert!(!probe.passed(), "{probe}");
    assert!(step(&probe, "token").advice.is_some(), "{probe}");
    // The token that is kept is still good for calls.
    client.tokens().token().await.unwrap();
    assert_eq!(provider.token_calls().len(), 2);
}

#[tokio::test]
async fn each_bank_wants_another_audience_and_the_probe_tells_which() {
    let (provider, _, clock) = Provider::client().await;
    let client = provider.client_with(provider.options(&clock).token_limits(Policy::unlimited()));
    let origin = provider.url().strip_suffix("/base").unwrap();
    let own = format!("{}/v1.0/auth", provider.url());
    let metadata = format!(r#"{{"issuer":"{origin}/issuer","token_endpoint":"{own}"}}"#);
    provider.statements([Reply::new(200, metadata)]);
    let refused = || timely(401, r#"{"error":"invalid_client"}"#);
    provider.tokens([refused(), Reply::token(1, 3600)]);
    let probe = client.probe(None).await;
    assert!(!probe.passed());
    let advice = step(&probe, "token").advice.as_deref().unwrap();
    assert_eq!(
        advice,
        format!("set the audience to \"{origin}/issuer\", with which there is one")
    );
    let audiences: Vec<String> = provider
        .token_calls()
        .iter()
        .map(|call| audience(&call.body))
        .collect();
    assert_eq!(audiences, [own, format!("{origin}/issuer")]);
}

/// No assertion is signed for an audience of another host, because this host would get it and it
/// would be valid there.
#[tokio::test]
async fn an_audience_of_another_host_is_named_and_not_signed() {
    let (provider, client, _) = Provider::client().await;
    let metadata = r#"{"issuer":"https://real.bank.example","token_endpoint":"https://real.bank.example/v1.0/auth"}"#;
    provider.statements([Reply::new(200, metadata)]);
    provider.tokens([
        timely(401, r#"{"error":"invalid_client"}"#),
        Reply::token(1, 3600),
    ]);
    let probe = client.probe(None).await;
    let advice = step(&probe, "token").advice.as_deref().unwrap();
    assert!(
        advice.contains("the service names the audiences [\"https://real.bank.example\","),
        "{advice}"
    );
    assert_eq!(provider.token_calls().len(), 1);
}

/// Returns the claim `aud` of the assertion in a form.
fn audience(form: &str) -> String {
    let assertion = form
        .split('&')
        .find_map(|field| field.strip_prefix("client_assertion="))
        .unwrap();
    let claims = bankrail_jose::base64url::decode(assertion.split('.').nth(1).unwrap()).unwrap();
    let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
    claims["aud"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_stands_in_the_way_is_named() {
    let (provider, client, _) = Provider::client().await;
    let late = Reply::new(404, "").header("date", "Sat, 21 Nov 2026 05:00:00 GMT");
    provider.statements([late.clone(), late]);
    provider.tokens([timely(401, "")]);
    let probe = client.probe(None).await;
    assert_eq!(
        step(&probe, "clock").advice.as_deref(),
        Some("set the clock of this machine: it is 3600 s ahead of the service's")
    );
    assert_eq!(
        step(&probe, "token").advice.as_deref(),
        Some("check the API key and the name of its header")
    );

    let (provider, client, _) = Provider::client().await;
    let metadata = format!(r#"{{"issuer":"{}"}}"#, provider.url());
    let described = r#"{"error":"invalid_client","error_description":"unknown API key"}"#;
    provider
        .statements([Reply::new(200, metadata)])
        .tokens([timely(401, described)]);
    let probe = client.probe(None).await;
    assert_eq!(
        step(&probe, "token").advice.as_deref(),
        Some("check the API key and the name of its header")
    );
    assert_eq!(
        provider.token_calls().len(),
        1,
        "no other audience is tried"
    );

    let (provider, client, clock) = Provider::client().await;
    let token = crate::provider::token_text(1);
    let scope = format!(
        r#"{{"access_token":"{token}","token_type":"Bearer","expires_in":60,"scope":"OTHER"}}"#
    );
    let page = Reply::new(404, "<html>").header("content-type", "text/html");
    provider
        .statements(no_metadata())
        .statements([page])
        .tokens([Reply::new(200, scope)]);
    let probe = client.probe(None).await;
    assert!(step(&probe, "scopes").advice.is_some(), "{probe}");
    let service = step(&probe, "service");
    assert!(service.found.ends_with(" answered 404"), "{probe}");
    assert!(
        service
            .advice
            .as_deref()
            .unwrap()
            .starts_with("check the address of the service"),
        "{probe}"
    );

    // Only a statement shows whether the scopes of the token are enough.
    let account = "012003123456789".parse().unwrap();
    let error = r#"{"requestKey":"0b7c2f6e-8a1d-41eb-8dcd-0242ac130003","error":{"statusCode":"EC000_003","title":"?"}}"#;
    let refused = Reply::new(403, error);
    provider
        .statements(no_metadata())
        .statements([refused])
        .tokens([Reply::token(2, 3600)]);
    let probe = client.probe(Some(&account)).await;
    let step = step(&probe, "account");
    assert!(
        step.found.ends_with(" failed (service, status 403)"),
        "{probe}"
    );
    assert!(
        step.advice
            .as_deref()
            .unwrap()
            .contains("its scopes and accounts"),
        "{probe}"
    );

    let client = provider.client_with(provider.options(&clock).auth_url("http://127.0.0.1:9/auth"));
    let probe = client.probe(None).await;
    let text = "FAIL  reach   http://127.0.0.1:9/auth failed at connect: the connection was refused: check that the \
                service runs, and its address and port, or those of the proxy\n";
    assert_eq!(probe.to_string(), text);
}
