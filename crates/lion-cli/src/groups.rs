//! The groups that rows belong to: a column of texts.

use std::collections::HashMap;

/// The number of each row's group, by the order in which groups come.
pub(crate) fn numbered(groups: Vec<String>) -> Vec<u32> {
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let number = |group| {
        let next = numbers.len() as u32;
        *numbers.entry(group).or_insert(next)
    };
    groups.into_iter().map(number).collect()
}
