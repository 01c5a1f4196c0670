//! The key that signs webhooks, and its replacement while the provider runs.

use super::folder::Folders;
use crate::keys::jwk_set;
use bankrail::jose::{CurrentKey, SigningKey, VerifyingKey};
use std::time::Duration;
use zeroize::Zeroizing;

/// The pause between two looks for a new key.
const PAUSE: Duration = Duration::from_secs(1);

/// A JWK set of public keys with their thumbprints as names, as a file.
pub(super) fn key_set(keys: &[VerifyingKey]) -> String {
    let keys: Vec<String> = keys
        .iter()
        .map(|key| key.clone().with_kid(key.thumbprint()).to_jwk())
        .collect();
    format!("{}\n", jwk_set(&keys))
}

/// Watches the file forever, and puts each new key in force.
pub(super) async fn follow(folders: Folders, current: CurrentKey<SigningKey>) {
    let path = folders.config("signing.pem");
    let read = || std::fs::read(&path).ok().map(Zeroizing::new);
    // The key in use was read earlier: the first look compares with it, not with the file.
    let mut seen = None;
    loop {
        tokio::time::sleep(PAUSE).await;
        let found = read();
        if found == seen {
            continue;
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
        seen = found;
    }
}
