//! A customer's own limits over the default ones.

use super::fixture::record;
use bankrail_rate_limit::{CallType, Limits, Policy, Window};
use bankrail_values::Timestamp;

#[test]
fn lasting_and_temporary_limits_keep_what_they_do_not_state() {
    let record = record(
        "ACME",
        &[],
        "[[limits]]\ncall_type = \"token\"\nper_hour = 100\n\
         [[limits]]\ncall_type = \"token\"\nper_second = 9\nuntil = 2026-12-24T12:00:00+10:00\n\
         [[limits]]\ncall_type = \"statement\"\nunlimited = true\n",
    );
    let mut limits = Limits::default();
    record.set_limits(&mut limits).unwrap();
    let at = |now: &str, call_type| {
        let now: Timestamp = now.parse().unwrap();
        limits.policy("ACME", call_type, now).to_string()
    };
    assert_eq!(
        at("2026-12-24T01:59:59.999Z", CallType::Token),
        "100 per 3600s, 9 per 1s (sliding, attempts)"
    );
    assert_eq!(
        at("2026-12-24T02:00:00.000Z", CallType::Token),
        "100 per 3600s, 2 per 1s (sliding, attempts)"
    );
    assert_eq!(
        at("2026-12-24T02:00:00.000Z", CallType::Statement),
        "unlimited"
    );
    assert_eq!(
        at("2026-12-24T02:00:00.000Z", CallType::GraphQl),
        "10000 per 3600s, 5 per 1s (sliding, attempts)"
    );
}

/// A default policy with other windows has no room for a third unit.
#[test]
fn a_limit_that_does_not_fit_leaves_its_call_type() {
    let text = "[[limits]]\ncall_type = \"token\"\nper_minute = 5\n[[limits]]\ncall_type = \"statement\"\nper_hour = 7\n";
    let record = record("ACME", &[], text);
    let mut limits = Limits::default();
    let everybody = *limits.default_policy(CallType::Token);
    let seconds = |seconds| Window::new(std::time::Duration::from_secs(seconds), 5).unwrap();
    let windows = [seconds(7), seconds(8), seconds(9)];
    limits.set_default(
        CallType::Token,
        Policy::new(everybody.algorithm(), everybody.counting(), &windows).unwrap(),
    );
    assert_eq!(
        record.set_limits(&mut limits).unwrap_err().to_string(),
        "expected at most 3 windows, found 4"
    );
    let now = "2026-12-24T02:00:00.000Z".parse().unwrap();
    assert_eq!(
        limits.policy("ACME", CallType::Token, now).windows(),
        limits.default_policy(CallType::Token).windows()
    );
    assert_eq!(
        limits.policy("ACME", CallType::Statement, now).to_string(),
        "7 per 3600s (sliding, attempts)"
    );
}
