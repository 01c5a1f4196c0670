//! Types of hashes.

/// States a type of a hash of 32 bytes: `From<[u8; 32]>`, `as_bytes`, and a `Debug` that shows its first four bytes.
#[macro_export]
macro_rules! hash_value {
    ($(#[$doc:meta])* $vis:vis struct $name:ident;) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name([u8; 32]);

        impl $name {
            /// The hash.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }
        }

        impl ::core::convert::From<[u8; 32]> for $name {
            fn from(hash: [u8; 32]) -> Self {
                Self(hash)
            }
        }

        impl ::core::fmt::Debug for $name {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let [a, b, c, d, ..] = self.0;
                write!(out, concat!(stringify!($name), "({:02x}{:02x}{:02x}{:02x}…)"), a, b, c, d)
            }
        }
    };
}
