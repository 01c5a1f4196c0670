//! The fake bank: its customers, accounts and endpoints.

mod deliveries;

use crate::booking::{FakeBooking, FakeEntryId};
use crate::call::{Call, Endpoint};
use crate::directory::FakeDirectory;
use crate::emulator::{Emulator, EmulatorOptions, Engines};
use crate::fault::Fault;
use crate::front::KeptParts;
use crate::ids::Ids;
use crate::keys::{self, WebhookKeys};
use crate::ledger::FakeLedger;
use crate::listener::{Bound, OwnCertificate, Running};
use crate::options::FakeBankOptions;
use crate::story::{MandateStory, PaymentStory};
use crate::test_account::TestAccount;
use bankrail_client::{Client, ClientOptions, Credentials, Pacing, TlsRoots};
use bankrail_client_assertion::token::{ScopeSet, names};
use bankrail_client_assertion::{Audience, CustomerCode, Verifier, VerifierOptions};
use bankrail_http::names::{STATEMENT_PATH, TOKEN_PATH};
use bankrail_jose::{CurrentKey, EncryptionKey, KeySet, SigningKey};
use bankrail_mailbox::{DEFAULT_DELAYS, Schedule};
use bankrail_rate_limit::{Limiter, MemoryCounters};
use bankrail_service::delivery::{BreakerPolicy, DispatcherOptions};
use bankrail_service::{ApiKeyHash, CursorSecret, Customer, RegisteredAccount};
use bankrail_statement::AccountId;
use bankrail_stores::memory::MemoryStore;
use bankrail_values::{Clock as _, Currency, ManualClock, Timestamp};
use std::error::Error;
use std::sync::{Arc, Mutex};

/// The maximum number of calls that are kept; the oldest are dropped.
const MAX_CALLS: usize = 10_000;

/// A fake bank on loopback: the provider of `bankrail-service` over stores in memory, with a clock,
/// accounts and faults that a test controls.
///
/// - It starts with one customer ([`FakeBank::CUSTOMER`]) and one account in Australian dollars
///   ([`FakeBank::ACCOUNT`]) without entries.
/// - Its clock stands still until it is advanced. Limits, tokens and days follow it.
/// - Request keys, references and the identifiers in webhooks come from a seed and are the same in
///   each run. Keys, access tokens, message keys and report identifiers are random, like those of a
///   real provider.
/// - The value is cheap to clone, and clones are the same bank. Its servers end with the last
///   clone, or with the runtime.
///
/// A method with an impossible argument, such as an account that does not exist, panics with the
/// reason.
///
/// ```
/// use bankrail_emulator::{FakeBooking, FakeBank};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bank = FakeBank::start().await;
/// bank.book(&bank.account(), &FakeBooking::new("25.00 AUD").narrative("rent 👍"));
///
/// let statement = bank.client().statements().statement(&bank.account()).await?;
/// assert_eq!(statement.entries().next().unwrap().narrative(), "rent 👍");
/// assert_eq!(bank.calls(), ["token 200", "statement 999001400100101 200"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct FakeBank(Arc<Bank>);

#[derive(Debug)]
struct Bank {
    clock: Arc<ManualClock>,
    ids: Arc<Ids>,
    ledger: Arc<FakeLedger>,
    directory: Arc<FakeDirectory>,
    emulator: Emulator,
    webhooks: Webhooks,
    certificate: Option<OwnCertificate>,
    url: String,
    _server: Running,
}

impl FakeBank {
    /// The code of the first customer.
    pub const CUSTOMER: &'static str = "FAKECUSTOMER";
    /// The identifier of the first account.
    pub const ACCOUNT: &'static str = "999001400100101";
    /// The API key of the first customer.
    pub const API_KEY: &'static str = "fake-api-key-0b7c2f6e8a1d41eb8dcd0242ac130003";
    /// The API key that deliveries carry to receivers.
    pub const RECEIVER_API_KEY: &'static str = "fake-receiver-key-5d1c2f6e8a1d41eb8dcd0242ac130003";

    /// Starts a bank with the default options. The first bank of a process generates three RSA
    /// keys, which takes a moment.
    ///
    /// # Panics
    /// If loopback has no free port, or outside of a tokio runtime.
    pub async fn start() -> Self {
        Self::start_with(FakeBankOptions::new()).await
    }

    /// Starts a bank with these options.
    ///
    /// # Panics
    /// As [`FakeBank::start`], and if the options of the provider are unusable.
    pub async fn start_with(options: FakeBankOptions) -> Self {
        let clock = Arc::new(ManualClock::new(options.start));
        let ids = Arc::new(Ids::new(options.seed));
        let (ledger, directory) = (Arc::new(FakeLedger::new()), Arc::new(FakeDirectory::new()));
        let store = MemoryStore::new();
        // Binds the port first, because the audience of assertions contains the address.
        let bound = Bound::any_port().await;
        let certificate = (!options.plain_http).then(OwnCertificate::generate);
        let url = bound.url(certificate.as_ref());
        let audience =
            Audience::parse(&format!("{url}{TOKEN_PATH}")).expect("an address is an audience");
        let engines = Engines {
            directory: directory.clone(),
            ledger: ledger.clone(),
            tokens: Arc::new(store.clone()),
            outbox: Arc::new(store.outbox()),
            transport: Arc::new(deliveries::transport(certificate.as_ref())),
        };
        let provider = options
            .provider
            .limiter(Arc::new(Limiter::new(
                options.limits,
                Arc::new(MemoryCounters::default()),
            )))
            .cursor_secret(CursorSecret::from_bytes([7; 32]))
            .base_path("")
            .token_path(TOKEN_PATH)
            .statement_path(STATEMENT_PATH);
        let mut emulated = EmulatorOptions::new()
            .clock(clock.clone())
            .provider(provider)
            .dispatcher(dispatcher_options())
            .faults(options.faults)
            .seed(options.seed)
            .calls(MAX_CALLS);
        (emulated.journal, emulated.ids) = (KeptParts::Requests, Some(ids.clone()));
        let emulator = Emulator::new(
            engines,
            Verifier::new(audience, VerifierOptions::new()),
            emulated,
        );
        let emulator = emulator.unwrap_or_else(|error| panic!("the fake bank: {}", source(&error)));
        let _server = bound.serve(emulator.router(), certificate.as_ref());
        let bank = Bank {
            clock,
            ids,
            ledger,
            directory,
            emulator,
            webhooks: Webhooks::new(),
            certificate,
            url,
            _server,
        };
        let bank = Self(Arc::new(bank));
        bank.insert_customer(
            &code(Self::CUSTOMER),
            Self::API_KEY,
            &keys::first_assertion_key(),
        );
        bank.open_account(&bank.account(), Currency::AUD);
        bank
    }

    /// Returns the base address of both endpoints.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// Returns the certificate authorities that a client of this bank trusts: the bank's own, or
    /// the system's with plain HTTP.
    #[must_use]
    pub fn roots(&self) -> TlsRoots {
        match &self.0.certificate {
            Some(certificate) => TlsRoots::OnlyPem(certificate.authority_pem.clone().into()),
            None => TlsRoots::Platform,
        }
    }

    /// Returns the bank's clock, which the customer's side can use as well:
    /// `bank.clock().advance(…)`.
    #[must_use]
    pub fn clock(&self) -> Arc<ManualClock> {
        Arc::clone(&self.0.clock)
    }

    /// Returns the bank's time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// Returns the credentials of the first customer.
    #[must_use]
    pub fn credentials(&self) -> Credentials {
        Credentials::new(
            code(Self::CUSTOMER),
            keys::first_assertion_key(),
            Self::API_KEY,
        )
    }

    /// Returns options for a client of this bank, with its certificate and clock. Calls that the
    /// limits do not allow yet fail at once ([`Pacing::Fail`]): waiting would not end while the
    /// clock stands still.
    #[must_use]
    pub fn client_options(&self) -> ClientOptions {
        let options = ClientOptions::new()
            .clock(self.clock())
            .pacing(Pacing::Fail);
        match self.0.certificate {
            Some(_) => options.tls_roots(self.roots()),
            None => options.danger_allow_http_on_loopback(true),
        }
    }

    /// Returns a client of the first customer.
    #[must_use]
    pub fn client(&self) -> Client {
        let client = Client::new(self.credentials(), self.url(), self.client_options());
        client.expect("the bank's own address and credentials are usable")
    }

    /// Registers another customer, with a new signing key, and its code as the API key. The
    /// customer may read statements and mandates.
    ///
    /// # Panics
    /// If the code is not a customer code.
    #[track_caller]
    #[must_use]
    pub fn add_customer(&self, customer: &str) -> Credentials {
        let (customer, key) = (code(customer), keys::signing_key());
        self.insert_customer(&customer, customer.as_str(), &key);
        Credentials::new(customer.clone(), key, customer.as_str())
    }

    fn insert_customer(&self, customer: &CustomerCode, api_key: &str, key: &SigningKey) {
        let scopes: ScopeSet = format!("{} {}", names::STATEMENT_READ, names::MANDATE_READ)
            .parse()
            .expect("the documented scope names are well formed");
        let keys = KeySet::new([key.verifying_key()]).expect("one key is a set");
        let customer = Customer::new(customer.clone(), keys, scopes);
        self.0
            .directory
            .insert(ApiKeyHash::of(api_key.as_bytes()), customer);
    }

    /// Returns the customers.
    #[must_use]
    pub fn directory(&self) -> &FakeDirectory {
        &self.0.directory
    }

    /// Returns the accounts.
    #[must_use]
    pub fn ledger(&self) -> &FakeLedger {
        &self.0.ledger
    }

    /// Returns the first account.
    #[must_use]
    pub fn account(&self) -> AccountId {
        AccountId::parse(Self::ACCOUNT).expect("a constant that is an account identifier")
    }

    /// Opens an account of the first customer in this currency. [`FakeLedger::open`] opens those of
    /// other customers and accounts with virtual accounts.
    pub fn open_account(&self, account: &AccountId, currency: Currency) {
        self.0.ledger.open(
            &code(Self::CUSTOMER),
            account,
            RegisteredAccount::new(currency),
        );
    }

    /// Opens the specification's test accounts for the first customer, each with its entries of
    /// today. Existing accounts with the same identifiers are replaced; [`FakeBank::ACCOUNT`] is
    /// the first of them.
    pub fn open_test_accounts(&self) {
        let (ledger, today) = (&self.0.ledger, self.0.emulator.today());
        for account in TestAccount::ALL {
            let id = account.id();
            ledger.open(&code(Self::CUSTOMER), &id, account.registered());
            ledger.set_opening_balance(&id, account.opening().amount());
            for booking in account.bookings(today) {
                ledger.book_entry(
                    &id,
                    booking.to_entry().expect("a test account has entries"),
                    today,
                );
            }
        }
    }

    /// Books an entry on an account, on the day of a report made now unless the booking names
    /// another day.
    ///
    /// # Panics
    /// If there is no such account, the booking is in another currency, or its amount does not fit
    /// an entry.
    #[track_caller]
    pub fn book(&self, account: &AccountId, booking: &FakeBooking) -> FakeEntryId {
        self.0
            .ledger
            .book(account, booking, self.0.emulator.today())
    }

    /// Replaces the content of a booked entry; see [`FakeLedger::correct`].
    ///
    /// # Panics
    /// If there is no such entry, the correction is in another currency, or its amount does not fit
    /// an entry.
    #[track_caller]
    pub fn correct(&self, booked: FakeEntryId, correction: &FakeBooking) {
        self.0.ledger.correct(booked, correction);
    }

    /// Orders a fault for the next call of an endpoint, or the next delivery, that has none yet.
    ///
    /// # Panics
    /// If a call of the endpoint cannot meet this fault.
    #[track_caller]
    pub fn fail(&self, endpoint: Endpoint, fault: Fault) {
        self.fail_nth(endpoint, 1, fault);
    }

    /// Orders a fault for the `nth` call of an endpoint from now on; 1 is the next.
    ///
    /// # Panics
    /// If `nth` is 0 or a call of the endpoint cannot meet this fault.
    #[track_caller]
    pub fn fail_nth(&self, endpoint: Endpoint, nth: u64, fault: Fault) {
        self.0.emulator.front.plan.nth(endpoint, nth, fault);
    }

    /// Returns the faults that no call has met yet. A test should leave none, because an unmet
    /// fault was not tested.
    #[must_use]
    pub fn faults_left(&self) -> Vec<(Endpoint, Fault)> {
        self.0.emulator.front.plan.left()
    }

    /// Forgets the faults that no call has met yet, and ends the repetitions of cursors.
    pub fn clear_faults(&self) {
        self.0.emulator.front.plan.clear();
        self.0.emulator.front.end_repetitions();
    }

    /// Returns the calls of the bank's endpoints since its start or [`FakeBank::forget_calls`],
    /// oldest first; the last 10,000.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        let mut calls = self.0.emulator.calls().newest();
        calls.retain(|call| call.endpoint != Endpoint::Webhook);
        calls.reverse();
        calls
    }

    /// Forgets the calls and the deliveries so far.
    pub fn forget_calls(&self) {
        self.0.emulator.calls().forget();
    }

    /// Returns a mandate whose life begins now; its messages have the times of the bank's clock.
    #[must_use]
    pub fn mandate(&self) -> MandateStory {
        MandateStory::new(self.0.ids.number(), self.clock())
    }

    /// Returns a payment instruction that was received now; its messages have the times of the
    /// bank's clock.
    #[must_use]
    pub fn payment(&self) -> PaymentStory {
        PaymentStory::new(self.0.ids.number(), self.clock())
    }
}

/// The keys of the bank's deliveries, and the servers of its receivers.
#[derive(Debug)]
struct Webhooks {
    keys: WebhookKeys,
    signing: CurrentKey<SigningKey>,
    encryption: CurrentKey<EncryptionKey>,
    served: Mutex<Vec<Running>>,
}

/// Returns options with which a dispatcher makes one delivery at a time, repeats deliveries on the
/// default schedule without jitter, and pauses a receiver only if the receiver asks for it.
pub(crate) fn dispatcher_options() -> DispatcherOptions {
    DispatcherOptions::new()
        // Makes one delivery at a time, so that a test sees them in one order.
        .per_endpoint(1)
        .schedule(Schedule::new(DEFAULT_DELAYS, 0))
        .breaker(BreakerPolicy::new().failures(u32::MAX))
}

#[track_caller]
fn code(text: &str) -> CustomerCode {
    CustomerCode::parse(text).unwrap_or_else(|error| panic!("a customer: {error}"))
}

/// Returns the deepest cause of an error.
fn source(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), source)
}
