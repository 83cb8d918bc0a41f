//! Enums whose variants people name: on the command line, in Python, in tables and in JSON. One table beside each enum has
//! the names ([`named!`](crate::named!)); the list of all, parsing, printing and the sentence that refuses come from it.

use crate::error::Error;
use std::fmt::Display;
use std::str::FromStr;

/// An enum whose variants have names: for code that works with any of them, such as a parser of flags.
pub trait Named: Display + FromStr<Err = Error> + Sized + 'static {
    /// Every variant that can be asked for by name, in the order in which people read of them.
    const VARIANTS: &'static [Self];

    /// The name.
    fn name(&self) -> &'static str;

    /// All names, as a sentence lists them.
    fn names() -> String {
        Self::VARIANTS.iter().map(Self::name).collect::<Vec<_>>().join(", ")
    }
}

/// Gives an enum its names: `ALL`, `as_str`, [`Display`], [`FromStr`] and [`Named`]. First the word for the enum in the
/// sentence that refuses an unknown name; then a name for each variant. A variant after `beside` has a name too but
/// cannot be asked for by it.
#[macro_export]
macro_rules! named {
    ($type:ident, $word:literal: $($variant:ident = $name:literal),+ $(; beside $other:pat = $shown:literal)?) => {
        impl $type {
            /// Every variant that has no value of its own, in the order in which people read of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name, as the command line, Python, tables and JSON have it.
            pub const fn as_str(&self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                    $($other => $shown,)?
                }
            }
        }

        impl $crate::Named for $type {
            const VARIANTS: &'static [Self] = &Self::ALL;

            fn name(&self) -> &'static str {
                self.as_str()
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = $crate::Error;

            fn from_str(text: &str) -> ::std::result::Result<Self, $crate::Error> {
                match text {
                    $($name => Ok(Self::$variant),)+
                    _ => Err($crate::Error::Parameter {
                        name: $word,
                        problem: format!("must be one of {}, not {text:?}", <Self as $crate::Named>::names()),
                    }),
                }
            }
        }
    };
}

/// Keeps enums in JSON by their names.
macro_rules! serde_by_name {
    ($($type:ty),+) => {$(
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                name.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}

serde_by_name!(
    crate::lion::Local,
    crate::lion::Verdict,
    crate::lion::VerdictRule,
    crate::live::NoticeState,
    crate::live::ShareTrend,
    crate::live::Why,
    crate::preprocess::Metric,
    crate::tsne::Descent
);

#[cfg(test)]
mod tests {
    use crate::lion::{Positions, Taper};
    use crate::{Init, Local, Matrix, Method, Metric, Named, Verdict, VerdictRule};
    use std::collections::BTreeSet;
    use std::fmt::Debug;

    fn come_back<T: Named + Debug + PartialEq>() {
        let names: BTreeSet<&str> = T::VARIANTS.iter().map(T::name).collect();
        assert_eq!(names.len(), T::VARIANTS.len(), "two variants of {} share a name", T::names());
        for variant in T::VARIANTS {
            assert_eq!(variant.name().parse::<T>().unwrap(), *variant);
            assert_eq!(variant.to_string(), variant.name());
        }
        assert!("".parse::<T>().is_err() && "Perhaps".parse::<T>().is_err());
    }

    #[test]
    fn names_come_back_as_what_they_name() {
        come_back::<Local>();
        come_back::<Metric>();
        come_back::<Method>();
        come_back::<crate::Descent>();
        come_back::<Init>();
        come_back::<Taper>();
        come_back::<Positions>();
        come_back::<Verdict>();
        come_back::<VerdictRule>();
        come_back::<crate::index::Search>();
        come_back::<crate::live::Why>();
    }

    #[test]
    fn an_unknown_name_is_told_which_there_are() {
        let refused = "spline".parse::<Local>().unwrap_err().to_string();
        assert_eq!(refused, "local must be one of energy, attraction, idw, not \"spline\"");
        // Places that are given have a name in a map's provenance, and no flag asks for them by it.
        let given = Init::Given(Matrix::new(1, 2, vec![0.0; 2]).unwrap());
        assert_eq!(given.to_string(), "given");
        assert!("given".parse::<Init>().is_err());
    }

    #[test]
    fn verdicts_are_listed_by_their_numbers() {
        // Columns of codes depend on it.
        assert!(Verdict::ALL.iter().enumerate().all(|(number, verdict)| *verdict as usize == number));
    }

    #[test]
    fn json_has_the_names() {
        assert_eq!(serde_json::to_string(&Verdict::BesideOutlier).unwrap(), "\"beside-outlier\"");
        // An escaped text is not borrowed from the file.
        assert_eq!(serde_json::from_str::<Metric>("\"c\\u006fsine\"").unwrap(), Metric::Cosine);
        let refused = serde_json::from_str::<Metric>("\"taxi\"").unwrap_err().to_string();
        assert!(refused.contains("metric must be one of euclidean, cosine, not \"taxi\""), "{refused}");
    }
}
