//! Checks of a connection's files for keys that do not belong together, and for secrets that every
//! user of the machine may read.

use super::{Connection, ConnectionError, keys};
use bankrail_http::files;
use bankrail_jose::PublicKey;
use std::path::{Path, PathBuf};

/// Compares the private keys with the public ones in their folder, and with each other. An absent
/// or unreadable private key is ignored: its use reports it.
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

/// Warns of files with secrets that every user of the machine may read. For the key of the server's
/// certificate, the server does so.
pub(super) fn secrets(connection: &Connection) {
    let own = connection.receivers.as_ref();
    [&connection.file, &connection.signing_key]
        .into_iter()
        .chain(&connection.client_certificate)
        .chain(own.map(|own| &own.decryption_key))
        .filter(|file| files::is_readable_by_all(file))
        .for_each(|file| {
            tracing::warn!(file = %file.display(), "every user of the machine may read the secrets of the file");
        });
}

/// Returns the public half of a private key, after a comparison with the public keys in its folder.
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

/// Returns the possible files of the public half: `signing.pub.pem` of `signing.pem`, and of
/// `decryption.pem` also `encryption.pub.pem`.
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
