//! Sender and receiver are processes of their own that talk HTTPS on loopback, each with its SQLite file, and are
//! killed in the middle of their work: nothing that was enqueued is lost, and each effect within the inbox's
//! transaction happens once.
//!
//! The parent starts this binary again as the two, reads what they print, and kills one of them, or both, after a
//! random number of lines. Ten times, or `BANKRAIL_KILLS`. The children's clock is a minute further with each start, so
//! that what the dead had under lease is free.

mod receiver;
mod sender;

use crate::both::Keys;
use bankrail_mailbox::{Inbox, Outbox};
use bankrail_stores::sqlite::{SqliteStore, rusqlite};
use bankrail_values::{Clock, SystemClock, Timestamp};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

const FOLDER: &str = "BANKRAIL_KILLS_FOLDER";
const START: &str = "BANKRAIL_KILLS_START";
const NEXT: &str = "BANKRAIL_KILLS_NEXT";

/// What a child printed, or that it ended.
enum Said {
    /// The message of this number is durable in the outbox.
    Enqueued(u32),
    /// A handler was at work.
    Handling,
    /// The receiver accepts connections.
    Ready,
    /// The outbox is empty.
    Drained,
}

#[test]
fn nothing_is_lost_and_effects_happen_once() {
    let kills: u32 = std::env::var("BANKRAIL_KILLS").map_or(10, |kills| kills.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let (say, said) = channel();
    let mut world = World { folder: folder.path().to_owned(), say, said, starts: 0, enqueued: BTreeSet::new() };
    let mut receiver = world.start_receiver();
    let mut sender = world.start_sender(false);
    let mut killed = 0;
    while killed < kills {
        world.listen(1 + random() % 40);
        let victim = random() % 5;
        // 0 and 1: the receiver; 2 and 3: the sender; 4: both.
        if !matches!(victim, 0 | 1) {
            kill(&mut sender);
            killed += 1;
        }
        if !matches!(victim, 2 | 3) {
            kill(&mut receiver);
            killed += 1;
            receiver = world.start_receiver();
        }
        if !matches!(victim, 0 | 1) {
            sender = world.start_sender(false);
        }
    }
    kill(&mut sender);
    let mut sender = world.start_sender(true);
    while !matches!(world.next(), Said::Drained) {}
    assert!(sender.0.wait().unwrap().success());
    kill(&mut receiver);
    check(folder.path(), &world.enqueued);
}

struct World {
    folder: PathBuf,
    say: Sender<Said>,
    said: Receiver<Said>,
    starts: u32,
    enqueued: BTreeSet<u32>,
}

impl World {
    fn start_receiver(&mut self) -> Process {
        let child = self.start("kills::receiver::process", &[]);
        while !matches!(self.next(), Said::Ready) {}
        child
    }

    /// Goes on with the numbers after those that are known to be enqueued; `drain`: enqueues nothing more.
    fn start_sender(&mut self, drain: bool) -> Process {
        let next = self.enqueued.last().map_or(0, |last| last + 1);
        let next = if drain { "drain".to_owned() } else { next.to_string() };
        self.start("kills::sender::process", &[(NEXT, next)])
    }

    fn start(&mut self, test: &str, variables: &[(&str, String)]) -> Process {
        self.starts += 1;
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--ignored", "--nocapture"])
            .env(FOLDER, &self.folder)
            .env(START, self.starts.to_string())
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (lines, say) = (BufReader::new(child.stdout.take().unwrap()).lines(), self.say.clone());
        // Reads on after a kill: what was printed before it counts too.
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let said = match line.strip_suffix('.').and_then(|line| line.split_once(' ')) {
                    Some(("enqueued", number)) => Said::Enqueued(number.parse().unwrap()),
                    Some(("handling", _)) => Said::Handling,
                    Some(("ready", _)) => Said::Ready,
                    Some(("drained", _)) => Said::Drained,
                    // The harness's own, or cut off by the kill.
                    _ => continue,
                };
                // The parent may be done.
                let _ = say.send(said);
            }
        });
        Process(child)
    }

    fn next(&mut self) -> Said {
        let said = self.said.recv_timeout(Duration::from_secs(60)).expect("the children are at work");
        if let Said::Enqueued(number) = said {
            self.enqueued.insert(number);
        }
        said
    }

    fn listen(&mut self, lines: u32) {
        for _ in 0..lines {
            self.next();
        }
    }
}

/// Does not outlive the test, however that ends.
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

/// Everything is delivered; what the last receiver left in its inbox is handled here.
fn check(folder: &Path, enqueued: &BTreeSet<u32>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let clock = LaterClock(Duration::from_secs(1_000_000));
        receiver::work_off(folder, clock).await;
        let outbox = SqliteStore::open(folder.join("outbox.db")).unwrap().outbox();
        let inbox = SqliteStore::open(folder.join("inbox.db")).unwrap().inbox();
        let sent = outbox.counts(None).await.unwrap();
        let received = inbox.counts().await.unwrap();
        assert_eq!((sent.pending, sent.dead_letters), (0, 0));
        assert_eq!((received.pending, received.dead_letters, received.completed), (0, 0, sent.delivered));
    });
    let connection = rusqlite::Connection::open(folder.join("inbox.db")).unwrap();
    let mut effects = connection.prepare("SELECT case_id, count(*) FROM effect GROUP BY case_id").unwrap();
    let mut seen = BTreeSet::new();
    for row in effects.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, u32>(1)?))).unwrap() {
        let (case, count) = row.unwrap();
        assert_eq!(count, 1, "the effect of {case}");
        seen.insert(case.strip_prefix('C').unwrap().parse::<u32>().unwrap());
    }
    let lost: Vec<_> = enqueued.difference(&seen).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    assert!(enqueued.len() > 10, "there was work to do");
}

/// Keys, a certificate and a port that the children find again.
fn prepare(folder: &Path) {
    let keys = Keys::generate();
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (name, text) in [
        ("signing.pem", keys.signing.to_pkcs8_pem().as_str()),
        ("decryption.pem", keys.decryption.to_pkcs8_pem().as_str()),
        ("certificate.pem", certified.cert.pem().as_str()),
        ("key.pem", certified.signing_key.serialize_pem().as_str()),
        ("port", port.to_string().as_str()),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
}

/// What a child finds.
struct Surroundings {
    folder: PathBuf,
    keys: Keys,
    port: u16,
    clock: LaterClock,
}

impl Surroundings {
    fn find() -> Self {
        let folder = PathBuf::from(std::env::var(FOLDER).expect("the parent names the folder"));
        let starts: u64 = std::env::var(START).expect("the parent counts the starts").parse().unwrap();
        let clock = LaterClock(Duration::from_secs(60 * starts));
        let keys = Keys {
            signing: bankrail_jose::SigningKey::from_pem(&read(&folder, "signing.pem")).unwrap(),
            decryption: bankrail_jose::DecryptionKey::from_pem(&read(&folder, "decryption.pem")).unwrap(),
        };
        let port = read(&folder, "port").parse().unwrap();
        Self { folder, keys, port, clock }
    }
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// The system's clock, put forward.
#[derive(Clone, Copy, Debug)]
struct LaterClock(Duration);

impl Clock for LaterClock {
    fn now(&self) -> Timestamp {
        SystemClock.now().saturating_add(self.0)
    }
}

/// In one write, so that a line is whole or recognisably cut off.
fn print(line: String) {
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}

fn random() -> u32 {
    use std::hash::{BuildHasher, Hasher};
    // The standard library's only source of randomness: a new hasher's keys.
    let hash = std::hash::RandomState::new().build_hasher().finish();
    u32::try_from(hash >> 32).unwrap()
}
