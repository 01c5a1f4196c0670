//! Errors of a connection.

use crate::ClientOptionsError;
use crate::receivers::keys::KeyFolderError;
use bankrail_http::serve::CertificateError;
use bankrail_jose::KeyError;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The reason why a connection cannot be used, with the file. No error holds a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// The text of `connection.toml` is not of the form that the [module](crate::connection)
    /// describes.
    #[error("{}: line {line}: {}{reason}", .file.display(), named(.member.as_deref()))]
    Toml {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The member whose value is refused; `None` if the reason names the member, or if the
        /// fault is in no member.
        member: Option<String>,
        /// The reason, without the value of a secret.
        reason: String,
    },
    /// `connection.toml`, or a file that it names, cannot be read.
    #[error("{}: cannot be read", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file has no key that fits its use.
    #[error("{}", .file.display())]
    Key {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: KeyError,
    },
    /// A file has several keys where one is expected.
    #[error("{}: expected one key, found a JWK set", .file.display())]
    SeveralKeys {
        /// The file.
        file: PathBuf,
    },
    /// The public key in the folder of a private one does not belong to it.
    #[error("{}: expected the public half of {}, found another key", .public.display(), .private.display())]
    NotPublicHalf {
        /// The file of the private key.
        private: PathBuf,
        /// The file of the public key.
        public: PathBuf,
    },
    /// One key has two uses.
    #[error("{}: expected another key than that of {}, found the same", .decryption.display(), .signing.display())]
    SameKey {
        /// The file of the key that signs assertions.
        signing: PathBuf,
        /// The file of the key that opens messages.
        decryption: PathBuf,
    },
    /// The provider's public keys cannot be read.
    #[error("the provider's keys cannot be used")]
    ProviderKeys(#[source] KeyFolderError),
    /// The certificate or the key of the receivers cannot be used: the key may belong to another
    /// certificate, for example.
    #[error("{} and {}", .certificate.display(), .certificate_key.display())]
    Certificate {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of its key.
        certificate_key: PathBuf,
        /// The cause.
        source: CertificateError,
    },
    /// No client can be made.
    #[error("{}", .file.display())]
    Client {
        /// The file of the connection.
        file: PathBuf,
        /// The cause.
        source: ClientOptionsError,
    },
    /// Members of the connection, or a file that it names, cannot be used.
    #[error("{}", .file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The program needs receivers, and the connection has none.
    #[error("{}: expected [receivers], found none", .file.display())]
    NoReceivers {
        /// The file of the connection.
        file: PathBuf,
    },
    /// The server cannot listen on the address of the receivers.
    #[error("{}: {listen} cannot be listened on", .file.display())]
    Listen {
        /// The file of the connection.
        file: PathBuf,
        /// The address.
        listen: SocketAddr,
        /// The cause.
        source: io::Error,
    },
}

/// Makes the error of a file that cannot be used.
pub(super) fn unusable<E: Error + Send + Sync + 'static>(
    file: &Path,
) -> impl Fn(E) -> ConnectionError {
    move |source| ConnectionError::Unusable {
        file: file.to_owned(),
        source: source.into(),
    }
}

fn named(member: Option<&str>) -> String {
    member
        .map(|member| format!("{member}: "))
        .unwrap_or_default()
}

/// Makes the error of a text. Serde quotes a value of the wrong type, so secret members have their
/// own function that reads them.
pub(super) fn toml(file: PathBuf, text: &str, error: &toml::de::Error) -> ConnectionError {
    let before = error
        .span()
        .and_then(|span| text.get(..span.start))
        .unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    // Before a value that is refused stands its name.
    let name = before
        .rsplit('\n')
        .next()
        .and_then(|start| start.split_once('='))
        .map(|(name, _)| name.trim());
    let is_name = |name: &&str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    let member = name.filter(is_name).map(str::to_owned);
    ConnectionError::Toml {
        file,
        line,
        member,
        reason: error.message().to_owned(),
    }
}
