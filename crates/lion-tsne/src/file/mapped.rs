//! The one unsafe line of this library: mapping a file into memory.
#![allow(unsafe_code)]

use memmap2::{Mmap, MmapOptions};
use std::fs::File;
use std::io;

/// Maps a file to be read. All of it will be, for the checksum, so it is brought in at once.
pub(super) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the mapping is read-only and private to this process, and is only ever seen as bytes, f32 or other
    // plain numbers, of which every bit pattern is a value. What remains is another program that changes or cuts
    // the file in place while it is mapped: then numbers change under our eyes, or the system ends the process
    // (SIGBUS). `save` never does that, since it renames a new file over the old one, and docs/format.md asks the
    // same of other writers.
    unsafe { MmapOptions::new().populate().map(file) }
}
