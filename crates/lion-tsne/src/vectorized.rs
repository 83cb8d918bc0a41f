//! Plain code, compiled once for each width of registers and chosen when the program runs.

use crate::error::{Error, Result};
use pulp::Arch;
use std::sync::OnceLock;

/// The variable of the environment that may keep a program from wide registers.
const VARIABLE: &str = "LION_REGISTERS";

/// The widest registers that our code may use. Narrower ones are for comparisons: what one kind of machine computes can be
/// computed on a newer one. Matrix products of `faer` and the FFT choose their registers themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Registers {
    /// Whatever the machine has, e.g. AVX-512.
    #[default]
    Widest,
    /// AVX2 with FMA at most.
    Avx2,
    /// None: one number at a time.
    Portable,
}

crate::named!(Registers, "registers": Widest = "widest", Avx2 = "avx2", Portable = "portable");

impl Registers {
    /// What the environment variable `LION_REGISTERS` asks for: the widest, unless it is set. A program reads it once.
    pub fn asked_for() -> Result<Self> {
        let Some(name) = std::env::var_os(VARIABLE) else { return Ok(Self::Widest) };
        name.to_string_lossy().parse().map_err(|refused| match refused {
            Error::Parameter { problem, .. } => Error::Parameter { name: VARIABLE, problem },
            other => other,
        })
    }

    fn arch(self) -> Arch {
        match self {
            Self::Widest => Arch::new(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => pulp::x86::V3::try_new().map_or(Arch::Scalar, Arch::V3),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 => Arch::new(),
            Self::Portable => Arch::Scalar,
        }
    }
}

/// The registers that all work is compiled for here. A name that is none counts as none given; `lion` refuses it.
pub(crate) fn arch() -> Arch {
    static ARCH: OnceLock<Arch> = OnceLock::new();
    *ARCH.get_or_init(|| Registers::asked_for().unwrap_or_default().arch())
}

/// Runs `work` compiled for the widest registers of this machine that may be used. What it calls must be `#[inline(always)]` to be
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
    arch().dispatch(VectorizedClosure(work))
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
