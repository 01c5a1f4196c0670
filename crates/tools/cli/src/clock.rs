//! Times for people: as written, in UTC and in the zone of the machine.

use bankrail::camt052::IsoDateTime;
use bankrail::values::Timestamp;
use time::{OffsetDateTime, UtcOffset};

/// Returns a time as it is written, followed by the time in UTC and in the zone of the machine if
/// it has an offset.
pub(crate) fn moment(at: &IsoDateTime) -> String {
    match at.offset().and_then(|_| at.to_time(UtcOffset::UTC)) {
        Some(instant) => format!("{at} ({})", both(instant)),
        None => at.to_string(),
    }
}

/// Returns a date, or a date and time to the second, of a document in a readable form: `2021-07-29
/// 17:10:05 +10:00`.
pub(crate) fn readable(written: &str) -> String {
    let Some((day, rest)) = written.split_once('T') else {
        return written.to_owned();
    };
    let (time, offset) = rest.split_at(rest.find(['Z', '+', '-']).unwrap_or(rest.len()));
    let time = time.split_once('.').map_or(time, |(seconds, _)| seconds);
    let offset = if offset == "Z" { "UTC" } else { offset };
    format!("{day} {time} {offset}").trim_end().to_owned()
}

/// Returns an instant in UTC and in the zone of the machine.
pub(crate) fn instant(at: Timestamp) -> String {
    both(at.to_time())
}

/// Returns `2021-07-29 07:10:05 UTC`, followed by the time in the zone of the machine if that zone
/// is not UTC.
fn both(at: OffsetDateTime) -> String {
    // Some systems do not reveal their zone.
    let here = UtcOffset::local_offset_at(at)
        .ok()
        .filter(|offset| !offset.is_utc());
    let text = |at: OffsetDateTime| {
        format!(
            "{} {:02}:{:02}:{:02}",
            at.date(),
            at.hour(),
            at.minute(),
            at.second()
        )
    };
    let utc = at.checked_to_offset(UtcOffset::UTC).unwrap_or(at);
    match here.and_then(|offset| at.checked_to_offset(offset)) {
        Some(local) => {
            let (hours, minutes, _) = local.offset().as_hms();
            let sign = if hours < 0 || minutes < 0 { '-' } else { '+' };
            let offset = format!(
                "{sign}{:02}:{:02}",
                hours.unsigned_abs(),
                minutes.unsigned_abs()
            );
            format!("{} UTC, {} {offset} here", text(utc), text(local))
        }
        None => format!("{} UTC", text(utc)),
    }
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn times_are_readable() {
        for (written, expected) in [
            ("2021-07-29", "2021-07-29"),
            (
                "2021-07-29T17:10:05.0000000+10:00",
                "2021-07-29 17:10:05 +10:00",
            ),
            ("2021-07-29T17:10:00Z", "2021-07-29 17:10:00 UTC"),
            (
                "2021-07-29T17:10:05.250-03:30",
                "2021-07-29 17:10:05 -03:30",
            ),
            ("2021-07-29T17:10:05", "2021-07-29 17:10:05"),
        ] {
            assert_eq!(readable(written), expected);
        }
    }
}
