//! Remote decryption and signing keys.

use crate::shared::{DECRYPTION, Keys, SIGNING, backends, outsider};
use bankrail_jose::remote::{
    DecryptionOutcome, RemoteDecrypter, RemoteError, RemoteFuture, RemoteSigner, SignRequest,
};
use bankrail_jose::{
    DecryptionKey, EncryptionKey, KeyError, KeySet, RsaSize, SigningKey, VerifyingKey,
};
use bankrail_secured_payload::{
    OpenError, OpenErrorKind, OpenOptions, Opener, SealError, SealOptions, SealedMessage, Sealer,
};
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

#[derive(Debug)]
struct Service {
    signing: SigningKey,
    verifying: VerifyingKey,
    decryption: DecryptionKey,
    encryption: EncryptionKey,
    down: bool,
}

impl Service {
    fn new(keys: Keys, down: bool) -> Arc<Self> {
        let (verifying, encryption) = (keys.verifying(), keys.encryption());
        Arc::new(Self {
            signing: keys.signing,
            verifying,
            decryption: keys.decryption,
            encryption,
            down,
        })
    }
}

impl RemoteSigner for Service {
    fn verifying_key(&self) -> VerifyingKey {
        self.verifying.clone()
    }

    fn sign<'a>(&'a self, request: SignRequest<'a>) -> RemoteFuture<'a, Vec<u8>> {
        Box::pin(async move {
            if self.down {
                return Err(RemoteError::retryable("no connection"));
            }
            self.signing
                .sign(request.message())
                .map_err(RemoteError::permanent)
        })
    }
}

impl RemoteDecrypter for Service {
    fn encryption_key(&self) -> &EncryptionKey {
        &self.encryption
    }

    fn decrypt<'a>(&'a self, encrypted: &'a [u8]) -> RemoteFuture<'a, DecryptionOutcome> {
        Box::pin(async move {
            if self.down {
                return Err(RemoteError::retryable("no connection"));
            }
            Ok(self
                .decryption
                .decrypt(encrypted)
                .map_or(DecryptionOutcome::CannotDecrypt, DecryptionOutcome::Key))
        })
    }
}

/// Runs a future that is ready when first polled.
fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the future waits"),
    }
}

#[test]
fn remote_keys_seal_and_open() {
    for keys in backends() {
        let (local, verifying) = (keys.opener(), keys.verifying());
        let service = Service::new(keys, false);
        let compact = now(Sealer::new(
            Arc::clone(&service),
            service.encryption.clone(),
            SealOptions::new(),
        )
        .seal_remote(b"{}"))
        .unwrap();
        assert_eq!(local.open(&compact).unwrap().json(), b"{}");
        assert_eq!(
            now(Opener::remote(service, verifying, OpenOptions::new())
                .unwrap()
                .open_remote(&compact))
            .unwrap()
            .json(),
            b"{}"
        );
    }
}

/// The old and the new key of a rotation open messages, with and without `kid`.
#[test]
fn two_remote_keys_overlap() {
    for (kids, other) in [
        (None, OpenErrorKind::Rejected),
        (Some(["old", "new"]), OpenErrorKind::NoKey),
    ] {
        let service = |index: usize, decryption: DecryptionKey| {
            let decryption = match kids {
                Some(kids) => decryption.with_kid(kids[index]),
                None => decryption,
            };
            Service::new(
                Keys {
                    signing: SIGNING.clone(),
                    decryption,
                },
                false,
            )
        };
        let old = service(0, DECRYPTION.clone());
        let new = service(1, DecryptionKey::generate(RsaSize::Rsa2048).unwrap());
        let both: [Arc<dyn RemoteDecrypter>; 2] = [old.clone(), new.clone()];
        let both = Opener::remote(
            KeySet::new(both).unwrap(),
            old.verifying.clone(),
            OpenOptions::new(),
        )
        .unwrap();
        let only_old =
            Opener::remote(Arc::clone(&old), old.verifying.clone(), OpenOptions::new()).unwrap();
        for service in [&old, &new] {
            let compact = Sealer::new(
                service.signing.clone(),
                service.encryption.clone(),
                SealOptions::new(),
            )
            .seal(b"{}")
            .unwrap();
            let opened = now(both.open_remote(&compact)).unwrap();
            assert_eq!(
                opened.encryption_key().public_key(),
                service.encryption.public_key()
            );
            let expected = (!Arc::ptr_eq(service, &old)).then_some(other);
            assert_eq!(
                now(only_old.open_remote(&compact))
                    .err()
                    .map(|error| error.kind()),
                expected
            );
        }
    }
}

#[test]
fn a_failed_decryption_looks_like_a_wrong_tag() {
    let keys = backends().next().unwrap();
    let (good, verifying) = (keys.sealer().seal(b"{}").unwrap(), keys.verifying());
    let opener = Opener::remote(Service::new(keys, false), verifying, OpenOptions::new()).unwrap();
    let mut bad_key = crate::shared::parts(&good);
    bad_key[1][100] ^= 1;
    let mut bad_tag = crate::shared::parts(&good);
    bad_tag[4][0] ^= 1;
    let short = outsider::assemble(outsider::HEADER, &[7; 32], &[5; 64]);
    for message in [
        crate::shared::compact(&bad_key),
        crate::shared::compact(&bad_tag),
        short,
    ] {
        assert!(matches!(
            now(opener.open_remote(&message)),
            Err(OpenError::Rejected)
        ));
    }
}

#[test]
fn an_unreachable_key_is_a_retryable_local_fault() {
    let keys = backends().next().unwrap();
    let (good, verifying) = (keys.sealer().seal(b"{}").unwrap(), keys.verifying());
    let service = Service::new(keys, true);
    let sealed = now(Sealer::new(
        Arc::clone(&service),
        service.encryption.clone(),
        SealOptions::new(),
    )
    .seal_remote(b"{}"));
    assert!(matches!(sealed, Err(SealError::Sign(_))));
    let error = now(Opener::remote(service, verifying, OpenOptions::new())
        .unwrap()
        .open_remote(&good))
    .unwrap_err();
    assert_eq!(
        (error.kind(), error.is_retryable(), error.http_status()),
        (OpenErrorKind::Unavailable, true, 500)
    );
}

#[test]
fn a_remote_signer_is_replaced_while_it_is_in_use() {
    let service = |kid: &str| {
        let signing = SigningKey::generate(RsaSize::Rsa2048)
            .unwrap()
            .with_kid(kid);
        Service::new(
            Keys {
                signing,
                decryption: DECRYPTION.clone(),
            },
            false,
        )
    };
    let (old, new) = (service("old"), service("new"));
    let theirs = KeySet::new([old.verifying.clone(), new.verifying.clone()]).unwrap();
    let opener = Opener::new(DECRYPTION.clone(), theirs, OpenOptions::new()).unwrap();
    let sealer = Sealer::new(old, new.encryption.clone(), SealOptions::new());
    let in_use = sealer.clone();
    let kid = || {
        opener
            .open(&now(in_use.seal_remote(b"{}")).unwrap())
            .unwrap()
            .signing_kid()
            .map(str::to_owned)
    };
    assert_eq!(kid().as_deref(), Some("old"));
    sealer.replace_signing_key(new);
    assert_eq!(kid().as_deref(), Some("new"));
}

/// A signer during whose work both keys of its sealer are replaced.
#[derive(Debug)]
struct Replaced {
    signing: SigningKey,
    sealer: OnceLock<Sealer<Arc<Replaced>>>,
    next: Option<(Arc<Replaced>, EncryptionKey)>,
}

impl Replaced {
    fn new(signing: SigningKey, next: Option<(Arc<Replaced>, EncryptionKey)>) -> Arc<Self> {
        let sealer = OnceLock::new();
        Arc::new(Self {
            signing,
            sealer,
            next,
        })
    }
}

impl RemoteSigner for Replaced {
    fn verifying_key(&self) -> VerifyingKey {
        self.signing.verifying_key()
    }

    fn sign<'a>(&'a self, request: SignRequest<'a>) -> RemoteFuture<'a, Vec<u8>> {
        Box::pin(async move {
            if let (Some(sealer), Some((signing, encryption))) = (self.sealer.get(), &self.next) {
                sealer.replace_signing_key(signing.clone());
                sealer.replace_encryption_key(encryption.clone());
            }
            let signature = self.signing.sign(request.message());
            signature.map_err(RemoteError::permanent)
        })
    }
}

/// Keys that are replaced in one step are never mixed in one message.
#[test]
fn a_message_is_sealed_with_the_keys_from_before_a_change_while_the_signer_works() {
    let decryption = |kid: &str| {
        DecryptionKey::generate(RsaSize::Rsa2048)
            .unwrap()
            .with_kid(kid)
    };
    let signing = |kid: &str| {
        SigningKey::generate(RsaSize::Rsa2048)
            .unwrap()
            .with_kid(kid)
    };
    let (old, new) = (decryption("old"), decryption("new"));
    let after = Replaced::new(signing("after"), None);
    let before = Replaced::new(
        signing("before"),
        Some((after.clone(), new.encryption_key())),
    );
    let theirs = [&before, &after].map(|signer| signer.verifying_key());
    let sealer = Sealer::new(before.clone(), old.encryption_key(), SealOptions::new());
    before.sealer.set(sealer.clone()).unwrap();
    let opener = Opener::new(
        KeySet::new([old, new]).unwrap(),
        KeySet::new(theirs).unwrap(),
        OpenOptions::new(),
    )
    .unwrap();
    for (signed, encrypted) in [("before", "old"), ("after", "new")] {
        let opened = opener
            .open(&now(sealer.seal_remote(b"{}")).unwrap())
            .unwrap();
        assert_eq!(
            (opened.signing_kid(), opened.encryption_kid()),
            (Some(signed), Some(encrypted))
        );
    }
}

#[test]
fn a_verifying_key_of_another_size_is_refused_beside_a_remote_key_too() {
    let service = Service::new(backends().next().unwrap(), false);
    let verifying = SigningKey::generate(RsaSize::Rsa3072)
        .unwrap()
        .verifying_key();
    let refused = Opener::remote(service, verifying, OpenOptions::new());
    assert!(matches!(refused, Err(KeyError::Size { bits: 3072, .. })));
}

#[test]
fn an_encrypted_key_of_another_length_is_refused_before_a_remote_key_is_used() {
    let keys = backends().next().unwrap();
    let (public, senders) = (keys.encryption(), KeySet::from(keys.verifying()));
    let good = keys.sealer().seal(b"{}").unwrap();
    for (length, fits) in [(255, false), (256, true), (257, false)] {
        let mut parts = crate::shared::parts(&good);
        parts[1].resize(length, 0);
        let message = crate::shared::compact(&parts);
        let received = SealedMessage::parse(&message, &OpenOptions::new()).unwrap();
        assert_eq!(received.check_for(&public).is_ok(), fits, "{length}");
        let decrypted = keys.decryption.decrypt(received.encrypted_key());
        let outcome = decrypted.map_or(DecryptionOutcome::CannotDecrypt, DecryptionOutcome::Key);
        assert_eq!(
            received.finish(&outcome, &public, &senders).is_ok(),
            fits,
            "{length}"
        );
    }
}
