//! Metrics in the text format that Prometheus reads.

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// The upper bounds of the histograms of durations, in seconds.
const BUCKETS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
];

/// The time between two removals of samples that a histogram has counted already.
const UPKEEP: Duration = Duration::from_secs(5);

/// The metrics that the [`metrics`](https://docs.rs/metrics) facade collects in this process, in
/// Prometheus' format. Cheap to clone.
///
/// `docs/metrics.md` of this workspace lists the metrics of its crates, which count with their
/// feature `metrics`. Metrics of other crates are rendered too.
#[derive(Clone)]
pub struct Prometheus(PrometheusHandle);

impl Prometheus {
    /// The media type of [`Prometheus::render`].
    pub const CONTENT_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    /// Installs a new value as the process's recorder of metrics, and starts the task that keeps
    /// its memory bounded. A program calls this once, before anything is counted.
    ///
    /// # Errors
    /// [`PrometheusError`] if the process has a recorder already.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn install() -> Result<Self, PrometheusError> {
        let durations = Matcher::Suffix("_duration_seconds".to_owned());
        let builder = PrometheusBuilder::new().set_buckets_for_metric(durations, BUCKETS);
        let handle = builder
            .and_then(PrometheusBuilder::install_recorder)
            .map_err(PrometheusError::new)?;
        let kept = handle.clone();
        tokio::spawn(async move {
            loop {
                // Without upkeep, histograms grow until somebody reads them.
                tokio::time::sleep(UPKEEP).await;
                kept.run_upkeep();
            }
        });
        Ok(Self(handle))
    }

    /// Returns the metrics as text.
    #[must_use]
    pub fn render(&self) -> String {
        self.0.render()
    }
}

impl fmt::Debug for Prometheus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Prometheus")
    }
}

/// The recorder of metrics could not be installed.
#[derive(Debug, thiserror::Error)]
#[error("the process already has a recorder of metrics")]
#[non_exhaustive]
pub struct PrometheusError {
    source: Box<dyn Error + Send + Sync>,
}

impl PrometheusError {
    fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            source: source.into(),
        }
    }
}
