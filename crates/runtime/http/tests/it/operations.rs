//! `/livez`, `/readyz` and `/metrics`.

use bankrail_http::operations::{Operations, OperationsOptions};
use http::{Method, Request};
use http_body_util::BodyExt as _;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;
use tower_service::Service as _;

async fn ask(operations: &Operations, method: Method, path: &str) -> (u16, String) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .body(())
        .unwrap();
    let answer = operations.clone().call(request).await.unwrap();
    let status = answer.status().as_u16();
    let text = answer.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(text.to_vec()).unwrap())
}

async fn get(operations: &Operations, path: &str) -> (u16, String) {
    ask(operations, Method::GET, path).await
}

#[tokio::test(start_paused = true)]
async fn readiness_names_what_fails_and_no_error() {
    let broken = Arc::new(AtomicBool::new(false));
    let state = Arc::clone(&broken);
    let options = OperationsOptions::new()
        .check("ledger", move || {
            let broken = state.load(Ordering::SeqCst);
            async move {
                if broken {
                    Err(io::Error::other("secret"))
                } else {
                    Ok(())
                }
            }
        })
        .check("fine", || async { Ok::<_, io::Error>(()) });
    let operations = Operations::new(options);
    assert_eq!(
        get(&operations, "/readyz").await,
        (200, "ready\n".to_owned())
    );
    broken.store(true, Ordering::SeqCst);
    assert_eq!(
        get(&operations, "/readyz").await,
        (503, "not ready: ledger\n".to_owned())
    );
    assert_eq!(
        get(&operations, "/livez").await,
        (200, "alive\n".to_owned()),
        "a process that is not ready lives"
    );
}

#[tokio::test(start_paused = true)]
async fn a_check_that_hangs_or_panics_fails() {
    let options = OperationsOptions::new()
        .check("hangs", || async {
            std::future::pending::<()>().await;
            Ok::<_, io::Error>(())
        })
        .check("panics", || async {
            if true {
                panic!("told to")
            } else {
                Ok::<_, io::Error>(())
            }
        })
        .check(
            "panics at once",
            || -> std::future::Ready<io::Result<()>> { panic!("told to") },
        )
        .check("slow", || async {
            tokio::time::sleep(Duration::from_millis(900)).await;
            Ok::<_, io::Error>(())
        })
        .check_timeout(Duration::from_secs(1));
    assert_eq!(
        Operations::new(options).failing().await,
        ["hangs", "panics", "panics at once"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_program_that_stops_is_not_ready_and_asks_no_store() {
    let (stop, stopped) = oneshot::channel::<()>();
    let options = OperationsOptions::new().not_ready_from(async move {
        let _ = stopped.await;
    });
    let operations = Operations::new(options);
    assert_eq!(get(&operations, "/readyz").await.0, 200);
    stop.send(()).unwrap();
    for _ in 0..2 {
        assert_eq!(
            get(&operations, "/readyz").await,
            (503, "not ready: stopping\n".to_owned())
        );
    }
    assert_eq!(get(&operations, "/livez").await.0, 200);
}

#[tokio::test(start_paused = true)]
async fn other_paths_and_methods_are_refused() {
    let operations = Operations::new(OperationsOptions::new());
    assert_eq!(get(&operations, "/").await.0, 404);
    assert_eq!(get(&operations, "/metrics").await.0, 404, "there are none");
    assert_eq!(ask(&operations, Method::POST, "/livez").await.0, 405);
    assert_eq!(ask(&operations, Method::HEAD, "/livez").await.0, 200);
}

#[cfg(feature = "prometheus")]
#[tokio::test]
async fn metrics_are_served_as_prometheus_reads_them() {
    use bankrail_http::operations::Prometheus;
    let prometheus = Prometheus::install().unwrap();
    assert_eq!(
        Prometheus::install().unwrap_err().to_string(),
        "the process already has a recorder of metrics",
        "a program has one"
    );
    metrics::counter!("tests_total", "reason" => "tried").increment(2);
    metrics::histogram!("tests_duration_seconds").record(0.02);
    let operations = Operations::new(OperationsOptions::new().prometheus(prometheus));
    let (status, text) = get(&operations, "/metrics").await;
    assert_eq!(status, 200);
    assert!(text.contains("tests_total{reason=\"tried\"} 2\n"), "{text}");
    assert!(
        text.contains("tests_duration_seconds_bucket{le=\"0.025\"} 1\n"),
        "{text}"
    );
    assert!(
        text.contains("tests_duration_seconds_bucket{le=\"0.01\"} 0\n"),
        "{text}"
    );
}
