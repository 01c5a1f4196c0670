//! Takes text as a secured payload, bytes that are encrypted to our key, or changes of the headers
//! and claims of a message before it is sealed. Opening never panics, gives one error or a message
//! within the rules, and the same with a key elsewhere. RSA is switched off, so that inputs get
//! past it.

use crate::invented::{changed_json, logged};
use arbitrary::{Arbitrary, Unstructured};
use bankrail_jose::remote::{DecryptionOutcome, RemoteDecrypter, RemoteError, RemoteFuture};
use bankrail_jose::{
    Backend, DecryptionKey, EncryptionKey, KeyOptions, KeySet, RsaSize, SigningKey,
    VerifyingKey, base64url,
};
use bankrail_secured_payload::{
    OpenError, OpenErrorKind, OpenOptions, Opened, Opener, Recipient, SealedMessage,
    encrypt_anything, unverified_kid,
};
use bankrail_values::json::JsonLimits;
use serde_json::Value;
use std::sync::LazyLock;

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Text(&'a str),
    Encrypted { header: &'a str, plain: &'a [u8] },
    Inner { zip: bool, plain: &'a [u8] },
    Sealed { options: u8, odd: u8, choices: &'a [u8] },
}

const HEADERS: [&str; 3] = [
    r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512"}"#,
    r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512","cty":"JWT","kid":"a"}"#,
    r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512","zip":"DEF","cty":"application/jwt","kid":"b","typ":"JOSE"}"#,
];
const SIGNED: [&str; 3] = [
    r#"{"alg":"RS256"}"#,
    r#"{"alg":"RS256","typ":"JWT","kid":"a","aud":"us","crit":["exp"]}"#,
    r#"{"alg":"RS256","typ":"JWT","kid":"b","aud":"us"}"#,
];
const CLAIMS: [&str; 2] = [
    r#"{"aud":"us","a":[1,{"b":null}]}"#,
    r#"{"mandate":{"id":"a"},"aud":"them"}"#,
];
const VALUES: &[&str] = &[r#""JWT""#, r#""us""#, r#""b""#, r#""DEF""#, r#""RSA1_5""#, r#""jwt""#];

/// A key that is not in this process.
#[derive(Clone, Debug)]
struct Elsewhere {
    key: DecryptionKey,
    half: EncryptionKey,
    fails: bool,
}

impl RemoteDecrypter for Elsewhere {
    fn encryption_key(&self) -> &EncryptionKey {
        &self.half
    }

    fn decrypt<'a>(&'a self, encrypted: &'a [u8]) -> RemoteFuture<'a, DecryptionOutcome> {
        Box::pin(async move {
            if self.fails {
                return Err(RemoteError::retryable("no answer"));
            }
            Ok(match self.key.decrypt(encrypted) {
                Ok(key) => DecryptionOutcome::Key(key),
                Err(_) => DecryptionOutcome::CannotDecrypt,
            })
        })
    }
}

struct Keys {
    decryption: DecryptionKey,
    verifying: KeySet<VerifyingKey>,
    options: Vec<OpenOptions>,
    openers: Vec<[Opener; 2]>,
    remote: Vec<[Opener<Elsewhere>; 2]>,
}

static KEYS: LazyLock<Keys> = LazyLock::new(|| {
    let insecure = KeyOptions::new().backend(Backend::Insecure);
    let signing = SigningKey::generate_with(RsaSize::Rsa2048, &insecure).expect("a key");
    let decryption = DecryptionKey::generate_with(RsaSize::Rsa2048, &insecure).expect("a key");
    let public = signing.verifying_key();
    let names = ["a", "c"];
    let verifying = KeySet::new(names.map(|name| public.clone().with_kid(name))).expect("keys");
    let named = KeySet::new(names.map(|name| decryption.clone().with_kid(name))).expect("keys");
    let options = vec![
        OpenOptions::new(),
        OpenOptions::new().require_cty(true).require_typ(true),
        OpenOptions::new().recipient(Recipient::header("aud", "us")),
        OpenOptions::new().recipient(Recipient::claim("aud", "us")),
        OpenOptions::new().max_inflated_bytes(None).max_message_bytes(1_000),
        OpenOptions::new().max_inflated_bytes(Some(500)).max_header_bytes(60).check_json(false),
    ];
    let openers = options.iter().map(|options| {
        [decryption.clone().into(), named.clone()].map(|keys| {
            Opener::new(keys, verifying.clone(), options.clone()).expect("keys of 2048 bits")
        })
    });
    let remote = options.iter().map(|options| {
        [false, true].map(|fails| {
            let (key, half) = (decryption.clone(), decryption.encryption_key());
            let keys = Elsewhere { key, half, fails };
            Opener::remote(keys, verifying.clone(), options.clone()).expect("keys of 2048 bits")
        })
    });
    Keys {
        openers: openers.collect(),
        remote: remote.collect(),
        decryption,
        verifying,
        options,
    }
});

/// What an error shows to a sender does not tell apart what failed behind the encryption.
fn told(error: &OpenError) {
    logged(error);
    let inside = matches!(error.kind(), OpenErrorKind::PayloadInvalid);
    assert_eq!(error.public_message() == "the payload is not valid JSON", inside);
    let unavailable = error.kind() == OpenErrorKind::Unavailable;
    assert_eq!(error.http_status() == 500, unavailable);
    assert!(unavailable || !error.is_retryable());
}

/// Opens a message in every way, and returns what the first one gives.
fn open(message: &str, which: usize) -> Result<Opened, OpenError> {
    let keys = &*KEYS;
    let which = which % keys.options.len();
    let [plain, named] = &keys.openers[which];
    let [remote, failing] = &keys.remote[which];
    let opened = plain.open(message);
    let others = [
        crate::stores::block_on(remote.open_remote(message)),
        SealedMessage::parse(message, &keys.options[which]).and_then(|received| {
            let half = keys.decryption.encryption_key();
            let key = keys.decryption.decrypt(received.encrypted_key());
            let key = key.map_or(DecryptionOutcome::CannotDecrypt, DecryptionOutcome::Key);
            received.finish(&key, &half, &keys.verifying)
        }),
    ];
    for other in others {
        match (&opened, other) {
            (Ok(one), Ok(other)) => assert_eq!(one.json(), other.json()),
            (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
            (one, other) => panic!("{one:?} or {other:?}"),
        }
    }
    if let Err(error) = crate::stores::block_on(failing.open_remote(message)) {
        told(&error);
    }
    let kid = unverified_kid(message);
    match named.open(message) {
        Ok(named) => {
            assert_eq!(named.json(), opened.as_ref().expect("the same key").json());
            let asked = named.outer_header().kid();
            assert!(asked.is_none_or(|kid| named.encryption_kid() == Some(kid)));
            assert_eq!(asked.is_some(), kid.is_some());
        }
        Err(error @ OpenError::NoKey(_)) => told(&error),
        Err(error) => {
            told(&error);
            assert!(opened.is_err(), "{error}");
        }
    }
    opened
}

fn sealed(header: &str, plain: Vec<u8>) -> String {
    encrypt_anything(header, plain, &KEYS.decryption.encryption_key()).expect("no bound is met")
}

fn judge(message: &str, which: usize) -> Option<Opened> {
    match open(message, which) {
        Ok(opened) => {
            assert!(!format!("{opened:?}").contains(char::is_control));
            // The last options leave JSON unchecked.
            let limits = JsonLimits::new().max_document_bytes(usize::MAX).max_values(usize::MAX);
            let is_json = bankrail_values::json::check(opened.json(), &limits).is_ok();
            assert!(which % KEYS.options.len() == 5 || is_json);
            Some(opened)
        }
        Err(error) => {
            told(&error);
            assert!(!matches!(error, OpenError::Unavailable { .. } | OpenError::NoKey(_)));
            None
        }
    }
}

/// Stored blocks of DEFLATE.
fn deflated(plain: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    let mut blocks = plain.chunks(100).peekable();
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).expect("a short block");
        all.push(u8::from(blocks.peek().is_none()));
        all.extend(length.to_le_bytes());
        all.extend((!length).to_le_bytes());
        all.extend(block);
    }
    all
}

fn changed(which: usize, odd: u8, choices: &[u8]) {
    let mut choices = Unstructured::new(choices);
    let header = changed_json(&mut choices, &HEADERS, VALUES);
    let signed_header = changed_json(&mut choices, &SIGNED, VALUES);
    let claims = changed_json(&mut choices, &CLAIMS, VALUES);
    let signature = base64url::encode(&vec![0; if odd == 1 { 255 } else { 256 }]);
    let [first, second] = [&signed_header, &claims].map(|json| base64url::encode(json.as_bytes()));
    let mut plain = format!("{first}.{second}.{signature}").into_bytes();
    if odd == 2 {
        plain.push(b'.');
    }
    let read = |json: &str| serde_json::from_str::<Value>(json).ok();
    let is_zipped = read(&header).is_some_and(|header| !header["zip"].is_null());
    if is_zipped {
        plain = deflated(&plain);
        match odd {
            3 => plain.push(0),
            4 => drop(plain.pop()),
            _ => {}
        }
    }
    let message = sealed(&header, plain);
    let Some(opened) = judge(&message, which) else {
        return;
    };
    assert!(!matches!(odd, 1 | 2) && !(is_zipped && matches!(odd, 3 | 4)));
    assert_eq!(opened.json(), claims.as_bytes());
    let (which, unbounded) = (which % 6, which % 6 != 4);
    assert!(!is_zipped || unbounded);
    assert!(which != 4 || message.len() <= 1_000);
    assert!(which != 5 || header.len() <= 60 && signed_header.len() <= 60);
    let claims = read(&claims);
    if let (Some(header), Some(signed)) = (read(&header), read(&signed_header)) {
        let is_jwt = |value: &Value| {
            let text = value.as_str().unwrap_or_default().to_lowercase();
            text == "jwt" || text == "application/jwt"
        };
        assert!(header["alg"] == "RSA-OAEP" && header["enc"] == "A256CBC-HS512");
        assert!(signed["alg"] == "RS256" && signed.get("crit").is_none());
        assert!(header["cty"].is_null() || is_jwt(&header["cty"]));
        assert!(which != 1 || is_jwt(&header["cty"]) && is_jwt(&signed["typ"]));
        assert!(which != 2 || signed["aud"] == "us");
        assert_eq!(opened.signed_header().kid(), signed["kid"].as_str());
        let kid = signed["kid"].as_str();
        assert!(kid.is_none() || opened.signing_kid() == kid);
    }
    if let Some(claims) = claims {
        assert!(which != 3 || claims["aud"] == "us");
    }
    assert_eq!(opened.signing_key().public_key().bits(), 2048);
    assert_eq!(opened.encryption_key().public_key().bits(), 2048);
    assert!(!opened.into_json().is_empty());
}

fuzz_target!(|input: Input<'_>| {
    match input {
        Input::Text(text) => _ = open(text, text.len()).map_err(|error| told(&error)),
        Input::Encrypted { header, plain } => _ = judge(&sealed(header, plain.to_vec()), 0),
        Input::Inner { zip, plain } => {
            let header = HEADERS[if zip { 2 } else { 0 }];
            _ = judge(&sealed(header, plain.to_vec()), 0);
        }
        Input::Sealed { options, odd, choices } => changed(options.into(), odd % 6, choices),
    }
});
