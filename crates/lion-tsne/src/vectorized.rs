//! Plain code, compiled once for each width of registers and chosen when the program runs.

/// Runs `work` compiled for the widest registers of this machine. What it calls must be `#[inline(always)]` to be
/// compiled along with it.
#[inline]
pub fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    struct VectorizedClosure<F>(F);
    impl<R, F: FnOnce() -> R> pulp::NullaryFnOnce for VectorizedClosure<F> {
        type Output = R;
        #[inline(always)]
        fn call(self) -> R {
            (self.0)()
        }
    }
    pulp::Arch::new().dispatch(VectorizedClosure(work))
}
