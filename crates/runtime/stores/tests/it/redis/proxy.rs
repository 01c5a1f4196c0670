//! A proxy between a client and its server, which loses answers.

use super::server::Server;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A proxy that forwards both directions, until a test has it withhold the server's answers.
pub(super) struct Proxy {
    pub(super) port: u16,
    pub(super) deaf: Arc<AtomicBool>,
}

impl Proxy {
    pub(super) fn before(server: &Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, server) = (listener.local_addr().unwrap().port(), server.port);
        let deaf = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&deaf);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                let upstream = TcpStream::connect(("127.0.0.1", server)).unwrap();
                let (to, from) = (upstream.try_clone().unwrap(), client.try_clone().unwrap());
                std::thread::spawn(move || hand_on(from, to, &AtomicBool::new(false)));
                let deaf = Arc::clone(&shared);
                std::thread::spawn(move || hand_on(upstream, client, &deaf));
            }
        });
        Self { port, deaf }
    }
}

fn hand_on(mut from: TcpStream, mut to: TcpStream, deaf: &AtomicBool) {
    let mut bytes = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        if !deaf.load(Ordering::SeqCst) && to.write_all(&bytes[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
