//! Faults of receivers that the judge must find, and behaviour that it must not take for a fault.

use crate::subject::{KEY, rows, selection, serve};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::response::Response;
use axum::routing::{any, get};
use bankrail_conformance::{
    Judgement, ReceiverAddresses, ReceiverJudge, ReceiverJudgeOptions, Verdict,
};
use bankrail_jose::{DecryptionKey, RsaSize};
use http::{HeaderMap, Method, StatusCode};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Returns an acknowledgement under another id each time.
fn acknowledged(number: usize) -> Response {
    let id = format!("0b7c2f6e-8a1d-41eb-8dcd-{number:012}");
    response(200, &json!({"id": id, "status": "RCVD"}))
}

fn response(status: u16, body: &Value) -> Response {
    let response = Response::builder()
        .status(StatusCode::from_u16(status).unwrap())
        .header("content-type", "application/json");
    response.body(Body::from(body.to_string())).unwrap()
}

/// Judges receivers that answer each delivery with `answer`, which gets the number of earlier
/// answers. The receivers list the ids of all messages, without a state.
async fn judge(
    answer: impl Fn(usize, &Method, &HeaderMap) -> Response + Clone + Send + Sync + 'static,
    only: &[&str],
) -> Judgement {
    let ids: Arc<Mutex<Vec<String>>> = Arc::default();
    let listed = ids.clone();
    let receive = move |method: Method, headers: HeaderMap, _: Bytes| async move {
        let mut ids = ids.lock().unwrap();
        let id = headers.get("x-message-id").and_then(|id| id.to_str().ok());
        ids.push(id.unwrap_or_default().to_owned());
        answer(ids.len(), &method, &headers)
    };
    let list = move || async move {
        let ids = listed.lock().unwrap();
        let lines = ids.iter().map(|id| json!({ "message_id": id }));
        Value::from_iter(lines).to_string()
    };
    let router = Router::new()
        .route("/handled", get(list))
        .fallback(any(receive));
    let (url, roots) = serve(router).await;
    let options = ReceiverJudgeOptions::new()
        .roots(roots)
        .handled(format!("{url}/handled"))
        .only(selection(only));
    let addresses = ReceiverAddresses::below(&url).unwrap();
    let encryption = DecryptionKey::generate(RsaSize::Rsa2048).unwrap();
    let judge = ReceiverJudge::new(addresses, &KEY, &encryption.encryption_key(), options);
    judge.unwrap().judge().await.unwrap()
}

#[tokio::test]
async fn a_list_without_states_is_not_taken_for_a_fault() {
    let found = judge(|number, _, _| acknowledged(number), &["S23.18"]).await;
    let unseen = rows(&found, "S23.18").into_iter();
    let unseen = unseen.filter(|verdict| matches!(verdict, Verdict::NotSeen(_)));
    assert_eq!(unseen.count(), 3, "{found}");
    assert!(found.passed(), "{found}");
}

#[tokio::test]
async fn the_delivery_after_which_a_receiver_is_down_is_named_and_mended_first() {
    // The receiver fails from its first GET on.
    let down = Arc::new(Mutex::new(false));
    let answer = move |number, method: &Method, _: &HeaderMap| {
        let mut down = down.lock().unwrap();
        *down |= method == Method::GET;
        match *down {
            true => response(500, &json!({})),
            false => acknowledged(number),
        }
    };
    let found = judge(answer, &["S9", "S11"]).await;
    let not_run = found.rows().iter();
    let mut not_run = not_run.filter(|row| matches!(row.verdict, Verdict::NotRun(_)));
    let why = not_run.next().unwrap().verdict.detail();
    assert!(why.contains("GET, which has no body (S9.1 "), "{why}");
    assert!(not_run.all(|row| row.verdict.detail() == why), "{found}");
    let first = found.mend_first().unwrap();
    assert!(
        first.starts_with(&format!("mend first: {why} (S9.1 ")),
        "{first}"
    );
}

#[tokio::test]
async fn a_receiver_that_takes_too_much_loses_no_message() {
    let found = judge(|number, _, _| acknowledged(number), &["S21.9"]).await;
    let failed = found.rows().iter();
    let failed = failed.filter(|row| matches!(row.verdict, Verdict::Failed(_)));
    // Each question has a separate row.
    let titles: Vec<_> = failed.map(|row| &*row.title).collect();
    assert_eq!(
        titles,
        [
            "takes a MandateNotification with every required member only",
            "takes no MandateNotification with null in place of a required member",
            "the receiver of MandateNotification takes no other message",
            "the receiver of MandateNotification takes no JSON that is no message",
        ],
        "{found}"
    );
    let first = found.mend_first().unwrap();
    assert!(
        first.contains("because it accepts what the specification forbids"),
        "{first}"
    );
}

#[tokio::test]
async fn details_have_the_answer_as_it_is_and_no_address() {
    let body = json!({"id": "7", "status": "RCVD", "see": "https://receiver.example/help"});
    // In the order of members that serde_json has, which a feature of it changes.
    let answer = format!("200 {body}").replace("https://receiver.example/help", "(an address)");
    let found = judge(move |_, _, _| response(200, &body), &["S10", "S23.21"]).await;
    let taken = rows(&found, "S23.21");
    assert!(taken[0].detail().contains(&answer), "{found}");
    // Five of many are listed.
    let why = rows(&found, "S10.1")[0].detail();
    assert!(
        why.contains(r#"found "7"; "7"; "7"; "7"; "7"; and "#),
        "{why}"
    );
}

#[tokio::test]
async fn options_that_would_find_more_are_named_with_their_price() {
    let found = judge(|number, _, _| acknowledged(number), &["S9"]).await;
    let [line] = found.more() else {
        panic!("{found}");
    };
    assert!(
        line.starts_with("--sign-4096 would judge 1 more row: "),
        "{line}"
    );
}
