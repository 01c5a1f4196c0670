//! Detection of keys from a faulty chip (ROCA, CVE-2017-15361). The modulus of such a key can be
//! factored in hours to days.

use rsa::BigUint;
use rsa::traits::PublicKeyParts as _;

/// Prime factors of the product from which the chip builds its primes. All its key sizes share
/// these.
const PRIMES: [u32; 38] = [
    3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
    101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
];

/// The chip's primes are powers of this number modulo each of [`PRIMES`].
const GENERATOR: u32 = 65_537;

/// Returns true if the modulus is congruent to a power of [`GENERATOR`] modulo each of [`PRIMES`].
/// At most one sound key in 10⁸ is marked.
pub(super) fn is_marked(key: &rsa::RsaPublicKey) -> bool {
    PRIMES
        .iter()
        .all(|prime| is_power(&(key.n() % BigUint::from(*prime)), *prime))
}

fn is_power(remainder: &BigUint, prime: u32) -> bool {
    let mut power = 1;
    loop {
        if *remainder == BigUint::from(power) {
            return true;
        }
        power = power * (GENERATOR % prime) % prime;
        if power == 1 {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The generator of the chip's primes, as published.
    const CHIP: u32 = 65_537;

    #[test]
    fn the_mark_is_found() {
        let product = PRIMES.iter().fold(BigUint::from(2_u32), |product, prime| {
            product * BigUint::from(*prime)
        });
        // A power of the generator, lifted to 2048 bits.
        let power = |exponent: u32| BigUint::from(CHIP).modpow(&BigUint::from(exponent), &product);
        let key = |residue: &BigUint| {
            let n = residue
                + &product * ((BigUint::from(1_u32) << 2047) / &product + BigUint::from(1_u32));
            rsa::RsaPublicKey::new_unchecked(n, BigUint::from(3_u32))
        };
        for exponent in [0, 1, 2, 1000, 123_456] {
            assert!(is_marked(&key(&power(exponent))), "{exponent}");
            assert!(
                !is_marked(&key(&(power(exponent) + BigUint::from(2_u32)))),
                "{exponent}"
            );
        }
    }

    #[test]
    fn each_prime_from_3_to_167_counts() {
        let primes: Vec<u32> = (3..=167)
            .filter(|number| (2..*number).all(|factor| number % factor != 0))
            .collect();
        assert_eq!(primes, PRIMES);
        let product = PRIMES.iter().fold(BigUint::from(1_u32), |product, prime| {
            product * BigUint::from(*prime)
        });
        for prime in PRIMES {
            // Each value is marked modulo all other primes, and has each remainder modulo this one.
            for times in 0..prime {
                let n =
                    BigUint::from(CHIP) + &product / BigUint::from(prime) * BigUint::from(times);
                let (remainder, mut powers) = (&n % BigUint::from(prime), vec![1]);
                while powers.len() < 168 {
                    powers.push(powers[powers.len() - 1] * CHIP % prime);
                }
                let marked = powers
                    .iter()
                    .any(|power| BigUint::from(*power) == remainder);
                let key = rsa::RsaPublicKey::new_unchecked(n, BigUint::from(3_u32));
                assert_eq!(is_marked(&key), marked, "{times} of {prime}");
            }
        }
    }

    /// The probability that a random modulus is marked: the product over the primes of the share of
    /// residues that are powers of the generator.
    #[test]
    fn sound_keys_are_rarely_marked() {
        let rarity: f64 = PRIMES
            .iter()
            .map(|prime| {
                let powers = (1..*prime)
                    .filter(|at| is_power(&BigUint::from(*at), *prime))
                    .count();
                powers as f64 / f64::from(*prime - 1)
            })
            .product();
        assert!(rarity < 1e-8, "{rarity}");
    }
}
