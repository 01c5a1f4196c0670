//! A signing key behind a socket.

use crate::shared::{DECRYPTION, SIGNING};
use bankrail_jose::jws::{self, JwsHeader, VerifyOptions};
use bankrail_jose::remote::{
    DecryptionOutcome, RemoteDecrypter, RemoteError, RemoteFuture, RemoteSigner, SignRequest,
};
use bankrail_jose::{
    DecryptionKey, EncryptionKey, KeySet, Keyed as _, RsaSize, SignError, SigningKey, VerifyingKey,
};
use std::future::Future;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Answers each connection: reads the bytes to sign, writes the signature.
fn serve(listener: TcpListener, answer: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) {
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut message = Vec::new();
            stream.read_to_end(&mut message).unwrap();
            stream.write_all(&answer(&message)).unwrap();
        }
    });
}

#[derive(Debug)]
struct Loopback {
    address: SocketAddr,
    key: VerifyingKey,
}

impl RemoteSigner for Loopback {
    fn verifying_key(&self) -> VerifyingKey {
        self.key.clone()
    }

    fn sign<'a>(&'a self, request: SignRequest<'a>) -> RemoteFuture<'a, Vec<u8>> {
        let (address, message) = (self.address, request.message().to_vec());
        let (sender, receiver) = channel();
        let waker = Arc::new(Mutex::new(None::<Waker>));
        let wake = Arc::clone(&waker);
        thread::spawn(move || {
            let exchange = || -> std::io::Result<Vec<u8>> {
                let mut stream = TcpStream::connect(address)?;
                stream.write_all(&message)?;
                stream.shutdown(std::net::Shutdown::Write)?;
                let mut signature = Vec::new();
                stream.read_to_end(&mut signature)?;
                Ok(signature)
            };
            let _ = sender.send(exchange().map_err(RemoteError::retryable));
            if let Some(waker) = wake.lock().unwrap().take() {
                waker.wake();
            }
        });
        Box::pin(Answer {
            receiver: Mutex::new(receiver),
            waker,
        })
    }
}

struct Answer {
    receiver: Mutex<Receiver<Result<Vec<u8>, RemoteError>>>,
    waker: Arc<Mutex<Option<Waker>>>,
}

impl Future for Answer {
    type Output = Result<Vec<u8>, RemoteError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        *self.waker.lock().unwrap() = Some(context.waker().clone());
        match self.receiver.lock().unwrap().try_recv() {
            Ok(answer) => Poll::Ready(answer),
            Err(_) => Poll::Pending,
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

fn remote(answer: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) -> Arc<dyn RemoteSigner> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    serve(listener, answer);
    Arc::new(Loopback {
        address,
        key: SIGNING.verifying_key().with_kid("hsm"),
    })
}

#[test]
fn a_remote_key_signs() {
    let signer = remote(|message| SIGNING.sign(message).unwrap());
    let token = block_on(jws::sign_remote(&signer, &JwsHeader::new(), b"{}")).unwrap();
    let verified = jws::verify(&token, &signer.verifying_key(), &VerifyOptions::default()).unwrap();
    assert_eq!(
        (verified.payload(), verified.header().kid()),
        (&b"{}"[..], Some("hsm"))
    );
}

#[test]
fn a_slow_key_does_not_block_another_one() {
    let (answer_now, told) = channel();
    let told = Mutex::new(told);
    let slow = remote(move |message| {
        told.lock().unwrap().recv().unwrap();
        SIGNING.sign(message).unwrap()
    });
    let quick = remote(|message| SIGNING.sign(message).unwrap());
    let header = JwsHeader::new();
    let mut waiting = pin!(jws::sign_remote(&slow, &header, b"{}"));
    let mut asked_again = || {
        waiting
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
    };
    assert!(asked_again().is_pending());
    let token = block_on(jws::sign_remote(&quick, &header, b"{}")).unwrap();
    assert!(
        asked_again().is_pending(),
        "the slow key was not told to answer"
    );
    answer_now.send(()).unwrap();
    assert_eq!(block_on(waiting).unwrap(), token, "RS256 is deterministic");
}

#[test]
fn an_invalid_signature_of_the_remote_key_is_refused() {
    let signer = remote(|message| {
        let mut faulty = SIGNING.sign(message).unwrap();
        faulty[100] ^= 1;
        faulty
    });
    let refused = block_on(jws::sign_remote(&signer, &JwsHeader::new(), b"{}"));
    assert!(matches!(refused, Err(SignError::NotThisKey)));
}

#[test]
fn an_unreachable_key_is_a_retryable_local_fault() {
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let signer = Loopback {
        address,
        key: SIGNING.verifying_key(),
    };
    match block_on(jws::sign_remote(&signer, &JwsHeader::new(), b"{}")) {
        Err(SignError::Remote(error)) => assert!(error.is_retryable()),
        other => panic!("{other:?}"),
    }
}

/// A service that signs with its current key, and replaces the key each time that the public half
/// has been read `replaced_after` times.
#[derive(Debug)]
struct Rotating {
    keys: [SigningKey; 2],
    looks: AtomicUsize,
    replaced_after: usize,
}

impl Rotating {
    fn current(&self) -> &SigningKey {
        &self.keys[self.looks.load(Ordering::SeqCst) / self.replaced_after % 2]
    }
}

impl RemoteSigner for Rotating {
    fn verifying_key(&self) -> VerifyingKey {
        let key = self.current().verifying_key();
        assert!(
            self.looks.fetch_add(1, Ordering::SeqCst) < 100,
            "a key is asked for ever"
        );
        key
    }

    fn sign<'a>(&'a self, request: SignRequest<'a>) -> RemoteFuture<'a, Vec<u8>> {
        Box::pin(async move {
            self.current()
                .sign(request.message())
                .map_err(RemoteError::permanent)
        })
    }
}

#[test]
fn a_key_that_is_replaced_before_it_signs_signs_under_its_own_name() {
    let other = SigningKey::generate(RsaSize::Rsa2048).unwrap();
    let keys = || {
        [
            SIGNING.clone().with_kid("old"),
            other.clone().with_kid("new"),
        ]
    };
    let rotating = Rotating {
        keys: keys(),
        looks: AtomicUsize::new(6),
        replaced_after: 7,
    };
    let token = block_on(jws::sign_remote(&rotating, &JwsHeader::new(), b"{}")).unwrap();
    let both = KeySet::new(keys().map(|key| key.verifying_key())).unwrap();
    let verified = jws::verify(&token, &both, &VerifyOptions::default()).unwrap();
    assert_eq!(
        (verified.header().kid(), verified.key().kid()),
        (Some("new"), Some("new"))
    );
    // A key that changes with each call ends in an error, not in endless retries.
    let restless = Rotating {
        keys: keys(),
        looks: AtomicUsize::new(0),
        replaced_after: 1,
    };
    let refused = block_on(jws::sign_remote(&restless, &JwsHeader::new(), b"{}"));
    assert!(matches!(refused, Err(SignError::NotThisKey)), "{refused:?}");
}

#[test]
fn a_service_that_signs_digests_gets_the_one_of_sha_256() {
    // FIPS 180-4, the example "abc".
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let request = SignRequest::new(b"abc");
    assert_eq!(request.message(), b"abc");
    assert_eq!(
        request.digest().map(|byte| format!("{byte:02x}")).concat(),
        expected
    );
}

#[test]
fn an_error_of_a_key_service_tells_its_cause_and_whether_a_retry_can_help() {
    for (error, retryable) in [
        (RemoteError::retryable("busy"), true),
        (RemoteError::permanent("busy"), false),
    ] {
        assert_eq!(
            (error.is_retryable(), error.cause().to_string().as_str()),
            (retryable, "busy")
        );
        assert_eq!(error.to_string(), "the key service could not be used");
    }
}

#[derive(Debug)]
struct Local(DecryptionKey, EncryptionKey);

impl RemoteDecrypter for Local {
    fn encryption_key(&self) -> &EncryptionKey {
        &self.1
    }

    fn decrypt<'a>(&'a self, encrypted: &'a [u8]) -> RemoteFuture<'a, DecryptionOutcome> {
        let found = self.0.decrypt(encrypted);
        Box::pin(async move {
            Ok(found.map_or(DecryptionOutcome::CannotDecrypt, DecryptionOutcome::Key))
        })
    }
}

#[test]
fn a_remote_key_decrypts_under_the_name_of_its_public_half() {
    let key = DECRYPTION.clone().with_kid("hsm");
    let remote: Arc<dyn RemoteDecrypter> = Arc::new(Local(key.clone(), key.encryption_key()));
    assert_eq!(
        (remote.kid(), remote.encryption_key()),
        (Some("hsm"), &key.encryption_key())
    );
    let encrypted = remote.encryption_key().encrypt(b"secret").unwrap();
    let outcome = |encrypted: &[u8]| block_on(remote.decrypt(encrypted)).unwrap();
    assert_eq!(
        (
            outcome(&encrypted).bytes(),
            outcome(&encrypted[1..]).bytes()
        ),
        (&b"secret"[..], &b""[..])
    );
    let printed =
        [outcome(&encrypted), outcome(&encrypted[1..])].map(|outcome| format!("{outcome:?}"));
    assert_eq!(
        printed[0], printed[1],
        "it does not print whether there is a key"
    );
}
