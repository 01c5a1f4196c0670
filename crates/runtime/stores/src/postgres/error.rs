//! Failures of the database, without values of rows.

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
    failure: Failure,
    source: Option<std::io::Error>,
}

#[derive(Debug)]
enum Failure {
    Server {
        code: String,
        constraint: Option<String>,
        table: Option<String>,
    },
    Client(String),
}

const SET_OPTION: &str =
    "a pooler passes sessions on: set PostgresOptions::transaction_pooling, or let it keep them";

impl DatabaseError {
    /// Returns the server's SQLSTATE, five characters (PostgreSQL manual, appendix A); `None` if
    /// the client failed.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match &self.failure {
            Failure::Server { code, .. } => Some(code),
            Failure::Client(_) => None,
        }
    }

    /// Returns the violated constraint, if the server named one.
    #[must_use]
    pub fn constraint(&self) -> Option<&str> {
        match &self.failure {
            Failure::Server { constraint, .. } => constraint.as_deref(),
            Failure::Client(_) => None,
        }
    }

    /// Returns the table in question, if the server named one.
    #[must_use]
    pub fn table(&self) -> Option<&str> {
        match &self.failure {
            Failure::Server { table, .. } => table.as_deref(),
            Failure::Client(_) => None,
        }
    }

    /// Returns the error of a new connection that has settings of another one.
    pub(super) fn session_passed_on() -> Self {
        Self {
            failure: Failure::Client(SET_OPTION.to_owned()),
            source: None,
        }
    }
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(answer) = error.as_db_error() {
            let name = |name: Option<&str>| name.map(str::to_owned);
            let code = answer.code().code().to_owned();
            let constraint = name(answer.constraint());
            return Self {
                failure: Failure::Server {
                    code,
                    constraint,
                    table: name(answer.table()),
                },
                source: None,
            };
        }
        let failure = Failure::Client(error.to_string());
        let source = error
            .into_source()
            .and_then(|source| source.downcast().ok());
        Self {
            failure,
            source: source.map(|source| *source),
        }
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.failure {
            Failure::Client(text) => out.write_str(text),
            // A prepared statement does not exist, or exists already, although this session alone
            // names them: a pooler has passed the session on.
            Failure::Server { code, .. } if ["26000", "42P05"].contains(&&**code) => {
                write!(out, "the database answered {code}: {SET_OPTION}")
            }
            Failure::Server {
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
