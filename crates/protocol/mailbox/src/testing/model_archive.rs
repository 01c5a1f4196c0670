//! A plain model of an archive, to compare engines with.

use crate::{ArchiveLabel, ArchiveRecord, ArchiveStore, OpaqueBytes};
use bankrail_values::{StoreErrorKind, StoreFuture, Timestamp};
use std::future::ready;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An archive in a list, for tests only: the last number, and the records with their content.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct ModelArchive(Mutex<(u64, Vec<(ArchiveRecord, OpaqueBytes)>)>);

impl ModelArchive {
    /// Creates an empty archive.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, (u64, Vec<(ArchiveRecord, OpaqueBytes)>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ArchiveStore for ModelArchive {
    fn add<'a>(
        &'a self,
        label: &'a ArchiveLabel,
        sealed: &'a OpaqueBytes,
        oldest: Timestamp,
        max_kind_bytes: u64,
    ) -> StoreFuture<'a, ()> {
        let bytes = sealed.len() as u64;
        if bytes > max_kind_bytes {
            return Box::pin(ready(Err(StoreErrorKind::Full.into())));
        }
        let (last, records) = &mut *self.state();
        *last += 1;
        records.push((
            ArchiveRecord::new(*last, label.clone(), bytes),
            sealed.clone(),
        ));
        let is_of_kind = |record: &ArchiveRecord| record.label.kind == label.kind;
        records.retain(|(record, _)| !is_of_kind(record) || record.label.at >= oldest);
        let mut left: u64 = records
            .iter()
            .filter(|(record, _)| is_of_kind(record))
            .map(|(record, _)| record.bytes)
            .sum();
        records.retain(|(record, _)| {
            let is_kept = left <= max_kind_bytes || !is_of_kind(record);
            left -= if is_kept { 0 } else { record.bytes };
            is_kept
        });
        Box::pin(ready(Ok(())))
    }

    fn records(&self, after: u64, most: u32) -> StoreFuture<'_, Vec<ArchiveRecord>> {
        let records = &self.state().1;
        let found = records
            .iter()
            .map(|(record, _)| record.clone())
            .filter(|record| record.number > after);
        Box::pin(ready(Ok(found.take(most as usize).collect())))
    }

    fn content(&self, number: u64) -> StoreFuture<'_, Option<OpaqueBytes>> {
        let records = &self.state().1;
        let found = records.iter().find(|(record, _)| record.number == number);
        Box::pin(ready(Ok(found.map(|(_, content)| content.clone()))))
    }
}
