//! Making assertions.

use crate::{AssertionOptions, Audience, CustomerCode, JwtId, MAX_LIFETIME, is_lifetime};
use bankrail_jose::jws::{self, JwsHeader};
use bankrail_jose::remote::RemoteSigner;
use bankrail_jose::{SignError, SigningKey};
use bankrail_values::json::JsonObjectWriter;
use bankrail_values::{HyphenatedUuid, RandomnessError, Timestamp, random_bytes};
use std::time::Duration;

/// Makes the assertions of one customer (Specification: "Client assertion (JWT) the customer
/// builds").
///
/// - The header is `{"alg":"RS256","typ":"jwt"}`, followed by `kid` if one is set here or the key
///   has one.
/// - The claims are `sub`, `exp` and `aud`. [`AssertionOptions`] adds others.
///
/// ```
/// # #[cfg(any(feature = "aws-lc", feature = "josekit"))] {
/// use bankrail_client_assertion::{AssertionBuilder, AssertionOptions, Audience, CustomerCode};
/// use bankrail_values::Timestamp;
/// use std::time::Duration;
///
/// let audience = Audience::parse("https://auth.example.com/v1.0/auth")?;
/// let options = AssertionOptions::new().lifetime(Duration::from_secs(600));
/// let builder = AssertionBuilder::new(CustomerCode::parse("CUSTOMERCODE")?, audience, options);
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
    options: AssertionOptions,
}

impl AssertionBuilder {
    /// The default lifetime: five minutes.
    pub const DEFAULT_LIFETIME: Duration = Duration::from_secs(300);

    /// A builder of a customer's assertions for an audience.
    #[must_use]
    pub fn new(customer: CustomerCode, audience: Audience, options: AssertionOptions) -> Self {
        Self {
            customer,
            audience,
            options,
        }
    }

    /// The audience.
    #[must_use]
    pub fn audience(&self) -> &Audience {
        &self.audience
    }

    /// Returns the same builder for another audience.
    #[must_use]
    pub fn with_audience(self, audience: Audience) -> Self {
        Self { audience, ..self }
    }

    /// The claims of an assertion made at `now`.
    ///
    /// # Errors
    /// [`AssertionBuildError`] if a claim is not allowed or there are no random bytes for `jti`.
    pub fn claims_json(&self, now: Timestamp) -> Result<String, AssertionBuildError> {
        if !is_lifetime(self.options.lifetime) {
            return Err(AssertionBuildError::Lifetime {
                found: self.options.lifetime,
            });
        }
        let issued = now.unix_seconds();
        let lifetime = i64::try_from(self.options.lifetime.as_secs()).expect("at most an hour");
        let jti = match &self.options.jwt_id {
            JwtId::Absent => None,
            JwtId::Random => Some(HyphenatedUuid::from_random_bytes(random_bytes()?).to_string()),
            JwtId::Text(text) if (1..=crate::MAX_JWT_ID).contains(&text.len()) => {
                Some(text.clone())
            }
            JwtId::Text(text) => return Err(AssertionBuildError::JwtId { length: text.len() }),
        };
        let claims = JsonObjectWriter::new()
            .optional_string("iss", self.options.issuer.then_some(self.customer.as_str()))
            .string("sub", self.customer.as_str())
            .raw("exp", issued.saturating_add(lifetime))
            .string("aud", self.audience.as_str())
            .optional_raw("iat", self.options.issued_at.then_some(issued))
            .optional_string("jti", jti.as_deref());
        Ok(claims.finish())
    }

    /// Makes an assertion.
    ///
    /// # Errors
    /// [`AssertionBuildError`] if a claim is not allowed or the signature cannot be made.
    pub fn sign(&self, key: &SigningKey, now: Timestamp) -> Result<String, AssertionBuildError> {
        let claims = self.claims_json(now)?;
        jws::sign(key, &self.header(), claims.as_bytes()).map_err(AssertionBuildError::Sign)
    }

    /// Makes an assertion with a remote key.
    ///
    /// # Errors
    /// As [`AssertionBuilder::sign`]. If the remote key could not be used, the source of the error
    /// shows if a retry can succeed.
    pub async fn sign_remote(
        &self,
        key: &(impl RemoteSigner + ?Sized),
        now: Timestamp,
    ) -> Result<String, AssertionBuildError> {
        let claims = self.claims_json(now)?;
        jws::sign_remote(key, &self.header(), claims.as_bytes())
            .await
            .map_err(AssertionBuildError::Sign)
    }

    /// Makes an assertion without its signature, for a key that this crate cannot use. `key_kid` is
    /// the `kid` of the key, if it has one.
    ///
    /// # Errors
    /// As [`AssertionBuilder::claims_json`].
    pub fn prepare(
        &self,
        key_kid: Option<&str>,
        now: Timestamp,
    ) -> Result<jws::Prepared, AssertionBuildError> {
        let claims = self.claims_json(now)?;
        Ok(jws::prepare(&self.header(), key_kid, claims.as_bytes()))
    }

    fn header(&self) -> JwsHeader {
        let header = JwsHeader::new().typ("jwt");
        match &self.options.key_id {
            Some(key_id) => header.kid(key_id),
            None => header,
        }
    }
}

/// The reason why an assertion could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssertionBuildError {
    /// The lifetime is less than a second or more than [`MAX_LIFETIME`].
    #[error("expected a lifetime of 1 to {} seconds, found {found:?}", MAX_LIFETIME.as_secs())]
    Lifetime {
        /// The lifetime requested.
        found: Duration,
    },
    /// The `jti` is empty or too long.
    #[error("expected a jti of 1 to {} bytes, found {length}", crate::MAX_JWT_ID)]
    JwtId {
        /// The length of the `jti`, in bytes.
        length: usize,
    },
    /// The operating system gave no random bytes.
    #[error(transparent)]
    Random(#[from] RandomnessError),
    /// The signature could not be made.
    #[error("the assertion could not be signed")]
    Sign(#[source] SignError),
}
