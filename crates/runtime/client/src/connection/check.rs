//! Checks of a connection's files: keys that do not belong together, secrets that every user of the
//! machine may read.

use super::{Connection, ConnectionError, keys};
use bankrail_http::files;
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

/// Warns of the files with secrets that every user of the machine may read. The server warns of the
/// key of its certificate.
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
