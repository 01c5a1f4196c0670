//! Dates.

use bankrail_values::Date;

#[test]
fn only_real_days_in_one_spelling() {
    for good in ["2021-07-29", "2024-02-29", "0000-01-01", "9999-12-31"] {
        assert_eq!(Date::parse(good).unwrap().to_string(), good);
    }
    for bad in [
        "2021-02-29",
        "20210729",
        "2021-7-29",
        "2021-07-29Z",
        " 2021-07-29",
        "2021-13-01",
        "٢٠٢١-07-29",
        "",
    ] {
        assert!(Date::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn a_date_is_of_a_year_of_four_digits() {
    let day = |year| time::Date::from_ordinal_date(year, 1).unwrap();
    assert_eq!(Date::from_time(day(-1)), None);
    for year in [0, 2021, 9999] {
        assert_eq!(Date::from_time(day(year)).unwrap().to_time(), day(year));
    }
}
