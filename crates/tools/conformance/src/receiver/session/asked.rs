//! Judges a row by the answers to its deliveries.

use super::{MAX_SILENT_CALLS, ReceiverJudge};
use crate::error::JudgeError;
use crate::receiver::answers::looks;
use crate::receiver::rows::Expected;
use crate::receiver::{Delivery, describe};
use crate::row::{Verdict, listed};
use std::collections::HashSet;

impl ReceiverJudge {
    /// Makes a row's deliveries, and judges the answers by what the row expects.
    pub(super) async fn ask(
        &mut self,
        expected: Expected,
        deliveries: &[Delivery],
    ) -> Result<Verdict, JudgeError> {
        match expected {
            Expected::Acknowledged => self.each(true, deliveries).await,
            Expected::Known | Expected::Same | Expected::Other => {
                let verdict = self.each(true, deliveries).await?;
                Ok(self.by_ids(verdict, expected, deliveries))
            }
            Expected::Together => self.together(deliveries).await,
            Expected::Judged => Ok(self.judged(deliveries).await),
            Expected::Open => Ok(match self.each(false, deliveries).await? {
                Verdict::Failed(why) => Verdict::Noted(why),
                verdict => verdict,
            }),
            Expected::Refused => self.each(false, deliveries).await,
            Expected::Alike => Ok(self.alike(deliveries).await),
            Expected::Survived => self.survives(true, deliveries).await,
            Expected::SurvivedAndRefused => self.survives(false, deliveries).await,
        }
    }

    /// Returns `Passed` if each of these deliveries is acknowledged, or if none is.
    pub(super) async fn each(
        &mut self,
        acknowledged: bool,
        deliveries: &[Delivery],
    ) -> Result<Verdict, JudgeError> {
        // Drops the ids of the previous row, which must not be compared with those of this one.
        let mut faults = Vec::new();
        self.ids.clear();
        for delivery in deliveries {
            let reply = self.send(delivery).await;
            // A receiver may refuse by closing the connection or by a failure, if it answers the
            // next good message.
            let is_failure = reply
                .as_ref()
                .map_or_else(|_| true, |answer| answer.status.is_server_error());
            let what = &delivery.what;
            if is_failure && !acknowledged {
                if let Some(found) = self.is_down(delivery).await? {
                    let reply = describe(&reply);
                    faults.push(format!(
                        "for {what} {reply}, and for a good message after it {found}"
                    ));
                    break;
                }
            } else if self.is_acknowledged(delivery.kind, &reply) != acknowledged {
                faults.push(format!("for {what} {}", describe(&reply)));
            }
        }
        let expected = if acknowledged {
            "the acknowledgement"
        } else {
            "no acknowledgement"
        };
        Ok(Verdict::when(faults.is_empty(), || {
            format!("expected {expected}, found {}", listed(&faults))
        }))
    }

    /// Compares the ids of the last acknowledgements, if each delivery was acknowledged.
    pub(super) fn by_ids(
        &mut self,
        verdict: Verdict,
        expected: Expected,
        deliveries: &[Delivery],
    ) -> Verdict {
        let Some(kind) = deliveries
            .first()
            .map(|delivery| delivery.kind)
            .filter(|_| verdict == Verdict::Passed)
        else {
            return verdict;
        };
        // Another row fails for an acknowledgement without an id.
        if self.ids.iter().any(String::is_empty) {
            return verdict;
        }
        let different = self.ids.iter().collect::<HashSet<_>>().len();
        let tells = self.known_by_id.get_mut(kind);
        match expected {
            Expected::Known => {
                *tells = different == 1;
                let why = "each delivery is acknowledged under an id of its own: whether it is known cannot be seen";
                if *tells {
                    verdict
                } else {
                    Verdict::Noted(why.to_owned())
                }
            }
            Expected::Other => Verdict::when(different == deliveries.len(), || {
                format!(
                    "expected an id for each of {} messages, found {different}",
                    deliveries.len()
                )
            }),
            _ => Verdict::when(!*tells || different == 1, || {
                "expected the id of the first acknowledgement again, found another".to_owned()
            }),
        }
    }

    /// Makes two simultaneous deliveries, and judges the answers.
    async fn together(&mut self, deliveries: &[Delivery]) -> Result<Verdict, JudgeError> {
        let [first, second] = deliveries else {
            return self.each(true, deliveries).await;
        };
        // Sends both at the same moment, because a receiver may look up and store a message in two
        // steps.
        let (one, two) = tokio::join!(self.provider.send(first), self.provider.send(second));
        self.ids.clear();
        let mut faults = Vec::new();
        for (delivery, reply) in [(first, &one), (second, &two)] {
            if !self.is_acknowledged(delivery.kind, reply) {
                faults.push(format!("for {} {}", delivery.what, describe(reply)));
            }
        }
        let verdict = Verdict::when(faults.is_empty(), || {
            format!("expected the acknowledgement, found {}", listed(&faults))
        });
        Ok(self.by_ids(verdict, Expected::Same, deliveries))
    }

    /// Returns `Passed` if none of these deliveries is acknowledged, `Noted` if all are, and
    /// `Failed` otherwise.
    async fn judged(&mut self, deliveries: &[Delivery]) -> Verdict {
        let (mut taken, mut refused) = (Vec::new(), Vec::new());
        for delivery in deliveries {
            let reply = self.send(delivery).await;
            let to = if self.is_acknowledged(delivery.kind, &reply) {
                &mut taken
            } else {
                &mut refused
            };
            to.push(delivery.what.clone());
        }
        match (taken.first(), refused.first()) {
            (None, _) => Verdict::Passed,
            (Some(_), None) => Verdict::Noted(
                "it takes every value; whether a receiver judges this is open".to_owned(),
            ),
            (Some(_), Some(other)) => {
                let taken = listed(&taken);
                Verdict::Failed(format!(
                    "expected no acknowledgement, as for {other}, found one for {taken}"
                ))
            }
        }
    }

    /// Returns `Passed` if the answers to all of these deliveries look alike.
    async fn alike(&mut self, deliveries: &[Delivery]) -> Verdict {
        let mut first: Option<String> = None;
        for delivery in deliveries {
            let looks = match self.send(delivery).await {
                Ok(answer) => looks(&answer),
                Err(why) => format!("no answer: {why}"),
            };
            let found = format!("{looks} for {}", delivery.what);
            match &first {
                Some(first) if !first.starts_with(&format!("{looks} for ")) => {
                    return Verdict::Failed(format!(
                        "expected one answer, found {first} and {found}"
                    ));
                }
                _ => drop(first.get_or_insert(found)),
            }
        }
        Verdict::Passed
    }

    /// Returns `Passed` if the next good message is acknowledged after each of these deliveries,
    /// and the deliveries themselves are not acknowledged unless that is allowed.
    async fn survives(
        &mut self,
        may_take: bool,
        deliveries: &[Delivery],
    ) -> Result<Verdict, JudgeError> {
        for delivery in deliveries {
            let reply = self.send(delivery).await;
            let taken = self.is_acknowledged(delivery.kind, &reply) && !may_take;
            if let Some(found) = self.is_down(delivery).await? {
                let before = match reply {
                    Err(why) => format!(", after no answer ({why})"),
                    Ok(_) => String::new(),
                };
                let what = format!(
                    "expected the next good message to be acknowledged, found {found}{before}"
                );
                return Ok(Verdict::Failed(what));
            }
            if taken {
                return Ok(Verdict::Failed(format!(
                    "expected no acknowledgement, found {}",
                    describe(&reply)
                )));
            }
        }
        Ok(Verdict::Passed)
    }

    /// Sends a good message after a delivery. Returns the answer if it is not an acknowledgement.
    pub(super) async fn is_down(&mut self, after: &Delivery) -> Result<Option<String>, JudgeError> {
        let (kind, invented) = (after.kind, &self.provider.invented);
        let good = invented.usual(kind);
        let good = self.provider.sealed(kind, "a good message", &good)?;
        let reply = self.send(&good).await;
        if self.is_acknowledged(kind, &reply) {
            return Ok(None);
        }
        // All following rows would fail for this.
        self.silence = MAX_SILENT_CALLS;
        self.suspect.clone_from(&after.what);
        Ok(Some(describe(&reply)))
    }
}
