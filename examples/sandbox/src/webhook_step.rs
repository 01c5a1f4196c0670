//! Step 3: one of each webhook message, a duplicate, and payment outcomes out of order.

use crate::delivery::{ENDPOINT, dispatcher, headers};
use crate::server::Server;
use crate::tour::{Sandbox, expect};
use bankrail::client::receivers::{
    Delivery, HandlerError, Handlers, Receivers, ReceiversOptions, WorkerOptions,
};
use bankrail::mailbox::{EndpointId, OutboxStore};
use bankrail::secured_payload::{OpenOptions, Opener, SealOptions, Sealer, SecuredPayload};
use bankrail::service::delivery::{Dispatcher, EndpointUrl};
use bankrail::stores::sqlite::{SqliteInbox, SqliteOptions, SqliteStore};
use bankrail::values::HyphenatedUuid;
use bankrail::webhook::history::{PaymentHistory, PaymentState};
use bankrail::webhook::{
    Acknowledgement, CaseType, DeliveryHeaders, Message, MessageKind, TransactionStatus, Trigger,
    samples,
};
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

const RECEIVER_KEY: &str = "receiver-key-5d1c";

/// The messages that the customer's handlers have seen.
#[derive(Debug, Default)]
struct Seen {
    handled: Vec<(MessageKind, HyphenatedUuid)>,
    payment: PaymentHistory,
    findings: usize,
}

type Shared = Arc<Mutex<Seen>>;

pub(crate) async fn run(sandbox: &Sandbox) -> Result<(), Box<dyn Error>> {
    let seen = Shared::default();
    let inbox = Arc::new(
        SqliteStore::open(
            sandbox.folder.path().join("customer.sqlite"),
            SqliteOptions::new(),
        )?
        .inbox(),
    );
    let opener = Opener::new(
        sandbox.keys.decryption.clone(),
        sandbox.keys.signing.verifying_key(),
        OpenOptions::new(),
    )?;
    let options = ReceiversOptions::new().clock(sandbox.clock.clone());
    let receivers = Receivers::new(opener, RECEIVER_KEY, inbox, options)?;
    let worker = receivers.worker(handlers(&seen), WorkerOptions::new());
    let server = Server::start(receivers.router(), &sandbox.certificates).await?;
    println!("receivers at   {}", server.base_url());

    let outbox = Arc::new(
        SqliteStore::open(
            sandbox.folder.path().join("outbox.sqlite"),
            SqliteOptions::new(),
        )?
        .outbox(),
    );
    let authority = sandbox.certificates.authority_pem.clone().into_bytes();
    let base = EndpointUrl::parse(&server.base_url())?;
    let clock = sandbox.clock.clone();
    let provider = dispatcher(
        base,
        RECEIVER_KEY,
        &sandbox.keys,
        authority,
        outbox.clone(),
        clock,
    )?;

    let settled = Message::from(samples::payment_outcome(
        &TransactionStatus::SettlementCompleted,
    ));
    let settled_headers = headers(settled.kind());
    deliver(&provider, &*outbox, &settled, settled_headers).await?;
    for message in others()? {
        deliver(&provider, &*outbox, &message, headers(message.kind())).await?;
    }
    expect(worker.run_due().await? == 4, "four messages to be handled")?;
    expect(kinds(&seen) == MessageKind::ALL.len(), "one of each kind")?;

    again(sandbox, &server, &settled, settled_headers, &seen).await?;
    expect(worker.run_due().await? == 0, "nothing to be handled twice")?;

    let warehoused = Message::from(samples::payment_outcome(&TransactionStatus::Warehoused));
    deliver(&provider, &*outbox, &warehoused, headers(warehoused.kind())).await?;
    expect(
        worker.run_due().await? == 1,
        "the late outcome to be handled",
    )?;
    let state = lock(&seen).payment.state();
    println!("out of order   ACSC, then PDNG: the payment is {state:?}");
    expect(state == PaymentState::Settled, "the payment to be settled")?;
    expect(lock(&seen).findings == 0, "no findings")?;
    server.stop().await
}

/// One message of each kind other than the payment outcome.
fn others() -> Result<[Message; 3], Box<dyn Error>> {
    use bankrail::webhook::{ActionStatus, ActionType};
    let notification =
        samples::mandate_notification(&Trigger::CreationConfirmed).ok_or("expected a sample")?;
    Ok([
        samples::mandate_outcome(&ActionType::Create, &ActionStatus::Completed).into(),
        notification.into(),
        samples::query(&CaseType::Mandate).into(),
    ])
}

/// Enqueues one message and makes its delivery.
async fn deliver(
    provider: &Dispatcher,
    outbox: &dyn OutboxStore,
    message: &Message,
    headers: DeliveryHeaders,
) -> Result<(), Box<dyn Error>> {
    let entry = provider
        .enqueue(&EndpointId::parse(ENDPOINT)?, message, headers)
        .await?
        .id();
    provider.run_once().await?;
    let deliveries = outbox.deliveries(entry).await?;
    let [delivery] = deliveries.as_slice() else {
        return Err("expected one delivery".into());
    };
    println!(
        "delivered      {:<22} X-Message-Id {}  {} in {} ms",
        message.kind().as_str(),
        headers.message_id,
        delivery
            .status
            .map_or_else(|| "no answer".to_owned(), |status| status.to_string()),
        delivery.duration.as_millis()
    );
    expect(
        delivery.status == Some(200) && delivery.note.is_none(),
        "200 and an acknowledgement",
    )
}

/// Delivers the same message again, like a sender that missed the answer. It is sealed again, and
/// answered with the stored acknowledgement.
async fn again(
    sandbox: &Sandbox,
    server: &Server,
    message: &Message,
    headers: DeliveryHeaders,
    seen: &Shared,
) -> Result<(), Box<dyn Error>> {
    let sealer = Sealer::new(
        sandbox.keys.signing.clone(),
        sandbox.keys.decryption.encryption_key(),
        SealOptions::new(),
    );
    let body = SecuredPayload::new(sealer.seal(message.to_json().as_bytes())?).to_json();
    let url = server.base_url() + message.kind().default_path();
    let mut request = sandbox
        .http
        .post(url)
        .header("apikey", RECEIVER_KEY)
        .header("content-type", "application/json");
    for (name, value) in headers.pairs() {
        request = request.header(name, value);
    }
    let answer = request.body(body).send().await?;
    expect(
        answer.status().as_u16() == 200,
        "status 200 for a duplicate",
    )?;
    let body = answer.bytes().await?;
    println!(
        "duplicate      {:<22} answered {}",
        message.kind().as_str(),
        std::str::from_utf8(&body)?
    );
    let acknowledgement = Acknowledgement::from_json(&body)?;
    expect(acknowledgement.is_received(), "the status RCVD")?;
    let first = lock(seen)
        .handled
        .iter()
        .find(|(kind, _)| *kind == message.kind())
        .map(|(_, id)| *id);
    expect(
        first == Some(acknowledgement.id),
        "the first acknowledgement",
    )
}

fn handlers(seen: &Shared) -> Handlers<SqliteInbox> {
    let seen = Arc::clone(seen);
    Handlers::new().on_any(move |received: Delivery<Message>| {
        let mut seen = lock(&seen);
        seen.handled
            .push((received.message.kind(), received.acknowledgement.id));
        seen.findings += received.findings.len();
        if let Message::PaymentOutcome(outcome) = &received.message {
            seen.payment.apply(outcome);
        }
        std::future::ready(Ok::<(), HandlerError>(()))
    })
}

fn kinds(seen: &Shared) -> usize {
    let mut kinds: Vec<MessageKind> = lock(seen).handled.iter().map(|(kind, _)| *kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.len()
}

fn lock(seen: &Mutex<Seen>) -> std::sync::MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}
