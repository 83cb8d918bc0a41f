//! `liontsne._native`: lion-tsne as Python sees it. Conversions, and nothing else: what is decided, is decided there or
//! in the Python package around this.

mod arrays;
mod baseline;
mod columns;
mod command;
mod distributed;
mod errors;
mod evaluate;
mod explain;
mod landmarks;
mod map;
mod params;
mod placements;
mod placer;
mod process;
mod progress;
mod tables;

/// The module.
#[pyo3::pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::baseline::{PyBuilt, baseline_names};
    #[pymodule_export]
    use crate::columns::PyColumns;
    #[pymodule_export]
    use crate::command::main;
    #[pymodule_export]
    use crate::distributed::{PyPendingOutliers, find_outliers, problems, resolve};
    #[pymodule_export]
    use crate::evaluate::{auc, distances, joined_kl, percentiles, shares};
    #[pymodule_export]
    use crate::explain::explained;
    #[pymodule_export]
    use crate::landmarks::PyLandmarks;
    #[pymodule_export]
    use crate::map::PyMap;
    #[pymodule_export]
    use crate::params::choices;
    #[pymodule_export]
    use crate::placements::{PyPlacements, placement_types, verdicts};
    #[pymodule_export]
    use crate::placer::PyPlacer;
    #[pymodule_export]
    use crate::tables::{encode_table, prepare_table};
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
