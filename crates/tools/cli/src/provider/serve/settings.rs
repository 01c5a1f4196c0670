//! The values of a provider's options.

use super::super::first_errors;
use super::Arguments;
use crate::failure::{Failure, causes};
use crate::input;
use bankrail::bank::LimitOverride;
use bankrail::http::serve::ClientAuthorities;
use bankrail::mailbox::Schedule;
use bankrail::rate_limit::{CallType, Limits, Policy, Window};
use bankrail_emulator::{Fault, FaultOrder};
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The bytes of a file of certificate authorities that are read.
pub(super) const MAX_ROOTS_BYTES: usize = 4 << 20;

pub(super) fn fault_help() -> String {
    let kinds: Vec<_> = Fault::names().collect();
    let kinds = kinds.join(", ");
    format!(
        "Make a share of the calls fail: KIND:RATE, where KIND is one of {kinds}, for one \
         endpoint after token- or \
         statement-, and RATE is such as 0.1 or 10%"
    )
}

/// A parser that accepts any text, and offers the names of faults to the completions of a shell.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageAddress {
    Off,
    At(SocketAddr),
}

impl FromStr for PageAddress {
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

/// Returns the scheme and the host of the issuer: the address before the paths of both endpoints.
pub(super) fn base_url(issuer: &str) -> &str {
    let host = issuer.find("://").map_or(0, |at| at + 3);
    let end = issuer
        .get(host..)
        .and_then(|rest| rest.find('/'))
        .map_or(issuer.len(), |at| host + at);
    issuer.get(..end).unwrap_or(issuer)
}

/// Returns the name or the address of the issuer's host, for which the generated certificate is
/// valid, as for loopback.
pub(super) fn host(issuer: &str) -> Option<String> {
    let host = base_url(issuer)
        .parse::<http::Uri>()
        .ok()?
        .host()?
        .to_owned();
    Some(host.trim_matches(['[', ']']).to_owned())
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

/// The bytes of a file that are read.
const MAX_LIMITS_BYTES: usize = 64 * 1024;

/// The factor of the trial limits over those of the specification.
const TRIAL_FACTOR: u32 = 40;

/// Advice about a wrong file.
const ADVICE: &str = "bankrail provider --help shows an example";

/// The value of `--limits`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LimitsChoice {
    /// [`TRIAL_FACTOR`] times those of the specification.
    Trial,
    Real,
    Off,
    File(PathBuf),
}

impl FromStr for LimitsChoice {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "trial" => Self::Trial,
            "real" => Self::Real,
            "off" => Self::Off,
            file => Self::File(file.into()),
        })
    }
}

impl LimitsChoice {
    /// The limits of all customers.
    pub(super) fn limits(&self) -> Result<Limits, Failure> {
        let mut limits = Limits::new();
        match self {
            Self::Real => {}
            Self::Trial => CallType::ALL.iter().for_each(|call_type| {
                limits.set_default(*call_type, for_trial(limits.default_policy(*call_type)));
            }),
            Self::Off => CallType::ALL.iter().for_each(|call_type| {
                limits.set_default(*call_type, Policy::unlimited());
            }),
            Self::File(path) => {
                let name = path.to_string_lossy();
                let text =
                    input::read_text(&name, MAX_LIMITS_BYTES).map_err(Failure::into_unable)?;
                let file = input::name(&name);
                let all = LimitOverride::list_from_toml(file, &text);
                for limit in all.map_err(|error| Failure::unable(first_errors(&error), ADVICE))? {
                    let refused = |why| {
                        Failure::unable(
                            format_args!("{file}: {}: {why}", limit.call_type()),
                            ADVICE,
                        )
                    };
                    if limit.ends().is_some() {
                        return Err(refused(
                            "expected a limit without until, found one that ends".to_owned(),
                        ));
                    }
                    let policy = limit.policy(limits.default_policy(limit.call_type()));
                    limits.set_default(
                        limit.call_type(),
                        policy.map_err(|error| refused(causes(&error)))?,
                    );
                }
            }
        }
        Ok(limits)
    }

    /// Returns the lines about the limits at the start. A window that a file does not name keeps
    /// the specification's limit.
    pub(super) fn lines(&self, limits: &Limits) -> Vec<String> {
        match self {
            Self::Trial => {
                vec![format!(
                    "{TRIAL_FACTOR} times the specification's limits; --limits real: exactly those"
                )]
            }
            Self::File(_) => {
                let line = |call_type: &CallType| {
                    format!("{call_type}: {}", limits.default_policy(*call_type))
                };
                CallType::ALL.iter().map(line).collect()
            }
            Self::Real | Self::Off => Vec::new(),
        }
    }
}

/// A policy with [`TRIAL_FACTOR`] times the limits.
fn for_trial(policy: &Policy) -> Policy {
    let more = |window: &Window| {
        let limit = window
            .limit()
            .saturating_mul(TRIAL_FACTOR)
            .min(window.ceiling());
        Window::new(window.length(), limit).unwrap_or(*window)
    };
    let windows: Vec<Window> = policy.windows().iter().map(more).collect();
    Policy::new(policy.algorithm(), policy.counting(), &windows).unwrap_or(*policy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: impl AsRef<[u8]>) -> Result<Limits, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        LimitsChoice::File(file.path().to_owned())
            .limits()
            .map_err(|failure| format!("{failure:?}"))
    }

    #[test]
    fn a_file_changes_what_it_names_and_keeps_the_rest() {
        let both = "[[limits]]\ncall_type = \"token\"\nper_hour = 100\n\n\
            [[limits]]\ncall_type = \"statement\"\nunlimited = true\n";
        let limits = of(both).unwrap();
        let token = [
            Window::per_hour(100).unwrap(),
            Window::per_second(2).unwrap(),
        ];
        assert_eq!(limits.default_policy(CallType::Token).windows(), token);
        assert_eq!(limits.default_policy(CallType::Statement).windows(), []);
        let trial = LimitsChoice::Trial.limits().unwrap();
        let token = [
            Window::per_hour(400).unwrap(),
            Window::per_second(80).unwrap(),
        ];
        assert_eq!(trial.default_policy(CallType::Token).windows(), token);
        assert_eq!(
            LimitsChoice::Real
                .limits()
                .unwrap()
                .default_policy(CallType::Token)
                .windows()[0]
                .limit(),
            10
        );
        let lines = LimitsChoice::File("limits.toml".into()).lines(&limits);
        assert_eq!(lines.len(), CallType::ALL.len());
        let token = "token: 100 per 3600s, 2 per 1s (";
        assert!(
            lines.iter().any(|line| line.starts_with(token)),
            "a window that is not named is said: {lines:?}"
        );
        let off = LimitsChoice::Off.limits().unwrap();
        assert!(
            CallType::ALL
                .iter()
                .all(|call_type| off.default_policy(*call_type).windows().is_empty())
        );
    }

    #[test]
    fn a_fault_is_named_with_its_place() {
        for (text, expected) in [
            (
                "[[limits]]\ncall_type = \"token\"\nper_hour = 1\nper_day = 1\n",
                ":4:1: expected one of call_type, ",
            ),
            (
                "[[limits]]\ncall_type = \"tokens\"\n",
                ":2:13: expected the name of a call type",
            ),
            (
                "[[limits]]\ncall_type = \"token\"\n",
                ":1:1: expected a limit per hour",
            ),
            (
                "[[limits]]\ncall_type = \"token\"\nper_hour = 0\n",
                ":3:12: expected a limit of at least 1",
            ),
            (
                "[[limits]]\ncall_type = \"token\"\nper_hour = 1\nunlimited = true\n",
                ":1:1: expected unlimited alone",
            ),
            (
                "[[limits]]\ncall_type = \"token\"\nper_hour = 1\nuntil = 2026-11-23T00:00:00Z\n",
                "token: expected a limit without until",
            ),
            (
                "[[limits]]\ncall_tpye = \"token\"\nper_hour = 1\n",
                ":2:1: expected one of call_type, ",
            ),
            ("[[limits]]\nper_hour = 1\n", "the member call_type"),
            ("[[limit]]\n", ":1:3: expected one of limits, found "),
            ("limits = [", ":1:"),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        let error = of(b"# \xff").unwrap_err();
        assert!(error.contains("expected UTF-8"), "{error}");
        let missing = LimitsChoice::File("/nowhere/limits.toml".into())
            .limits()
            .unwrap_err();
        let missing = missing.into_parts().0.unwrap();
        assert!(
            missing.starts_with("/nowhere/limits.toml: ") && missing.contains("check the name"),
            "{missing}"
        );
    }

    #[test]
    fn the_page_is_on_loopback_or_off() {
        assert_eq!("off".parse(), Ok(PageAddress::Off));
        assert_eq!(
            "[::1]:80".parse(),
            Ok(PageAddress::At("[::1]:80".parse().unwrap()))
        );
        for text in [
            "0.0.0.0:80",
            "192.0.2.1:80",
            "127.0.0.1",
            "localhost:80",
            "OFF",
            "",
        ] {
            assert!(text.parse::<PageAddress>().is_err(), "{text}");
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
