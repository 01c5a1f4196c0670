//! Addresses of endpoints.

use bankrail_service::delivery::EndpointUrl;

#[test]
fn https_only_and_http_on_loopback_when_asked_for() {
    for good in [
        "https://a.example",
        "https://a.example:8443/x/",
        "https://10.0.0.1/",
        "HTTPS://a.example/",
    ] {
        assert!(EndpointUrl::parse(good).is_ok(), "{good}");
    }
    for bad in [
        "http://127.0.0.1/",
        "http://a.example/",
        "ftp://a.example/",
        "file:///etc/passwd",
        "data:,x",
        "https://",
        "a.example",
        "/payto",
        "",
        "https://u@a.example/",
        "https://u:p@a.example/",
        "https://a.example/?x=1",
        "https://a.example/#x",
    ] {
        assert!(EndpointUrl::parse(bad).is_err(), "{bad}");
    }
    let relaxed = EndpointUrl::danger_allow_http_on_loopback;
    for good in [
        "http://127.0.0.1:9/",
        "http://127.9.9.9/",
        "http://[::1]:9/",
        "http://localhost/",
        "https://a.b/",
    ] {
        assert!(relaxed(good).is_ok(), "{good}");
    }
    for bad in [
        "http://a.example/",
        "http://10.0.0.1/",
        "http://0.0.0.0/",
        "http://localhost.example/",
        "http://127.0.0.1.example/",
        "http://[::ffff:10.0.0.1]/",
        "ftp://127.0.0.1/",
        "http://u@127.0.0.1/",
    ] {
        assert!(relaxed(bad).is_err(), "{bad}");
    }
}

#[test]
fn paths_are_appended_with_one_slash() {
    for (base, full) in [
        ("https://a.example", "https://a.example/payto/queries"),
        ("https://a.example/", "https://a.example/payto/queries"),
        (
            "https://a.example/hooks",
            "https://a.example/hooks/payto/queries",
        ),
        (
            "https://a.example/hooks/",
            "https://a.example/hooks/payto/queries",
        ),
    ] {
        assert_eq!(
            EndpointUrl::parse(base)
                .unwrap()
                .with_path("/payto/queries")
                .as_str(),
            full
        );
        assert_eq!(
            EndpointUrl::parse(base)
                .unwrap()
                .with_path("payto/queries")
                .as_str(),
            full
        );
    }
}
