//! The end, told once to everybody who waits for it.

use std::sync::Arc;
use tokio::sync::watch;

/// A signal that is given once. Clones are the same signal.
#[derive(Clone, Debug)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Stop {
    /// Gives the signal.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Whether it was given.
    pub fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits for it.
    pub async fn stopped(&self) {
        // Fails only once the sender is gone, and `self` holds it.
        let _ = self.0.subscribe().wait_for(|&stopped| stopped).await;
    }
}
