//! The file `connection.toml` in the program, and other ways to name what is in it.
//!
//! `bankrail provider` writes one for each of its demo customers. `token`, `statement fetch`,
//! `biller` and `conformance` read it.

mod over;
mod refusal;

pub(crate) use over::{Over, connection};
pub(crate) use refusal::call_failure;

use crate::failure::{Failure, causes};
use crate::files::warn_if_exposed;
use crate::input;
use crate::keys::file::{NEXT_KEY, NEXT_ONE, NEXT_PRIVATE};
use crate::logging;
use bankrail::client::{
    ClientCertificate, ClientOptionsError, Connection, ConnectionError, HttpClientError, Proxy,
};
use bankrail::http::serve::CertificateFiles;
use bankrail::jose::KeyError;
use std::io::ErrorKind;
use std::path::Path;
use zeroize::Zeroizing;

/// The environment variable of the API key.
pub(crate) const API_KEY: &str = "BANKRAIL_API_KEY";

/// Reads the file, or `connection.toml` in the folder of this name.
pub(crate) fn open(path: &Path) -> Result<Connection, Failure> {
    logging::alone(|| Connection::open(path)).map_err(|error| failure(&error))
}

/// Describes an error of a connection, and what to do about it.
pub(crate) fn failure(error: &ConnectionError) -> Failure {
    let next = match error {
        ConnectionError::Read { file, source }
            if source.kind() == ErrorKind::NotFound && file.ends_with("connection.toml") =>
        {
            "name the file connection.toml or its folder; bankrail provider prints where it has written one"
        }
        ConnectionError::Read { .. } => "check its name, and who may read it",
        ConnectionError::Toml { .. } => "correct the file",
        ConnectionError::Key {
            source: KeyError::NotPrivate,
            ..
        } => NEXT_PRIVATE,
        ConnectionError::Key { .. } => NEXT_KEY,
        ConnectionError::SeveralKeys { .. } => NEXT_ONE,
        ConnectionError::NotPublicHalf { .. } => "put the public half there, or remove the file",
        ConnectionError::SameKey { .. } => "make another one: bankrail keys generate",
        ConnectionError::ProviderKeys(_) => {
            "put the provider's public keys there, as PEM or JWK set"
        }
        ConnectionError::Certificate { .. } => "name a certificate and its key as PEM",
        ConnectionError::Client { source, .. } => after_options(source),
        ConnectionError::Listen { listen, source, .. } if source.kind() == ErrorKind::AddrInUse => {
            return Failure::unable(
                format_args!("{listen}: the port {} is taken", listen.port()),
                "stop the program that listens there, or pass another address with --listen",
            );
        }
        ConnectionError::Listen { .. } => "pass an address of this machine with --listen",
        _ => "correct the connection",
    };
    Failure::caused(error, causes(error), next)
}

fn after_options(error: &ClientOptionsError) -> &'static str {
    match error {
        ClientOptionsError::BaseUrl(_) | ClientOptionsError::AuthUrl(_) => {
            "give the address as the provider does, such as https://bank.example"
        }
        ClientOptionsError::ApiKey => "give the API key without spaces and line ends",
        ClientOptionsError::ApiKeyHeader { .. } => {
            "give the name that the provider uses, such as apikey"
        }
        ClientOptionsError::Http(HttpClientError::Proxy(_)) => {
            "correct the environment variable, or remove it"
        }
        ClientOptionsError::Http(HttpClientError::Tls(_)) => {
            "give the provider's certificate authorities as PEM"
        }
        _ => "correct the connection",
    }
}

/// A secret of the command line: the text itself, or the first line of the file after an `@`.
pub(crate) fn given_secret(given: &str, name: &str) -> Result<Zeroizing<String>, Failure> {
    let Some(file) = given.strip_prefix('@') else {
        return Ok(Zeroizing::new(given.to_owned()));
    };
    warn_if_exposed(Path::new(file));
    let text = input::read_text(file, 4096)?;
    match text
        .lines()
        .next()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        Some(line) => Ok(Zeroizing::new(line.to_owned())),
        None => Err(Failure::unable(
            format_args!("{file}: expected {name}, found nothing"),
            "write it to the file",
        )),
    }
}

/// The API key of `--api-key`, or that of the environment variable `BANKRAIL_API_KEY`.
pub(crate) fn given_api_key(option: Option<&str>) -> Result<Option<Zeroizing<String>>, Failure> {
    match option {
        Some(given) => given_secret(given, "an API key").map(Some),
        None => Ok(std::env::var(API_KEY)
            .ok()
            .filter(|key| !key.is_empty())
            .map(Zeroizing::new)),
    }
}

/// The proxy of `--proxy`, which may have a password, and the hosts of `--no-proxy`.
pub(crate) fn given_proxy(given: &str, except: Option<&str>) -> Result<Proxy, Failure> {
    let text = given_secret(given, "a proxy")?;
    let proxy = Proxy::parse(&text).and_then(|proxy| proxy.except(except.unwrap_or_default()));
    proxy.map_err(|error| Failure::unable(causes(&error), "correct --proxy or --no-proxy"))
}

/// The certificate of `--client-certificate`, with its private key.
pub(crate) fn given_certificate(path: &str) -> Result<ClientCertificate, Failure> {
    warn_if_exposed(Path::new(path));
    let pem = input::read_text(path, CertificateFiles::MAX_BYTES)?;
    ClientCertificate::from_pem(&pem).map_err(|error| {
        let what = format!("{}: {}", input::name(path), causes(&error));
        Failure::unable(what, "pass both in one file with --client-certificate")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_is_not_there_is_said_with_what_to_do() {
        let Err(failure) = open(Path::new("/nowhere/connection.toml")) else {
            panic!("it is not there")
        };
        let line = failure.into_parts().0.unwrap();
        assert!(
            line.contains("/nowhere/connection.toml: ") && line.contains("bankrail provider"),
            "{line}"
        );
    }

    #[test]
    fn a_secret_may_be_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        std::fs::write(&file, "the-secret\r\nmore").unwrap();
        let at = format!("@{}", file.display());
        assert_eq!(
            given_secret(&at, "an API key").unwrap().as_str(),
            "the-secret"
        );
        assert_eq!(
            given_secret("plain", "an API key").unwrap().as_str(),
            "plain"
        );
        std::fs::write(&file, "\n").unwrap();
        assert!(given_secret(&at, "an API key").is_err());
    }
}
