//! Dates and times of XML Schema, and those of `time`.

use bankrail_iso20022::{IsoDate, IsoDateTime, IsoYearMonth, Offset};
use proptest::prelude::*;

proptest! {
    #[test]
    fn every_date_there_is_can_be_read(
        year in prop_oneof![any::<i32>(), -5000..5000_i32, Just(999_999_999), Just(-999_999_999), Just(1_000_000_000)],
        month in 0_u8..14, day in 0_u8..33,
    ) {
        if let Some(date) = IsoDate::new(year, month, day) {
            prop_assert_eq!(IsoDate::parse(&date.to_string()), Ok(date));
        }
    }

    #[test]
    fn years_of_time_and_of_the_schema_are_each_other(year in -9999..=9999_i32) {
        let day = time::Date::from_calendar_date(year, time::Month::February, 28).unwrap();
        let date = IsoDateTime::from_time(day.midnight().assume_utc(), 0).date();
        prop_assert_eq!(date.to_time(), Some(day));
        prop_assert_eq!(date.year(), if year > 0 { year } else { year - 1 });
    }
}

#[test]
fn an_instant_stays_what_it_is_whatever_its_offset() {
    let noon = time::Date::from_calendar_date(2021, time::Month::July, 29)
        .unwrap()
        .midnight()
        .assume_utc();
    for (hours, minutes, seconds, written) in [
        (0, 0, 0, "2021-07-29T00:00:00+00:00"),
        (-14, 0, 0, "2021-07-28T10:00:00-14:00"),
        (14, 30, 0, "2021-07-29T00:00:00+00:00"),
        (-25, -59, -59, "2021-07-29T00:00:00+00:00"),
        (10, 0, 30, "2021-07-29T00:00:00+00:00"),
    ] {
        let at = noon.to_offset(time::UtcOffset::from_hms(hours, minutes, seconds).unwrap());
        let read = IsoDateTime::from_time(at, 0);
        assert_eq!(read.to_string(), written);
        assert_eq!(read.to_time(time::UtcOffset::UTC), Some(noon));
    }
    let last =
        time::PrimitiveDateTime::MAX.assume_offset(time::UtcOffset::from_hms(-20, 0, 0).unwrap());
    assert_eq!(IsoDateTime::from_time(last, 0).date().year(), 9999);
}

#[test]
fn years_have_nine_digits_at_most() {
    assert!(
        IsoDate::new(999_999_999, 1, 1).is_some() && IsoDate::new(-999_999_999, 1, 1).is_some()
    );
    assert_eq!(IsoDate::new(1_000_000_000, 1, 1), None);
    assert_eq!(IsoDate::new(i32::MIN, 1, 1), None);
}

#[test]
fn offsets_reach_14_hours_either_way() {
    for (minutes, shown) in [
        (0, Some("+00:00")),
        (1, Some("+00:01")),
        (-1, Some("-00:01")),
        (59, Some("+00:59")),
        (60, Some("+01:00")),
        (-570, Some("-09:30")),
        (840, Some("+14:00")),
        (-840, Some("-14:00")),
        (841, None),
        (-841, None),
    ] {
        let offset = Offset::from_minutes(minutes);
        assert_eq!(offset.map(|offset| offset.to_string()).as_deref(), shown);
        assert_eq!(offset.map(|offset| format!("{offset:?}")).as_deref(), shown);
        assert_eq!(offset.map(Offset::minutes), shown.map(|_| minutes));
        if let Some(shown) = shown {
            let date = IsoDate::parse(&format!("2021-07-29{shown}")).unwrap();
            assert_eq!(date.offset(), offset);
            assert_eq!(IsoDate::new(2021, 7, 29).unwrap().with_offset(offset), date);
        }
    }
    assert_eq!(
        (Offset::Z.to_string().as_str(), Offset::Z.minutes()),
        ("Z", 0)
    );
    assert_ne!(Some(Offset::Z), Offset::from_minutes(0));
}

#[test]
fn days_exist_or_do_not() {
    for (year, month, days) in [
        (2021, 1, 31),
        (2021, 2, 28),
        (2020, 2, 29),
        (1900, 2, 28),
        (2000, 2, 29),
        (2021, 3, 31),
        (2021, 4, 30),
        (2021, 5, 31),
        (2021, 6, 30),
        (2021, 7, 31),
        (2021, 8, 31),
        (2021, 9, 30),
        (2021, 10, 31),
        (2021, 11, 30),
        (2021, 12, 31),
        // The year before 1 is -1, and a leap year.
        (-1, 2, 29),
        (-2, 2, 28),
        (-4, 2, 28),
        (-5, 2, 29),
        (-101, 2, 28),
        (-401, 2, 29),
    ] {
        for day in 0..33 {
            let date = IsoDate::new(year, month, day);
            assert_eq!(
                date.is_some(),
                (1..=days).contains(&day),
                "{year} {month} {day}"
            );
            if let Some(date) = date {
                assert_eq!(
                    (date.year(), date.month(), date.day(), date.offset()),
                    (year, month, day, None)
                );
            }
        }
    }
    for month in [0, 13] {
        assert_eq!(IsoDate::new(2021, month, 1), None);
    }
    assert_eq!(IsoDate::new(0, 1, 1), None);
}

#[test]
fn the_parts_of_a_time_are_those_that_it_is_written_with() {
    let utc = time::UtcOffset::UTC;
    for (text, clock, digits, nanosecond, second_of_day) in [
        ("2021-07-29T01:02:03", (1, 2, 3), 0, 0, 3_723),
        (
            "2021-07-29T23:59:59.5Z",
            (23, 59, 59),
            1,
            500_000_000,
            86_399,
        ),
        ("2021-07-29T10:00:00.000000001Z", (10, 0, 0), 9, 1, 36_000),
        (
            "2021-07-29T10:00:00.1234567890Z",
            (10, 0, 0),
            10,
            123_456_789,
            36_000,
        ),
        ("2021-07-29T24:00:00.00Z", (24, 0, 0), 2, 0, 86_400),
        ("2021-07-29T24:00:00.0000000000Z", (24, 0, 0), 10, 0, 86_400),
        ("2021-07-29T10:00:00+10:00", (10, 0, 0), 0, 0, 0),
        ("2021-07-29T10:00:00-01:30", (10, 0, 0), 0, 0, 41_400),
    ] {
        let at = IsoDateTime::parse(text).unwrap();
        assert_eq!((at.hour(), at.minute(), at.second()), clock, "{text}");
        assert_eq!(
            (at.fraction_digits(), at.nanosecond()),
            (digits, nanosecond),
            "{text}"
        );
        assert_eq!(
            (at.to_string().as_str(), format!("{at:?}").as_str()),
            (text, text)
        );
        let midnight = at.date().to_time().unwrap().midnight().assume_utc();
        let since = at.to_time(utc).unwrap() - midnight;
        assert_eq!(
            (since.whole_seconds(), since.subsec_nanoseconds()),
            (second_of_day, nanosecond.try_into().unwrap())
        );
        assert_eq!(at.offset(), at.date().offset());
        assert_eq!(
            at.offset().is_some(),
            text.len() > 19 && !text.ends_with("03")
        );
    }
    for other in [
        "24:00:00.01",
        "24:00:00.0000000001Z",
        "24:00:01",
        "24:01:00",
        "25:00:00",
        "23:60:00",
        "23:59:60",
    ] {
        assert!(
            IsoDateTime::parse(&format!("2021-07-29T{other}")).is_err(),
            "{other}"
        );
    }
    let plus_two = time::UtcOffset::from_hms(2, 0, 0).unwrap();
    let here = IsoDateTime::parse("2021-07-29T10:00:00").unwrap();
    assert_eq!(
        here.to_time(utc).unwrap() - here.to_time(plus_two).unwrap(),
        time::Duration::hours(2)
    );
    assert_eq!(
        IsoDateTime::parse("12021-07-29T10:00:00")
            .unwrap()
            .to_time(utc),
        None
    );
    assert_eq!(IsoDate::parse("-10001-01-01").unwrap().to_time(), None);
    let month = IsoYearMonth::parse("-0044-03Z").unwrap();
    assert_eq!(
        (month.year(), month.month(), month.to_string().as_str()),
        (-44, 3, "-0044-03Z")
    );
}

#[test]
fn an_instant_is_written_with_as_many_digits_as_are_asked_for() {
    let at = time::OffsetDateTime::from_unix_timestamp_nanos(1_627_520_523_987_654_321).unwrap();
    for (digits, written) in [
        (0, ""),
        (1, ".9"),
        (3, ".987"),
        (8, ".98765432"),
        (9, ".987654321"),
        (10, ".987654321"),
        (255, ".987654321"),
    ] {
        assert_eq!(
            IsoDateTime::from_time(at, digits).to_string(),
            format!("2021-07-29T01:02:03{written}+00:00")
        );
    }
    let whole = at.replace_nanosecond(5_000_000).unwrap();
    assert_eq!(
        IsoDateTime::from_time(whole, 4).to_string(),
        "2021-07-29T01:02:03.0050+00:00"
    );
}

#[test]
fn days_of_messages_in_json_are_days_of_the_schema() {
    let day: bankrail_values::Date = "2021-07-29".parse().unwrap();
    assert_eq!(IsoDate::from(day), IsoDate::new(2021, 7, 29).unwrap());
}
