//! Threads for computations, such as RSA operations.

mod turns;

use self::turns::Turns;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::oneshot;

/// The time for which answers are gathered, from the start of the first answer's job.
const GATHER: Duration = Duration::from_millis(1);

/// A bounded number of threads for computations, such as RSA operations, so that they do not delay
/// the asynchronous threads. Cheap to clone: the clones share the threads.
///
/// - The threads are the runtime's own for blocking work. A thread takes the next job by itself:
///   starting a thread for each job leaves a core idle in between, which costs a fifth of the
///   deliveries per second.
/// - Jobs of one lane ([`CpuPool::lane`]) start in the order of the calls, and the lanes take
///   turns: a burst in one of them does not keep the others waiting. A job whose caller no longer
///   waits does not start.
/// - While jobs wait, answers are gathered for a millisecond and sent together by one
///   asynchronous thread. Waking one for each answer would take the core from the next job. The
///   thread that ends a job hands on all answers, so that a job that hangs delays none of them.
///   When no job waits, answers are sent at once.
#[derive(Clone)]
pub struct CpuPool {
    inner: Arc<Inner>,
    lane: u64,
}

struct Inner {
    size: NonZeroUsize,
    gather: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: Turns<BoxedJob>,
    threads: usize,
    /// The jobs whose answers are to be sent, and the time at which the first of them began.
    done: Vec<BoxedJob>,
    since: Option<Instant>,
}

type BoxedJob = Box<dyn Job>;

trait Job: Send {
    /// Does the work if the caller still waits for it, and stores the answer.
    fn work(&mut self);
    /// Sends the answer, if there is one.
    fn answer(self: Box<Self>);
}

struct Task<F, T> {
    work: Option<F>,
    answer: Option<T>,
    reply: oneshot::Sender<T>,
}

impl<F: FnOnce() -> T + Send, T: Send> Job for Task<F, T> {
    fn work(&mut self) {
        if let Some(work) = self.work.take_if(|_| !self.reply.is_closed()) {
            // After a panic there is no answer, and the caller gets `None`.
            self.answer = catch_unwind(AssertUnwindSafe(work)).ok();
        }
    }

    fn answer(self: Box<Self>) {
        if let Some(answer) = self.answer {
            // The caller may have gone during the work.
            let _ = self.reply.send(answer);
        }
    }
}

/// A pool with one thread for each core. With more, the asynchronous threads and those of the
/// stores would have to wait for a core.
impl Default for CpuPool {
    fn default() -> Self {
        Self::new(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }
}

impl CpuPool {
    /// Makes a pool that runs at most `threads` jobs at once.
    #[must_use]
    pub fn new(threads: NonZeroUsize) -> Self {
        Self::gathering(threads, GATHER)
    }

    fn gathering(size: NonZeroUsize, gather: Duration) -> Self {
        Self {
            inner: Arc::new(Inner {
                size,
                gather,
                state: Mutex::default(),
            }),
            lane: 0,
        }
    }

    /// Returns the same pool, for jobs in the lane of this name, such as those for one endpoint.
    /// Default: all jobs are in one lane. In rare cases two names share a lane.
    #[must_use]
    #[doc(hidden)]
    pub fn lane(&self, name: &(impl Hash + ?Sized)) -> Self {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        Self {
            inner: Arc::clone(&self.inner),
            lane: hasher.finish(),
        }
    }

    /// Does the work on one of the threads. Returns `None` if the work panicked or if the runtime
    /// is shutting down.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        // A simulation's seed cannot decide the order in which threads end.
        #[cfg(feature = "simulation")]
        if bankrail_values::simulation::is_on() {
            return catch_unwind(AssertUnwindSafe(work)).ok();
        }
        let (reply, answer) = oneshot::channel();
        if let Some(thread) = self.add(Box::new(Task {
            work: Some(work),
            answer: None,
            reply,
        })) {
            tokio::task::spawn_blocking(move || thread.work());
        }
        answer.await.ok()
    }

    /// Queues a job. Returns a thread to start if there are fewer than allowed.
    fn add(&self, job: BoxedJob) -> Option<Thread> {
        let mut state = self.inner.lock();
        state.waiting.add(self.lane, job);
        (state.threads < self.inner.size.get()).then(|| {
            state.threads += 1;
            Thread {
                pool: Arc::clone(&self.inner),
                ended: false,
            }
        })
    }
}

impl fmt::Debug for CpuPool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CpuPool")
            .field("threads", &self.inner.size)
            .finish_non_exhaustive()
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Jobs run outside the lock, so a panic of one leaves the state consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Jobs whose answers are sent when it is dropped.
struct Answers(Vec<BoxedJob>);

impl Answers {
    /// Has an asynchronous thread send the answers. This thread sends a single answer itself,
    /// because one thread is woken either way. On a runtime with one thread it sends all answers
    /// itself: that runtime may not be running while callers on another one wait.
    fn hand_on(self) {
        let runtime = Handle::current();
        if self.0.len() > 1 && runtime.runtime_flavor() == RuntimeFlavor::MultiThread {
            runtime.spawn(async move { drop(self) });
        }
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.0.drain(..).for_each(Job::answer);
    }
}

/// A thread that counts as one of the pool until this is dropped.
struct Thread {
    pool: Arc<Inner>,
    ended: bool,
}

impl Thread {
    #[expect(clippy::disallowed_methods, reason = "threads have no tokio clock")]
    fn work(mut self) {
        let mut finished = None;
        loop {
            let (next, done) = self.next(finished);
            Answers(done).hand_on();
            let Some(mut job) = next else { break };
            let begun = Instant::now();
            job.work();
            finished = Some((job, begun));
        }
    }

    /// Returns the next job, and the jobs whose answers are to be sent now. Without a next job the
    /// thread ends under the same lock, so that no job is queued in between and left.
    #[expect(clippy::disallowed_methods, reason = "as where it began")]
    fn next(&mut self, finished: Option<(BoxedJob, Instant)>) -> (Option<BoxedJob>, Vec<BoxedJob>) {
        let mut state = self.pool.lock();
        if let Some((job, begun)) = finished {
            state.done.push(job);
            state.since.get_or_insert(begun);
        }
        let next = state.waiting.take();
        // The thread ends under the lock that found no job, so that a job that is added later
        // starts a thread again.
        if next.is_none() {
            state.threads -= 1;
            self.ended = true;
        }
        let due = next.is_none()
            || state
                .since
                .is_some_and(|since| since.elapsed() >= self.pool.gather);
        if !due {
            return (next, Vec::new());
        }
        state.since = None;
        (next, std::mem::take(&mut state.done))
    }
}

impl Drop for Thread {
    /// Drops the waiting jobs, which wakes their callers, if the runtime shut down before the
    /// pool's only thread started: no other thread would take them.
    fn drop(&mut self) {
        if !self.ended {
            let mut state = self.pool.lock();
            state.threads -= 1;
            let dropped = if state.threads == 0 {
                std::mem::take(&mut state.waiting)
            } else {
                Turns::default()
            };
            // The jobs are dropped outside the lock, because dropping one wakes its caller.
            drop(state);
            drop(dropped);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::Pin;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;
    use std::task::{Context, Waker};

    fn pool(threads: usize) -> CpuPool {
        CpuPool::new(threads.try_into().unwrap())
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .build()
            .unwrap()
    }

    #[test]
    fn every_job_is_done_by_at_most_so_many_threads() {
        let (pool, at_once) = (pool(3), Arc::new(Mutex::new((0, 0))));
        let run = |number: u32| {
            let (pool, at_once) = (pool.clone(), at_once.clone());
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
                pool.run(work).await
            }
        };
        let runtime = runtime();
        runtime.block_on(async {
            let tasks: Vec<_> = (0..1000)
                .map(|number| (number, tokio::spawn(run(number))))
                .collect();
            for (number, task) in tasks {
                assert_eq!(task.await.unwrap(), Some(number));
            }
        });
        // Waits for the threads: one may still be ending.
        drop(runtime);
        let (now, most) = *at_once.lock().unwrap();
        assert!(now == 0 && (1..=3).contains(&most), "{most}");
        assert_eq!(pool.inner.lock().threads, 0);
    }

    #[test]
    fn a_panic_ends_its_own_job_only() {
        let pool = pool(1);
        runtime().block_on(async {
            assert_eq!(pool.run(|| -> u8 { panic!("on purpose") }).await, None);
            assert_eq!(pool.run(|| 7).await, Some(7));
        });
    }

    #[test]
    fn a_job_whose_caller_is_gone_does_not_start() {
        let pool = pool(1);
        runtime().block_on(async {
            let (go, wait) = mpsc::channel::<()>();
            let busy = pool.clone();
            let first = tokio::spawn(async move { busy.run(move || wait.recv().is_ok()).await });
            while pool.inner.lock().threads == 0 {
                tokio::task::yield_now().await;
            }
            let started = Arc::new(AtomicBool::new(false));
            let start = Arc::clone(&started);
            let mut second = Box::pin(pool.run(move || start.store(true, Ordering::SeqCst)));
            let mut context = Context::from_waker(Waker::noop());
            assert!(second.as_mut().poll(&mut context).is_pending());
            drop(second);
            go.send(()).unwrap();
            assert_eq!(first.await.unwrap(), Some(true));
            // The only thread takes jobs in their order, so it has passed the second one.
            assert_eq!(pool.run(|| 7).await, Some(7));
            assert!(!started.load(Ordering::SeqCst));
        });
    }

    #[test]
    fn answers_are_gathered_only_while_jobs_wait() {
        for gather in [Duration::MAX, Duration::ZERO] {
            let pool = CpuPool::gathering(NonZeroUsize::MIN, gather);
            runtime().block_on(async {
                let (go, wait) = mpsc::channel::<()>();
                let (under_way, last_is_under_way) = oneshot::channel();
                let mut context = Context::from_waker(Waker::noop());
                let (go_first, wait_first) = mpsc::channel::<()>();
                let mut first = Box::pin(pool.run(move || wait_first.recv().is_ok()));
                let mut second = Box::pin(pool.run(|| true));
                let mut last =
                    Box::pin(pool.run(move || under_way.send(()).is_ok() && wait.recv().is_ok()));
                for job in [
                    first.as_mut() as Pin<&mut dyn Future<Output = _>>,
                    second.as_mut(),
                    last.as_mut(),
                ] {
                    assert!(job.poll(&mut context).is_pending());
                }
                go_first.send(()).unwrap();
                last_is_under_way.await.unwrap();
                let answered = gather == Duration::ZERO;
                assert_eq!(first.as_mut().poll(&mut context).is_ready(), answered);
                assert_eq!(second.as_mut().poll(&mut context).is_ready(), answered);
                go.send(()).unwrap();
                assert_eq!(last.await, Some(true));
                if !answered {
                    assert_eq!((first.await, second.await), (Some(true), Some(true)));
                }
            });
        }
    }

    #[test]
    fn a_job_that_hangs_holds_back_no_answer() {
        let pool = CpuPool::gathering(2.try_into().unwrap(), Duration::MAX);
        runtime().block_on(async {
            let [(go_one, one), (go_other, other), (go_last, last)] =
                [(); 3].map(|()| mpsc::channel::<()>());
            let (under_way, last_is_under_way) = oneshot::channel();
            let mut context = Context::from_waker(Waker::noop());
            let mut one = Box::pin(pool.run(move || one.recv().is_ok()));
            let mut other = Box::pin(pool.run(move || other.recv().is_ok()));
            let mut quick = Box::pin(pool.run(|| true));
            let mut last =
                Box::pin(pool.run(move || under_way.send(()).is_ok() && last.recv().is_ok()));
            for job in [
                one.as_mut() as Pin<&mut dyn Future<Output = _>>,
                other.as_mut(),
                quick.as_mut(),
                last.as_mut(),
            ] {
                assert!(job.poll(&mut context).is_pending());
            }
            go_one.send(()).unwrap();
            last_is_under_way.await.unwrap();
            assert!(
                one.as_mut().poll(&mut context).is_pending()
                    && quick.as_mut().poll(&mut context).is_pending()
            );
            go_other.send(()).unwrap();
            assert_eq!(
                (one.await, other.await, quick.await),
                (Some(true), Some(true), Some(true))
            );
            go_last.send(()).unwrap();
            assert_eq!(last.await, Some(true));
        });
    }

    #[test]
    fn answers_reach_callers_in_another_runtime_when_that_of_the_thread_does_not_run() {
        for mut builder in [
            tokio::runtime::Builder::new_current_thread(),
            tokio::runtime::Builder::new_multi_thread(),
        ] {
            let pool = CpuPool::gathering(NonZeroUsize::MIN, Duration::MAX);
            let (go, wait) = mpsc::channel::<()>();
            let idle = builder.build().unwrap();
            let mut first = Box::pin(pool.run(move || wait.recv().is_ok()));
            let mut context = Context::from_waker(Waker::noop());
            idle.block_on(async { assert!(first.as_mut().poll(&mut context).is_pending()) });
            if idle.handle().runtime_flavor() == RuntimeFlavor::MultiThread {
                idle.shutdown_background();
            } else {
                std::mem::forget(idle);
            }
            runtime().block_on(async {
                let mut second = Box::pin(pool.run(|| true));
                assert!(second.as_mut().poll(&mut context).is_pending());
                go.send(()).unwrap();
                assert_eq!((first.await, second.await), (Some(true), Some(true)));
            });
        }
    }

    #[test]
    fn a_job_in_a_lane_of_its_own_passes_a_burst() {
        let pool = pool(1);
        runtime().block_on(async {
            let (go, wait) = mpsc::channel::<()>();
            let order = Arc::new(Mutex::new(Vec::new()));
            let done = |lane: &'static str| {
                let (pool, order) = (pool.lane(lane), Arc::clone(&order));
                async move { pool.run(move || order.lock().unwrap().push(lane)).await }
            };
            let first = pool.lane("burst");
            let first = tokio::spawn(async move { first.run(move || wait.recv().is_ok()).await });
            while pool.inner.lock().threads == 0 {
                tokio::task::yield_now().await;
            }
            let mut context = Context::from_waker(Waker::noop());
            let mut burst: Vec<_> = (0..3).map(|_| Box::pin(done("burst"))).collect();
            for job in &mut burst {
                assert!(job.as_mut().poll(&mut context).is_pending());
            }
            let mut single = Box::pin(done("single"));
            assert!(single.as_mut().poll(&mut context).is_pending());
            go.send(()).unwrap();
            assert_eq!(first.await.unwrap(), Some(true));
            assert_eq!(single.await, Some(()));
            for job in burst {
                assert_eq!(job.await, Some(()));
            }
            assert_eq!(
                *order.lock().unwrap(),
                ["single", "burst", "burst", "burst"]
            );
        });
    }

    #[test]
    fn a_runtime_that_shuts_down_leaves_no_job_behind() {
        let pool = pool(1);
        let first = runtime();
        let handle = first.handle().clone();
        first.shutdown_background();
        let refused = {
            let _inside = handle.enter();
            pool.add(Box::new(Task {
                work: Some(|| ()),
                answer: None,
                reply: oneshot::channel().0,
            }))
            .map(|thread| tokio::task::spawn_blocking(move || thread.work()))
        };
        drop(refused);
        assert_eq!(pool.inner.lock().threads, 0);
        assert!(pool.inner.lock().waiting.is_empty());
        assert_eq!(runtime().block_on(pool.run(|| 7)), Some(7));
    }
}
