//! Namespace bindings in scope.

use std::borrow::Cow;
use std::collections::HashMap;

pub(crate) const XML: &str = "http://www.w3.org/XML/1998/namespace";
pub(crate) const XMLNS: &str = "http://www.w3.org/2000/xmlns/";
pub(crate) const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// Up to this many bindings are searched one by one; for more an index is kept.
const MAX_SEARCHED_BINDINGS: usize = 16;

/// The bindings of prefixes to namespaces, innermost last.
#[derive(Debug)]
pub(crate) struct Namespaces {
    /// The namespace of the message.
    own: Cow<'static, str>,
    bindings: Vec<Binding>,
    /// The index of the innermost binding of each prefix, while there are more than
    /// `MAX_SEARCHED_BINDINGS`.
    places: HashMap<Box<str>, usize>,
    /// True when the default namespace is that of the message.
    default_is_ours: bool,
}

#[derive(Debug)]
struct Binding {
    prefix: Box<str>,
    /// Empty where a default namespace is undeclared.
    namespace: Box<str>,
    /// True for the namespace of the message.
    ours: bool,
    /// The depth of the element that declares it.
    depth: usize,
    /// The binding of the same prefix that it hides, if `places` knew one.
    hidden: Option<usize>,
}

impl Namespaces {
    /// Returns an empty scope; `own` is the namespace of the message.
    pub(crate) fn new(own: impl Into<Cow<'static, str>>) -> Self {
        Self {
            own: own.into(),
            bindings: Vec::new(),
            places: HashMap::new(),
            default_is_ours: false,
        }
    }

    /// Sets the namespace of the message.
    pub(crate) fn adopt(&mut self, own: Cow<'static, str>) {
        for binding in &mut self.bindings {
            binding.ours = *binding.namespace == *own;
        }
        self.own = own;
        self.default_is_ours = self.is_ours("") == Some(true);
    }

    /// Binds a prefix, empty for the default namespace, within the element at `depth`.
    pub(crate) fn bind(&mut self, prefix: &str, namespace: &str, depth: usize) {
        let ours = namespace == self.own;
        self.bindings.push(Binding {
            prefix: prefix.into(),
            namespace: namespace.into(),
            ours,
            depth,
            hidden: None,
        });
        if self.bindings.len() > MAX_SEARCHED_BINDINGS {
            // The index is made when it is first needed, and then has to hold the earlier bindings,
            // too.
            let first = if self.places.is_empty() {
                0
            } else {
                self.bindings.len() - 1
            };
            for (place, binding) in self.bindings.iter_mut().enumerate().skip(first) {
                binding.hidden = self.places.insert(binding.prefix.clone(), place);
            }
        }
        if prefix.is_empty() {
            self.default_is_ours = ours;
        }
    }

    /// Forgets the bindings of the element at `depth`.
    #[inline]
    pub(crate) fn leave(&mut self, depth: usize) {
        if self
            .bindings
            .last()
            .is_some_and(|binding| binding.depth >= depth)
        {
            self.forget(depth);
        }
    }

    fn forget(&mut self, depth: usize) {
        while let Some(binding) = self.bindings.pop_if(|binding| binding.depth >= depth) {
            // `bind` would take an index that is left for a complete one.
            if self.bindings.len() == MAX_SEARCHED_BINDINGS {
                self.places.clear();
            } else if self.bindings.len() > MAX_SEARCHED_BINDINGS {
                match binding.hidden {
                    // The binding that was hidden is in scope again.
                    Some(place) => self.places.insert(binding.prefix, place),
                    None => self.places.remove(&binding.prefix),
                };
            }
        }
        // Searched only once, when all of the element's bindings are gone.
        self.default_is_ours = self.is_ours("") == Some(true);
    }

    #[inline]
    fn find(&self, prefix: &str) -> Option<&Binding> {
        if self.bindings.len() <= MAX_SEARCHED_BINDINGS {
            return self
                .bindings
                .iter()
                .rev()
                .find(|binding| &*binding.prefix == prefix);
        }
        self.bindings.get(*self.places.get(prefix)?)
    }

    /// Returns the namespace of a prefix, empty for the default namespace; `None` when it is
    /// unbound.
    pub(crate) fn get(&self, prefix: &str) -> Option<&str> {
        if prefix == "xml" {
            return Some(XML);
        }
        self.find(prefix)
            .map(|binding| &*binding.namespace)
            .filter(|namespace| !namespace.is_empty())
    }

    /// Returns true when elements with the prefix belong to the message; `None` when it is unbound.
    #[inline]
    pub(crate) fn is_ours(&self, prefix: &str) -> Option<bool> {
        match self.find(prefix) {
            Some(binding) => (!binding.namespace.is_empty()).then_some(binding.ours),
            None => (prefix == "xml").then_some(false),
        }
    }

    /// Returns the prefix that a tag begins with, when it is bound to the message's namespace.
    pub(crate) fn our_prefix(&self, tag: &str) -> Option<&str> {
        let begins = |prefix: &str| {
            !prefix.is_empty()
                && tag
                    .strip_prefix(prefix)
                    .is_some_and(|rest| rest.starts_with(':'))
        };
        let binding = if self.bindings.len() <= MAX_SEARCHED_BINDINGS {
            // The innermost binding of the prefix counts.
            self.bindings
                .iter()
                .rev()
                .find(|binding| begins(&binding.prefix))?
        } else {
            // A prefix ends before the first colon, white space or bracket.
            let end = tag.bytes().position(|b| {
                matches!(b, b':' | b' ' | b'\t' | b'\r' | b'\n' | b'/' | b'>' | b'<')
            })?;
            self.find(tag.get(..end)?)
                .filter(|binding| begins(&binding.prefix))?
        };
        binding.ours.then_some(&*binding.prefix)
    }

    /// Returns true when unprefixed elements belong to the message.
    #[inline]
    pub(crate) fn default_is_ours(&self) -> bool {
        self.default_is_ours
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAMESPACE: &str = "urn:message";

    proptest! {
        #[test]
        fn the_innermost_binding_counts_however_many_there_are(
            steps in proptest::collection::vec((0_usize..40, 0_usize..60), 0..200),
        ) {
            let mut namespaces = Namespaces::new(NAMESPACE);
            let mut model: Vec<(usize, String, String)> = Vec::new();
            let mut depth = 0;
            for (count, prefix) in steps {
                if count < 12 {
                    namespaces.leave(depth);
                    model.retain(|(at, ..)| *at < depth);
                    depth = depth.saturating_sub(1);
                } else {
                    depth += 1;
                    for number in 0..count / 4 {
                        let name = match (prefix, number) {
                            (0, 0) => String::new(),
                            _ => format!("p{}", (prefix + number) % 50),
                        };
                        let uri = if (prefix + number) % 7 == 0 { NAMESPACE.to_owned() } else { format!("u{depth}") };
                        namespaces.bind(&name, &uri, depth);
                        model.push((depth, name, uri));
                    }
                }
                for name in (0..50).map(|number| format!("p{number}")).chain([String::new()]) {
                    let expected = model.iter().rev().find(|(_, prefix, _)| *prefix == name);
                    let expected = expected.map(|(_, _, uri)| uri.as_str());
                    prop_assert_eq!(namespaces.get(&name), expected);
                    prop_assert_eq!(namespaces.is_ours(&name), expected.map(|uri| uri == NAMESPACE));
                    let ours = expected == Some(NAMESPACE) && !name.is_empty();
                    prop_assert_eq!(namespaces.our_prefix(&format!("{name}:a b")), ours.then_some(name.as_str()));
                }
                prop_assert_eq!(namespaces.default_is_ours(), namespaces.is_ours("") == Some(true));
            }
        }
    }
}
