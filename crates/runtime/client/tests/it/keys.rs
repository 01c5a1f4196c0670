//! Senders' keys from files.

use crate::log::Log;
use crate::receivers::{DECRYPTION, SIGNING, delivery, message, options};
use bankrail_client::receivers::keys::{KeyFileFault, KeyFolder, KeyFolderError, SenderKeys};
use bankrail_client::receivers::{Receivers, ReceiversOptions};
use bankrail_jose::{EncryptionKey, KeySet, RsaSize, SigningKey, VerifyingKey};
use bankrail_mailbox::Inbox;
use bankrail_secured_payload::{OpenOptions, Opener, SealOptions, Sealer, SecuredPayload};
use bankrail_stores::memory::MemoryStore;
use bankrail_webhook::MessageKind;
use std::io;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
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

/// Receivers that ask this source for new keys.
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

/// The status of a delivery that is signed with this key.
pub(crate) async fn deliver_signed(receivers: &Receivers, signing: &SigningKey, kid: &str) -> u16 {
    let kind = MessageKind::Query;
    let encryption: EncryptionKey = DECRYPTION.encryption_key();
    let sealed = Sealer::new(
        signing.clone().with_kid(kid),
        encryption,
        SealOptions::new(),
    )
    .seal(message(kind).as_bytes())
    .unwrap();
    let request = delivery(kind, SecuredPayload::new(sealed).to_json());
    receivers
        .router()
        .oneshot(request)
        .await
        .unwrap()
        .status()
        .as_u16()
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
    assert_eq!(kids(&keys.keys()), ["2025", "2026", "2027"]);
    let shown: Vec<String> = unusable.iter().map(ToString::to_string).collect();
    let name = |file: &str| path.join(file).display().to_string();
    assert_eq!(shown.len(), 5, "{shown:#?}");
    assert!(
        shown[0].starts_with(&format!("{}: key \"curve\": ", name("b.jwks"))),
        "{}",
        shown[0]
    );
    assert!(shown[1].starts_with(&name("d.pem")), "{}", shown[1]);
    assert!(shown[2].starts_with(&name("e.json")), "{}", shown[2]);
    assert!(
        matches!(&unusable[3].reason, KeyFileFault::Read(error) if error.kind() == io::ErrorKind::FileTooLarge)
            && shown[3].ends_with("expected at most 262144 bytes, found more"),
        "{}",
        shown[3]
    );
    let same = format!(
        "{}: key \"2026\": expected a kid of its own, found that of a key in {}",
        name("c.json"),
        name("a.jwk")
    );
    assert_eq!(shown[4], same);
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
