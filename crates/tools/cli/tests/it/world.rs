//! A provider on loopback, and the folder of a customer that is connected to it.

use crate::{Folder, Run, run, text};
use bankrail::client::TlsRoots;
use bankrail::client_assertion::token::names;
use bankrail::jose::{DecryptionKey, KeySet, RsaSize, SigningKey};
use bankrail::service::{ApiKeyHash, Customer};
use bankrail::values::{Clock as _, SystemClock};
use bankrail_emulator::{FakeBank, FakeBankOptions};
use std::fs;
use std::sync::LazyLock;
use std::time::Duration;
use tokio::runtime::Runtime;

pub(crate) const API_KEY: &str = "the-api-key-of-the-tests";
pub(crate) const RECEIVER_KEY: &str = "the-receiver-key-of-the-tests";

/// RSA keys that all tests share, because generating them takes long.
pub(crate) struct Keys {
    pub(crate) customer: SigningKey,
    pub(crate) decryption: DecryptionKey,
    pub(crate) provider: SigningKey,
    /// A key that no provider and no customer knows.
    pub(crate) stranger: SigningKey,
}

pub(crate) static KEYS: LazyLock<Keys> = LazyLock::new(|| {
    let signing = || SigningKey::generate(RsaSize::Rsa2048).unwrap();
    let decryption = DecryptionKey::generate(RsaSize::Rsa2048).unwrap();
    Keys {
        customer: signing(),
        decryption,
        provider: signing(),
        stranger: signing(),
    }
});

/// The bank and the customer's folder. The bank's clock stands at the time of its start.
pub(crate) struct World {
    pub(crate) bank: FakeBank,
    pub(crate) folder: Folder,
    /// Serves the bank while a test waits for the program.
    pub(crate) runtime: Runtime,
}

impl World {
    pub(crate) fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let bank = runtime.block_on(FakeBank::start_with(
            FakeBankOptions::new().start(SystemClock.now()),
        ));
        let scopes = names::STATEMENT_READ.parse().unwrap();
        let keys = KeySet::new([KEYS.customer.verifying_key()]).unwrap();
        let customer = Customer::new(FakeBank::CUSTOMER.parse().unwrap(), keys, scopes);
        bank.directory()
            .insert(ApiKeyHash::of(API_KEY.as_bytes()), customer);

        let world = Self {
            bank,
            folder: Folder::new(),
            runtime,
        };
        let folder = &world.folder;
        let TlsRoots::OnlyPem(roots) = world.bank.roots() else {
            panic!("the bank has a certificate of its own")
        };
        folder.file("ca.pem", roots);
        folder.file("signing.pem", KEYS.customer.to_pkcs8_pem().as_bytes());
        folder.file("decryption.pem", KEYS.decryption.to_pkcs8_pem().as_bytes());
        folder.file(
            "provider.pub.pem",
            KEYS.provider.verifying_key().to_spki_pem(),
        );
        let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
        let certificate = rcgen::generate_simple_self_signed(names).unwrap();
        folder.file("receiver.pem", certificate.cert.pem());
        folder.file("receiver-key.pem", certificate.signing_key.serialize_pem());
        world.connect(&format!("accounts = [\"{}\"]", FakeBank::ACCOUNT));
        world
    }

    /// Writes the connection, with these further lines before its receivers.
    pub(crate) fn connect(&self, further: &str) {
        let (url, customer) = (self.bank.url(), FakeBank::CUSTOMER);
        let connection = format!(
            "base_url = \"{url}\"\ncustomer = \"{customer}\"\napi_key = \"{API_KEY}\"\nsigning_key = \"signing.pem\"\n\
             roots = \"ca.pem\"\n{further}\n\n[receivers]\nlisten = \"127.0.0.1:0\"\ncertificate = \"receiver.pem\"\n\
             certificate_key = \"receiver-key.pem\"\napi_key = \"{RECEIVER_KEY}\"\n\
             decryption_key = \"decryption.pem\"\nprovider_keys = \"provider.pub.pem\"\n"
        );
        self.folder.file("connection.toml", connection);
    }

    pub(crate) fn connection(&self) -> String {
        text(&self.folder.path("connection.toml"))
    }

    /// Replaces a part of the connection.
    pub(crate) fn replace(&self, from: &str, to: &str) {
        let before = fs::read_to_string(self.folder.path("connection.toml")).unwrap();
        assert!(before.contains(from), "{from}");
        self.folder
            .file("connection.toml", before.replace(from, to));
    }

    /// Runs a command with the connection, a second of the bank's time after the last one.
    pub(crate) fn run(&self, words: &[&str], further: &[&str]) -> Run {
        self.bank.clock().advance(Duration::from_secs(1));
        let connection = self.connection();
        let all = words
            .iter()
            .copied()
            .chain(["--connection", &connection])
            .chain(further.iter().copied());
        let run = run(all);
        for secret in [API_KEY, RECEIVER_KEY] {
            assert!(
                !run.out.contains(secret) && !run.err.contains(secret),
                "{}{}",
                run.out,
                run.err
            );
        }
        run
    }
}
