//! Call types: their names and default limits.

use bankrail_rate_limit::{
    Algorithm, CallType, Counting, Limits, MemoryCounters, OnStoreFailure, Policy, Window,
    default_limits,
};

/// Specification: "Limits": the table's rows, with `0` for n/a.
#[test]
fn the_table_row_by_row() {
    let table: [(CallType, u32, u32, u32); 12] = [
        (CallType::GraphQl, 10_000, 0, 5),
        (CallType::Token, 10, 0, 2),
        (CallType::FxQuote, 500, 0, 10),
        (CallType::FastPayment, 0, 30, 2),
        (CallType::MandateStatusChange, 0, 0, 10),
        (CallType::MandateCreation, 0, 0, 10),
        (CallType::PaymentInstruction, 0, 0, 5),
        (CallType::MandateDetails, 0, 0, 5),
        (CallType::QueryResolution, 0, 0, 5),
        (CallType::Payment, 0, 30, 2),
        (CallType::PaymentEnquiry, 0, 90, 2),
        (CallType::Statement, 25, 0, 0),
    ];
    assert_eq!(table.map(|row| row.0), CallType::ALL[..12]);
    // Default: the budgets for requests that prove nothing.
    let budgets = [
        (CallType::TokenFailure, 60, 0, 5),
        (CallType::BearerFailure, 60, 0, 5),
    ];
    assert_eq!(budgets.map(|row| row.0), CallType::ALL[12..]);
    for (call_type, hour, minute, second) in table.into_iter().chain(budgets) {
        let expected: Vec<(u128, u32)> = [(3_600_000, hour), (60_000, minute), (1_000, second)]
            .into_iter()
            .filter(|(_, limit)| *limit > 0)
            .collect();
        let policy = default_limits(call_type);
        assert_eq!(
            (policy.algorithm(), policy.counting()),
            (Algorithm::Sliding, Counting::Attempts)
        );
        let found: Vec<(u128, u32)> = policy
            .windows()
            .iter()
            .map(|window| (window.length().as_millis(), window.limit()))
            .collect();
        assert_eq!(found, expected, "{call_type}");
    }
}

#[test]
fn names_are_distinct_and_read_back() {
    let names = [
        "graphql",
        "token",
        "fx-quote",
        "fast-payment",
        "mandate-status-change",
        "mandate-creation",
        "payment-instruction",
        "mandate-details",
        "query-resolution",
        "payment",
        "payment-enquiry",
        "statement",
        "token-failure",
        "bearer-failure",
    ];
    for (call_type, name) in CallType::ALL.into_iter().zip(names) {
        assert_eq!((call_type.as_str(), name.parse()), (name, Ok(call_type)));
        assert_eq!(format!("{call_type:>22}"), format!("{name:>22}"));
    }
    assert_eq!(
        "Statement".parse::<CallType>().unwrap_err().to_string(),
        "expected the name of a call type, found \"Statement\""
    );
}

#[test]
fn a_call_type_of_ones_own_has_a_name_and_limits_of_its_own() {
    let hourly = |limit| {
        Policy::new(
            Algorithm::Fixed,
            Counting::Admitted,
            &[Window::per_hour(limit).unwrap()],
        )
        .unwrap()
    };
    let own = [
        CallType::Own1,
        CallType::Own2,
        CallType::Own3,
        CallType::Own4,
        CallType::Own5,
        CallType::Own6,
        CallType::Own7,
        CallType::Own8,
    ];
    for (number, call_type) in (1..).zip(own) {
        let name = format!("own-{number}");
        assert_eq!(
            (call_type.as_str(), call_type.to_string()),
            (&*name, name.clone())
        );
        assert!(name.parse::<CallType>().is_err(), "no file sets its limits");
        let forgotten = *Limits::new().default_policy(call_type);
        assert_eq!(forgotten.windows(), [Window::per_hour(1).unwrap()]);
    }
    // Each call type is limited and counted separately.
    let mut limits = Limits::new();
    limits.set_default(own[1], hourly(2));
    limits.set_default(own[7], hourly(3));
    limits.set_on_store_failure(own[7], OnStoreFailure::Allow);
    assert_eq!(limits.default_policy(own[7]), &hourly(3));
    assert_eq!(
        limits.default_policy(own[6]),
        Limits::new().default_policy(own[6])
    );
    assert_eq!(
        [own[6], own[7]].map(|one| limits.on_store_failure(one)),
        [OnStoreFailure::Refuse, OnStoreFailure::Allow]
    );
    let counters = MemoryCounters::default();
    let now = "2021-07-29T10:00:00.000Z".parse().unwrap();
    for (call_type, allowed) in [(own[0], 1), (own[1], 2), (own[7], 3)] {
        for number in 0..5 {
            let charge = limits.charge("ACME", call_type, now, 1).unwrap();
            assert_eq!(
                counters.charge(&charge).unwrap().is_allowed(),
                number < allowed,
                "{call_type} {number}"
            );
        }
    }
}
