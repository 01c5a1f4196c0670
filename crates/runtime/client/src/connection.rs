//! The arrangement of a customer and its provider, from the file `connection.toml`, from which the
//! client, the receivers and their server are made. `bankrail provider` writes such a file, with
//! its keys and certificates, for each of its demo customers, and the other commands of the program
//! read it.
//!
//! ```no_run
//! use bankrail_client::receivers::ReceiversOptions;
//! use bankrail_client::{ClientOptions, Connection};
//! use bankrail_http::serve::ServerOptions;
//! use bankrail_stores::sqlite::{SqliteOptions, SqliteStore};
//! use std::sync::Arc;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let bank = Connection::open("bankrail-data/demo/democustomer")?;
//! let client = bank.client(ClientOptions::new())?;
//! let store = SqliteStore::open("biller.sqlite", SqliteOptions::new())?;
//! let receivers = bank.receivers(Arc::new(store.inbox()), ReceiversOptions::new())?;
//! let server = bank.server(receivers.router(), ServerOptions::new()).await?;
//! # let _ = (client, server);
//! # Ok(())
//! # }
//! ```
//!
//! # The file
//!
//! Its members are the fields of [`Connection`], and those of [`ReceiverConnection`] under
//! `[receivers]`. Other members are refused. Names of files are relative to the folder of
//! `connection.toml`. Only its owner should be able to read `connection.toml`, because it has
//! secrets.
//!
//! ```toml
//! base_url = "https://bank.example"
//! customer = "CUSTOMERCODE"
//! api_key = "…"
//! signing_key = "signing.pem"
//!
//! # Where they differ from the defaults:
//! token_url = "https://login.bank.example/v1.0/auth"
//! audience = "https://login.bank.example"
//! api_key_header = "apikey"
//! scopes = ["…"]
//! signing_kid = "2026-11"
//! roots = "ca.pem"
//! system_roots = true
//!
//! # Where calls need them:
//! proxy = "http://user:password@proxy.example:3128"
//! no_proxy = "localhost,.bank.internal"
//! client_certificate = "client.pem"
//!
//! # Where there is something to poll, and to receive:
//! accounts = ["012003123456789"]
//! limit_per_account = true
//!
//! [receivers]
//! listen = "0.0.0.0:9443"
//! certificate = "receiver.pem"
//! certificate_key = "receiver-key.pem"
//! api_key = "…"
//! decryption_key = "decryption.pem"
//! provider_keys = "bank-keys"
//! # The proxies that connections come through, if not directly:
//! trusted_proxies = ["10.0.0.0/24"]
//! # The authorities of client certificates, if callers have to show one:
//! client_roots = "bank-ca.pem"
//! client_certificate_optional = false
//! ```
//!
//! # Keys that do not belong together
//!
//! [`Connection::open`] refuses such keys, so that a mistake shows at the start and not in a
//! refusal of the provider.
//!
//! - A private key in the same folder as a public key of its name that does not belong to it:
//!   `signing.pub.pem` for `signing.pem`, and both `decryption.pub.pem` and `encryption.pub.pem`
//!   for `decryption.pem`.
//! - One key for signing and for decrypting. An operation of one use can serve an attack on the
//!   other (RFC 8725 section 3.1).
//!
//! [`Connection::server`] refuses a certificate with the key of another.

mod check;
mod error;
mod keys;
mod parts;

pub use error::ConnectionError;

use bankrail_client_assertion::CustomerCode;
use bankrail_http::files;
use bankrail_http::serve::IpNet;
use bankrail_statement::AccountId;
use bankrail_values::SecretString;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt::Display;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The maximum number of bytes of `connection.toml`.
const MAX_FILE_BYTES: usize = 64 * 1024;

/// The arrangement of a customer and its provider: the members of the file `connection.toml`, which
/// the [module](self) shows.
///
/// The serde form is the file's, **with API keys in the clear**. `Debug` does not show them.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Connection {
    /// The address of the provider: https, with or without a path, such as `https://bank.example`.
    pub base_url: String,
    /// The address of the token endpoint. Default: `base_url` and `/v1.0/auth`.
    pub token_url: Option<String>,
    /// The claim `aud` of an assertion, exactly as the provider expects it. Default: the address of
    /// the token endpoint.
    pub audience: Option<String>,
    /// The customer code, the claim `sub` of an assertion.
    #[serde(serialize_with = "write_text", deserialize_with = "read_text")]
    pub customer: CustomerCode,
    /// The API key that is sent to the provider.
    #[serde(serialize_with = "write_secret", deserialize_with = "read_secret")]
    pub api_key: SecretString,
    /// The header of that API key. Default: `apikey`.
    pub api_key_header: Option<String>,
    /// The scopes to request. Default: the documented scope of statements.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The file of the private key that signs assertions: PEM, DER or JWK, of 2048 to 8192 bits,
    /// without a pass phrase.
    pub signing_key: PathBuf,
    /// The name of the signing key, the `kid` of an assertion's header. Default: that of a JWK,
    /// otherwise none.
    pub signing_kid: Option<String>,
    /// A file of the certificate authorities of the provider as PEM, at most 4 MiB. Default: those
    /// of the operating system.
    pub roots: Option<PathBuf>,
    /// True if the authorities of the operating system are trusted in addition to those of `roots`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub system_roots: bool,
    /// The proxy of calls, as [`Proxy::parse`](crate::Proxy::parse) reads it, such as
    /// `socks5h://proxy.example:1080`. Default: that of the environment.
    #[serde(
        default,
        serialize_with = "write_proxy",
        deserialize_with = "read_proxy",
        skip_serializing_if = "Option::is_none"
    )]
    pub proxy: Option<SecretString>,
    /// The hosts that are called without `proxy`, as [`Proxy::except`](crate::Proxy::except) reads
    /// them.
    pub no_proxy: Option<String>,
    /// The file of the certificate that is shown to a service that requires one, with its private
    /// key, as PEM, at most 1 MiB. The file may be replaced while a program runs.
    pub client_certificate: Option<PathBuf>,
    /// True if the provider counts 25 statement calls an hour for each account instead of for the
    /// customer ([`ClientOptions::limit_per_account`](crate::ClientOptions::limit_per_account)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limit_per_account: bool,
    /// The accounts whose statements may be requested.
    #[serde(
        default,
        serialize_with = "write_texts",
        deserialize_with = "read_texts"
    )]
    pub accounts: Vec<AccountId>,
    /// The receivers of webhooks. Default: none.
    pub receivers: Option<ReceiverConnection>,
    /// The file that the connection was read from, for errors.
    #[serde(skip, default = "unnamed")]
    file: PathBuf,
}

/// The receivers of a customer's webhooks: the table `[receivers]` of `connection.toml`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ReceiverConnection {
    /// The address and port to listen on, such as `0.0.0.0:9443`.
    pub listen: SocketAddr,
    /// The file of the server's certificate as PEM, followed by the intermediate certificates, at
    /// most 1 MiB. The file may be replaced while a program runs.
    pub certificate: PathBuf,
    /// The file of the certificate's private key as PEM.
    pub certificate_key: PathBuf,
    /// The API key that the provider sends.
    #[serde(serialize_with = "write_secret", deserialize_with = "read_secret")]
    pub api_key: SecretString,
    /// The file of the private key that opens messages: PEM, DER, JWK, or a JWK set of several.
    pub decryption_key: PathBuf,
    /// The public keys that the provider signs with: a file (PEM, JWK, JWK set) or a folder of
    /// files, as [`KeyFolder`](crate::receivers::keys::KeyFolder) reads them. They may be replaced
    /// while a program runs.
    pub provider_keys: PathBuf,
    /// The networks of proxies that connections come through
    /// ([`ServerOptions::trusted_proxies`](bankrail_http::serve::ServerOptions::trusted_proxies)).
    /// Without them, at most 256 connections come from one address. Connections from these networks
    /// count as those of a known caller, so they must contain only proxies.
    #[serde(
        default,
        serialize_with = "write_texts",
        deserialize_with = "read_texts",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub trusted_proxies: Vec<IpNet>,
    /// The file of the certificate authorities of callers as PEM, at most 4 MiB: the handshake
    /// refuses a caller without a certificate that they have issued. Default: callers need no
    /// certificate.
    pub client_roots: Option<PathBuf>,
    /// True if a caller without a certificate may connect too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub client_certificate_optional: bool,
}

impl Connection {
    /// Creates a connection that is not read from a file, with the signing key in `signing.pem` and
    /// without optional members.
    #[must_use]
    pub fn new(base_url: impl Into<String>, customer: CustomerCode, api_key: SecretString) -> Self {
        Self {
            base_url: base_url.into(),
            token_url: None,
            audience: None,
            customer,
            api_key,
            api_key_header: None,
            scopes: Vec::new(),
            signing_key: "signing.pem".into(),
            signing_kid: None,
            roots: None,
            system_roots: false,
            proxy: None,
            no_proxy: None,
            client_certificate: None,
            limit_per_account: false,
            accounts: Vec::new(),
            receivers: None,
            file: unnamed(),
        }
    }

    /// Reads the file, or `connection.toml` in the folder of this name, of at most 64 KiB. The
    /// names of files in it become relative to the working folder. A file with secrets that every
    /// user of the machine may read is logged. This blocks while it reads.
    ///
    /// # Errors
    /// [`ConnectionError`] if the file cannot be read, is no connection, or names keys that do not
    /// belong together.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ConnectionError> {
        let file = Self::file_of(path);
        let text =
            files::read_text(&file, MAX_FILE_BYTES).map_err(|source| ConnectionError::Read {
                file: file.clone(),
                source,
            })?;
        let mut connection = Self::from_toml(&text, &file)?;
        connection.place(file.parent().unwrap_or(Path::new("")));
        // At the start, because a provider's refusal of the first call would not name the file.
        check::keys(&connection)?;
        check::secrets(&connection);
        Ok(connection)
    }

    /// Reads the text of a `connection.toml`; errors name `file`. The names of files in the text
    /// stay as they are, and no other file is read.
    ///
    /// # Errors
    /// [`ConnectionError::Toml`], which does not quote the value of a secret member.
    pub fn from_toml(text: &str, file: impl Into<PathBuf>) -> Result<Self, ConnectionError> {
        let file = file.into();
        match toml::from_str(text) {
            Ok(connection) => Ok(Self { file, ..connection }),
            Err(error) => Err(error::toml(file, text, &error)),
        }
    }

    /// Returns the file that [`Connection::open`] reads for this name: `connection.toml` in a
    /// folder, or the file itself.
    #[must_use]
    pub fn file_of(path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        if path.is_dir() {
            path.join("connection.toml")
        } else {
            path.to_owned()
        }
    }

    /// Joins the names of the connection's files to its folder.
    fn place(&mut self, folder: &Path) {
        let place = |file: &mut PathBuf| *file = folder.join(&*file);
        place(&mut self.signing_key);
        self.roots.as_mut().map(place);
        self.client_certificate.as_mut().map(place);
        if let Some(receivers) = &mut self.receivers {
            place(&mut receivers.certificate);
            place(&mut receivers.certificate_key);
            place(&mut receivers.decryption_key);
            place(&mut receivers.provider_keys);
            receivers.client_roots.as_mut().map(place);
        }
    }
}

/// Returns the name in errors of a connection that was not read from a file.
fn unnamed() -> PathBuf {
    "the connection".into()
}

impl ReceiverConnection {
    /// Creates receivers at this address, with the files that `bankrail provider` writes:
    /// `receiver.pem`, `receiver-key.pem`, `decryption.pem` and `provider.jwks.json`.
    #[must_use]
    pub fn new(listen: SocketAddr, api_key: SecretString) -> Self {
        Self {
            listen,
            certificate: "receiver.pem".into(),
            certificate_key: "receiver-key.pem".into(),
            api_key,
            decryption_key: "decryption.pem".into(),
            provider_keys: "provider.jwks.json".into(),
            trusted_proxies: Vec::new(),
            client_roots: None,
            client_certificate_optional: false,
        }
    }
}

fn write_text<S: Serializer>(value: &impl Display, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(value)
}

fn read_text<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

fn write_texts<S: Serializer>(values: &[impl Display], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(values.iter().map(ToString::to_string))
}

fn read_texts<'de, T, D>(from: D) -> Result<Vec<T>, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    let texts = Vec::<String>::deserialize(from)?;
    texts
        .iter()
        .map(|text| text.parse().map_err(D::Error::custom))
        .collect()
}

fn write_secret<S: Serializer>(secret: &SecretString, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(secret.expose_secret())
}

/// Reads a secret. The error for a value of another type does not quote it.
fn read_secret<'de, D: Deserializer<'de>>(from: D) -> Result<SecretString, D::Error> {
    match toml::Value::deserialize(from)? {
        toml::Value::String(text) => Ok(text.into()),
        _ => Err(D::Error::custom("expected an API key in quotation marks")),
    }
}

fn write_proxy<S: Serializer>(proxy: &Option<SecretString>, to: S) -> Result<S::Ok, S::Error> {
    proxy
        .as_ref()
        .map(SecretString::expose_secret)
        .serialize(to)
}

/// Reads the address of a proxy, which may have a password.
fn read_proxy<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SecretString>, D::Error> {
    let text = match toml::Value::deserialize(from)? {
        toml::Value::String(text) => text,
        _ => return Err(D::Error::custom("expected a proxy in quotation marks")),
    };
    crate::Proxy::parse(&text).map_err(D::Error::custom)?;
    Ok(Some(text.into()))
}
