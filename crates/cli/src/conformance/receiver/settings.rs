//! What the judge is told: arguments, and the file of `--config`.

use super::Receiver;
use super::delivery::Target;
use super::forge::Forge;
use crate::conformance::{address, http};
use crate::connection::{self, given_api_key};
use crate::failure::{Failure, causes};
use crate::input;
use crate::keys::file;
use bankrail::jose::SigningKey;
use bankrail::secured_payload::{SealOptions, Sealer};
use bankrail::values::excerpt;
use bankrail::webhook::MessageKind;
use http::{HeaderName, HeaderValue};
use serde::{Deserialize, Deserializer};
use std::path::Path;

/// The bytes of a file of settings that are read.
const MOST: usize = 1 << 20;

/// The settings, after the arguments were put over those of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    url: Option<String>,
    outcome: Option<String>,
    notification: Option<String>,
    payment: Option<String>,
    query: Option<String>,
    sign: Option<String>,
    sign_kid: Option<String>,
    sign_4096: Option<String>,
    sign_4096_kid: Option<String>,
    encrypt_to: Option<String>,
    encrypt_kid: Option<String>,
    roots: Option<String>,
    #[serde(default, deserialize_with = "secret")]
    api_key: Option<String>,
    api_key_header: Option<String>,
}

/// What messages are made with.
pub(super) struct Keys {
    pub(super) sealer: Sealer,
    /// With the key of 4096 bits.
    pub(super) large: Option<Sealer>,
    pub(super) forge: Forge,
}

impl Settings {
    pub(super) fn of(arguments: &Receiver) -> Result<Self, Failure> {
        let mut settings = arguments.config.as_deref().map_or_else(|| Ok(Self::default()), Self::read)?;
        for (setting, argument) in [
            (&mut settings.url, &arguments.url),
            (&mut settings.outcome, &arguments.outcome),
            (&mut settings.notification, &arguments.notification),
            (&mut settings.payment, &arguments.payment),
            (&mut settings.query, &arguments.query),
            (&mut settings.sign, &arguments.sign),
            (&mut settings.sign_kid, &arguments.sign_kid),
            (&mut settings.sign_4096, &arguments.sign_4096),
            (&mut settings.sign_4096_kid, &arguments.sign_4096_kid),
            (&mut settings.encrypt_to, &arguments.encrypt_to),
            (&mut settings.encrypt_kid, &arguments.encrypt_kid),
            (&mut settings.roots, &arguments.roots),
            (&mut settings.api_key_header, &arguments.api_key_header),
        ] {
            if argument.is_some() {
                setting.clone_from(argument);
            }
        }
        if let Some(key) = given_api_key(arguments.api_key.as_deref())? {
            settings.api_key = Some(key.to_string());
        }
        Ok(settings)
    }

    /// Reads the file. Names of files in it become relative to the working folder.
    fn read(path: &Path) -> Result<Self, Failure> {
        let name = path.to_string_lossy();
        let text = input::read_text(&name, MOST)?;
        let next = "bankrail conformance receiver --help shows such a file";
        let mut settings: Self = input::parse_toml(path, &text, next)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for file in [&mut settings.sign, &mut settings.sign_4096, &mut settings.encrypt_to, &mut settings.roots] {
            *file = file.take().map(|name| folder.join(name).to_string_lossy().into_owned());
        }
        Ok(settings)
    }

    pub(super) fn keys(&self) -> Result<Keys, Failure> {
        let sign = required(self.sign.as_deref(), "--sign", "the provider's private key")?;
        let signing = file::signing(sign, self.sign_kid.as_deref())?;
        let encrypt_to = required(self.encrypt_to.as_deref(), "--encrypt-to", "the receivers' public key")?;
        let encryption = file::encryption(encrypt_to, self.encrypt_kid.as_deref())?;
        let large = self.sign_4096.as_deref().map(|path| large(path, self.sign_4096_kid.as_deref())).transpose()?;
        Ok(Keys {
            sealer: Sealer::new(signing.clone(), encryption.clone(), SealOptions::new()),
            large: large.map(|key| Sealer::new(key, encryption.clone(), SealOptions::new())),
            forge: Forge::new(&signing, encryption)?,
        })
    }

    pub(super) fn target(&self) -> Result<Target, Failure> {
        let mut addresses = [const { None }; MessageKind::ALL.len()];
        for (kind, found) in MessageKind::ALL.into_iter().zip(&mut addresses) {
            let own = match kind {
                MessageKind::MandateOutcome => &self.outcome,
                MessageKind::MandateNotification => &self.notification,
                MessageKind::PaymentOutcome => &self.payment,
                MessageKind::Query => &self.query,
            };
            let below =
                || self.url.as_ref().map(|base| format!("{}{}", base.trim_end_matches('/'), kind.default_path()));
            *found = own.clone().or_else(below).map(|text| address(&text)).transpose()?;
        }
        if addresses.iter().all(Option::is_none) {
            let what = "expected the address of a receiver, found none";
            return Err(Failure::unable(
                what,
                "name the address that the four are below, or pass --outcome and others",
            ));
        }
        let client = http(self.roots.as_deref())?.build();
        let client = client.map_err(|error| Failure::unable(causes(&error), "try again"))?;
        Ok(Target::new(addresses, client, self.api_key()?))
    }

    fn api_key(&self) -> Result<Option<(HeaderName, HeaderValue)>, Failure> {
        let usual = bankrail::http::names::API_KEY;
        let name = self.api_key_header.as_deref().unwrap_or(usual.as_str());
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
            let what = format!("--api-key-header: expected the name of a header, found {}", excerpt(name));
            Failure::unable(what, "pass the name that the receivers expect, such as apikey")
        })?;
        let value = |key: &String| {
            let mut value = HeaderValue::try_from(key.as_str()).map_err(|_| {
                Failure::unable("--api-key: expected the value of a header, found other characters", "check the key")
            })?;
            value.set_sensitive(true);
            Ok((header, value))
        };
        self.api_key.as_ref().map(value).transpose()
    }
}

fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    connection::secret(from).map(Some)
}

fn large(path: &str, kid: Option<&str>) -> Result<SigningKey, Failure> {
    let key = file::signing(path, kid)?;
    match key.verifying_key().public_key().bits() {
        4096 => Ok(key),
        bits => Err(Failure::refused(
            format_args!("{path}: expected a key of 4096 bits, found {bits}"),
            "pass a key of 2048 bits with --sign",
        )),
    }
}

fn required<'a>(value: Option<&'a str>, name: &str, what: &str) -> Result<&'a str, Failure> {
    value.ok_or_else(|| {
        Failure::unable(
            format_args!("{name}: expected {what}, found none"),
            "pass it, or a file that has it by --config",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_file_and_line_and_no_secret() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            Settings::read(file.path())
        };
        assert_eq!(read("api_key = \"12345678\"").unwrap().api_key.as_deref(), Some("12345678"));
        assert_eq!(read("url = \"https://a\"").unwrap().api_key, None);
        for value in ["12345678", "[12345678]", "12345678 x"] {
            let line = read(&format!("url = \"https://a\"\napi_key = {value}\n")).unwrap_err().into_parts().0.unwrap();
            assert!(line.starts_with(&format!("{}: line 2: ", file.path().display())), "{line}");
            assert!(!line.contains("12345678"), "{line}");
        }
    }
}
