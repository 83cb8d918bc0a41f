//! Who has a connection, and who is kept waiting for: where there are no more connections to give, those go that have long
//! sent no whole request.

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// A connection that has sent no whole request for so long may be given to somebody else.
const PATIENCE: Duration = Duration::from_secs(1);

/// A connection.
pub(crate) struct Seat {
    address: IpAddr,
    /// Since when a whole request has been waited for; none while one is answered, and after.
    waits: Mutex<Option<Instant>>,
    /// Told when it is to end.
    leave: Notify,
}

impl Seat {
    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request has begun to come.
    pub(crate) fn begins(&self) {
        *self.lock() = Some(Instant::now());
    }

    /// A request is here, all of it.
    pub(crate) fn is_served(&self) {
        *self.lock() = None;
    }

    /// Waits until the connection is wanted by somebody else.
    pub(super) async fn left(&self) {
        self.leave.notified().await;
    }
}

/// All connections.
#[derive(Default)]
pub(super) struct Seats {
    taken: Mutex<(u64, HashMap<u64, Arc<Seat>>)>,
}

/// A connection among the others, for as long as it is there.
pub(super) struct Seated {
    seats: Arc<Seats>,
    number: u64,
    pub(super) seat: Arc<Seat>,
}

impl Seats {
    fn lock(&self) -> MutexGuard<'_, (u64, HashMap<u64, Arc<Seat>>)> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in a connection from an address.
    pub(super) fn take(self: &Arc<Self>, address: IpAddr) -> Seated {
        let waits = Mutex::new(Some(Instant::now()));
        let seat = Arc::new(Seat { address, waits, leave: Notify::new() });
        let mut taken = self.lock();
        taken.0 += 1;
        let number = taken.0;
        taken.1.insert(number, seat.clone());
        Seated { seats: self.clone(), number, seat }
    }

    /// Ends the connection that has sent no whole request for longest, of the address that has most of those. Says whether
    /// there is one.
    pub(super) fn make_room(&self) -> bool {
        let taken = self.lock();
        let now = Instant::now();
        let waits = |seat: &Seat| seat.lock().filter(|since| now.duration_since(*since) >= PATIENCE);
        let idle: Vec<_> = taken.1.values().filter_map(|seat| Some((waits(seat)?, seat))).collect();
        let mut of_address: HashMap<IpAddr, usize> = HashMap::new();
        idle.iter().for_each(|(_, seat)| *of_address.entry(seat.address).or_default() += 1);
        let first =
            idle.iter().min_by_key(|(since, seat)| (std::cmp::Reverse(of_address[&seat.address]), *since));
        let Some((_, seat)) = first else { return false };
        // Not twice: it takes a moment to end.
        seat.is_served();
        seat.leave.notify_one();
        true
    }
}

impl Drop for Seated {
    fn drop(&mut self) {
        self.seats.lock().1.remove(&self.number);
    }
}

/// The body of a request, whose end is noted.
pub(crate) struct SeatedBody {
    body: Body,
    seat: Arc<Seat>,
}

impl SeatedBody {
    /// A body that begins to come.
    pub(crate) fn wrap(body: Body, seat: Arc<Seat>) -> Body {
        if body.is_end_stream() {
            seat.is_served();
            return body;
        }
        seat.begins();
        Body::new(Self { body, seat })
    }
}

impl HttpBody for SeatedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if frame.is_none() || self.body.is_end_stream() {
            self.seat.is_served();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
