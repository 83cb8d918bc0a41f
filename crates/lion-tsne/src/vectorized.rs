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

/// The sum over lanes, halves onto halves; there are a power of two of them.
#[inline(always)]
pub fn sum_lanes<T: Copy + std::ops::AddAssign, const LANES: usize>(mut lanes: [T; LANES]) -> T {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            let other = lanes[lane + width];
            lanes[lane] += other;
        }
        width /= 2;
    }
    lanes[0]
}
