//! A bound on the log lines that strangers cause.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The maximum number of lines in a minute.
const LINES: u64 = 60;

const MINUTE: Duration = Duration::from_secs(60);

/// A bound on log lines about events that anybody can cause: 60 in a minute. The first line of the
/// next minute comes with the number of lines that were left out.
///
/// ```
/// let bound = bankrail_http::__private::LineBound::default();
/// assert_eq!(bound.admit(false), Some(0));
/// ```
#[derive(Debug, Default)]
pub struct LineBound(Mutex<(Option<Instant>, u64)>);

impl LineBound {
    /// Counts a line that is about to be written. Returns `None` if the line is to be left out,
    /// otherwise the number of lines left out just before it. A line about a known caller is
    /// neither counted nor left out.
    pub fn admit(&self, is_known: bool) -> Option<u64> {
        if is_known {
            return Some(0);
        }
        self.next(Instant::now())
    }

    fn next(&self, now: Instant) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (begun, lines) = &mut *state;
        let mut left_out = 0;
        if begun.is_none_or(|begun| now.saturating_duration_since(begun) >= MINUTE) {
            left_out = lines.saturating_sub(LINES);
            (*begun, *lines) = (Some(now), 0);
        }
        *lines = lines.saturating_add(1);
        (*lines <= LINES).then_some(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixty_lines_a_minute_and_then_the_number_of_the_others() {
        let (bound, begun) = (LineBound::default(), Instant::now());
        for seconds in [0, 59] {
            let lines = (0..50).filter_map(|_| bound.next(begun + Duration::from_secs(seconds)));
            assert_eq!(
                lines.collect::<Vec<_>>(),
                vec![0; if seconds == 0 { 50 } else { 10 }]
            );
        }
        let next = begun + MINUTE;
        assert_eq!([bound.next(next), bound.next(next)], [Some(40), Some(0)]);
        assert_eq!(bound.next(next + MINUTE), Some(0));
    }
}
