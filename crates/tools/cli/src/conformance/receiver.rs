//! `bankrail conformance receiver`: the judge of receivers, set up by arguments and the file of
//! `--config`.

use super::{Printing, api_key_header, failure, needed, roots};
use crate::block_on;
use crate::connection::{given_api_key, given_certificate, given_proxy};
use crate::failure::{Failure, Outcome};
use crate::input;
use crate::keys::file;
use crate::output::Output;
use bankrail::webhook::EachKind;
use bankrail_conformance::{
    JudgeError, ReceiverAddresses, ReceiverJudge, ReceiverJudgeOptions, RowSelection,
};
use clap::Args;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Table;

/// The maximum number of bytes of a file of settings.
const MAX_FILE_BYTES: usize = 1 << 20;

#[derive(Args, Debug)]
pub(crate) struct Receiver {
    #[command(flatten)]
    settings: Settings,
    /// A file with values for the other arguments
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Judge these rows only, such as S9 or S21.7; may be repeated
    #[arg(long, value_name = "ID")]
    only: Vec<RowSelection>,
    #[command(flatten)]
    printing: Printing,
}

pub(super) fn run(arguments: &Receiver, output: &mut Output) -> Result<Outcome, Failure> {
    let judge = Settings::of(arguments)?.judge(arguments)?;
    let judged = block_on(async { Ok(judge.judge().await) })?;
    let next = "start the receivers, and check the address and --roots";
    arguments.printing.print(
        &judged.map_err(|error| failure(&error, next, &arguments.only))?,
        output,
    )
}

/// The values that arguments and file can have.
#[derive(Args, Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// The address that the four receivers are below: /payto/mandates/outcomes,
    /// /payto/mandates/notifications, /payto/mpirs/outcomes, /payto/queries
    url: Option<String>,
    /// The receiver of mandate action outcomes, if it is elsewhere
    #[arg(long, value_name = "URL")]
    outcome: Option<String>,
    /// The receiver of mandate notifications, if it is elsewhere
    #[arg(long, value_name = "URL")]
    notification: Option<String>,
    /// The receiver of payment instruction outcomes, if it is elsewhere
    #[arg(long, value_name = "URL")]
    payment: Option<String>,
    /// The receiver of payer query notifications, if it is elsewhere
    #[arg(long, value_name = "URL")]
    query: Option<String>,
    /// The provider's private key, whose public half the receivers verify with
    #[arg(long, value_name = "FILE")]
    sign: Option<String>,
    /// The name of that key, for the signed header
    #[arg(long, value_name = "KID")]
    sign_kid: Option<String>,
    /// Another private key of the provider, of 4096 bits, that the receivers know too
    #[arg(long, value_name = "FILE")]
    sign_4096: Option<String>,
    /// The name of that key
    #[arg(long, value_name = "KID")]
    sign_4096_kid: Option<String>,
    /// The receivers' public key, to encrypt to
    #[arg(long, value_name = "FILE")]
    encrypt_to: Option<String>,
    /// The name of that key, for the outer header
    #[arg(long, value_name = "KID")]
    encrypt_kid: Option<String>,
    /// The certificate authorities to trust as PEM, instead of those of the system
    #[arg(long, value_name = "FILE")]
    roots: Option<String>,
    /// The certificate for receivers that ask for one, with its private key, as PEM
    #[arg(long, value_name = "FILE")]
    client_certificate: Option<String>,
    /// The proxy, such as socks5h://proxy.example:1080, or @FILE for the first line of FILE; that of
    /// the environment is not used
    #[arg(long, value_name = "URL")]
    #[serde(default, deserialize_with = "secret")]
    proxy: Option<String>,
    /// The hosts that are called without the proxy, such as .bank.internal
    #[arg(long, value_name = "HOSTS")]
    no_proxy: Option<String>,
    /// The API key that the receivers expect, which others see in the list of processes, or @FILE,
    /// or BANKRAIL_API_KEY
    #[arg(long, value_name = "KEY")]
    #[serde(default, deserialize_with = "secret")]
    api_key: Option<String>,
    /// The header of the API key [default: apikey]
    #[arg(long, value_name = "NAME")]
    api_key_header: Option<String>,
    /// A list of the messages that the receivers have handled: a file or an https address with one
    /// JSON object a line, as described below
    #[arg(long, value_name = "URL|FILE")]
    handled: Option<String>,
}

impl Settings {
    /// Returns the values of the arguments, and those of the file where an argument is missing.
    fn of(arguments: &Receiver) -> Result<Self, Failure> {
        let file = arguments
            .config
            .as_deref()
            .map_or_else(|| Ok(Self::default()), Self::read)?;
        let mut given = arguments.settings.clone();
        given.api_key = given_api_key(given.api_key.as_deref())?.map(|key| key.to_string());
        let [mut all, given] =
            [&file, &given].map(|settings| Table::try_from(settings).expect("texts are TOML"));
        all.extend(given);
        Ok(all.try_into().expect("both are settings"))
    }

    /// Reads the file. Relative names of files in it are made relative to the working folder.
    fn read(path: &Path) -> Result<Self, Failure> {
        let name = path.to_string_lossy();
        let text = input::read_text(&name, MAX_FILE_BYTES)?;
        let next = "bankrail conformance receiver --help shows such a file";
        let mut settings: Self = input::parse_toml(path, &text, next)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for file in [
            &mut settings.sign,
            &mut settings.sign_4096,
            &mut settings.encrypt_to,
            &mut settings.roots,
            &mut settings.client_certificate,
            &mut settings.handled,
        ] {
            let is_address = |name: &String| name.starts_with("https://");
            if let Some(name) = file.take_if(|name| !is_address(name)) {
                *file = Some(folder.join(name).to_string_lossy().into_owned());
            }
        }
        Ok(settings)
    }

    fn judge(self, arguments: &Receiver) -> Result<ReceiverJudge, Failure> {
        let given = "pass it, or name a file that has it with --config";
        let sign = needed(
            self.sign.as_deref(),
            "--sign: expected the provider's private key",
            given,
        )?;
        let encrypt_to = needed(
            self.encrypt_to.as_deref(),
            "--encrypt-to: expected the receivers' public key",
            given,
        )?;
        let mut options = ReceiverJudgeOptions::new()
            .api_key_header(api_key_header(self.api_key_header.as_deref())?)
            .roots(roots(self.roots.as_deref(), false)?)
            .strict(arguments.printing.strict)
            .only(arguments.only.clone());
        if let Some(seed) = arguments.printing.seed {
            options = options.seed(seed);
        }
        if let Some(seconds) = arguments.printing.timeout {
            options = options.timeout(Duration::from_secs(seconds));
        }
        if let Some(path) = &self.sign_4096 {
            options =
                options.large_signing_key(file::signing(path, self.sign_4096_kid.as_deref())?);
        }
        if let Some(source) = &self.handled {
            options = options.handled(source.clone());
        }
        if let Some(path) = &self.client_certificate {
            options = options.client_certificate(given_certificate(path)?);
        }
        if let Some(given) = &self.proxy {
            options = options.proxy(given_proxy(given, self.no_proxy.as_deref())?);
        }
        if let Some(key) = &self.api_key {
            options = options.api_key(key.as_str().into());
        }
        let (sign, encrypt_to) = (
            file::signing(sign, self.sign_kid.as_deref())?,
            file::encryption(encrypt_to, self.encrypt_kid.as_deref())?,
        );
        let judge = self
            .addresses()
            .and_then(|addresses| ReceiverJudge::new(addresses, &sign, &encrypt_to, options));
        judge.map_err(|error| failure(&error, "", &arguments.only))
    }

    fn addresses(&self) -> Result<ReceiverAddresses, JudgeError> {
        let mut addresses = self.url.as_deref().map_or_else(
            || Ok(ReceiverAddresses::default()),
            ReceiverAddresses::below,
        )?;
        let each = EachKind {
            mandate_outcome: &self.outcome,
            mandate_notification: &self.notification,
            payment_outcome: &self.payment,
            query: &self.query,
        };
        for (kind, own) in each {
            if let Some(own) = own {
                addresses = addresses.with(kind, own)?;
            }
        }
        Ok(addresses)
    }
}

/// Reads a secret. The error for a value of another type does not quote the value.
fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    match toml::Value::deserialize(from)? {
        toml::Value::String(text) => Ok(Some(text)),
        _ => Err(D::Error::custom("expected a text in quotation marks")),
    }
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
        assert_eq!(
            read("api_key = \"12345678\"").unwrap().api_key.as_deref(),
            Some("12345678")
        );
        assert_eq!(read("url = \"https://a\"").unwrap().api_key, None);
        for value in ["12345678", "[12345678]", "12345678 x"] {
            let line = read(&format!("url = \"https://a\"\napi_key = {value}\n"))
                .unwrap_err()
                .into_parts()
                .0
                .unwrap();
            assert!(
                line.starts_with(&format!("{}: line 2: ", file.path().display())),
                "{line}"
            );
            assert!(!line.contains("12345678"), "{line}");
        }
    }
}
