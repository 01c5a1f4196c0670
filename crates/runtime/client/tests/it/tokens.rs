use crate::log::Log;
use crate::provider::{API_KEY, KEY, Provider, Reply, request, request_key, start, token_text};
use bankrail_client::{
    AnswerForm, CallError, CallErrorKind, Client, Credentials, ExchangeError, Pacing,
};
use bankrail_client_assertion::token::{
    AccessToken, FORM_CONTENT_TYPE, TokenErrorCode, TokenRequest, TokenResponseError,
};
use bankrail_client_assertion::{Audience, Verifier, VerifierOptions};
use bankrail_jose::remote::{RemoteError, RemoteFuture, RemoteSigner, SignRequest};
use bankrail_jose::{RsaSize, SigningKey, VerifyingKey};
use bankrail_values::Clock;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[tokio::test]
async fn the_request_is_what_the_specification_says() {
    let (provider, client, clock) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    let token = client.tokens().token().await.unwrap();
    assert_eq!(token.access_token.expose_secret(), token_text(1));
    assert_eq!(token.request_key, Some(request_key()));
    assert_eq!(token.expires_at, start().saturating_add(seconds(3600)));
    assert_eq!(
        token.scopes.to_string(),
        "GBL.INSTO.ACCOUNTS.STATEMENT.READ"
    );

    let call = &provider.calls()[0];
    assert_eq!(call.path, "/base/v1.0/auth");
    assert_eq!(
        call.header("content-type"),
        "application/x-www-form-urlencoded"
    );
    assert_eq!(call.header("apikey"), API_KEY);
    assert_eq!(call.header("authorization"), "");
    let form = TokenRequest::from_form(Some(FORM_CONTENT_TYPE), call.body.as_bytes()).unwrap();
    assert_eq!(form.scope(), &token.scopes);
    let audience = Audience::parse(&format!("{}/v1.0/auth", provider.url())).unwrap();
    let verifier = Verifier::new(audience, VerifierOptions::new());
    let assertion = verifier.read(form.assertion().expose_secret()).unwrap();
    let verified = assertion.verify(&KEY.verifying_key(), clock.now()).unwrap();
    assert_eq!(verified.customer().as_str(), "CUSTOMER");
    assert!(verified.jwt_id().is_some());
}

#[tokio::test]
async fn audience_scopes_and_jti_are_settings() {
    let (provider, _, clock) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    let options = provider
        .options(&clock)
        .audience("https://auth.example.com/x")
        .scopes("A B".parse().unwrap());
    let auth = format!("{}/elsewhere/auth", provider.url());
    let options = options
        .jti(false)
        .assertion_lifetime(seconds(60))
        .auth_url(&auth);
    let client = provider.client_with(options);
    assert_eq!(
        client.tokens().token().await.unwrap().scopes.to_string(),
        "A B"
    );
    let call = &provider.calls()[0];
    assert_eq!(call.path, "/base/elsewhere/auth");
    let form = TokenRequest::from_form(Some(FORM_CONTENT_TYPE), call.body.as_bytes()).unwrap();
    let verifier = Verifier::new(
        Audience::parse("https://auth.example.com/x").unwrap(),
        VerifierOptions::new(),
    );
    let assertion = verifier.read(form.assertion().expose_secret()).unwrap();
    let verified = assertion.verify(&KEY.verifying_key(), clock.now()).unwrap();
    assert_eq!(verified.jwt_id(), None);
    assert_eq!(verified.expires_at(), start().saturating_add(seconds(60)));
}

#[tokio::test]
async fn the_header_of_the_api_key_is_a_setting_of_both_endpoints() {
    let (provider, _, clock) = Provider::client().await;
    provider
        .tokens([Reply::token(1, 3600)])
        .statements([Reply::page(1, None)]);
    let client = provider.client_with(provider.options(&clock).api_key_header("X-Gateway-Key"));
    client.statements().page(&request()).await.unwrap();
    let calls = provider.calls();
    assert_eq!(calls.len(), 2);
    for call in calls {
        assert_eq!(
            (call.header("x-gateway-key"), call.header("apikey")),
            (API_KEY, ""),
            "{}",
            call.path
        );
    }
}

#[tokio::test]
async fn a_token_from_elsewhere_is_used_until_it_is_refused_or_expires() {
    let (provider, client, clock) = Provider::client().await;
    provider.tokens([Reply::token(2, 3600)]);
    let given = AccessToken::parse(&token_text(1)).unwrap();
    client
        .tokens()
        .adopt(given.clone(), start().saturating_add(seconds(3600)));
    provider.statements([
        Reply::page(1, None),
        Reply::new(401, ""),
        Reply::page(1, None),
    ]);
    client.statements().page(&request()).await.unwrap();
    assert_eq!(provider.token_calls().len(), 0);
    client.statements().page(&request()).await.unwrap();
    let bearers: Vec<_> = provider
        .statement_calls()
        .iter()
        .map(|call| call.bearer().to_owned())
        .collect();
    assert_eq!(bearers, [token_text(1), token_text(1), token_text(2)]);

    provider.tokens([Reply::token(3, 3600)]);
    client
        .tokens()
        .adopt(given, clock.now().saturating_add(seconds(10)));
    clock.advance(seconds(10));
    assert_eq!(
        client
            .tokens()
            .token()
            .await
            .unwrap()
            .access_token
            .expose_secret(),
        token_text(3)
    );
}

/// A remote key, which signs, refuses, or never answers.
#[derive(Debug)]
enum Elsewhere {
    Signs(VerifyingKey),
    Fails(VerifyingKey, bool),
    Hangs(VerifyingKey),
}

impl RemoteSigner for Elsewhere {
    fn verifying_key(&self) -> VerifyingKey {
        let (Self::Signs(key) | Self::Fails(key, _) | Self::Hangs(key)) = self;
        key.clone()
    }

    fn sign<'a>(&'a self, request: SignRequest<'a>) -> RemoteFuture<'a, Vec<u8>> {
        Box::pin(async move {
            match self {
                Self::Signs(_) => Ok(KEY.sign(request.message()).unwrap()),
                Self::Fails(_, true) => Err(RemoteError::retryable("throttled")),
                Self::Fails(_, false) => Err(RemoteError::permanent("no such key")),
                Self::Hangs(_) => std::future::pending().await,
            }
        })
    }
}

#[tokio::test]
async fn the_key_may_be_remote() {
    let (provider, _, clock) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    let client = |signer| {
        // Only the one that never answers reaches the time-out.
        let patience = seconds(if matches!(signer, Elsewhere::Hangs(_)) {
            1
        } else {
            30
        });
        let credentials =
            Credentials::remote("CUSTOMER".parse().unwrap(), Arc::new(signer), API_KEY);
        let options = provider
            .options(&clock)
            .connect_timeout(patience)
            .timeout(patience);
        Client::new(credentials, provider.url(), options).unwrap()
    };
    let key = || KEY.verifying_key();
    assert!(
        client(Elsewhere::Signs(key()))
            .tokens()
            .token()
            .await
            .is_ok()
    );
    let form =
        TokenRequest::from_form(Some(FORM_CONTENT_TYPE), provider.calls()[0].body.as_bytes())
            .unwrap();
    let verifier = Verifier::new(
        Audience::parse(&format!("{}/v1.0/auth", provider.url())).unwrap(),
        VerifierOptions::new(),
    );
    let read = verifier.read(form.assertion().expose_secret()).unwrap();
    assert!(read.verify(&key(), clock.now()).is_ok());
    for (signer, again) in [
        (Elsewhere::Fails(key(), true), true),
        (Elsewhere::Fails(key(), false), false),
        (Elsewhere::Hangs(key()), true),
    ] {
        let error = client(signer).tokens().token().await.unwrap_err();
        assert!(
            matches!(error.reason, CallErrorKind::Signer { .. }),
            "{error:?}"
        );
        assert_eq!(
            (error.is_retryable(), provider.calls().len()),
            (again, 1),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn the_key_may_be_replaced_while_the_client_is_in_use() {
    let (provider, client, clock) = Provider::client().await;
    let lives = 3600;
    provider.tokens([
        Reply::token(1, lives),
        Reply::token(2, lives),
        Reply::token(3, lives),
    ]);
    let in_use = client.clone();
    let verifier = Verifier::new(
        Audience::parse(&format!("{}/v1.0/auth", provider.url())).unwrap(),
        VerifierOptions::new(),
    );
    let new = SigningKey::generate(RsaSize::Rsa2048)
        .unwrap()
        .with_kid("new");
    let remote = Arc::new(Elsewhere::Signs(KEY.verifying_key()));
    for (call, key) in [
        KEY.verifying_key(),
        new.verifying_key(),
        KEY.verifying_key(),
    ]
    .into_iter()
    .enumerate()
    {
        match call {
            1 => client.replace_signing_key(new.clone()),
            2 => client.replace_remote_signer(remote.clone()),
            _ => {}
        }
        in_use.tokens().token().await.unwrap();
        let calls = provider.calls();
        assert_eq!(calls.len(), call + 1);
        let form =
            TokenRequest::from_form(Some(FORM_CONTENT_TYPE), calls[call].body.as_bytes()).unwrap();
        let assertion = verifier.read(form.assertion().expose_secret()).unwrap();
        assert!(assertion.verify(&key, clock.now()).is_ok(), "call {call}");
        clock.advance(seconds(lives));
    }
}

#[tokio::test]
async fn a_token_is_fetched_once_and_renewed_early_beside_the_calls() {
    let (provider, client, clock) = Provider::client().await;
    provider.tokens([
        Reply::token(1, 3600),
        Reply::token(2, 100),
        Reply::token(3, 3600),
    ]);
    let text = || async {
        client
            .tokens()
            .token()
            .await
            .unwrap()
            .access_token
            .expose_secret()
            .to_owned()
    };
    assert_eq!(text().await, token_text(1));
    clock.advance(seconds(3539));
    assert_eq!(text().await, token_text(1));
    assert_eq!(
        provider.calls().len(),
        1,
        "60 s before the end is early enough"
    );
    clock.advance(seconds(1));
    assert_eq!(text().await, token_text(1), "the old one while it lasts");
    until(|| async { text().await == token_text(2) }).await;
    // A tenth of a short lifetime.
    clock.advance(seconds(89));
    assert_eq!(text().await, token_text(2));
    assert!(!format!("{:?}", client.tokens()).contains("fetching: true"));
    assert_eq!(provider.calls().len(), 2);
    clock.advance(seconds(1));
    until(|| async { text().await == token_text(3) }).await;
    assert_eq!(provider.calls().len(), 3);
}

#[tokio::test]
async fn callers_share_one_call_which_a_dropped_caller_does_not_end() {
    let (provider, client, _) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    provider.hold().await;
    let impatient = tokio::spawn({
        let client = client.clone();
        async move { client.tokens().token().await }
    });
    provider.until_calls(1).await;
    let patient: Vec<_> = (0..20)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.tokens().token().await })
        })
        .collect();
    impatient.abort();
    assert!(impatient.await.unwrap_err().is_cancelled());
    provider.release();
    for caller in patient {
        assert_eq!(
            caller.await.unwrap().unwrap().access_token.expose_secret(),
            token_text(1)
        );
    }
    assert_eq!(provider.calls().len(), 1);
}

#[tokio::test]
async fn a_token_nobody_waited_for_is_kept() {
    let (provider, client, _) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    provider.hold().await;
    let only = tokio::spawn({
        let client = client.clone();
        async move { client.tokens().token().await }
    });
    provider.until_calls(1).await;
    only.abort();
    let _ = only.await;
    provider.release();
    assert_eq!(
        client
            .tokens()
            .token()
            .await
            .unwrap()
            .access_token
            .expose_secret(),
        token_text(1)
    );
    assert_eq!(provider.calls().len(), 1);
}

#[tokio::test]
async fn everybody_who_waited_gets_the_error_and_the_next_call_tries_again() {
    let (provider, client, _) = Provider::client().await;
    provider.tokens([
        Reply::new(401, r#"{"error":"invalid_client"}"#),
        Reply::token(1, 3600),
    ]);
    provider.hold().await;
    let callers: Vec<_> = (0..3)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.tokens().token().await })
        })
        .collect();
    provider.until_calls(1).await;
    provider.release();
    for caller in callers {
        let error = caller.await.unwrap().unwrap_err();
        assert!(
            matches!(error.reason, CallErrorKind::Refused { .. }),
            "{error:?}"
        );
        assert_eq!(
            (error.status, error.code.as_deref()),
            (Some(401), Some(TokenErrorCode::InvalidClient.as_str()))
        );
        assert!(!error.is_retryable());
        assert_eq!(error.request_key, Some(request_key()));
        assert_eq!(
            error.to_string(),
            "the token call failed with status 401, code \"invalid_client\": the endpoint refused \
             the call"
        );
    }
    client.tokens().token().await.unwrap();
    assert_eq!(provider.calls().len(), 2);
}

#[tokio::test]
async fn an_older_refused_token_does_not_drop_a_newer_one() {
    let (provider, client, _) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600), Reply::token(2, 3600)]);
    let first = client.tokens().token().await.unwrap();
    client.tokens().refused(&first).await;
    let second = client.tokens().token().await.unwrap();
    client.tokens().refused(&first).await;
    assert_eq!(
        client.tokens().token().await.unwrap().access_token,
        second.access_token
    );
    assert_eq!(provider.calls().len(), 2);
}

#[tokio::test]
async fn retry_after_holds_the_next_call_back() {
    let (provider, client, clock) = Provider::client().await;
    provider.tokens([
        Reply::new(429, "").header("retry-after", "90"),
        Reply::token(1, 3600),
    ]);
    let error = client.tokens().token().await.unwrap_err();
    let retry_at = start().saturating_add(seconds(90));
    assert!(
        matches!(error.reason, CallErrorKind::TooManyCalls) && error.retry_at == Some(retry_at)
    );
    assert!(error.is_retryable());
    clock.advance(Duration::from_millis(89_999));
    let error = client.tokens().token().await.unwrap_err();
    assert!(
        matches!(error.reason, CallErrorKind::HeldBack) && error.retry_at == Some(retry_at),
        "{error:?}"
    );
    assert_eq!(provider.calls().len(), 1);
    clock.advance(Duration::from_millis(1));
    client.tokens().token().await.unwrap();
}

#[tokio::test]
async fn a_failed_early_fetch_leaves_the_old_token_and_pauses() {
    let (provider, client, clock) = Provider::client().await;
    provider.tokens([
        Reply::token(1, 3600),
        Reply::new(503, "").header("retry-after", "20"),
        Reply::token(2, 3600),
    ]);
    client.tokens().token().await.unwrap();
    clock.advance(seconds(3540));
    client.tokens().token().await.unwrap();
    provider.until_calls(2).await;
    until(|| async { !format!("{:?}", client.tokens()).contains("fetching: true") }).await;
    for _ in 0..5 {
        assert_eq!(
            client
                .tokens()
                .token()
                .await
                .unwrap()
                .access_token
                .expose_secret(),
            token_text(1)
        );
        assert!(
            !format!("{:?}", client.tokens()).contains("fetching: true"),
            "the pause holds"
        );
    }
    assert_eq!(provider.calls().len(), 2);
    clock.advance(seconds(20));
    client.tokens().token().await.unwrap();
    until(|| async {
        client
            .tokens()
            .token()
            .await
            .unwrap()
            .access_token
            .expose_secret()
            == token_text(2)
    })
    .await;
}

#[tokio::test]
async fn the_limits_of_the_table_hold_calls_back() {
    let (provider, client, clock) = Provider::client().await;
    provider.tokens((0..20).map(|number| Reply::token(number, 3600)));
    let mut sent = 0;
    for _ in 0..14 {
        for expected in [true, true, false] {
            let got = client.tokens().token().await;
            if let Ok(token) = &got {
                client.tokens().refused(token).await;
                sent += 1;
            }
            // Ten an hour, two a second.
            assert_eq!(
                got.is_ok(),
                expected && sent <= 10 && (got.is_ok() || sent < 10),
                "{got:?} after {sent}"
            );
            if sent == 10 {
                break;
            }
        }
        if sent == 10 {
            break;
        }
        // Two seconds, so that the sliding window is empty.
        clock.advance(seconds(2));
    }
    assert_eq!(sent, 10);
    clock.advance(seconds(2));
    let error = client.tokens().token().await.unwrap_err();
    let retry_at = error.retry_at.unwrap();
    assert!(
        retry_at > start().saturating_add(seconds(3600)),
        "{retry_at}"
    );
    assert_eq!(provider.calls().len(), 10);
    clock.set(retry_at);
    client.tokens().token().await.unwrap();
}

/// An error in the form of the statement endpoint, which token endpoints send too (Default: "Token
/// endpoint").
const STATEMENT_ERROR: &str = r#"{"error":{"statusCode":"EC42001","title":"Request body fails validation"},
    "requestKey":"0b7c2f6e-8a1d-41eb-8dcd-0242ac130003"}"#;

/// A case: its name, the answer, and a check of the error.
type Case = (&'static str, Reply, fn(&CallError) -> bool);

#[tokio::test]
async fn odd_answers() {
    let token = |text: &str| Reply::new(200, text.to_owned());
    let good = token_text(1);
    let cases: Vec<Case> = vec![
        (
            "expires_in as text",
            token(&format!(
                r#"{{"access_token":"{good}","token_type":"Bearer","expires_in":"3600"}}"#
            )),
            |error| {
                let wrong = "expires_in";
                matches!(
                    &error.reason,
                    CallErrorKind::Response(TokenResponseError::Member { member, .. }) if *member == wrong
                )
            },
        ),
        (
            "another token type",
            token(&format!(
                r#"{{"access_token":"{good}","token_type":"mac","expires_in":1}}"#
            )),
            |error| {
                matches!(
                    error.reason,
                    CallErrorKind::Response(TokenResponseError::TokenType { .. })
                )
            },
        ),
        (
            "a token that is no GUID",
            token(r#"{"access_token":"hunter2","token_type":"Bearer","expires_in":1}"#),
            |error| {
                matches!(
                    error.reason,
                    CallErrorKind::Response(TokenResponseError::AccessToken(_))
                )
            },
        ),
        (
            "an HTML page with 200",
            Reply::new(200, "<html>").header("content-type", "text/html"),
            |error| {
                matches!(
                    error.reason,
                    CallErrorKind::Unexpected {
                        form: AnswerForm::Html,
                        ..
                    }
                ) && error.status == Some(200)
            },
        ),
        (
            "a redirect",
            Reply::new(302, "").header("location", "https://example.com/"),
            |error| {
                matches!(error.reason, CallErrorKind::Unexpected { .. })
                    && error.status == Some(302)
            },
        ),
        (
            "a gateway's page",
            Reply::new(502, "<html>").header("content-type", "text/html"),
            |error| {
                matches!(error.reason, CallErrorKind::Unavailable)
                    && error.status == Some(502)
                    && error.is_retryable()
            },
        ),
        (
            "a gateway's failure under 200",
            Reply::new(
                200,
                r#"{"error":{"statusCode":"EC000_001","title":"Try later"}}"#,
            ),
            |error| {
                matches!(error.reason, CallErrorKind::Unavailable)
                    && error.status == Some(200)
                    && error.is_retryable()
            },
        ),
        (
            "400 with text",
            Reply::new(
                400,
                r#"{"error":"invalid_scope","error_description":"no\nway"}"#,
            ),
            |error| {
                let wanted = r#""no\nway""#;
                matches!(
                    &error.reason,
                    CallErrorKind::Refused { description: Some(text), .. } if text == wanted
                ) && error.status == Some(400)
            },
        ),
        (
            "400 with the statement exchange's error",
            Reply::new(400, STATEMENT_ERROR),
            |error| {
                matches!(
                    &error.reason,
                    CallErrorKind::Refused { description: Some(text), .. }
                        if text == "\"Request body fails validation\""
                ) && error.status == Some(400)
                    && error.code.as_deref() == Some("EC42001")
            },
        ),
        (
            "401 with the statement exchange's error",
            Reply::new(401, STATEMENT_ERROR),
            |error| {
                matches!(error.reason, CallErrorKind::Refused { .. })
                    && error.status == Some(401)
                    && error.code.as_deref() == Some("EC42001")
            },
        ),
        (
            "200 with an error",
            Reply::new(200, STATEMENT_ERROR),
            |error| {
                matches!(error.reason, CallErrorKind::Refused { .. })
                    && error.status == Some(200)
                    && error.code.is_some()
                    && !error.is_retryable()
            },
        ),
        (
            "503 with an error",
            Reply::new(503, STATEMENT_ERROR),
            |error| {
                matches!(error.reason, CallErrorKind::Unavailable)
                    && error.status == Some(503)
                    && error.code.as_deref() == Some("EC42001")
            },
        ),
        (
            "429 with an error",
            Reply::new(429, r#"{"error":"temporarily_unavailable"}"#),
            |error| {
                let known = TokenErrorCode::TemporarilyUnavailable;
                matches!(error.reason, CallErrorKind::TooManyCalls)
                    && error.code.as_deref() == Some(known.as_str())
            },
        ),
        ("403 with nothing", Reply::new(403, ""), |error| {
            matches!(error.reason, CallErrorKind::Refused { .. })
                && error.status == Some(403)
                && error.code.is_none()
        }),
        (
            "a body beyond the limit",
            Reply::new(200, vec![b' '; 65_537]),
            |error| {
                matches!(
                    error.reason,
                    CallErrorKind::Transport(ExchangeError::TooLarge {
                        limit: 65_536,
                        status: 200,
                        ..
                    })
                )
            },
        ),
    ];
    for (name, reply, expected) in cases {
        let (provider, client, _) = Provider::client().await;
        provider.tokens([reply]);
        let error = client.tokens().token().await.unwrap_err();
        assert!(expected(&error), "{name}: {error:?}");
        let text = chain(&error);
        assert!(
            !text.contains("hunter2") && !text.contains(API_KEY) && !text.contains(&good),
            "{text}"
        );
        assert_eq!(provider.calls().len(), 1, "{name}");
    }
}

#[tokio::test]
async fn scopes_and_a_missing_content_type_are_taken_as_they_come() {
    let (provider, client, _) = Provider::client().await;
    let body = format!(
        r#"{{"access_token":"{}","token_type":"bearer","expires_in":60,"scope":"B","other":1}}"#,
        token_text(1)
    );
    provider.tokens([Reply::new(200, body)
        .header("content-type", "text/plain")
        .header("x-requestkey", "what?")]);
    let token = client.tokens().token().await.unwrap();
    assert_eq!(
        (token.scopes.to_string().as_str(), token.request_key),
        ("B", None)
    );
}

#[tokio::test]
async fn nobody_there() {
    let provider = Provider::start().await;
    let (_, _, clock) = Provider::client().await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let client = provider.client_with(
        provider
            .options(&clock)
            .auth_url(&format!("http://{address}/v1.0/auth")),
    );
    let error = client.tokens().token().await.unwrap_err();
    assert!(
        matches!(
            error.reason,
            CallErrorKind::Transport(ExchangeError::Connect(_))
        ),
        "{error:?}"
    );
    assert!(error.is_retryable());
    assert!(!format!("{error:?}").contains("/v1.0/auth"), "{error:?}");
}

#[tokio::test]
async fn an_answer_that_never_ends_reaches_the_time_out() {
    let (provider, _, clock) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    provider.hold().await;
    let client = provider.client_with(
        provider
            .options(&clock)
            .connect_timeout(seconds(1))
            .timeout(Duration::from_millis(20)),
    );
    let error = client.tokens().token().await.unwrap_err();
    assert!(
        matches!(
            error.reason,
            CallErrorKind::Transport(ExchangeError::TimedOut { .. })
        ),
        "{error:?}"
    );
    provider.release();
}

#[tokio::test]
async fn printing_shows_no_secret() {
    let (provider, client, clock) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    let token = client.tokens().token().await.unwrap();
    let text = format!(
        "{client:?} {token:?} {:?}",
        provider.options(&clock).pacing(Pacing::Wait)
    );
    assert!(
        !text.contains(&token_text(1)) && !text.contains(API_KEY),
        "{text}"
    );
}

/// Waits until a condition holds, and fails after a minute, because a test that hangs reports no
/// fault.
pub(crate) async fn until<F: Future<Output = bool>>(mut holds: impl FnMut() -> F) {
    let begun = std::time::Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never holds");
        tokio::task::yield_now().await;
    }
}

/// Returns the text of an error and its causes.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = format!("{error} {error:?}\n");
    if let Some(source) = error.source() {
        text.push_str(&chain(source));
    }
    text
}

#[tokio::test(flavor = "current_thread")]
async fn a_token_that_expires_at_once_is_refused_and_a_short_one_is_logged() {
    let log = Log::start();
    let (provider, client, _) = Provider::client().await;
    provider.tokens([Reply::token(1, 0), Reply::token(2, 359)]);
    let error = client.tokens().token().await.unwrap_err();
    assert!(
        matches!(
            error.reason,
            CallErrorKind::Response(TokenResponseError::Member {
                member: "expires_in",
                ..
            })
        ),
        "{error:?}"
    );
    let text = log.text();
    let line = text.lines().find(|line| line.contains("no token")).unwrap();
    assert!(line.contains("a whole number of seconds from 1"), "{line}");
    assert!(
        !text.contains("the lifetime of the token is short"),
        "{text}"
    );
    client.tokens().token().await.unwrap();
    let text = log.text();
    assert!(
        text.contains("the lifetime of the token is short, and token calls are few lifetime_s=359"),
        "{text}"
    );
    let (provider, client, _) = Provider::client().await;
    provider.tokens([Reply::token(3, 360)]);
    client.tokens().token().await.unwrap();
    assert_eq!(log.text().matches("is short").count(), 1);
}
