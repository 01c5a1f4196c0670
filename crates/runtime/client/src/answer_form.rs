//! The form of an answer, by its headers.

use bankrail_http::content;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use std::fmt;

/// The form of an answer, by its headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnswerForm {
    /// JSON.
    Json,
    /// An HTML page.
    Html,
    /// Compressed, which no call asks for.
    Compressed,
    /// Another form, or none stated.
    Other,
}

impl AnswerForm {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let starts = |name, with: &str| {
            let value = headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default();
            value
                .get(..with.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(with))
        };
        if headers.contains_key(CONTENT_ENCODING) && !starts(CONTENT_ENCODING, "identity") {
            Self::Compressed
        } else if content::is_json_or_suffix(headers) {
            Self::Json
        } else if starts(CONTENT_TYPE, "text/html") {
            Self::Html
        } else {
            Self::Other
        }
    }

    /// Describes an answer of this form that is not one of the service.
    pub(crate) fn cause(self) -> &'static str {
        match self {
            Self::Json => "the answer is JSON, but not the service's",
            Self::Html => "the answer is an HTML page",
            Self::Compressed => "the answer is compressed, which was not asked for",
            Self::Other => "the answer is not JSON",
        }
    }
}

impl fmt::Display for AnswerForm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Json => "JSON",
            Self::Html => "HTML",
            Self::Compressed => "compressed",
            Self::Other => "not JSON",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_that_of_the_headers() {
        for (content_type, encoding, expected, named) in [
            ("application/json", None, AnswerForm::Json, "JSON"),
            (
                "application/problem+json; charset=utf-8",
                None,
                AnswerForm::Json,
                "JSON",
            ),
            (
                "application/json",
                Some("identity"),
                AnswerForm::Json,
                "JSON",
            ),
            (
                "application/json",
                Some("gzip"),
                AnswerForm::Compressed,
                "compressed",
            ),
            ("Text/HTML; charset=utf-8", None, AnswerForm::Html, "HTML"),
            (
                "text/html",
                Some("br"),
                AnswerForm::Compressed,
                "compressed",
            ),
            ("text/plain", None, AnswerForm::Other, "not JSON"),
            ("", None, AnswerForm::Other, "not JSON"),
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
