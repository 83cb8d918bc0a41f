//! Where a map is written, and what a failure leaves behind.

use super::support::*;
use lion_tsne::map::MapParts;
use lion_tsne::preprocess::Preprocess;
use lion_tsne::{Map, Matrix, Metric, PcaChoice};
use std::fs;
use std::path::Path;

#[cfg(unix)]
#[test]
fn a_saved_file_has_the_permissions_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (ours, any) = (folder.path().join("m.lion"), folder.path().join("any"));
    full().save(&ours).unwrap();
    fs::write(&any, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&ours), mode(&any));
}

#[cfg(unix)]
#[test]
fn saving_through_a_link_keeps_the_link() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("maps")).unwrap();
    let (link, target) = (folder.path().join("link.lion"), folder.path().join("maps/real.lion"));
    symlink("maps/real.lion", &link).unwrap();
    for map in [full(), plain()] {
        map.save(&link).unwrap();
        assert!(link.is_symlink() && !target.is_symlink());
        assert!(Map::load(&link).unwrap() == map && Map::load(&target).unwrap() == map);
    }
    assert_eq!(fs::read_dir(target.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_map_that_was_read_whole_does_not_see_what_becomes_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lion");
    full().save(&path).unwrap();
    let map = Map::load_whole(&path).unwrap();
    // In place, as `cp` does it: the same file, other bytes, then fewer.
    let size = fs::metadata(&path).unwrap().len() as usize;
    fs::write(&path, vec![0xff; size]).unwrap();
    assert!(map == full());
    fs::write(&path, "").unwrap();
    assert!(map == full());
    let said = |error: lion_tsne::Error| error.to_string();
    assert_eq!(Map::load_whole(&path).map_err(said), Map::load(&path).map_err(said));
    assert!(Map::load_whole(&path).is_err());
}

#[test]
fn places_that_cannot_be_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let save = |path: &Path| full().save(path).unwrap_err().to_string();
    let sentence =
        "the map was not written, and a file already there is left as it was: it is not an ordinary file";
    assert_eq!(save(folder.path()), format!("{}: {sentence}", folder.path().display()));
    let missing = folder.path().join("no/m.lion");
    let sentence = "the map cannot be written, its folder does not exist: make the folder first";
    assert_eq!(save(&missing), format!("{}: {sentence}", missing.display()));
    #[cfg(unix)]
    assert!(save(Path::new("/dev/null")).ends_with("it is not an ordinary file"));
}

/// Runs itself again in a shell that lets no file grow beyond a few kilobytes: what a full disk does, for real.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_file_whole() {
    const FOLDER: &str = "LION_TEST_FULL_DISK";
    if let Some(folder) = std::env::var_os(FOLDER) {
        let path = Path::new(&folder).join("m.lion");
        let rows = Matrix::new(5000, 2, (0..10_000).map(|i| i as f32).collect()).unwrap();
        let (preprocess, x) = Preprocess::fit(rows, Metric::Euclidean, PcaChoice::None, 0).unwrap();
        let y = x.clone();
        let provenance = provenance();
        let parts =
            MapParts { preprocess, x, y, place_of: None, ids: None, labels: None, provenance, lion: None };
        let error = Map::new(parts).unwrap().save(&path).unwrap_err().to_string();
        let sentence =
            ": the map was not written, and a file already there is left as it was: File too large";
        assert!(error.starts_with(&format!("{}{sentence}", path.display())), "{error}");
        assert!(Map::load(&path).unwrap() == full());
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "a temporary file is left behind");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    full().save(folder.path().join("m.lion")).unwrap();
    let output = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 32; exec \"$0\" --exact file::saving::a_full_disk_leaves_the_old_file_whole"])
        .arg(std::env::current_exe().unwrap())
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// A map that was read knows its checksum; one made of it has another.
#[test]
fn a_changed_map_has_another_checksum() {
    let map = full();
    let read = Map::from_bytes(&map.to_bytes().unwrap()).unwrap();
    assert_eq!(read.checksum().unwrap(), map.checksum().unwrap());
    assert_eq!(Forged::new(&read).checksum(), read.checksum().unwrap());
    let moved = read.with_places(Matrix::zeros(read.y().rows(), read.y().cols())).unwrap();
    assert_ne!(moved.checksum().unwrap(), read.checksum().unwrap());
    assert_eq!(Forged::new(&moved).checksum(), moved.checksum().unwrap());
}

#[cfg(unix)]
#[test]
fn a_file_that_others_may_not_read_stays_so() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lion");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    full().save(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(Map::load(&path).is_ok());
}
