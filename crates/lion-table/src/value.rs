//! One value of any kind, as JSON has it; a cell of another format becomes one where its kind is not known beforehand.

use crate::column::Column;
use crate::error::{Fault, shorten};
use crate::select::SourceKind;
use crate::table::number_text;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// One value.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Whole(i128),
    Number(f64),
    /// Days since 1970-01-01, UTC; JSON has none.
    Date(f64),
    Text(String),
    List(Vec<Value>),
    /// In the order of the line, which a map would lose.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// As a feature.
    pub(crate) fn number(&self) -> Result<f32, Fault> {
        let value = self.wide_number()?;
        let narrow = value as f32;
        if narrow.is_finite() { Ok(narrow) } else { Err(Fault::of(value)) }
    }

    /// As a number, finite or not.
    fn wide_number(&self) -> Result<f64, Fault> {
        match self {
            Self::Null => Err(Fault::Missing),
            Self::Bool(value) => Ok(f64::from(u8::from(*value))),
            Self::Whole(value) => Ok(*value as f64),
            Self::Number(value) => Ok(*value),
            Self::Date(days) => Err(Fault::Text(lion_recipe::date_in_words(*days))),
            Self::Text(text) => Err(Fault::Text(text.clone())),
            Self::List(_) => Err(Fault::Text("[…]".to_owned())),
            Self::Object(_) => Err(Fault::Text("{…}".to_owned())),
        }
    }

    /// As a whole number from 0 to `most`; a float may be one too, as some tools make it one beside nulls.
    fn whole_number(&self, most: u64) -> Result<u64, Fault> {
        let whole = match *self {
            Self::Whole(value) => Some(value),
            _ => Some(self.wide_number()?).filter(|v| v.trunc() == *v && v.abs() < 2e19).map(|v| v as i128),
        };
        let fits = whole.and_then(|value| u64::try_from(value).ok()).filter(|&value| value <= most);
        fits.ok_or_else(|| Fault::NotWhole(self.clone().into_text().unwrap_or_default(), most))
    }

    /// As an id or label.
    pub(crate) fn into_text(self) -> Option<String> {
        match self {
            Self::Bool(value) => Some(value.to_string()),
            Self::Whole(value) => Some(value.to_string()),
            Self::Number(value) => number_text(value),
            Self::Date(days) => Some(lion_recipe::date_in_words(days)),
            Self::Text(text) => Some(text),
            Self::Null | Self::List(_) | Self::Object(_) => None,
        }
    }

    /// What a column can serve as that has this value in its first row.
    pub(crate) fn kind(&self) -> SourceKind {
        match self {
            Self::Null | Self::Bool(_) | Self::Whole(_) | Self::Number(_) => SourceKind::Number,
            Self::Text(text) => SourceKind::Text(format!("text ({:?} in row 0)", shorten(text))),
            Self::Date(_) => SourceKind::Other("dates".to_owned()),
            Self::List(_) => SourceKind::List,
            Self::Object(_) => SourceKind::Other("objects".to_owned()),
        }
    }

    /// Adds the value to a column, as what the column holds.
    pub(crate) fn push_to(self, column: &mut Column) -> Result<(), Fault> {
        let some = Some(&self).filter(|value| !matches!(value, Self::Null));
        match column {
            Column::F32(to) => to.push(some.map(Self::number).transpose()?),
            Column::F64(to) => match some.map(Self::wide_number).transpose()? {
                Some(value) if !value.is_finite() => return Err(Fault::of(value)),
                value => to.push(value),
            },
            Column::U32(to) => {
                let value = some.map(|value| value.whole_number(u32::MAX.into())).transpose()?;
                to.push(value.map(|value| value as u32));
            }
            Column::U64(to) => to.push(some.map(|value| value.whole_number(u64::MAX)).transpose()?),
            Column::Text(to) => to.push(self.into_text()),
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Whole(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Whole(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            object.push(entry);
        }
        Ok(Value::Object(object))
    }
}
