#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        clippy::iter_over_hash_type
    )
)]

mod booking;
mod customers;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod ledger;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sql;

pub use booking::{Booking, BookingError, BookingKind, BookingKindError, BookingMember};
pub use customers::{
    AccountRegistrar, AccountsOfCustomer, ApiKeyRecord, CustomerRecord, CustomerRecordError,
    CustomerRecordErrorKind, CustomerSet, CustomerSource, CustomersError, DirectoryFollower,
    EndpointRecord, LimitOverride, LimitOverrideError, Place, RecordPart,
};
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use customers::{CustomerChangeError, SqlDirectory, SqlDirectoryOptions};
#[cfg(feature = "toml")]
pub use customers::{CustomerFolder, CustomerFolderOptions};
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use ledger::{
    AccountError, BookError, Booked, ForgetError, LoadError, Loaded, RegisterError, RowError,
    SqlLedger,
};
#[cfg(feature = "postgres")]
pub use {customers::PostgresDirectory, ledger::PostgresLedger};
#[cfg(feature = "sqlite")]
pub use {customers::SqliteDirectory, ledger::SqliteLedger};
