//! Texts of a document within a page.

use crate::text::is_unsafe;
use askama::filters::HtmlSafe;
use std::fmt::{self, Display};

/// A text as the content of an element. It is isolated, so that right-to-left text changes nothing
/// around it.
pub(super) fn text(text: impl Display) -> Text {
    Text {
        text: text.to_string(),
        isolated: true,
    }
}

/// Filters with which templates write texts.
#[allow(
    unreachable_pub,
    reason = "the attribute of a filter makes public items"
)]
pub(super) mod filters {
    use super::{Display, Text};
    use askama::{Result, Values};

    #[askama::filter_fn]
    pub(in super::super) fn text(text: impl Display, _: &dyn Values) -> Result<Text> {
        Ok(super::text(text))
    }

    /// Numbers with commas between their thousands.
    #[askama::filter_fn]
    pub(in super::super) fn grouped(text: impl Display, _: &dyn Values) -> Result<String> {
        Ok(crate::text::grouped(&text.to_string()))
    }

    /// A date or time of the document.
    #[askama::filter_fn]
    pub(in super::super) fn readable(text: impl Display, _: &dyn Values) -> Result<String> {
        Ok(crate::clock::readable(&text.to_string()))
    }

    /// A text as the content of an element that can hold no other, such as `title`.
    #[askama::filter_fn]
    pub(in super::super) fn plain(text: impl Display, _: &dyn Values) -> Result<Text> {
        Ok(Text {
            text: text.to_string(),
            isolated: false,
        })
    }
}

pub(super) struct Text {
    text: String,
    isolated: bool,
}

impl HtmlSafe for Text {}

impl Display for Text {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (begin, end) = if self.isolated && !self.text.is_empty() {
            ("<bdi>", "</bdi>")
        } else {
            ("", "")
        };
        out.write_str(begin)?;
        escape(&self.text, out)?;
        out.write_str(end)
    }
}

fn escape(mut text: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let special = |c: char| {
        matches!(c, '&' | '<' | '>' | '"' | '\'') || (is_unsafe(c) && !matches!(c, '\n' | '\t'))
    };
    while let Some((at, c)) = text.char_indices().find(|(_, c)| special(*c)) {
        let (plain, rest) = text.split_at(at);
        out.write_str(plain)?;
        match c {
            '&' => out.write_str("&amp;")?,
            '<' => out.write_str("&lt;")?,
            '>' => out.write_str("&gt;")?,
            '"' => out.write_str("&quot;")?,
            '\'' => out.write_str("&#39;")?,
            c => write!(out, "\\u{{{:x}}}", u32::from(c))?,
        }
        text = rest.strip_prefix(c).unwrap_or_default();
    }
    out.write_str(text)
}
