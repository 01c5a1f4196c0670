//! Namespace bindings in scope.

use crate::NAMESPACE;

pub(crate) const XML: &str = "http://www.w3.org/XML/1998/namespace";
pub(crate) const XMLNS: &str = "http://www.w3.org/2000/xmlns/";
pub(crate) const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// The bindings of prefixes to namespaces, innermost last.
#[derive(Debug, Default)]
pub(crate) struct Namespaces {
    bindings: Vec<Binding>,
    /// The default namespace is that of the message.
    default_is_ours: bool,
}

#[derive(Debug)]
struct Binding {
    prefix: Box<str>,
    /// Empty for a default namespace taken back.
    namespace: Box<str>,
    /// It is that of the message.
    ours: bool,
    /// The depth of the element that declares it.
    depth: usize,
}

impl Namespaces {
    /// Binds a prefix, empty for the default namespace, within the element at `depth`.
    pub(crate) fn bind(&mut self, prefix: &str, namespace: &str, depth: usize) {
        let ours = namespace == NAMESPACE;
        self.bindings.push(Binding { prefix: prefix.into(), namespace: namespace.into(), ours, depth });
        self.refresh();
    }

    /// Forgets the bindings of the element at `depth`.
    #[inline]
    pub(crate) fn leave(&mut self, depth: usize) {
        if self.bindings.last().is_some_and(|binding| binding.depth >= depth) {
            self.bindings.retain(|binding| binding.depth < depth);
            self.refresh();
        }
    }

    /// The namespace of a prefix, empty for the default namespace; `None` when it is unbound.
    pub(crate) fn get(&self, prefix: &str) -> Option<&str> {
        if prefix == "xml" {
            return Some(XML);
        }
        let binding = self.bindings.iter().rev().find(|binding| &*binding.prefix == prefix)?;
        (!binding.namespace.is_empty()).then_some(&*binding.namespace)
    }

    /// True when elements with the prefix belong to the message; `None` when it is unbound.
    #[inline]
    pub(crate) fn is_ours(&self, prefix: &str) -> Option<bool> {
        match self.bindings.iter().rev().find(|binding| &*binding.prefix == prefix) {
            Some(binding) => (!binding.namespace.is_empty()).then_some(binding.ours),
            None => (prefix == "xml").then_some(false),
        }
    }

    /// The prefix that a tag begins with, when it is bound to the message's namespace.
    pub(crate) fn our_prefix(&self, tag: &str) -> Option<&str> {
        let begins =
            |prefix: &str| !prefix.is_empty() && tag.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(':'));
        // The innermost binding of it is the one that counts.
        let binding = self.bindings.iter().rev().find(|binding| begins(&binding.prefix))?;
        binding.ours.then_some(&*binding.prefix)
    }

    /// True when unprefixed elements belong to the message.
    #[inline]
    pub(crate) fn default_is_ours(&self) -> bool {
        self.default_is_ours
    }

    /// The bindings in scope that markup needs to stand elsewhere, outermost first: each prefix once.
    pub(crate) fn in_scope(&self) -> impl Iterator<Item = (&str, &str)> {
        self.bindings.iter().enumerate().filter_map(|(index, binding)| {
            let hidden = self.bindings.iter().skip(index + 1).any(|later| later.prefix == binding.prefix);
            (!hidden).then_some((&*binding.prefix, &*binding.namespace))
        })
    }

    /// The prefixes that the element at `depth` declares.
    pub(crate) fn declared_at(&self, depth: usize) -> impl Iterator<Item = &str> {
        self.bindings.iter().filter(move |binding| binding.depth == depth).map(|binding| &*binding.prefix)
    }

    fn refresh(&mut self) {
        self.default_is_ours = self.get("") == Some(NAMESPACE);
    }
}
