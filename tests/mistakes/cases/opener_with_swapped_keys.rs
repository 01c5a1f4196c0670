//! The two keys of an opener are swapped.
//! says: the trait bound `KeySet<PrivateKeyFor<Decryption>>: From<PublicKeyFor<Verifying>>` is not satisfied
use bankrail::jose::{DecryptionKey, VerifyingKey};
use bankrail::secured_payload::{OpenOptions, Opener};

fn open(decryption: DecryptionKey, verifying: VerifyingKey) {
    let _ = Opener::new(verifying, decryption, OpenOptions::new());
}

fn main() {}
