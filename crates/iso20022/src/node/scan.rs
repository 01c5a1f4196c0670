//! Elements as the fast reader takes them: by cardinality, one after the other.

use super::{Node, Simple};
use crate::field::{MANY, Tag};
use crate::finding::FindingKind;
use crate::scan::{Odd, Scanner, growth};
use crate::watch::{Memory, Watch};

/// Whether an element of some name is next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Begins,
    /// Written as one tag.
    IsEmpty,
    IsAnother,
}

// The functions that take a tag are always inlined, so that the tag is a constant and comparing it takes two
// instructions.
impl Scanner<'_> {
    /// An element that must be there.
    #[inline(always)]
    pub fn one<N: Node>(&mut self, tag: &'static Tag, _: u32) -> Result<N, Odd> {
        match self.next::<N>(tag) {
            Next::Begins => self.element(tag),
            Next::IsEmpty => self.empty(tag),
            Next::IsAnother => Err(Odd),
        }
    }

    /// An element that must be there; where it is missing, the reader over events reports it.
    #[inline(always)]
    pub fn soft<N: Node>(&mut self, tag: &'static Tag, max: u32) -> Result<Option<N>, Odd> {
        self.one(tag, max).map(Some)
    }

    /// An element that may be there.
    #[inline(always)]
    pub fn maybe<N: Node>(&mut self, tag: &'static Tag, _: u32) -> Result<Option<N>, Odd> {
        match self.next::<N>(tag) {
            Next::Begins => self.element(tag).map(Some),
            Next::IsEmpty => self.empty(tag).map(Some),
            Next::IsAnother => Ok(None),
        }
    }

    /// Any number of elements up to `max`.
    #[inline(always)]
    pub fn many<N: Node>(&mut self, tag: &'static Tag, max: u32) -> Result<Vec<N>, Odd> {
        if self.next::<N>(tag) == Next::IsAnother { Ok(Vec::new()) } else { self.several(tag, max) }
    }

    /// One or more elements.
    #[inline(always)]
    pub fn some<N: Node>(&mut self, tag: &'static Tag, max: u32) -> Result<Vec<N>, Odd> {
        if self.next::<N>(tag) == Next::IsAnother { Err(Odd) } else { self.several(tag, max) }
    }

    #[inline(always)]
    fn several<N: Node>(&mut self, tag: &'static Tag, max: u32) -> Result<Vec<N>, Odd> {
        // Most lists of a transaction have one element.
        let mut items = Vec::with_capacity(1);
        self.hold(size_of::<N>());
        loop {
            items.push(self.one(tag, max)?);
            if self.next::<N>(tag) == Next::IsAnother {
                break;
            }
            let before = items.capacity();
            if items.len() == before {
                items.reserve_exact(growth(before));
                self.hold_moved(before * size_of::<N>(), items.capacity() * size_of::<N>())?;
            }
            self.check_held(0)?;
        }
        let fits = max == MANY || u32::try_from(items.len()).is_ok_and(|count| count <= max);
        if fits { Ok(items) } else { Err(Odd) }
    }

    #[inline(always)]
    fn next<N: Node>(&self, tag: &'static Tag) -> Next {
        let Some(after) = self.rest().as_bytes().strip_prefix(tag.start.as_bytes()) else { return Next::IsAnother };
        match after {
            [b'>', ..] if !N::HAS_ATTRIBUTE => Next::Begins,
            [b' ', ..] if N::HAS_ATTRIBUTE => Next::Begins,
            [b'/', ..] => Next::IsEmpty,
            _ => Next::IsAnother,
        }
    }

    /// An element whose start tag is next, and the gap after it.
    #[inline(always)]
    fn element<N: Node>(&mut self, tag: &'static Tag) -> Result<N, Odd> {
        let left = self.rest().len();
        let node = self.bare_element::<N>(tag);
        if let Ok(node) = &node {
            node.settle(&mut Place { scanner: self, left });
            self.gap();
        }
        node
    }

    /// An element, without the gap after it and without its rules beyond the schema.
    // A node has some hundred bytes, and taking it out of its result would copy it.
    #[inline(always)]
    pub(crate) fn bare_element<N: Node>(&mut self, tag: &'static Tag) -> Result<N, Odd> {
        self.expect(if N::HAS_ATTRIBUTE { tag.start } else { tag.open })?;
        self.begin();
        let node = N::scan(self);
        if node.is_ok() {
            self.expect(tag.close)?;
        }
        node
    }

    /// An element without content, written as one tag.
    #[cold]
    fn empty<N: Node>(&mut self, tag: &'static Tag) -> Result<N, Odd> {
        let left = self.rest().len();
        self.expect(tag.start)?;
        self.expect("/>")?;
        self.begin();
        let rest = self.take_rest();
        let node = N::scan(self)?;
        self.put_back(rest);
        node.settle(&mut Place { scanner: self, left });
        self.gap();
        Ok(node)
    }

    /// A value of a simple type.
    #[inline]
    pub fn leaf<S: Simple>(&mut self) -> Result<S, Odd> {
        match self.plain_text() {
            Ok(text) if !self.rest().as_bytes().starts_with(b"<!") => accept(text),
            Ok(text) => accept(&self.text_after(text)?),
            Err(Odd) => accept(&self.text_after("")?),
        }
    }
}

#[inline(always)]
fn accept<S: Simple>(text: &str) -> Result<S, Odd> {
    let value = S::parse(text).map_err(|_| Odd)?;
    if value.fault().is_some() { Err(Odd) } else { Ok(value) }
}

/// Takes the reports of an element's rules beyond the schema. Only the place is noted; the checker names the finding
/// later.
struct Place<'s, 'a> {
    scanner: &'s mut Scanner<'a>,
    /// Bytes left before the element.
    left: usize,
}

impl Watch for Place<'_, '_> {
    fn memory(&mut self) -> Option<&mut Memory> {
        self.scanner.refuse();
        None
    }

    fn report(&mut self, _: FindingKind) {
        self.scanner.doubt(self.left);
    }
}
