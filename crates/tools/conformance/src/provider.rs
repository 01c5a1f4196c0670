//! The judge of a provider.

mod body;
mod book;
mod budget;
mod checks;
mod forge;
mod judge;
mod late;
mod limits;
mod narrative;
mod options;
mod paging;
mod payload;
mod refusals;
mod statement;
mod target;
mod test_accounts;
mod token;
mod windows;
mod wire;

pub use budget::{Budget, BudgetError};
pub use options::{CallsLeft, ProviderJudgeOptions};
pub use target::Customer;

use crate::client::client;
use crate::error::JudgeError;
use crate::judgement::Judgement;
use bankrail_jose::SigningKey;
use forge::Keys;
use judge::Judge;
use std::fmt;
use target::Target;

/// Judges a provider by the clauses of the specification that can be seen from outside.
///
/// It calls the provider's two endpoints over HTTPS as a customer does, rightly and wrongly. Every
/// call counts against the customer's limits, so the calls are bounded by a [`Budget`], the most
/// important ones first. What the budget did not last for is
/// [`Verdict::NotRun`](crate::Verdict::NotRun). A call that is answered 429 is repeated after its
/// `Retry-After` if that is within [`ProviderJudgeOptions::wait`].
pub struct ProviderJudge(Judge);

const NO_TOKEN: &str =
    "no access token was received: check the API key, the customer code, its key and the audience";

impl ProviderJudge {
    /// A judge of the provider at this address, in the name of a customer whose assertions this key
    /// signs.
    ///
    /// # Errors
    /// [`JudgeError`] if an address is not one to call, the customer has no account, or the keys or
    /// the certificates to trust are unusable.
    pub fn new(
        url: &str,
        customer: Customer,
        signing_key: &SigningKey,
        options: ProviderJudgeOptions,
    ) -> Result<Self, JudgeError> {
        let target = Target::new(url, customer, &options)?;
        let client = client(&options.roots, wire::TIMEOUT)?;
        Ok(Self(Judge::new(
            target,
            Keys::new(signing_key, options.second_signing_key.as_ref())?,
            client,
            options,
        )))
    }

    /// Makes the calls: first one token and the statements, then what must be refused, then what
    /// uses up the budget.
    ///
    /// # Errors
    /// [`JudgeError`] if nobody answers, a request cannot be made, or no row is selected.
    pub async fn judge(self) -> Result<Judgement, JudgeError> {
        let mut judge = self.0;
        token::judge_first(&mut judge).await?;
        late::metadata(&mut judge).await;
        if judge.bearer.is_none() {
            // A refusal would show nothing, because what is right is refused too.
            judge.blocked = Some(NO_TOKEN);
        }
        let mut statements = statement::judge(&mut judge).await?;
        book::judge(&mut judge, &mut statements).await;
        payload::judge(&mut judge, &statements);
        test_accounts::judge(&mut judge, &statements);
        narrative::judge(&mut judge, &statements).await?;
        paging::judge(&mut judge, &statements).await?;
        refusals::judge_statements(&mut judge).await?;
        refusals::judge_tokens(&mut judge).await?;
        late::other_scope(&mut judge).await?;
        late::request_keys(&mut judge);
        late::end_of_token(&mut judge).await?;
        limits::judge(&mut judge).await?;
        windows::judge(&mut judge).await?;
        let address = judge.target.base_url.to_string();
        Judgement::new("provider", address, judge.rows, judge.blocked, judge.seed)
    }
}

impl fmt::Debug for ProviderJudge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ProviderJudge").finish_non_exhaustive()
    }
}
