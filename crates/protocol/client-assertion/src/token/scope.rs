//! Scope names and sets of them (RFC 6749 section 3.3).

use bankrail_values::excerpt;
use std::collections::BTreeSet;
use std::fmt;

/// One scope name: 1 to 128 visible ASCII characters other than `"` and `\` (RFC 6749 section 3.3).
///
/// Names are compared byte for byte. The specification defines no names; [`names`] has those of
/// live services.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope(Box<str>);

impl Scope {
    /// The maximum number of characters of a name.
    pub const MAX_LENGTH: usize = 128;

    /// Checks a name.
    ///
    /// # Errors
    /// [`ScopeError::Name`] for an empty or longer text and for other characters.
    pub fn parse(text: &str) -> Result<Self, ScopeError> {
        let allowed = |b: u8| b.is_ascii_graphic() && b != b'"' && b != b'\\';
        if text.is_empty() || text.len() > Self::MAX_LENGTH || !text.bytes().all(allowed) {
            return Err(ScopeError::Name {
                found: excerpt(text),
            });
        }
        Ok(Self(text.into()))
    }

    /// Returns the scope for one kind of access to a resource: the name of the resource, a point,
    /// and `READ` or `WRITE`.
    ///
    /// # Errors
    /// [`ScopeError::Name`] if the result is not a scope name.
    pub fn of(resource: &str, access: ScopeAccess) -> Result<Self, ScopeError> {
        Self::parse(&format!("{resource}.{}", access.as_str()))
    }

    /// Returns the resource that the scope gives access to: the name without its last part if that
    /// is `READ` or `WRITE`, otherwise the whole name. Specification: "Authentication", rule 4, "A
    /// scope defines what may be accessed and whether read or write". The form of the names is a
    /// default.
    #[must_use]
    pub fn resource(&self) -> &str {
        self.parts().map_or(&self.0, |(resource, _)| resource)
    }

    /// Returns the kind of access that the scope allows, `None` if its name does not end in one.
    /// The permission to write does not include the permission to read (Default).
    #[must_use]
    pub fn access(&self) -> Option<ScopeAccess> {
        self.parts().map(|(_, access)| access)
    }

    fn parts(&self) -> Option<(&str, ScopeAccess)> {
        let (resource, last) = self
            .0
            .rsplit_once('.')
            .filter(|(resource, _)| !resource.is_empty())?;
        let access = [ScopeAccess::Read, ScopeAccess::Write]
            .into_iter()
            .find(|access| access.as_str() == last)?;
        Some((resource, access))
    }
}

/// The kind of access that a [`Scope`] allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ScopeAccess {
    /// `READ`.
    Read,
    /// `WRITE`.
    Write,
}

impl ScopeAccess {
    /// Returns the last part of a scope's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "READ",
            Self::Write => "WRITE",
        }
    }
}

bankrail_values::impl_text_value!(Scope, ScopeError, Debug, as_str);

/// Scope names that live services of this shape document (Default: "Token endpoint").
pub mod names {
    /// Reads intraday statements.
    pub const STATEMENT_READ: &str = "GBL.INSTO.ACCOUNTS.STATEMENT.READ";
    /// Creates and changes mandates.
    pub const MANDATE_WRITE: &str = "AU.INSTO.PAYTO.MANDATE.WRITE";
    /// Reads mandates.
    pub const MANDATE_READ: &str = "AU.INSTO.PAYTO.MANDATE.READ";
    /// Makes payment instructions.
    pub const PAYMENT_INSTRUCTION_WRITE: &str = "AU.INSTO.PAYTO.MPIR.WRITE";
}

/// A set of one or more scopes (RFC 6749 section 3.3: "their order does not matter").
///
/// - The text has the names separated by single spaces. They are written in ascending order.
/// - A set has at most 64 names. A name that occurs twice counts once.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopeSet(BTreeSet<Scope>);

impl ScopeSet {
    /// The maximum number of names of a set.
    pub const MAX_SCOPES: usize = 64;

    /// Returns the set of one scope.
    #[must_use]
    pub fn of(scope: Scope) -> Self {
        Self(BTreeSet::from([scope]))
    }

    /// Reads `name *( SP name )`.
    ///
    /// # Errors
    /// [`ScopeError::Name`] for an empty text, for leading, trailing or doubled spaces and for a
    /// malformed name; [`ScopeError::TooMany`] for more than [`ScopeSet::MAX_SCOPES`] names.
    pub fn parse(text: &str) -> Result<Self, ScopeError> {
        let mut set = BTreeSet::new();
        for name in text.split(' ') {
            set.insert(Scope::parse(name)?);
            if set.len() > Self::MAX_SCOPES {
                return Err(ScopeError::TooMany);
            }
        }
        Ok(Self(set))
    }

    /// Returns the set of these scopes.
    ///
    /// # Errors
    /// [`ScopeError::None`] for no scopes; [`ScopeError::TooMany`] for more than
    /// [`ScopeSet::MAX_SCOPES`].
    pub fn from_scopes(scopes: impl IntoIterator<Item = Scope>) -> Result<Self, ScopeError> {
        let set: BTreeSet<Scope> = scopes.into_iter().collect();
        match set.len() {
            0 => Err(ScopeError::None),
            1..=Self::MAX_SCOPES => Ok(Self(set)),
            _ => Err(ScopeError::TooMany),
        }
    }

    /// Returns true if the set allows this access to a resource: it contains the scope that
    /// [`Scope::of`] makes.
    #[must_use]
    pub fn allows(&self, resource: &str, access: ScopeAccess) -> bool {
        self.0
            .iter()
            .any(|own| own.resource() == resource && own.access() == Some(access))
    }

    /// Returns true if the set has this scope.
    #[must_use]
    pub fn contains(&self, scope: &str) -> bool {
        self.0.iter().any(|own| own.as_str() == scope)
    }

    /// Returns the scopes in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = &Scope> {
        self.0.iter()
    }

    /// Returns the number of scopes, at least one.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a set is never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the scopes that are in both sets, or `None` if there are none.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let both: BTreeSet<Scope> = self.0.intersection(&other.0).cloned().collect();
        (!both.is_empty()).then_some(Self(both))
    }

    /// Returns the scopes to grant for a request for these: the intersection with `permitted`
    /// (Specification: "Authentication", rule 4).
    ///
    /// # Errors
    /// [`NoScopeGrantedError`] if the intersection is empty. The error code of the answer is
    /// `invalid_scope`.
    pub fn granted_from(&self, permitted: &Self) -> Result<GrantedScopes, NoScopeGrantedError> {
        let scopes = self.intersection(permitted).ok_or(NoScopeGrantedError)?;
        Ok(GrantedScopes {
            differs: scopes != *self,
            scopes,
        })
    }
}

/// The scopes that a token is limited to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedScopes {
    scopes: ScopeSet,
    differs: bool,
}

impl GrantedScopes {
    /// Returns the scopes.
    #[must_use]
    pub fn scopes(&self) -> &ScopeSet {
        &self.scopes
    }

    /// The `scope` of the response: `None` if it equals the scopes requested (RFC 6749 section
    /// 5.1).
    #[must_use]
    pub fn scope_to_return(&self) -> Option<&ScopeSet> {
        self.differs.then_some(&self.scopes)
    }
}

/// The error for a request none of whose scopes is permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("none of the requested scopes is permitted")]
#[non_exhaustive]
pub struct NoScopeGrantedError;

impl NoScopeGrantedError {
    /// Returns the error code for the counterparty: `invalid_scope`.
    #[must_use]
    pub fn code(&self) -> super::TokenErrorCode {
        super::TokenErrorCode::InvalidScope
    }
}

/// The reason why a text is not a scope name or a set of scope names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScopeError {
    /// The text is not a scope name. `found` is empty for leading, trailing or doubled spaces.
    #[error("expected a scope name of 1 to 128 visible characters, found {found}")]
    Name {
        /// The text, cut and escaped.
        found: String,
    },
    /// There are more than [`ScopeSet::MAX_SCOPES`] names.
    #[error("expected at most {} scopes", ScopeSet::MAX_SCOPES)]
    TooMany,
    /// There is no name.
    #[error("expected a scope, found none")]
    None,
}

impl fmt::Display for ScopeSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, scope) in self.0.iter().enumerate() {
            if index > 0 {
                out.write_str(" ")?;
            }
            out.write_str(scope.as_str())?;
        }
        Ok(())
    }
}

impl fmt::Debug for ScopeSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(&self.0).finish()
    }
}

bankrail_values::impl_parsed_value!(ScopeSet, ScopeError);
