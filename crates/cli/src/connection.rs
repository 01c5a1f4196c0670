//! The file `connection.toml`: what a customer needs to speak with its provider.
//!
//! `bankrail provider` writes one for each of its demo customers. `token`, `statement fetch`, `biller` and
//! `conformance` read it.

mod client;
mod refusal;

pub(crate) use refusal::{statement_failure, token_failure};

use crate::failure::Failure;
use crate::input;
use bankrail::values::SecretString;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The bytes of a file that are read.
const MOST: usize = 64 * 1024;

/// What to do about a file that is not there.
const NEXT: &str = "name the file connection.toml or its folder; bankrail provider prints where it has written one";

/// What a customer and its provider have arranged. Files are named relative to the folder of this one.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Connection {
    /// The address of the provider, such as `https://bank.example`.
    pub(crate) base_url: String,
    /// The address of the token endpoint; `base_url` and SPEC.md's path without it.
    pub(crate) token_url: Option<String>,
    /// What the claim `aud` of an assertion is; the address of the token endpoint without it.
    pub(crate) audience: Option<String>,
    /// The customer code, the claim `sub`.
    pub(crate) customer: String,
    /// The API key.
    #[serde(serialize_with = "reveal", deserialize_with = "secret")]
    pub(crate) api_key: SecretString,
    /// The header of the API key; `apikey` without it.
    pub(crate) api_key_header: Option<String>,
    /// The scopes to ask for; those of statements without them.
    #[serde(default)]
    pub(crate) scopes: Vec<String>,
    /// The private key that signs assertions.
    pub(crate) signing_key: PathBuf,
    /// The name of that key, for the assertion's header.
    pub(crate) signing_kid: Option<String>,
    /// The certificate authorities of the provider; those of the system without them.
    pub(crate) roots: Option<PathBuf>,
    /// The accounts whose statements are asked for.
    #[serde(default)]
    pub(crate) accounts: Vec<String>,
    /// Where webhooks are received.
    pub(crate) receivers: Option<Receiving>,
}

/// Where and how a customer receives webhooks.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Receiving {
    /// The address to listen on.
    pub(crate) listen: SocketAddr,
    /// The certificate of this address, and its key.
    pub(crate) certificate: PathBuf,
    pub(crate) certificate_key: PathBuf,
    /// The API key that the provider sends.
    #[serde(serialize_with = "reveal", deserialize_with = "secret")]
    pub(crate) api_key: SecretString,
    /// The private key that opens messages.
    pub(crate) decryption_key: PathBuf,
    /// The public keys that the provider signs with: PEM, JWK, JWK set, or a folder of them.
    pub(crate) provider_keys: PathBuf,
}

/// The environment variable of the API key.
pub(crate) const API_KEY: &str = "BANKRAIL_API_KEY";

impl Connection {
    /// Reads the file, or `connection.toml` in the folder of this name. Paths in it become relative to the working
    /// folder.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let path = Self::file(path);
        path.metadata().map_err(|error| Failure::unable(format_args!("{}: {error}", path.display()), NEXT))?;
        let text = input::read_text(&path.to_string_lossy(), MOST).map_err(Failure::into_unable)?;
        let mut connection: Self = input::parse_toml(&path, &text, "correct the file")?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let place = |file: &mut PathBuf| *file = folder.join(&*file);
        place(&mut connection.signing_key);
        connection.roots.as_mut().map(place);
        if let Some(receivers) = &mut connection.receivers {
            place(&mut receivers.certificate);
            place(&mut receivers.certificate_key);
            place(&mut receivers.decryption_key);
            place(&mut receivers.provider_keys);
        }
        Ok(connection)
    }

    /// The file that is read for this name.
    pub(crate) fn file(path: &Path) -> PathBuf {
        if path.is_dir() { path.join("connection.toml") } else { path.to_owned() }
    }
}

/// Reads an API key. The error for a value of another type does not quote it.
pub(crate) fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<SecretString, D::Error> {
    match toml::Value::deserialize(from)? {
        toml::Value::String(text) => Ok(text.into()),
        _ => Err(D::Error::custom("expected an API key in quotation marks")),
    }
}

fn reveal<S: Serializer>(secret: &SecretString, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(secret.expose_secret())
}

/// A secret of the command line: the text itself, or the first line of the file after an `@`.
pub(crate) fn given_secret(given: &str, name: &str) -> Result<Zeroizing<String>, Failure> {
    let Some(file) = given.strip_prefix('@') else { return Ok(Zeroizing::new(given.to_owned())) };
    let text = input::read_text(file, 4096)?;
    match text.lines().next().map(str::trim).filter(|line| !line.is_empty()) {
        Some(line) => Ok(Zeroizing::new(line.to_owned())),
        None => Err(Failure::unable(format_args!("{file}: expected {name}, found nothing"), "write it to the file")),
    }
}

/// The API key of `--api-key`, or that of the environment variable `BANKRAIL_API_KEY`.
pub(crate) fn given_api_key(option: Option<&str>) -> Result<Option<Zeroizing<String>>, Failure> {
    match option {
        Some(given) => given_secret(given, "an API key").map(Some),
        None => Ok(std::env::var(API_KEY).ok().filter(|key| !key.is_empty()).map(Zeroizing::new)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"
base_url = "https://bank.example"
customer = "BILLER"
api_key = "the-secret"
signing_key = "signing.pem"
accounts = ["012003123456789"]

[receivers]
listen = "127.0.0.1:9443"
certificate = "receiver.pem"
certificate_key = "/elsewhere/receiver-key.pem"
api_key = "their-secret"
decryption_key = "decryption.pem"
provider_keys = "bank-keys"
"#;

    fn read(text: &str) -> Result<Connection, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("connection.toml"), text).unwrap();
        Connection::read(folder.path()).map_err(|failure| failure.into_parts().0.unwrap())
    }

    #[test]
    fn files_are_named_relative_to_the_folder_of_the_file_and_secrets_are_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("connection.toml");
        std::fs::write(&file, WHOLE).unwrap();
        for path in [folder.path(), &file] {
            let connection = Connection::read(path).unwrap();
            assert_eq!(connection.signing_key, folder.path().join("signing.pem"));
            let receivers = connection.receivers.as_ref().unwrap();
            assert_eq!(receivers.provider_keys, folder.path().join("bank-keys"));
            assert_eq!(receivers.certificate_key, Path::new("/elsewhere/receiver-key.pem"));
            assert!(!format!("{connection:?}").contains("secret"), "{connection:?}");
        }
    }

    #[test]
    fn an_error_names_file_and_line_and_no_secret() {
        for (from, to, expected) in [
            ("\"https://bank.example\"", "https", "line 2: "),
            ("customer = \"BILLER\"\n", "", "missing field `customer`"),
            ("accounts", "acounts", "line 6: unknown field `acounts`"),
            ("\"the-secret\"", "12345678", "line 4: expected an API key in quotation marks"),
            ("\"their-secret\"", "[12345678]", "expected an API key in quotation marks"),
            ("127.0.0.1:9443", "localhost", "line 9: invalid socket address"),
        ] {
            let line = read(&WHOLE.replace(from, to)).unwrap_err();
            assert!(line.contains(expected) && line.contains("connection.toml: line "), "{line}");
            assert!(!line.contains("secret") && !line.contains("12345678"), "{line}");
        }
        let line = read(&format!("{WHOLE}#{}", "x".repeat(65_536))).unwrap_err();
        assert!(line.contains("expected at most 65536 bytes"), "{line}");
        let Err(failure) = Connection::read(Path::new("/nowhere/connection.toml")) else { panic!("it is not there") };
        let line = failure.into_parts().0.unwrap();
        assert!(line.contains("/nowhere/connection.toml: ") && line.contains("bankrail provider"), "{line}");
    }

    #[test]
    fn a_secret_may_be_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        std::fs::write(&file, "the-secret\r\nmore").unwrap();
        let at = format!("@{}", file.display());
        assert_eq!(given_secret(&at, "an API key").unwrap().as_str(), "the-secret");
        assert_eq!(given_secret("plain", "an API key").unwrap().as_str(), "plain");
        std::fs::write(&file, "\n").unwrap();
        assert!(given_secret(&at, "an API key").is_err());
    }
}
