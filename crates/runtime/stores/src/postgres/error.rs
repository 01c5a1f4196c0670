//! What may be shown of a failure of the database.

use std::error::Error;
use std::fmt;

/// A failure of PostgreSQL or of its client, without values.
///
/// - Of the server's answer only the SQLSTATE and the names of constraint and table are kept: its
///   message, detail and hint quote row values, such as names and amounts.
/// - Of the client's error its first line is kept, which holds no values, and the I/O error under
///   it.
#[derive(Debug)]
pub struct DatabaseError {
    said: Said,
    source: Option<std::io::Error>,
}

#[derive(Debug)]
enum Said {
    Server {
        code: String,
        constraint: Option<String>,
        table: Option<String>,
    },
    Client(String),
    SessionPassedOn,
}

const SET_OPTION: &str =
    "a pooler passes sessions on: set PostgresOptions::transaction_pooling, or let it keep them";

impl DatabaseError {
    /// The server's SQLSTATE, five characters (PostgreSQL manual, appendix A). `None`: the client
    /// failed.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match &self.said {
            Said::Server { code, .. } => Some(code),
            Said::Client(_) | Said::SessionPassedOn => None,
        }
    }

    /// The constraint that was violated, if the server named one.
    #[must_use]
    pub fn constraint(&self) -> Option<&str> {
        match &self.said {
            Said::Server { constraint, .. } => constraint.as_deref(),
            Said::Client(_) | Said::SessionPassedOn => None,
        }
    }

    /// The table in question, if the server named one.
    #[must_use]
    pub fn table(&self) -> Option<&str> {
        match &self.said {
            Said::Server { table, .. } => table.as_deref(),
            Said::Client(_) | Said::SessionPassedOn => None,
        }
    }
}

impl DatabaseError {
    /// What another connection has set was found on a new one.
    pub(super) fn session_passed_on() -> Self {
        Self {
            said: Said::SessionPassedOn,
            source: None,
        }
    }
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(answer) = error.as_db_error() {
            let name = |name: Option<&str>| name.map(str::to_owned);
            let (code, constraint) = (answer.code().code().to_owned(), name(answer.constraint()));
            return Self {
                said: Said::Server {
                    code,
                    constraint,
                    table: name(answer.table()),
                },
                source: None,
            };
        }
        let said = Said::Client(error.to_string());
        let source = error
            .into_source()
            .and_then(|source| source.downcast().ok());
        Self {
            said,
            source: source.map(|source| *source),
        }
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.said {
            Said::Client(text) => out.write_str(text),
            Said::SessionPassedOn => out.write_str(SET_OPTION),
            // A prepared statement that is not there, or that is there already.
            Said::Server { code, .. } if ["26000", "42P05"].contains(&&**code) => {
                write!(out, "the database answered {code}: {SET_OPTION}")
            }
            Said::Server {
                code,
                constraint,
                table,
            } => {
                write!(out, "the database answered {code}")?;
                match (constraint, table) {
                    (Some(constraint), Some(table)) => {
                        write!(out, " (constraint {constraint} of table {table})")
                    }
                    (Some(constraint), None) => write!(out, " (constraint {constraint})"),
                    (None, Some(table)) => write!(out, " (table {table})"),
                    (None, None) => Ok(()),
                }
            }
        }
    }
}

impl Error for DatabaseError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
