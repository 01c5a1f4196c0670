//! The bounds on the calls of the judge.

use bankrail_values::excerpt;
use std::str::FromStr;
use std::time::Duration;

/// The number of calls that a judge may make. Default: 10 token requests and 25 statements.
///
/// A budget is read from a text such as `tokens=60,statements=100,tokens-per-second=20`. Limits
/// that are not named keep their defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    tokens: u32,
    statements: u32,
    tokens_per_second: u32,
}

/// The error for a text that is not a budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected tokens=N, statements=N or tokens-per-second=N, N up to 100000, found {}", excerpt(.part))]
#[non_exhaustive]
pub struct BudgetError {
    /// The part of the text that is wrong.
    pub part: String,
}

/// Allows the calls that the specification allows in an hour (Specification: "Limits").
impl Default for Budget {
    fn default() -> Self {
        Self {
            tokens: 10,
            statements: 25,
            tokens_per_second: 2,
        }
    }
}

impl FromStr for Budget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, BudgetError> {
        let mut budget = Self::default();
        for part in text.split(',') {
            let wrong = || BudgetError {
                part: part.to_owned(),
            };
            let (name, number) = part.split_once('=').ok_or_else(wrong)?;
            let number = number
                .trim()
                .parse()
                .ok()
                .filter(|number| *number <= 100_000)
                .ok_or_else(wrong)?;
            match name.trim() {
                "tokens" => budget.tokens = number,
                "statements" => budget.statements = number,
                "tokens-per-second" if number > 0 => budget.tokens_per_second = number,
                _ => return Err(wrong()),
            }
        }
        Ok(budget)
    }
}

impl Budget {
    /// Returns the calls of each endpoint.
    pub(super) fn purses(self) -> (Purse, Purse) {
        (
            Purse::new("token requests", self.tokens),
            Purse::new("statements", self.statements),
        )
    }

    /// Returns the time between two token requests. At half of the allowed rate, no algorithm of
    /// the specification refuses a request, because each second and the one before have at most
    /// half of the allowed requests.
    pub(super) fn pause(self) -> Duration {
        Duration::from_secs(2) / self.tokens_per_second.max(1)
    }
}

/// The calls that are left for one endpoint, and those that were made.
#[derive(Debug)]
pub(super) struct Purse {
    /// The calls that were answered 200, and those that were not, which may count against a limit
    /// or not.
    pub(super) counts: (usize, usize),
    name: &'static str,
    all: u32,
    left: u32,
    closed: Option<String>,
}

impl Purse {
    fn new(name: &'static str, all: u32) -> Self {
        Self {
            counts: (0, 0),
            name,
            all,
            left: all,
            closed: None,
        }
    }

    /// Pays for one call.
    ///
    /// # Errors
    /// The reason why there is none left.
    pub(super) fn pay(&mut self) -> Result<(), String> {
        if let Some(why) = &self.closed {
            return Err(why.clone());
        }
        // Paid before the call, so that a failure costs as much as an answer.
        self.left = self
            .left
            .checked_sub(1)
            .ok_or_else(|| format!("--budget: {} {} do not last for it", self.all, self.name))?;
        Ok(())
    }

    pub(super) fn left(&self) -> usize {
        if self.closed.is_some() {
            0
        } else {
            // Lossless: `usize` has at least 32 bits.
            usize::try_from(self.left).unwrap_or(usize::MAX)
        }
    }

    /// Prevents any further call.
    pub(super) fn close(&mut self, why: String) {
        // The first reason stays, because later refusals follow from it.
        self.closed.get_or_insert(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read() {
        let all = Budget {
            tokens: 60,
            statements: 0,
            tokens_per_second: 20,
        };
        assert_eq!(
            "tokens=60, statements=0,tokens-per-second=20".parse(),
            Ok(all)
        );
        assert_eq!("statements=25".parse(), Ok(Budget::default()));
        for text in [
            "",
            "tokens",
            "tokens=-1",
            "tokens=100001",
            "tokens-per-second=0",
            "calls=3",
        ] {
            let error = text.parse::<Budget>().unwrap_err().to_string();
            assert!(error.starts_with("expected tokens=N"), "{error}");
        }
    }

    #[test]
    fn an_empty_or_closed_purse_pays_nothing() {
        let mut purse = Purse::new("tokens", 1);
        assert_eq!((purse.left(), purse.pay()), (1, Ok(())));
        assert_eq!(
            purse.pay(),
            Err("--budget: 1 tokens do not last for it".to_owned())
        );
        let mut purse = Purse::new("tokens", 1);
        purse.close("429".to_owned());
        purse.close("later".to_owned());
        assert_eq!((purse.left(), purse.pay()), (0, Err("429".to_owned())));
    }

    #[test]
    fn the_pause_keeps_the_rate_under_both_algorithms() {
        assert_eq!(Budget::default().pause(), Duration::from_secs(1));
        assert_eq!(
            Budget {
                tokens_per_second: 20,
                ..Budget::default()
            }
            .pause(),
            Duration::from_millis(100)
        );
    }
}
