//! The network: requests and answers are late, lost, cut and doubled, and overtake each other.

use crate::model::Model;
use crate::node::{Life, Node};
use crate::world::{Fault, World};
use bankrail_client::simulation::{Network as ClientNetwork, Sending};
use bankrail_service::delivery::{
    Transport, TransportErrorKind, TransportFuture, TransportRequest, TransportResponse,
};
use bankrail_webhook::Acknowledgement;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use std::future::pending;
use std::io;
use std::sync::Arc;

/// The way from one process to the nodes behind an address.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) life: Arc<Life>,
    pub(crate) model: Arc<Model>,
    pub(crate) to: [Arc<Node>; 2],
}

/// The reason why there is no answer.
enum NoAnswer {
    Refused,
    Broken,
    /// Only a part of the answer, with this status.
    Torn(Response<Bytes>),
}

impl Way {
    fn world(&self) -> &World {
        &self.life.node.world
    }

    fn fault(&self, name: &'static str) {
        self.world().mark(format_args!("network: {name}"));
        self.world()
            .note(format_args!("{:?} network: {name}", self.life));
    }

    /// The time that a request or an answer takes.
    async fn travel(&self) {
        let slow = self.world().happens(Fault::Slow);
        if slow {
            self.fault("slow");
        }
        let takes = self.world().millis(if slow { 25_000 } else { 20 });
        tokio::time::sleep(takes).await;
        self.life.go_on().await;
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, NoAnswer> {
        self.life.go_on().await;
        if self.world().is_cut() {
            self.fault("cut");
            return Err(NoAnswer::Refused);
        }
        if self.world().happens(Fault::Refused) {
            self.fault("refused");
            return Err(NoAnswer::Refused);
        }
        self.travel().await;
        if self.world().happens(Fault::Lost) {
            match self.world().below(2) {
                0 => {
                    self.fault("request lost");
                    return Err(NoAnswer::Broken);
                }
                _ => {
                    self.fault("hangs");
                    pending::<()>().await;
                }
            }
        }
        // Often, because its answers are of many kinds, of which some stop an endpoint.
        if self.world().happens_often(Fault::Proxy, 4) {
            return Ok(self.proxy());
        }
        if self.world().happens(Fault::Twice) {
            self.fault("twice");
            // Also after a time in which clocks have been set.
            let most =
                [20_000, 90_000, 600_000][usize::try_from(self.world().below(3)).unwrap_or(0)];
            let (again, late) = (request.clone(), self.world().millis(most));
            let node = self.some_node();
            // The network is no part of the process: the copy arrives even if that ends.
            tokio::spawn(async move {
                tokio::time::sleep(late).await;
                if let Some(answered) = node.visit(again) {
                    // Its answer reaches nobody.
                    let _ = answered.await;
                }
            });
        }
        let answered = self.some_node().visit(request).ok_or(NoAnswer::Refused)?;
        let answer = answered.await.map_err(|_| NoAnswer::Broken)?;
        self.travel().await;
        if self.world().happens(Fault::LostAnswer) {
            match self.world().below(2) {
                0 => {
                    self.fault("answer lost");
                    return Err(NoAnswer::Broken);
                }
                _ => {
                    self.fault("answer hangs");
                    pending::<()>().await;
                }
            }
        }
        if self.world().happens(Fault::Torn) {
            self.fault("answer torn");
            return Err(NoAnswer::Torn(answer.map(|body| {
                let length = u64::try_from(body.len()).unwrap_or(0);
                let kept = usize::try_from(self.world().below(length)).unwrap_or(0);
                body.slice(..kept)
            })));
        }
        Ok(answer)
    }

    /// Returns one of the two nodes, and mostly the other one while that is down.
    fn some_node(&self) -> Arc<Node> {
        let first = usize::try_from(self.world().below(2)).unwrap_or(0);
        let [one, other] = &self.to;
        let (first, second) = if first == 0 {
            (one, other)
        } else {
            (other, one)
        };
        let balanced = first.is_up() || self.world().below(4) == 0;
        Arc::clone(if balanced { first } else { second })
    }

    /// The answer of a proxy in between.
    fn proxy(&self) -> Response<Bytes> {
        self.fault("proxy answers");
        let (status, retry_after, body) = match self.world().below(18) / 2 {
            0 => (503, Some("30"), "busy"),
            1 => (429, Some("120"), ""),
            2 => (502, None, "<html>bad gateway</html>"),
            3 => (200, None, "<html>maintenance</html>"),
            // Often, because a stopped endpoint is rare otherwise.
            4..=6 => (410, None, ""),
            // Seldom, because everything waits for it.
            7 if self.world().below(2) == 0 => (503, Some("7200"), ""),
            _ => (500, None, ""),
        };
        let mut response = Response::new(Bytes::from_static(body.as_bytes()));
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
        let headers = response.headers_mut();
        headers.insert("content-type", HeaderValue::from_static("text/html"));
        if let Some(wait) = retry_after {
            headers.insert("retry-after", HeaderValue::from_static(wait));
        }
        self.world().note(format_args!(
            "{:?} proxy: {status} {retry_after:?}",
            self.life
        ));
        response
    }

    /// The other receiver, which stores nothing: it acknowledges what reaches it.
    async fn other(&self, headers: &HeaderMap) -> Result<Response<Bytes>, NoAnswer> {
        self.life.go_on().await;
        if self.world().happens(Fault::Refused) {
            self.fault("other refused");
            return Err(NoAnswer::Refused);
        }
        self.travel().await;
        if self.world().happens(Fault::Lost) {
            self.fault("other hangs");
            pending::<()>().await;
        }
        if self.world().happens(Fault::Proxy) {
            return Ok(self.proxy());
        }
        self.model.acknowledged(headers);
        self.travel().await;
        let acknowledgement = Acknowledgement::from_random_bytes([7; 16]).to_json();
        Ok(Response::new(acknowledgement.into()))
    }
}

impl Transport for Way {
    fn post(&self, request: TransportRequest) -> TransportFuture<'_> {
        Box::pin(async move {
            let answer = if request.url.host_str() == Some("other.example") {
                self.other(&request.headers).await
            } else {
                let mut sent = Request::new(request.body);
                *sent.method_mut() = http::Method::POST;
                *sent.uri_mut() = request.url.path().parse().unwrap_or_default();
                *sent.headers_mut() = request.headers;
                self.send(sent).await
            };
            let (head, body) = match answer {
                Ok(answer) => answer.into_parts(),
                // As a transport that reads to the end of the connection would take it.
                Err(NoAnswer::Torn(part)) if self.world().below(2) == 0 => part.into_parts(),
                Err(NoAnswer::Torn(_) | NoAnswer::Broken) => {
                    return Err(TransportErrorKind::Broken.into());
                }
                Err(NoAnswer::Refused) => return Err(TransportErrorKind::Connect.into()),
            };
            Ok(TransportResponse::new(head.status, head.headers, body))
        })
    }
}

impl ClientNetwork for Way {
    fn send(&self, request: Request<Bytes>) -> Sending<'_> {
        Box::pin(async move {
            let (mut head, body) = request.into_parts();
            head.uri = head.uri.path().parse().unwrap_or_default();
            let sent = Self::send(self, Request::from_parts(head, body)).await;
            sent.map_err(|error| -> io::Error {
                match error {
                    NoAnswer::Refused => io::ErrorKind::ConnectionRefused.into(),
                    NoAnswer::Torn(_) => io::ErrorKind::UnexpectedEof.into(),
                    NoAnswer::Broken => io::ErrorKind::ConnectionReset.into(),
                }
            })
        })
    }
}
