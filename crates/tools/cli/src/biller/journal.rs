//! Events to print. Messages, conflicts and entries are written to a table in the transaction that
//! stores them, and removed once they are printed. Events without a transaction go through a
//! channel of bounded length.

use super::Event;
use super::folder::failed;
use super::people;
use crate::failure::Failure;
use crate::output::Output;
use bankrail::stores::sqlite::{SqliteStore, Transaction, rusqlite};
use bankrail::values::{Clock as _, HyphenatedUuid, SystemClock};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{Notify, mpsc};

/// The maximum number of events that wait in the channel.
const MAX_WAITING_EVENTS: usize = 1000;
/// The number of rows that are read at once.
const MAX_ROWS: u32 = 100;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS biller_event (
    number INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL) STRICT";

/// The table of events. The value is cheap to clone.
#[derive(Clone)]
pub(super) struct Journal {
    store: SqliteStore,
    /// The identity of this start. Each start has a new one, because a file does not show that it
    /// was restored or copied, and event numbers after a restore repeat earlier ones.
    run: HyphenatedUuid,
    written: Arc<Notify>,
}

impl Journal {
    pub(super) async fn open(store: SqliteStore) -> Result<Self, Failure> {
        let made = store
            .transaction(|transaction| transaction.connection().execute_batch(TABLE))
            .await;
        made.map_err(failed)?;
        Ok(Self {
            store,
            run: HyphenatedUuid::random(),
            written: Arc::default(),
        })
    }

    /// Returns the identity of this start of the program.
    pub(super) fn run(&self) -> HyphenatedUuid {
        self.run
    }

    /// Writes an event in a transaction.
    pub(super) fn write(
        &self,
        transaction: &Transaction<'_>,
        event: &Event,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let text = serde_json::to_string(&Written {
            number: None,
            run: Some(self.run),
            event,
        })?;
        transaction
            .connection()
            .execute("INSERT INTO biller_event (event) VALUES (?1)", [text])?;
        // The printer's transaction runs after this one has been committed or rolled back.
        self.written.notify_one();
        Ok(())
    }

    /// Returns the oldest events, after every transaction that began before.
    async fn oldest(&self) -> Result<Vec<(i64, String)>, Failure> {
        let read = self.store.transaction(|transaction| {
            let sql = "SELECT number, event FROM biller_event ORDER BY number LIMIT ?1";
            let mut select = transaction.connection().prepare_cached(sql)?;
            let rows = select.query_map([MAX_ROWS], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        });
        read.await.map_err(failed)
    }

    /// Removes the events up to and including a number.
    async fn printed(&self, last: i64) -> Result<(), Failure> {
        let remove = self.store.transaction(move |transaction| {
            transaction
                .connection()
                .execute("DELETE FROM biller_event WHERE number <= ?1", [last])
                .map(drop)
        });
        remove.await.map_err(failed)
    }
}

/// The sender of events that belong to no transaction. The value is cheap to clone.
#[derive(Clone)]
pub(super) struct Teller {
    events: mpsc::Sender<Event>,
    omitted: Arc<AtomicU64>,
}

impl Teller {
    /// Returns false while an event may be omitted: an account has at most two at once.
    pub(super) fn has_room(&self) -> bool {
        self.events.capacity() > 1
    }

    /// Passes an event on, or counts it if too many wait.
    pub(super) fn tell(&self, event: Event) {
        // Does not wait, so that a receiver answers in time even if the reader of the output is
        // slow.
        if self.events.try_send(event).is_err() {
            // `Relaxed` suffices, because no other memory depends on the count.
            self.omitted.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Prints events.
pub(super) struct Printer {
    journal: Journal,
    events: mpsc::Receiver<Event>,
    omitted: Arc<AtomicU64>,
    json: bool,
}

/// An event of the table. Number and run together identify the event.
#[derive(Deserialize, Serialize)]
struct Written<E> {
    /// The number of the row; `None` within the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<i64>,
    /// The run that wrote the row, even if a later run prints it; `None` in rows of earlier
    /// versions, which had no runs.
    #[serde(default)]
    run: Option<HyphenatedUuid>,
    #[serde(flatten)]
    event: E,
}

impl Printer {
    pub(super) fn new(journal: Journal, json: bool) -> (Teller, Self) {
        let (sender, events) = mpsc::channel(MAX_WAITING_EVENTS);
        let omitted = Arc::<AtomicU64>::default();
        let teller = Teller {
            events: sender,
            omitted: omitted.clone(),
        };
        (
            teller,
            Self {
                journal,
                events,
                omitted,
                json,
            },
        )
    }

    /// Prints until `stop` is ready and no event is left. Returns the result of `stop`.
    pub(super) async fn run<T>(
        &mut self,
        stop: impl Future<Output = T>,
        output: &mut Output,
    ) -> Result<T, Failure> {
        let mut stop = std::pin::pin!(stop);
        // Prints events that were committed before a kill but not printed.
        self.print_written(output).await?;
        let stopped = loop {
            // Nothing is printed within the select, so that nothing is interrupted between printing
            // and removing.
            let told = tokio::select! {
                biased;
                stopped = &mut stop => break stopped,
                () = self.journal.written.notified() => None,
                Some(event) = self.events.recv() => Some(event),
            };
            match told {
                Some(event) => {
                    self.print(&event, output)?;
                    self.print_waiting(output)?;
                }
                None => self.print_written(output).await?,
            }
        };
        self.print_written(output).await?;
        self.print_waiting(output)?;
        Ok(stopped)
    }

    /// Prints one event that belongs to no transaction.
    pub(super) fn print(&mut self, event: &Event, output: &mut Output) -> Result<(), Failure> {
        self.write(event, event, output)?;
        Ok(output.flush()?)
    }

    /// Prints and removes the events of the table.
    async fn print_written(&mut self, output: &mut Output) -> Result<(), Failure> {
        loop {
            let rows = self.journal.oldest().await?;
            let Some((last, _)) = rows.last() else {
                return Ok(());
            };
            let last = *last;
            for (number, text) in &rows {
                let mut written: Written<Event> = serde_json::from_str(text).map_err(failed)?;
                written.number = Some(*number);
                self.write(&written.event, &written, output)?;
            }
            output.flush()?;
            // Removes the events after the reader has the lines; after a kill in between, they are
            // printed again.
            self.journal.printed(last).await?;
        }
    }

    /// Prints the events of the channel, and the number of events that had no room.
    fn print_waiting(&mut self, output: &mut Output) -> Result<(), Failure> {
        while let Ok(event) = self.events.try_recv() {
            self.write(&event, &event, output)?;
        }
        // Read and reset in one step, so that no omission is lost.
        let count = self.omitted.swap(0, Ordering::Relaxed);
        if count > 0 {
            let omitted = Event::Omitted {
                at: SystemClock.now(),
                count,
            };
            self.write(&omitted, &omitted, output)?;
        }
        Ok(output.flush()?)
    }

    /// Prints an event for people, or as JSON.
    fn write(
        &self,
        event: &Event,
        json: &impl Serialize,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if self.json {
            output.json(json)
        } else {
            people::print(event, output)
        }
    }
}
