//! Senders' keys from files.

use crate::log::Log;
use crate::receivers::{DECRYPTION, SIGNING, delivery, message, options};
use bankrail_client::receivers::keys::{
    KeyFolder, KeyFolderError, RenewFuture, SenderKeys, UnusableKeyError,
};
use bankrail_client::receivers::{Receivers, ReceiversOptions};
use bankrail_jose::{EncryptionKey, KeySet, RsaSize, SigningKey, VerifyingKey, base64url};
use bankrail_mailbox::Inbox;
use bankrail_secured_payload::{OpenOptions, Opener, SealOptions, Sealer, SecuredPayload};
use bankrail_stores::memory::MemoryStore;
use bankrail_webhook::MessageKind;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::sync::Semaphore;
use tower::ServiceExt;

/// The sender's next key.
pub(crate) static NEXT: LazyLock<SigningKey> =
    LazyLock::new(|| SigningKey::generate(RsaSize::Rsa2048).unwrap());

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

fn pem(key: &SigningKey) -> String {
    key.verifying_key().to_spki_pem()
}

pub(crate) fn jwk(key: &SigningKey, kid: &str) -> String {
    key.verifying_key().with_kid(kid).to_jwk()
}

pub(crate) fn kids(keys: &KeySet<VerifyingKey>) -> Vec<String> {
    keys.keys()
        .iter()
        .map(|key| key.kid().unwrap_or("none").to_owned())
        .collect()
}

/// Makes receivers that read new keys from this source.
pub(crate) fn receivers(keys: KeySet<VerifyingKey>, source: Arc<dyn SenderKeys>) -> Receivers {
    let inbox: Arc<dyn Inbox> = Arc::new(MemoryStore::new().inbox());
    let options: ReceiversOptions = options().sender_keys(source);
    Receivers::new(
        Opener::new(DECRYPTION.clone(), keys, OpenOptions::new()).unwrap(),
        "our-key",
        inbox,
        options,
    )
    .unwrap()
}

/// Makes a delivery that is signed with this key, under this `kid`, and returns its status.
pub(crate) async fn deliver_signed(receivers: &Receivers, signing: &SigningKey, kid: &str) -> u16 {
    deliver_sealed(receivers, sealed(signing.clone().with_kid(kid)))
        .await
        .0
}

/// Makes a message that is signed with this key.
fn sealed(signing: SigningKey) -> String {
    let encryption: EncryptionKey = DECRYPTION.encryption_key();
    Sealer::new(signing, encryption, SealOptions::new())
        .seal(message(MessageKind::Query).as_bytes())
        .unwrap()
}

/// Makes a delivery, and returns the status and the body of the answer.
async fn deliver_sealed(receivers: &Receivers, sealed: String) -> (u16, Vec<u8>) {
    let request = delivery(MessageKind::Query, SecuredPayload::new(sealed).to_json());
    let answer = receivers.router().oneshot(request).await.unwrap();
    let status = answer.status().as_u16();
    let body = axum::body::to_bytes(answer.into_body(), 1 << 16).await;
    (status, body.unwrap().to_vec())
}

#[test]
fn files_of_all_sorts_are_read_and_bad_ones_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write(path, "2025.pem", &pem(&SIGNING));
    write(path, "a.jwk", &jwk(&NEXT, "2026"));
    write(
        path,
        "b.jwks",
        &format!(
            r#"{{"keys":[{},{{"kty":"EC","kid":"curve"}}]}}"#,
            jwk(&SIGNING, "2027")
        ),
    );
    write(path, "c.json", &jwk(&SIGNING, "2026"));
    write(
        path,
        "d.pem",
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
    );
    write(path, "e.json", "{}");
    write(path, "f.json", &" ".repeat(300_000));
    write(path, ".hidden.pem", "no key");
    write(path, "notes.txt", "no key");
    let (keys, unusable) = KeyFolder::open(path).unwrap();
    // Both keys of 2026, because a key may have been replaced under its name.
    assert_eq!(kids(&keys.keys()), ["2025", "2026", "2027", "2026"]);
    let shown: Vec<String> = unusable.iter().map(ToString::to_string).collect();
    let name = |file: &str| path.join(file).display().to_string();
    assert_eq!(shown.len(), 4, "{shown:#?}");
    assert!(
        shown[0].starts_with(&format!("{}: key \"curve\": ", name("b.jwks"))),
        "{}",
        shown[0]
    );
    assert!(shown[1].starts_with(&name("d.pem")), "{}", shown[1]);
    assert!(shown[2].starts_with(&name("e.json")), "{}", shown[2]);
    assert!(
        matches!(&unusable[3].reason, UnusableKeyError::Read(error) if error.kind() == io::ErrorKind::FileTooLarge)
            && shown[3].ends_with("expected at most 262144 bytes, found more"),
        "{}",
        shown[3]
    );
}

#[test]
fn a_fifth_key_of_one_kid_is_left_out_and_named() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["a.jwk", "b.jwk", "c.jwk", "d.jwk", "e.jwk"] {
        write(folder.path(), file, &jwk(&NEXT, "2026"));
    }
    let (keys, unusable) = KeyFolder::open(folder.path()).unwrap();
    assert_eq!(kids(&keys.keys()), ["2026"; 4]);
    let expected = format!(
        "{}: key \"2026\": too many keys have this kid, one in {} among them",
        folder.path().join("e.jwk").display(),
        folder.path().join("d.jwk").display()
    );
    assert_eq!(unusable[0].to_string(), expected);
}

#[test]
fn a_folder_with_only_a_certificate_or_a_key_in_der_is_read() {
    let der = SIGNING.verifying_key().public_key().to_spki_der();
    for (name, bytes) in [
        ("bank.cer", pem(&SIGNING).into_bytes()),
        ("bank.der", der.clone()),
        ("BANK.CRT", der),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), bytes).unwrap();
        let (keys, _) = KeyFolder::open(folder.path()).unwrap();
        assert_eq!(kids(&keys.keys()), [name.split('.').next().unwrap()]);
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "bank.p7b", "no key");
    let error = KeyFolder::open(folder.path()).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "found none, as no file has a name that ends in cer, crt, der, json, jwk, jwks, pem"
        ),
        "{error}"
    );
}

#[test]
fn files_of_java_and_dotnet_shops_are_read_from_a_folder() {
    let Some(shared) = std::env::var_os("BANKRAIL_SHARED") else {
        return;
    };
    let samples = Path::new(&shared).join("samples/reports/keys");
    for file in std::fs::read_dir(samples).unwrap() {
        let (file, folder) = (file.unwrap().path(), tempfile::tempdir().unwrap());
        let name = file.file_name().unwrap().to_str().unwrap();
        std::fs::write(folder.path().join(name), std::fs::read(&file).unwrap()).unwrap();
        match KeyFolder::open(folder.path()) {
            Ok((keys, unusable)) => {
                assert_eq!((keys.keys().keys().len(), unusable.len()), (1, 0), "{name}");
            }
            Err(error) => {
                assert_eq!(name, "set-65.jwks", "{error}");
                let error = error.to_string();
                assert!(
                    error.ends_with("set-65.jwks: expected at most 64 keys, found 65"),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn one_file_leaves_its_key_without_a_kid() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "bank.pem", &pem(&SIGNING));
    let (keys, unusable) = KeyFolder::open(folder.path().join("bank.pem")).unwrap();
    assert_eq!(
        (kids(&keys.keys()), unusable.len()),
        (vec!["none".to_owned()], 0)
    );
}

#[test]
fn a_reading_takes_no_good_key_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write(path, "old.pem", &pem(&SIGNING));
    let (keys, _) = KeyFolder::open(path).unwrap();
    let set = keys.keys();
    write(path, "new.pem", &pem(&NEXT));
    assert!(keys.reload().unwrap().is_empty());
    assert_eq!(kids(&set), ["new", "old"], "the same set has the new keys");
    // Half written: the keys that the file had stay, and the fault is named.
    write(path, "old.pem", "-----BEGIN");
    assert_eq!(keys.reload().unwrap()[0].file, path.join("old.pem"));
    assert_eq!(kids(&set), ["new", "old"]);
    std::fs::remove_file(path.join("old.pem")).unwrap();
    assert!(keys.reload().unwrap().is_empty());
    assert_eq!(kids(&set), ["new"]);
    // Without any key, those at hand stay.
    std::fs::remove_file(path.join("new.pem")).unwrap();
    assert!(matches!(keys.reload(), Err(KeyFolderError::NoKey { .. })));
    assert_eq!(kids(&set), ["new"]);
    write(path, "other.pem", "no key");
    let error = KeyFolder::open(path).unwrap_err().to_string();
    assert!(
        error.contains("expected at least one usable key, found none, ")
            && error.contains("other.pem"),
        "{error}"
    );
    for number in 0..65 {
        write(path, &format!("{number}.pem"), "no key");
    }
    assert!(matches!(
        KeyFolder::open(path),
        Err(KeyFolderError::TooManyFiles { max: 64, .. })
    ));
    assert!(matches!(
        KeyFolder::open(path.join("absent")),
        Err(KeyFolderError::Folder { .. })
    ));
}

#[tokio::test]
async fn a_message_under_a_key_that_is_new_in_the_folder_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "old.pem", &pem(&SIGNING));
    let (keys, _) = KeyFolder::open(folder.path()).unwrap();
    let receivers = receivers(keys.keys(), Arc::new(keys));
    assert_eq!(deliver_signed(&receivers, &SIGNING, "old").await, 200);
    write(folder.path(), "new.pem", &pem(&NEXT));
    assert_eq!(deliver_signed(&receivers, &NEXT, "new").await, 200);
    // Once in ten seconds: whoever has our encryption key can send any kid.
    write(folder.path(), "newer.pem", &pem(&NEXT));
    assert_eq!(deliver_signed(&receivers, &NEXT, "newer").await, 400);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(10)).await;
    tokio::time::resume();
    assert_eq!(deliver_signed(&receivers, &NEXT, "newer").await, 200);
    assert_eq!(deliver_signed(&receivers, &NEXT, "unknown").await, 400);
}

#[tokio::test]
async fn a_key_that_was_replaced_under_its_old_name_or_without_any_is_read_again() {
    for (file, kid) in [
        ("bank.pem", None),
        ("set.jwks", None),
        ("set.jwks", Some("k")),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let named = |key: &SigningKey| match kid {
            Some(kid) => key.clone().with_kid(kid),
            None => key.clone(),
        };
        let publish = |key: &SigningKey| match file {
            "bank.pem" => write(folder.path(), file, &pem(key)),
            _ => {
                let jwk = named(key).verifying_key().to_jwk();
                write(folder.path(), file, &format!(r#"{{"keys":[{jwk}]}}"#));
            }
        };
        publish(&SIGNING);
        let (keys, _) = KeyFolder::open(folder.path().join(file)).unwrap();
        let receivers = receivers(keys.keys(), Arc::new(keys));
        let deliver =
            async |key: &SigningKey| deliver_sealed(&receivers, sealed(named(key))).await.0;
        assert_eq!(deliver(&SIGNING).await, 200);
        publish(&NEXT);
        assert_eq!(deliver(&NEXT).await, 200, "{file} {kid:?}");
        // Once in ten seconds, whatever the reason.
        publish(&SIGNING);
        assert_eq!(deliver(&SIGNING).await, 400);
    }
}

/// A source whose readings wait for a gate and always succeed.
#[derive(Debug)]
struct Counted {
    asked: AtomicUsize,
    read: AtomicUsize,
    gate: Semaphore,
}

impl SenderKeys for Counted {
    fn renew(&self, _: std::time::Instant) -> RenewFuture<'_> {
        Box::pin(async {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.gate.acquire().await.unwrap().forget();
            self.read.fetch_add(1, Ordering::SeqCst);
            true
        })
    }
}

fn counted(open: usize) -> (Arc<Counted>, Receivers) {
    let source = Arc::new(Counted {
        asked: AtomicUsize::new(0),
        read: AtomicUsize::new(0),
        gate: Semaphore::new(open),
    });
    let keys = KeySet::from(SIGNING.verifying_key().with_kid("bank"));
    (source.clone(), receivers(keys, source))
}

#[tokio::test]
async fn every_rejected_message_has_the_keys_read_again_and_the_same_answer() {
    let (source, receivers) = counted(100);
    let genuine = sealed(SIGNING.clone());
    let (start, tag) = genuine.rsplit_once('.').unwrap();
    let other_tag = format!("{start}.{}", base64url::encode(&[7; 32]));
    assert_ne!(tag, base64url::encode(&[7; 32]));
    let mut parts: Vec<&str> = genuine.split('.').collect();
    let other_key = base64url::encode(&[1; 256]);
    parts[1] = &other_key;
    let messages = [
        other_tag,
        parts.join("."),
        sealed(NEXT.clone()),
        sealed(NEXT.clone().with_kid("bank")),
        sealed(NEXT.clone().with_kid("2026")),
        sealed(SIGNING.clone().with_kid("2026")),
    ];
    let mut answers = Vec::new();
    for (at, message) in messages.into_iter().enumerate() {
        answers.push(deliver_sealed(&receivers, message).await);
        assert_eq!(source.read.load(Ordering::SeqCst), at + 1);
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0].0, 400);
    // A key was not missing: the keys are not read again.
    assert_eq!(deliver_sealed(&receivers, "a.b.c".to_owned()).await.0, 400);
    assert_eq!(deliver_sealed(&receivers, genuine).await.0, 200);
    assert_eq!(source.read.load(Ordering::SeqCst), 6);
}

#[tokio::test]
async fn a_sender_that_hangs_up_does_not_end_a_reading() {
    let (source, receivers) = counted(0);
    let delivery = tokio::spawn(async move { deliver_signed(&receivers, &NEXT, "new").await });
    while source.asked.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    delivery.abort();
    assert!(delivery.await.unwrap_err().is_cancelled());
    source.gate.add_permits(1);
    while source.read.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "current_thread")]
async fn the_log_says_which_kid_was_asked_which_are_known_and_what_to_rename() {
    let log = Log::start();
    let (_, receivers) = counted(1);
    assert_eq!(deliver_signed(&receivers, &SIGNING, "2026-11").await, 400);
    let text = log.text();
    let line = text
        .lines()
        .find(|line| line.contains("not opened"))
        .unwrap();
    for part in [
        "2026-11",
        "the keys at hand are",
        "bank",
        "name it (in a folder, its file) as the sender does",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
}

#[tokio::test]
async fn whoever_began_before_a_reading_shares_it() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "old.pem", &pem(&SIGNING));
    let (keys, _) = KeyFolder::open(folder.path()).unwrap();
    let since = tokio::time::Instant::now().into_std();
    assert!(keys.renew(since).await);
    assert!(
        keys.renew(since).await,
        "another delivery that was opened with the old keys"
    );
    assert!(
        !keys.renew(tokio::time::Instant::now().into_std()).await,
        "one that was opened with the new ones"
    );
}

#[tokio::test(flavor = "current_thread")]
async fn a_folder_is_read_again_after_each_interval_and_faults_are_logged() {
    let log = Log::start();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "old.pem", &pem(&SIGNING));
    let (keys, _) = KeyFolder::open(folder.path()).unwrap();
    let set = keys.keys();
    write(folder.path(), "new.pem", &pem(&NEXT));
    write(folder.path(), "bad.pem", "no key");
    let stop = async {
        while kids(&set).len() < 2 || !log.text().contains("bad.pem") {
            tokio::task::yield_now().await;
        }
    };
    keys.reload_every(Duration::from_millis(1), stop).await;
    assert_eq!(kids(&set), ["new", "old"]);
    assert!(log.text().contains("a verifying key is unusable"));
}
