//! Rows in groups, which may overlap: the clusters of all levels.

/// The rows of each group.
pub(super) struct Groups {
    rows: usize,
    members: Vec<Vec<u32>>,
}

impl Groups {
    /// `count` groups, given the group of each row.
    pub(super) fn new(of_row: &[Option<u32>], count: usize) -> Self {
        let mut members = vec![Vec::new(); count];
        fill(&mut members, of_row);
        Self { rows: of_row.len(), members }
    }

    /// The clusters of several levels; one that is in two levels is filled once.
    pub(super) fn of_levels(levels: &[Vec<Option<u32>>], count: usize) -> Self {
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
        for of_row in levels {
            let mut found = vec![Vec::new(); count];
            fill(&mut found, of_row);
            let new = members.iter_mut().zip(found).filter(|(members, _)| members.is_empty());
            new.for_each(|(members, found)| *members = found);
        }
        Self { rows: levels.first().map_or(0, Vec::len), members }
    }

    pub(super) fn count(&self) -> usize {
        self.members.len()
    }

    /// How many rows there are, in groups or not.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn members(&self) -> &[Vec<u32>] {
        &self.members
    }
}

fn fill(members: &mut [Vec<u32>], of_row: &[Option<u32>]) {
    for (row, group) in (0..).zip(of_row) {
        if let Some(group) = group {
            members[*group as usize].push(row);
        }
    }
}
