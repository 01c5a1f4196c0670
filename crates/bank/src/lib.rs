#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod booking;
mod customers;
#[cfg(feature = "sqlite")]
mod ledger;
#[cfg(feature = "sqlite")]
mod sql;

pub use booking::{Booking, BookingError, BookingKind, BookingKindError, BookingMember};
pub use customers::{
    AccountRegistrar, ApiKeyRecord, CustomerBook, CustomerFault, CustomerProblem, CustomerRecord, CustomerSource,
    CustomersError, DirectoryFollower, EndpointRecord, LimitOverride, LimitOverrideError, Place, RecordPart,
};
#[cfg(feature = "sqlite")]
pub use customers::{CustomerChangeError, SqliteDirectory, SqliteDirectoryOptions};
#[cfg(feature = "toml")]
pub use customers::{CustomerFolder, CustomerFolderOptions};
#[cfg(feature = "sqlite")]
pub use ledger::{
    AccountError, BookError, Booked, LedgerAccount, LoadError, LoadOptions, Loaded, RegisterError, ReportError,
    RowError, SqliteLedger,
};
