//! Sealed cursors: only the provider can make one, and each is valid for one walk only.

use bankrail_client_assertion::CustomerCode;
use bankrail_http::{
    __private::{open_or_create_secret, secret_from_base64},
    SecretError, SecretFileError,
};
use bankrail_statement::{AccountId, Cursor, PagePosition, SortOrder, StatementRequest};
use bankrail_values::{Date, RandomnessError, fill_random};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use std::path::Path;
use zeroize::Zeroizing;

const VERSION: u8 = 1;
const TAG: usize = 32;
/// A day as it is spelled in ISO 8601.
const DAY: usize = 10;
const BACKWARD: u8 = 1;
const NARRATIVE: u8 = 2;
const SAYS_ORDER: u8 = 4;

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
    /// [`SecretError`] for any other text. The error does not hold the text.
    pub fn from_base64(text: &str) -> Result<Self, SecretError> {
        secret_from_base64(text).map(Self)
    }

    /// Reads the secret from a file, in base64. If there is no such file, it is made with a new
    /// secret: whole from the moment that it has its name, and readable by its owner alone. All
    /// machines of a provider need the same file.
    ///
    /// # Errors
    /// [`SecretFileError`] if the file cannot be read or made, or has something else in it.
    pub fn open_or_create(path: impl AsRef<Path>) -> Result<Self, SecretFileError> {
        open_or_create_secret(path.as_ref()).map(Self)
    }

    /// Returns a new random secret. Cursors sealed with it are refused once it is lost.
    ///
    /// # Errors
    /// [`RandomnessError`] if the operating system's random generator fails.
    pub(crate) fn generate() -> Result<Self, RandomnessError> {
        let mut secret = Zeroizing::new([0; 32]);
        fill_random(&mut *secret)?;
        Ok(Self(secret))
    }

    /// Returns the cursor of the page after `position`.
    pub(crate) fn seal(&self, owner: &Owner<'_>, walk: Walk, position: &PagePosition) -> Cursor {
        let tag = self
            .mac(owner, walk, position.as_bytes())
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
    /// owner.
    pub(crate) fn open(&self, owner: &Owner<'_>, cursor: &Cursor) -> Option<(Walk, PagePosition)> {
        let bytes = cursor.to_bytes().ok()?;
        let &[VERSION, flags, ref rest @ ..] = bytes.as_slice() else {
            return None;
        };
        let (day, rest) = rest.split_at_checked(DAY)?;
        let walk = Walk::from_parts(Date::parse(str::from_utf8(day).ok()?).ok()?, flags)?;
        let (tag, position) = rest.split_at_checked(TAG)?;
        // In constant time. The position is read only after the seal has proved right.
        self.mac(owner, walk, position).verify_slice(tag).ok()?;
        Some((walk, PagePosition::from_bytes(position)?))
    }

    fn mac(&self, owner: &Owner<'_>, walk: Walk, position: &[u8]) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&*self.0).expect("HMAC takes a key of any length");
        mac.update(b"bankrail statement cursor");
        mac.update(&[VERSION, walk.flags()]);
        let (day, customer, account) = (
            walk.day.to_string(),
            owner.customer.as_str(),
            owner.account.as_str(),
        );
        for part in [
            day.as_bytes(),
            customer.as_bytes(),
            account.as_bytes(),
            position,
        ] {
            // The length before each part, so that different parts never give the same input.
            mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            mac.update(part);
        }
        mac
    }
}

impl fmt::Debug for CursorSecret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("CursorSecret(…)")
    }
}

/// The customer and the account that a cursor is valid for.
#[derive(Clone, Copy)]
pub(crate) struct Owner<'a> {
    pub(crate) customer: &'a CustomerCode,
    pub(crate) account: &'a AccountId,
}

/// The choices that all pages of one statement share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Walk {
    pub(crate) day: Date,
    pub(crate) order: SortOrder,
    pub(crate) narrative: bool,
    /// If true, each of its pages has `sortOrder`; otherwise none has.
    pub(crate) says_order: bool,
}

impl Walk {
    /// Returns the walk that starts with this request on this day. Its pages have `sortOrder` if
    /// the request has.
    pub(crate) fn of(request: &StatementRequest, narrative: bool, day: Date) -> Self {
        Self {
            day,
            order: request.order(),
            narrative,
            says_order: request.sort_order.is_some(),
        }
    }

    /// Returns true if a later request of this walk repeats or omits the choices of the first one.
    pub(crate) fn agrees_with(self, request: &StatementRequest) -> bool {
        request.sort_order.is_none_or(|order| order == self.order)
            && request
                .include_narrative
                .is_none_or(|narrative| narrative == self.narrative)
    }

    fn flags(self) -> u8 {
        let flag = |wanted, flag| if wanted { flag } else { 0 };
        flag(self.order == SortOrder::Backward, BACKWARD)
            | flag(self.narrative, NARRATIVE)
            | flag(self.says_order, SAYS_ORDER)
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
            says_order: flags & SAYS_ORDER != 0,
        };
        (walk.flags() == flags).then_some(walk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            says_order: true,
        }
    }

    #[test]
    fn opens_only_what_it_sealed_for_the_same_owner() {
        let secret = CursorSecret::from_bytes([7; 32]);
        let (acme, one) = (customer("ACME"), account("1"));
        // The longest position of a ledger.
        let position = PagePosition::from_bytes(&[3; PagePosition::MAX_LENGTH]).unwrap();
        let sealed = secret.seal(
            &Owner {
                customer: &acme,
                account: &one,
            },
            walk(),
            &position,
        );
        let open = |secret: &CursorSecret, customer: &CustomerCode, account: &AccountId| {
            secret.open(&Owner { customer, account }, &sealed)
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
        let owner = Owner {
            customer: &acme,
            account: &one,
        };
        let sealed = secret
            .seal(&owner, walk(), &PagePosition::from_number(3))
            .to_bytes()
            .unwrap();
        let open = |bytes: &[u8]| secret.open(&owner, &Cursor::from_bytes(bytes).unwrap());
        for at in 0..sealed.len() {
            for bit in [1, 2, 0x80] {
                let mut changed = sealed.clone();
                changed[at] ^= bit;
                assert_eq!(open(&changed), None, "byte {at}");
            }
            assert!(at == 0 || open(&sealed[..at]).is_none(), "cut at {at}");
        }
        assert_eq!(
            secret.open(&owner, &Cursor::parse("no base64!").unwrap()),
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
                says_order: false,
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
