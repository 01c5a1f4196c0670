//! Measures whether the time of an answer reveals why a message was rejected.
//!
//! This is not a benchmark. Like dudect, it computes Welch's t between classes of messages; an
//! absolute value up to 4.5 shows no difference.
//!
//! - The classes are: bad RSA-OAEP padding; good padding around a content key of another length;
//!   and, twice, good padding with a bad tag. The second of these is the control, which shows how
//!   large t is without a difference.
//! - All messages have the same length and are made beforehand, many of each class.
//! - Each measurement draws its class and its message at random. In a fixed order, the periodic
//!   work of the libraries (both make new blinding factors every 32nd time) could fall on one class
//!   only.
//! - Slow measurements are interruptions. They are cut off at the same time for all classes, at
//!   several such times.

// A program that fails panics.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss
)]

use bankrail_jose::{Backend, DecryptionKey, KeyOptions, RsaSize, SigningKey, base64url};
use bankrail_secured_payload::{OpenError, OpenOptions, Opener, SealOptions, Sealer};
use std::hint::black_box;
use std::time::Instant;

const NAMES: [&str; 4] = [
    "bad padding",
    "short content key",
    "bad tag",
    "bad tag again",
];
/// The class that the others are compared with.
const BASE: usize = 2;
const MESSAGES: usize = 256;
/// The parts of all measurements that are kept, in per cent.
const KEPT: [usize; 4] = [50, 75, 90, 99];

fn main() {
    let rounds = if bankrail_benches::measuring() {
        40_000
    } else {
        40
    };
    for backend in Backend::ALL {
        let times = measure(*backend, rounds);
        for (class, name) in NAMES.iter().enumerate().filter(|(class, _)| *class != BASE) {
            let results = KEPT.map(|kept| {
                let limit = percentile(&times, kept);
                let [one, base] = [class, BASE].map(|class| Moments::of(&times[class], limit));
                format!(
                    "{kept} %: {:+.2} µs, t = {:+.2}",
                    one.mean - base.mean,
                    one.t(&base)
                )
            });
            println!(
                "timing/{backend:?}/{name} against {}: {}",
                NAMES[BASE],
                results.join("; ")
            );
        }
        let mean = Moments::of(&times[BASE], percentile(&times, 90)).mean;
        println!(
            "timing/{backend:?}: {} took {mean:.1} µs; {rounds} measurements",
            NAMES[BASE]
        );
    }
}

/// The times of the measurements in microseconds, by class.
fn measure(backend: Backend, rounds: usize) -> [Vec<f64>; 4] {
    let options = KeyOptions::new().backend(backend);
    let signing = SigningKey::generate_with(RsaSize::Rsa2048, &options).unwrap();
    let decryption = DecryptionKey::generate_with(RsaSize::Rsa2048, &options).unwrap();
    let encryption = decryption.encryption_key();
    let opener = Opener::new(decryption, signing.verifying_key(), OpenOptions::new()).unwrap();
    let sealer = Sealer::new(signing, encryption.clone(), SealOptions::new());
    let mut random = Random(u64::from_le_bytes(bankrail_values::random_bytes().unwrap()) | 1);
    let messages = [0, 1, 2, 3].map(|class| {
        let make = |_| {
            let sealed = sealer
                .seal(&[b"\"", "x".repeat(512).as_bytes(), b"\""].concat())
                .unwrap();
            let mut parts: Vec<_> = sealed
                .split('.')
                .map(|part| base64url::decode(part).unwrap())
                .collect();
            match class {
                0 => parts[1][32 + random.below(200)] ^= 1 << random.below(8),
                1 => parts[1] = encryption.encrypt(&[7; 32]).unwrap(),
                _ => parts[4][random.below(32)] ^= 1 << random.below(8),
            }
            parts
                .iter()
                .map(|part| base64url::encode(part))
                .collect::<Vec<_>>()
                .join(".")
        };
        (0..MESSAGES).map(make).collect::<Vec<_>>()
    });
    let mut times = [(); 4].map(|()| Vec::with_capacity(rounds));
    for _ in 0..rounds {
        let class = random.below(4);
        let message = &messages[class][random.below(MESSAGES)];
        let start = Instant::now();
        let answer = opener.open(black_box(message));
        let elapsed = start.elapsed();
        assert!(matches!(answer, Err(OpenError::Rejected)));
        times[class].push(elapsed.as_nanos() as f64 / 1000.0);
    }
    times
}

fn percentile(times: &[Vec<f64>], kept: usize) -> f64 {
    let mut all = times.concat();
    all.sort_by(f64::total_cmp);
    all[(all.len() * kept / 100).min(all.len() - 1)]
}

struct Moments {
    mean: f64,
    variance_of_mean: f64,
}

impl Moments {
    fn of(times: &[f64], limit: f64) -> Self {
        let kept: Vec<f64> = times
            .iter()
            .copied()
            .filter(|time| *time <= limit)
            .collect();
        let count = kept.len() as f64;
        let mean = kept.iter().sum::<f64>() / count;
        let variance = kept.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0);
        Self {
            mean,
            variance_of_mean: variance / count,
        }
    }

    fn t(&self, other: &Self) -> f64 {
        (self.mean - other.mean) / (self.variance_of_mean + other.variance_of_mean).sqrt()
    }
}

/// Xorshift, a random generator that is fast and so disturbs the measurement little.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }
}
