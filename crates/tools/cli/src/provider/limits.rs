//! `--limits`: those of the specification, [`MORE`] times as many, none, or those of a file.

use super::first_errors;
use crate::failure::{Failure, causes};
use crate::input;
use bankrail::bank::LimitOverride;
use bankrail::rate_limit::{CallType, Limits, Policy, Window};
use std::path::PathBuf;
use std::str::FromStr;

/// The bytes of a file that are read.
const MAX_FILE_BYTES: usize = 64 * 1024;

/// The factor of the trial limits over those of the specification.
const MORE: u32 = 40;

/// Advice about a wrong file.
const NEXT: &str = "bankrail provider --help shows an example";

/// The value of `--limits`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// [`MORE`] times those of the specification.
    Trial,
    Real,
    Off,
    File(PathBuf),
}

impl FromStr for Wanted {
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

impl Wanted {
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
                let text = input::read_text(&name, MAX_FILE_BYTES).map_err(Failure::into_unable)?;
                let file = input::name(&name);
                let all = LimitOverride::list_from_toml(file, &text);
                for limit in all.map_err(|error| Failure::unable(first_errors(&error), NEXT))? {
                    let refused = |why| {
                        Failure::unable(format_args!("{file}: {}: {why}", limit.call_type()), NEXT)
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
                    "{MORE} times the specification's limits; --limits real: exactly those"
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

/// A policy with [`MORE`] times the limits.
fn for_trial(policy: &Policy) -> Policy {
    let more = |window: &Window| {
        let limit = window.limit().saturating_mul(MORE).min(window.ceiling());
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
        Wanted::File(file.path().to_owned())
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
        let trial = Wanted::Trial.limits().unwrap();
        let token = [
            Window::per_hour(400).unwrap(),
            Window::per_second(80).unwrap(),
        ];
        assert_eq!(trial.default_policy(CallType::Token).windows(), token);
        assert_eq!(
            Wanted::Real
                .limits()
                .unwrap()
                .default_policy(CallType::Token)
                .windows()[0]
                .limit(),
            10
        );
        let lines = Wanted::File("limits.toml".into()).lines(&limits);
        assert_eq!(lines.len(), CallType::ALL.len());
        let token = "token: 100 per 3600s, 2 per 1s (";
        assert!(
            lines.iter().any(|line| line.starts_with(token)),
            "a window that is not named is said: {lines:?}"
        );
        let off = Wanted::Off.limits().unwrap();
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
        let missing = Wanted::File("/nowhere/limits.toml".into())
            .limits()
            .unwrap_err();
        let missing = missing.into_parts().0.unwrap();
        assert!(
            missing.starts_with("/nowhere/limits.toml: ") && missing.contains("check the name"),
            "{missing}"
        );
    }
}
