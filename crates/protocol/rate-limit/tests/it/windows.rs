//! The bounds of a window.

use bankrail_rate_limit::{Window, WindowError};
use std::time::Duration;

#[test]
fn the_bounds() {
    assert!(Window::new(Duration::from_millis(1), u32::MAX).is_ok());
    assert!(Window::new(Duration::from_millis(u64::from(u32::MAX)), 1).is_ok());
    for length in [
        Duration::ZERO,
        Duration::from_micros(1_500),
        Duration::from_millis(1 << 32),
        Duration::MAX,
    ] {
        assert_eq!(
            Window::new(length, 1),
            Err(WindowError::Length { found: length }),
            "{length:?}"
        );
    }
    let most = 1_250_999_896;
    assert_eq!(Window::per_hour(most).map(Window::ceiling), Ok(most));
    assert_eq!(
        Window::per_hour(most + 1),
        Err(WindowError::Limit {
            found: most + 1,
            length: Duration::from_secs(3600)
        })
    );
    // The greatest product is within the bounds.
    assert!(Window::new(Duration::from_millis(1 << 31), 1 << 21).is_ok());
    assert!(Window::new(Duration::from_millis(1 << 31), (1 << 21) + 1).is_err());
    assert!(Window::per_second(0).is_err());
    assert_eq!(Window::per_second(1).unwrap().ceiling(), u32::MAX);
}
