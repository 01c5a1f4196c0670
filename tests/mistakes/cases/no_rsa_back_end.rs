//! The customer's side is switched on, and nothing that computes with RSA keys.
//! says: switch on its feature `aws-lc` or `josekit`
//! features: client
use bankrail::client::Client;

fn main() {
    let _: Option<Client> = None;
}
