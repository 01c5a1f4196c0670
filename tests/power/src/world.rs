//! A bank that delivers messages and lists entries, and its customer, in one process without a
//! network.

use crate::Failure;
use crate::engine::Engine;
use crate::marks::Marks;
use axum::Router;
use axum::body::Body;
use bankrail_camt052::EntryBuilder;
use bankrail_client::receivers::{
    Delivery, HandlerError, Handlers, Receivers, ReceiversOptions, WorkerOptions,
};
use bankrail_client::simulation::{Network, Sending};
use bankrail_client::{
    Client, ClientOptions, Credentials, NewEntries, PolledAccount, Poller, PollerOptions,
    SealingSecret,
};
use bankrail_client_assertion::token::{ScopeSet, TokenStore, names};
use bankrail_client_assertion::{Audience, Verifier, VerifierOptions};
use bankrail_http::EndpointUrl;
use bankrail_jose::{DecryptionKey, KeySet, RsaSize, SigningKey};
use bankrail_mailbox::{EndpointId, EntryId, Inbox as _, OutboxState, OutboxStore};
use bankrail_rate_limit::{
    Algorithm, CallType, Counting, Limiter, Limits, MemoryCounters, Policy, Window,
};
use bankrail_secured_payload::{OpenOptions, Opener, SealOptions, Sealer};
use bankrail_service::audit::{AuditFile, AuditFileOptions, AuditOptions};
use bankrail_service::delivery::{
    Dispatcher, DispatcherOptions, Endpoint, Endpoints, Transport, TransportErrorKind,
    TransportFuture, TransportRequest, TransportResponse,
};
use bankrail_service::{
    ApiKeyHash, CursorSecret, Customer, Directory, Ledger, LedgerAnswer, LedgerEntry, LedgerPage,
    Provider, ProviderOptions, RegisteredAccount, StatementQuery,
};
use bankrail_statement::{AccountId, EntryChannel, MaxEntries, PagePosition};
use bankrail_values::{Currency, Decimal, HyphenatedUuid, Money, SecretString, StoreFuture};
use bankrail_webhook::{CaseType, DeliveryHeaders, Message, QueryNotification, samples};
use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use std::future::pending;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tower::ServiceExt as _;

const CUSTOMER_KEY: &str = "the-customers-key";
const RECEIVER_KEY: &str = "the-receivers-key";
const PROVIDER_URL: &str = "http://127.0.0.1";
const ACCOUNT: &str = "012003123456789";
const MESSAGES: u32 = 4;
/// The entries of a round: more than two pages.
const ENTRIES: u32 = 7;
/// A bound for the work of a round, which takes about 100 ms.
const PATIENCE: Duration = Duration::from_secs(60);

/// The parts of a run.
pub(crate) struct World<E: Engine> {
    bank: E,
    biller: E,
    dispatcher: Dispatcher,
    endpoint: EndpointId,
    provider: Router,
    assertion_key: SigningKey,
    books: Arc<Mutex<u32>>,
    marks: Marks,
    first: u32,
}

impl<E: Engine> World<E> {
    /// The customer's messages and entries have numbers from the first one on. Its audit is in a
    /// file, if there is one.
    pub(crate) fn new(
        bank: E,
        biller: E,
        tokens: Arc<dyn TokenStore>,
        audit: Option<PathBuf>,
        marks: Marks,
        first: u32,
    ) -> Result<Self, Failure> {
        let signing = SigningKey::generate(RsaSize::Rsa2048)?;
        let decryption = DecryptionKey::generate(RsaSize::Rsa2048)?;
        let assertion_key = SigningKey::generate(RsaSize::Rsa2048)?;

        let opener = Opener::new(
            KeySet::from(decryption.clone()),
            KeySet::from(signing.verifying_key()),
            OpenOptions::new(),
        )?;
        let receivers = Receivers::new(
            opener,
            RECEIVER_KEY,
            biller.inbox(),
            ReceiversOptions::new(),
        )?;
        let handlers =
            Handlers::new().on_transactional(|received: Delivery<QueryNotification>| async move {
                Ok::<_, HandlerError>(E::handled(received.message.case_id.to_string()))
            });
        let worker = receivers.worker(handlers, WorkerOptions::new());
        tokio::spawn(worker.run(pending()));

        let endpoint: EndpointId = "biller".parse()?;
        let endpoints = Endpoints::new();
        let sealer = Sealer::new(signing, decryption.encryption_key(), SealOptions::new());
        endpoints.insert(
            Endpoint::new(
                endpoint.clone(),
                EndpointUrl::parse("https://biller.example/")?,
                Arc::new(sealer),
            )
            .with_api_key(&SecretString::from(RECEIVER_KEY))?,
        );
        let way = Way {
            to: receivers.router(),
            marks: marks.clone(),
        };
        let dispatcher = Dispatcher::new(
            bank.outbox(),
            endpoints,
            Arc::new(way),
            DispatcherOptions::new(),
        )?;
        let delivering = dispatcher.clone();
        tokio::spawn(async move { delivering.run(pending()).await });

        let books = Arc::new(Mutex::new(first * ENTRIES));
        let scopes = ScopeSet::parse(names::STATEMENT_READ)?;
        let keys = KeySet::from(assertion_key.verifying_key());
        let customer = Customer::new("BILLER".parse()?, keys, scopes);
        let mut limits = Limits::new();
        limits.set_default(CallType::Token, wide()?);
        limits.set_default(CallType::Statement, wide()?);
        let mut options = ProviderOptions::new()
            .cursor_secret(CursorSecret::from_bytes([7; 32]))
            .limiter(Arc::new(Limiter::new(
                limits,
                Arc::new(MemoryCounters::default()),
            )));
        if let Some(audit) = audit {
            let audit = AuditFile::open(audit, AuditFileOptions::new())?;
            options = options.audit(Arc::new(audit), AuditOptions::new());
        }
        let provider = Provider::new(
            Arc::new(OneCustomer(Arc::new(customer))),
            Arc::new(Books(Arc::clone(&books))),
            tokens,
            Verifier::new(
                Audience::parse(&format!("{PROVIDER_URL}/v1.0/auth"))?,
                VerifierOptions::new(),
            ),
            options,
        )?
        .router();
        Ok(Self {
            bank,
            biller,
            dispatcher,
            endpoint,
            provider,
            assertion_key,
            books,
            marks,
            first,
        })
    }

    /// Delivers some messages and polls some entries, and returns once all are delivered and
    /// handled. After some rounds the log is copied or moved into its file.
    pub(crate) async fn round(&self, round: u32) -> Result<(), Failure> {
        let from = (self.first + round) * MESSAGES;
        let entries = {
            let mut all = lock(&self.books);
            *all += ENTRIES;
            *all
        };
        let (delivered, polled) = tokio::join!(self.deliver(from), self.poll(round, entries));
        delivered?;
        polled?;
        if round.is_multiple_of(3) {
            self.bank.checkpoint().await?;
            self.biller.checkpoint().await?;
        } else if round % 3 == 1 {
            self.bank.fold().await;
            self.biller.fold().await;
        }
        Ok(())
    }

    async fn deliver(&self, from: u32) -> Result<(), Failure> {
        let mut waiting = Vec::new();
        for number in from..from + MESSAGES {
            let name = format!("P{number}");
            let mut query = samples::query(&CaseType::Payments);
            query.case_id = name.parse()?;
            let headers = DeliveryHeaders::new(HyphenatedUuid::random());
            let enqueued = self
                .dispatcher
                .enqueue(&self.endpoint, &Message::from(query), headers)
                .await?;
            self.marks
                .put(format_args!("enqueued {name} {}", headers.message_id));
            waiting.push((name, enqueued.id()));
        }
        let begun = Instant::now();
        let outbox = self.bank.outbox();
        let mut names = Vec::new();
        while !waiting.is_empty() {
            let mut left = Vec::new();
            for (name, id) in waiting {
                if is_delivered(&*outbox, id).await? {
                    self.marks.put(format_args!("delivered {name}"));
                    names.push(name);
                } else {
                    left.push((name, id));
                }
            }
            waiting = left;
            if begun.elapsed() > PATIENCE {
                return Err(format!("not delivered: {waiting:?}").into());
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let inbox = self.biller.inbox();
        while inbox.counts().await?.pending > 0 {
            if begun.elapsed() > PATIENCE {
                return Err(format!("not handled: some of {names:?}").into());
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        for name in names {
            self.marks.put(format_args!("completed {name}"));
        }
        Ok(())
    }

    /// Polls with a client that has no token yet.
    async fn poll(&self, round: u32, entries: u32) -> Result<(), Failure> {
        let credentials =
            Credentials::new("BILLER".parse()?, self.assertion_key.clone(), CUSTOMER_KEY);
        let secret = SealingSecret::from_bytes([u8::try_from(round % 256)?; 32]);
        let options = ClientOptions::new()
            .danger_allow_http_on_loopback(true)
            .token_limits(wide()?)
            .statement_limits(wide()?)
            .token_cache((self.biller.cache(), secret))
            .network(Arc::new(Call {
                to: self.provider.clone(),
                marks: self.marks.clone(),
            }));
        let client = Client::new(credentials, PROVIDER_URL, options)?;
        let account = PolledAccount::new(AccountId::parse(ACCOUNT)?)
            .every(Duration::from_secs(60))
            .max_entries(MaxEntries::new(3).ok_or("expected a number of entries")?);
        let prepared = Arc::new(Mutex::new(Vec::new()));
        let own = Arc::clone(&prepared);
        let import = move |new: NewEntries| {
            let names: Vec<String> = new
                .entries
                .iter()
                .map(|one| {
                    let reference = one.entry.references().next();
                    reference.map_or_else(String::new, |(_, text)| text.to_owned())
                })
                .collect();
            lock(&own).push(names.clone());
            async move { Ok::<_, Failure>(E::imported(names)) }
        };
        let poller = Poller::transactional(
            client.statements(),
            self.biller.seen(),
            [account],
            import,
            PollerOptions::new(),
        );
        poller.run_due().await;
        let status = poller.status();
        if !status.iter().all(|account| account.last_poll.is_some()) {
            return Err(format!("the poll failed: {status:?}").into());
        }
        for name in lock(&prepared).drain(..).flatten() {
            self.marks.put(format_args!("imported {name}"));
        }
        self.marks.put(format_args!("walked E{entries}"));
        Ok(())
    }
}

async fn is_delivered(outbox: &dyn OutboxStore, id: EntryId) -> Result<bool, Failure> {
    let summary = outbox.summary(id).await?;
    Ok(summary.is_some_and(|entry| entry.state == OutboxState::Delivered))
}

fn wide() -> Result<Policy, Failure> {
    let window = Window::per_hour(1_000_000)?;
    Ok(Policy::new(
        Algorithm::Sliding,
        Counting::Attempts,
        &[window],
    )?)
}

fn lock<T>(value: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The way to the receivers. Marks each message that they have acknowledged.
#[derive(Debug)]
struct Way {
    to: Router,
    marks: Marks,
}

impl Transport for Way {
    fn post(&self, request: TransportRequest) -> TransportFuture<'_> {
        Box::pin(async move {
            let id = request.headers.get("x-message-id").cloned();
            let path = request.url.path().to_owned();
            let answer = call(&self.to, &path, request.headers, request.body).await;
            let (head, body) = answer.map_err(|_| TransportErrorKind::Broken)?.into_parts();
            if let (true, Some(Ok(id))) =
                (head.status.is_success(), id.as_ref().map(|id| id.to_str()))
            {
                self.marks.put(format_args!("acknowledged {id}"));
            }
            Ok(TransportResponse::new(head.status, head.headers, body))
        })
    }
}

/// The way to the provider. Marks each call that it has answered.
#[derive(Debug)]
struct Call {
    to: Router,
    marks: Marks,
}

impl Network for Call {
    fn send(&self, request: Request<Bytes>) -> Sending<'_> {
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let answer = call(&self.to, head.uri.path(), head.headers, body).await;
            let answer = answer.map_err(std::io::Error::other)?;
            if answer.status().is_success() {
                let key = answer.headers().get("x-requestkey");
                let key = key.and_then(|key| key.to_str().ok()).unwrap_or_default();
                self.marks.put(format_args!("answered {key}"));
            }
            Ok(answer)
        })
    }
}

async fn call(
    to: &Router,
    path: &str,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response<Bytes>, axum::Error> {
    let mut request = Request::new(Body::from(body));
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = path.parse().map_err(axum::Error::new)?;
    *request.headers_mut() = headers;
    let answer = to
        .clone()
        .oneshot(request)
        .await
        .map_err(axum::Error::new)?;
    let (head, body) = answer.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await?;
    Ok(Response::from_parts(head, body))
}

#[derive(Debug)]
struct OneCustomer(Arc<Customer>);

impl Directory for OneCustomer {
    fn customer_by_api_key(&self, key: ApiKeyHash) -> StoreFuture<'_, Option<Arc<Customer>>> {
        let found = (key == ApiKeyHash::of(CUSTOMER_KEY.as_bytes())).then(|| Arc::clone(&self.0));
        Box::pin(async move { Ok(found) })
    }
}

/// Entries from number 1 up to the one that is stored here.
#[derive(Debug)]
struct Books(Arc<Mutex<u32>>);

impl Ledger for Books {
    fn statement<'a>(&'a self, query: &'a StatementQuery) -> StoreFuture<'a, LedgerAnswer> {
        let last = *lock(&self.0);
        // Entries of earlier runs are not listed any more.
        let oldest = u64::from(last.saturating_sub(10 * ENTRIES)) + 1;
        let after = query.position.as_ref().and_then(PagePosition::as_number);
        let from = after.map_or(oldest, |after| after + 1);
        let last = u64::from(last);
        let until = last.min(from + u64::from(query.max_entries.get()) - 1);
        let day = query.day;
        let entries: Vec<LedgerEntry> = (from..=until)
            .map(|number| {
                let cents = i64::try_from(number).unwrap_or(i64::MAX);
                let amount = Money::new(Decimal::new(cents, 2), Currency::AUD);
                let entry = EntryBuilder::new(amount, day)
                    .servicer_reference(&format!("E{number}"))
                    .build()
                    .expect("an entry");
                LedgerEntry::new(entry, EntryChannel::Ordinary)
            })
            .collect();
        let facts = RegisteredAccount::new(Currency::AUD);
        let page = LedgerPage::new(facts, Decimal::new(1, 2), day).with_entries(entries);
        let answer = if until < last {
            page.with_next(PagePosition::from_number(until)).into()
        } else {
            page.into()
        };
        Box::pin(async move { Ok(answer) })
    }
}
