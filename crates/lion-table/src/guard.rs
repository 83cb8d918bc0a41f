//! Decoders of other crates that assert where they should refuse.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

static QUIET: Once = Once::new();

/// Runs a decoder of outside bytes and takes an assertion that fails inside it for what it is, a damaged file.
///
/// `arrow-ipc` and `parquet` have a few of those left. Whoever feeds them a damaged file shall read one sentence
/// and no trace of a panic, so the panic hook, which all other panics still reach, is passed over meanwhile.
pub(crate) fn guarded<T, E: ToString>(decode: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    QUIET.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.try_with(Cell::get).unwrap_or(false) {
                usual(panic);
            }
        }));
    });
    let before = GUARDED.replace(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(before);
    match decoded {
        Ok(decoded) => decoded.map_err(|error| error.to_string()),
        Err(_) => Err("its content contradicts itself".to_owned()),
    }
}
