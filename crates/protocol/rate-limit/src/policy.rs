//! Policies: an algorithm, a way of counting, and up to three windows.

use crate::Window;
use std::fmt;

/// The maximum number of windows in a policy: an hour, a minute and a second.
pub const MAX_WINDOWS: usize = 3;

/// The part of the past that a window counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// Only the current window counts (Specification: "Limits", rule 2). Around a boundary, twice
    /// the limit can pass at once.
    Fixed,
    /// The current window counts, and the previous one weighted by the rest of the current one
    /// (Specification: "Limits", rule 3). There is no double burst at once. Yet up to twice the
    /// limit less one can pass within a trailing window: the limit at the end of one window, then
    /// as fast as allowed in the next.
    Sliding,
}

/// The treatment of refused requests: counted or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Counting {
    /// Every request counts in every window, even a refused one, as the specification demands
    /// literally ("each request increments the window counter"). A client that keeps sending above
    /// the limit is refused as long as it does: at 12 a minute against 10 a minute, without end.
    /// Twenty requests within a second can use up an hour of ten.
    Attempts,
    /// Only admitted requests count, in all windows; a refusal charges no window. A client that
    /// keeps sending gets exactly the limit. A client's own pacer counts in this way, because the
    /// provider does not count a request that is not sent.
    Admitted,
}

/// The limits of one decision: up to three windows of different lengths, an algorithm and a
/// counting.
///
/// Windows are stored longest first, so two policies are equal if they allow the same requests.
///
/// ```
/// use bankrail_rate_limit::{Algorithm, Counting, Policy, Window};
/// let policy = Policy::new(
///     Algorithm::Sliding,
///     Counting::Admitted,
///     &[Window::per_second(2)?, Window::per_hour(10)?],
/// )?;
/// assert_eq!(policy.to_string(), "10 per 3600s, 2 per 1s (sliding, admitted)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Policy {
    windows: [Window; MAX_WINDOWS],
    /// The lowest limit, or `u32::MAX` without windows, so that a cost is compared once.
    lowest: u32,
    length: u8,
    algorithm: Algorithm,
    counting: Counting,
}

/// The value of the unused places of `Policy::windows`.
const UNUSED: Window = match Window::from_millis(1, 1) {
    Ok(window) => window,
    Err(_) => panic!("1 per millisecond is within the bounds"),
};

impl Policy {
    /// Makes a policy of these windows, in any order. Without windows all requests are allowed.
    ///
    /// # Errors
    /// [`PolicyError`] for more than [`MAX_WINDOWS`] and for two windows of one length.
    pub fn new(
        algorithm: Algorithm,
        counting: Counting,
        windows: &[Window],
    ) -> Result<Self, PolicyError> {
        let mut sorted = [UNUSED; MAX_WINDOWS];
        let Some(used) = sorted.get_mut(..windows.len()) else {
            return Err(PolicyError::TooMany {
                found: windows.len(),
            });
        };
        used.copy_from_slice(windows);
        used.sort_unstable_by_key(|window| std::cmp::Reverse(window.millis()));
        if let Some((repeated, _)) = used
            .iter()
            .zip(used.iter().skip(1))
            .find(|(a, b)| a.millis() == b.millis())
        {
            return Err(PolicyError::Repeated { window: *repeated });
        }
        let length = u8::try_from(windows.len()).unwrap_or(u8::MAX);
        let lowest = windows
            .iter()
            .map(|window| window.limit())
            .min()
            .unwrap_or(u32::MAX);
        Ok(Self {
            windows: sorted,
            lowest,
            length,
            algorithm,
            counting,
        })
    }

    /// Makes a policy that allows all requests.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self {
            windows: [UNUSED; MAX_WINDOWS],
            lowest: u32::MAX,
            length: 0,
            algorithm: Algorithm::Sliding,
            counting: Counting::Admitted,
        }
    }

    /// Returns the same policy with another algorithm.
    #[must_use]
    pub const fn with_algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Returns the same policy with another counting.
    #[must_use]
    pub const fn with_counting(mut self, counting: Counting) -> Self {
        self.counting = counting;
        self
    }

    /// Returns the windows, longest first.
    #[must_use]
    #[inline]
    pub fn windows(&self) -> &[Window] {
        self.windows
            .get(..usize::from(self.length))
            .unwrap_or(&self.windows)
    }

    /// Returns the algorithm.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the counting.
    #[must_use]
    pub const fn counting(&self) -> Counting {
        self.counting
    }

    /// Checks that a request of this cost can be allowed at all.
    ///
    /// # Errors
    /// [`CostError`] when the cost exceeds the limit of a window, so that waiting does not help.
    #[inline]
    pub fn check_cost(&self, cost: u32) -> Result<(), CostError> {
        if cost <= self.lowest {
            Ok(())
        } else {
            self.too_costly(cost)
        }
    }

    #[cold]
    fn too_costly(&self, cost: u32) -> Result<(), CostError> {
        match self.windows().iter().find(|window| cost > window.limit()) {
            Some(window) => Err(CostError {
                cost,
                window: *window,
            }),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.length == 0 {
            return out.write_str("unlimited");
        }
        for (at, window) in self.windows().iter().enumerate() {
            write!(out, "{}{window}", if at == 0 { "" } else { ", " })?;
        }
        let algorithm = match self.algorithm {
            Algorithm::Fixed => "fixed",
            Algorithm::Sliding => "sliding",
        };
        let counting = match self.counting {
            Counting::Attempts => "attempts",
            Counting::Admitted => "admitted",
        };
        write!(out, " ({algorithm}, {counting})")
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Policy({self})")
    }
}

/// The error of windows that make no valid policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// There are more than [`MAX_WINDOWS`] windows.
    #[error("expected at most 3 windows, found {found}")]
    TooMany {
        /// The number of windows.
        found: usize,
    },
    /// Two windows have the same length.
    #[error("expected windows of different lengths, found {window} and another of its length")]
    Repeated {
        /// The window whose length occurs twice.
        window: Window,
    },
}

/// The error of a cost above a window's limit, which never fits. This is the caller's mistake and
/// not a refusal; nothing was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a cost of {cost} never fits a limit of {window}")]
#[non_exhaustive]
pub struct CostError {
    /// The requested cost.
    pub cost: u32,
    /// The longest window whose limit the cost exceeds.
    pub window: Window,
}
