//! The last start tag.

use quick_xml::events::BytesStart;

/// A start tag as written: name and attributes.
#[derive(Debug, Default)]
pub(crate) struct StartTag {
    text: String,
    /// Bytes of the name.
    name: usize,
    /// Bytes of its prefix; none without a colon.
    prefix: Option<usize>,
}

impl StartTag {
    #[inline]
    pub(crate) fn set(&mut self, tag: &BytesStart<'_>) {
        self.text.clear();
        self.text.push_str(tag);
        self.name = tag.name().as_ref().len();
        // Names are short, so a loop over the bytes is faster than a search routine.
        self.prefix = self.name().bytes().position(|b| b == b':');
    }

    /// Returns name and attributes.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the name with its prefix.
    #[inline]
    pub(crate) fn name(&self) -> &str {
        self.text.get(..self.name).unwrap_or_default()
    }

    /// Returns the part of the name before the first colon.
    #[inline]
    pub(crate) fn prefix(&self) -> Option<&str> {
        self.text.get(..self.prefix?)
    }

    /// Returns the part of the name after the first colon, or the whole name.
    #[inline]
    pub(crate) fn local_name(&self) -> &str {
        self.text
            .get(self.prefix.map_or(0, |prefix| prefix + 1)..self.name)
            .unwrap_or_default()
    }

    /// Returns everything after the name.
    #[inline]
    pub(crate) fn attributes(&self) -> &str {
        self.text.get(self.name..).unwrap_or_default()
    }
}
