//! The algorithms of the profile, each stated once. The place that reads or writes a token fixes
//! which one is allowed: it is never taken from the token's header.

/// `alg` of a signature: RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 section 3.3).
pub const SIGNATURE: &str = "RS256";
/// `alg` of an encrypted message: RSAES-OAEP with SHA-1, MGF1 with SHA-1 and an empty label (RFC
/// 7518 section 4.3).
pub const KEY_ENCRYPTION: &str = "RSA-OAEP";
/// `enc` of an encrypted message: AES-256 in CBC mode and HMAC with SHA-512 (RFC 7518 section
/// 5.2.5).
pub const CONTENT_ENCRYPTION: &str = "A256CBC-HS512";

/// The length of a content key in bytes: the first half is the MAC key, the second the encryption
/// key.
pub const CONTENT_KEY_LEN: usize = 64;
/// The length of an initialisation vector in bytes.
pub const IV_LEN: usize = 16;
/// The length of an authentication tag in bytes: the first half of the MAC.
pub const TAG_LEN: usize = 32;
/// The length of a cipher block in bytes. A ciphertext is one block or more.
pub const BLOCK_LEN: usize = 16;

/// The length of a key that encrypts messages, in bits (Specification: "Secured payload envelope").
pub const ENCRYPTION_KEY_BITS: usize = 2048;
/// The allowed lengths of a key that signs messages, in bits (Specification: "Secured payload
/// envelope"). Keys of client assertions are not limited to them.
pub const MESSAGE_SIGNING_KEY_BITS: [usize; 2] = [2048, 4096];

/// The hash of [`SIGNATURE`].
pub(crate) type SignatureHash = sha2::Sha256;
