//! The form of an answer, by its headers.

use bankrail_http::content;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use std::borrow::Cow;
use std::fmt;

/// The form of an answer, by its headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnswerForm {
    /// JSON.
    Json,
    /// An HTML page.
    Html,
    /// Compressed in this coding, which every call asks not to be.
    Compressed(&'static str),
    /// Another form, or none stated.
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

    /// Describes an answer of this form that is not one of the service.
    pub(crate) fn cause(self) -> Cow<'static, str> {
        match self {
            Self::Json => "the answer is JSON, but not the service's".into(),
            Self::Html => "the answer is an HTML page".into(),
            Self::Compressed(_) => self.to_string().into(),
            Self::Other => "the answer is not JSON".into(),
        }
    }
}

impl fmt::Display for AnswerForm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Json => "JSON",
            Self::Html => "HTML",
            Self::Compressed(coding) => {
                return write!(out, "expected an uncompressed body, found {coding}");
            }
            Self::Other => "not JSON",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::CONTENT_ENCODING;

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
                AnswerForm::Compressed("gzip"),
                "expected an uncompressed body, found gzip",
            ),
            ("Text/HTML; charset=utf-8", None, AnswerForm::Html, "HTML"),
            (
                "text/html",
                Some("br"),
                AnswerForm::Compressed("br"),
                "expected an uncompressed body, found br",
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
