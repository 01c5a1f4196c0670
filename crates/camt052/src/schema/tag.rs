//! The tags of an element as they are written.

/// The tags of an element without a prefix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    /// The name.
    pub(crate) wire: &'static str,
    /// The start tag up to its attributes.
    pub(crate) start: &'static str,
    /// The start tag without attributes.
    pub(crate) open: &'static str,
    /// The end tag.
    pub(crate) close: &'static str,
}

/// The tags of an element, put together at compile time.
macro_rules! tag {
    ($wire:literal) => {
        &const {
            $crate::schema::Tag {
                wire: $wire,
                start: concat!("<", $wire),
                open: concat!("<", $wire, ">"),
                close: concat!("</", $wire, ">"),
            }
        }
    };
}
pub(crate) use tag;
