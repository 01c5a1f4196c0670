//! The keys that sign webhooks, and their replacement while the provider runs.

use super::Folders;
use super::demo::{connections, no_key};
use crate::failure::Failure;
use crate::files::{NewFile, write};
use crate::keys::{file, jwk_set};
use bankrail::http::files::read_every;
use bankrail::jose::{CurrentKey, RsaSize, SigningKey, VerifyingKey};
use std::time::Duration;
use zeroize::Zeroizing;

/// The keys that a set keeps after a rotation.
const MAX_KEYS: usize = 3;

/// Makes a new key that signs. Returns the keys of the set, the new one first.
///
/// signing.jwks.json, and provider.jwks.json of each demo customer, then have the new key and
/// earlier ones, so that messages in transit stay valid.
pub(super) fn rotated(folders: &Folders) -> Result<Vec<VerifyingKey>, Failure> {
    let new = SigningKey::generate(RsaSize::Rsa2048).map_err(no_key)?;
    let public = new.verifying_key();
    // Without the lock, two simultaneous rotations would each leave out the key of the other.
    let _alone = folders.lock_changes()?;
    let mut keys = vec![public.clone()];
    keys.extend(published(folders)?);
    // Some earlier keys stay, because messages that are delivered late are signed with them.
    keys.truncate(MAX_KEYS);
    let set = key_set(&keys);
    let mut sets = vec![folders.config("signing.jwks.json")];
    if folders.is_demo() {
        sets.extend(
            connections(folders)?
                .into_iter()
                .map(|(home, _)| home.join("provider.jwks.json")),
        );
    }
    // Publishes the key first, so that receivers can know it before the first message is signed
    // with it.
    write(
        &sets
            .iter()
            .map(|path| NewFile::public(path, &set))
            .collect::<Vec<_>>(),
        true,
    )?;
    for file in [
        NewFile::public(folders.config("signing.pub.pem"), public.to_spki_pem()),
        NewFile::private(folders.config("signing.pem"), new.to_pkcs8_pem()),
    ] {
        write(&[file], true)?;
    }
    Ok(keys)
}

/// Returns the keys of the set, with the key in use first; without a set, only the key in use.
pub(super) fn published(folders: &Folders) -> Result<Vec<VerifyingKey>, Failure> {
    let in_use = folders.signing_key()?;
    let path = folders.config("signing.jwks.json");
    if !path.exists() && !folders.is_demo() {
        return Ok(vec![in_use.verifying_key()]);
    }
    let keys = file::verifying(&path.to_string_lossy()).map_err(Failure::into_unable)?;
    let mut keys = keys.keys().to_vec();
    let used = in_use.verifying_key();
    // Puts the key in use first, so that a rotation keeps it in the set.
    keys.retain(|key| key.thumbprint() != used.thumbprint());
    keys.insert(0, used);
    Ok(keys)
}

/// The pause between two checks for a new key.
const PAUSE: Duration = Duration::from_secs(1);

/// Returns a JWK set of public keys with their thumbprints as names, as the text of a file.
pub(super) fn key_set(keys: &[VerifyingKey]) -> String {
    let keys: Vec<String> = keys
        .iter()
        .map(|key| key.clone().with_kid(key.thumbprint()).to_jwk())
        .collect();
    format!("{}\n", jwk_set(&keys))
}

/// Watches the file of the signing key forever, and switches to each new key.
pub(super) async fn follow(folders: Folders, current: CurrentKey<SigningKey>) {
    let path = folders.config("signing.pem");
    let file = path.clone();
    let read = move || std::fs::read(&file).ok().map(Zeroizing::new);
    // The key in use was read earlier: the first look compares with it, not with the file.
    let mut seen = None;
    read_every(PAUSE, read, |found| {
        // Compared by content, because two changes may have the same time.
        if found == seen {
            return;
        }
        match folders.signing_key() {
            Ok(key) if key.kid() == current.get().kid() => {}
            Ok(key) => {
                tracing::info!(
                    kid = key.kid(),
                    "webhooks are signed with another key from now on"
                );
                current.replace(key);
            }
            Err(_) => {
                tracing::error!(file = %path.display(), "the key is unusable, the one before stays in use")
            }
        }
        // Remembers the content also after a failure, so that the failure is logged once.
        seen = found;
    })
    .await;
}
