//! The RSA keys of the fake bank and its customers.

use bankrail_jose::{DecryptionKey, EncryptionKey, RsaSize, SigningKey, VerifyingKey};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The keys that every bank of a process starts with: making them takes longer than a test.
struct First {
    assertion: SigningKey,
    signing: SigningKey,
    decryption: DecryptionKey,
}

fn first() -> &'static First {
    static FIRST: OnceLock<First> = OnceLock::new();
    FIRST.get_or_init(|| First {
        assertion: signing_key(),
        signing: signing_key(),
        decryption: decryption_key(),
    })
}

/// A new key for assertions or for webhook bodies.
pub(crate) fn signing_key() -> SigningKey {
    SigningKey::generate(RsaSize::Rsa2048).expect("the back end makes keys of 2048 bits")
}

fn decryption_key() -> DecryptionKey {
    DecryptionKey::generate(RsaSize::Rsa2048).expect("the back end makes keys of 2048 bits")
}

/// The key of the first customer's assertions.
pub(crate) fn first_assertion_key() -> SigningKey {
    first().assertion.clone()
}

/// The keys of webhook bodies, the oldest first.
#[derive(Debug)]
pub(crate) struct WebhookKeys(Mutex<Held>);

#[derive(Debug)]
struct Held {
    signing: Vec<SigningKey>,
    decryption: Vec<DecryptionKey>,
}

impl WebhookKeys {
    pub(crate) fn new() -> Self {
        let signing = vec![first().signing.clone().with_kid("bank-1")];
        let decryption = vec![first().decryption.clone().with_kid("customer-1")];
        Self(Mutex::new(Held {
            signing,
            decryption,
        }))
    }

    /// Adds a signing key of the bank and returns it.
    pub(crate) fn add_signing(&self) -> SigningKey {
        // Made before the lock is taken, because it takes longer than any use of the keys.
        let key = signing_key();
        let mut held = self.held();
        let key = key.with_kid(format!("bank-{}", held.signing.len() + 1));
        held.signing.push(key.clone());
        key
    }

    /// Adds a decryption key of the customer and returns its public half.
    pub(crate) fn add_encryption(&self) -> EncryptionKey {
        let key = decryption_key();
        let mut held = self.held();
        let key = key.with_kid(format!("customer-{}", held.decryption.len() + 1));
        held.decryption.push(key.clone());
        key.encryption_key()
    }

    /// The keys in use: those that were added last.
    pub(crate) fn current(&self) -> (SigningKey, EncryptionKey) {
        let held = self.held();
        let signing = held.signing.last().expect("there is a first key");
        let decryption = held.decryption.last().expect("there is a first key");
        (signing.clone(), decryption.encryption_key())
    }

    pub(crate) fn verifying(&self) -> Vec<VerifyingKey> {
        let held = self.held();
        held.signing.iter().map(SigningKey::verifying_key).collect()
    }

    pub(crate) fn decryption(&self) -> Vec<DecryptionKey> {
        self.held().decryption.clone()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // A key is pushed whole or not at all, so a panic elsewhere leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
