//! Eight numbers side by side, in one register or as many as the machine needs.

use crate::vectorized::arch;
use pulp::{Simd, WithSimd};

/// How many that is: a spline's nodes, rounded up to what registers hold.
pub(super) const LANES: usize = 8;

/// One number for each lane.
pub(super) type Lanes = [f32; LANES];

/// Runs `work` with registers of at most eight lanes; wider ones would run half empty.
pub(super) fn dispatch<W: WithSimd>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        match arch() {
            pulp::Arch::V4(wide) => Simd::vectorize(*wide, work),
            narrower => narrower.dispatch(work),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    arch().dispatch(work)
}

/// Eight lanes; only the first `REGISTERS` of the array are used, and the compiler drops the others.
pub(super) struct F32x8<S: Simd>([S::f32s; LANES]);

impl<S: Simd> Clone for F32x8<S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Simd> Copy for F32x8<S> {}

impl<S: Simd> F32x8<S> {
    const REGISTERS: usize = LANES / S::F32_LANES;

    #[inline(always)]
    fn each(mut value: impl FnMut(usize) -> S::f32s) -> Self {
        let mut registers = [value(0); LANES];
        for (at, register) in registers.iter_mut().enumerate().take(Self::REGISTERS).skip(1) {
            *register = value(at);
        }
        Self(registers)
    }

    #[inline(always)]
    pub(super) fn load(lanes: &Lanes) -> Self {
        let (registers, _) = S::as_simd_f32s(lanes);
        Self::each(|at| registers[at])
    }

    #[inline(always)]
    pub(super) fn store(self, lanes: &mut Lanes) {
        let (registers, _) = S::as_mut_simd_f32s(lanes);
        registers.copy_from_slice(&self.0[..Self::REGISTERS]);
    }

    #[inline(always)]
    pub(super) fn splat(simd: S, value: f32) -> Self {
        let register = simd.splat_f32s(value);
        Self::each(|_| register)
    }

    #[inline(always)]
    pub(super) fn times(self, simd: S, by: Self) -> Self {
        Self::each(|at| simd.mul_f32s(self.0[at], by.0[at]))
    }

    /// self * by + plus.
    #[inline(always)]
    pub(super) fn times_plus(self, simd: S, by: Self, plus: Self) -> Self {
        Self::each(|at| simd.mul_add_f32s(self.0[at], by.0[at], plus.0[at]))
    }

    /// Sum over the lanes.
    #[inline(always)]
    pub(super) fn sum(self, simd: S) -> f32 {
        let mut sum = simd.reduce_sum_f32s(self.0[0]);
        for register in &self.0[1..Self::REGISTERS] {
            sum += simd.reduce_sum_f32s(*register);
        }
        sum
    }
}
