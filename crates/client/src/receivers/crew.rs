//! A few threads for work that takes a core.

use std::collections::VecDeque;
use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// At most so many threads of the runtime's pool, each of which goes on to the next job by itself: to hand each job to a
/// thread anew would leave a core idle in between.
pub(super) struct Crew {
    size: NonZeroUsize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    working: usize,
}

type Job = Box<dyn FnOnce() + Send>;

impl Crew {
    pub(super) fn new(size: NonZeroUsize) -> Self {
        Self { size, state: Mutex::default() }
    }

    /// Does the work, in the order of the calls. What nobody waits for any more is not begun. `None`: the work panicked,
    /// or the runtime is shutting down.
    pub(super) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(move || {
            if !reply.is_closed() {
                // A caller that has gone meanwhile is told nothing.
                let _ = reply.send(work());
            }
        });
        if let Some(member) = self.add(job) {
            tokio::task::spawn_blocking(move || member.work());
        }
        answer.await.ok()
    }

    /// One member more if there are too few.
    fn add(self: &Arc<Self>, job: Job) -> Option<Member> {
        let mut state = self.lock();
        state.waiting.push_back(job);
        (state.working < self.size.get()).then(|| {
            state.working += 1;
            Member { crew: self.clone(), left: false }
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Crew {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Crew").field("size", &self.size).finish_non_exhaustive()
    }
}

/// Counted as working until it leaves.
struct Member {
    crew: Arc<Crew>,
    left: bool,
}

impl Member {
    fn work(mut self) {
        while let Some(job) = self.next() {
            // The job's reply is dropped with it, and that tells its caller.
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    }

    /// The next job. Without one the member leaves in the same step, so that no job comes in between and is left lying.
    fn next(&mut self) -> Option<Job> {
        let mut state = self.crew.lock();
        let job = state.waiting.pop_front();
        if job.is_none() {
            state.working -= 1;
            self.left = true;
        }
        job
    }
}

impl Drop for Member {
    /// The runtime is shutting down and never let it begin: where nobody is left, nobody may wait.
    fn drop(&mut self) {
        if !self.left {
            let mut state = self.crew.lock();
            state.working -= 1;
            let given_up = if state.working == 0 { std::mem::take(&mut state.waiting) } else { VecDeque::new() };
            drop(state);
            drop(given_up);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future as _;
    use std::sync::mpsc;
    use std::task::{Context, Waker};

    fn crew(size: usize) -> Arc<Crew> {
        Arc::new(Crew::new(size.try_into().unwrap()))
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap()
    }

    #[test]
    fn every_job_is_done_by_at_most_so_many_at_once() {
        let (crew, at_once) = (crew(3), Arc::new(Mutex::new((0, 0))));
        let run = |number: u32| {
            let (crew, at_once) = (crew.clone(), at_once.clone());
            async move {
                let work = move || {
                    let count = |change: i32| {
                        let mut at_once = at_once.lock().unwrap();
                        at_once.0 += change;
                        at_once.1 = at_once.1.max(at_once.0);
                    };
                    count(1);
                    std::thread::yield_now();
                    count(-1);
                    number
                };
                crew.run(work).await
            }
        };
        let runtime = runtime();
        runtime.block_on(async {
            let tasks: Vec<_> = (0..1000).map(|number| (number, tokio::spawn(run(number)))).collect();
            for (number, task) in tasks {
                assert_eq!(task.await.unwrap(), Some(number));
            }
        });
        // Waits for the members, the last of whom may only be leaving.
        drop(runtime);
        let (now, most) = *at_once.lock().unwrap();
        assert!(now == 0 && (1..=3).contains(&most), "{most}");
        assert_eq!(crew.lock().working, 0);
    }

    #[test]
    fn a_panic_is_its_callers_alone() {
        let crew = crew(1);
        runtime().block_on(async {
            assert_eq!(crew.run(|| -> u8 { panic!("on purpose") }).await, None);
            assert_eq!(crew.run(|| 7).await, Some(7));
        });
    }

    #[test]
    fn what_nobody_waits_for_is_not_begun() {
        let crew = crew(1);
        runtime().block_on(async {
            let (go, wait) = mpsc::channel::<()>();
            let busy = crew.clone();
            let first = tokio::spawn(async move { busy.run(move || wait.recv().is_ok()).await });
            while crew.lock().working == 0 {
                tokio::task::yield_now().await;
            }
            let mut second = Box::pin(crew.run(|| -> u8 { panic!("nobody waits") }));
            let mut context = Context::from_waker(Waker::noop());
            assert!(second.as_mut().poll(&mut context).is_pending());
            drop(second);
            go.send(()).unwrap();
            assert_eq!(first.await.unwrap(), Some(true));
            assert_eq!(crew.run(|| 7).await, Some(7));
        });
    }

    #[test]
    fn a_runtime_that_ends_leaves_nobody_waiting() {
        let crew = crew(1);
        let first = runtime();
        let handle = first.handle().clone();
        first.shutdown_background();
        let refused = {
            let _inside = handle.enter();
            crew.add(Box::new(|| ())).map(|member| tokio::task::spawn_blocking(move || member.work()))
        };
        drop(refused);
        assert_eq!(crew.lock().working, 0);
        assert!(crew.lock().waiting.is_empty());
        assert_eq!(runtime().block_on(crew.run(|| 7)), Some(7));
    }
}
