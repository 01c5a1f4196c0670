//! Checks of `Content-Type` and `Content-Encoding`.

use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};

/// The value of the only `Content-Type` header. `None` if there is none, more than one, or one that is not ASCII text.
#[must_use]
pub fn content_type(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    values.next().filter(|_| values.next().is_none())?.to_str().ok()
}

/// Whether the only `Content-Type` is `application/json`, in any case, with or without parameters.
#[must_use]
pub fn is_json(headers: &HeaderMap) -> bool {
    content_type(headers).is_some_and(|text| media_type(text).eq_ignore_ascii_case("application/json"))
}

/// Whether the only `Content-Type` is `application/json` or `application/….+json` (RFC 6839 section 3.1).
#[must_use]
pub fn is_json_or_suffix(headers: &HeaderMap) -> bool {
    content_type(headers).is_some_and(|text| {
        let media_type = media_type(text).to_ascii_lowercase();
        media_type == "application/json" || (media_type.starts_with("application/") && media_type.ends_with("+json"))
    })
}

/// Whether a `Content-Encoding` other than `identity` is named.
#[must_use]
pub fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).iter().any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// What comes before the parameters.
fn media_type(text: &str) -> &str {
    text.split(';').next().unwrap_or_default().trim_matches([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn typed(values: &[&'static str]) -> HeaderMap {
        values.iter().map(|value| (CONTENT_TYPE, HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn json_has_several_names() {
        for text in ["application/json", "Application/JSON; charset=UTF-8", "application/json ;x"] {
            assert!(is_json(&typed(&[text])) && is_json_or_suffix(&typed(&[text])), "{text}");
        }
        assert!(is_json_or_suffix(&typed(&["application/problem+json"])) && !is_json(&typed(&["application/a+json"])));
        for text in ["text/html", "text/json", "application/jsonp", "", "text/a+json"] {
            assert!(!is_json_or_suffix(&typed(&[text])), "{text}");
        }
        assert!(!is_json(&typed(&[])) && !is_json(&typed(&["application/json", "application/json"])));
    }

    #[test]
    fn identity_is_no_encoding() {
        let coded = |text| HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(text))]);
        assert!(is_encoded(&coded("gzip")) && !is_encoded(&coded("Identity")) && !is_encoded(&HeaderMap::new()));
    }
}
