//! Outcomes and failures of a command, with its exit status.

pub(crate) use bankrail::values::causes;
use std::fmt::Display;
use std::io;
use std::process::ExitCode;

/// The outcome of a command that was carried out. A more serious outcome is the greater one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Nothing is wrong: exit status 0.
    Fine,
    /// Nothing that was judged is wrong, and not everything was judged: exit status 3.
    NotRun,
    /// The subject has findings: exit status 1.
    Findings,
}

impl Outcome {
    /// Of both: [`Outcome::Findings`] if either has findings, otherwise [`Outcome::NotRun`] if
    /// either was not judged.
    pub(crate) fn and(self, other: Self) -> Self {
        self.max(other)
    }

    /// [`Outcome::Findings`] if there are any.
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

/// Why a command was not carried out.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The subject is refused: exit status 1.
    Refused(String),
    /// A file cannot be read or written, or the arguments do not fit together: exit status 2.
    Unable(String),
    /// Nobody reads the output any more, as after `| head`. That is no failure: exit status 0, and
    /// no text.
    Closed,
}

impl Failure {
    /// A refusal, and what to do next.
    pub(crate) fn refused(what: impl Display, next: impl Display) -> Self {
        Self::Refused(format!("{what}; {next}"))
    }

    /// A command that cannot be carried out, and what to do next.
    pub(crate) fn unable(what: impl Display, next: impl Display) -> Self {
        let what = what.to_string();
        // Whichever file it was, none can be opened.
        #[cfg(unix)]
        if what.contains("(os error 24)") {
            use rustix::process::{Resource, getrlimit};
            let limit = getrlimit(Resource::Nofile).current;
            let limit = limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
            return Self::Unable(format!(
                "{what}; raise the limit of open files (ulimit -n), found {limit}"
            ));
        }
        Self::Unable(format!("{what}; {next}"))
    }

    /// The same failure of a file that the command needs and does not judge.
    pub(crate) fn into_unable(self) -> Self {
        match self {
            Self::Refused(line) => Self::Unable(line),
            other => other,
        }
    }

    /// The line for standard error, and the exit status.
    pub(crate) fn into_parts(self) -> (Option<String>, ExitCode) {
        match self {
            Self::Refused(line) => (Some(line), ExitCode::from(1)),
            Self::Unable(line) => (Some(line), ExitCode::from(2)),
            Self::Closed => (None, ExitCode::SUCCESS),
        }
    }
}

/// An error of standard output. Errors of inputs name their file.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // A reader such as `head` has enough, which is no failure.
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
