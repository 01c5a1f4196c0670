//! Dates and times of XML Schema, and those of `time`.

use bankrail_iso20022::{Date, DateTime};
use proptest::prelude::*;

proptest! {
    #[test]
    fn every_date_there_is_can_be_read(
        year in prop_oneof![any::<i32>(), -5000..5000_i32, Just(999_999_999), Just(-999_999_999), Just(1_000_000_000)],
        month in 0_u8..14, day in 0_u8..33,
    ) {
        if let Some(date) = Date::new(year, month, day) {
            prop_assert_eq!(Date::parse(&date.to_string()), Ok(date));
        }
    }

    #[test]
    fn years_of_time_and_of_the_schema_are_each_other(year in -9999..=9999_i32) {
        let day = time::Date::from_calendar_date(year, time::Month::February, 28).unwrap();
        let date = DateTime::from_time(day.midnight().assume_utc(), 0).date();
        prop_assert_eq!(date.to_time(), Some(day));
        prop_assert_eq!(date.year(), if year > 0 { year } else { year - 1 });
    }
}

#[test]
fn an_instant_stays_what_it_is_whatever_its_offset() {
    let noon = time::Date::from_calendar_date(2021, time::Month::July, 29).unwrap().midnight().assume_utc();
    for (hours, minutes, seconds, written) in [
        (0, 0, 0, "2021-07-29T00:00:00+00:00"),
        (-14, 0, 0, "2021-07-28T10:00:00-14:00"),
        (14, 30, 0, "2021-07-29T00:00:00+00:00"),
        (-25, -59, -59, "2021-07-29T00:00:00+00:00"),
        (10, 0, 30, "2021-07-29T00:00:00+00:00"),
    ] {
        let at = noon.to_offset(time::UtcOffset::from_hms(hours, minutes, seconds).unwrap());
        let read = DateTime::from_time(at, 0);
        assert_eq!(read.to_string(), written);
        assert_eq!(read.to_time(time::UtcOffset::UTC), Some(noon));
    }
    let last = time::PrimitiveDateTime::MAX.assume_offset(time::UtcOffset::from_hms(-20, 0, 0).unwrap());
    assert_eq!(DateTime::from_time(last, 0).date().year(), 9999);
}

#[test]
fn years_have_nine_digits_at_most() {
    assert!(Date::new(999_999_999, 1, 1).is_some() && Date::new(-999_999_999, 1, 1).is_some());
    assert_eq!(Date::new(1_000_000_000, 1, 1), None);
    assert_eq!(Date::new(i32::MIN, 1, 1), None);
}
