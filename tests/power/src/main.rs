#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod engine;
mod judge;
mod marks;
mod valkey;
mod world;

use bankrail_stores::memory::MemoryStore;
use bankrail_stores::postgres::{PostgresOptions, PostgresStore, tokio_postgres::NoTls};
use bankrail_stores::sqlite::{Durability, SqliteOptions, SqliteStore};
use clap::{Parser, Subcommand};
use engine::Engine as _;
use marks::Marks;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use world::World;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A bank and its customer on files and servers that lose power, and a judge of what is left.
#[derive(Parser)]
enum Command {
    /// Works on two SQLite files in a folder, and marks what was acknowledged.
    Sqlite {
        folder: PathBuf,
        /// The number of times that messages are delivered and a statement is polled.
        rounds: u32,
        /// Waits for the disk less often: `Durability::ProcessEnd`.
        #[arg(long)]
        process_end: bool,
    },
    /// Works on PostgreSQL until it is killed, and marks what was acknowledged.
    Postgres {
        config: String,
        marks: PathBuf,
        /// The first number that is free.
        first: u32,
    },
    /// Works on Valkey until it is killed, and marks what was acknowledged.
    Valkey {
        url: String,
        marks: PathBuf,
        /// The first number that is free.
        first: u32,
    },
    /// Prints what is left.
    #[command(subcommand)]
    Left(Left),
}

#[derive(Subcommand)]
enum Left {
    /// Opens each SQLite file that a line of the input names.
    Sqlite,
    Postgres {
        config: String,
    },
    /// Asks for the numbers up to this one.
    Valkey {
        url: String,
        numbers: u32,
    },
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    match Command::parse() {
        Command::Sqlite {
            folder,
            rounds,
            process_end,
        } => {
            let durability = if process_end {
                Durability::ProcessEnd
            } else {
                Durability::PowerLoss
            };
            let marks = Marks::open(&folder.join("marks"))?;
            let open = |name: &str| -> Result<SqliteStore, Failure> {
                fs::create_dir_all(folder.join(name))?;
                let file = folder.join(name).join("bankrail.db");
                Ok(SqliteStore::open(
                    file,
                    SqliteOptions::new().durability(durability),
                )?)
            };
            let (bank, biller) = (open("bank")?, open("biller")?);
            biller.make_tables().await?;
            let audit = Some(folder.join("bank").join("audit.jsonl"));
            let tokens = Arc::new(bank.clone());
            let world = World::new(bank, biller, tokens, audit, marks, 0)?;
            for round in 0..rounds {
                world.round(round).await?;
            }
            Ok(())
        }
        Command::Postgres {
            config,
            marks,
            first,
        } => {
            let marks = Marks::open(&marks)?;
            let store = PostgresStore::connect(&config, NoTls, PostgresOptions::new()).await?;
            store.make_tables().await?;
            let tokens = Arc::new(MemoryStore::new());
            let world = World::new(store.clone(), store, tokens, None, marks, first)?;
            for round in 0.. {
                world.round(round).await?;
            }
            Ok(())
        }
        Command::Valkey { url, marks, first } => {
            valkey::work(&url, &Marks::open(&marks)?, first).await
        }
        Command::Left(Left::Sqlite) => judge::sqlite().await,
        Command::Left(Left::Postgres { config }) => judge::postgres(&config).await,
        Command::Left(Left::Valkey { url, numbers }) => valkey::left(&url, numbers).await,
    }
}
