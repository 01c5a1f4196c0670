//! A page over a provider's data, and a browser.

use crate::provider::Folders;
use crate::provider::control::FolderData;
use crate::provider::page::{PageData, router};
use bankrail::bank::{Booking, BookingKind, CustomerFolder, DirectoryFollower, SqliteLedger};
use bankrail::client_assertion::{Audience, Verifier, VerifierOptions};
use bankrail::http::serve::Server;
use bankrail::jose::{CurrentKey, RsaSize, SigningKey};
use bankrail::mailbox::{
    DeliveryNote, DeliveryRecord, Disposition, EndpointId, Intervention, Lease, LeaseOwner,
    LeaseRequest, OutboxEntry, OutboxStore,
};
use bankrail::rate_limit::{Limiter, Limits};
use bankrail::service::delivery::{
    Dispatcher, Transport, TransportError, TransportErrorKind, TransportFuture, TransportRequest,
};
use bankrail::stores::sqlite::SqliteStore;
use bankrail::values::{Clock as _, HyphenatedUuid, SystemClock, Timestamp};
use bankrail::webhook::samples;
use bankrail_emulator::{
    BankClock, Call, Calls, Control, ControlOptions, Emulator, EmulatorOptions, Endpoint, Engines,
};
use std::future::pending;
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// The token of the link.
pub(super) const TOKEN: &str = "token-of-the-link";
/// Secrets of the customers' files.
pub(super) const SECRETS: [&str; 2] = ["receiver-key-5170", TOKEN];
/// The SHA-256 of the customers' API keys in full.
pub(super) const HASHES: [&str; 2] = [
    "2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683",
    "3c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683",
];

static SIGNING: LazyLock<SigningKey> =
    LazyLock::new(|| SigningKey::generate(RsaSize::Rsa2048).unwrap());

const PUBLIC: &str = include_str!("public.pem");

pub(super) struct World {
    pub(super) address: SocketAddr,
    pub(super) calls: Calls,
    pub(super) outbox: Arc<dyn OutboxStore>,
    pub(super) dispatcher: Dispatcher,
    pub(super) ledger: SqliteLedger,
    pub(super) directory: Arc<CustomerFolder>,
    pub(super) folder: TempDir,
    pub(super) clock: Arc<BankClock>,
}

/// An answer to a browser.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Answer {
    async fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self {
            status,
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// Returns the value of a header; the name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .filter(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
            .next()
    }
}

impl World {
    /// Returns a provider with two customers, and nothing else.
    pub(super) async fn new() -> Self {
        Self::with_name("Operating account").await
    }

    /// Like [`World::new`]; the account of the first customer has this name.
    pub(super) async fn with_name(name: &str) -> Self {
        Self::made(name, false).await
    }

    /// Like [`World::new`], with a control.
    pub(super) async fn steered() -> Self {
        Self::made("Operating account", true).await
    }

    async fn made(name: &str, is_steered: bool) -> Self {
        let folder = TempDir::new().unwrap();
        let customers = folder.path().join("customers");
        std::fs::create_dir(&customers).unwrap();
        std::fs::write(customers.join("acme.toml"), acme(name)).unwrap();
        std::fs::write(customers.join("beta.toml"), beta()).unwrap();
        let directory = Arc::new(CustomerFolder::open(customers, Default::default()).unwrap());
        let store = SqliteStore::open_in_memory(Default::default()).unwrap();
        let ledger = SqliteLedger::new(store.clone());
        let outbox: Arc<dyn OutboxStore> = Arc::new(store.outbox());
        let clock = Arc::new(BankClock::new());
        let engines = Engines {
            directory: directory.clone(),
            ledger: Arc::new(ledger.clone()),
            tokens: Arc::new(store.clone()),
            outbox: outbox.clone(),
            transport: Arc::new(Nobody),
        };
        let verifier = Verifier::new(
            Audience::parse("https://127.0.0.1:18100").unwrap(),
            VerifierOptions::new(),
        );
        let options = EmulatorOptions::new()
            .clock(clock.clone())
            .journal(is_steered);
        let emulator = Arc::new(Emulator::new(engines, verifier, options).unwrap());
        let limiter = Arc::new(Limiter::new(Limits::new(), Arc::new(store)));
        let control = Control::new(
            emulator.clone(),
            clock.clone(),
            limiter,
            ControlOptions::new(),
        );
        let sealing = emulator.clone();
        let mut follower = DirectoryFollower::new()
            .accounts(Arc::new(ledger.clone()))
            .endpoints(emulator.endpoints().clone(), move |endpoint| {
                let signing = CurrentKey::new(SIGNING.clone());
                sealing.sealer(
                    Some("ACME".to_owned()),
                    signing,
                    endpoint.encryption_key().clone(),
                )
            });
        follower.apply(&directory.current()).await.unwrap();
        let calls = emulator.calls().clone();
        let dispatcher = emulator.dispatcher().clone();
        let data = PageData {
            bank: Arc::new(FolderData {
                folders: Folders::of(Some(&folder.path().join("my data")), None),
                ledger: ledger.clone(),
                directory: directory.clone(),
                signing: CurrentKey::new(SIGNING.clone()),
                clock: clock.clone(),
                emulator,
            }),
            outbox: outbox.clone(),
            control,
            has_buttons: is_steered,
            issuer: "https://127.0.0.1:18100".to_owned(),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(
            Server::without_tls(listener, router(data, TOKEN), Default::default()).run(pending()),
        );
        Self {
            address,
            calls,
            outbox,
            dispatcher,
            ledger,
            directory,
            folder,
            clock,
        }
    }

    /// Calls, entries and messages in every state, with this text wherever somebody else chooses
    /// one.
    pub(super) async fn fill(&self, text: &str) {
        for (status, reason) in [
            (200, None),
            (401, Some("the signature does not match any key")),
            (400, Some(text)),
        ] {
            let mut call = call();
            (call.status, call.reason) = (Some(status), reason.map(str::to_owned));
            call.path = format!("/accounts/{text}");
            call.customer = Some("ACME".to_owned());
            self.calls.record(call);
        }
        for (amount, day) in [("25.00 AUD", "2021-07-28"), ("12.50 AUD", "2021-07-29")] {
            let booking = Booking::new(
                BookingKind::FastPaymentIn,
                amount.parse().unwrap(),
                day.parse().unwrap(),
            )
            .counterparty(text)
            .narrative(text);
            self.ledger
                .book(&"999001400100101".parse().unwrap(), &booking)
                .await
                .unwrap();
        }
        let gone: EndpointId = format!("gone {}", text.chars().take(20).collect::<String>())
            .parse()
            .unwrap();
        for _ in 0..3 {
            self.enqueue("acme").await;
        }
        self.enqueue(gone.as_str()).await;
        let leased = self.lease(4).await;
        self.record(
            &leased[0],
            Some(503),
            Some(DeliveryNote::Refused),
            Disposition::DeadLetter,
        )
        .await;
        self.record(&leased[1], Some(200), None, Disposition::Delivered)
            .await;
        let later = SystemClock.now().saturating_add(Duration::from_secs(3600));
        self.record(
            &leased[2],
            None,
            Some(DeliveryNote::TimedOut),
            Disposition::RetryAt(later),
        )
        .await;
        let by = Intervention {
            by: "dispatcher".parse().unwrap(),
            reason: text.parse().unwrap(),
        };
        self.outbox
            .stop_endpoint(&gone, &by, SystemClock.now())
            .await
            .unwrap();
        let dropped = self.enqueue("acme").await;
        self.outbox
            .drop_entry(dropped, &by, SystemClock.now())
            .await
            .unwrap();
    }

    pub(super) async fn enqueue(&self, endpoint: &str) -> bankrail::mailbox::EntryId {
        let message = samples::all().into_iter().next().unwrap();
        let mut headers = samples::headers(message.kind());
        headers.message_id = HyphenatedUuid::random();
        let outgoing = message
            .outgoing(endpoint.parse().unwrap(), &headers)
            .unwrap();
        self.outbox
            .enqueue(&outgoing, SystemClock.now())
            .await
            .unwrap()
            .id()
    }

    pub(super) async fn lease(&self, most: u32) -> Vec<OutboxEntry> {
        let now = SystemClock.now();
        let lease = Lease {
            owner: OWNER,
            until: now.saturating_add(Duration::from_secs(600)),
        };
        let mut leased = self
            .outbox
            .lease(LeaseRequest::new(lease, most), now)
            .await
            .unwrap();
        leased.sort_by_key(|entry| entry.id);
        leased
    }

    pub(super) async fn record(
        &self,
        entry: &OutboxEntry,
        status: Option<u16>,
        note: Option<DeliveryNote>,
        next: Disposition,
    ) {
        let now = SystemClock.now();
        let delivery = DeliveryRecord {
            started_at: now,
            duration: Duration::from_millis(12),
            status,
            note,
        };
        assert!(
            self.outbox
                .record(entry.id, OWNER, &delivery, next, None, now)
                .await
                .unwrap()
        );
    }

    /// Gets a page as a browser that followed the link.
    pub(super) async fn get(&self, target: &str) -> Answer {
        let cookie = self.cookie().await;
        self.ask("GET", target, &[("Cookie", &cookie)]).await
    }

    /// Returns the body of an existing page.
    pub(super) async fn page(&self, target: &str) -> String {
        let answer = self.get(target).await;
        assert_eq!(answer.status, 200, "{target}: {}", answer.body);
        answer.body
    }

    /// Returns the cookie that the link gives.
    pub(super) async fn cookie(&self) -> String {
        let entered = self.ask("GET", &format!("/?token={TOKEN}"), &[]).await;
        let cookie = entered.header("set-cookie").unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// Sends a request with these headers, and those that every browser sends.
    pub(super) async fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)]) -> Answer {
        Answer::read(self.open(method, target, headers).await).await
    }

    /// Sends a form as the page's buttons do, with these headers.
    pub(super) async fn press(&self, form: &str, headers: &[(&str, &str)]) -> Answer {
        let length = form.len().to_string();
        let own = [
            ("Content-Type", "application/x-www-form-urlencoded"),
            ("Content-Length", &*length),
        ];
        let mut stream = self.open("POST", "/do", &[&own, headers].concat()).await;
        stream.write_all(form.as_bytes()).await.unwrap();
        Answer::read(stream).await
    }

    pub(super) async fn open(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
    ) -> TcpStream {
        let mut request = format!("{method} {target} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }
}

const OWNER: LeaseOwner = LeaseOwner::from_random_bytes([7; 16]);

/// Returns a call that was answered.
pub(in crate::provider::page) fn call() -> Call {
    let mut call = Call::new(
        Endpoint::Statement,
        Timestamp::parse("2021-07-29T01:02:03.450Z").unwrap(),
    );
    call.request_key = Some("f3b1c0de-1111-4222-8333-444455556666".parse().unwrap());
    (call.customer, call.status) = (Some("ACME".to_owned()), Some(200));
    (call.method, call.path) = ("POST".to_owned(), "/accounts/v2.0/statement".to_owned());
    call.took = Duration::from_millis(3);
    call
}

fn acme(name: &str) -> String {
    // A literal of TOML.
    let name = format!("{name:?}");
    let (hash, secret) = (HASHES[0], SECRETS[0]);
    format!(
        r#"code = "ACME"
scopes = ["GBL.INSTO.ACCOUNTS.STATEMENT.READ"]
keys = [{{ kid = "2026", pem = """{PUBLIC}""" }}]
api_keys = [{{ sha256 = "{hash}", expires = 2099-01-01T00:00:00Z }}]
limits = [{{ call_type = "statement", per_hour = 50 }}]

[[accounts]]
id = "999001400100101"
currency = "AUD"
name = {name}
virtual_accounts = true

[[endpoints]]
id = "acme"
url = "https://biller.example/hooks"
encryption_key = {{ kid = "e1", pem = """{PUBLIC}""" }}
api_key = {{ header = "x-key", value = "{secret}" }}
"#
    )
}

fn beta() -> String {
    let hash = HASHES[1];
    format!(
        r#"code = "BETA"
scopes = ["GBL.INSTO.ACCOUNTS.STATEMENT.READ"]
keys = [{{ pem = """{PUBLIC}""" }}]
api_keys = [{{ sha256 = "{hash}" }}]
accounts = [{{ id = "2", currency = "NZD" }}]
"#
    )
}

/// A transport that reaches no receiver.
#[derive(Debug)]
struct Nobody;

impl Transport for Nobody {
    fn post(&self, _: TransportRequest) -> TransportFuture<'_> {
        Box::pin(async {
            Err(TransportError::new(
                TransportErrorKind::Connect,
                "nobody is there",
            ))
        })
    }
}
