//! Sealed cursors: only the provider can make one, and each is valid for one walk only.

use super::Walk;
use bankrail_client_assertion::CustomerCode;
use bankrail_http::{
    __private::{open_or_create_secret, secret_from_base64},
    SecretError, SecretFileError,
};
use bankrail_statement::{AccountId, Cursor, PagePosition, SortOrder};
use bankrail_values::{Date, RandomnessError, fill_random};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::path::Path;
use zeroize::Zeroizing;

/// The version of the sealed form, its first byte. A cursor of another version is refused.
const VERSION: u8 = 1;
const TAG_BYTES: usize = 32;
/// The length of a day as ISO 8601 spells it.
const DAY_BYTES: usize = 10;

// The flags of a walk, in one byte.
const BACKWARD: u8 = 1;
const NARRATIVE: u8 = 2;
const HAS_ORDER: u8 = 4;

/// The secret that seals cursors: 32 random bytes, the same in all processes of a provider and
/// after a restart.
///
/// A cursor has a position of the [`Ledger`](crate::Ledger), the day, the sort order, the choices
/// of the walk, and an HMAC-SHA-256 over these, the customer and the account. It is not encrypted,
/// so a position must contain nothing that the customer may not see.
#[derive(Clone)]
pub struct CursorSecret(Zeroizing<[u8; 32]>);

impl CursorSecret {
    /// Returns a secret made from 32 random bytes.
    #[must_use]
    pub fn from_bytes(secret: [u8; 32]) -> Self {
        Self(Zeroizing::new(secret))
    }

    /// Reads 32 bytes in standard base64 with padding (RFC 4648 section 4). White space around the
    /// text is ignored.
    ///
    /// # Errors
    /// [`SecretError`] for any other text. The error does not have the text.
    pub fn from_base64(text: &str) -> Result<Self, SecretError> {
        secret_from_base64(text).map(Self)
    }

    /// Reads the secret from a file, in base64. If there is no such file, it is made with a new
    /// secret. The file is whole from the moment that it has its name, and only its owner can read
    /// it. All machines of a provider need the same file.
    ///
    /// # Errors
    /// [`SecretFileError`] if the file cannot be read or made, or has other content.
    pub fn open_or_create(path: impl AsRef<Path>) -> Result<Self, SecretFileError> {
        open_or_create_secret(path.as_ref()).map(Self)
    }

    /// Returns a new random secret. After a restart without the secret, cursors that it sealed are
    /// refused.
    ///
    /// # Errors
    /// [`RandomnessError`] if the operating system's random generator fails.
    pub(in crate::endpoints) fn generate() -> Result<Self, RandomnessError> {
        let mut secret = Zeroizing::new([0; 32]);
        fill_random(&mut *secret)?;
        Ok(Self(secret))
    }

    /// Returns the cursor of the page after `position`, for this customer and account.
    pub(super) fn seal(
        &self,
        customer: &CustomerCode,
        account: &AccountId,
        walk: Walk,
        position: &PagePosition,
    ) -> Cursor {
        let tag = self
            .mac(customer, account, walk, position.as_bytes())
            .finalize()
            .into_bytes();
        let day = walk.day.to_string();
        let bytes = [
            &[VERSION, walk.flags()],
            day.as_bytes(),
            tag.as_slice(),
            position.as_bytes(),
        ]
        .concat();
        Cursor::from_bytes(&bytes).expect("a bounded position fits a cursor")
    }

    /// Returns the walk and the position of a cursor; `None` unless this secret sealed it for this
    /// customer and account.
    pub(super) fn open(
        &self,
        customer: &CustomerCode,
        account: &AccountId,
        cursor: &Cursor,
    ) -> Option<(Walk, PagePosition)> {
        let bytes = cursor.to_bytes().ok()?;
        let &[VERSION, flags, ref rest @ ..] = bytes.as_slice() else {
            return None;
        };
        let (day, rest) = rest.split_at_checked(DAY_BYTES)?;
        let walk = Walk::from_parts(Date::parse(str::from_utf8(day).ok()?).ok()?, flags)?;
        let (tag, position) = rest.split_at_checked(TAG_BYTES)?;
        // In constant time. The position is read only after the seal has proved right.
        self.mac(customer, account, walk, position)
            .verify_slice(tag)
            .ok()?;
        Some((walk, PagePosition::from_bytes(position)?))
    }

    fn mac(
        &self,
        customer: &CustomerCode,
        account: &AccountId,
        walk: Walk,
        position: &[u8],
    ) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&*self.0).expect("HMAC takes a key of any length");
        mac.update(b"bankrail statement cursor");
        mac.update(&[VERSION, walk.flags()]);
        let day = walk.day.to_string();
        for part in [
            day.as_bytes(),
            customer.as_str().as_bytes(),
            account.as_str().as_bytes(),
            position,
        ] {
            // The length before each part, so that different parts never give the same input.
            mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            mac.update(part);
        }
        mac
    }
}

bankrail_values::impl_debug!(CursorSecret);

impl Walk {
    fn flags(self) -> u8 {
        let flag = |wanted, flag| if wanted { flag } else { 0 };
        flag(self.order == SortOrder::Backward, BACKWARD)
            | flag(self.narrative, NARRATIVE)
            | flag(self.has_order, HAS_ORDER)
    }

    fn from_parts(day: Date, flags: u8) -> Option<Self> {
        let order = if flags & BACKWARD == 0 {
            SortOrder::Forward
        } else {
            SortOrder::Backward
        };
        let walk = Self {
            day,
            order,
            narrative: flags & NARRATIVE != 0,
            has_order: flags & HAS_ORDER != 0,
        };
        (walk.flags() == flags).then_some(walk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail_statement::StatementRequest;

    fn account(text: &str) -> AccountId {
        AccountId::parse(text).unwrap()
    }

    fn customer(text: &str) -> CustomerCode {
        CustomerCode::parse(text).unwrap()
    }

    fn walk() -> Walk {
        Walk {
            day: Date::parse("2021-07-29").unwrap(),
            order: SortOrder::Backward,
            narrative: true,
            has_order: true,
        }
    }

    #[test]
    fn opens_only_what_it_sealed_for_the_same_owner() {
        let secret = CursorSecret::from_bytes([7; 32]);
        let (acme, one) = (customer("ACME"), account("1"));
        // The longest position of a ledger.
        let position = PagePosition::from_bytes(&[3; PagePosition::MAX_LENGTH]).unwrap();
        let sealed = secret.seal(&acme, &one, walk(), &position);
        let open = |secret: &CursorSecret, customer: &CustomerCode, account: &AccountId| {
            secret.open(customer, account, &sealed)
        };
        assert_eq!(open(&secret, &acme, &one), Some((walk(), position)));
        assert_eq!(open(&CursorSecret::from_bytes([8; 32]), &acme, &one), None);
        assert_eq!(open(&secret, &customer("ACM"), &account("E1")), None);
        assert_eq!(open(&secret, &acme, &account("2")), None);
    }

    #[test]
    fn any_changed_or_missing_byte_is_noticed() {
        let secret = CursorSecret::from_bytes([7; 32]);
        let (acme, one) = (customer("ACME"), account("1"));
        let sealed = secret
            .seal(&acme, &one, walk(), &PagePosition::from_number(3))
            .to_bytes()
            .unwrap();
        let open = |bytes: &[u8]| secret.open(&acme, &one, &Cursor::from_bytes(bytes).unwrap());
        for at in 0..sealed.len() {
            for bit in [1, 2, 0x80] {
                let mut changed = sealed.clone();
                changed[at] ^= bit;
                assert_eq!(open(&changed), None, "byte {at}");
            }
            assert!(at == 0 || open(&sealed[..at]).is_none(), "cut at {at}");
        }
        assert_eq!(
            secret.open(&acme, &one, &Cursor::parse("no base64!").unwrap()),
            None
        );
    }

    #[test]
    fn a_walk_continues_with_its_first_choices() {
        for walk in [
            walk(),
            Walk {
                order: SortOrder::Forward,
                narrative: false,
                has_order: false,
                ..walk()
            },
        ] {
            assert_eq!(Walk::from_parts(walk.day, walk.flags()), Some(walk));
        }
        assert_eq!(Walk::from_parts(walk().day, 8), None);
        let mut request = StatementRequest::new(&account("1"));
        assert!(walk().agrees_with(&request));
        request.sort_order = Some(SortOrder::Forward);
        assert!(!walk().agrees_with(&request));
        request.sort_order = Some(SortOrder::Backward);
        request.include_narrative = Some(false);
        assert!(!walk().agrees_with(&request));
    }

    #[test]
    fn printing_shows_nothing() {
        assert_eq!(
            format!("{:?}", CursorSecret::from_bytes([1; 32])),
            "CursorSecret(…)"
        );
        assert_ne!(*CursorSecret::generate().unwrap().0, [0; 32]);
    }
}
