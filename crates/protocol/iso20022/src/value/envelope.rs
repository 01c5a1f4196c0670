//! The envelope of supplementary data: any one element, which is kept verbatim.

use crate::check::Checker;
use crate::extra::KeptParts;
use crate::field::Tag;
use crate::finding::FindingKind;
use crate::node::Node;
use crate::output::Output;
use crate::read::{Cursor, Halt, NotPlain, Scanner, is_one_element};
use crate::xml::forbidden;

/// Supplementary data, verbatim except for white space at the end of end tags: one element of any
/// namespace.
///
/// The content is not checked, unlike by a schema validator, which would validate an element that
/// it knows there, such as one with `xsi:type`.
///
/// `SupplementaryDataEnvelope1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(transparent)
)]
pub struct Envelope(Box<str>);

impl Envelope {
    /// Returns the markup in the envelope, with the namespace declarations it needs.
    #[must_use]
    pub fn as_xml(&self) -> &str {
        &self.0
    }

    /// Makes an envelope of well-formed XML, which is written verbatim.
    ///
    /// The envelope is checked when a document is written: markup that would be read back
    /// differently is refused ([`WriteError::Unfaithful`](crate::WriteError::Unfaithful)).
    #[must_use]
    pub fn from_unchecked_xml(xml: &str) -> Self {
        Self(xml.into())
    }
}

impl Node for Envelope {
    fn read(from: &mut Cursor<'_>) -> Result<Self, Halt> {
        from.begin()?;
        let xml = from.any_element()?;
        from.leave();
        Ok(Self(xml.into()))
    }

    /// Returns `NotPlain`: foreign markup is read over events, because it is kept with the
    /// namespaces that it needs.
    fn scan(_: &mut Scanner<'_>) -> Result<Self, NotPlain> {
        Err(NotPlain)
    }

    fn write(&self, tag: &'static Tag, out: &mut Output<'_>, kept: KeptParts<'_>) {
        out.start_leaf(tag);
        kept.attributes(out);
        out.start_end();
        out.markup(&self.0);
        out.close_leaf(tag);
    }

    fn is_plain(&self, _version: u8) -> bool {
        false
    }

    fn check(&self, to: &mut Checker) {
        if to.only_missing() {
            return;
        }
        to.meet_markup();
        if let Some(found) = forbidden(&self.0) {
            to.report(FindingKind::Character { found });
        } else if !is_one_element(&self.0) {
            to.report(FindingKind::Envelope);
        }
    }
}
