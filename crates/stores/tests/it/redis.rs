//! The stores on real servers, each started by its test. `BANKRAIL_REDIS_SERVER` and `BANKRAIL_VALKEY_SERVER` name the
//! programs.

mod cluster;
mod faults;
mod inbox;
mod proxy;
mod same_answers;
mod server;
mod store;
mod together;

use bankrail_rate_limit::{Algorithm, CallType, Charge, CostError, Counting, Policy, Window};
use bankrail_values::Timestamp;
use std::time::Duration;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).unwrap()
}

fn policy(algorithm: Algorithm, counting: Counting, windows: &[(u64, u32)]) -> Policy {
    let windows: Vec<Window> =
        windows.iter().map(|(millis, limit)| Window::new(Duration::from_millis(*millis), *limit).unwrap()).collect();
    Policy::new(algorithm, counting, &windows).unwrap()
}

fn charge(customer: &str, policy: Policy, millis: i64, cost: u32) -> Result<Charge<'_>, CostError> {
    Charge::new(customer, CallType::Payment, policy, at(millis), cost)
}
