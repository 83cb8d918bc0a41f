//! A connection whose writes time out.

use super::socket::Wire;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long what a caller still sends is read after the last answer.
const LINGER: Duration = Duration::from_secs(2);

/// A stream whose other side may not refuse for ever to take what is written.
///
/// When it is shut down, what the other side still sends is read for a moment and thrown away: to close a connection
/// with something unread makes the system take back what was written last, and that is the refusal of a body too large.
/// TLS is spoken over it, not under it, so that all of this holds for the handshake too.
pub(super) struct WriteTimeout {
    stream: Box<dyn Wire>,
    timeout: Duration,
    /// Runs while nothing can be written, and while the stream lingers.
    clock: Option<Pin<Box<Sleep>>>,
    lingering: bool,
}

impl WriteTimeout {
    pub(super) fn new(stream: Box<dyn Wire>, timeout: Duration) -> Self {
        Self { stream, timeout, clock: None, lingering: false }
    }

    /// Gives up on a write that has been waiting for too long.
    fn wait<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.clock = None;
            return written;
        }
        ready!(self.poll_clock(context, self.timeout));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    fn poll_clock(&mut self, context: &mut Context<'_>, time: Duration) -> Poll<()> {
        self.clock.get_or_insert_with(|| Box::pin(sleep(time))).as_mut().poll(context)
    }
}

impl AsyncRead for WriteTimeout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for WriteTimeout {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wait(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.wait(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.lingering {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            (self.lingering, self.clock) = (true, None);
        }
        let mut space = [0; 16 << 10];
        loop {
            if self.poll_clock(context, LINGER).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let mut buffer = ReadBuf::new(&mut space);
            match ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                _ => return Poll::Ready(Ok(())),
            }
        }
    }
}
