//! Texts of a document within a page.

use crate::text::is_unsafe;
use std::fmt::{self, Write as _};

/// A text as the content of an element. It is isolated, so that right-to-left text changes nothing around it.
pub(super) fn text(text: &str) -> Text<'_> {
    Text { text, isolated: true }
}

/// A text as the content of an element that can hold no other, such as `title`.
pub(super) fn plain(text: &str) -> Text<'_> {
    Text { text, isolated: false }
}

pub(super) struct Text<'a> {
    text: &'a str,
    isolated: bool,
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (begin, end) = if self.isolated && !self.text.is_empty() { ("<bdi>", "</bdi>") } else { ("", "") };
        out.write_str(begin)?;
        escape(self.text, out)?;
        out.write_str(end)
    }
}

fn escape(text: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    for c in text.chars() {
        match c {
            '&' => out.write_str("&amp;")?,
            '<' => out.write_str("&lt;")?,
            '>' => out.write_str("&gt;")?,
            '"' => out.write_str("&quot;")?,
            '\'' => out.write_str("&#39;")?,
            '\n' | '\t' => out.write_char(c)?,
            c if is_unsafe(c) => write!(out, "\\u{{{:x}}}", u32::from(c))?,
            c => out.write_char(c)?,
        }
    }
    Ok(())
}
