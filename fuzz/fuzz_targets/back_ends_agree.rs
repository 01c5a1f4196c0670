//! Takes changes of padded blocks, encrypted keys, and public and private keys. Both RSA back ends
//! give the same answer to each.

use arbitrary::Arbitrary;
use bankrail_jose::{
    Backend, DecryptionKey, EncryptionKey, Jwk, KeyOptions, PrivateKey, PublicKey, VerifyingKey,
};
use openssl::bn::BigNum;
use openssl::pkey::Private;
use openssl::rsa::{Padding, Rsa};
use openssl::sha::{sha1, sha256};
use std::sync::LazyLock;

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    /// Changes of the block that RSA turns into a signature.
    Signature {
        changes: Vec<(u8, u8)>,
        odd: Odd,
        message: &'a [u8],
    },
    /// Changes of the block around a content key of a length, before it is masked.
    Encrypted {
        length: u8,
        odd: Odd,
        changes: Vec<(u8, u8)>,
    },
    /// The last bytes of an encrypted key; those before are the first of the modulus.
    Number { bytes: &'a [u8] },
    /// A public key with another exponent and a changed modulus.
    Key {
        exponent: u64,
        changes: Vec<(u8, u8)>,
    },
    /// A key in DER.
    Der(&'a [u8]),
}

/// Bytes that are too many or too few, as a third of the inputs have.
#[derive(Arbitrary, Debug)]
struct Odd(u8, u8);

impl Odd {
    fn is_applied(&self, bytes: &mut Vec<u8>) -> bool {
        let some = 1 + usize::from(self.1 % 3);
        match self.0 % 6 {
            0 => bytes.extend(vec![self.1; some]),
            1 => bytes.truncate(LEN - some),
            2 => drop(bytes.splice(..0, vec![0; some])),
            _ => return false,
        }
        true
    }
}

const LEN: usize = 256;
const HASH_LEN: usize = 20;
/// DigestInfo of SHA-256 (RFC 8017 section 9.2).
const DIGEST_INFO: [u8; 19] = [
    0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05,
    0x00, 0x04, 0x20,
];

/// A key that is published (RFC 7515 section A.2), so that each run is the same.
struct Keys {
    raw: Rsa<Private>,
    modulus: Vec<u8>,
    verifying: [VerifyingKey; 2],
    decryption: [DecryptionKey; 2],
}

fn options() -> [KeyOptions; 2] {
    [Backend::AwsLc, Backend::Josekit].map(|backend| KeyOptions::new().backend(backend))
}

static KEYS: LazyLock<Keys> = LazyLock::new(|| {
    let vectors = include_str!("../../crates/protocol/jose/tests/vectors/jose.json");
    let vectors: serde_json::Value = serde_json::from_str(vectors).expect("JSON");
    let jwk = Jwk::parse(&vectors["keys"]["RFC 7515 A.2"].to_string()).expect("a key");
    let private = jwk.private_key().expect("a private key");
    let raw = Rsa::private_key_from_der(&private.to_pkcs1_der()).expect("a key");
    Keys {
        modulus: raw.n().to_vec(),
        raw,
        verifying: options()
            .map(|o| VerifyingKey::from_public_key(private.public_key(), &o).expect("a key")),
        decryption: options().map(|o| DecryptionKey::from_private_key(private, &o).expect("a key")),
    }
});

fn changed(block: &mut [u8], changes: &[(u8, u8)]) {
    for (at, change) in changes {
        if let Some(byte) = block.get_mut(usize::from(*at)) {
            *byte ^= change;
        }
    }
}

/// Combines `to` by XOR with the MGF1 mask of `seed` (RFC 8017 appendix B.2.1).
fn mask(seed: &[u8], to: &mut [u8]) {
    for (counter, chunk) in (0_u32..).zip(to.chunks_mut(HASH_LEN)) {
        let digest = sha1(&[seed, &counter.to_be_bytes()[..]].concat());
        chunk
            .iter_mut()
            .zip(digest)
            .for_each(|(byte, mask)| *byte ^= mask);
    }
}

fn verify_alike(message: &[u8], signature: &[u8]) -> bool {
    let [one, other] = KEYS
        .verifying
        .each_ref()
        .map(|key| key.verify(message, signature));
    assert_eq!(one, other);
    one.is_ok()
}

/// Decrypts an encrypted key. A failed decryption gives another random content key each time.
fn decrypt_alike(encrypted: &[u8]) -> Option<Vec<u8>> {
    let [one, other] = KEYS
        .decryption
        .each_ref()
        .map(|key| key.decrypt(encrypted).ok());
    assert_eq!(one, other);
    let keys = KEYS.decryption.each_ref().map(|key| {
        *key.content_key(encrypted)
            .expect("randomness")
            .expose_secret()
    });
    match &one {
        Some(found) if found.len() == keys[0].len() => {
            assert!(keys.iter().all(|key| **found == key[..]))
        }
        _ => {
            assert_ne!(keys[0], keys[1]);
            for (key, first) in KEYS.decryption.iter().zip(keys) {
                let second = key.content_key(encrypted).expect("randomness");
                assert_ne!(*second.expose_secret(), first);
            }
        }
    }
    one.map(|found| found.to_vec())
}

fn take_alike(key: &PublicKey) {
    let [one, other] = options().map(|o| VerifyingKey::from_public_key(key.clone(), &o).err());
    assert_eq!(one.is_some(), other.is_some(), "to verify: {key:?}");
    let [one, other] = options().map(|o| EncryptionKey::from_public_key(key.clone(), &o).err());
    assert_eq!(one.is_some(), other.is_some(), "to encrypt: {key:?}");
}

fuzz_target!(|input: Input<'_>| {
    let keys = &*KEYS;
    match input {
        Input::Signature {
            changes,
            odd,
            message,
        } => {
            let digest = [&DIGEST_INFO[..], &sha256(message)].concat();
            let mut block = vec![0xff; LEN];
            (block[0], block[1], block[LEN - digest.len() - 1]) = (0, 1, 0);
            block[LEN - digest.len()..].copy_from_slice(&digest);
            let good = block.clone();
            changed(&mut block, &changes);
            let mut signature = vec![0; LEN];
            if keys
                .raw
                .private_encrypt(&block, &mut signature, Padding::NONE)
                .is_ok()
            {
                let odd = odd.is_applied(&mut signature);
                assert_eq!(verify_alike(message, &signature), block == good && !odd);
            }
        }
        Input::Encrypted {
            length,
            odd,
            changes,
        } => {
            let content = usize::from(length).min(LEN - 2 * HASH_LEN - 2);
            let mut block = vec![0; LEN];
            block[HASH_LEN + 1..][..HASH_LEN].copy_from_slice(&sha1(&[]));
            block[LEN - content - 1..].fill(7);
            block[LEN - content - 1] = 1;
            let good = block.clone();
            changed(&mut block, &changes);
            let is_good = block[0] == 0 && block[HASH_LEN + 1..] == good[HASH_LEN + 1..];
            let (seed, rest) = block[1..].split_at_mut(HASH_LEN);
            mask(seed, rest);
            mask(rest, seed);
            let mut encrypted = vec![0; LEN];
            if keys
                .raw
                .public_encrypt(&block, &mut encrypted, Padding::NONE)
                .is_ok()
            {
                let odd = odd.is_applied(&mut encrypted);
                let found = decrypt_alike(&encrypted);
                assert!(!is_good || odd || found == Some(vec![7; content]));
                assert!(!odd || found.is_none());
            }
        }
        Input::Number { bytes } => {
            let mut number = keys.modulus.clone();
            let at = LEN - bytes.len().min(LEN);
            number[at..].copy_from_slice(&bytes[..LEN - at]);
            decrypt_alike(&number);
            verify_alike(b"", &number);
        }
        Input::Key { exponent, changes } => {
            let mut modulus = keys.modulus.clone();
            changed(&mut modulus, &changes);
            let numbers = BigNum::from_slice(&modulus).and_then(|n| {
                Rsa::from_public_components(n, BigNum::from_slice(&exponent.to_be_bytes())?)
            });
            let der = numbers
                .and_then(|numbers| numbers.public_key_to_der_pkcs1())
                .expect("two numbers");
            if let Ok(key) = PublicKey::from_pkcs1_der(&der) {
                take_alike(&key);
            }
        }
        Input::Der(der) => {
            for key in [
                PublicKey::from_spki_der(der),
                PublicKey::from_pkcs1_der(der),
            ]
            .into_iter()
            .flatten()
            {
                take_alike(&key);
            }
            for key in [
                PrivateKey::from_pkcs8_der(der),
                PrivateKey::from_pkcs1_der(der),
            ]
            .into_iter()
            .flatten()
            {
                let [one, other] =
                    options().map(|o| DecryptionKey::from_private_key(&key, &o).is_ok());
                assert_eq!(one, other);
            }
        }
    }
});
