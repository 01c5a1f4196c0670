//! `--limits`: those of the specification, none, or those of a file.

use crate::failure::{Failure, causes};
use crate::input;
use bankrail::bank::LimitOverride;
use bankrail::rate_limit::{CallType, Limits, Policy, Window};
use serde::Deserialize;
use std::path::PathBuf;
use std::str::FromStr;

/// The bytes of a file that are read.
const MOST: usize = 64 * 1024;

/// What to do about a file that is wrong.
const NEXT: &str = "bankrail provider --help shows an example";

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
                let name = path.to_string_lossy();
                let text = input::read_text(&name, MOST).map_err(Failure::into_unable)?;
                let file: File = input::parse_toml(path, &text, NEXT)?;
                for (number, row) in (1..).zip(&file.limits) {
                    row.set(&mut limits).map_err(|what| {
                        Failure::unable(format_args!("{}: limit {number}: {what}", input::name(&name)), NEXT)
                    })?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: impl AsRef<[u8]>) -> Result<Limits, String> {
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
        let error = of(b"# \xff").unwrap_err();
        assert!(error.contains("expected UTF-8"), "{error}");
        let missing = Wanted::File("/nowhere/limits.toml".into()).limits().unwrap_err();
        let missing = missing.into_parts().0.unwrap();
        assert!(missing.starts_with("/nowhere/limits.toml: ") && missing.contains("check the name"), "{missing}");
    }
}
