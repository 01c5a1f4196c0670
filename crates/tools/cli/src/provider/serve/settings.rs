//! Options and files of a provider.

use super::super::{Folders, damaged, read};
use super::{Arguments, CERTIFICATE_INTERVAL};
use crate::connection::{given_certificate, given_proxy};
use crate::failure::{Failure, causes};
use crate::files::warn_if_exposed;
use crate::input;
use bankrail::bank::CustomerSet;
use bankrail::client_assertion::token::ScopeSet;
use bankrail::client_assertion::{Audience, VerifierOptions};
use bankrail::http::files;
use bankrail::http::serve::ClientAuthorities;
use bankrail::http::tls::{TlsError, client_config};
use bankrail::mailbox::Schedule;
use bankrail::service::CursorSecret;
use bankrail::service::delivery::{HttpsTransportOptions, TlsRoots};
use bankrail_emulator::{Fault, FaultOrder};
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::time::Duration;

/// The bytes of a file of certificate authorities that are read.
const MAX_ROOTS_BYTES: usize = 4 << 20;

pub(super) fn fault_help() -> String {
    let kinds: Vec<_> = Fault::names().collect();
    let kinds = kinds.join(", ");
    format!(
        "Make a share of the calls fail: KIND:RATE, where KIND is one of {kinds}, for one \
         endpoint after token- or \
         statement-, and RATE is such as 0.1 or 10%"
    )
}

/// Takes any text, and offers the names of faults to the completions of a shell.
#[derive(Clone, Copy, Debug)]
pub(in crate::provider) struct FaultNames;

impl TypedValueParser for FaultNames {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = ["", "token-", "statement-", "webhook-"]
            .into_iter()
            .flat_map(|endpoint| Fault::names().map(move |name| format!("{endpoint}{name}")))
            .filter(|name| FaultOrder::new(name).is_ok());
        Some(Box::new(names.map(PossibleValue::new)))
    }
}

/// The default pauses of the library.
pub(super) const PAUSES: &str = "5s,5m,30m,2h,5h,10h,14h,20h,24h";

pub(super) fn schedule(text: &str) -> Result<Schedule, &'static str> {
    let pause = |text: &str| {
        let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let unit = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            _ => return None,
        };
        Some(Duration::from_secs(
            u64::from(number.parse::<u32>().ok()?) * unit,
        ))
    };
    let pauses: Option<Vec<_>> = text.split(',').map(pause).collect();
    let pauses = pauses.ok_or("expected pauses in seconds, minutes or hours, such as 5s,10m,2h")?;
    // The first delivery is made at once.
    Ok(Schedule::new(
        std::iter::once(Duration::ZERO).chain(pauses),
        20,
    ))
}

/// The address of the page for people.
#[cfg(feature = "page")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WantedPage {
    Off,
    At(SocketAddr),
}

#[cfg(feature = "page")]
impl std::str::FromStr for WantedPage {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse::<SocketAddr>() {
            _ if text == "off" => Ok(Self::Off),
            Ok(address) if address.ip().is_loopback() => Ok(Self::At(address)),
            _ => Err("expected a loopback address and a port, such as 127.0.0.1:8444, or off"),
        }
    }
}

pub(super) fn default_issuer(address: SocketAddr) -> String {
    if address.ip().is_loopback() || address.ip().is_unspecified() {
        format!("https://localhost:{}", address.port())
    } else {
        format!("https://{address}")
    }
}

/// The scheme and the host of the issuer: the address before the paths of both endpoints.
pub(super) fn base_url(issuer: &str) -> &str {
    let host = issuer.find("://").map_or(0, |at| at + 3);
    let end = issuer
        .get(host..)
        .and_then(|rest| rest.find('/'))
        .map_or(issuer.len(), |at| host + at);
    issuer.get(..end).unwrap_or(issuer)
}

/// The name or the address of the issuer's host. The certificate that is made up is for it, and for
/// loopback.
pub(super) fn host(issuer: &str) -> Option<String> {
    let host = base_url(issuer)
        .parse::<http::Uri>()
        .ok()?
        .host()?
        .to_owned();
    Some(host.trim_matches(['[', ']']).to_owned())
}

pub(super) fn audience(issuer: &str) -> Result<Audience, Failure> {
    Audience::parse(issuer).map_err(|error| {
        Failure::unable(
            format_args!("--issuer: {}", causes(&error)),
            "pass a URL such as https://bank.example",
        )
    })
}

pub(super) fn verifier_options(arguments: &Arguments) -> VerifierOptions {
    let options = arguments
        .audience
        .iter()
        .cloned()
        .fold(VerifierOptions::new(), VerifierOptions::also_audience);
    if arguments.strict_clients {
        options
    } else {
        options.lenient_clients()
    }
}

/// Reads the secret that seals cursors. Without the file it is not made anew, because the other
/// machines of a provider have the old one.
pub(super) fn cursor_secret(folders: &Folders) -> Result<CursorSecret, Failure> {
    let path = folders.config("cursor.key");
    warn_if_exposed(&path);
    let text = files::read_text(&path, 256).map_err(|error| damaged(&path, &error))?;
    CursorSecret::from_base64(&text).map_err(|error| damaged(&path, &error))
}

/// The scopes of all customers, for the issuer's metadata.
pub(super) fn scopes(customers: &CustomerSet) -> Option<ScopeSet> {
    let scopes: BTreeSet<_> = customers
        .records()
        .flat_map(|record| record.customer.scopes.iter().cloned())
        .collect();
    ScopeSet::from_scopes(scopes.into_iter().collect::<Vec<_>>()).ok()
}

/// The way of deliveries.
pub(super) fn transport_options(
    arguments: &Arguments,
    folders: &Folders,
) -> Result<HttpsTransportOptions, Failure> {
    let mut options = HttpsTransportOptions::new()
        .tls_roots(roots(arguments, folders)?)
        .only_public_addresses(arguments.only_public_addresses);
    if let Some(given) = &arguments.proxy {
        options = options.proxy(given_proxy(given, arguments.no_proxy.as_deref())?);
    }
    if let Some(path) = &arguments.client_certificate {
        let certificate = given_certificate(&path.to_string_lossy())?;
        if path.as_os_str() != input::STANDARD {
            let renewed = certificate.clone();
            tokio::spawn(renewed.watch(path.clone(), CERTIFICATE_INTERVAL));
        }
        options = options.client_certificate(certificate);
    }
    Ok(options)
}

/// The authorities of callers' certificates, if callers are asked for one.
pub(super) fn client_authorities(
    arguments: &Arguments,
) -> Result<Option<ClientAuthorities>, Failure> {
    let Some(path) = &arguments.client_roots else {
        return Ok(None);
    };
    let path = path.to_string_lossy();
    let pem = input::read(&path, MAX_ROOTS_BYTES)?;
    let clients = ClientAuthorities::from_pem(&pem).map_err(|error| {
        let what = format!("{}: {}", input::name(&path), causes(&error));
        Failure::unable(what, "pass certificates as PEM with --client-roots")
    })?;
    Ok(Some(
        clients.optional(arguments.client_certificate_optional),
    ))
}

/// The certificate authorities of receivers.
fn roots(arguments: &Arguments, folders: &Folders) -> Result<TlsRoots, Failure> {
    let mut all = Vec::new();
    if folders.is_demo() {
        let path = folders.config("ca.pem");
        add_roots(&read(&path)?, &mut all).map_err(|error| damaged(&path, &error))?;
    }
    if let Some(path) = &arguments.roots {
        let path = path.to_string_lossy();
        add_roots(&input::read(&path, MAX_ROOTS_BYTES)?, &mut all).map_err(|error| {
            let what = format!("{}: {}", input::name(&path), causes(&error));
            Failure::unable(what, "pass certificates as PEM with --roots")
        })?;
    }
    Ok(if all.is_empty() {
        TlsRoots::Platform
    } else if arguments.system_roots {
        TlsRoots::PlatformAndPem(all)
    } else {
        TlsRoots::OnlyPem(all)
    })
}

/// Adds authorities to all, if they are usable.
fn add_roots(pem: &[u8], all: &mut Vec<u8>) -> Result<(), TlsError> {
    // Each file is tried alone, so that an error names it.
    client_config(Some(&TlsRoots::OnlyPem(pem.to_vec())), None)?;
    all.extend_from_slice(pem);
    // A file may end without a line break.
    all.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Provider;
    use clap::{Args as _, FromArgMatches as _};

    #[tokio::test(start_paused = true)]
    async fn a_renewed_client_certificate_is_shown_to_receivers_without_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own.pem");
        let made = rcgen::generate_simple_self_signed(["client".to_owned()]).unwrap();
        let (chain, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        std::fs::write(&own, chain.clone() + &key).unwrap();
        let words = ["provider", "--client-certificate", own.to_str().unwrap()];
        let matches = Provider::augment_args(Command::new("bankrail")).get_matches_from(words);
        let arguments = Provider::from_arg_matches(&matches)
            .unwrap()
            .serve
            .arguments;
        let folders = Folders::of(Some(folder.path()), Some(folder.path()));
        let options = transport_options(&arguments, &folders).unwrap();
        let shown = || format!("{options:?}");
        assert!(
            shown().contains("ClientCertificate(1 certificates)"),
            "{}",
            shown()
        );
        // A file that is half written leaves the one before.
        for (content, certificates) in [(chain.clone(), 1), (chain.repeat(2) + &key, 2)] {
            std::fs::write(&own, content).unwrap();
            tokio::time::sleep(CERTIFICATE_INTERVAL + Duration::from_secs(1)).await;
            let expected = format!("ClientCertificate({certificates} certificates)");
            assert!(shown().contains(&expected), "{}", shown());
        }
    }

    #[cfg(feature = "page")]
    #[test]
    fn the_page_is_on_loopback_or_off() {
        assert_eq!("off".parse(), Ok(WantedPage::Off));
        assert_eq!(
            "[::1]:80".parse(),
            Ok(WantedPage::At("[::1]:80".parse().unwrap()))
        );
        for text in [
            "0.0.0.0:80",
            "192.0.2.1:80",
            "127.0.0.1",
            "localhost:80",
            "OFF",
            "",
        ] {
            assert!(text.parse::<WantedPage>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_schedule_is_the_pauses_between_deliveries() {
        assert_eq!(schedule(PAUSES), Ok(Schedule::default()));
        let short = Schedule::new([0, 5, 120, 3600].map(Duration::from_secs), 20);
        assert_eq!(schedule("5s,2m,1h"), Ok(short));
        for text in [
            "",
            "5",
            "s",
            "5s,",
            "5s 2m",
            "-5s",
            "5d",
            "5é",
            "1.5h",
            "4294967296s",
        ] {
            assert!(schedule(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_endpoints_are_at_the_host_of_the_issuer() {
        for (issuer, expected, name) in [
            (
                "https://localhost:8443",
                "https://localhost:8443",
                "localhost",
            ),
            (
                "https://bank.example/auth/",
                "https://bank.example",
                "bank.example",
            ),
            ("https://[::1]:1/x", "https://[::1]:1", "::1"),
        ] {
            assert_eq!(
                (base_url(issuer), host(issuer).as_deref()),
                (expected, Some(name))
            );
        }
        assert_eq!(
            default_issuer("0.0.0.0:1".parse().unwrap()),
            "https://localhost:1"
        );
        assert_eq!(
            default_issuer("192.0.2.1:1".parse().unwrap()),
            "https://192.0.2.1:1"
        );
    }
}
