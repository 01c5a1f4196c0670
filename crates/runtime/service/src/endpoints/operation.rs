//! The steps that both endpoints have in common.

use super::answer::Exchange;
use super::api_key::customer_of;
use super::audit::{AuditEvent, AuditOptions, AuditRecord};
use super::refusal::Refusal;
use super::{Customer, ProviderOptions, ProviderState};
use axum::extract::{Request, State};
use axum::response::Response;
use bankrail_http::__private::{BodyError, Endpoint};
use bankrail_rate_limit::{CallType, Decision};
use bankrail_values::Timestamp;
use bytes::Bytes;
use http::HeaderMap;
use http::request::Parts;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// The operation of an endpoint: the steps in which the token endpoint and the statement endpoint
/// differ. [`Steps`] takes both through the common steps of [`bankrail_http::__private::serve()`].
pub(crate) trait Operation: Send + Sync + 'static {
    /// The name in logs and metrics.
    const NAME: &'static str;
    /// The limit that a request counts against once it has proved to be the customer's.
    const LIMIT: CallType;
    /// The input of [`Operation::perform`].
    type Input: Send;

    /// Returns the maximum number of bytes of a body.
    fn max_body_bytes(options: &ProviderOptions) -> usize;

    /// Authenticates the request as the API key's customer's.
    fn authenticate(
        call: &Call<'_>,
        body: Result<Bytes, BodyError>,
    ) -> impl Future<Output = Result<Self::Input, Refusal>> + Send;

    /// Performs the request, which was charged to its limit, and records it.
    fn perform(
        call: &Call<'_>,
        input: Self::Input,
    ) -> impl Future<Output = Result<Response, Refusal>> + Send;
}

/// A call of a customer.
pub(crate) struct Call<'a> {
    pub(crate) provider: &'a ProviderState,
    pub(crate) exchange: &'a Exchange<'a>,
    pub(crate) customer: &'a Customer,
    pub(crate) headers: &'a HeaderMap,
    /// The instant at which all parts of the request are judged.
    pub(crate) now: Timestamp,
}

impl Call<'_> {
    async fn admit(
        &self,
        limit: CallType,
        with_headers: bool,
    ) -> Result<Option<Decision>, Refusal> {
        let admitted = self
            .provider
            .limiter
            .admit(self.customer.code.as_str(), limit, self.now)
            .await;
        admitted.map_err(|refusal| Refusal::Limit(refusal, with_headers))
    }

    /// Records the event, if there is an audit. A failure of the audit log is always logged, and
    /// refuses the request unless the options let it pass.
    pub(crate) async fn audit(
        &self,
        event: impl FnOnce(&AuditOptions) -> AuditEvent,
    ) -> Result<(), Refusal> {
        let Some((log, options)) = &self.provider.options.audit else {
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
    provider: &'a ProviderState,
    exchange: &'a Exchange<'a>,
    of: PhantomData<S>,
}

impl<S: Operation> Steps<'_, S> {
    fn call<'a>(&'a self, customer: &'a Customer, head: &'a Parts, now: Timestamp) -> Call<'a> {
        Call {
            provider: self.provider,
            exchange: self.exchange,
            customer,
            headers: &head.headers,
            now,
        }
    }
}

impl<S: Operation> Endpoint for Steps<'_, S> {
    type Caller = Arc<Customer>;
    type Proof = S::Input;
    type Answer = Response;
    type Refusal = Refusal;

    async fn identify(&self, head: &Parts) -> Result<Arc<Customer>, Refusal> {
        customer_of(&head.headers, &*self.provider.directory).await
    }

    fn caller_name<'a>(&self, customer: &'a Arc<Customer>) -> &'a str {
        customer.code.as_str()
    }

    fn body_bounds(&self) -> (usize, Duration) {
        (
            S::max_body_bytes(&self.provider.options),
            self.provider.options.body_timeout,
        )
    }

    fn now(&self) -> Timestamp {
        self.provider.options.clock.now()
    }

    async fn prove(
        &self,
        customer: &Arc<Customer>,
        head: &Parts,
        body: Result<Bytes, BodyError>,
        now: Timestamp,
    ) -> Result<S::Input, Refusal> {
        let call = self.call(customer, head, now);
        let refusal = match S::authenticate(&call, body).await {
            Ok(input) => return Ok(input),
            Err(refusal) => refusal,
        };
        let row = refusal.row(self.exchange.key, &self.provider.options);
        // Only requests that fail are charged to this budget: otherwise an attacker with the API
        // key alone could use up the customer's limit. The same work was done for every rest of the
        // budget, so that the answer's time reveals nothing.
        if let Some(budget) = row.budget
            && let Err(limit) = call.admit(budget, false).await
        {
            row.log(self.exchange, Some(&customer.code));
            return Err(limit);
        }
        Err(refusal)
    }

    async fn work(
        &self,
        customer: &Arc<Customer>,
        head: &Parts,
        input: S::Input,
        now: Timestamp,
    ) -> Result<Response, Refusal> {
        let call = self.call(customer, head, now);
        let decision = call
            .admit(S::LIMIT, self.provider.options.rate_limit_headers)
            .await?;
        // Set once for each request; a second decision cannot come.
        let _ = self.exchange.admitted.set(decision);
        S::perform(&call, input).await
    }
}

/// Answers every request to the endpoint's path.
pub(crate) async fn handle<S: Operation>(
    State(provider): State<Arc<ProviderState>>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let exchange = Exchange::new(S::NAME, &head.extensions, &provider.options);
    let steps = Steps::<S> {
        provider: &provider,
        exchange: &exchange,
        of: PhantomData,
    };
    let (customer, served) = bankrail_http::__private::serve(&steps, &head, body).await;
    exchange.finish(customer.map(|customer| customer.code.clone()), served)
}
