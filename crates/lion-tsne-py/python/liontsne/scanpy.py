"""Maps of cells: t-SNE for AnnData, and new cells placed into a reference's map.

Scanpy's own `ingest` places new cells by umap and pca; here it is t-SNE, and cells that belong
nowhere are told apart. Needs anndata, and nothing of scanpy itself: `pip install
"liontsne[scanpy]"`.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from liontsne._native import Map
from liontsne._rows import SparsePca
from liontsne.estimator import LionTSNE, from_map
from liontsne.placements import VERDICTS

if TYPE_CHECKING:
    from anndata import AnnData


def tsne(
    adata: "AnnData",
    *,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    perplexity: float = 30.0,
    labels: str | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    key_added: str = "tsne",
    **params: Any,
) -> None:
    """Fits a map of the cells: places go to `.obsm["X_tsne"]`, parameters and the map itself to
    `.uns["tsne"]`.

    Parameters
    ----------
    use_rep
        What distances are taken in: a key of `.obsm`, or "X". None is `.obsm["X_pca"]` if it is
        there, else `.X`.
    n_pcs
        How many of its first columns.
    labels
        A column of `.obs` that the map remembers, for pictures.
    key_added
        What `X_tsne` and `tsne` are called: `.obsm["X_" + key_added]`, `.uns[key_added]`.
    params
        Other parameters of `LionTSNE`.
    """
    rep = use_rep or ("X_pca" if "X_pca" in adata.obsm else "X")
    if rep != "X" and rep not in adata.obsm:
        raise ValueError(
            f'.obsm has no {rep!r}: use_rep must be one of {", ".join(["X", *adata.obsm])}'
        )
    rows = first_columns(adata.X if rep == "X" else adata.obsm[rep], n_pcs)
    lion = LionTSNE(perplexity=perplexity, random_state=random_state, n_jobs=n_jobs, **params)
    lion.fit(rows, None if labels is None else adata.obs[labels].astype(str), ids=adata.obs_names)
    adata.obsm[f"X_{key_added}"] = lion.embedding_
    adata.uns[key_added] = {
        "params": {
            "use_rep": rep,
            "n_pcs": rows.shape[1],
            "perplexity": perplexity,
            "random_state": random_state,
        },
        "kl_divergence": lion.kl_divergence_,
        "radius": lion.radius_,
        **kept(lion),
    }


def ingest(
    adata: "AnnData",
    adata_ref: "AnnData",
    *,
    n_jobs: int | None = None,
    key: str = "tsne",
    **params: Any,
) -> None:
    """Places the cells of `adata` into the map of `adata_ref`, made by `tsne`.

    Places go to `adata.obsm["X_tsne"]`, what is known of them to `.obs["liontsne_verdict"]`,
    `["liontsne_score"]`, `["liontsne_nearest"]` (the nearest cell of the reference) and
    `["liontsne_group"]` (of outliers). Cells are described as the reference was: by the same genes,
    projected onto the reference's principal components if it used `X_pca`.

    Parameters
    ----------
    params
        How to place, as parameters of `LionTSNE`: `radius`, `local`, `pca_residual` and others.
    """
    try:
        known = adata_ref.uns[key]
        rep, count = str(known["params"]["use_rep"]), int(known["params"]["n_pcs"])
        lion = restored(known, n_jobs=n_jobs, **params)
    except KeyError:
        raise ValueError(
            f".uns of the reference has no map {key!r}: run liontsne.scanpy.tsne on it first"
        ) from None
    placed = lion.place(represented(adata, adata_ref, rep, count), ids=adata.obs_names)
    import pandas

    adata.obsm[f"X_{key}"] = placed.coordinates
    adata.obs["liontsne_verdict"] = pandas.Categorical(placed.verdict, categories=VERDICTS)
    adata.obs["liontsne_score"] = placed.score
    adata.obs["liontsne_nearest"] = placed.nearest_id
    adata.obs["liontsne_group"] = placed.to_pandas()["group"].to_numpy(dtype=float, na_value=np.nan)


def first_columns(rows: Any, count: int | None) -> Any:
    """The first columns, or all."""
    rows = rows.to_numpy() if hasattr(rows, "to_numpy") else rows
    return rows if count is None else rows[:, :count]


def kept(lion: LionTSNE) -> dict[str, np.ndarray]:
    """The map, and the PCA of sparse rows if there is one, as arrays that an .h5ad file can
    hold."""
    parts = {"map": np.frombuffer(lion._map.to_bytes(), dtype=np.uint8)}
    if lion._reducer is None:
        return parts
    pca = lion._reducer
    return parts | {
        "pca_components": pca.components,
        "pca_shift": pca.shift,
        "pca_unit": np.array([pca.unit]),
    }


def restored(known: Any, **params: Any) -> LionTSNE:
    """The fitted estimator of what was kept."""
    reducer = None
    if "pca_components" in known:
        unit = bool(known["pca_unit"][0])
        reducer = SparsePca(
            np.asarray(known["pca_components"]), np.asarray(known["pca_shift"]), unit
        )
    return from_map(Map.from_bytes(np.asarray(known["map"]).tobytes()), reducer, params)


def represented(adata: "AnnData", reference: "AnnData", rep: str, count: int) -> Any:
    """The new cells, described as the cells of the reference are."""
    if rep not in ("X", "X_pca"):
        if rep not in adata.obsm:
            raise ValueError(
                f"the map was fitted to .obsm[{rep!r}], and the new cells have none: "
                "compute it for them too"
            )
        return first_columns(adata.obsm[rep], count)
    missing = reference.var_names.difference(adata.var_names)
    if len(missing):
        raise ValueError(
            f"the new cells lack {len(missing)} genes of the reference, {missing[0]} first"
        )
    genes = adata[:, reference.var_names].X
    return genes if rep == "X" else projected(genes, reference, count)


def projected(genes: Any, reference: "AnnData", count: int) -> np.ndarray:
    """New cells on the principal components of the reference, as `scanpy.pp.pca` puts its own."""
    if "PCs" not in reference.varm:
        raise ValueError(
            'the reference has no .varm["PCs"]: run scanpy.pp.pca on it, then liontsne.scanpy.tsne'
        )
    components = np.asarray(reference.varm["PCs"], dtype=np.float64)[:, :count]
    zero_center = reference.uns.get("pca", {}).get("params", {}).get("zero_center", True)
    scores = np.asarray(genes @ components)
    if zero_center:
        scores = scores - np.asarray(reference.X.mean(axis=0)).ravel() @ components
    return scores.astype(np.float32)
