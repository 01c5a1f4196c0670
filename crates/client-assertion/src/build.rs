//! Making an assertion.

use crate::{Audience, CustomerCode};
use bankrail_jose::jws::{self, JwsHeader};
use bankrail_jose::remote::RemoteSigner;
use bankrail_jose::{SignError, SigningKey};
use bankrail_values::json::JsonObjectWriter;
use bankrail_values::{HyphenatedUuid, Timestamp};
use std::time::Duration;

/// Makes the assertions of one customer (Specification: "Client assertion (JWT) the customer builds").
///
/// The header is exactly `{"alg":"RS256","typ":"jwt"}`, with `kid` behind it if one is set here or the key has a name.
/// The claims are `sub`, `exp` and `aud`; the others only if asked for.
///
/// ```
/// # #[cfg(any(feature = "aws-lc", feature = "josekit"))] {
/// use bankrail_client_assertion::{AssertionBuilder, Audience, CustomerCode};
/// use bankrail_values::Timestamp;
/// use std::time::Duration;
///
/// let audience = Audience::parse("https://auth.example.com/v1.0/auth")?;
/// let builder = AssertionBuilder::new(CustomerCode::parse("CUSTOMERCODE")?, audience)
///     .lifetime(Duration::from_secs(600));
/// let now = Timestamp::from_unix_millis(1_795_228_800_000).unwrap();
/// assert_eq!(
///     builder.claims_json(now)?,
///     r#"{"sub":"CUSTOMERCODE","exp":1795229400,"aud":"https://auth.example.com/v1.0/auth"}"#,
/// );
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AssertionBuilder {
    customer: CustomerCode,
    audience: Audience,
    lifetime: Duration,
    key_id: Option<String>,
    issuer: bool,
    issued_at: bool,
    jwt_id: JwtId,
}

#[derive(Clone, Debug)]
enum JwtId {
    None,
    Random,
    Text(String),
}

impl AssertionBuilder {
    /// The longest lifetime: 60 minutes (Specification: "Client assertion (JWT) the customer builds").
    pub const MAX_LIFETIME: Duration = Duration::from_secs(3600);
    /// The lifetime unless another is set: five minutes.
    pub const DEFAULT_LIFETIME: Duration = Duration::from_secs(300);

    /// Assertions of a customer for an audience.
    #[must_use]
    pub fn new(customer: CustomerCode, audience: Audience) -> Self {
        Self {
            customer,
            audience,
            lifetime: Self::DEFAULT_LIFETIME,
            key_id: None,
            issuer: false,
            issued_at: false,
            jwt_id: JwtId::None,
        }
    }

    /// How long an assertion lives: 1 s to [`AssertionBuilder::MAX_LIFETIME`], cut to seconds. Checked when signing.
    ///
    /// A clock that runs ahead of the service's makes the longest lifetime too long for the service: leave room.
    #[must_use]
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// Sets the header's `kid`, in place of the key's own name.
    #[must_use]
    pub fn key_id(mut self, key_id: impl Into<String>) -> Self {
        self.key_id = Some(key_id.into());
        self
    }

    /// Adds `iss`, equal to `sub` (RFC 7523 section 3).
    #[must_use]
    pub fn with_issuer(mut self) -> Self {
        self.issuer = true;
        self
    }

    /// Adds `iat`, the second of signing.
    #[must_use]
    pub fn with_issued_at(mut self) -> Self {
        self.issued_at = true;
        self
    }

    /// Adds a random `jti` to each assertion, so that no two are alike.
    #[must_use]
    pub fn with_random_jwt_id(mut self) -> Self {
        self.jwt_id = JwtId::Random;
        self
    }

    /// Adds this `jti`.
    #[must_use]
    pub fn with_jwt_id(mut self, jwt_id: impl Into<String>) -> Self {
        self.jwt_id = JwtId::Text(jwt_id.into());
        self
    }

    /// The claims of an assertion made at `now`.
    ///
    /// # Errors
    /// [`BuildError::Lifetime`], [`BuildError::JwtId`], [`BuildError::Randomness`].
    pub fn claims_json(&self, now: Timestamp) -> Result<String, BuildError> {
        // Less than a second would expire at once, or has expired already.
        if self.lifetime < Duration::from_secs(1) || self.lifetime > Self::MAX_LIFETIME {
            return Err(BuildError::Lifetime { found: self.lifetime });
        }
        let issued = now.unix_seconds();
        let lifetime = i64::try_from(self.lifetime.as_secs()).expect("at most an hour");
        let jti = match &self.jwt_id {
            JwtId::None => None,
            JwtId::Random => Some(random_id()?),
            JwtId::Text(text) if (1..=crate::MAX_JWT_ID).contains(&text.len()) => Some(text.clone()),
            JwtId::Text(text) => return Err(BuildError::JwtId { length: text.len() }),
        };
        let claims = JsonObjectWriter::new()
            .optional_string("iss", self.issuer.then_some(self.customer.as_str()))
            .string("sub", self.customer.as_str())
            .integer("exp", issued.saturating_add(lifetime))
            .string("aud", self.audience.as_str())
            .optional_integer("iat", self.issued_at.then_some(issued))
            .optional_string("jti", jti.as_deref());
        Ok(claims.finish())
    }

    /// Makes an assertion.
    ///
    /// # Errors
    /// [`BuildError`] if a claim is not allowed or the signature cannot be made.
    pub fn sign(&self, key: &SigningKey, now: Timestamp) -> Result<String, BuildError> {
        let claims = self.claims_json(now)?;
        jws::sign(key, &self.header(), claims.as_bytes()).map_err(BuildError::Sign)
    }

    /// Makes an assertion with a key that lives elsewhere.
    ///
    /// # Errors
    /// As [`AssertionBuilder::sign`]; whether a key that could not be asked is worth another try says the source.
    pub async fn sign_remote(&self, key: &(impl RemoteSigner + ?Sized), now: Timestamp) -> Result<String, BuildError> {
        let claims = self.claims_json(now)?;
        jws::sign_remote(key, &self.header(), claims.as_bytes()).await.map_err(BuildError::Sign)
    }

    /// All of an assertion but its signature, for a key that is used without this crate. `key_kid` is its name, if it
    /// has one.
    ///
    /// # Errors
    /// As [`AssertionBuilder::claims_json`].
    pub fn prepare(&self, key_kid: Option<&str>, now: Timestamp) -> Result<jws::Prepared, BuildError> {
        let claims = self.claims_json(now)?;
        Ok(jws::prepare(&self.header(), key_kid, claims.as_bytes()))
    }

    fn header(&self) -> JwsHeader {
        let header = JwsHeader::new().with_typ("jwt");
        match &self.key_id {
            Some(key_id) => header.with_kid(key_id),
            None => header,
        }
    }
}

fn random_id() -> Result<String, BuildError> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|_| BuildError::Randomness)?;
    Ok(HyphenatedUuid::from_random_bytes(random).to_string())
}

/// Why an assertion was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A lifetime under a second or over an hour.
    #[error("expected a lifetime of 1 to 3600 seconds, found {found:?}")]
    Lifetime {
        /// The lifetime.
        found: Duration,
    },
    /// A `jti` that is empty or too long.
    #[error("expected a jti of 1 to {} octets, found {length}", crate::MAX_JWT_ID)]
    JwtId {
        /// Its octets.
        length: usize,
    },
    /// The operating system gave no random octets.
    #[error("no randomness from the operating system")]
    Randomness,
    /// The signature could not be made.
    #[error("the assertion could not be signed")]
    Sign(#[source] SignError),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builder() -> AssertionBuilder {
        AssertionBuilder::new(CustomerCode::parse("C").unwrap(), Audience::parse("urn:a").unwrap())
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis).unwrap()
    }

    #[test]
    fn optional_claims_come_when_asked_for() {
        let all = builder().with_issuer().with_issued_at().with_jwt_id("x\"").claims_json(at(1_999)).unwrap();
        assert_eq!(all, r#"{"iss":"C","sub":"C","exp":301,"aud":"urn:a","iat":1,"jti":"x\""}"#);
        let random = builder().with_random_jwt_id();
        assert_ne!(random.claims_json(at(0)).unwrap(), random.claims_json(at(0)).unwrap());
        for bad in ["", &"x".repeat(257)] {
            let found = builder().with_jwt_id(bad).claims_json(at(0));
            assert!(matches!(found, Err(BuildError::JwtId { length }) if length == bad.len()));
        }
    }

    #[test]
    fn lifetimes_are_bounded_on_both_sides() {
        for (millis, good) in [(0, false), (999, false), (1000, true), (3_600_000, true), (3_600_001, false)] {
            let lifetime = Duration::from_millis(millis);
            assert_eq!(builder().lifetime(lifetime).claims_json(at(0)).is_ok(), good, "{millis}");
        }
        assert!(builder().lifetime(Duration::MAX).claims_json(at(0)).is_err());
    }

    #[test]
    fn the_header_is_exact() {
        assert_eq!(builder().header().to_json(None), r#"{"alg":"RS256","typ":"jwt"}"#);
        assert_eq!(builder().header().to_json(Some("k")), r#"{"alg":"RS256","typ":"jwt","kid":"k"}"#);
        assert_eq!(builder().key_id("o").header().to_json(Some("k")), r#"{"alg":"RS256","typ":"jwt","kid":"o"}"#);
    }
}
