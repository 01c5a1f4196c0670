//! Outcomes and failures of a command, with its exit status.

use bankrail::http::tls::error_chain;
pub(crate) use bankrail::values::causes;
use std::error::Error;
use std::fmt::Display;
use std::io;
use std::process::ExitCode;

/// The outcome of a command that was carried out. A more serious outcome compares as greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// No findings: exit status 0.
    Fine,
    /// No findings in what was judged, but not everything was judged: exit status 3.
    NotRun,
    /// The subject has findings: exit status 1.
    Findings,
}

impl Outcome {
    /// Combines both outcomes: [`Outcome::Findings`] if either has findings, otherwise
    /// [`Outcome::NotRun`] if either was not judged.
    pub(crate) fn and(self, other: Self) -> Self {
        self.max(other)
    }

    /// Returns [`Outcome::Findings`] if there are any.
    pub(crate) fn of_findings(any: bool) -> Self {
        if any { Self::Findings } else { Self::Fine }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Fine => Self::SUCCESS,
            Outcome::Findings => Self::from(1),
            Outcome::NotRun => Self::from(3),
        }
    }
}

/// The reason why a command was not carried out.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The subject is refused: exit status 1.
    Refused(String),
    /// A file cannot be read or written, or the arguments do not fit together: exit status 2.
    Unable(String),
    /// The reader of the output has closed it, like `| head`. The exit status is 0, without a text.
    Closed,
}

impl Failure {
    /// Returns the failure of a command that refuses its subject, with advice.
    pub(crate) fn refused(what: impl Display, next: impl Display) -> Self {
        Self::Refused(format!("{what}; {next}"))
    }

    /// Returns the failure of a command that cannot be carried out, with advice.
    pub(crate) fn unable(what: impl Display, next: impl Display) -> Self {
        Self::Unable(format!("{what}; {next}"))
    }

    /// Returns the failure of a command that cannot be carried out because of an error, with `next`
    /// as advice unless a limit of the process is the cause.
    pub(crate) fn caused(
        error: &(dyn Error + 'static),
        what: impl Display,
        next: impl Display,
    ) -> Self {
        match limit_reached(error) {
            Some(advice) => Self::unable(what, advice),
            None => Self::unable(what, next),
        }
    }

    /// Converts a refusal into [`Failure::Unable`], for a file that the command needs but does not
    /// judge.
    pub(crate) fn into_unable(self) -> Self {
        match self {
            Self::Refused(line) => Self::Unable(line),
            other => other,
        }
    }

    /// Returns the line for standard error, and the exit status.
    pub(crate) fn into_parts(self) -> (Option<String>, ExitCode) {
        match self {
            Self::Refused(line) => (Some(line), ExitCode::from(1)),
            Self::Unable(line) => (Some(line), ExitCode::from(2)),
            Self::Closed => (None, ExitCode::SUCCESS),
        }
    }
}

/// Replaces the names of the library's options in the reason of a refused assertion by those of the
/// program. `lenient` is the option that accepts the assertions of client libraries.
pub(crate) fn with_options(reason: &str, lenient: &str) -> String {
    let reason = reason.replace("VerifierOptions::also_audience", "--audience");
    ["typ", "accept_text_exp", "accept_audience_array"]
        .iter()
        .fold(reason, |reason, option| {
            reason.replace(&format!("VerifierOptions::{option}"), lenient)
        })
}

/// Returns the limit of the process that an error or one of its causes has met, with advice.
#[cfg(unix)]
fn limit_reached(error: &(dyn Error + 'static)) -> Option<String> {
    use rustix::io::Errno;
    use rustix::process::{Resource, getrlimit};
    let code = |one: &(dyn Error + 'static)| one.downcast_ref::<io::Error>()?.raw_os_error();
    let (limit, resource) = match Errno::from_raw_os_error(error_chain(error).find_map(code)?) {
        Errno::MFILE => ("limit of open files (ulimit -n)", Resource::Nofile),
        Errno::FBIG => ("limit of a file's bytes (ulimit -f)", Resource::Fsize),
        Errno::AGAIN | Errno::NOMEM => {
            let advice = "end other programs, or raise the limits of threads and memory (ulimit -u, ulimit -v)";
            return Some(advice.to_owned());
        }
        _ => return None,
    };
    let found = getrlimit(resource).current;
    let found = found.map_or_else(|| "none".to_owned(), |found| found.to_string());
    Some(format!("raise the {limit}, found {found}"))
}

#[cfg(not(unix))]
fn limit_reached(_: &(dyn Error + 'static)) -> Option<String> {
    None
}

/// Converts an error of standard output. Errors of inputs are converted where their file is known.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // A reader such as `head` has closed the output, which is no failure.
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::unable(
                format_args!("the output cannot be written: {error}"),
                "make room or choose another file",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_weigh_more_than_what_was_not_run() {
        use Outcome::{Findings, Fine, NotRun};
        for (one, other, expected) in [
            (Fine, Fine, Fine),
            (Fine, NotRun, NotRun),
            (Fine, Findings, Findings),
            (NotRun, NotRun, NotRun),
            (NotRun, Findings, Findings),
            (Findings, Findings, Findings),
        ] {
            assert_eq!((one.and(other), other.and(one)), (expected, expected));
        }
    }
}
