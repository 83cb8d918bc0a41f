//! The one unsafe line of this crate: memory that was freed goes back to the system.
#![allow(unsafe_code)]

/// Gives freed memory back to the system. The C library of GNU keeps what its threads freed in between what is still used, for each
/// thread apart: without this, a service that updates its map keeps a part of what each update took, and grows.
pub(super) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: malloc_trim(3) asks nothing of its caller, may be called in any thread, and touches only pages that nobody uses.
    unsafe {
        libc::malloc_trim(0);
    }
}
