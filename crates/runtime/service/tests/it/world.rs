//! A provider with two customers and a few accounts. A test can make each part fail.

use axum::Router;
use axum::body::Body;
use bankrail_camt052::{
    Amount, BankTransactionCode, BankTransactionDomain, BankTransactionFamily, CounterpartyAccount,
    DateOrDateTime, Direction, Entry, EntryDetails, EntryStatus, OtherAccountId, Party, Remittance,
    Transaction, TransactionParties,
};
use bankrail_client_assertion::token::{
    AccessToken, ScopeSet, TokenGrant, TokenHash, TokenRequest, TokenStore, names,
};
use bankrail_client_assertion::{
    AssertionBuilder, AssertionOptions, Audience, CustomerCode, JwtId, ReplayKey, ReplayStore,
    Verifier, VerifierOptions,
};
use bankrail_jose::{KeySet, RsaSize, SigningKey};
use bankrail_service::{
    ApiKeyHash, CursorSecret, Customer, Directory, Ledger, LedgerAnswer, LedgerEntry, LedgerPage,
    Provider, ProviderOptions, ProviderOptionsError, RegisteredAccount, StatementQuery,
};
use bankrail_statement::{EntryChannel, PagePosition, SortOrder};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::{
    Clock, Currency, Decimal, ManualClock, StoreError, StoreErrorKind, StoreFuture, Timestamp,
};
use futures_util::{StreamExt as _, stream};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt as _;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use tower::ServiceExt as _;

pub(crate) const AUDIENCE: &str = "https://auth.example/v1.0/auth";
pub(crate) const API_KEY: &str = "key-of-acme";
pub(crate) const OTHER_KEY: &str = "key-of-beta";
pub(crate) const FORM: &str = "application/x-www-form-urlencoded";
pub(crate) const SCOPES: &str = "AU.INSTO.PAYTO.MANDATE.READ GBL.INSTO.ACCOUNTS.STATEMENT.READ";

/// The body of the token endpoint's 429.
pub(crate) const LIMITED: &str =
    r#"{"error":"temporarily_unavailable","error_description":"Rate limit exceeded"}"#;

/// Returns the two customers' keys, made once.
pub(crate) fn keys() -> &'static [SigningKey; 2] {
    static KEYS: OnceLock<[SigningKey; 2]> = OnceLock::new();
    KEYS.get_or_init(|| [(); 2].map(|()| SigningKey::generate(RsaSize::Rsa2048).unwrap()))
}

/// A kind of failure of one part of the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Fails = 1,
    Panics = 2,
}

/// A mark in every text that must not get into a log.
pub(crate) const MARK: &str = "MARK4711";

/// Makes an error that quotes the [`MARK`], which no log may show.
pub(crate) fn failure() -> StoreError {
    StoreError::new(
        StoreErrorKind::Unavailable,
        format!("row ({MARK}, 313371337.77)"),
    )
}

#[derive(Debug, Default)]
pub(crate) struct Switch(AtomicU8);

impl Switch {
    pub(crate) fn set(&self, fault: Fault) {
        self.0.store(fault as u8, Ordering::SeqCst);
    }

    fn act(&self) -> Result<(), StoreError> {
        match self.0.load(Ordering::SeqCst) {
            1 => Err(failure()),
            2 => panic!("told to"),
            _ => Ok(()),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Book {
    customers: HashMap<ApiKeyHash, Arc<Customer>>,
    pub(crate) fault: Switch,
}

impl Directory for Book {
    fn customer_by_api_key(&self, key: ApiKeyHash) -> StoreFuture<'_, Option<Arc<Customer>>> {
        Box::pin(async move {
            self.fault.act()?;
            Ok(self.customers.get(&key).cloned())
        })
    }
}

#[derive(Debug)]
struct Held {
    facts: RegisteredAccount,
    balance: Decimal,
    entries: Vec<LedgerEntry>,
}

/// A ledger of accounts by customer and identifier. Positions count entries, which suffices for
/// entries that never change.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    held: HashMap<(String, String), Held>,
    pub(crate) fault: Switch,
    pub(crate) asked: AtomicUsize,
    /// The number of entries that a page has beyond the requested maximum.
    pub(crate) surplus: AtomicUsize,
    /// The number of entries by which a page falls short of the requested maximum.
    pub(crate) spared: AtomicUsize,
    /// Not 0 if the next position of a page is the page's own.
    pub(crate) stuck: AtomicUsize,
    /// The distance of a page's next position from the right one.
    pub(crate) far: AtomicUsize,
    /// Not 0 if pages have a next position but no entries.
    pub(crate) barren: AtomicUsize,
    /// The days of the queries.
    pub(crate) days: Mutex<Vec<String>>,
}

impl Ledger for Accounts {
    fn statement<'a>(&'a self, query: &'a StatementQuery) -> StoreFuture<'a, LedgerAnswer> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.fault.act()?;
            let key = (query.customer.to_string(), query.account.to_string());
            let Some(held) = self.held.get(&key) else {
                return Ok(LedgerAnswer::UnknownAccount);
            };
            self.days.lock().unwrap().push(query.day.to_string());
            let number = |position: &PagePosition| {
                position
                    .as_number()
                    .map_or(usize::MAX, |number| number as usize)
            };
            let from = query.position.as_ref().map_or(0, number);
            if from > held.entries.len() {
                return Ok(LedgerAnswer::UnknownPosition);
            }
            let most = usize::from(query.max_entries.get()) + self.surplus.load(Ordering::SeqCst)
                - self.spared.load(Ordering::SeqCst);
            let mut entries = held.entries.clone();
            if query.sort_order == SortOrder::Backward {
                entries.reverse();
            }
            let most = if self.barren.load(Ordering::SeqCst) == 0 {
                most
            } else {
                0
            };
            let page = entries
                .iter()
                .skip(from)
                .take(most)
                .cloned()
                .collect::<Vec<_>>();
            let to = from
                + if self.stuck.load(Ordering::SeqCst) == 0 {
                    page.len()
                } else {
                    0
                };
            // A wrong position, if the test asks for one.
            let to = to + self.far.load(Ordering::SeqCst) + self.barren.load(Ordering::SeqCst);
            let more = from + page.len() < entries.len();
            let page =
                LedgerPage::new(held.facts.clone(), held.balance, query.day).with_entries(page);
            Ok(if more {
                page.with_next(PagePosition::from_number(to as u64))
            } else {
                page
            }
            .into())
        })
    }
}

/// Stores that can be made to fail.
#[derive(Debug, Default)]
pub(crate) struct Stores {
    pub(crate) memory: MemoryStore,
    pub(crate) tokens: Switch,
    pub(crate) replay: Switch,
    pub(crate) issued: AtomicUsize,
}

impl TokenStore for Stores {
    fn grant_once(
        &self,
        claim: Option<ReplayKey>,
        hash: TokenHash,
        grant: TokenGrant,
    ) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            if let Some(key) = claim {
                self.replay.act()?;
                if !self.memory.claim(key, grant.issued_at).await? {
                    return Ok(false);
                }
            }
            self.tokens.act()?;
            self.issued.fetch_add(1, Ordering::SeqCst);
            self.memory.grant_once(None, hash, grant).await
        })
    }

    fn find(&self, hash: TokenHash, now: Timestamp) -> StoreFuture<'_, Option<TokenGrant>> {
        Box::pin(async move {
            self.tokens.act()?;
            self.memory.find(hash, now).await
        })
    }

    fn revoke(&self, hash: TokenHash) -> StoreFuture<'_, bool> {
        self.memory.revoke(hash)
    }
}

pub(crate) struct World {
    pub(crate) router: Router,
    pub(crate) provider: Provider,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) book: Arc<Book>,
    pub(crate) ledger: Arc<Accounts>,
    pub(crate) stores: Arc<Stores>,
}

/// An answer with its whole body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    pub(crate) json: serde_json::Value,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// Checks the shape of the specification's error body, and returns its `statusCode`.
    pub(crate) fn error_code(&self) -> &str {
        assert_eq!(self.json.as_object().unwrap().len(), 2, "{}", self.text);
        assert_eq!(
            self.json["error"].as_object().unwrap().len(),
            2,
            "{}",
            self.text
        );
        assert_eq!(
            self.json["requestKey"].as_str().unwrap(),
            self.header("x-requestkey")
        );
        assert!(!self.json["error"]["title"].as_str().unwrap().is_empty());
        self.json["error"]["statusCode"].as_str().unwrap()
    }

    /// Reads the document in the payload strictly.
    pub(crate) fn document(&self) -> bankrail_camt052::Document {
        let parsed =
            bankrail_camt052::Document::parse(self.json["payload"].as_str().unwrap()).unwrap();
        assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
        parsed.document
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|options| options)
    }

    pub(crate) fn with(change: impl FnOnce(ProviderOptions) -> ProviderOptions) -> Self {
        let clock = Arc::new(ManualClock::new(
            "2021-07-29T01:00:00.000Z".parse().unwrap(),
        ));
        let [acme, beta] = keys();
        let mut book = Book::default();
        for (api_key, code, key, scopes) in [
            (API_KEY, "ACME", acme, SCOPES),
            (OTHER_KEY, "BETA", beta, names::STATEMENT_READ),
        ] {
            let keys = KeySet::new([key.verifying_key()]).unwrap();
            let customer = Customer::new(code.parse().unwrap(), keys, scopes.parse().unwrap());
            book.customers
                .insert(ApiKeyHash::of(api_key.as_bytes()), Arc::new(customer));
        }
        let (book, ledger, stores) = (
            Arc::new(book),
            Arc::new(accounts()),
            Arc::new(Stores::default()),
        );
        let options = ProviderOptions::new()
            .clock(Arc::clone(&clock) as Arc<dyn Clock>)
            .cursor_secret(CursorSecret::from_bytes([9; 32]));
        let provider = provider(&book, &ledger, &stores, change(options)).unwrap();
        Self {
            router: provider.router(),
            provider,
            clock,
            book,
            ledger,
            stores,
        }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        send(self.router.clone(), request).await
    }

    /// Makes a new assertion of a customer.
    pub(crate) fn assertion(&self, customer: &str, key: &SigningKey) -> String {
        AssertionBuilder::new(
            CustomerCode::parse(customer).unwrap(),
            Audience::parse(AUDIENCE).unwrap(),
            AssertionOptions::new().jwt_id(JwtId::Random),
        )
        .sign(key, self.clock.now())
        .unwrap()
    }

    pub(crate) fn form(&self, scope: &str) -> String {
        let scope: ScopeSet = scope.parse().unwrap();
        TokenRequest::new(self.assertion("ACME", &keys()[0]), scope).to_form()
    }

    /// Inserts a token of a customer directly into the store, and returns it.
    pub(crate) async fn token(&self, customer: &str, scope: &str) -> String {
        let token = AccessToken::generate().unwrap();
        let now = self.clock.now();
        let expires = now.saturating_add(std::time::Duration::from_secs(3600));
        let grant = TokenGrant::new(
            customer.parse().unwrap(),
            scope.parse().unwrap(),
            now,
            expires,
        );
        self.stores
            .memory
            .insert(token.hash(), grant)
            .await
            .unwrap();
        token.expose_secret().to_owned()
    }

    /// Sends a statement request of ACME with a valid token.
    pub(crate) async fn statement(&self, body: &str) -> Answer {
        let token = self.token("ACME", names::STATEMENT_READ).await;
        self.send(statement_request(API_KEY, &token, body.to_owned()))
            .await
    }
}

pub(crate) fn provider<S: TokenStore + 'static>(
    book: &Arc<Book>,
    ledger: &Arc<Accounts>,
    stores: &Arc<S>,
    options: ProviderOptions,
) -> Result<Provider, ProviderOptionsError> {
    let verifier = Verifier::new(Audience::parse(AUDIENCE).unwrap(), VerifierOptions::new());
    Provider::new(
        Arc::clone(book) as Arc<dyn Directory>,
        Arc::clone(ledger) as Arc<dyn Ledger>,
        Arc::clone(stores) as Arc<dyn TokenStore>,
        verifier,
        options,
    )
}

pub(crate) async fn send(router: Router, request: Request<Body>) -> Answer {
    let response = router.oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    // The answer to HEAD has the length of a body that is not sent.
    if let Some(length) = parts
        .headers
        .get("content-length")
        .filter(|_| !body.is_empty())
    {
        assert_eq!(length.to_str().unwrap(), body.len().to_string());
    }
    let text = String::from_utf8(body.to_vec()).unwrap();
    let json = serde_json::from_str(&text).unwrap_or(serde_json::Value::Null);
    Answer {
        status: parts.status,
        headers: parts.headers,
        text,
        json,
    }
}

pub(crate) fn token_request(api_key: &str, form: impl Into<Body>) -> Request<Body> {
    Request::post("/v1.0/auth")
        .header("apikey", api_key)
        .header("content-type", FORM)
        .body(form.into())
        .unwrap()
}

pub(crate) fn statement_request(
    api_key: &str,
    token: &str,
    body: impl Into<Body>,
) -> Request<Body> {
    Request::post("/accounts/v2.0/statement")
        .header("apikey", api_key)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .body(body.into())
        .unwrap()
}

/// Makes a body in two pieces. `between` runs when the first piece has been read, before the second
/// arrives.
pub(crate) fn body_with_pause(
    text: &str,
    between: impl Future<Output = ()> + Send + 'static,
) -> Body {
    let (first, second) = text.split_at(text.len() / 2);
    let (first, second) = (first.to_owned(), second.to_owned());
    let second = stream::once(async move {
        between.await;
        Ok::<_, std::io::Error>(second)
    });
    Body::from_stream(stream::iter([Ok(first)]).chain(second))
}

pub(crate) const NARRATIVE: &str = "Rent <July> & \"more\" \\ 👍";

/// Returns the accounts. ACME has 1 with five entries, 2 without, 3 and 6 with virtual accounts, 4
/// in a currency without decimals, 5 with an entry in a foreign one, one with the longest
/// identifier, and CUR.AUD and so on in one currency each. BETA has another 1, and 9.
fn accounts() -> Accounts {
    let mut accounts = Accounts::default();
    let mut hold = |customer: &str,
                    account: &str,
                    facts: RegisteredAccount,
                    balance: &str,
                    entries: Vec<LedgerEntry>| {
        let held = Held {
            facts,
            balance: balance.parse().unwrap(),
            entries,
        };
        accounts
            .held
            .insert((customer.to_owned(), account.to_owned()), held);
    };
    let aud = RegisteredAccount::new(Currency::AUD);
    let five = [
        ("10.00", Direction::Credit, EntryChannel::FastPayment),
        ("2.50", Direction::Debit, EntryChannel::Ordinary),
        ("0.05", Direction::Credit, EntryChannel::Ordinary),
        ("7.00", Direction::Debit, EntryChannel::FastPayment),
        ("1.00", Direction::Credit, EntryChannel::FastPayment),
    ];
    let entries = |currency| {
        five.clone()
            .map(|(amount, direction, channel)| entry(amount, currency, direction, channel))
    };
    hold(
        "ACME",
        "1",
        aud.clone().with_name("Operating"),
        "124531337.5",
        entries(Currency::AUD).into(),
    );
    hold("ACME", "2", aud.clone(), "-3", Vec::new());
    hold(
        "ACME",
        "3",
        aud.clone().with_virtual_accounts(),
        "0",
        vec![virtual_entry()],
    );
    let dong = entry(
        "1500",
        Currency::VND,
        Direction::Debit,
        EntryChannel::Ordinary,
    );
    hold(
        "ACME",
        "4",
        RegisteredAccount::new(Currency::VND),
        "7",
        vec![dong],
    );
    let wrong = entry(
        "1.00",
        Currency::USD,
        Direction::Credit,
        EntryChannel::Ordinary,
    );
    hold("ACME", "5", aud.clone(), "7", vec![wrong]);
    // One account in each currency of the specification's test accounts.
    for (currency, amount) in [
        ("AUD", "10.00"),
        ("USD", "10.00"),
        ("SBD", "10.00"),
        ("HKD", "10.00"),
        ("SGD", "10.00"),
        ("INR", "10.00"),
        ("PGK", "10.00"),
        ("VND", "10"),
    ] {
        let currency: Currency = currency.parse().unwrap();
        let one = entry(amount, currency, Direction::Credit, EntryChannel::Ordinary);
        hold(
            "ACME",
            &format!("CUR.{currency}"),
            RegisteredAccount::new(currency),
            amount,
            vec![one],
        );
    }
    hold(
        "ACME",
        "6",
        aud.clone().with_virtual_accounts(),
        "0",
        entries(Currency::AUD).into(),
    );
    hold("ACME", &"9".repeat(34), aud.clone(), "1", Vec::new());
    for (account, name, amount) in [
        (
            "MARK4711LONG",
            format!("{MARK}{}", "x".repeat(200)),
            "313371337.77",
        ),
        ("MARK4711CHARACTER", format!("{MARK}\u{1}"), "313371337.77"),
    ] {
        let mut bad = entry(
            amount,
            Currency::AUD,
            Direction::Credit,
            EntryChannel::Ordinary,
        );
        let transaction = &mut bad.entry.details[0].transactions[0];
        transaction.parties.as_mut().unwrap().debtor = Some(Box::new(party(&name).into()));
        hold("ACME", account, aud.clone(), "313371337.77", vec![bad]);
    }
    hold(
        "ACME",
        "MARK4711DIGITS",
        aud.clone(),
        "31337133731337133731.77",
        Vec::new(),
    );
    let foreign = entry(
        "313371337.77",
        Currency::USD,
        Direction::Credit,
        EntryChannel::Ordinary,
    );
    hold(
        "ACME",
        "MARK4711CURRENCY",
        aud.clone(),
        "313371337.77",
        vec![foreign],
    );
    hold(
        "ACME",
        "MARK4711NAME",
        aud.clone().with_name(format!("{MARK}{}", "x".repeat(80))),
        "313371337.77",
        Vec::new(),
    );
    hold("BETA", "1", aud.clone(), "99", Vec::new());
    hold("BETA", "9", aud, "99", Vec::new());
    accounts
}

fn entry(
    amount: &str,
    currency: Currency,
    direction: Direction,
    channel: EntryChannel,
) -> LedgerEntry {
    let amount: Amount = Amount::new(amount.parse().unwrap(), currency).unwrap();
    let mut transaction = Transaction::with_amount(amount.clone(), direction.clone());
    let mut parties = TransactionParties::new();
    parties.debtor = Some(Box::new(party("A. Payer").into()));
    transaction.parties = Some(Box::new(parties));
    let mut remittance = Remittance::new();
    remittance.unstructured.push(NARRATIVE.into());
    transaction.remittance = Some(remittance);
    let mut details = EntryDetails::new();
    details.transactions.push(transaction);
    let mut code = BankTransactionCode::new();
    code.domain = Some(BankTransactionDomain::new(
        "PMNT".into(),
        BankTransactionFamily::new("RCDT".into(), "DMCT".into()),
    ));
    let mut entry = Entry::new(amount, direction, EntryStatus::BOOKED);
    entry.bank_transaction_code = Some(code);
    entry.booking_date = Some(DateOrDateTime::Date("2021-07-29".parse().unwrap()));
    entry.value_date = Some(DateOrDateTime::Date("2021-07-29".parse().unwrap()));
    entry.details.push(details);
    LedgerEntry::new(entry, channel)
}

fn virtual_entry() -> LedgerEntry {
    let mut made = entry(
        "5.00",
        Currency::AUD,
        Direction::Credit,
        EntryChannel::FastPayment,
    );
    let mut id = OtherAccountId::new("901234567".into());
    id.issuer = Some("012003".into());
    let account = CounterpartyAccount::new(bankrail_camt052::AccountIdentification::Other(id));
    let transaction = &mut made.entry.details[0].transactions[0];
    transaction.parties.as_mut().unwrap().creditor_account = Some(Box::new(account));
    made
}

fn party(name: &str) -> Party {
    let mut party = Party::new();
    party.name = Some(name.into());
    party
}
