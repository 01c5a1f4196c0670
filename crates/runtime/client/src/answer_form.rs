//! The form of an answer, as its headers state it.

use bankrail_http::content;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use std::fmt;

/// The form of an answer, as its headers state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnswerForm {
    /// JSON.
    Json,
    /// An HTML page.
    Html,
    /// The answer is compressed in this coding, although each call requests an uncompressed one.
    Compressed(&'static str),
    /// The answer has another form, or states none.
    Other,
}

impl AnswerForm {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let content_type = headers.get(CONTENT_TYPE).map(|value| value.as_bytes());
        let start = content_type.and_then(|text| text.get(.."text/html".len()));
        if let Some(coding) = content::coding(headers) {
            Self::Compressed(coding)
        } else if content::is_json_or_suffix(headers) {
            Self::Json
        } else if start.is_some_and(|start| start.eq_ignore_ascii_case(b"text/html")) {
            Self::Html
        } else {
            Self::Other
        }
    }
}

/// Describes an answer of this form that does not come from the endpoint.
impl fmt::Display for AnswerForm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json => out.write_str("JSON that is not the service's"),
            Self::Html => out.write_str("an HTML page"),
            Self::Compressed(coding) => write!(out, "a body compressed with {coding}"),
            Self::Other => out.write_str("an answer that is not JSON"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::CONTENT_ENCODING;

    #[test]
    fn a_form_is_that_of_the_headers() {
        for (content_type, encoding, expected, named) in [
            (
                "application/json",
                None,
                AnswerForm::Json,
                "JSON that is not the service's",
            ),
            (
                "application/problem+json; charset=utf-8",
                None,
                AnswerForm::Json,
                "JSON that is not the service's",
            ),
            (
                "application/json",
                Some("identity"),
                AnswerForm::Json,
                "JSON that is not the service's",
            ),
            (
                "application/json",
                Some("gzip"),
                AnswerForm::Compressed("gzip"),
                "a body compressed with gzip",
            ),
            (
                "Text/HTML; charset=utf-8",
                None,
                AnswerForm::Html,
                "an HTML page",
            ),
            (
                "text/html",
                Some("br"),
                AnswerForm::Compressed("br"),
                "a body compressed with br",
            ),
            (
                "text/plain",
                None,
                AnswerForm::Other,
                "an answer that is not JSON",
            ),
            ("", None, AnswerForm::Other, "an answer that is not JSON"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, content_type.parse().unwrap());
            headers.extend(
                encoding.map(|encoding: &str| (CONTENT_ENCODING, encoding.parse().unwrap())),
            );
            assert_eq!(
                AnswerForm::of(&headers),
                expected,
                "{content_type} {encoding:?}"
            );
            assert_eq!(expected.to_string(), named);
        }
    }
}
