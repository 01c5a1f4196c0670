//! Verifying assertions.

use crate::claims::{self, Claims, Instant, MAX_LIFETIME};
use crate::token::TokenRequest;
use crate::{
    AssertionError, Audience, CustomerCode, ReplayKey, ReplayPolicy, ReplayStore, VerifierOptions,
};
use bankrail_jose::jws::{Compact, VerifyError, VerifyOptions};
use bankrail_jose::{KeyLookup, VerifyingKey};
use bankrail_values::json::{self, JsonObject};
use bankrail_values::{Timestamp, excerpt};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Verifies assertions (Specification: "Client assertion (JWT) the customer builds"; RFC 7523
/// section 3).
///
/// These are the rules by default.
///
/// - The algorithm is RS256, and `typ` is `jwt` in any case.
/// - `aud` is one string, equal to the audience or another one of
///   [`VerifierOptions::also_audience`]. [`VerifierOptions::accept_audience_array`] accepts an array
///   of such strings.
/// - `exp` is a JSON number in the future and at most 3600 s ahead. At `exp` itself the assertion
///   has expired. The specification's "after which the token is rejected" is read as RFC 7519
///   section 4.1.4 has it, "on or after".
/// - `nbf` and `iat`, if present, are at most 30 s in the future (Default: "Token endpoint").
/// - `iss`, if present, equals `sub`.
///
/// [`VerifierOptions::lenient_clients`] accepts what widespread client libraries send beyond that.
///
/// ```
/// # #[cfg(any(feature = "aws-lc", feature = "josekit"))] {
/// use bankrail_client_assertion::{
///     AssertionBuilder, AssertionOptions, Audience, CustomerCode, Verifier, VerifierOptions,
/// };
/// use bankrail_jose::{RsaSize, SigningKey};
/// use bankrail_values::Timestamp;
///
/// let (customer, audience) = (CustomerCode::parse("CUSTOMERCODE")?, Audience::parse("https://auth.example.com/")?);
/// let key = SigningKey::generate(RsaSize::Rsa2048)?;
/// let now = Timestamp::UNIX_EPOCH;
/// let assertion = AssertionBuilder::new(customer.clone(), audience.clone(), AssertionOptions::new()).sign(&key, now)?;
///
/// let verifier = Verifier::new(audience, VerifierOptions::new());
/// let verified = verifier.verify(&assertion, now, |asked| (*asked == customer).then(|| key.verifying_key()))?;
/// assert_eq!(verified.customer(), &customer);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Verifier {
    audience: Audience,
    options: VerifierOptions,
}

impl Verifier {
    /// The maximum length of an assertion, in bytes.
    pub const MAX_BYTES: usize = 16 * 1024;

    /// Returns a verifier of assertions for an audience.
    #[must_use]
    pub fn new(audience: Audience, options: VerifierOptions) -> Self {
        Self { audience, options }
    }

    /// Returns the audience.
    #[must_use]
    pub fn audience(&self) -> &Audience {
        &self.audience
    }

    /// Returns the options.
    #[must_use]
    pub fn options(&self) -> &VerifierOptions {
        &self.options
    }

    /// Reads an assertion without verifying it, to find out whose keys to look up.
    ///
    /// # Errors
    /// [`AssertionError`] if the assertion is malformed, if its header is outside the profile, or
    /// if `sub` is not a customer code.
    pub fn read<'a>(&'a self, assertion: &'a str) -> Result<Unverified<'a>, AssertionError> {
        let compact = parse(assertion)?;
        self.options.typ.check(compact.header().typ())?;
        let claims = Claims::read(compact.unverified_payload())?;
        let subject = claims.subject()?;
        Ok(Unverified {
            verifier: self,
            compact,
            claims,
            subject,
        })
    }

    /// Verifies an assertion with the keys of the customer that it names.
    ///
    /// `keys` looks up the keys of a customer: one key or a [`KeySet`](bankrail_jose::KeySet),
    /// `None` for an unknown customer. For an asynchronous look-up, use [`Verifier::read`] and
    /// [`Unverified::verify`].
    ///
    /// # Errors
    /// [`AssertionError`], whose documentation lists what a counterparty may learn.
    pub fn verify<K: KeyLookup<VerifyingKey>>(
        &self,
        assertion: &str,
        now: Timestamp,
        keys: impl FnOnce(&CustomerCode) -> Option<K>,
    ) -> Result<VerifiedAssertion, AssertionError> {
        let unverified = self.read(assertion)?;
        let subject = unverified.subject_for_key_lookup();
        match keys(subject) {
            Some(keys) => unverified.verify(&keys, now),
            None => Err(AssertionError::UnknownCustomer {
                customer: subject.clone(),
            }),
        }
    }
}

/// Reads the compact form, within the bounds on an assertion.
pub(crate) fn parse(assertion: &str) -> Result<Compact<'_>, AssertionError> {
    let bounds = VerifyOptions::new()
        .max_token_bytes(Verifier::MAX_BYTES)
        .max_header_bytes(2 * 1024);
    Compact::parse(assertion, &bounds).map_err(AssertionError::Malformed)
}

/// A well-formed assertion that has not been verified.
pub struct Unverified<'a> {
    verifier: &'a Verifier,
    compact: Compact<'a>,
    claims: Claims,
    subject: CustomerCode,
}

impl Unverified<'_> {
    /// Returns the customer that the assertion names. Use it only to look up keys.
    #[must_use]
    pub fn subject_for_key_lookup(&self) -> &CustomerCode {
        &self.subject
    }

    /// Verifies the signature with the keys of [`Unverified::subject_for_key_lookup`], then checks
    /// the claims.
    ///
    /// # Errors
    /// [`AssertionError`], whose documentation lists what a counterparty may learn.
    pub fn verify(
        self,
        keys: &(impl KeyLookup<VerifyingKey> + ?Sized),
        now: Timestamp,
    ) -> Result<VerifiedAssertion, AssertionError> {
        // The claims were read from the bytes that the signature covers.
        let Self {
            verifier,
            compact,
            claims,
            subject,
        } = self;
        let proved = compact.verify(keys).map_err(|error| match error {
            VerifyError::NoKey(error) => AssertionError::NoKey(error),
            _ => AssertionError::BadSignature,
        })?;
        verifier.check_audience(&claims)?;
        check_issuer(&claims, &subject)?;
        let expires = claims.expires_at(verifier.options.accept_text_exp)?;
        check_not_expired(expires, now)?;
        verifier.check_lifetime(expires, now)?;
        for claim in ["nbf", "iat"] {
            verifier.check_begun(&claims, claim, now)?;
        }
        let issued_at = claims.instant("iat")?.map(Instant::floor);
        let jwt_id = claims.jwt_id()?.map(Into::into);
        let key_id = proved.key().kid().map(Into::into);
        Ok(VerifiedAssertion {
            customer: subject,
            expires_at: expires.floor(),
            remember_until: expires.ceil(),
            issued_at,
            jwt_id,
            key_id,
            signature: proved.signature().into(),
            claims: proved.into_payload(),
        })
    }
}

/// The rules about claims, one by one.
impl Verifier {
    pub(crate) fn check_audience(&self, claims: &Claims) -> Result<(), AssertionError> {
        let (found, is_array) = claims.audiences()?;
        let own = || [&self.audience].into_iter().chain(&self.options.audiences);
        // Every element of an array must be known, because another service would accept an
        // assertion that contains its own audience.
        let known = found
            .iter()
            .all(|one| own().any(|own| own.as_str() == *one));
        if known && (!is_array || self.options.accept_audience_array) {
            return Ok(());
        }
        let listed = |texts: &mut dyn Iterator<Item = &str>| {
            texts.map(excerpt).collect::<Vec<_>>().join(", ")
        };
        let found = listed(&mut found.into_iter());
        Err(AssertionError::Audience {
            expected: listed(&mut own().map(Audience::as_str)),
            found: if is_array {
                format!("[{found}]")
            } else {
                found
            },
            option: if known {
                "accept_audience_array"
            } else {
                "also_audience"
            },
        })
    }

    /// Checks that `exp` is at most 3600 s plus the tolerance after `now`.
    pub(crate) fn check_lifetime(
        &self,
        expires: Instant,
        now: Timestamp,
    ) -> Result<(), AssertionError> {
        let expires_at = expires.ceil();
        let near = expires_at
            <= now
                .saturating_add(MAX_LIFETIME)
                .saturating_add(self.options.clock_tolerance);
        if near {
            Ok(())
        } else {
            Err(AssertionError::TooFarAhead { expires_at, now })
        }
    }

    /// Checks that the time of a claim, if present, is not after `now` plus the leeway.
    pub(crate) fn check_begun(
        &self,
        claims: &Claims,
        claim: &'static str,
        now: Timestamp,
    ) -> Result<(), AssertionError> {
        let lead = now.saturating_add(self.options.leeway);
        match claims
            .instant(claim)?
            .map(Instant::ceil)
            .filter(|found| *found > lead)
        {
            Some(found) => Err(AssertionError::NotYetValid { claim, found, now }),
            None => Ok(()),
        }
    }
}

pub(crate) fn check_issuer(claims: &Claims, subject: &CustomerCode) -> Result<(), AssertionError> {
    match claims
        .issuer()?
        .filter(|issuer| *issuer != subject.as_str())
    {
        Some(issuer) => Err(AssertionError::Issuer {
            found: excerpt(issuer),
        }),
        None => Ok(()),
    }
}

/// Checks that `exp` is after `now`: an assertion is expired "on or after" `exp` (RFC 7519 section
/// 4.1.4).
pub(crate) fn check_not_expired(expires: Instant, now: Timestamp) -> Result<(), AssertionError> {
    if expires.ceil() > now {
        Ok(())
    } else {
        Err(AssertionError::Expired {
            expires_at: expires.floor(),
            now,
        })
    }
}

bankrail_values::impl_debug!(Unverified<'_>, self; subject: self.subject);

/// An assertion whose signature and claims were verified.
#[derive(Clone)]
pub struct VerifiedAssertion {
    customer: CustomerCode,
    expires_at: Timestamp,
    remember_until: Timestamp,
    issued_at: Option<Timestamp>,
    jwt_id: Option<Box<str>>,
    key_id: Option<Box<str>>,
    signature: Box<[u8]>,
    claims: Zeroizing<Vec<u8>>,
}

impl VerifiedAssertion {
    /// Returns the customer who signed the assertion.
    #[must_use]
    pub fn customer(&self) -> &CustomerCode {
        &self.customer
    }

    /// Returns `exp`, cut to milliseconds.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.expires_at
    }

    /// Returns `iat`, if present, cut to milliseconds.
    #[must_use]
    pub fn issued_at(&self) -> Option<Timestamp> {
        self.issued_at
    }

    /// Returns `jti`, if present.
    #[must_use]
    pub fn jwt_id(&self) -> Option<&str> {
        self.jwt_id.as_deref()
    }

    /// Returns the `kid` of the key that the signature is valid for, if the key has one.
    #[must_use]
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    /// Returns all claims as they were signed, including those that this crate does not read.
    /// `sub`, `aud`, `exp`, `nbf`, `iat`, `iss` and `jti` were checked; everything else is the
    /// customer's own statement.
    ///
    /// ```
    /// # #[cfg(any(feature = "aws-lc", feature = "josekit"))] {
    /// # use bankrail_client_assertion::{Audience, VerifierOptions, Verifier};
    /// # use bankrail_jose::{RsaSize, SigningKey, jws};
    /// # use bankrail_values::Timestamp;
    /// use bankrail_values::json::JsonValue;
    /// # let key = SigningKey::generate(RsaSize::Rsa2048)?;
    /// # let claims = r#"{"sub":"C","aud":"urn:a","exp":60,"department":"treasury"}"#;
    /// # let assertion = jws::sign(&key, &jws::JwsHeader::new().typ("jwt"), claims.as_bytes())?;
    /// # let verifier = Verifier::new(Audience::parse("urn:a")?, VerifierOptions::new());
    /// # let verified = verifier.verify(&assertion, Timestamp::UNIX_EPOCH, |_| Some(key.verifying_key()))?;
    /// assert_eq!(verified.all_claims().get("department").and_then(JsonValue::as_str), Some("treasury"));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn all_claims(&self) -> JsonObject<'_> {
        json::read_object(&self.claims, &claims::LIMITS)
            .expect("the same bytes were read before they were verified")
    }

    /// Returns the key to claim in a [`ReplayStore`] under a policy. Returns `None` if the policy
    /// stores nothing.
    ///
    /// # Errors
    /// [`AssertionError::JwtIdRequired`] under [`ReplayPolicy::RequireJti`] if there is no `jti`.
    pub fn replay_key(&self, policy: ReplayPolicy) -> Result<Option<ReplayKey>, AssertionError> {
        let (kind, what): (&[u8], &[u8]) = match (policy, &self.jwt_id) {
            (ReplayPolicy::Off, _) | (ReplayPolicy::JtiIfPresent, None) => return Ok(None),
            (ReplayPolicy::RequireJti, None) => return Err(AssertionError::JwtIdRequired),
            (ReplayPolicy::RequireJti | ReplayPolicy::JtiIfPresent, Some(id)) => {
                (b"jti\0", id.as_bytes())
            }
            // Uses the signature, because a valid one identifies the signed bytes and has only one
            // encoding.
            (ReplayPolicy::WholeAssertion, _) => (b"assertion\0", &self.signature),
        };
        // A customer code contains no NUL, so the concatenation is unambiguous.
        let customer = self.customer.as_str();
        let digest = Sha256::new()
            .chain_update(kind)
            .chain_update(customer)
            .chain_update([0])
            .chain_update(what);
        Ok(Some(ReplayKey::new(
            digest.finalize().into(),
            self.remember_until,
        )))
    }

    /// Marks the assertion as used under a policy. Call it after all other checks of the request
    /// and before a token is issued.
    ///
    /// # Errors
    /// [`AssertionError::Replayed`], [`AssertionError::JwtIdRequired`], or
    /// [`AssertionError::ReplayStore`] if the store failed. Issue no token after any of these
    /// errors.
    pub async fn claim(
        &self,
        policy: ReplayPolicy,
        store: &(impl ReplayStore + ?Sized),
        now: Timestamp,
    ) -> Result<(), AssertionError> {
        let Some(key) = self.replay_key(policy)? else {
            return Ok(());
        };
        match store.claim(key, now).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(AssertionError::Replayed),
            Err(error) => Err(AssertionError::ReplayStore(error)),
        }
    }

    /// Compares the form's `client_id`, if it has one, with the customer (RFC 7521 section 4.2).
    ///
    /// # Errors
    /// [`AssertionError::ClientId`] if they differ.
    pub fn check_client_id(&self, request: &TokenRequest) -> Result<(), AssertionError> {
        match request.client_id() {
            Some(found) if found != self.customer.as_str() => Err(AssertionError::ClientId {
                found: excerpt(found),
            }),
            _ => Ok(()),
        }
    }
}

// Does not print the signature and the other claims.
bankrail_values::impl_debug!(
    VerifiedAssertion, self;
    customer: self.customer, expires_at: self.expires_at, jwt_id: self.jwt_id, key_id: self.key_id
);
