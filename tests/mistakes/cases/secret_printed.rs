//! A secret is written to a log.
//! says: `SecretString` cannot be formatted with the default formatter
use bankrail::values::SecretString;

fn log(secret: &SecretString) {
    println!("{secret}");
}

fn main() {}
