//! Records of the bank's customers, and directories to start from.
//!
//! - [`CustomerRecord`] has all arrangements with one customer: code, public keys, scopes, API
//!   keys, limits, accounts and webhook endpoints. [`CustomerSet`] has all customers, validated
//!   together.
//! - [`CustomerFolder`] (feature `toml`) is a [`Directory`](bankrail_service::Directory) from a
//!   folder of TOML files, [`SqliteDirectory`] (feature `sqlite`) one in an SQLite file, and
//!   [`PostgresDirectory`] (feature `postgres`) one in PostgreSQL.
//! - [`DirectoryFollower`] applies limits, webhook endpoints and accounts wherever they are used,
//!   and follows changes.
//!
//! The next call of a removed customer is refused, even with a valid access token, because both
//! endpoints look up the API key with every call. The same applies to an API key that has expired
//! or was removed.

mod account;
mod api_key;
mod check;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod directory;
mod endpoint;
mod error;
#[cfg(feature = "toml")]
mod files;
#[cfg(feature = "toml")]
mod folder;
mod follower;
mod limit;
mod record;
mod set;
#[cfg(feature = "toml")]
mod text;

pub use self::account::{AccountRegistrar, AccountsOfCustomer};
pub use self::api_key::ApiKeyRecord;
#[cfg(feature = "postgres")]
pub use self::directory::PostgresDirectory;
#[cfg(feature = "sqlite")]
pub use self::directory::SqliteDirectory;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use self::directory::{CustomerChangeError, SqlDirectory, SqlDirectoryOptions};
pub use self::endpoint::EndpointRecord;
pub use self::error::{
    CustomerRecordError, CustomerRecordErrorKind, CustomersError, Place, RecordPart,
};
#[cfg(feature = "toml")]
pub use self::folder::{CustomerFolder, CustomerFolderOptions};
pub use self::follower::{CustomerSource, DirectoryFollower};
pub use self::limit::{LimitOverride, LimitOverrideError};
pub use self::record::CustomerRecord;
pub use self::set::CustomerSet;
