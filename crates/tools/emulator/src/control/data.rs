//! The interface between the control and a bank's data.

use super::arguments::Arguments;
use super::error::ControlError;
use bankrail_client_assertion::CustomerCode;
use serde_json::Value;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;

/// The return type of [`BankData`].
pub type DataFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, ControlError>> + Send + 'a>>;

/// The data of a bank: its accounts, customers and keys. The program `bankrail provider` implements
/// it over a folder.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not keep a bank's data",
    label = "not a `BankData`",
    note = "implement `BankData` over what keeps accounts, customers and keys, and pass it in an `Arc`"
)]
pub trait BankData: Debug + Send + Sync {
    /// Carries out an operation on bookings, customers, keys or snapshots, and returns its answer,
    /// a JSON object.
    ///
    /// # Errors
    /// [`ControlError`]. Nothing was changed, unless the bank itself failed
    /// ([`ControlError::Failed`]).
    fn carry_out<'a>(&'a self, arguments: &'a Arguments) -> DataFuture<'a, Value>;

    /// Drops everything that happened to one customer or to all: entries, messages, tokens and
    /// counted calls.
    ///
    /// # Errors
    /// [`ControlError::Unknown`] if there is no such customer. Nothing was changed.
    fn reset<'a>(&'a self, customer: Option<&'a CustomerCode>) -> DataFuture<'a, ()>;

    /// Updates the data to the day that the bank's clock now shows. It is called after each change
    /// of the clock.
    ///
    /// # Errors
    /// [`ControlError::Failed`].
    fn clock_changed(&self) -> DataFuture<'_, ()>;
}
