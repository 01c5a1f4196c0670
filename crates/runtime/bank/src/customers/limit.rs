//! Limits of one customer.

use bankrail_rate_limit::{CallType, Policy, PolicyError, Window};
use bankrail_values::Timestamp;

pub(super) const HOUR_MILLIS: u32 = 3_600_000;
pub(super) const MINUTE_MILLIS: u32 = 60_000;
pub(super) const SECOND_MILLIS: u32 = 1_000;

/// A customer's own limits for calls of one type, lasting or until a time (Specification: "Limits",
/// rule 1).
///
/// A unit that is not stated keeps the limit of all customers (Default): a customer with 100 tokens
/// an hour still has 2 a second. In the same way, a temporary override keeps the units of the
/// customer's lasting one that it does not state.
///
/// ```
/// use bankrail_rate_limit::{CallType, Window, default_limits};
/// use bankrail_bank::LimitOverride;
/// let limit = LimitOverride::new(CallType::Token, &[Window::per_hour(100)?])?;
/// let policy = limit.policy(&default_limits(CallType::Token))?;
/// assert_eq!(policy.windows(), [Window::per_hour(100)?, Window::per_second(2)?]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitOverride {
    call_type: CallType,
    /// The windows, longest first; empty if there is no limit.
    windows: Vec<Window>,
    pub(super) until: Option<Timestamp>,
}

impl LimitOverride {
    /// Creates limits for calls of this type: one to three windows of an hour, a minute or a
    /// second.
    ///
    /// # Errors
    /// [`LimitOverrideError`] for no window, a window of another length, or two of one length.
    pub fn new(call_type: CallType, windows: &[Window]) -> Result<Self, LimitOverrideError> {
        if windows.is_empty() {
            return Err(LimitOverrideError::None);
        }
        for (at, window) in windows.iter().enumerate() {
            if ![HOUR_MILLIS, MINUTE_MILLIS, SECOND_MILLIS].contains(&window.millis()) {
                return Err(LimitOverrideError::Length { window: *window });
            }
            if windows
                .iter()
                .take(at)
                .any(|earlier| earlier.millis() == window.millis())
            {
                return Err(LimitOverrideError::Repeated { window: *window });
            }
        }
        let mut windows = windows.to_vec();
        windows.sort_unstable_by_key(|window| std::cmp::Reverse(window.millis()));
        Ok(Self {
            call_type,
            windows,
            until: None,
        })
    }

    /// Creates an override without any limit for calls of this type. The counters of such calls are
    /// lost.
    #[must_use]
    pub const fn unlimited(call_type: CallType) -> Self {
        Self {
            call_type,
            windows: Vec::new(),
            until: None,
        }
    }

    /// Sets the first instant at which the override no longer applies. Default: the override lasts.
    #[must_use]
    pub const fn until(mut self, instant: Timestamp) -> Self {
        self.until = Some(instant);
        self
    }

    /// Returns the type of the calls.
    #[must_use]
    pub const fn call_type(&self) -> CallType {
        self.call_type
    }

    /// Returns the windows, longest first; none if there is no limit.
    #[must_use]
    pub fn windows(&self) -> &[Window] {
        &self.windows
    }

    /// Returns the first instant at which the override no longer applies; `None` if it lasts.
    #[must_use]
    pub const fn ends(&self) -> Option<Timestamp> {
        self.until
    }

    /// Returns the policy of the customer's calls, if `base` is their policy without this override.
    ///
    /// # Errors
    /// [`PolicyError::TooMany`] if `base` has windows of other lengths, and there are more than
    /// three together.
    pub fn policy(&self, base: &Policy) -> Result<Policy, PolicyError> {
        if self.windows.is_empty() {
            return Policy::new(base.algorithm(), base.counting(), &[]);
        }
        let stated = |window: &Window| {
            self.windows
                .iter()
                .any(|own| own.millis() == window.millis())
        };
        let kept = base.windows().iter().filter(|window| !stated(window));
        let windows: Vec<Window> = self.windows.iter().chain(kept).copied().collect();
        Policy::new(base.algorithm(), base.counting(), &windows)
    }
}

/// The error of windows that make no override.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitOverrideError {
    /// The limit has no window.
    #[error("expected a limit per hour, per minute or per second, found none")]
    None,
    /// A window is not an hour, a minute or a second long.
    #[error("expected windows of an hour, a minute or a second, found {window}")]
    Length {
        /// The window.
        window: Window,
    },
    /// Two windows have the same length.
    #[error("expected windows of different lengths, found {window} and another of its length")]
    Repeated {
        /// The second of these windows.
        window: Window,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail_rate_limit::default_limits;
    use std::time::Duration;

    #[test]
    fn windows_of_the_table_only() {
        let day = Window::new(Duration::from_secs(86_400), 5).unwrap();
        let error = |windows: &[Window]| {
            LimitOverride::new(CallType::Token, windows)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            error(&[]),
            "expected a limit per hour, per minute or per second, found none"
        );
        assert_eq!(
            error(&[day]),
            "expected windows of an hour, a minute or a second, found 5 per 86400s"
        );
        let second = Window::per_second(1).unwrap();
        assert!(error(&[second, second]).starts_with("expected windows of different lengths"));
    }

    #[test]
    fn what_is_not_stated_stays() {
        let base = default_limits(CallType::FastPayment);
        let raised =
            LimitOverride::new(CallType::FastPayment, &[Window::per_minute(60).unwrap()]).unwrap();
        let policy = raised.policy(&base).unwrap();
        assert_eq!(
            policy.to_string(),
            "60 per 60s, 2 per 1s (sliding, attempts)"
        );
        let hourly =
            LimitOverride::new(CallType::FastPayment, &[Window::per_hour(9).unwrap()]).unwrap();
        assert_eq!(
            hourly.policy(&policy).unwrap().to_string(),
            "9 per 3600s, 60 per 60s, 2 per 1s (sliding, attempts)"
        );
        assert_eq!(
            LimitOverride::unlimited(CallType::FastPayment)
                .policy(&base)
                .unwrap()
                .to_string(),
            "unlimited"
        );
    }
}
