//! The checks of `/readyz`.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;

type Checking = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// A named check.
pub(super) struct Check {
    name: &'static str,
    run: Box<dyn Fn() -> Checking + Send + Sync>,
}

impl Check {
    pub(super) fn new<C, F, E>(name: &'static str, check: C) -> Self
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: fmt::Display + Send + 'static,
    {
        let check = Arc::new(check);
        // The check is called within the future, so that a panic of the call is a failure too.
        let run = move || -> Checking {
            let check = Arc::clone(&check);
            Box::pin(async move { check().await.map_err(|error| error.to_string()) })
        };
        Self {
            name,
            run: Box::new(run),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }
}

/// Returns the names of the failing checks, in the checks' order. All checks run at once.
pub(super) async fn failing(checks: &[Check], longest: Duration) -> Vec<&'static str> {
    // Each check is a task, so that its panic fails no other check.
    let mut running = JoinSet::new();
    for (place, check) in checks.iter().enumerate() {
        let checking = (check.run)();
        // Each check has a task and a deadline, so that one that hangs or panics fails alone.
        running.spawn(async move { (place, timeout(longest, checking).await) });
    }
    let mut passed = vec![false; checks.len()];
    while let Some(ended) = running.join_next().await {
        let Ok((place, outcome)) = ended else {
            continue;
        };
        let name = checks.get(place).map(Check::name);
        match outcome {
            Ok(Ok(())) => {
                if let Some(passed) = passed.get_mut(place) {
                    *passed = true;
                }
            }
            Ok(Err(error)) => tracing::warn!(check = name, %error, "not ready"),
            Err(_) => tracing::warn!(check = name, "not ready: the check took too long"),
        }
    }
    checks
        .iter()
        .zip(passed)
        .filter(|(_, passed)| !passed)
        .map(|(check, _)| check.name)
        .collect()
}
