"""Maps of cells: t-SNE for AnnData, and new cells placed on the map of a reference.

Scanpy's own `ingest` places new cells by UMAP and PCA. Here it is t-SNE, and novel cells are marked as
outliers. It needs anndata, and nothing of scanpy itself: `pip install "liontsne[scanpy]"`.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from liontsne._native import Map
from liontsne.estimator import LionTSNE
from liontsne.maps import from_map
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
    """Fits a map of the cells. Positions go to `.obsm["X_tsne"]`, parameters and the map itself to
    `.uns["tsne"]`.

    Parameters
    ----------
    adata : AnnData
        The cells.
    use_rep : str or None
        The representation to use: a key of `.obsm`, or "X". None is `.obsm["X_pca"]` if it is
        there, else `.X`.
    n_pcs : int or None
        How many of its first columns to use; None is all.
    perplexity : float, default=30.0
        Effective number of neighbours.
    labels : str or None
        A column of `.obs` that the map keeps, for pictures, and for `ingest` to label new cells.
    random_state : int, default=0
        The seed.
    n_jobs : int or None
        Threads; None is all.
    key_added : str, default="tsne"
        The name of what is added: `.obsm["X_" + key_added]` and `.uns[key_added]`.
    **params
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
        "map": np.frombuffer(lion._kept().to_bytes(), dtype=np.uint8),
    }


def ingest(
    adata: "AnnData",
    adata_ref: "AnnData",
    *,
    n_jobs: int | None = None,
    key: str = "tsne",
    **params: Any,
) -> None:
    """Places the cells of `adata` on the map of `adata_ref`, which `tsne` made.

    Positions go to `adata.obsm["X_tsne"]`. These columns of `adata.obs` say more:
    `liontsne_verdict`, `liontsne_score`, `liontsne_nearest` (the nearest cell of the reference) and
    `liontsne_group` (the group of an outlier). If the map has labels, so do `liontsne_label` (missing
    for outliers) and `liontsne_label_share` (how likely it is right).

    New cells are represented as the reference was: by the same genes, and projected onto the
    principal components of the reference if it used `X_pca`.

    Parameters
    ----------
    adata : AnnData
        The cells to place.
    adata_ref : AnnData
        The reference, with a map.
    n_jobs : int or None
        Threads; None is all.
    key : str, default="tsne"
        The name under which `tsne` put the map.
    **params
        How to place, as parameters of `LionTSNE`: `radius`, `local`, `alpha` and others.
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
    if lion._map.labels is not None:
        kinds = sorted(set(lion._map.labels))
        adata.obs["liontsne_label"] = pandas.Categorical(placed.label, categories=kinds)
        adata.obs["liontsne_label_share"] = placed.label_share


def first_columns(rows: Any, count: int | None) -> Any:
    """The first columns, or all."""
    rows = rows.to_numpy() if hasattr(rows, "to_numpy") else rows
    return rows if count is None else rows[:, :count]


def restored(known: Any, **params: Any) -> LionTSNE:
    """The fitted estimator of what was kept."""
    if "pca_components" in known:
        raise ValueError(
            "this map is of an earlier version, which kept the PCA of sparse rows apart: "
            "run liontsne.scanpy.tsne on the reference again"
        )
    return from_map(Map.from_bytes(np.asarray(known["map"]).tobytes()), params)


def represented(adata: "AnnData", reference: "AnnData", rep: str, count: int) -> Any:
    """The new cells, described as the cells of the reference are."""
    if rep not in ("X", "X_pca"):
        if rep not in adata.obsm:
            raise ValueError(
                f"the map was fitted to .obsm[{rep!r}], and the new cells have none: "
                "compute it for them too"
            )
        return first_columns(adata.obsm[rep], count)
    components = None if rep == "X" else principal_components(reference, count)
    used = slice(None) if components is None else components.any(axis=1)
    wanted = reference.var_names[used]
    missing = wanted.difference(adata.var_names)
    if len(missing):
        raise ValueError(
            f"the new cells lack {len(missing)} genes of the reference, {missing[0]} first"
        )
    genes = adata[:, wanted].X
    if components is None:
        return genes
    return projected(genes, reference[:, wanted], components[used])


def principal_components(reference: "AnnData", count: int) -> np.ndarray:
    """The loadings of the genes of the reference; 0 of those that its PCA did not use, for which
    scanpy has 0 or NaN."""
    if "PCs" not in reference.varm:
        raise ValueError(
            'the reference has no .varm["PCs"]: run scanpy.pp.pca on it, then liontsne.scanpy.tsne'
        )
    components = np.array(reference.varm["PCs"], dtype=np.float64)[:, :count]
    known = np.isfinite(components).all(axis=1)
    if not known.any():
        raise ValueError('.varm["PCs"] of the reference has no numbers: run scanpy.pp.pca on it again')
    components[~known] = 0.0
    return components


def projected(genes: Any, reference: "AnnData", components: np.ndarray) -> np.ndarray:
    """New cells on the principal components of the reference, as `scanpy.pp.pca` puts its own."""
    zero_center = reference.uns.get("pca", {}).get("params", {}).get("zero_center", True)
    scores = np.asarray(genes @ components)
    if zero_center:
        scores = scores - np.asarray(reference.X.mean(axis=0)).ravel() @ components
    return scores.astype(np.float32)
