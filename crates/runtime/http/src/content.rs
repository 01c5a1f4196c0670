//! Checks of headers, mostly of `Content-Type` and `Content-Encoding`.

use bankrail_values::Timestamp;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, DATE};
use http::{HeaderMap, HeaderName, HeaderValue};

/// Returns the value of the only header of this name. `None` if there is none, or more than one.
#[must_use]
pub fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// Returns the time of the only `Date` header (RFC 9110 section 6.6.1), in any of HTTP's three
/// spellings. `None` if there is none, more than one, or one that is no date.
#[must_use]
pub fn date(headers: &HeaderMap) -> Option<Timestamp> {
    httpdate::parse_http_date(only(headers, &DATE)?.to_str().ok()?)
        .ok()
        .map(Timestamp::from)
}

/// Returns the value of the only `Content-Type` header. `None` if there is none, more than one, or
/// one that is not ASCII text.
#[must_use]
pub fn content_type(headers: &HeaderMap) -> Option<&str> {
    only(headers, &CONTENT_TYPE)?.to_str().ok()
}

/// Returns true if the only `Content-Type` is `application/json`, in any case, with or without
/// parameters.
#[must_use]
pub fn is_json(headers: &HeaderMap) -> bool {
    content_type(headers)
        .is_some_and(|text| media_type(text).eq_ignore_ascii_case("application/json"))
}

/// Returns true if the only `Content-Type` is `application/json` or `application/….+json` (RFC 6839
/// section 3.1).
#[must_use]
pub fn is_json_or_suffix(headers: &HeaderMap) -> bool {
    content_type(headers).is_some_and(|text| {
        let media_type = media_type(text).to_ascii_lowercase();
        media_type == "application/json"
            || (media_type.starts_with("application/") && media_type.ends_with("+json"))
    })
}

/// Returns the first `Content-Encoding` other than `identity`, in this crate's own text, or `None`.
#[must_use]
pub fn coding(headers: &HeaderMap) -> Option<&'static str> {
    let mut codings = headers.get_all(CONTENT_ENCODING).iter();
    let found = codings.find(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))?;
    let mut known = ["gzip", "deflate", "br", "zstd"].into_iter();
    let is_it = |name: &&str| found.as_bytes().eq_ignore_ascii_case(name.as_bytes());
    Some(known.find(is_it).unwrap_or("another coding"))
}

/// Returns the media type without its parameters.
fn media_type(text: &str) -> &str {
    text.split(';')
        .next()
        .unwrap_or_default()
        .trim_matches([' ', '\t'])
}
