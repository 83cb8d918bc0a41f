"""Maps of cells, with the 700 cells that come with scanpy."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import liontsne

sc = pytest.importorskip("scanpy")
ad = pytest.importorskip("anndata")

from liontsne.scanpy import ingest, tsne  # noqa: E402


@pytest.fixture(scope="module")
def cells():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adata = sc.datasets.pbmc68k_reduced()
    order = np.random.default_rng(0).permutation(adata.n_obs)
    reference, new = adata[order[:600]].copy(), adata[order[600:]].copy()
    del new.obsm, reference.obsm
    sc.pp.pca(reference, n_comps=30, random_state=0)
    tsne(reference, perplexity=20, labels="bulk_labels")
    return reference, new


def test_a_map_of_cells(cells):
    reference, _ = cells
    assert reference.obsm["X_tsne"].shape == (600, 2)
    known = reference.uns["tsne"]
    assert known["params"]["use_rep"] == "X_pca" and known["params"]["n_pcs"] == 30
    lion = liontsne.LionTSNE(perplexity=20, random_state=0).fit(reference.obsm["X_pca"])
    assert_array_equal(lion.embedding_, reference.obsm["X_tsne"])


def test_new_cells_find_their_kind(cells):
    reference, new = cells
    new = new.copy()
    ingest(new, reference)
    assert new.obsm["X_tsne"].shape == (100, 2)
    inside = (new.obs["liontsne_verdict"] != "outlier").to_numpy()
    assert inside.mean() > 0.8 and new.obs["liontsne_score"].between(0, 1).all()
    kinds = reference.obs["bulk_labels"].astype(str)
    same = (
        kinds.loc[new.obs["liontsne_nearest"]].to_numpy()
        == new.obs["bulk_labels"].astype(str).to_numpy()
    )
    assert same[inside].mean() > 0.6
    # Cells of the reference, as new ones, find themselves; the projection rounds otherwise.
    again = reference[:50].copy()
    ingest(again, reference)
    assert list(again.obs["liontsne_nearest"]) == list(again.obs_names)
    np.testing.assert_allclose(again.obsm["X_tsne"], reference.obsm["X_tsne"][:50], atol=2)
    label, share = new.obs["liontsne_label"], new.obs["liontsne_label_share"]
    known = new.obs["liontsne_verdict"].isin(["exact", "interpolated"]).to_numpy()
    assert (label.isna() == share.isna()).all() and (label.notna() == known).all()
    right = label.astype(str) == new.obs["bulk_labels"].astype(str)
    assert right[known].mean() > 0.6 and abs(right[known].mean() - share[known].mean()) < 0.15


def test_strange_cells(cells):
    reference, new = cells
    odd = new[:5].copy()
    odd.X = odd.X + 40 * np.random.default_rng(0).normal(size=odd.shape)
    ingest(odd, reference)
    assert (odd.obs["liontsne_verdict"] == "outlier").all() and odd.obs[
        "liontsne_group"
    ].notna().all()


def test_files_keep_the_map(cells, tmp_path):
    reference, new = cells
    reference.write_h5ad(tmp_path / "reference.h5ad")
    one, other = new.copy(), new.copy()
    ingest(one, reference)
    ingest(other, ad.read_h5ad(tmp_path / "reference.h5ad"), n_jobs=1)
    assert_array_equal(one.obsm["X_tsne"], other.obsm["X_tsne"])


def test_genes_themselves_and_sparse_ones(cells, tmp_path):
    from scipy.sparse import csr_matrix

    reference, new = (part.copy() for part in cells)
    tsne(reference, use_rep="X", perplexity=20, key_added="genes")
    ingest(new, reference, key="genes")
    assert new.obsm["X_genes"].shape == (100, 2)
    sparse = ad.AnnData(
        csr_matrix(np.where(reference.X > 1, reference.X, 0)), reference.obs, reference.var
    )
    tsne(sparse, perplexity=20)
    sparse.write_h5ad(tmp_path / "sparse.h5ad")
    again = sparse[:40].copy()
    ingest(again, ad.read_h5ad(tmp_path / "sparse.h5ad"))
    assert_array_equal(again.obsm["X_tsne"], sparse.obsm["X_tsne"][:40])


def test_what_is_missing_is_said(cells):
    reference, new = cells
    with pytest.raises(ValueError, match="has no map 'umap2'"):
        ingest(new.copy(), reference, key="umap2")
    with pytest.raises(ValueError, match="lack 3 genes of the reference"):
        ingest(new[:, 5:].copy(), reference)
    with pytest.raises(ValueError, match=".obsm has no 'X_scvi'"):
        tsne(new.copy(), use_rep="X_scvi")


@pytest.mark.parametrize("unused", [np.nan, 0.0])
def test_genes_that_the_pca_did_not_use(cells, unused):
    """scanpy leaves 0 for genes that are not highly variable; other tools leave NaN. New cells need
    not have them."""
    reference, new = (part.copy() for part in cells)
    used = np.arange(reference.n_vars) % 3 > 0
    sc.pp.pca(reference, n_comps=8, mask_var=used)
    reference.varm["PCs"][~used] = unused
    tsne(reference, perplexity=20)
    fewer = new[:, used].copy()
    ingest(new, reference)
    ingest(fewer, reference)
    assert np.isfinite(new.obsm["X_tsne"]).all()
    assert_array_equal(new.obsm["X_tsne"], fewer.obsm["X_tsne"])
    assert (new.obs["liontsne_verdict"] != "outlier").mean() > 0.8
    with pytest.raises(ValueError, match="lack 1 genes of the reference"):
        ingest(new[:, [gene for gene in range(new.n_vars) if gene != 1]].copy(), reference)
