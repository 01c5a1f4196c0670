//! Keys that do not belong together.

use super::{Connection, ConnectionError, keys};
use bankrail_jose::PublicKey;
use std::path::{Path, PathBuf};

/// Compares the private keys with the public ones beside them, and with each other. A private key
/// that is absent or unreadable is the concern of whoever needs it.
pub(super) fn keys(connection: &Connection) -> Result<(), ConnectionError> {
    let signing = compared(&connection.signing_key)?;
    let Some(receivers) = &connection.receivers else {
        return Ok(());
    };
    let decryption = compared(&receivers.decryption_key)?;
    if signing.is_some() && signing == decryption {
        let (signing, decryption) = (
            connection.signing_key.clone(),
            receivers.decryption_key.clone(),
        );
        return Err(ConnectionError::SameKey {
            signing,
            decryption,
        });
    }
    Ok(())
}

/// The public half of a private key, after it was compared with the files beside it.
fn compared(private: &Path) -> Result<Option<PublicKey>, ConnectionError> {
    let Some(own) = keys::material(private)
        .ok()
        .and_then(|material| material.public_key())
    else {
        return Ok(None);
    };
    for public in beside(private).into_iter().filter(|file| file.is_file()) {
        if keys::material(&public)?.public_key().as_ref() != Some(&own) {
            return Err(ConnectionError::NotPublicHalf {
                private: private.to_owned(),
                public,
            });
        }
    }
    Ok(Some(own))
}

/// The files of the public half: `signing.pub.pem` of `signing.pem`, and of `decryption.pem` also
/// `encryption.pub.pem`.
fn beside(private: &Path) -> Vec<PathBuf> {
    let Some(name) = private.file_stem().and_then(|name| name.to_str()) else {
        return Vec::new();
    };
    let mut names = vec![format!("{name}.pub.pem")];
    if name.contains("decryption") {
        names.push(format!(
            "{}.pub.pem",
            name.replace("decryption", "encryption")
        ));
    }
    names
        .into_iter()
        .map(|name| private.with_file_name(name))
        .collect()
}
