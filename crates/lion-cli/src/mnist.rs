//! All of MNIST, from a folder with its four files.

use anyhow::{Context, Result, ensure};
use lion_evaluate::digits::{DigitImages, MnistImages};
use lion_table::ReadOptions;
use lion_tsne::Matrix;
use std::path::{Path, PathBuf};

/// Pixels of an image: 28 x 28.
const PIXELS: usize = 784;

/// Reads the four files as they were published, gzipped or not.
pub(crate) fn read(folder: &Path) -> Result<MnistImages> {
    Ok(MnistImages {
        training: part(folder, "train")?,
        test: part(folder, "t10k")?,
        folder: folder.to_owned(),
    })
}

fn part(folder: &Path, name: &str) -> Result<DigitImages> {
    // Both are looked for before the large one is read.
    let images = find(folder, &format!("{name}-images-idx3-ubyte"))?;
    let labels_file = find(folder, &format!("{name}-labels-idx1-ubyte"))?;
    let labels = lion_table::read_labels(&labels_file)?;
    let mut table = lion_table::read(&images, &ReadOptions::default())?;
    let (rows, cols) = (table.rows, table.cols);
    ensure!(
        cols == PIXELS,
        "{} has images of {cols} pixels, and those of MNIST have {PIXELS}",
        images.display()
    );
    ensure!(
        labels.len() == rows,
        "{} has {} labels, and {} has {rows} images: they do not belong together",
        labels_file.display(),
        labels.len(),
        images.display()
    );
    // From 0 (black) to 1, as the embedded digits are.
    table.data.iter_mut().for_each(|pixel| *pixel /= 255.0);
    Ok(DigitImages { pixels: Matrix::new(rows, cols, table.data)?, labels })
}

/// The file of this name, or else the same gzipped.
fn find(folder: &Path, name: &str) -> Result<PathBuf> {
    let plain = folder.join(name);
    let zipped = folder.join(format!("{name}.gz"));
    [plain, zipped].into_iter().find(|path| path.exists()).with_context(|| {
        format!(
            "there is no {name} or {name}.gz in {}: `cargo xtask data mnist` fetches MNIST into data/mnist",
            folder.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn idx(shape: &[u32], bytes: &[u8]) -> Vec<u8> {
        let mut file = vec![0, 0, 8, shape.len() as u8];
        file.extend(shape.iter().flat_map(|size| size.to_be_bytes()));
        file.extend(bytes);
        file
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// Three images to learn from, gzipped, and two to test with, not.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
        let pixels: Vec<u8> = (0..3 * 784).map(|at| (at % 256) as u8).collect();
        write("train-images-idx3-ubyte.gz", &gzip(&idx(&[3, 28, 28], &pixels)));
        write("train-labels-idx1-ubyte.gz", &gzip(&idx(&[3], &[5, 0, 4])));
        write("t10k-images-idx3-ubyte", &idx(&[2, 28, 28], &pixels[..2 * 784]));
        write("t10k-labels-idx1-ubyte", &idx(&[2], &[7, 2]));
        folder
    }

    fn refusal(folder: &Path) -> String {
        format!("{:#}", read(folder).err().unwrap())
    }

    #[test]
    fn four_files_are_read() {
        let MnistImages { training, test, .. } = read(folder().path()).unwrap();
        assert_eq!(
            (training.labels, test.labels),
            (vec!["5".into(), "0".into(), "4".into()], vec!["7".into(), "2".into()])
        );
        assert_eq!((training.pixels.rows(), test.pixels.rows(), test.pixels.cols()), (3, 2, 784));
        assert_eq!(training.pixels.row(1)[..2], [16.0 / 255.0, 17.0 / 255.0]);
        assert_eq!(test.pixels.data(), &training.pixels.data()[..2 * 784]);
        assert!(training.pixels.data().contains(&1.0));
    }

    #[test]
    fn what_is_missing_or_does_not_fit_is_named() {
        let folder = folder();
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
        write("t10k-labels-idx1-ubyte", &idx(&[3], &[7, 2, 1]));
        let sentence = refusal(folder.path());
        assert!(
            sentence.contains("t10k-labels-idx1-ubyte has 3 labels") && sentence.contains("2 images"),
            "{sentence}"
        );
        write("t10k-images-idx3-ubyte", &idx(&[3, 2, 2], &[0; 12]));
        assert!(refusal(folder.path()).contains("images of 4 pixels"));
        std::fs::remove_file(folder.path().join("train-labels-idx1-ubyte.gz")).unwrap();
        let sentence = refusal(folder.path());
        assert!(
            sentence.contains("no train-labels-idx1-ubyte") && sentence.contains("cargo xtask data mnist"),
            "{sentence}"
        );
        assert!(refusal(Path::new("nowhere")).contains("no train-images-idx3-ubyte or"));
    }
}
