//! A server's side of paging: from a request's cursor to a position in the ledger and back.

use crate::{AccountId, Cursor, CursorError, Page, SortOrder, StatementRequest};
use sha2::{Digest, Sha256};

/// Where a page ended: what the ledger needs to go on behind the last entry of it, 1 to 1024 octets.
///
/// A position should name an entry (its key in the ledger), not count entries: then a page stays whole when entries
/// are posted between two calls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(Box<[u8]>);

impl Position {
    /// The most octets of a position.
    pub const MAX_LENGTH: usize = 1024;

    /// A position of these octets; `None` if there are none or too many.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        (1..=Self::MAX_LENGTH).contains(&bytes.len()).then(|| Self(bytes.into()))
    }

    /// A position that is a number, such as an entry's row in the ledger.
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        Self(number.to_be_bytes().into())
    }

    /// The octets.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The number of a position made by [`Position::from_number`].
    #[must_use]
    pub fn as_number(&self) -> Option<u64> {
        Some(u64::from_be_bytes((*self.0).try_into().ok()?))
    }
}

/// What a ledger is asked for: up to [`PageRequest::fetch`] entries of an account in an order, behind a position.
///
/// ```
/// use bankrail_statement::{AccountId, Page, PageRequest, Position, StatementRequest, MaxEntries};
/// let account = AccountId::parse("1")?;
/// let mut request = StatementRequest::new(&account);
/// request.max_entries = MaxEntries::new(2);
///
/// let ledger = [10, 20, 30];
/// let mut pages = Vec::new();
/// loop {
///     let wanted = PageRequest::of(&request, &account)?;
///     let after = wanted.after().and_then(Position::as_number).unwrap_or(0);
///     let fetched = ledger.into_iter().filter(|row| *row > after).take(wanted.fetch()).collect();
///     let (entries, page) = wanted.cut(fetched, |row| Position::from_number(*row));
///     pages.push(entries);
///     let Page::More { cursor } = page else { break };
///     request.cursor = Some(cursor);
/// }
/// assert_eq!(pages, [vec![10, 20], vec![30]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    order: SortOrder,
    limit: usize,
    after: Option<Position>,
    binding: [u8; 8],
}

/// The first octet of a cursor's content; another one means another layout.
const VERSION: u8 = 1;

impl PageRequest {
    /// What the request asks for. A request that goes on keeps the order that it began with, said or not.
    ///
    /// # Errors
    /// [`CursorError`] if the cursor is not one that was made for this account, in the order said. A server answers it
    /// like any body that fails validation.
    pub fn of(request: &StatementRequest, account: &AccountId) -> Result<Self, CursorError> {
        let binding = binding(account);
        let limit = request.entries_at_most();
        let Some(cursor) = &request.cursor else {
            return Ok(Self { order: request.order(), limit, after: None, binding });
        };
        let bytes = cursor.to_bytes()?;
        let &[VERSION, order, ref rest @ ..] = bytes.as_slice() else { return Err(CursorError::Foreign) };
        let order = match order {
            b'f' => SortOrder::Forward,
            b'b' => SortOrder::Backward,
            _ => return Err(CursorError::Foreign),
        };
        let (bound_to, position) = rest.split_at_checked(binding.len()).ok_or(CursorError::Foreign)?;
        if bound_to != binding || request.sort_order.is_some_and(|said| said != order) {
            return Err(CursorError::Foreign);
        }
        let after = Position::from_bytes(position).ok_or(CursorError::Foreign)?;
        Ok(Self { order, limit, after: Some(after), binding })
    }

    /// The order of entries.
    #[must_use]
    pub fn order(&self) -> SortOrder {
        self.order
    }

    /// The most entries of the page.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The last entry that was already sent; `None` for the first page.
    #[must_use]
    pub fn after(&self) -> Option<&Position> {
        self.after.as_ref()
    }

    /// How many entries to fetch: one more than the page holds, which tells whether there is a next one.
    #[must_use]
    pub fn fetch(&self) -> usize {
        self.limit + 1
    }

    /// Cuts what was fetched to the page, and says whether there is more.
    #[must_use]
    pub fn cut<T>(&self, mut fetched: Vec<T>, position: impl Fn(&T) -> Position) -> (Vec<T>, Page) {
        if fetched.len() <= self.limit {
            return (fetched, Page::Last);
        }
        fetched.truncate(self.limit);
        let page = match fetched.last() {
            Some(last) => Page::More { cursor: self.cursor_after(&position(last)) },
            None => Page::Last,
        };
        (fetched, page)
    }

    /// The cursor of a page that ended at a position.
    #[must_use]
    pub fn cursor_after(&self, position: &Position) -> Cursor {
        let order = match self.order {
            SortOrder::Forward => b'f',
            SortOrder::Backward => b'b',
        };
        let mut bytes = vec![VERSION, order];
        bytes.extend_from_slice(&self.binding);
        bytes.extend_from_slice(position.as_bytes());
        Cursor::from_bytes(&bytes).expect("a bounded position fits a cursor")
    }
}

/// Ties a cursor to its account. A slip of the caller's is noticed; it is no authentication, and needs none: whoever
/// may ask for the account may ask for any position in it.
fn binding(account: &AccountId) -> [u8; 8] {
    let [a, b, c, d, e, f, g, h, ..] = <[u8; 32]>::from(Sha256::digest(account.as_str()));
    [a, b, c, d, e, f, g, h]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MaxEntries;
    use proptest::prelude::*;

    fn account(text: &str) -> AccountId {
        AccountId::parse(text).unwrap()
    }

    #[test]
    fn cursors_are_bound_to_account_and_order() {
        let mut request = StatementRequest::new(&account("1"));
        request.sort_order = Some(SortOrder::Backward);
        let first = PageRequest::of(&request, &account("1")).unwrap();
        request.cursor = Some(first.cursor_after(&Position::from_number(7)));
        let next = PageRequest::of(&request, &account("1")).unwrap();
        assert_eq!(next.after().unwrap().as_number(), Some(7));
        assert_eq!(PageRequest::of(&request, &account("2")), Err(CursorError::Foreign));
        request.sort_order = None;
        assert_eq!(PageRequest::of(&request, &account("1")).unwrap().order(), SortOrder::Backward);
        request.sort_order = Some(SortOrder::Forward);
        assert_eq!(PageRequest::of(&request, &account("1")), Err(CursorError::Foreign));
        for foreign in [&b"\x01"[..], b"\x02f12345678x", b"\x01x12345678x", b"\x01f1234567"] {
            request.cursor = Some(Cursor::from_bytes(foreign).unwrap());
            assert_eq!(PageRequest::of(&request, &account("1")), Err(CursorError::Foreign));
        }
        request.cursor = Some(Cursor::parse("?").unwrap());
        assert_eq!(PageRequest::of(&request, &account("1")), Err(CursorError::NotBase64));
    }

    #[test]
    fn the_longest_position_fits() {
        let page = PageRequest::of(&StatementRequest::new(&account("1")), &account("1")).unwrap();
        let longest = Position::from_bytes(&[0; Position::MAX_LENGTH]).unwrap();
        assert!(page.cursor_after(&longest).as_str().len() <= Cursor::MAX_LENGTH);
        assert!(Position::from_bytes(&[]).is_none() && Position::from_bytes(&[0; 1025]).is_none());
    }

    proptest! {
        #[test]
        fn pages_put_together_are_the_ledger(rows in 0_u64..60, most in 1_u16..20) {
            let mut request = StatementRequest::new(&account("1"));
            request.max_entries = MaxEntries::new(most);
            let (mut seen, mut calls) = (Vec::new(), 0);
            loop {
                let wanted = PageRequest::of(&request, &account("1")).unwrap();
                let after = wanted.after().and_then(Position::as_number);
                let fetched = (0..rows).filter(|row| after.is_none_or(|after| *row > after)).take(wanted.fetch());
                let (entries, page) = wanted.cut(fetched.collect(), |row| Position::from_number(*row));
                prop_assert!(entries.len() <= usize::from(most));
                seen.extend(entries);
                calls += 1;
                let Page::More { cursor } = page else { break };
                request.cursor = Some(cursor);
            }
            prop_assert_eq!(seen, (0..rows).collect::<Vec<_>>());
            prop_assert_eq!(calls, rows.div_ceil(u64::from(most)).max(1));
        }
    }
}
