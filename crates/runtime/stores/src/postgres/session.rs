//! Statements on a connection of the pool, or in a transaction of a caller.

use super::{Fault, Typed};
use crate::columns::FromRow;
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row, Statement};

/// A statement and its parameters.
pub(super) type Query<'a> = (&'static str, &'a [Typed<'a>]);

/// The statements that a connection has prepared.
#[derive(Default)]
pub(super) struct Prepared(Mutex<HashMap<&'static str, Statement>>);

impl Prepared {
    fn get(&self, sql: &str) -> Option<Statement> {
        self.statements().get(sql).cloned()
    }

    fn statements(&self) -> MutexGuard<'_, HashMap<&'static str, Statement>> {
        // A statement is inserted whole, so a panic elsewhere leaves the map whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state that a connection keeps from one transaction to the next.
#[derive(Clone, Copy)]
pub(super) enum Pooling<'a> {
    /// The connection has a session, which keeps the settings and the prepared statements.
    Session(&'a Prepared),
    /// The connection has no session, so each transaction makes these settings.
    Transaction(&'a str),
    /// The connection is the caller's, on which nothing is set or prepared.
    Caller,
}

/// The part of the program that begins and commits the transactions of a session.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Transactions {
    /// The server, so that each statement is a transaction.
    Each,
    /// The operation, which is one transaction from [`Session::begin_with`] to
    /// [`Session::commit_with`]. If the operation ends before, the connection must be closed.
    Own,
    /// The caller of the operation.
    Others,
}

/// The place where the statements of an operation run.
///
/// - On a connection of the pool, each statement is prepared at its first use. Parsing and planning
///   it each time would be half of the server's work.
/// - On a caller's connection, and with transaction pooling, each statement is sent whole, with the
///   types of its parameters.
/// - In both cases a statement takes one round trip, except at its first use on a connection.
///   Several statements that do not depend on each other's answers share one round trip.
#[derive(Clone, Copy)]
pub(super) struct Session<'a> {
    client: &'a Client,
    pooling: Pooling<'a>,
    transactions: Transactions,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        client: &'a Client,
        pooling: Pooling<'a>,
        transactions: Transactions,
    ) -> Self {
        Self {
            client,
            pooling,
            transactions,
        }
    }

    pub(super) async fn query(
        self,
        sql: &'static str,
        parameters: &[Typed<'_>],
    ) -> Result<Vec<Row>, Fault> {
        Ok(match self.statement(sql, parameters).await? {
            Some(statement) => self.client.query(&statement, &values(parameters)).await?,
            None => self.alone(self.client.query_typed(sql, parameters)).await?,
        })
    }

    /// Returns the number of changed rows.
    pub(super) async fn execute(
        self,
        sql: &'static str,
        parameters: &[Typed<'_>],
    ) -> Result<u64, Fault> {
        Ok(match self.statement(sql, parameters).await? {
            Some(statement) => self.client.execute(&statement, &values(parameters)).await?,
            None => {
                self.alone(self.client.execute_typed(sql, parameters))
                    .await?
            }
        })
    }

    /// Sends a single statement; under transaction pooling, within a transaction that makes the
    /// settings.
    async fn alone<T>(self, statement: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let (Pooling::Transaction(local), Transactions::Each) = (self.pooling, self.transactions)
        else {
            return statement.await;
        };
        // Polled in this order, so that the server gets the three in this order, in one round trip.
        let (begun, done, ended) =
            tokio::join!(biased; self.begin(local), statement, self.client.batch_execute("COMMIT"));
        begun?;
        let done = done?;
        ended.map(|()| done)
    }

    async fn begin(self, local: &str) -> Result<(), Error> {
        self.client
            .batch_execute(&format!("BEGIN ISOLATION LEVEL READ COMMITTED; {local}"))
            .await
    }

    /// Returns true if a statement that changes at most one row has changed one.
    pub(super) async fn changes(
        self,
        sql: &'static str,
        parameters: &[Typed<'_>],
    ) -> Result<bool, Fault> {
        Ok(self.execute(sql, parameters).await? == 1)
    }

    pub(super) async fn all<T: FromRow>(
        self,
        sql: &'static str,
        parameters: &[Typed<'_>],
    ) -> Result<Vec<T>, Fault> {
        self.query(sql, parameters)
            .await?
            .iter()
            .map(|row| Ok(T::read(row)?))
            .collect()
    }

    pub(super) async fn first<T: FromRow>(
        self,
        sql: &'static str,
        parameters: &[Typed<'_>],
    ) -> Result<Option<T>, Fault> {
        Ok(self
            .query(sql, parameters)
            .await?
            .first()
            .map(T::read)
            .transpose()?)
    }

    /// Runs statements of a transaction one after the other in one round trip, and returns the rows
    /// of each.
    pub(super) async fn queries<const N: usize>(
        self,
        queries: [Query<'_>; N],
    ) -> Result<[Vec<Row>; N], Fault> {
        Ok(each(self.pipeline(&queries).await?))
    }

    /// Begins an own transaction with its first statements, as [`Session::queries`] runs them.
    pub(super) async fn begin_with<const N: usize>(
        self,
        queries: [Query<'_>; N],
    ) -> Result<[Vec<Row>; N], Fault> {
        if self.transactions != Transactions::Own {
            return self.queries(queries).await;
        }
        if let Pooling::Transaction(local) = self.pooling {
            let (begun, answers) = tokio::join!(biased; self.begin(local), self.queries(queries));
            begun?;
            return answers;
        }
        let begin: Query<'_> = ("BEGIN", &[]);
        let mut answers = self
            .pipeline(&[&[begin], queries.as_slice()].concat())
            .await?;
        answers.remove(0);
        Ok(each(answers))
    }

    /// Commits an own transaction with its last statements, as [`Session::queries`] runs them.
    pub(super) async fn commit_with<const N: usize>(
        self,
        queries: [Query<'_>; N],
    ) -> Result<[Vec<Row>; N], Fault> {
        if self.transactions != Transactions::Own {
            return self.queries(queries).await;
        }
        let commit: Query<'_> = ("COMMIT", &[]);
        // A failed statement is noticed by its own error: the server would answer the commit after
        // it without one, and roll back.
        let mut answers = self
            .pipeline(&[queries.as_slice(), &[commit]].concat())
            .await?;
        answers.pop();
        Ok(each(answers))
    }

    async fn pipeline(self, queries: &[Query<'_>]) -> Result<Vec<Vec<Row>>, Fault> {
        // All are prepared before the first one runs: otherwise a statement that is still to be
        // prepared would be sent later than the next one.
        for (sql, parameters) in queries {
            self.statement(sql, parameters).await?;
        }
        let running = queries
            .iter()
            .map(|(sql, parameters)| self.query(sql, parameters));
        futures_util::future::try_join_all(running).await
    }

    /// Returns the prepared statement; `None` if the connection prepares none.
    async fn statement(
        self,
        sql: &'static str,
        parameters: &[Typed<'_>],
    ) -> Result<Option<Statement>, Error> {
        let Pooling::Session(prepared) = self.pooling else {
            return Ok(None);
        };
        if let Some(statement) = prepared.get(sql) {
            return Ok(Some(statement));
        }
        let types: Vec<Type> = parameters.iter().map(|(_, of)| of.clone()).collect();
        let statement = self.client.prepare_typed(sql, &types).await?;
        prepared.statements().insert(sql, statement.clone());
        Ok(Some(statement))
    }
}

/// Returns the rows of each statement.
fn each<const N: usize>(answers: Vec<Vec<Row>>) -> [Vec<Row>; N] {
    answers
        .try_into()
        .unwrap_or_else(|_| unreachable!("an answer for each statement"))
}

fn values<'a>(parameters: &[Typed<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    parameters.iter().map(|(value, _)| *value).collect()
}
