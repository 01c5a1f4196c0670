//! Valid and invalid policies.

use bankrail_rate_limit::{Algorithm, Counting, Policy, PolicyError, Window};
use std::time::Duration;

#[test]
fn order_does_not_matter_and_lengths_differ() {
    let (hour, second) = (
        Window::per_hour(10).unwrap(),
        Window::per_second(2).unwrap(),
    );
    let policy = |windows: &[Window]| Policy::new(Algorithm::Fixed, Counting::Attempts, windows);
    assert_eq!(policy(&[hour, second]), policy(&[second, hour]));
    let other = Window::per_hour(11).unwrap();
    assert!(matches!(
        policy(&[hour, second, other]),
        Err(PolicyError::Repeated { .. })
    ));
    let four = [1, 2, 3, 4].map(|n| Window::new(Duration::from_secs(n), 1).unwrap());
    assert_eq!(policy(&four), Err(PolicyError::TooMany { found: 4 }));
    assert!(policy(&[]).unwrap().check_cost(u32::MAX).is_ok());
}

#[test]
fn a_cost_that_never_fits_names_the_window() {
    let windows = [
        Window::per_hour(10).unwrap(),
        Window::per_second(2).unwrap(),
    ];
    let policy = Policy::new(Algorithm::Fixed, Counting::Attempts, &windows).unwrap();
    assert!(policy.check_cost(2).is_ok());
    assert_eq!(
        policy.check_cost(3).unwrap_err().to_string(),
        "a cost of 3 never fits a limit of 2 per 1s"
    );
}

#[test]
fn a_policy_says_what_it_limits() {
    let windows = [
        Window::per_second(2).unwrap(),
        Window::per_hour(10).unwrap(),
    ];
    let policy = Policy::new(Algorithm::Fixed, Counting::Attempts, &windows).unwrap();
    assert_eq!(
        policy.to_string(),
        "10 per 3600s, 2 per 1s (fixed, attempts)"
    );
    let other = policy
        .with_algorithm(Algorithm::Sliding)
        .with_counting(Counting::Admitted);
    assert_eq!(
        (other.algorithm(), other.counting()),
        (Algorithm::Sliding, Counting::Admitted)
    );
    assert_eq!(
        format!("{other:?}"),
        "Policy(10 per 3600s, 2 per 1s (sliding, admitted))"
    );
    assert_eq!(Policy::unlimited().to_string(), "unlimited");
    let minute = Window::per_minute(7).unwrap();
    assert_eq!(
        (minute.length(), minute.limit(), minute.millis()),
        (Duration::from_secs(60), 7, 60_000)
    );
    assert_eq!(minute.to_string(), "7 per 60s");
}
