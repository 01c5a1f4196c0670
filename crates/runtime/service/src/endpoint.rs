//! The steps that both endpoints have in common.

use crate::answer::Exchange;
use crate::audit::{AuditEvent, AuditOptions, AuditRecord};
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::{Customer, ProviderOptions};
use axum::extract::{Request, State};
use axum::response::Response;
use bankrail_http::{BodyError, Endpoint};
use bankrail_rate_limit::{CallType, Decision};
use bankrail_values::Timestamp;
use bytes::Bytes;
use http::HeaderMap;
use http::request::Parts;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// What the token endpoint and the statement endpoint do not have in common.
pub(crate) trait Serve: Send + Sync + 'static {
    /// The name in logs and metrics.
    const NAME: &'static str;
    /// The limit of a request that has proved to be the customer's.
    const LIMIT: CallType;
    /// What such a request has proved.
    type Proof: Send;

    /// The most bytes of a body.
    fn max_body(options: &ProviderOptions) -> usize;

    /// Proves the request to be the API key's customer's.
    fn prove(
        call: &Call<'_>,
        body: Result<Bytes, BodyError>,
    ) -> impl Future<Output = Result<Self::Proof, Refusal>> + Send;

    /// Does what the request asks for, and records it.
    fn work(
        call: &Call<'_>,
        proof: Self::Proof,
    ) -> impl Future<Output = Result<Response, Refusal>> + Send;
}

/// A call of a customer.
pub(crate) struct Call<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) exchange: &'a Exchange<'a>,
    pub(crate) customer: &'a Customer,
    pub(crate) headers: &'a HeaderMap,
    /// The instant at which everything is judged.
    pub(crate) now: Timestamp,
}

impl Call<'_> {
    async fn admit(
        &self,
        limit: CallType,
        with_headers: bool,
    ) -> Result<Option<Decision>, Refusal> {
        let admitted = self
            .shared
            .limiter
            .admit(self.customer.code.as_str(), limit, self.now)
            .await;
        admitted.map_err(|refusal| Refusal::Limit(refusal, with_headers))
    }

    /// Records what the request is given, if there is an audit. A failure of the log is logged in
    /// any case, and refuses the request unless the options say otherwise.
    pub(crate) async fn audit(
        &self,
        event: impl FnOnce(&AuditOptions) -> AuditEvent,
    ) -> Result<(), Refusal> {
        let Some((log, options)) = &self.shared.options.audit else {
            return Ok(());
        };
        let customer = self.customer.code.clone();
        let record = AuditRecord::new(self.now, self.exchange.key, customer, event(options));
        let recorded = log.record(&record).await;
        let recorded =
            recorded.inspect_err(|error| self.exchange.log_failure("audit log", error.kind()));
        recorded.or_else(|_| {
            if options.continues_after_failure() {
                Ok(())
            } else {
                Err(Refusal::Audit)
            }
        })
    }
}

struct Steps<'a, S> {
    shared: &'a Shared,
    exchange: &'a Exchange<'a>,
    of: PhantomData<S>,
}

impl<S: Serve> Steps<'_, S> {
    fn call<'a>(&'a self, customer: &'a Customer, head: &'a Parts, now: Timestamp) -> Call<'a> {
        Call {
            shared: self.shared,
            exchange: self.exchange,
            customer,
            headers: &head.headers,
            now,
        }
    }
}

impl<S: Serve> Endpoint for Steps<'_, S> {
    type Caller = Arc<Customer>;
    type Proof = S::Proof;
    type Answer = Response;
    type Refusal = Refusal;

    async fn identify(&self, head: &Parts) -> Result<Arc<Customer>, Refusal> {
        self.shared.customer_of(&head.headers).await
    }

    fn body_bounds(&self) -> (usize, Duration) {
        (
            S::max_body(&self.shared.options),
            self.shared.options.body_timeout,
        )
    }

    fn now(&self) -> Timestamp {
        self.shared.options.clock.now()
    }

    async fn prove(
        &self,
        customer: &Arc<Customer>,
        head: &Parts,
        body: Result<Bytes, BodyError>,
        now: Timestamp,
    ) -> Result<S::Proof, Refusal> {
        let call = self.call(customer, head, now);
        let refusal = match S::prove(&call, body).await {
            Ok(proof) => return Ok(proof),
            Err(refusal) => refusal,
        };
        let row = refusal.row(self.exchange.key, &self.shared.options);
        // A request that proves right is never charged to this budget, so that nobody who has only
        // the API key can shut the customer out. The same work was done, whatever is left of the
        // budget.
        if let Some(budget) = row.budget
            && let Err(limit) = call.admit(budget, false).await
        {
            self.exchange.log(&row, Some(&customer.code));
            return Err(limit);
        }
        Err(refusal)
    }

    async fn work(
        &self,
        customer: &Arc<Customer>,
        head: &Parts,
        proof: S::Proof,
        now: Timestamp,
    ) -> Result<Response, Refusal> {
        let call = self.call(customer, head, now);
        let decision = call
            .admit(S::LIMIT, self.shared.options.rate_limit_headers)
            .await?;
        let _ = self.exchange.admitted.set(decision);
        S::work(&call, proof).await
    }
}

/// Answers every request to the endpoint's path.
pub(crate) async fn handle<S: Serve>(
    State(shared): State<Arc<Shared>>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let exchange = Exchange::new(S::NAME, &head.extensions, &shared.options);
    let steps = Steps::<S> {
        shared: &shared,
        exchange: &exchange,
        of: PhantomData,
    };
    let (customer, served) = bankrail_http::serve(&steps, &head, body).await;
    exchange.finish(customer.map(|customer| customer.code.clone()), served)
}
