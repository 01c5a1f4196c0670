//! Findings of a message's own rules, whose types the engine does not know.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A rule of a message, beyond the schema, that a document breaks. The crate of the message or of
/// its family defines the rules; [`BrokenRule::get`] returns the rule's type.
#[derive(Clone)]
pub struct BrokenRule {
    name: &'static str,
    rule: Arc<dyn Rule>,
}

/// The operations of any broken rule.
trait Rule: fmt::Debug + fmt::Display + Any + Send + Sync {
    fn equals(&self, other: &dyn Any) -> bool;
    fn as_any(&self) -> &dyn Any;
}

impl<R: fmt::Debug + fmt::Display + PartialEq + Any + Send + Sync> Rule for R {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<R>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl BrokenRule {
    /// Wraps a broken rule. `name` is the rule's and must contain nothing of the document; the
    /// `Display` of `rule` must state the mistake in one line without a full stop.
    pub fn new(
        name: &'static str,
        rule: impl fmt::Debug + fmt::Display + PartialEq + Any + Send + Sync,
    ) -> Self {
        Self {
            name,
            rule: Arc::new(rule),
        }
    }

    /// Returns the name of the rule.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the broken rule, if it is of this type.
    #[must_use]
    pub fn get<R: Any>(&self) -> Option<&R> {
        self.rule.as_any().downcast_ref()
    }
}

impl PartialEq for BrokenRule {
    fn eq(&self, other: &Self) -> bool {
        self.rule.equals(other.rule.as_any())
    }
}

impl Eq for BrokenRule {}

impl fmt::Debug for BrokenRule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.rule, out)
    }
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.rule, out)
    }
}
