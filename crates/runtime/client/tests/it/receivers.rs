use crate::log::Log;
use crate::provider::start;
use axum::body::{Body, Bytes};
use axum::http::{Method, Request, Response, StatusCode};
use bankrail_client::receivers::{Receivers, ReceiversOptions, ReceiversOptionsError};
use bankrail_http::HeadError;
use bankrail_jose::{DecryptionKey, RsaSize, SigningKey};
use bankrail_mailbox::{EntryId, Inbox, InboxState};
use bankrail_secured_payload::{OpenOptions, Opener, SealOptions, Sealer, SecuredPayload};
use bankrail_stores::memory::MemoryStore;
use bankrail_stores::redis::{RedisInbox, RedisInboxOptions};
use bankrail_stores::sqlite::SqliteStore;
use bankrail_values::ManualClock;
use bankrail_webhook::{Acknowledgement, DeliveryHeaders, MessageKind};
use http_body_util::BodyExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tower::{Service, ServiceExt};

pub(crate) const UUID: &str = "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003";
const ID: &str = "0b7c2f6e8a1d11eb8dcd0242ac130003";
const OTHER_UUID: &str = "0b7c2f6e-8a1d-41eb-8dcd-0242ac130004";
const OTHER_ID: &str = "0b7c2f6e8a1d11eb8dcd0242ac130004";

pub(crate) static SIGNING: LazyLock<SigningKey> =
    LazyLock::new(|| SigningKey::generate(RsaSize::Rsa2048).unwrap());
pub(crate) static DECRYPTION: LazyLock<DecryptionKey> =
    LazyLock::new(|| DecryptionKey::generate(RsaSize::Rsa2048).unwrap());

pub(crate) fn options() -> ReceiversOptions {
    ReceiversOptions::new().clock(Arc::new(ManualClock::new(start())))
}

pub(crate) fn receivers_with(inbox: Arc<dyn Inbox>, options: ReceiversOptions) -> Receivers {
    over(inbox, options)
}

/// Makes receivers over an inbox of this type.
pub(crate) fn over<I: Inbox + ?Sized + 'static>(
    inbox: Arc<I>,
    options: ReceiversOptions,
) -> Receivers<I> {
    made(inbox, options).unwrap()
}

fn made<I>(inbox: Arc<I>, options: ReceiversOptions) -> Result<Receivers<I>, ReceiversOptionsError>
where
    I: Inbox + ?Sized + 'static,
{
    let opener = Opener::new(
        DECRYPTION.clone(),
        SIGNING.verifying_key(),
        OpenOptions::new(),
    )
    .unwrap();
    Receivers::new(opener, "our-key", inbox, options)
}

pub(crate) fn message(kind: MessageKind) -> String {
    let at = "2026-11-21T05:59:00.000Z";
    match kind {
        MessageKind::MandateOutcome => {
            format!(r#"{{"creation_date_time":"{at}","status":"SUCC","request_id":"{UUID}"}}"#)
        }
        MessageKind::MandateNotification => format!(
            r#"{{"creation_date_time":"{at}","trigger":"MAMN","mps_user_id":"U1","mandate_identification":"{ID}",
                "action_identification":"{ID}","action_type":"AMND","action_status":"CMPL"}}"#
        ),
        MessageKind::PaymentOutcome => {
            format!(
                r#"{{"creation_date_time":"{at}","transaction_status":"ACSC","instruction_identification":"I-1"}}"#
            )
        }
        MessageKind::Query => format!(
            r#"{{"creation_date_time":"{at}","case_id":"C-1","investigation_type_code":"INV14",
                "case_type":"Mandate Query Case","narrative":"why?","mandate_details":{{}}}}"#
        ),
    }
}

pub(crate) fn seal(json: &str) -> String {
    let sealer = Sealer::new(
        SIGNING.clone(),
        DECRYPTION.encryption_key(),
        SealOptions::new(),
    );
    SecuredPayload::new(sealer.seal(json.as_bytes()).unwrap()).to_json()
}

/// Returns a delivery with the right headers.
pub(crate) fn delivery(kind: MessageKind, body: impl Into<String>) -> Request<Body> {
    let mut request = Request::post(kind.default_path())
        .header("apikey", "our-key")
        .header("content-type", "application/json")
        .header("x-message-id", UUID);
    if kind.answers_a_request() {
        request = request.header("x-requestkey", UUID);
    }
    request.body(Body::from(body.into())).unwrap()
}

pub(crate) async fn send<I: Inbox + ?Sized + 'static>(
    receivers: &Receivers<I>,
    request: Request<Body>,
) -> (StatusCode, String) {
    read(receivers.router().oneshot(request).await.unwrap()).await
}

async fn read(response: Response<Body>) -> (StatusCode, String) {
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// Delivers a message and reads its acknowledgement.
pub(crate) async fn deliver<I>(
    receivers: &Receivers<I>,
    kind: MessageKind,
    json: &str,
) -> Acknowledgement
where
    I: Inbox + ?Sized + 'static,
{
    let (status, body) = send(receivers, delivery(kind, seal(json))).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    Acknowledgement::from_json(body.as_bytes()).unwrap()
}

const REFUSED: &str =
    r#"{"status":"400","title":"Bad Request","detail":"The delivery was refused."}"#;

#[tokio::test]
async fn each_message_on_its_path_is_stored_and_acknowledged() {
    let inbox = Arc::new(
        SqliteStore::open_in_memory(Default::default())
            .unwrap()
            .inbox(),
    );
    let receivers = receivers_with(inbox.clone(), options());
    for (number, kind) in (1..).zip(MessageKind::ALL) {
        let acknowledgement = deliver(&receivers, kind, &message(kind)).await;
        assert!(acknowledgement.is_received());
        let entry = inbox.find(EntryId::new(number)).await.unwrap().unwrap();
        assert_eq!(
            (entry.kind.as_str(), entry.state),
            (kind.as_str(), InboxState::Pending)
        );
        assert_eq!(*entry.body, *message(kind).as_bytes());
        assert_eq!(
            *entry.acknowledgement,
            *acknowledgement.to_json().as_bytes()
        );
        let (headers, _) = DeliveryHeaders::from_attributes(&entry.attributes).unwrap();
        assert_eq!(
            (headers.message_id.to_string().as_str(), entry.received_at),
            (UUID, start())
        );
    }
}

#[tokio::test]
async fn a_duplicate_gets_the_stored_acknowledgement_and_a_conflict_a_new_one() {
    let inbox = Arc::new(
        SqliteStore::open_in_memory(Default::default())
            .unwrap()
            .inbox(),
    );
    let receivers = receivers_with(inbox.clone(), options());
    let kind = MessageKind::PaymentOutcome;
    let first = deliver(&receivers, kind, &message(kind)).await;
    let later = message(kind).replace("05:59:00.000Z", "06:30:00.000Z");
    assert_eq!(
        deliver(&receivers, kind, &later).await,
        first,
        "regenerated, and in progress"
    );
    let changed = message(kind).replace('}', r#","mps_user_id":"U2"}"#);
    let conflict = deliver(&receivers, kind, &changed).await;
    assert_ne!(conflict, first);
    assert_eq!(deliver(&receivers, kind, &changed).await, conflict);
    let marked = inbox.find(EntryId::new(2)).await.unwrap().unwrap();
    assert_eq!(marked.conflicts_with, Some(EntryId::new(1)));
    let other_status = message(kind).replace("ACSC", "PDNG");
    assert!(![first, conflict].contains(&deliver(&receivers, kind, &other_status).await));
    assert_eq!(inbox.counts().await.unwrap().pending, 3);
}

/// Messages are duplicates by the members of the specification's table, and not by `X-Message-Id`
/// (Default).
#[tokio::test]
async fn the_same_message_under_another_message_id_is_a_duplicate() {
    let receivers = receivers_with(Arc::new(MemoryStore::new().inbox()), options());
    for kind in MessageKind::ALL {
        let first = deliver(&receivers, kind, &message(kind)).await;
        let mut again = delivery(kind, seal(&message(kind)));
        again.headers_mut().insert(
            "x-message-id",
            "9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11".parse().unwrap(),
        );
        let (status, body) = send(&receivers, again).await;
        assert_eq!((status, body), (StatusCode::OK, first.to_json()), "{kind}");
    }
}

#[tokio::test]
async fn customers_that_share_an_inbox_are_told_apart() {
    let inbox = Arc::new(MemoryStore::new().inbox());
    let kind = MessageKind::MandateOutcome;
    let one = deliver(
        &receivers_with(inbox.clone(), options().scope("one")),
        kind,
        &message(kind),
    )
    .await;
    let two = deliver(
        &receivers_with(inbox.clone(), options().scope("two")),
        kind,
        &message(kind),
    )
    .await;
    assert_ne!(one, two);
}

#[tokio::test]
async fn the_api_key_comes_first() {
    let inbox = Arc::new(MemoryStore::new().inbox());
    let receivers = receivers_with(
        inbox.clone(),
        options()
            .also_api_key("their-new-key")
            .also_api_key("our-key"),
    );
    let kind = MessageKind::Query;
    let with = |keys: &[&str]| {
        let mut request = delivery(kind, "not even JSON");
        request.headers_mut().remove("apikey");
        for key in keys {
            request.headers_mut().append("apikey", key.parse().unwrap());
        }
        request
    };
    for keys in [
        &[][..],
        &["our-ke"],
        &["our-keyy"],
        &["Our-Key"],
        &[""],
        &["our-key", "our-key"],
    ] {
        assert_eq!(
            send(&receivers, with(keys)).await,
            (StatusCode::UNAUTHORIZED, String::new()),
            "{keys:?}"
        );
    }
    for key in ["our-key", "their-new-key"] {
        assert_eq!(
            send(&receivers, with(&[key])).await.0,
            StatusCode::BAD_REQUEST
        );
    }
    let renamed = receivers_with(inbox, options().api_key_header("X-Hook-Key"));
    let mut request = delivery(kind, seal(&message(kind)));
    assert_eq!(
        send(&renamed, delivery(kind, "")).await.0,
        StatusCode::UNAUTHORIZED
    );
    request
        .headers_mut()
        .insert("x-hook-key", "our-key".parse().unwrap());
    assert_eq!(send(&renamed, request).await.0, StatusCode::OK);
}

#[tokio::test]
async fn every_fault_of_a_message_is_answered_alike() {
    let inbox = Arc::new(MemoryStore::new().inbox());
    let receivers = receivers_with(inbox.clone(), options());
    let kind = MessageKind::PaymentOutcome;
    let good = seal(&message(kind));
    let stranger = SigningKey::generate(RsaSize::Rsa2048).unwrap();
    let forged = Sealer::new(stranger, DECRYPTION.encryption_key(), SealOptions::new())
        .seal(message(kind).as_bytes())
        .unwrap();
    let mut flipped = SecuredPayload::from_json(good.as_bytes())
        .unwrap()
        .secured_payload;
    let at = flipped.rfind('.').unwrap() + 3;
    let other = if flipped.as_bytes()[at] == b'A' {
        "B"
    } else {
        "A"
    };
    flipped.replace_range(at..=at, other);
    let cases = [
        ("nothing", String::new()),
        ("no envelope", "{}".to_owned()),
        ("an array", format!("[{good}]")),
        (
            "a member twice",
            good.replace('}', r#","secured_payload":"x"}"#),
        ),
        ("no JWE", r#"{"secured_payload":"x"}"#.to_owned()),
        ("another signer", SecuredPayload::new(forged).to_json()),
        ("another tag", SecuredPayload::new(flipped).to_json()),
        ("signed nonsense", seal("[]")),
        (
            "a bad format",
            seal(&message(kind).replace("2026-11-21", "2026-13-21")),
        ),
        (
            "a query on the outcomes path",
            seal(&message(MessageKind::Query)),
        ),
        (
            "a mandate outcome on the payments path",
            seal(&message(MessageKind::MandateOutcome)),
        ),
    ];
    for (name, body) in cases {
        let answer = send(&receivers, delivery(kind, body)).await;
        assert_eq!(
            answer,
            (StatusCode::BAD_REQUEST, REFUSED.to_owned()),
            "{name}"
        );
    }
    assert_eq!(inbox.counts().await.unwrap().pending, 0);
}

#[tokio::test(flavor = "current_thread")]
async fn the_log_names_the_keys_of_a_delivery_that_was_not_opened() {
    let opener = Opener::new(
        DECRYPTION.clone().with_kid("ours"),
        SIGNING.verifying_key().with_kid("theirs"),
        OpenOptions::new(),
    )
    .unwrap();
    let receivers = Receivers::new(
        opener,
        "our-key",
        Arc::new(MemoryStore::new().inbox()),
        options(),
    )
    .unwrap();
    let kind = MessageKind::Query;
    let seal = |signing: &SigningKey, encryption: bankrail_jose::EncryptionKey| {
        let sealed = Sealer::new(signing.clone(), encryption, SealOptions::new())
            .seal(message(kind).as_bytes())
            .unwrap();
        SecuredPayload::new(sealed).to_json()
    };
    let stranger = SigningKey::generate(RsaSize::Rsa2048).unwrap();
    for (signed_by, encrypted_to, stage, keys, reason) in [
        (
            "another",
            "ours",
            "verifying_key",
            "encryption_kid=\"\\\"ours\\\"\"",
            "found the kid \\\"another\\\"",
        ),
        (
            "theirs",
            "lost",
            "decryption_key",
            "encryption_kid=\"\\\"lost\\\"\"",
            "none of 1 keys has the token's kid",
        ),
        (
            "theirs",
            "ours",
            "decrypt_or_verify",
            "encryption_kid=\"\\\"ours\\\"\"",
            "the message was rejected",
        ),
    ] {
        let log = Log::start();
        let signing = stranger.clone().with_kid(signed_by);
        let sealed = seal(&signing, DECRYPTION.encryption_key().with_kid(encrypted_to));
        let answer = send(&receivers, delivery(kind, sealed)).await;
        assert_eq!(answer, (StatusCode::BAD_REQUEST, REFUSED.to_owned()));
        let text = log.text();
        let line = text
            .lines()
            .find(|line| line.contains("delivery that was not opened"))
            .unwrap_or_else(|| panic!("{text}"));
        for part in [
            keys,
            reason,
            &format!("stage=\"{stage}\""),
            &format!("message_id={UUID}"),
        ] {
            assert!(line.contains(part), "{part} in {line}");
        }
    }
}

#[tokio::test(flavor = "current_thread")]
async fn deliveries_without_the_api_key_have_a_bounded_number_of_log_lines() {
    let receivers = receivers_with(Arc::new(MemoryStore::new().inbox()), options());
    let log = Log::start();
    for _ in 0..150 {
        let mut request = delivery(MessageKind::Query, "{}");
        request.headers_mut().remove("apikey");
        assert_eq!(send(&receivers, request).await.0, StatusCode::UNAUTHORIZED);
    }
    let with_key = delivery(MessageKind::Query, "{}");
    assert_eq!(send(&receivers, with_key).await.0, StatusCode::BAD_REQUEST);
    let text = log.text();
    let lines = |stage: &str| text.matches(&format!("stage=\"{stage}\"")).count();
    assert!(
        (60..=120).contains(&lines("api_key")),
        "60 in a minute: {text}"
    );
    assert_eq!(lines("envelope"), 1, "{text}");
}

#[tokio::test]
async fn a_message_that_may_have_been_forgotten_is_too_old() {
    let (day, kind) = (Duration::from_secs(86_400), MessageKind::PaymentOutcome);
    // The message was created a minute before the start.
    let minute = Duration::from_secs(60);
    for (options, last) in [
        (options().retention(30 * day), Some(30 * day)),
        (options().retention(30 * day).max_age(Some(day)), Some(day)),
        (options().max_age(Some(day)), Some(day)),
        (options().retention(day).max_age(Some(day)), Some(day)),
        (options().retention(30 * day).max_age(None), None),
        (options(), None),
    ] {
        let clock = Arc::new(ManualClock::new(start()));
        let inbox = Arc::new(MemoryStore::new().inbox());
        let receivers = receivers_with(inbox.clone(), options.clock(clock.clone()));
        let deliver = async || send(&receivers, delivery(kind, seal(&message(kind)))).await;
        clock.advance(last.unwrap_or(3650 * day) - minute);
        assert_eq!(deliver().await.0, StatusCode::OK, "{last:?}");
        if last.is_some() {
            clock.advance(Duration::from_millis(1));
            assert_eq!(
                deliver().await,
                (StatusCode::BAD_REQUEST, REFUSED.to_owned()),
                "{last:?}"
            );
        }
        assert_eq!(inbox.counts().await.unwrap().pending, 1);
    }
}

#[tokio::test]
async fn an_inbox_that_forgets_by_itself_bounds_the_age() {
    let day = Duration::from_secs(86_400);
    let inbox = || {
        let options = RedisInboxOptions::new()
            .retention(7 * day)
            .timeout(Duration::from_millis(50));
        Arc::new(RedisInbox::open("redis://127.0.0.1:1/", options).unwrap())
    };
    let kind = MessageKind::PaymentOutcome;
    let (old, young) = (
        message(kind).replace("2026-11-21", "2026-11-13"),
        message(kind),
    );
    for (options, json, status) in [
        (options(), &old, 400),
        (options().retention(30 * day), &old, 400),
        (options().max_age(None), &old, 500),
        (options(), &young, 500),
    ] {
        // Whatever gets as far as the inbox finds that there is no server.
        let receivers = receivers_with(inbox(), options);
        assert_eq!(
            send(&receivers, delivery(kind, seal(json)))
                .await
                .0
                .as_u16(),
            status
        );
    }
    for options in [options(), options().retention(30 * day)] {
        let error = made(inbox(), options.max_age(Some(8 * day))).unwrap_err();
        assert_eq!(
            error,
            ReceiversOptionsError::MaxAge {
                retention: 7 * day,
                found: 8 * day
            }
        );
    }
}

#[tokio::test]
async fn required_headers_refuse_and_optional_ones_do_not() {
    let inbox = Arc::new(MemoryStore::new().inbox());
    let receivers = receivers_with(inbox.clone(), options());
    for kind in MessageKind::ALL {
        let sealed = seal(&message(kind));
        let with = |name: &'static str, value: Option<&str>| {
            let mut request = delivery(kind, sealed.clone());
            match value {
                Some(value) => request.headers_mut().insert(name, value.parse().unwrap()),
                None => request.headers_mut().remove(name),
            };
            request
        };
        let outcome = kind.answers_a_request();
        let cases = [
            ("x-message-id", None, false),
            ("x-message-id", Some("7"), false),
            ("x-requestkey", None, !outcome),
            ("x-requestkey", Some("7"), !outcome),
            ("x-correlation-id", Some("7"), true),
            ("priority", Some("SOON"), true),
        ];
        for (name, value, taken) in cases {
            let answer = send(&receivers, with(name, value)).await;
            assert_eq!(
                answer.0 == StatusCode::OK,
                taken,
                "{kind}: {name} {value:?}: {answer:?}"
            );
            assert!(taken || answer.1 == REFUSED);
        }
    }
}

#[tokio::test]
async fn method_type_and_size() {
    let inbox = Arc::new(MemoryStore::new().inbox());
    let receivers = receivers_with(inbox, options().max_body_bytes(2_000));
    let kind = MessageKind::Query;
    let mut get = delivery(kind, "");
    *get.method_mut() = Method::GET;
    let response = receivers.receiver(kind).oneshot(get).await.unwrap();
    assert_eq!(response.headers().get("allow").unwrap(), "POST");
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);

    let typed = |value: Option<&str>| {
        let mut request = delivery(kind, seal(&message(kind)));
        request.headers_mut().remove("content-type");
        if let Some(value) = value {
            request
                .headers_mut()
                .insert("content-type", value.parse().unwrap());
        }
        request
    };
    for bad in ["text/plain", "application/x-www-form-urlencoded", ""] {
        assert_eq!(
            send(&receivers, typed(Some(bad))).await,
            (StatusCode::UNSUPPORTED_MEDIA_TYPE, String::new())
        );
    }
    for good in [None, Some("Application/JSON ; charset=utf-8")] {
        assert_eq!(send(&receivers, typed(good)).await.0, StatusCode::OK);
    }

    // With a `Content-Length`, and without.
    let big = "x".repeat(2_001);
    let mut announced = delivery(kind, "");
    announced
        .headers_mut()
        .insert("content-length", "2001".parse().unwrap());
    assert_eq!(
        send(&receivers, announced).await,
        (StatusCode::PAYLOAD_TOO_LARGE, String::new())
    );
    assert_eq!(
        send(&receivers, delivery(kind, big)).await,
        (StatusCode::PAYLOAD_TOO_LARGE, String::new())
    );
    assert_eq!(
        send(&receivers, delivery(kind, "x".repeat(2_000))).await.0,
        StatusCode::BAD_REQUEST
    );
}

/// The faults that `serve::Server` finds in a head, such as one without `Host`, are refused.
#[tokio::test]
async fn what_the_server_finds_in_a_head_is_refused() {
    let receivers = receivers_with(Arc::new(MemoryStore::new().inbox()), options());
    for status in [
        StatusCode::BAD_REQUEST,
        StatusCode::URI_TOO_LONG,
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
    ] {
        let mut request = Request::options("*").body(Body::empty()).unwrap();
        request
            .extensions_mut()
            .insert(HeadError::Unreadable { status });
        let body = if status == StatusCode::BAD_REQUEST {
            REFUSED
        } else {
            ""
        };
        assert_eq!(send(&receivers, request).await, (status, body.to_owned()));
    }
    let kind = MessageKind::Query;
    let mut request = delivery(kind, seal(&message(kind)));
    request.extensions_mut().insert(HeadError::Host);
    assert_eq!(
        send(&receivers, request).await,
        (StatusCode::BAD_REQUEST, REFUSED.to_owned())
    );
    let mut request = delivery(kind, seal(&message(kind)));
    request.headers_mut().append("host", "a".parse().unwrap());
    assert_eq!(send(&receivers, request).await.0, StatusCode::OK);
    let mut request = delivery(kind, seal(&message(kind)));
    request.headers_mut().append("host", "a".parse().unwrap());
    request.headers_mut().append("host", "a".parse().unwrap());
    assert_eq!(
        send(&receivers, request).await,
        (StatusCode::BAD_REQUEST, REFUSED.to_owned())
    );
}

/// The server's time for a request ends before the body does: the answer is the receiver's own.
#[tokio::test(start_paused = true)]
async fn a_delivery_whose_time_is_over_is_to_be_made_again() {
    let inbox = Arc::new(MemoryStore::new().inbox());
    let receivers = receivers_with(inbox, options().body_timeout(Duration::from_secs(600)));
    let never = Body::from_stream(futures_util::stream::pending::<Result<Bytes, std::io::Error>>());
    let mut request = delivery(MessageKind::Query, "").map(|_| never);
    let by = tokio::time::Instant::now() + Duration::from_secs(60);
    request.extensions_mut().insert(bankrail_http::AnswerBy(by));
    let (status, body) = send(&receivers, request).await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(body.contains("Deliver it again."), "{body}");
}

/// Returns a body of `many` chunks of 1 KiB that panics if it is read after its end, and the count
/// of the chunks taken.
fn chunks(many: usize) -> (Body, Arc<AtomicUsize>) {
    let taken = Arc::new(AtomicUsize::new(0));
    let counted = taken.clone();
    let body = futures_util::stream::unfold(many, move |left| {
        counted.fetch_add(usize::from(left > 0), Ordering::SeqCst);
        let chunk = Ok::<_, std::io::Error>(Bytes::from_static(&[b'x'; 1024]));
        std::future::ready(left.checked_sub(1).map(|left| (chunk, left)))
    });
    (Body::from_stream(body), taken)
}

/// A refused body is read up to a bound, because some senders would otherwise see their stream end
/// instead of the answer.
#[tokio::test]
async fn a_refused_body_is_read_to_its_end_within_reason() {
    let receivers = receivers_with(Arc::new(MemoryStore::new().inbox()), options());
    let (too_large, unauthorized) = (StatusCode::PAYLOAD_TOO_LARGE, StatusCode::UNAUTHORIZED);
    for (key, waits, many, status, read) in [
        ("our-key", false, 3_000, too_large, 3_000),
        ("our-key", true, 3_000, too_large, 0),
        ("our-key", false, 9_000, too_large, 4_097),
        ("another", false, 3_000, unauthorized, 65),
        ("our-key", false, 1, StatusCode::BAD_REQUEST, 1),
    ] {
        let (body, taken) = chunks(many);
        let mut request = delivery(MessageKind::Query, "").map(|_| body);
        request.headers_mut().insert("apikey", key.parse().unwrap());
        request
            .headers_mut()
            .insert("content-length", (many * 1024).into());
        if waits {
            request
                .headers_mut()
                .insert("expect", "100-continue".parse().unwrap());
        }
        assert_eq!(send(&receivers, request).await.0, status);
        assert_eq!(taken.load(Ordering::SeqCst), read, "of {many}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_arrive_is_answered_408() {
    let receivers = receivers_with(Arc::new(MemoryStore::new().inbox()), options());
    let (never, _held) = tokio::sync::oneshot::channel::<()>();
    let body = http_body_util::StreamBody::new(futures_util::stream::once(async move {
        let _held = never;
        std::future::pending::<Result<http_body::Frame<Bytes>, std::io::Error>>().await
    }));
    let mut request = delivery(MessageKind::Query, "").map(|_| body);
    request.headers_mut().remove("content-length");
    let response = receivers
        .receiver(MessageKind::Query)
        .call(request)
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::REQUEST_TIMEOUT);
}

/// The receivers fit the published contract, docs/openapi.json, in statuses, members of bodies and
/// required headers, for each kind of message.
#[tokio::test]
async fn receivers_answer_as_the_contract_says() {
    let contract = std::fs::read(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../docs/openapi.json"
    ))
    .unwrap();
    let contract: serde_json::Value = serde_json::from_slice(&contract).unwrap();
    for kind in MessageKind::ALL {
        let operation = &contract["webhooks"][kind.as_str()]["post"];
        // The inbox is full after one message.
        let receivers = receivers_with(Arc::new(MemoryStore::with_capacity(1).inbox()), options());
        let mut requests = vec![
            delivery(kind, seal(&message(kind))),
            delivery(kind, "{}"),
            delivery(
                kind,
                seal(
                    &message(kind)
                        .replace("I-1", "I-2")
                        .replace("C-1", "C-2")
                        .replace(ID, OTHER_ID)
                        .replace(UUID, OTHER_UUID),
                ),
            ),
            delivery(kind, "x".repeat(600_000)),
        ];
        let mut without_key = delivery(kind, "{}");
        without_key.headers_mut().remove("apikey");
        let mut text = delivery(kind, "{}");
        text.headers_mut()
            .insert("content-type", "text/plain".parse().unwrap());
        let mut long_address = delivery(kind, "{}");
        *long_address.uri_mut() = format!("{}?{}", long_address.uri(), "a".repeat(9_000))
            .parse()
            .unwrap();
        let mut large_headers = delivery(kind, "{}");
        large_headers
            .headers_mut()
            .insert("x-large", "a".repeat(20_000).parse().unwrap());
        let mut get = delivery(kind, "{}");
        *get.method_mut() = Method::GET;
        requests.extend([without_key, get, text, long_address, large_headers]);
        // That of a body that does not arrive, which has a test of its own.
        let mut statuses = vec!["408".to_owned()];
        for request in requests {
            let (status, body) = send(&receivers, request).await;
            statuses.push(status.as_str().to_owned());
            let declared = &operation["responses"][status.as_str()];
            let Some(content) = declared.get("content") else {
                assert_eq!(
                    (declared.is_object(), &*body),
                    (true, ""),
                    "{kind} {status}"
                );
                continue;
            };
            let reference = content["application/json"]["schema"]["$ref"]
                .as_str()
                .unwrap();
            let schema = contract.pointer(reference.trim_start_matches('#')).unwrap();
            let body: serde_json::Value = serde_json::from_str(&body).unwrap();
            let found: Vec<_> = body.as_object().unwrap().keys().collect();
            let named: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
            assert_eq!(found.len(), named.len(), "{kind} {status}");
            assert!(
                found
                    .iter()
                    .all(|name| named.contains(name) && body[*name].is_string()),
                "{kind} {status}"
            );
        }
        statuses.sort();
        let declared: Vec<_> = operation["responses"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        assert_eq!(statuses, declared, "{kind}");
        for parameter in operation["parameters"].as_array().unwrap() {
            let mut without = delivery(kind, seal(&message(kind)));
            let named = without
                .headers_mut()
                .remove(parameter["name"].as_str().unwrap())
                .is_some();
            assert_eq!(named, parameter["required"] == true, "{kind}: {parameter}");
            let status = send(&receivers, without).await.0;
            assert_eq!(
                status == StatusCode::BAD_REQUEST,
                named,
                "{kind}: {parameter}"
            );
        }
    }
}

#[tokio::test]
async fn when_the_inbox_fails_the_sender_is_asked_to_deliver_again() {
    let inbox = Arc::new(MemoryStore::with_capacity(1).inbox());
    let receivers = receivers_with(inbox, options());
    let kind = MessageKind::PaymentOutcome;
    deliver(&receivers, kind, &message(kind)).await;
    let (status, body) = send(
        &receivers,
        delivery(kind, seal(&message(kind).replace("I-1", "I-2"))),
    )
    .await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(
        body.starts_with(r#"{"status":"500","title":"Internal Server Error","detail":""#),
        "{body}"
    );
}

#[tokio::test]
async fn deliveries_at_once_are_one_message() {
    let inbox = Arc::new(
        SqliteStore::open_in_memory(Default::default())
            .unwrap()
            .inbox(),
    );
    let receivers = receivers_with(inbox.clone(), options().concurrency(2.try_into().unwrap()));
    let kind = MessageKind::MandateNotification;
    let sealed = seal(&message(kind));
    let answers: Vec<_> = (0..8)
        .map(|_| {
            let (receivers, sealed) = (receivers.clone(), sealed.clone());
            tokio::spawn(async move { send(&receivers, delivery(kind, sealed)).await })
        })
        .collect();
    let mut bodies = std::collections::HashSet::new();
    for answer in answers {
        let (status, body) = answer.await.unwrap();
        assert_eq!(status, StatusCode::OK);
        bodies.insert(body);
    }
    assert_eq!(
        (bodies.len(), inbox.counts().await.unwrap().pending),
        (1, 1)
    );
}

#[test]
fn paths_and_headers_are_settings() {
    let inbox = || Arc::new(MemoryStore::new().inbox());
    let refused = |options| made(inbox(), options).unwrap_err();
    assert!(made(inbox(), options().path(MessageKind::Query, "/hooks/q")).is_ok());
    for bad in ["q", "/q/{id}", "/*", "/payto/mpirs/outcomes"] {
        let error = refused(options().path(MessageKind::Query, bad));
        assert!(matches!(error, ReceiversOptionsError::Path { .. }), "{bad}");
    }
    for name in ["a b", "content-type", "Host"] {
        assert!(
            matches!(
                refused(options().api_key_header(name)),
                ReceiversOptionsError::HeaderName { .. }
            ),
            "{name}"
        );
    }
    assert!(matches!(
        refused(options().also_api_key("")),
        ReceiversOptionsError::EmptyApiKey
    ));
    let shown = format!(
        "{:?} {:?}",
        options().also_api_key("our-key"),
        receivers_with(inbox(), options())
    );
    assert!(
        !shown.contains("our-key") && shown.contains("Here"),
        "{shown}"
    );
}
