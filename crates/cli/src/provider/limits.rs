//! `--limits`: those of the specification, none, or those of a file.

use super::folder::read;
use crate::failure::{Failure, causes};
use bankrail::rate_limit::{CallType, Limits, Policy, Window};
use bankrail::service::customers::LimitOverride;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What `--limits` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Specification,
    Off,
    File(PathBuf),
}

impl FromStr for Wanted {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "spec" => Self::Specification,
            "off" => Self::Off,
            file => Self::File(file.into()),
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    limits: Vec<Row>,
}

/// As in a customer's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    call_type: String,
    per_hour: Option<u32>,
    per_minute: Option<u32>,
    per_second: Option<u32>,
    #[serde(default)]
    unlimited: bool,
}

impl Wanted {
    /// The limits of all customers.
    pub(super) fn limits(&self) -> Result<Limits, Failure> {
        let mut limits = Limits::new();
        match self {
            Self::Specification => {}
            Self::Off => {
                for call_type in CallType::ALL {
                    limits.set_default(call_type, Policy::unlimited());
                }
            }
            Self::File(path) => {
                let text = String::from_utf8_lossy(&read(path)?).into_owned();
                let file: File = toml::from_str(&text).map_err(|error| {
                    let start = error.span().map_or(0, |span| span.start);
                    let line = text.get(..start).unwrap_or_default().matches('\n').count() + 1;
                    refused(path, format_args!("line {line}: {}", error.message()))
                })?;
                for (at, row) in file.limits.iter().enumerate() {
                    let place = |what: String| refused(path, format_args!("limit {}: {what}", at + 1));
                    row.set(&mut limits).map_err(place)?;
                }
            }
        }
        Ok(limits)
    }
}

impl Row {
    fn set(&self, limits: &mut Limits) -> Result<(), String> {
        let call_type: CallType = self.call_type.parse().map_err(|error| causes(&error))?;
        let windows = [
            self.per_hour.map(Window::per_hour),
            self.per_minute.map(Window::per_minute),
            self.per_second.map(Window::per_second),
        ];
        let windows = windows.into_iter().flatten().collect::<Result<Vec<_>, _>>().map_err(|error| causes(&error))?;
        let limit = match (self.unlimited, windows.is_empty()) {
            (true, true) => LimitOverride::unlimited(call_type),
            (true, false) => return Err("expected unlimited alone, found a limit too".to_owned()),
            (false, _) => LimitOverride::new(call_type, &windows).map_err(|error| causes(&error))?,
        };
        let policy = limit.policy(limits.default_policy(call_type)).map_err(|error| causes(&error))?;
        limits.set_default(call_type, policy);
        Ok(())
    }
}

fn refused(path: &Path, what: impl std::fmt::Display) -> Failure {
    Failure::unable(format_args!("{}: {what}", path.display()), "bankrail provider --help shows an example")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Limits, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Wanted::File(file.path().to_owned()).limits().map_err(|failure| format!("{failure:?}"))
    }

    #[test]
    fn a_file_changes_what_it_names_and_keeps_the_rest() {
        let both = "[[limits]]\ncall_type = \"token\"\nper_hour = 100\n\n\
            [[limits]]\ncall_type = \"statement\"\nunlimited = true\n";
        let limits = of(both).unwrap();
        let token = [Window::per_hour(100).unwrap(), Window::per_second(2).unwrap()];
        assert_eq!(limits.default_policy(CallType::Token).windows(), token);
        assert_eq!(limits.default_policy(CallType::Statement).windows(), []);
        let off = Wanted::Off.limits().unwrap();
        assert!(CallType::ALL.iter().all(|call_type| off.default_policy(*call_type).windows().is_empty()));
    }

    #[test]
    fn a_fault_is_named_with_its_place() {
        for (text, expected) in [
            ("[[limits]]\n\ncall_typ = 1\n", "line 3"),
            ("[[limits]]\ncall_type = \"tokens\"\n", "limit 1: expected"),
            ("[[limits]]\ncall_type = \"token\"\n", "limit 1: "),
            ("[[limits]]\ncall_type = \"token\"\nper_hour = 0\n", "limit 1: "),
            (
                "[[limits]]\ncall_type = \"token\"\nper_hour = 1\nunlimited = true\n",
                "limit 1: expected unlimited alone",
            ),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
