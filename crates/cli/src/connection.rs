//! The file `connection.toml`: what a customer needs to speak with its provider.
//!
//! `bankrail provider` writes one for each of its demo customers. `token`, `statement fetch`, `biller` and
//! `conformance` read it.

use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// What a customer and its provider have arranged. Files are named relative to the folder of this one.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Connection {
    /// The address of the provider, such as `https://bank.example`.
    pub(crate) base_url: String,
    /// The address of the token endpoint; `base_url` and SPEC.md's path without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token_url: Option<String>,
    /// What the claim `aud` of an assertion is; the address of the token endpoint without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) audience: Option<String>,
    /// The customer code, the claim `sub`.
    pub(crate) customer: String,
    /// The API key.
    pub(crate) api_key: String,
    /// The header of the API key; `apikey` without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) api_key_header: Option<String>,
    /// The scopes to ask for; those of statements without them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) scopes: Vec<String>,
    /// The private key that signs assertions.
    pub(crate) signing_key: PathBuf,
    /// The name of that key, for the assertion's header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) signing_kid: Option<String>,
    /// The certificate authorities of the provider; those of the system without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) roots: Option<PathBuf>,
    /// The accounts whose statements are asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) accounts: Vec<String>,
    /// Where webhooks are received.
    #[serde(skip_serializing_if = "Option::is_none")]
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
    pub(crate) api_key: String,
    /// The private key that opens messages.
    pub(crate) decryption_key: PathBuf,
    /// The public keys that the provider signs with: PEM, JWK, JWK set, or a folder of them.
    pub(crate) provider_keys: PathBuf,
}

impl Connection {
    /// Reads the file, or `connection.toml` in the folder of this name. Paths in it become relative to the working
    /// folder.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let path = if path.is_dir() { path.join("connection.toml") } else { path.to_owned() };
        let next = "bankrail provider prints where it has written one";
        let text = fs::read_to_string(&path)
            .map_err(|error| Failure::unable(format_args!("{}: {error}", path.display()), next))?;
        let mut connection: Self = toml::from_str(&text).map_err(|error| {
            let line =
                error.span().map_or(1, |span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
            let what = format_args!("{}: line {line}: {}", path.display(), error.message()).to_string();
            Failure::unable(what, "correct the file")
        })?;
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
}
