//! Reading values that may be unknown: unions told apart by a member, and enums of strings.
//!
//! It knows how a discriminator is found and how an unknown value is kept; it knows no value of the protocol.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::Meta;

/// A variant of an open union that this version of the protocol doesn't define.
///
/// Values whose discriminator begins with `_` belong to implementations; all others are reserved for later
/// protocol versions. Protocol: Extensibility.
#[derive(Debug, Clone, PartialEq)]
pub struct Other {
    key: &'static str,
    tag: String,
    fields: Meta,
}

impl Other {
    pub(crate) fn new(key: &'static str, tag: String, mut fields: Meta) -> Self {
        fields.shift_remove(key);
        Self { key, tag, fields }
    }

    /// The value of the discriminator.
    #[must_use]
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// All members but the discriminator, as received.
    #[must_use]
    pub fn fields(&self) -> &Meta {
        &self.fields
    }

    /// Whether the value belongs to an implementation and not to a later protocol version.
    #[must_use]
    pub fn is_custom(&self) -> bool {
        self.tag.starts_with('_')
    }
}

impl Serialize for Other {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len() + 1))?;
        map.serialize_entry(self.key, &self.tag)?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// A union whose variants are told apart by the string member `TAG`.
pub(crate) trait Union: Sized {
    const TAG: &'static str;
    /// Whether an unknown or malformed tag means the variant without a tag.
    const FALLS_BACK: bool;

    /// Builds the variant of `tag` (none: the member is missing) from the other members.
    fn build<'de, A: MapAccess<'de>>(tag: Option<String>, members: &mut Members<A>)
    -> Result<Self, A::Error>;
}

/// The members of a union without its tag: those read before the tag was found, then the unread ones.
pub(crate) struct Members<A> {
    read: std::vec::IntoIter<(String, Value)>,
    value: Option<Value>,
    unread: A,
}

impl<'de, A: MapAccess<'de>> Members<A> {
    /// Reads all members into `T`.
    pub(crate) fn read<T: Deserialize<'de>>(&mut self) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(self))
    }

    /// Keeps all members of an unknown variant; those in `required` must be strings.
    pub(crate) fn other(
        &mut self,
        key: &'static str,
        tag: &str,
        required: &[&'static str],
    ) -> Result<Other, A::Error> {
        let mut fields = Meta::new();
        while let Some((name, value)) = self.next_entry()? {
            fields.insert(name, value);
        }
        for name in required {
            match fields.get(*name) {
                Some(Value::String(_)) => {}
                Some(_) => return Err(A::Error::custom(format_args!("`{name}` must be a string"))),
                None => return Err(A::Error::missing_field(name)),
            }
        }
        Ok(Other::new(key, tag.to_owned(), fields))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Members<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.read.next() {
            Some((name, value)) => {
                self.value = Some(value);
                seed.deserialize(StringDeserializer::new(name)).map(Some)
            }
            None => self.unread.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        match self.value.take() {
            Some(value) => seed.deserialize(value).map_err(A::Error::custom),
            None => self.unread.next_value_seed(seed),
        }
    }
}

/// Reads a union from an object.
pub(crate) fn union<'de, U: Union, D: Deserializer<'de>>(deserializer: D) -> Result<U, D::Error> {
    deserializer.deserialize_map(UnionVisitor(PhantomData))
}

struct UnionVisitor<U>(PhantomData<U>);

impl<'de, U: Union> Visitor<'de> for UnionVisitor<U> {
    type Value = U;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the member `{}`", U::TAG)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<U, A::Error> {
        if U::FALLS_BACK {
            return fall_back(&mut map);
        }
        let mut read = Vec::new();
        let mut tag = None;
        while let Some(key) = map.next_key_seed(KeySeed(U::TAG))? {
            match key {
                Key::Tag => {
                    tag = Some(map.next_value::<String>()?);
                    break;
                }
                Key::Member(name) => read.push((name, map.next_value()?)),
            }
        }
        let mut members = Members { read: read.into_iter(), value: None, unread: map };
        let union = U::build(tag, &mut members)?;
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(union)
    }
}

/// Reads a union with a variant for unknown tags, for which a tag that is no string is unknown too.
fn fall_back<'de, U: Union, A: MapAccess<'de>>(map: &mut A) -> Result<U, A::Error> {
    let mut read = Vec::new();
    let mut tag = None;
    while let Some((name, value)) = map.next_entry::<String, Value>()? {
        if name == U::TAG {
            tag = value.as_str().map(str::to_owned);
        } else {
            read.push((name, value));
        }
    }
    U::build(tag, &mut Members { read: read.into_iter(), value: None, unread: map })
}

enum Key {
    Tag,
    Member(String),
}

struct KeySeed(&'static str);

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Key, E> {
        Ok(if name == self.0 { Key::Tag } else { Key::Member(name.to_owned()) })
    }
}

/// The error for a tag that names no variant of a closed union.
pub(crate) fn no_variant<U: Union, E: Error>(tag: Option<&str>, known: &'static [&'static str]) -> E {
    match tag {
        Some(tag) => E::unknown_variant(tag, known),
        None => E::missing_field(U::TAG),
    }
}

/// A type that is a string on the wire.
pub(crate) trait Text: Sized {
    /// The strings an enum defines; empty where any string will do.
    const KNOWN: &'static [&'static str];

    /// The value of a string, none for one that a closed enum doesn't define.
    fn from_text(text: &str) -> Option<Self>;
}

/// Reads a string type from a string and nothing else.
pub(crate) fn text<'de, T: Text, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_str(TextVisitor(PhantomData))
}

struct TextVisitor<T>(PhantomData<T>);

impl<T: Text> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::from_text(text).ok_or_else(|| E::unknown_variant(text, T::KNOWN))
    }
}
