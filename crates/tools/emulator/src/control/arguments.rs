//! The arguments of an operation.

use super::error::ControlError;
use super::operation::{Member, MemberKind, Operation};
use bankrail_values::{Timestamp, excerpt, jitter};
use serde_json::{Map, Value};
use std::fmt::Display;
use std::str::FromStr;

/// The arguments of an [`Operation`]: members that were checked to be of the operation and of the
/// right kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    operation: Operation,
    members: Map<String, Value>,
}

impl Arguments {
    /// Makes arguments from members as texts, as on a command line or in a form.
    ///
    /// # Errors
    /// [`ControlError::Wrong`] for a member that the operation does not have or that has the wrong
    /// kind, and for a missing one.
    pub fn from_texts<N: AsRef<str>, T: AsRef<str>>(
        operation: Operation,
        texts: impl IntoIterator<Item = (N, T)>,
    ) -> Result<Self, ControlError> {
        let value = |name: &str, text: &str| {
            let is_json =
                |member: &&Member| !matches!(member.kind, MemberKind::Text | MemberKind::Lines);
            let member = operation
                .members()
                .iter()
                .find(|member| member.name == name)
                .filter(is_json);
            // A text that is not JSON stays a text, which is refused later.
            member
                .and_then(|_| serde_json::from_str(text).ok())
                .unwrap_or_else(|| Value::from(text))
        };
        let texts = texts.into_iter();
        let members = texts.map(|(name, text)| {
            (
                name.as_ref().to_owned(),
                value(name.as_ref(), text.as_ref()),
            )
        });
        Self::checked(operation, members.collect())
    }

    /// Makes arguments from the members of a JSON object; an empty body has none.
    ///
    /// # Errors
    /// As [`Arguments::from_texts`], and for a body that is no JSON object.
    pub fn from_json(operation: Operation, body: &[u8]) -> Result<Self, ControlError> {
        if body.is_empty() {
            return Self::checked(operation, Map::new());
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(members)) => Self::checked(operation, members),
            Ok(_) => Err(ControlError::Wrong(
                "expected a JSON object, found another value".to_owned(),
            )),
            Err(error) => Err(ControlError::Wrong(format!(
                "expected a JSON object: {error}"
            ))),
        }
    }

    fn checked(operation: Operation, members: Map<String, Value>) -> Result<Self, ControlError> {
        let known = operation.members();
        for (name, value) in &members {
            let Some(member) = known.iter().find(|member| member.name == name) else {
                let names: Vec<_> = known.iter().map(|member| member.name).collect();
                let names = if names.is_empty() {
                    "no member".to_owned()
                } else {
                    format!("one of {}", names.join(", "))
                };
                return Err(ControlError::Wrong(format!(
                    "expected {names}, found {}",
                    excerpt(name)
                )));
            };
            let (is_right, kind) = match member.kind {
                MemberKind::Text | MemberKind::Lines => (value.is_string(), "a text"),
                MemberKind::Number => (value.is_u64(), "a whole number from 0 on"),
                MemberKind::Flag => (value.is_boolean(), "true or false"),
                MemberKind::Object => (value.is_object(), "a JSON object"),
            };
            if !is_right {
                return Err(ControlError::Wrong(format!(
                    "{name}: expected {kind}, found {}",
                    excerpt(&value.to_string())
                )));
            }
            let values = (member.values)();
            if let Some(text) = value.as_str().filter(|text| !values.contains(text))
                && !values.is_empty()
            {
                return Err(ControlError::Wrong(format!(
                    "{name}: expected one of {}, found {}",
                    values.join(", "),
                    excerpt(text)
                )));
            }
        }
        match known
            .iter()
            .find(|member| member.is_required && !members.contains_key(member.name))
        {
            Some(missing) => Err(ControlError::Wrong(format!(
                "expected {}, found none",
                missing.name
            ))),
            None => Ok(Self { operation, members }),
        }
    }

    /// Returns the operation.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Returns the members as a JSON object.
    #[must_use]
    pub fn to_json(&self) -> String {
        Value::from(self.members.clone()).to_string()
    }

    /// Returns the text of a member.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.members.get(name)?.as_str()
    }

    /// Returns the number of a member.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        self.members.get(name)?.as_u64()
    }

    /// Returns true if a flag is set.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.members.get(name).is_some_and(|value| value == true)
    }

    /// Returns the JSON text of a member that is an object.
    #[must_use]
    pub fn object(&self, name: &str) -> Option<String> {
        Some(
            self.members
                .get(name)
                .filter(|value| value.is_object())?
                .to_string(),
        )
    }

    /// Parses the text of a member.
    ///
    /// # Errors
    /// [`ControlError::Wrong`], which names the member, if the text cannot be parsed.
    pub fn parsed<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, ControlError> {
        let parse = |text: &str| {
            text.parse()
                .map_err(|error| ControlError::Wrong(format!("{name}: {error}")))
        };
        self.text(name).map(parse).transpose()
    }

    /// Parses a member as an instant in UTC, with or without a fraction of the second.
    ///
    /// # Errors
    /// [`ControlError::Wrong`], which names the member, if the text is no instant.
    pub fn instant(&self, name: &str) -> Result<Option<Timestamp>, ControlError> {
        let parse = |text: &str| match Timestamp::parse_with_precision(text) {
            Ok((instant, _)) => Ok(instant),
            Err(error) => Err(ControlError::Wrong(format!("{name}: {error}"))),
        };
        self.text(name).map(parse).transpose()
    }

    /// Returns the seed of a story: the given number, or a random one. The caller reports it, so
    /// that the same story can be repeated.
    #[must_use]
    pub fn seed(&self) -> u64 {
        // 32 bits are short enough to be copied by hand.
        self.number("seed").unwrap_or_else(|| jitter() >> 32)
    }

    /// Returns the number of a member as another type.
    ///
    /// # Errors
    /// [`ControlError::Wrong`], which names the member, if the number does not fit.
    pub fn fitting<T: TryFrom<u64>>(&self, name: &str) -> Result<Option<T>, ControlError> {
        let fit = |number: u64| {
            T::try_from(number).map_err(|_| {
                ControlError::Wrong(format!("{name}: expected a smaller number, found {number}"))
            })
        };
        self.number(name).map(fit).transpose()
    }
}
