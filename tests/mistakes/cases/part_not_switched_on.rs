//! A limiter beside engines, without the feature of the limits.
//! features: stores
//! says: the item is gated behind the `rate-limit` feature
use bankrail::rate_limit::Policy;

fn main() {
    let _: Option<Policy> = None;
}
