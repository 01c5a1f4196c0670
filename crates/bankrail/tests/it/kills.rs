//! Tests that kill the processes of a bank and a biller in the middle of their work. They talk
//! HTTPS on loopback, each with its SQLite file, while statements grow and messages are delivered.
//! Each entry and each message that the bank has committed takes effect once at the biller.
//!
//! The parent starts this binary again as both processes, reads their output, and kills one or both
//! after a random number of lines: ten times, or `BANKRAIL_KILLS` times.

mod bank;
mod biller;
mod clock;

use crate::both::Keys;
use bankrail_jose::{DecryptionKey, RsaSize, SigningKey};
use bankrail_mailbox::{Inbox, OutboxOperator};
use bankrail_statement::AccountId;
use bankrail_stores::sqlite::{SqliteStore, rusqlite};
use bankrail_values::{Clock, SystemClock, Timestamp};
use clock::FastClock;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

const FOLDER: &str = "BANKRAIL_KILLS_FOLDER";
const START: &str = "BANKRAIL_KILLS_START";
const DRAIN: &str = "BANKRAIL_KILLS_DRAIN";

/// The customer's API key at the bank.
const CUSTOMER_KEY: &str = "the-customers-key";
const ACCOUNT: &str = "999001400100101";

/// Returns the reference of an entry. Every fifth entry has none and equals every other fifth one.
fn reference(number: u32) -> Option<String> {
    (!number.is_multiple_of(5)).then(|| format!("E{number}"))
}

/// The output of a child.
enum Said {
    /// The bank has committed an entry and a message, or a handler of the biller was at work.
    Working,
    /// The process accepts connections.
    Ready,
    /// The bank has delivered everything.
    Drained,
    /// The biller has completed a poll.
    UpToDate,
}

#[test]
fn nothing_is_lost_and_effects_happen_once() {
    let kills: u32 = std::env::var("BANKRAIL_KILLS").map_or(10, |kills| kills.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let (say, said) = channel();
    let mut world = World {
        folder: folder.path().to_owned(),
        say,
        said,
        starts: 0,
    };
    let mut bank = world.start_bank(false);
    let mut biller = world.start_biller();
    let mut killed = 0;
    while killed < kills {
        world.listen(1 + random() % 40);
        let victim = random() % 5;
        // The victims 0 and 1 are the biller, 2 and 3 the bank, 4 both.
        if !matches!(victim, 0 | 1) {
            kill(&mut bank);
            killed += 1;
        }
        if !matches!(victim, 2 | 3) {
            kill(&mut biller);
            killed += 1;
            biller = world.start_biller();
        }
        if !matches!(victim, 0 | 1) {
            bank = world.start_bank(false);
        }
    }
    kill(&mut bank);
    let _bank = world.start_bank(true);
    while !matches!(world.next(), Said::Drained) {}
    // Entries that were committed before are in the next statement, whatever requests are under way
    // now.
    kill(&mut biller);
    let mut biller = world.start_biller();
    while !matches!(world.next(), Said::UpToDate) {}
    kill(&mut biller);
    check(folder.path(), world.starts);
}

struct World {
    folder: PathBuf,
    say: Sender<Said>,
    said: Receiver<Said>,
    starts: u32,
}

impl World {
    fn start_biller(&mut self) -> Process {
        self.start("kills::biller::process", false)
    }

    /// Starts the bank, which books no more entries if `drain` is true.
    fn start_bank(&mut self, drain: bool) -> Process {
        self.start("kills::bank::process", drain)
    }

    fn start(&mut self, test: &str, drain: bool) -> Process {
        self.starts += 1;
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--ignored", "--nocapture"])
            .env(FOLDER, &self.folder)
            .env(START, self.starts.to_string())
            .env(DRAIN, drain.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (lines, say) = (
            BufReader::new(child.stdout.take().unwrap()).lines(),
            self.say.clone(),
        );
        // The thread reads on after a kill, because lines that were printed before it count too.
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let said = match line.as_str() {
                    "working." => Said::Working,
                    "ready." => Said::Ready,
                    "drained." => Said::Drained,
                    "up to date." => Said::UpToDate,
                    // Other lines are the test harness's own, or were cut off by the kill.
                    _ => continue,
                };
                // An error means that the parent has finished reading.
                let _ = say.send(said);
            }
        });
        while !matches!(self.next(), Said::Ready) {}
        Process(child)
    }

    fn next(&mut self) -> Said {
        self.said
            .recv_timeout(Duration::from_secs(60))
            .expect("the children are at work")
    }

    fn listen(&mut self, lines: u32) {
        for _ in 0..lines {
            self.next();
        }
    }
}

/// A child process that does not outlive the test, however that ends.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn kill(process: &mut Process) {
    process.0.kill().unwrap();
    process.0.wait().unwrap();
}

/// Handles the messages that the last biller left in its inbox, and checks that each effect
/// happened once.
fn check(folder: &Path, starts: u32) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        biller::work_off(&Surroundings::of(folder.to_owned(), starts + 100)).await;
        let outbox = SqliteStore::open(folder.join("bank.db"), Default::default())
            .unwrap()
            .outbox();
        let inbox = SqliteStore::open(folder.join("biller.db"), Default::default())
            .unwrap()
            .inbox();
        let sent = outbox.counts(None).await.unwrap();
        let received = inbox.counts().await.unwrap();
        assert_eq!((sent.pending, sent.dead_letters), (0, 0));
        assert_eq!(
            (received.pending, received.dead_letters, received.completed),
            (0, 0, sent.delivered)
        );
    });
    let bank = Connection::open(folder.join("bank.db")).unwrap();
    let biller = Connection::open(folder.join("biller.db")).unwrap();
    let booked = counts(&bank, "SELECT number, 1 FROM entry", |number: u32| number);
    assert!(booked.len() > 10, "there was work to do");
    let effects = counts(
        &biller,
        "SELECT case_id, count(*) FROM effect GROUP BY case_id",
        |case: String| case.strip_prefix('C').unwrap().parse::<u32>().unwrap(),
    );
    assert_eq!(effects, booked, "one effect of each message");
    let mut expected = BTreeMap::new();
    for number in booked.keys() {
        *expected.entry(reference(*number)).or_default() += 1;
    }
    let imported = "SELECT reference, count(*) FROM imported GROUP BY reference";
    assert_eq!(
        counts(&biller, imported, |reference: Option<String>| reference),
        expected,
        "each entry once"
    );
    let ids = counts(
        &biller,
        "SELECT hex(id), count(*) FROM imported GROUP BY id",
        |id: String| id,
    );
    assert_eq!(ids.len(), booked.len(), "each entry has an id of its own");
    println!(
        "{} entries, {} messages, {starts} starts",
        booked.len(),
        effects.len()
    );
}

fn counts<F: rusqlite::types::FromSql, T: Ord>(
    connection: &Connection,
    query: &str,
    key: impl Fn(F) -> T,
) -> BTreeMap<T, u32> {
    let mut query = connection.prepare(query).unwrap();
    let rows = query
        .query_map([], |row| Ok((key(row.get(0)?), row.get(1)?)))
        .unwrap();
    rows.map(Result::unwrap).collect()
}

/// Writes keys, a certificate and the ports for the children.
fn prepare(folder: &Path) {
    let keys = Keys::generate();
    let assertion = SigningKey::generate(RsaSize::Rsa2048).unwrap();
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    // Both listeners are held at once, so that the ports differ.
    let ports = [(); 2].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let [bank, biller] = ports.map(|port| port.local_addr().unwrap().port().to_string());
    for (name, text) in [
        ("signing.pem", keys.signing.to_pkcs8_pem().as_str()),
        ("decryption.pem", keys.decryption.to_pkcs8_pem().as_str()),
        ("assertion.pem", assertion.to_pkcs8_pem().as_str()),
        ("certificate.pem", certified.cert.pem().as_str()),
        ("key.pem", certified.signing_key.serialize_pem().as_str()),
        ("bank-port", bank.as_str()),
        ("biller-port", biller.as_str()),
        (
            "began",
            SystemClock.now().unix_millis().to_string().as_str(),
        ),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
}

/// The environment of a child.
struct Surroundings {
    folder: PathBuf,
    keys: Keys,
    assertion: SigningKey,
    bank_port: u16,
    biller_port: u16,
    account: AccountId,
    clock: FastClock,
}

impl Surroundings {
    fn find() -> Self {
        let folder = std::env::var(FOLDER)
            .expect("the parent names the folder")
            .into();
        Self::of(
            folder,
            std::env::var(START)
                .expect("the parent counts the starts")
                .parse()
                .unwrap(),
        )
    }

    fn of(folder: PathBuf, starts: u32) -> Self {
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let keys = Keys {
            signing: SigningKey::from_pem(&read("signing.pem")).unwrap(),
            decryption: DecryptionKey::from_pem(&read("decryption.pem")).unwrap(),
        };
        let began = Timestamp::from_unix_millis(read("began").parse().unwrap()).unwrap();
        Self {
            keys,
            assertion: SigningKey::from_pem(&read("assertion.pem")).unwrap(),
            bank_port: read("bank-port").parse().unwrap(),
            biller_port: read("biller-port").parse().unwrap(),
            account: AccountId::parse(ACCOUNT).unwrap(),
            clock: FastClock { began, starts },
            folder,
        }
    }

    fn certificate(&self) -> Vec<u8> {
        std::fs::read(self.folder.join("certificate.pem")).unwrap()
    }

    fn tls(&self) -> rustls::ServerConfig {
        let key = std::fs::read(self.folder.join("key.pem")).unwrap();
        bankrail_http::serve::server_config(&self.certificate(), &key).unwrap()
    }
}

/// Prints a line in one write, so that it is whole or recognisably cut off.
fn print(line: &str) {
    std::io::stdout()
        .write_all(format!("{line}.\n").as_bytes())
        .unwrap();
}

fn random() -> u32 {
    use std::hash::{BuildHasher, Hasher};
    // The keys of a new hasher are the standard library's only source of randomness.
    let hash = std::hash::RandomState::new().build_hasher().finish();
    u32::try_from(hash >> 32).unwrap()
}
