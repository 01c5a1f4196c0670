//! Call types: their names and default limits.

use bankrail_rate_limit::{Algorithm, CallType, Counting, default_limits};

/// Specification: "Limits". `0` stands for n/a.
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
    let budgets = [(CallType::TokenFailure, 60, 0, 5), (CallType::BearerFailure, 60, 0, 5)];
    assert_eq!(budgets.map(|row| row.0), CallType::ALL[12..]);
    for (call_type, hour, minute, second) in table.into_iter().chain(budgets) {
        let expected: Vec<(u64, u32)> =
            [(3_600, hour), (60, minute), (1, second)].into_iter().filter(|(_, limit)| *limit > 0).collect();
        let policy = default_limits(call_type);
        assert_eq!((policy.algorithm(), policy.counting()), (Algorithm::Sliding, Counting::Attempts));
        let found: Vec<(u64, u32)> =
            policy.windows().iter().map(|window| (window.length().as_secs(), window.limit())).collect();
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
