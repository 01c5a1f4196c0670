//! What may be said beside the receivers and the keys.

use crate::invented::any_seed;
use crate::selection::RowSelection;
use bankrail_http::names;
use bankrail_http::tls::TlsRoots;
use bankrail_jose::SigningKey;
use bankrail_values::{SecretString, options};
use http::HeaderName;

options! {
    /// The options of a [`ReceiverJudge`](super::ReceiverJudge).
    #[derive(Clone, Debug)]
    pub struct ReceiverJudgeOptions {
        /// The API key that the receivers expect. Default: none is sent.
        pub(super) api_key(SecretString => Some): Option<SecretString> = None,
        /// The header of the API key. Default: `apikey`.
        pub(super) api_key_header: HeaderName = names::API_KEY,
        /// Another key of the provider, of 4096 bits, that the receivers know too. Default: the row
        /// about it is not seen.
        pub(super) large_signing_key(SigningKey => Some): Option<SigningKey> = None,
        /// The certificate authorities of the receivers. Default: those of the system.
        pub(super) roots: TlsRoots = TlsRoots::Platform,
        /// Whether rows beyond SPEC.md fail too. Default: what differs there is noted.
        pub(super) strict: bool = false,
        /// The seed of ids and texts that are made up, which are the same in each run with it.
        /// Receivers know the messages of an earlier run with the same seed. Default: another one
        /// in each run.
        pub(super) seed: u32 = any_seed(),
        /// Where the receivers list what they have handled: an address that begins with `https://`,
        /// or a file. The README says what such a list has. Default: what they make of messages is
        /// not seen.
        pub(super) handled(String => Some): Option<String> = None,
        /// Judges these rows only. Default: all.
        pub(super) only: Vec<RowSelection> = Vec::new(),
    }
}
