//! Failures of the database, without values of rows.

use std::fmt::Write as _;

/// A failure of PostgreSQL or of its client, without values.
///
/// - It has only the SQLSTATE and the names of constraint and table of the server's answer, whose
///   message, detail and hint quote row values, such as names and amounts.
/// - It has the first line of the client's error, which has no values, and the I/O error under
///   it.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct DatabaseError {
    text: String,
    code: Option<String>,
    constraint: Option<String>,
    table: Option<String>,
    source: Option<std::io::Error>,
}

const SET_OPTION: &str =
    "a pooler passes sessions on: set PostgresOptions::transaction_pooling, or let it keep them";

impl DatabaseError {
    /// Returns the server's SQLSTATE, five characters (PostgreSQL manual, appendix A); `None` if
    /// the client failed.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// Returns the violated constraint, if the server named one.
    #[must_use]
    pub fn constraint(&self) -> Option<&str> {
        self.constraint.as_deref()
    }

    /// Returns the table in question, if the server named one.
    #[must_use]
    pub fn table(&self) -> Option<&str> {
        self.table.as_deref()
    }

    /// Returns the error of a new connection with the settings of another one.
    pub(super) fn session_passed_on() -> Self {
        Self::client(SET_OPTION.to_owned(), None)
    }

    fn client(text: String, source: Option<std::io::Error>) -> Self {
        Self {
            text,
            code: None,
            constraint: None,
            table: None,
            source,
        }
    }
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(answer) = error.as_db_error() else {
            let text = error.to_string();
            let source = error
                .into_source()
                .and_then(|source| source.downcast().ok());
            return Self::client(text, source.map(|source| *source));
        };
        let code = answer.code().code();
        let [constraint, table] = [answer.constraint(), answer.table()];
        let mut text = format!("the database answered {code}");
        let said = match (constraint, table) {
            // A prepared statement does not exist, or exists already, although this session alone
            // names them: a pooler has passed the session on.
            _ if ["26000", "42P05"].contains(&code) => write!(text, ": {SET_OPTION}"),
            (Some(constraint), Some(table)) => {
                write!(text, " (constraint {constraint} of table {table})")
            }
            (Some(constraint), None) => write!(text, " (constraint {constraint})"),
            (None, Some(table)) => write!(text, " (table {table})"),
            (None, None) => Ok(()),
        };
        said.expect("a String takes all text");
        Self {
            text,
            code: Some(code.to_owned()),
            constraint: constraint.map(str::to_owned),
            table: table.map(str::to_owned),
            source: None,
        }
    }
}
