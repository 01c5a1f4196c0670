//! Shows the specification's limits: its worked cases of the sliding window, and the default table.

use bankrail::rate_limit::{
    Algorithm, CallType, Counting, Policy, State, Window, decide, default_limits,
};
use bankrail::values::{MainError, Timestamp};
use std::time::Duration;

fn main() -> Result<(), MainError> {
    let policy = Policy::new(
        Algorithm::Sliding,
        Counting::Attempts,
        &[Window::per_hour(100)?],
    )?;
    let ten: Timestamp = "2021-07-29T10:00:00.000Z".parse()?;
    println!("limit 100 an hour, 80 requests between 10 and 11 o'clock:");
    for (percent, requests) in [(25, 20), (50, 75), (75, 75)] {
        let mut state = State::new();
        let _before = decide(&mut state, &policy, ten, 80)?;
        let now = ten.saturating_add(Duration::from_secs(3600 + 36 * percent));
        let decision = decide(&mut state, &policy, now, requests)?;
        let verdict = match decision.retry_after_seconds() {
            None => "allowed".to_owned(),
            Some(seconds) => format!("refused, allowed in {seconds} s"),
        };
        println!("  {percent} % into the next hour, {requests} requests in it: {verdict}");
    }

    println!("\ndefault limits:");
    for call_type in CallType::ALL {
        let windows = default_limits(call_type);
        let windows: Vec<String> = windows
            .windows()
            .iter()
            .map(|w| format!("{} in {} s", w.limit(), w.length().as_secs()))
            .collect();
        println!("  {:<32} {}", call_type.as_str(), windows.join(", "));
    }
    Ok(())
}
