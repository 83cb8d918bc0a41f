//! What a power cut leaves of a folder: all that was synced, and of the rest whatever chance has it.
//!
//! Stricter than file systems in use. What was written since the last sync of a file is there or not in sectors of 512 bytes,
//! each for itself, and so is a file's length. New names, renames and removals since the last sync of the folder are there
//! up to any of them, or each for itself.

use crate::common::scrambled;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// What a disk writes whole or not at all.
const SECTOR: usize = 512;

/// One call of a program, with a file as its inode.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation<'a> {
    Create { file: u64, name: &'a str },
    Write { file: u64, position: usize, bytes: &'a [u8] },
    Truncate { file: u64, length: usize },
    Sync { file: u64 },
    SyncFolder,
    Rename { file: u64, from: &'a str, to: &'a str },
    Unlink { name: &'a str },
}

/// Numbers that only look random.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(scrambled(seed ^ 0x0FF_C0DE))
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        scrambled(self.0) % end
    }

    /// How likely what was not synced is to survive, in percent: none of it, all, or some.
    fn survival(&mut self) -> u64 {
        [0, 100, 50, 5, 95][self.below(5) as usize]
    }

    fn is_below(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// A file: its bytes after the last sync, and what was done since.
#[derive(Default)]
struct OnDisk<'a> {
    synced: Vec<u8>,
    since: Vec<Operation<'a>>,
}

/// A change of names: one that goes, and one that comes with its file.
#[derive(Clone, Copy)]
struct NameChange<'a> {
    gone: Option<&'a str>,
    come: Option<(&'a str, usize)>,
}

/// A folder and its files.
#[derive(Default)]
pub(super) struct Disk<'a> {
    files: Vec<OnDisk<'a>>,
    /// The file that has an inode now; numbers of removed files come back.
    inodes: HashMap<u64, usize>,
    names: BTreeMap<&'a str, usize>,
    /// Since the last sync of the folder.
    since: Vec<NameChange<'a>>,
}

impl<'a> Disk<'a> {
    /// A file that is there from the beginning.
    pub(super) fn put(&mut self, name: &'a str, inode: u64, bytes: Vec<u8>) {
        self.inodes.insert(inode, self.files.len());
        self.names.insert(name, self.files.len());
        self.files.push(OnDisk { synced: bytes, since: Vec::new() });
    }

    /// What a program asked for.
    pub(super) fn apply(&mut self, operation: Operation<'a>) {
        match operation {
            Operation::Create { file, name } => {
                self.inodes.insert(file, self.files.len());
                self.since.push(NameChange { gone: None, come: Some((name, self.files.len())) });
                self.files.push(OnDisk::default());
            }
            Operation::Write { file, .. } | Operation::Truncate { file, .. } => {
                self.file(file).since.push(operation);
            }
            Operation::Sync { file } => {
                let file = self.file(file);
                for change in std::mem::take(&mut file.since) {
                    change_bytes(&mut file.synced, change, &mut || true);
                }
            }
            Operation::SyncFolder => {
                for change in std::mem::take(&mut self.since) {
                    change_names(&mut self.names, change);
                }
            }
            Operation::Rename { file, from, to } => {
                let come = Some((to, self.inodes[&file]));
                self.since.push(NameChange { gone: Some(from), come });
            }
            Operation::Unlink { name } => {
                self.since.push(NameChange { gone: Some(name), come: None });
            }
        }
    }

    fn file(&mut self, inode: u64) -> &mut OnDisk<'a> {
        &mut self.files[self.inodes[&inode]]
    }

    /// Writes into an empty folder what is there after a power cut.
    pub(super) fn cut(&self, chance: &mut Chance, folder: &Path) {
        for (name, file) in self.names_left(chance) {
            std::fs::write(folder.join(name), self.files[file].left(chance)).unwrap();
        }
    }

    fn names_left(&self, chance: &mut Chance) -> BTreeMap<&'a str, usize> {
        let mut names = self.names.clone();
        let in_order = chance.is_below(50);
        let (end, survival) = (chance.below(self.since.len() as u64 + 1) as usize, chance.survival());
        for (at, change) in self.since.iter().enumerate() {
            if (in_order && at < end) || (!in_order && chance.is_below(survival)) {
                change_names(&mut names, *change);
            }
        }
        names
    }
}

impl OnDisk<'_> {
    fn left(&self, chance: &mut Chance) -> Vec<u8> {
        let (mut bytes, survival) = (self.synced.clone(), chance.survival());
        for change in &self.since {
            change_bytes(&mut bytes, *change, &mut || chance.is_below(survival));
        }
        bytes
    }
}

fn change_names<'a>(names: &mut BTreeMap<&'a str, usize>, change: NameChange<'a>) {
    if let Some(gone) = change.gone {
        names.remove(gone);
    }
    names.extend(change.come);
}

/// Does what was asked for, as far as `survives` says so of each part.
fn change_bytes(file: &mut Vec<u8>, change: Operation<'_>, survives: &mut impl FnMut() -> bool) {
    let longer = |file: &mut Vec<u8>, length: usize| file.resize(file.len().max(length), 0);
    match change {
        Operation::Truncate { length, .. } if survives() => file.resize(length, 0),
        Operation::Write { position, bytes, .. } => {
            // A file may have its new length without the bytes.
            if survives() {
                longer(file, position + bytes.len());
            }
            let mut from = 0;
            while from < bytes.len() {
                let at = position + from;
                let part = (SECTOR - at % SECTOR).min(bytes.len() - from);
                if survives() {
                    longer(file, at + part);
                    file[at..at + part].copy_from_slice(&bytes[from..from + part]);
                }
                from += part;
            }
        }
        _ => (),
    }
}
