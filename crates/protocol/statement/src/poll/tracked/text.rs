//! The text form of the remembered entries.

use super::{State, Tracked, TrackedEntries};
use crate::EntryLinks;
use crate::identity::EntryParts;
use crate::seen::EntryKey;
use bankrail_values::Date;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;

/// The number of bytes of an entry.
const ROW: usize = 32 + 4 + 3 * 16 + 4 + 1;

impl TrackedEntries {
    /// Writes all rows as base64.
    pub(in crate::poll) fn to_text(&self) -> String {
        let mut bytes = Vec::with_capacity(self.0.len() * ROW);
        for Tracked {
            entry: (key, occurrence),
            links,
            on,
            state,
        } in &self.0
        {
            bytes.extend(key.as_bytes());
            bytes.extend(occurrence.to_be_bytes());
            // No hash is 0.
            for link in [
                links.amount,
                links.reference.unwrap_or(0),
                links.payment.unwrap_or(0),
            ] {
                bytes.extend(link.to_be_bytes());
            }
            bytes.extend(
                on.map_or(0, |on| on.to_time().to_julian_day())
                    .to_be_bytes(),
            );
            // The cast is lossless, because there are four states.
            bytes.push(u8::from(links.booked) | (*state as u8) << 1);
        }
        BASE64.encode(bytes)
    }

    /// Writes the parts of the rows without a reference as base64, separately, because earlier
    /// versions read the other text.
    pub(in crate::poll) fn parts_to_text(&self) -> String {
        let rows = self.0.iter().map(|row| row.links);
        let parts = || {
            rows.clone()
                .filter(|links| links.reference.is_none())
                .map(|links| links.parts)
        };
        if parts().all(|parts| parts == EntryParts::default()) {
            return String::new();
        }
        BASE64.encode(parts().flat_map(EntryParts::to_bytes).collect::<Vec<u8>>())
    }

    /// Reads the texts of [`TrackedEntries::to_text`] and [`TrackedEntries::parts_to_text`].
    /// Earlier versions wrote no parts.
    pub(in crate::poll) fn from_text(text: &str, parts: &str) -> Option<Self> {
        let (bytes, parts) = (BASE64.decode(text).ok()?, BASE64.decode(parts).ok()?);
        let mut rows = bytes
            .chunks(ROW)
            .map(Tracked::read)
            .collect::<Option<Vec<_>>>()?;
        let unnamed = rows.iter_mut().filter(|row| row.links.reference.is_none());
        for (row, parts) in unnamed.zip(parts.chunks(EntryParts::BYTES)) {
            row.links.parts = EntryParts::from_bytes(parts);
        }
        (rows.len() <= Self::MAX_ENTRIES).then_some(Self(rows))
    }
}

impl Tracked {
    fn read(row: &[u8]) -> Option<Self> {
        let (key, row) = row.split_first_chunk::<32>()?;
        let (occurrence, row) = row.split_first_chunk()?;
        let (amount, row) = row.split_first_chunk()?;
        let (reference, row) = row.split_first_chunk()?;
        let (payment, row) = row.split_first_chunk()?;
        let (on, row) = row.split_first_chunk()?;
        let [flags] = row else { return None };
        let link = |bytes: &[u8; 16]| Some(u128::from_be_bytes(*bytes)).filter(|link| *link != 0);
        let state = match flags >> 1 {
            0 => State::Listed,
            1 => State::Missing,
            2 => State::Vanished,
            3 => State::Replaced,
            _ => return None,
        };
        let links = EntryLinks {
            booked: flags & 1 == 1,
            amount: u128::from_be_bytes(*amount),
            reference: link(reference),
            payment: link(payment),
            parts: EntryParts::default(),
        };
        let on = match i32::from_be_bytes(*on) {
            0 => None,
            day => Some(Date::from_time(time::Date::from_julian_day(day).ok()?)?),
        };
        Some(Self {
            entry: (EntryKey::from(*key), u32::from_be_bytes(*occurrence)),
            links,
            on,
            state,
        })
    }
}
