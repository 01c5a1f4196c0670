//! The RSA keys of the fake bank and its customers.

use bankrail_jose::{DecryptionKey, EncryptionKey, RsaSize, SigningKey, VerifyingKey};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The keys that every bank of a process starts with: making them takes longer than a test.
struct FirstKeys {
    assertion: SigningKey,
    signing: SigningKey,
    decryption: DecryptionKey,
}

fn first() -> &'static FirstKeys {
    static FIRST: OnceLock<FirstKeys> = OnceLock::new();
    FIRST.get_or_init(|| FirstKeys {
        assertion: signing_key(),
        signing: signing_key(),
        decryption: decryption_key(),
    })
}

/// Returns a new key for assertions or for webhook bodies.
pub(crate) fn signing_key() -> SigningKey {
    SigningKey::generate(RsaSize::Rsa2048).expect("the back end makes keys of 2048 bits")
}

fn decryption_key() -> DecryptionKey {
    DecryptionKey::generate(RsaSize::Rsa2048).expect("the back end makes keys of 2048 bits")
}

/// Returns the key of the first customer's assertions.
pub(crate) fn first_assertion_key() -> SigningKey {
    first().assertion.clone()
}

/// The keys of webhook bodies, the oldest first.
#[derive(Debug)]
pub(crate) struct WebhookKeys(Mutex<KeyHistory>);

#[derive(Debug)]
struct KeyHistory {
    signing: Vec<SigningKey>,
    decryption: Vec<DecryptionKey>,
}

impl WebhookKeys {
    pub(crate) fn new() -> Self {
        let signing = vec![first().signing.clone().with_kid("bank-1")];
        let decryption = vec![first().decryption.clone().with_kid("customer-1")];
        Self(Mutex::new(KeyHistory {
            signing,
            decryption,
        }))
    }

    /// Adds a signing key of the bank and returns it.
    pub(crate) fn add_signing(&self) -> SigningKey {
        // Generates the key before the lock is taken, because it takes longer than any use of the
        // keys.
        let key = signing_key();
        let mut keys = self.lock();
        let key = key.with_kid(format!("bank-{}", keys.signing.len() + 1));
        keys.signing.push(key.clone());
        key
    }

    /// Adds a decryption key of the customer and returns its public half.
    pub(crate) fn add_encryption(&self) -> EncryptionKey {
        let key = decryption_key();
        let mut keys = self.lock();
        let key = key.with_kid(format!("customer-{}", keys.decryption.len() + 1));
        keys.decryption.push(key.clone());
        key.encryption_key()
    }

    /// Returns the keys in use: those that were added last.
    pub(crate) fn current(&self) -> (SigningKey, EncryptionKey) {
        let keys = self.lock();
        let signing = keys.signing.last().expect("there is a first key");
        let decryption = keys.decryption.last().expect("there is a first key");
        (signing.clone(), decryption.encryption_key())
    }

    pub(crate) fn verifying(&self) -> Vec<VerifyingKey> {
        let keys = self.lock();
        keys.signing.iter().map(SigningKey::verifying_key).collect()
    }

    pub(crate) fn decryption(&self) -> Vec<DecryptionKey> {
        self.lock().decryption.clone()
    }

    fn lock(&self) -> MutexGuard<'_, KeyHistory> {
        // A key is pushed whole or not at all, so a panic elsewhere leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
