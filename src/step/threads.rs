//! Sharing one piece of work between threads.
//!
//! What the pieces are never changes a result: whoever splits work keeps the order of every sum.

use bevy::tasks::ComputeTaskPool;

use crate::kernel::implicit::Workers;

/// Elements or particles below which waking other threads costs more than it saves: about 100 µs of work, while waking
/// and waiting take 20 µs, and 75 µs on a virtual machine.
const WORTH_SHARING: usize = 8192;

/// Pieces per thread: more than one, since threads are not equally fast, and not many, since each costs a microsecond.
const PIECES_PER_THREAD: usize = 2;

/// The threads that a piece of work is shared between.
#[derive(Clone, Copy)]
pub(super) struct Threads {
    pool: Option<&'static ComputeTaskPool>,
}

impl Threads {
    /// Whether that many elements or particles of one body are worth sharing.
    pub(super) fn are_worth(amount: usize) -> bool {
        amount >= WORTH_SHARING
    }

    /// The threads of the pool where that many elements or particles are worth it, else the caller alone.
    ///
    /// A pool of one thread counts as none, as in Bevy's own parallel queries.
    pub(super) fn for_work(amount: usize) -> Self {
        let pool = ComputeTaskPool::try_get()
            .filter(|pool| pool.thread_num() > 1 && Self::are_worth(amount));
        Self { pool }
    }

    /// Whether there is more than the caller.
    pub(super) fn are_several(self) -> bool {
        self.pool.is_some()
    }
}

impl Workers for Threads {
    fn piece(self, count: usize) -> usize {
        let pieces = self
            .pool
            .map_or(1, |pool| pool.thread_num() * PIECES_PER_THREAD);
        count.div_ceil(pieces).max(1)
    }

    fn run<T: Send>(self, pieces: impl Iterator<Item = T>, work: impl Fn(T) + Sync) {
        match self.pool {
            None => pieces.for_each(work),
            Some(pool) => {
                let work = &work;
                pool.scope(|scope| {
                    pieces.for_each(|piece| scope.spawn(async move { work(piece) }));
                });
            }
        }
    }
}

/// Runs `work` on every body, bodies shared between threads where their `size` (elements or particles) is worth it.
pub(super) fn for_each_body<T: Send>(
    mut bodies: Vec<T>,
    size: impl Fn(&T) -> usize,
    work: impl Fn(&mut T) + Sync,
) {
    // One alone is quicker here than on a thread that must be woken.
    let amount = if bodies.len() > 1 {
        bodies.iter().map(size).sum()
    } else {
        0
    };
    let threads = Threads::for_work(amount);
    let count = threads.piece(bodies.len());
    threads.run(bodies.chunks_mut(count), |bodies| {
        bodies.iter_mut().for_each(&work);
    });
}
