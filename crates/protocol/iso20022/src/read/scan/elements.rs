//! Elements as the fast reader takes them: by cardinality, one after the other.

use super::{NotPlain, Scanner, growth};
use crate::field::{Field, MANY, Tag};
use crate::finding::FindingKind;
use crate::node::{Node, Simple, Slot};
use crate::watch::{Memory, Watch};

// The functions that take a tag are always inlined, so that the tag is a constant and comparing it
// takes two instructions. Each makes its node in one place only, because a node has hundreds of
// bytes and is copied where two branches that make one meet.
impl Scanner<'_> {
    /// Reads a mandatory element.
    #[inline(always)]
    pub fn one<N: Node>(&mut self, tag: &'static Tag) -> Result<N, NotPlain> {
        let left = self.rest().len();
        if self.enter(tag, N::HAS_ATTRIBUTE) {
            self.element(tag, left)
        } else {
            Err(NotPlain)
        }
    }

    /// Reads an optional element.
    #[inline(always)]
    pub(crate) fn maybe<N: Node>(&mut self, tag: &'static Tag) -> Result<Option<N>, NotPlain> {
        let left = self.rest().len();
        if self.enter(tag, N::HAS_ATTRIBUTE) {
            self.element(tag, left).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Reads any number of elements up to `max`.
    #[inline(always)]
    pub(crate) fn many<N: Node>(
        &mut self,
        tag: &'static Tag,
        max: u32,
    ) -> Result<Vec<N>, NotPlain> {
        let left = self.rest().len();
        if self.enter(tag, N::HAS_ATTRIBUTE) {
            self.several(tag, max, left)
        } else {
            Ok(Vec::new())
        }
    }

    /// Reads the elements of a field by its row for the version. If a mandatory one is missing, the
    /// reader over events reports it.
    #[inline(always)]
    pub fn field<S: Slot>(&mut self, tag: &'static Tag, rows: &[Field]) -> Result<S, NotPlain> {
        let field = Field::of(rows, self.version()).ok_or(NotPlain)?;
        let content = S::scan(self, tag, field.max)?;
        if field.min > 0 && content.count() == 0 {
            return Err(NotPlain);
        }
        Ok(content)
    }

    /// Reads the elements from the entered one on.
    #[inline(always)]
    fn several<N: Node>(
        &mut self,
        tag: &'static Tag,
        max: u32,
        mut left: usize,
    ) -> Result<Vec<N>, NotPlain> {
        // Most lists of a transaction have one element.
        let mut items = Vec::with_capacity(1);
        self.hold(size_of::<N>());
        loop {
            items.push(self.element(tag, left)?);
            left = self.rest().len();
            if !self.enter(tag, N::HAS_ATTRIBUTE) {
                break;
            }
            self.make_room(&mut items, left)?;
        }
        let fits = max == MANY || u32::try_from(items.len()).is_ok_and(|count| count <= max);
        if fits { Ok(items) } else { Err(NotPlain) }
    }

    /// Makes room for one more element, before which `left` bytes were left.
    #[cold]
    fn make_room<N>(&mut self, items: &mut Vec<N>, left: usize) -> Result<(), NotPlain> {
        let before = items.capacity();
        if items.len() < before {
            return self.check_held(0, left);
        }
        items.reserve_exact(growth(before));
        self.hold((items.capacity() - before) * size_of::<N>());
        // While a list is moved, it takes memory in both places.
        self.check_held(before * size_of::<N>(), left)
    }

    /// Reads the rest of an element that has been entered, before which `left` bytes were left, and
    /// the gap after it.
    #[inline(always)]
    fn element<N: Node>(&mut self, tag: &'static Tag, left: usize) -> Result<N, NotPlain> {
        let node = self.content::<N>(tag);
        if let Ok(node) = &node {
            node.settle(&mut RuleReports {
                scanner: self,
                left,
            });
            self.gap();
        }
        node
    }

    /// Reads an element, without the gap after it and without its rules beyond the schema.
    #[inline(always)]
    pub(crate) fn bare_element<N: Node>(&mut self, tag: &'static Tag) -> Result<N, NotPlain> {
        self.expect(if N::HAS_ATTRIBUTE {
            tag.start
        } else {
            tag.open
        })?;
        self.content(tag)
    }

    /// Reads the content of an element that has been entered, and its end tag.
    #[inline(always)]
    fn content<N: Node>(&mut self, tag: &'static Tag) -> Result<N, NotPlain> {
        self.begin();
        let node = N::scan(self);
        if node.is_ok() {
            self.expect(tag.close)?;
        }
        node
    }

    /// Reads a value of a simple type.
    #[inline]
    pub fn leaf<S: Simple>(&mut self) -> Result<S, NotPlain> {
        match self.plain_text() {
            Ok(text) if !self.rest().as_bytes().starts_with(b"<!") => {
                S::accept(text, self.version()).ok_or(NotPlain)
            }
            plain => self.leaf_after(plain.unwrap_or_default()),
        }
    }

    /// Reads the value of a text that is not plain, whose beginning has been read.
    #[cold]
    fn leaf_after<S: Simple>(&mut self, plain: &str) -> Result<S, NotPlain> {
        S::accept(&self.text_after(plain)?, self.version()).ok_or(NotPlain)
    }
}

/// Takes the reports of an element's rules beyond the schema. Only the place is noted; the checker
/// names the finding later.
struct RuleReports<'s, 'a> {
    scanner: &'s mut Scanner<'a>,
    /// The number of bytes left before the element.
    left: usize,
}

impl Watch for RuleReports<'_, '_> {
    fn memory(&mut self) -> Option<&mut Memory> {
        // A running total must not count an element that may be read again, over events.
        self.scanner.refuse();
        None
    }

    fn report(&mut self, _: FindingKind) {
        self.scanner.doubt(self.left);
    }
}
