//! The time zone of reports.

use bankrail_values::{Date, Timestamp};
use jiff::tz::{TimeZone, TimeZoneDatabase};

/// The maximum number of names that an error suggests.
const MAX_SIMILAR_NAMES: usize = 3;
/// The farthest offset from UTC that a time of XML Schema can have.
const MAX_OFFSET_SECONDS: i32 = 14 * 3600;

/// A time zone, or a name that no time zone has.
#[derive(Clone, Debug)]
pub(crate) struct ReportTimeZone(Result<TimeZone, String>);

impl Default for ReportTimeZone {
    fn default() -> Self {
        Self(Ok(TimeZone::UTC))
    }
}

impl ReportTimeZone {
    pub(crate) fn named(name: String) -> Self {
        // Not the machine's own database: the day of an entry must not depend on where a process
        // runs.
        Self(TimeZoneDatabase::bundled().get(&name).map_err(|_| name))
    }

    /// Returns the name if no time zone has it.
    pub(crate) fn unknown_name(&self) -> Option<&str> {
        self.0.as_ref().err().map(String::as_str)
    }

    /// Returns the local time of an instant. The time is in UTC if a report cannot state the
    /// offset, because it has seconds or exceeds 14 hours, as some did in the nineteenth century.
    pub(crate) fn local(&self, now: Timestamp) -> time::OffsetDateTime {
        let utc = now.to_time();
        let seconds = self.0.as_ref().ok().and_then(|zone| {
            let instant = jiff::Timestamp::from_millisecond(now.unix_millis()).ok()?;
            Some(zone.to_offset(instant).seconds())
        });
        // XML Schema writes offsets in minutes, up to 14 hours.
        let offset =
            seconds.filter(|seconds| seconds % 60 == 0 && seconds.abs() <= MAX_OFFSET_SECONDS);
        let offset = offset.and_then(|seconds| time::UtcOffset::from_whole_seconds(seconds).ok());
        // At the bounds of the calendar there may be no such local time.
        offset
            .and_then(|offset| utc.checked_to_offset(offset))
            .unwrap_or(utc)
    }

    /// Returns the local day of an instant.
    pub(crate) fn day_of(&self, now: Timestamp) -> Date {
        Date::from_time(self.local(now).date()).unwrap_or_else(|| now.date())
    }
}

/// Returns names of time zones whose last part is that of `name`, in any case and with any
/// separator of words; an example if there are none.
pub(crate) fn similar_names(name: &str) -> Vec<String> {
    let place = |name: &str| {
        name.rsplit('/')
            .next()
            .unwrap_or(name)
            .to_ascii_lowercase()
            .replace([' ', '-'], "_")
    };
    let wanted = place(name);
    let database = TimeZoneDatabase::bundled();
    let names = database
        .available()
        .filter(|known| place(known.as_str()) == wanted);
    let mut names: Vec<String> = names
        .map(|known| known.as_str().to_owned())
        .take(MAX_SIMILAR_NAMES)
        .collect();
    if names.is_empty() {
        names.push("Australia/Sydney".to_owned());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(zone: &str, instant: &str) -> String {
        let zone = ReportTimeZone::named(zone.to_owned());
        assert_eq!(zone.unknown_name(), None);
        let local = zone.local(instant.parse().unwrap());
        let text = bankrail_camt052::CreationTime::from_time(local).to_string();
        let day = zone.day_of(instant.parse().unwrap());
        assert!(
            text.starts_with(&day.to_string()),
            "{day} is the day of {text}"
        );
        text
    }

    #[test]
    fn summer_time_begins_and_ends() {
        for (instant, expected) in [
            // Clocks go from 2:00 to 3:00 on the first Sunday of October.
            ("2021-10-02T15:59:59.999Z", "2021-10-03T01:59:59.999+10:00"),
            ("2021-10-02T16:00:00.000Z", "2021-10-03T03:00:00.000+11:00"),
            // Clocks go from 3:00 back to 2:00 on the first Sunday of April.
            ("2022-04-02T15:59:59.999Z", "2022-04-03T02:59:59.999+11:00"),
            ("2022-04-02T16:00:00.000Z", "2022-04-03T02:00:00.000+10:00"),
            // The day ends an hour earlier in UTC while it is summer.
            ("2021-12-31T12:59:59.999Z", "2021-12-31T23:59:59.999+11:00"),
            ("2021-12-31T13:00:00.000Z", "2022-01-01T00:00:00.000+11:00"),
            ("2021-06-30T13:59:59.999Z", "2021-06-30T23:59:59.999+10:00"),
            ("2021-06-30T14:00:00.000Z", "2021-07-01T00:00:00.000+10:00"),
        ] {
            assert_eq!(local("Australia/Sydney", instant), expected);
        }
    }

    #[test]
    fn zones_of_half_an_hour() {
        assert_eq!(
            local("Asia/Kolkata", "2021-07-28T18:30:00.000Z"),
            "2021-07-29T00:00:00.000+05:30"
        );
        // Summer time itself is half an hour there.
        assert_eq!(
            local("Australia/Lord_Howe", "2021-07-29T00:00:00.000Z"),
            "2021-07-29T10:30:00.000+10:30"
        );
        assert_eq!(
            local("Australia/Lord_Howe", "2021-12-29T00:00:00.000Z"),
            "2021-12-29T11:00:00.000+11:00"
        );
    }

    #[test]
    fn an_offset_that_no_report_can_state_is_utc() {
        // Before 1895 the offset of Sydney had seconds.
        assert_eq!(
            local("Australia/Sydney", "1890-01-01T00:00:00.000Z"),
            "1890-01-01T00:00:00.000+00:00"
        );
        let zone = ReportTimeZone::named("Australia/Sydney".to_owned());
        assert_eq!(
            zone.local("1890-01-01T00:00:00.000Z".parse().unwrap())
                .offset(),
            time::UtcOffset::UTC
        );
    }

    #[test]
    fn utc_is_the_default() {
        let now = "2021-07-29T23:59:59.999Z".parse().unwrap();
        assert_eq!(
            ReportTimeZone::default().day_of(now).to_string(),
            "2021-07-29"
        );
        assert_eq!(ReportTimeZone::named("utc".to_owned()).unknown_name(), None);
    }

    #[test]
    fn a_name_that_is_none_says_how_it_is_spelt() {
        for (name, expected) in [
            ("AEST", "Australia/Sydney"),
            ("", "Australia/Sydney"),
            ("paris", "Europe/Paris"),
        ] {
            let zone = ReportTimeZone::named(name.to_owned());
            assert_eq!(zone.unknown_name(), Some(name));
            assert_eq!(similar_names(name), [expected]);
        }
    }
}
