//! Formats texts and times for the page.

use crate::clock;
use crate::text::cut;
use askama::filters::HtmlSafe;
use bankrail::mailbox::Intervention;
use bankrail::values::Timestamp;
use std::fmt;
use std::time::Duration;

/// The maximum number of columns of a foreign text, such as the path of a call.
const MAX_COLUMNS: usize = 160;

/// Returns a text from elsewhere without control characters, cut to the width of a row. The
/// template escapes it.
pub(super) fn shown(text: &str) -> String {
    cut(&crate::text::shown(text), MAX_COLUMNS).into_owned()
}

/// Describes an intervention: who intervened, and why.
pub(super) fn intervention(intervention: &Intervention) -> String {
    let Intervention { by, reason } = intervention;
    match reason.as_ref() {
        "" => by.to_string(),
        reason => format!("{by}: {reason}"),
    }
}

/// A time as an HTML element: in UTC, and in the machine's zone as its tooltip.
pub(super) struct When(Timestamp);

/// Filters with which templates write values.
#[allow(
    unreachable_pub,
    reason = "the attribute of a filter makes public items"
)]
pub(super) mod filters {
    use super::{Duration, Timestamp, When, fmt};
    use askama::{Result, Values};

    /// Filters a text from elsewhere with [`shown`](super::shown).
    #[askama::filter_fn]
    pub(in super::super) fn shown(text: impl fmt::Display, _: &dyn Values) -> Result<String> {
        Ok(super::shown(&text.to_string()))
    }

    #[askama::filter_fn]
    pub(in super::super) fn when(at: &Timestamp, _: &dyn Values) -> Result<When> {
        Ok(When(*at))
    }

    #[askama::filter_fn]
    pub(in super::super) fn took(duration: &Duration, _: &dyn Values) -> Result<String> {
        Ok(super::took(*duration))
    }
}

// The text consists of digits, letters and signs without a meaning in HTML.
impl HtmlSafe for When {}

impl fmt::Display for When {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let machine = self.0.to_string();
        let (day, rest) = machine.split_once('T').unwrap_or((&machine, ""));
        let time = rest.get(..8).unwrap_or(rest);
        let full = clock::instant(self.0);
        write!(
            out,
            "<time datetime=\"{machine}\" title=\"{full}\"><span>{day}</span> <b>{time}</b></time>"
        )
    }
}

/// Returns a duration such as `12 ms` or `1.5 s`.
pub(super) fn took(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis < 1000 {
        format!("{millis} ms")
    } else {
        format!("{}.{} s", millis / 1000, millis % 1000 / 100)
    }
}

/// Quotes a word for a POSIX shell.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+=,-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_texts_are_cut_and_have_no_control_characters() {
        assert_eq!(shown("a\u{1b}[31m\u{202e}b"), "a\\u{1b}[31m\\u{202e}b");
        assert_eq!(shown(&"x".repeat(10_000)).chars().count(), MAX_COLUMNS);
    }

    #[test]
    fn durations_are_short() {
        for (millis, expected) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (1000, "1.0 s"),
            (61_250, "61.2 s"),
        ] {
            assert_eq!(took(Duration::from_millis(millis)), expected);
        }
    }

    #[test]
    fn times_are_elements() {
        let at = Timestamp::parse("2021-07-29T01:02:03.450Z").unwrap();
        let text = When(at).to_string();
        assert!(text.starts_with(
            "<time datetime=\"2021-07-29T01:02:03.450Z\" title=\"2021-07-29 01:02:03 UTC"
        ));
        assert!(
            text.ends_with("\"><span>2021-07-29</span> <b>01:02:03</b></time>"),
            "{text}"
        );
    }

    #[test]
    fn words_mean_nothing_to_a_shell() {
        for (word, expected) in [
            ("/var/lib/bank-1/data", "/var/lib/bank-1/data"),
            ("my data", "'my data'"),
            ("$(reboot)", "'$(reboot)'"),
            ("a'b;c", r"'a'\''b;c'"),
            ("~", "'~'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
