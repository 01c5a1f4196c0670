//! The engines of a ledger and a directory, and the macro that runs each case over both.

use bankrail_bank::{
    AccountError, ApiKeyRecord, BookError, Booked, Booking, CustomerChangeError, CustomerRecord,
    CustomerSet, CustomerSource, ForgetError, LoadError, Loaded, PostgresDirectory, PostgresLedger,
    RegisterError, SqlDirectoryOptions, SqliteDirectory, SqliteLedger,
};
use bankrail_client_assertion::CustomerCode;
use bankrail_service::{ApiKeyHash, Directory, Ledger, LedgerEntry, RegisteredAccount};
use bankrail_statement::AccountId;
use bankrail_stores::postgres::tokio_postgres::{self, NoTls, connect};
use bankrail_stores::postgres::{PostgresOptions, PostgresStore};
use bankrail_stores::sqlite::{SqliteStore, rusqlite};
use bankrail_values::{Date, Money, StoreError, Timestamp};
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A store of one instance of a program.
pub(crate) trait Engine: Clone + Send + Sync + 'static {
    type Ledger: Books;
    type Directory: Customers;

    /// Makes an empty store.
    fn new() -> impl Future<Output = Self> + Send;
    /// Makes an empty store that other instances can use too.
    fn shared() -> impl Future<Output = Self> + Send;
    /// Opens another instance of the store.
    fn again(&self) -> impl Future<Output = Self> + Send;
    fn ledger(&self) -> Self::Ledger;
    fn directory(&self, options: SqlDirectoryOptions) -> Self::Directory;
    /// Runs another program's statement, and returns the number of changed rows.
    fn change(&self, sql: &'static str) -> impl Future<Output = u64> + Send;
}

/// Declares the operations that a test uses on the types of both engines.
macro_rules! alike {
    (
        trait $Trait:ident: $($Super:path),+; $First:ty, $Second:ty;
        $(fn $name:ident($($arg:ident: $of:ty),*) -> $answer:ty;)+
    ) => {
        pub(crate) trait $Trait: $($Super +)+ Clone + Send + Sync + 'static {
            $(fn $name(&self $(, $arg: $of)*) -> impl Future<Output = $answer> + Send;)+
        }
        alike!(@of $Trait $First; $(fn $name($($arg: $of),*) -> $answer;)+);
        alike!(@of $Trait $Second; $(fn $name($($arg: $of),*) -> $answer;)+);
    };
    (@of $Trait:ident $Of:ty; $(fn $name:ident($($arg:ident: $of:ty),*) -> $answer:ty;)+) => {
        impl $Trait for $Of {
            $(async fn $name(&self $(, $arg: $of)*) -> $answer {
                <$Of>::$name(self $(, $arg)*).await
            })+
        }
    };
}

alike! {
    trait Books: Ledger; SqliteLedger, PostgresLedger;
    fn open_account(account: &AccountId, opening: Money) -> Result<bool, AccountError>;
    fn balance(account: &AccountId) -> Result<Option<Money>, StoreError>;
    fn forget_before(day: Date) -> Result<u64, ForgetError>;
    fn register(customer: &CustomerCode, accounts: Vec<(AccountId, RegisteredAccount)>) -> Result<(), RegisterError>;
    fn book(account: &AccountId, booking: &Booking) -> Result<Booked, BookError>;
    fn book_entry(account: &AccountId, entry: &LedgerEntry, key: Option<&str>) -> Result<Booked, BookError>;
    fn load_csv(rows: Box<dyn BufRead + Send>) -> Result<Loaded, LoadError>;
}

alike! {
    trait Customers: Directory, CustomerSource; SqliteDirectory, PostgresDirectory;
    fn list() -> Result<Vec<CustomerCode>, StoreError>;
    fn find(code: &CustomerCode) -> Result<Option<CustomerRecord>, StoreError>;
    fn put(record: CustomerRecord) -> Result<(), CustomerChangeError>;
    fn import(customers: Arc<CustomerSet>) -> Result<(), CustomerChangeError>;
    fn remove(code: &CustomerCode) -> Result<bool, StoreError>;
    fn add_api_key(code: &CustomerCode, key: ApiKeyRecord) -> Result<bool, CustomerChangeError>;
    fn retire_api_key(key: ApiKeyHash, at: Timestamp) -> Result<bool, StoreError>;
}

#[derive(Clone)]
pub(crate) struct Sqlite {
    pub(crate) store: SqliteStore,
    folder: Option<Arc<tempfile::TempDir>>,
}

impl Engine for Sqlite {
    type Ledger = SqliteLedger;
    type Directory = SqliteDirectory;

    async fn new() -> Self {
        Self {
            store: SqliteStore::open_in_memory(Default::default()).unwrap(),
            folder: None,
        }
    }

    async fn shared() -> Self {
        Self {
            folder: Some(Arc::new(tempfile::tempdir().unwrap())),
            ..Self::new().await
        }
        .again()
        .await
    }

    async fn again(&self) -> Self {
        let path = self.folder.as_ref().unwrap().path().join("bank.db");
        Self {
            store: SqliteStore::open(path, Default::default()).unwrap(),
            folder: self.folder.clone(),
        }
    }

    fn ledger(&self) -> SqliteLedger {
        SqliteLedger::new(self.store.clone())
    }

    fn directory(&self, options: SqlDirectoryOptions) -> SqliteDirectory {
        SqliteDirectory::new(self.store.clone(), options)
    }

    async fn change(&self, sql: &'static str) -> u64 {
        let changed = self
            .store
            .transaction(move |transaction| -> rusqlite::Result<_> {
                transaction.connection().execute(sql, [])
            });
        changed.await.unwrap().try_into().unwrap()
    }
}

/// A new schema in the database that `BANKRAIL_POSTGRES` names.
pub(crate) type Postgres = Database<false>;

/// A new database through the pooler that `BANKRAIL_PGBOUNCER` names, which keeps no sessions.
pub(crate) type Pooled = Database<true>;

#[derive(Clone)]
pub(crate) struct Database<const POOLED: bool> {
    pub(crate) store: PostgresStore,
    pub(crate) config: String,
}

impl<const POOLED: bool> Database<POOLED> {
    async fn open(config: String) -> Self {
        let options = PostgresOptions::new().transaction_pooling(POOLED);
        Self {
            store: PostgresStore::connect(&config, NoTls, options)
                .await
                .unwrap(),
            config,
        }
    }
}

/// The statements that bring the tables of PostgreSQL from each version to the next, to 9.
const EARLIER_TABLES: [&str; 9] = [
    include_str!("../../../stores/src/postgres/schema/1.sql"),
    include_str!("../../../stores/src/postgres/schema/2.sql"),
    include_str!("../../../stores/src/postgres/schema/3.sql"),
    include_str!("../../../stores/src/postgres/schema/4.sql"),
    include_str!("../../../stores/src/postgres/schema/5.sql"),
    include_str!("../../../stores/src/postgres/schema/6.sql"),
    include_str!("../../../stores/src/postgres/schema/7.sql"),
    include_str!("../../../stores/src/postgres/schema/8.sql"),
    include_str!("../../../stores/src/postgres/schema/9.sql"),
];

impl Postgres {
    /// Makes a store whose tables are brought up to date from an earlier version with these rows.
    pub(crate) async fn of_version(version: usize, rows: &str) -> Self {
        let (client, config) = new_schema().await;
        for tables in &EARLIER_TABLES[..version] {
            client.batch_execute(tables).await.unwrap();
        }
        let known = format!(
            "CREATE TABLE bankrail_schema (version INTEGER NOT NULL);
            INSERT INTO bankrail_schema (version) VALUES ({version});"
        );
        client.batch_execute(&(known + rows)).await.unwrap();
        Self::open(config).await
    }
}

/// Returns a connection to a new schema, and the connection string for others.
async fn new_schema() -> (tokio_postgres::Client, String) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let config =
        std::env::var("BANKRAIL_POSTGRES").expect("BANKRAIL_POSTGRES names a database to write to");
    let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let schema = format!("bank_{process}_{number}");
    let (client, connection) = connect(&config, NoTls).await.unwrap();
    tokio::spawn(connection);
    let create = format!(
        "DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}; SET search_path = {schema}"
    );
    client.batch_execute(&create).await.unwrap();
    let config = format!("{config} options='-c search_path={schema}'");
    (client, config)
}

impl<const POOLED: bool> Engine for Database<POOLED> {
    type Ledger = PostgresLedger;
    type Directory = PostgresDirectory;

    async fn new() -> Self {
        let (client, config) = new_schema().await;
        if !POOLED {
            return Self::open(config).await;
        }
        let pooler =
            std::env::var("BANKRAIL_PGBOUNCER").expect("BANKRAIL_PGBOUNCER names a pooler");
        let name = client.query_one("SELECT current_schema()", &[]).await;
        let name: String = name.unwrap().get(0);
        let create = format!("CREATE DATABASE {name}");
        client.batch_execute(&create).await.unwrap();
        Self::open(format!("{pooler} dbname={name}")).await
    }

    async fn shared() -> Self {
        Self::new().await
    }

    async fn again(&self) -> Self {
        Self::open(self.config.clone()).await
    }

    fn ledger(&self) -> PostgresLedger {
        PostgresLedger::new(self.store.clone())
    }

    fn directory(&self, options: SqlDirectoryOptions) -> PostgresDirectory {
        PostgresDirectory::new(self.store.clone(), options)
    }

    async fn change(&self, sql: &'static str) -> u64 {
        self.store
            .transaction(async |transaction| transaction.execute(sql, &[]).await)
            .await
            .unwrap()
    }
}

/// Runs each case, an `async fn` of an engine, over both, and over PostgreSQL through a pooler.
macro_rules! over_both {
    ($($case:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case::<crate::engines::Sqlite>().await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "needs postgresql"]
            async fn $case() {
                super::$case::<crate::engines::Postgres>().await;
            })+
        }
        mod pooled {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "needs postgresql"]
            async fn $case() {
                super::$case::<crate::engines::Pooled>().await;
            })+
        }
    };
}
pub(crate) use over_both;
