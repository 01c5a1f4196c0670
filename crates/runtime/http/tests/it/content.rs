//! Content types and encodings.

use bankrail_http::content::{coding, is_json, is_json_or_suffix};
use http::HeaderMap;
use http::HeaderValue;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};

fn typed(values: &[&'static str]) -> HeaderMap {
    values
        .iter()
        .map(|value| (CONTENT_TYPE, HeaderValue::from_static(value)))
        .collect()
}

#[test]
fn json_has_several_names() {
    for text in [
        "application/json",
        "Application/JSON; charset=UTF-8",
        "application/json ;x",
    ] {
        assert!(
            is_json(&typed(&[text])) && is_json_or_suffix(&typed(&[text])),
            "{text}"
        );
    }
    assert!(
        is_json_or_suffix(&typed(&["application/problem+json"]))
            && !is_json(&typed(&["application/a+json"]))
    );
    for text in [
        "text/html",
        "text/json",
        "application/jsonp",
        "",
        "text/a+json",
    ] {
        assert!(!is_json_or_suffix(&typed(&[text])), "{text}");
    }
    assert!(!is_json(&typed(&[])) && !is_json(&typed(&["application/json", "application/json"])));
}

#[test]
fn identity_is_no_encoding() {
    let coded = |text| HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(text))]);
    assert_eq!(coding(&coded("GZip")), Some("gzip"));
    assert_eq!(coding(&coded("gzip, br")), Some("another coding"));
    assert_eq!(coding(&coded("Identity")), None);
    assert_eq!(coding(&HeaderMap::new()), None);
}
