//! Statement entries that were imported, and the positions of the walks, with one script call for
//! each operation.

use super::RedisStore;
use bankrail_statement::{
    AccountId, EntryKey, PositionChange, Recorded, SeenEntries, SeenEntry, check_position,
};
use bankrail_values::{Date, StoreError, StoreErrorKind, StoreFuture};
use redis::aio::ConnectionLike;
use redis::{Cmd, FromRedisValue};

pub(super) const SCRIPT: &str = include_str!("seen.lua");

/// The answers of the script to a record. The third one means that the account is full.
const RECORDED: u8 = 1;
const OVERTAKEN: u8 = 2;

/// The maximum number of keys that one call forgets, so that other calls run in between.
const FORGET_BATCH: u32 = 500;

impl<C: ConnectionLike + Clone + Send + Sync> SeenEntries for RedisStore<C> {
    fn counts<'a>(
        &'a self,
        account: &'a AccountId,
        keys: &'a [EntryKey],
    ) -> StoreFuture<'a, Vec<u32>> {
        Box::pin(async move {
            let counts: Vec<u32> = self
                .call(account, "counts", |command| {
                    for key in keys {
                        command.arg(key.as_bytes());
                    }
                })
                .await?;
            if counts.len() == keys.len() {
                Ok(counts)
            } else {
                Err(StoreErrorKind::Corrupt.into())
            }
        })
    }

    fn record<'a>(
        &'a self,
        account: &'a AccountId,
        entries: &'a [SeenEntry],
        position: Option<PositionChange<'a>>,
    ) -> StoreFuture<'a, Recorded> {
        Box::pin(async move {
            check_position(position)?;
            let idle = self
                .options
                .idle_retention
                .map(|idle| idle.as_millis().to_string())
                .unwrap_or_default();
            let before = position.map(|change| change.before);
            let after = position.and_then(|change| change.after);
            let recorded = self.call(account, "record", |command| {
                command.arg(self.options.seen_capacity).arg(&idle);
                command
                    .arg(match before {
                        None => "",
                        Some(None) => "none",
                        Some(Some(_)) => "at",
                    })
                    .arg(before.flatten().unwrap_or_default());
                command
                    .arg(if after.is_some() { "1" } else { "" })
                    .arg(after.unwrap_or_default());
                for entry in entries.iter().filter(|entry| entry.occurrence > 0) {
                    let day = entry.day.map(number).unwrap_or_default();
                    command
                        .arg(entry.key.as_bytes())
                        .arg(entry.occurrence)
                        .arg(day);
                }
            });
            match recorded.await? {
                RECORDED => Ok(Recorded::Committed),
                OVERTAKEN => Ok(Recorded::Overtaken),
                _ => Err(StoreErrorKind::Full.into()),
            }
        })
    }

    fn position<'a>(&'a self, account: &'a AccountId) -> StoreFuture<'a, Option<String>> {
        Box::pin(self.call(account, "position", |_| {}))
    }

    fn forget_before<'a>(&'a self, account: &'a AccountId, day: Date) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            let mut forgotten = 0;
            loop {
                let piece = self.call(account, "forget", |command| {
                    command.arg(number(day)).arg(FORGET_BATCH);
                });
                match piece.await? {
                    0 => return Ok(forgotten),
                    piece => forgotten += piece,
                }
            }
        })
    }
}

impl<C: ConnectionLike + Clone + Send + Sync> RedisStore<C> {
    async fn call<T: FromRedisValue>(
        &self,
        account: &AccountId,
        operation: &str,
        arguments: impl Fn(&mut Cmd),
    ) -> Result<T, StoreError> {
        // An account's identifier has no braces.
        let key = format!("{}seen:{{{account}}}", self.options.prefix);
        let days = format!("{key}:days");
        let arguments = |command: &mut Cmd| {
            command.arg(operation);
            arguments(command);
        };
        self.server
            .run(&self.scripts.seen, &[&key, &days], arguments)
            .await
    }
}

/// Writes a day as YYYYMMDD, which sorts by day.
fn number(day: Date) -> String {
    day.to_string().replace('-', "")
}
