//! Columns of values with names: what is written, and what is read back by name.

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Text of any length.
    Text,
    /// 32-bit floats.
    F32,
    /// 64-bit floats.
    F64,
    /// Whole numbers of 32 bits, from 0 on.
    U32,
    /// Whole numbers of 64 bits, from 0 on.
    U64,
}

/// The name and the kind of a column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field {
    /// The name, which no other column of the table has.
    pub name: String,
    /// What the values are.
    pub kind: Kind,
    /// Whether a row may have no value here.
    pub nullable: bool,
}

impl Field {
    /// A column with a value in every row.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), kind, nullable: false }
    }

    /// A column in which a row may have no value.
    pub fn nullable(name: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), kind, nullable: true }
    }
}

/// The values of a column, one per row; `None` is null.
///
/// Made with `From` from vectors of values or of options of values: `Column::from(vec![0.5_f32, 1.5])`,
/// `Column::from(vec![Some(3_u64), None])`.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// The values of [`Kind::Text`].
    Text(Vec<Option<String>>),
    /// The values of [`Kind::F32`].
    F32(Vec<Option<f32>>),
    /// The values of [`Kind::F64`].
    F64(Vec<Option<f64>>),
    /// The values of [`Kind::U32`].
    U32(Vec<Option<u32>>),
    /// The values of [`Kind::U64`].
    U64(Vec<Option<u64>>),
}

/// Does the same to the vector of any column.
macro_rules! with_values {
    ($column:expr, $values:ident => $body:expr) => {
        match $column {
            Column::Text($values) => $body,
            Column::F32($values) => $body,
            Column::F64($values) => $body,
            Column::U32($values) => $body,
            Column::U64($values) => $body,
        }
    };
}

impl Column {
    /// A column without rows.
    pub fn empty(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(Vec::new()),
            Kind::F32 => Self::F32(Vec::new()),
            Kind::F64 => Self::F64(Vec::new()),
            Kind::U32 => Self::U32(Vec::new()),
            Kind::U64 => Self::U64(Vec::new()),
        }
    }

    /// What the values are.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Text(_) => Kind::Text,
            Self::F32(_) => Kind::F32,
            Self::F64(_) => Kind::F64,
            Self::U32(_) => Kind::U32,
            Self::U64(_) => Kind::U64,
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        with_values!(self, values => values.len())
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first row without a value, counted from 0.
    pub(crate) fn first_null(&self) -> Option<usize> {
        with_values!(self, values => values.iter().position(Option::is_none))
    }

    /// Whether the last row has no value.
    pub(crate) fn ends_with_null(&self) -> bool {
        with_values!(self, values => matches!(values.last(), Some(None)))
    }

    /// The first row with NaN or an infinity, counted from 0, and that value.
    pub(crate) fn first_not_finite(&self) -> Option<(usize, f64)> {
        fn first(values: impl Iterator<Item = Option<f64>>) -> Option<(usize, f64)> {
            values.enumerate().find_map(|(row, value)| Some((row, value.filter(|v| !v.is_finite())?)))
        }
        match self {
            Self::F32(values) => first(values.iter().map(|value| value.map(f64::from))),
            Self::F64(values) => first(values.iter().copied()),
            Self::Text(_) | Self::U32(_) | Self::U64(_) => None,
        }
    }
}

macro_rules! from_vectors {
    ($($variant:ident: $type:ty),*) => {$(
        impl From<Vec<$type>> for Column {
            fn from(values: Vec<$type>) -> Self {
                Self::$variant(values.into_iter().map(Some).collect())
            }
        }

        impl From<Vec<Option<$type>>> for Column {
            fn from(values: Vec<Option<$type>>) -> Self {
                Self::$variant(values)
            }
        }
    )*};
}

from_vectors!(Text: String, F32: f32, F64: f64, U32: u32, U64: u64);
