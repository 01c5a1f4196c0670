//! A server process for one test.

use bankrail_stores::CounterClock;
use bankrail_stores::redis::{RedisCounters, RedisCountersOptions};
use redis::aio::MultiplexedConnection;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The two servers on which each test runs.
pub(crate) const SERVERS: [&str; 2] = ["BANKRAIL_REDIS_SERVER", "BANKRAIL_VALKEY_SERVER"];

pub(super) fn patient() -> RedisCountersOptions {
    RedisCountersOptions::new().timeout(Duration::from_secs(20))
}

/// A server process, which is killed on drop.
pub(crate) struct Server {
    child: Child,
    program: String,
    options: Vec<String>,
    directory: tempfile::TempDir,
    pub(super) port: u16,
}

impl Server {
    pub(crate) async fn start(variable: &str) -> Self {
        Self::with_options(variable, &[]).await
    }

    pub(super) async fn with_options(variable: &str, options: &[&str]) -> Self {
        let program = std::env::var(variable)
            .unwrap_or_else(|_| panic!("{variable} names no server program"));
        let port = free_port();
        let directory = tempfile::tempdir().unwrap();
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        let child = spawn(&program, port, directory.path(), &options);
        let server = Self {
            child,
            program,
            options,
            directory,
            port,
        };
        server.ready().await;
        server
    }

    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Restarts the server on the same port, with the data that it saved.
    pub(super) async fn restart(&mut self) {
        self.start_again(&[]);
        self.ready().await;
    }

    /// Restarts the server with further options, without waiting until it is ready.
    pub(super) fn start_again(&mut self, further: &[&str]) {
        let further = further.iter().map(|option| (*option).to_owned());
        let options: Vec<String> = self.options.iter().cloned().chain(further).collect();
        self.child = spawn(&self.program, self.port, self.directory.path(), &options);
    }

    /// Sends `STOP` or `CONT`.
    pub(super) fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .arg(format!("-{name}"))
            .arg(self.child.id().to_string())
            .status();
        assert!(status.unwrap().success());
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    pub(super) fn counters(&self) -> RedisCounters {
        // Returns options with a long time-out, so that a busy machine fails only tests of
        // time-outs.
        RedisCounters::open(&self.url(), patient()).unwrap()
    }

    /// Counters by the callers' clocks.
    pub(crate) fn counters_by_callers(&self) -> RedisCounters {
        RedisCounters::open(&self.url(), patient().clock(CounterClock::Callers)).unwrap()
    }

    pub(crate) async fn connection(&self) -> MultiplexedConnection {
        redis::Client::open(self.url())
            .unwrap()
            .get_multiplexed_async_connection()
            .await
            .unwrap()
    }

    pub(super) async fn run<T: redis::FromRedisValue>(&self, words: &[&str]) -> T {
        let mut command = redis::cmd(words[0]);
        for word in &words[1..] {
            command.arg(*word);
        }
        command
            .query_async(&mut self.connection().await)
            .await
            .unwrap()
    }

    async fn ready(&self) {
        let started = Instant::now();
        let client = redis::Client::open(self.url()).unwrap();
        loop {
            if let Ok(mut connection) = client.get_multiplexed_async_connection().await {
                let pong: Result<String, _> = redis::cmd("PING").query_async(&mut connection).await;
                if pong.is_ok() {
                    return;
                }
            }
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "the server does not come up"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

pub(super) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(program: &str, port: u16, directory: &std::path::Path, options: &[String]) -> Child {
    Command::new(program)
        .args([
            "--port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
        ])
        .args([
            "--maxmemory-policy",
            "noeviction",
            "--enable-debug-command",
            "local",
        ])
        .args(options)
        .current_dir(directory)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}
