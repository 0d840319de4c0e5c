//! JSON objects.
//!
//! A type is a table of members, each with the rule by which it is read. The rules:
//!
//! | rule | absent | null | malformed |
//! |---|---|---|---|
//! | `req`, `num` | error | error | error |
//! | `req_list` | error | empty | empty; bad items are dropped |
//! | `req_items` | error | error | error; bad items are dropped |
//! | `req_default` | default | error | error |
//! | `req_absent` | empty | empty | error |
//! | `req_null` | error | empty | error |
//! | `opt` | none | none | error |
//! | `soft` | none | none | none |
//! | `soft_list` | none | none | none; bad items are dropped |
//! | `soft_value` | none | none | cannot be malformed |
//! | `flag`, `dflt` | default | default | default |
//! | `list`, `all_list` | empty | empty | empty; bad items are dropped |
//! | `null_list` | empty | empty | error |
//! | `null_map` | empty | empty | error |
//! | `map` | empty | error | error |
//! | `patch` | keep | clear | keep |
//! | `patch_list` | keep | clear | keep; bad items are dropped |
//! | `patch_strict` | keep | clear | error |
//! | `flat` | a union whose members lie among the object's own | | |
//! | `flat_soft` | the same, where a malformed union is none | | |
//!
//! The last entry of an object is `meta` (the `_meta` map), `patch_meta` (`_meta` that is itself a patch)
//! or nothing. `: Default` marks an object without required members, `: Nullable` one that may moreover be
//! written `null`.

/// Defines a JSON object: the struct, its constructor, one builder method a member, and both directions.
macro_rules! object {
    ($(#[$m:meta])* pub struct $name:ident $(: $kind:ident)? { $($body:tt)* }) => {
        object! { @field [$(#[$m])*] [$name $($kind)?] {} {} {} {} {} {} $($body)* }
    };

    // `_meta`, always last.
    (@field $m:tt $h:tt $pb:tt $de:tt $names:tt $params:tt $init:tt {$($set:tt)*} meta $(,)?) => {
        object! { @push $m $h $pb $de $names $params $init
            {$($set)* object! { @set option meta [crate::Meta] [concat!(
                "Sets `_meta`, the members that implementations add for themselves.")] }}
            [#[doc = "The `_meta` map: members that implementations add for themselves. Protocol: Extensibility."]]
            [#[serde(rename = "_meta")]]
            [#[serde(skip_serializing_if = "Option::is_none")]]
            [#[serde(default, deserialize_with = "crate::lenient::or_default")]]
            meta [Option<crate::Meta>] [] [Default::default()] }
    };
    (@field $m:tt $h:tt $pb:tt $de:tt $names:tt $params:tt $init:tt {$($set:tt)*} patch_meta $(,)?) => {
        object! { @push $m $h $pb $de $names $params $init
            {$($set)* object! { @set patch meta [crate::Meta] [concat!(
                "Sets the patch of `_meta`.")] }}
            [#[doc = "A patch of the stored `_meta` map: kept when absent, cleared by null, else merged key by key \
                      (a null value removes its key). Protocol: Extensibility."]]
            [#[serde(rename = "_meta")]]
            [#[serde(skip_serializing_if = "crate::Patch::is_keep")]]
            [#[serde(default, deserialize_with = "crate::lenient::or_default")]]
            meta [crate::Patch<crate::Meta>] [] [Default::default()] }
    };

    // One member: its documentation, its rule, its name (and its wire name where that isn't the camelCase
    // of the name), its type.
    (@field $m:tt $h:tt $pb:tt $de:tt $names:tt $params:tt $init:tt $set:tt
        $(#[$fm:meta])* $mode:ident $field:ident $(= $wire:literal)? : $ty:ty, $($rest:tt)*) => {
        object! { @add $mode $m $h $pb $de $names $params $init $set
            [$(#[$fm])*] [$(#[serde(rename = $wire)])?] $field [$ty] $($rest)* }
    };
    (@field [$(#[$m:meta])*] [$name:ident $($kind:ident)?] {$($pb:tt)*} {$($de:tt)*} {$($names:tt)*}
        {$($params:tt)*} {$($init:tt)*} {$($set:tt)*}) => {
        $(#[$m])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name { $($pb)* }

        object! { @default $name $($kind)? {$($init)*} }

        impl $name {
            #[doc = "A value with its required members; the others are absent."]
            #[must_use]
            pub fn new($($params)*) -> Self {
                Self { $($init)* }
            }
            $($set)*
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(serde::Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Wire { $($de)* }
                let Wire { $($names)* } = object! { @read Wire deserializer $($kind)? };
                Ok(Self { $($names)* })
            }
        }
    };

    (@default $name:ident {$($init:tt)*}) => {};
    (@default $name:ident $kind:ident {$($init:tt)*}) => {
        impl Default for $name {
            fn default() -> Self {
                Self { $($init)* }
            }
        }
    };

    (@read $wire:ident $d:ident) => { crate::lenient::object::<$wire, D>($d)? };
    (@read $wire:ident $d:ident Default) => { crate::lenient::object::<$wire, D>($d)? };
    (@read $wire:ident $d:ident Nullable) => {
        match crate::lenient::object_or_null::<$wire, D>($d)? {
            Some(wire) => wire,
            None => return Ok(Self::default()),
        }
    };

    // Appends one member to every list and goes on.
    (@push $m:tt $h:tt {$($pb:tt)*} {$($de:tt)*} {$($names:tt)*} {$($params:tt)*} {$($init:tt)*} $set:tt
        [$($doc:tt)*] [$($ren:tt)*] [$($ser:tt)*] [$($read:tt)*] $field:ident [$ty:ty] [$($param:tt)*]
        [$value:expr] $($rest:tt)*) => {
        object! { @field $m $h
            {$($pb)* $($doc)* $($ren)* $($ser)* pub $field: $ty,}
            {$($de)* $($ren)* $($read)* $field: $ty,}
            {$($names)* $field,}
            {$($params)* $($param)*}
            {$($init)* $field: $value,}
            $set $($rest)* }
    };

    (@add req $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt $s:tt $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i $s $doc $ren [] [] $f [$ty] [$f: impl Into<$ty>,] [$f.into()] $($r)* }
    };
    (@add num $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt $s:tt $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i $s $doc $ren [] [] $f [$ty] [$f: $ty,] [$f] $($r)* }
    };
    (@add req_list $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt $s:tt $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i $s $doc $ren []
            [#[serde(deserialize_with = "crate::lenient::list_or_empty")]]
            $f [Vec<$ty>] [$f: impl Into<Vec<$ty>>,] [$f.into()] $($r)* }
    };
    (@add req_items $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt $s:tt $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i $s $doc $ren []
            [#[serde(deserialize_with = "crate::lenient::valid_items")]]
            $f [Vec<$ty>] [$f: impl Into<Vec<$ty>>,] [$f.into()] $($r)* }
    };
    (@add req_null $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt $s:tt $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i $s $doc $ren []
            [#[serde(deserialize_with = "crate::lenient::null_is_default")]]
            $f [Vec<$ty>] [$f: impl Into<Vec<$ty>>,] [$f.into()] $($r)* }
    };
    (@add req_default $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt $s:tt $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i $s $doc $ren [] [#[serde(default)]]
            $f [$ty] [$f: impl Into<$ty>,] [$f.into()] $($r)* }
    };
    // Required by the protocol, yet read as empty when it is missing.
    (@add req_absent $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt $s:tt $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i $s $doc $ren []
            [#[serde(default, deserialize_with = "crate::lenient::null_is_default")]]
            $f [Vec<$ty>] [$f: impl Into<Vec<$ty>>,] [$f.into()] $($r)* }
    };
    (@add opt $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt {$($s:tt)*} $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i {$($s)* object! { @set option $f [$ty] [object!(@sets $f)] }} $doc $ren
            [#[serde(skip_serializing_if = "Option::is_none")]] [#[serde(default)]]
            $f [Option<$ty>] [] [Default::default()] $($r)* }
    };
    (@add soft $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt {$($s:tt)*} $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i {$($s)* object! { @set option $f [$ty] [object!(@sets $f)] }} $doc $ren
            [#[serde(skip_serializing_if = "Option::is_none")]]
            [#[serde(default, deserialize_with = "crate::lenient::or_default")]]
            $f [Option<$ty>] [] [Default::default()] $($r)* }
    };
    (@add soft_list $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt {$($s:tt)*} $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i {$($s)* object! { @set option $f [Vec<$ty>] [object!(@sets $f)] }} $doc $ren
            [#[serde(skip_serializing_if = "Option::is_none")]]
            [#[serde(default, deserialize_with = "crate::lenient::optional_list")]]
            $f [Option<Vec<$ty>>] [] [Default::default()] $($r)* }
    };
    (@add flag $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt {$($s:tt)*} $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i {$($s)* object! { @set plain $f [$ty] [object!(@sets $f)] }} $doc $ren
            [] [#[serde(default, deserialize_with = "crate::lenient::or_default")]]
            $f [$ty] [] [Default::default()] $($r)* }
    };
    // A member with a protocol default, left out while it has it.
    (@add dflt $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt {$($s:tt)*} $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i {$($s)* object! { @set plain $f [$ty] [object!(@sets $f)] }} $doc $ren
            [#[serde(skip_serializing_if = "crate::lenient::is_default")]]
            [#[serde(default, deserialize_with = "crate::lenient::or_default")]]
            $f [$ty] [] [Default::default()] $($r)* }
    };
    (@add list $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt {$($s:tt)*} $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i {$($s)* object! { @set into $f [Vec<$ty>] [object!(@sets $f)] }} $doc $ren
            [#[serde(skip_serializing_if = "Vec::is_empty")]]
            [#[serde(default, deserialize_with = "crate::lenient::list_or_empty")]]
            $f [Vec<$ty>] [] [Default::default()] $($r)* }
    };
    // As `list`, but written even when it is empty.
    (@add all_list $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt {$($s:tt)*} $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i {$($s)* object! { @set into $f [Vec<$ty>] [object!(@sets $f)] }} $doc $ren
            [] [#[serde(default, deserialize_with = "crate::lenient::list_or_empty")]]
            $f [Vec<$ty>] [] [Default::default()] $($r)* }
    };
    (@add null_list $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt {$($s:tt)*} $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i {$($s)* object! { @set into $f [Vec<$ty>] [object!(@sets $f)] }} $doc $ren
            [#[serde(skip_serializing_if = "Vec::is_empty")]]
            [#[serde(default, deserialize_with = "crate::lenient::null_is_default")]]
            $f [Vec<$ty>] [] [Default::default()] $($r)* }
    };
    (@add null_map $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt {$($s:tt)*} $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i {$($s)* object! { @set plain $f [$ty] [object!(@sets $f)] }} $doc $ren
            [#[serde(skip_serializing_if = "crate::lenient::is_default")]]
            [#[serde(default, deserialize_with = "crate::lenient::null_is_default")]]
            $f [$ty] [] [Default::default()] $($r)* }
    };
    (@add map $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt {$($s:tt)*} $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i {$($s)* object! { @set plain $f [$ty] [object!(@sets $f)] }} $doc $ren
            [] [#[serde(default)]] $f [$ty] [] [Default::default()] $($r)* }
    };
    (@add patch $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt {$($s:tt)*} $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i {$($s)* object! { @set patch $f [$ty] [object!(@sets $f)] }} $doc $ren
            [#[serde(skip_serializing_if = "crate::Patch::is_keep")]]
            [#[serde(default, deserialize_with = "crate::lenient::or_default")]]
            $f [crate::Patch<$ty>] [] [Default::default()] $($r)* }
    };
    (@add patch_list $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt {$($s:tt)*} $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i {$($s)* object! { @set patch $f [Vec<$ty>] [object!(@sets $f)] }} $doc $ren
            [#[serde(skip_serializing_if = "crate::Patch::is_keep")]]
            [#[serde(default, deserialize_with = "crate::lenient::patch_list")]]
            $f [crate::Patch<Vec<$ty>>] [] [Default::default()] $($r)* }
    };
    (@add patch_strict $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt {$($s:tt)*} $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i {$($s)* object! { @set patch $f [$ty] [object!(@sets $f)] }} $doc $ren
            [#[serde(skip_serializing_if = "crate::Patch::is_keep")]] [#[serde(default)]]
            $f [crate::Patch<$ty>] [] [Default::default()] $($r)* }
    };
    (@add flat $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt $s:tt $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i $s $doc [#[serde(flatten)]] [] []
            $f [$ty] [$f: impl Into<$ty>,] [$f.into()] $($r)* }
    };
    (@add flat_soft $m:tt $h:tt $pb:tt $de:tt $n:tt $p:tt $i:tt {$($s:tt)*} $doc:tt $ren:tt $f:ident [$ty:ty] $($r:tt)*) => {
        object! { @push $m $h $pb $de $n $p $i {$($s)* object! { @set option $f [$ty] [object!(@sets $f)] }} $doc
            [#[serde(flatten)]] [] [] $f [Option<$ty>] [] [Default::default()] $($r)* }
    };

    (@sets $f:ident) => { concat!("Sets `", stringify!($f), "`.") };
    (@set option $f:ident [$ty:ty] [$doc:expr]) => {
        #[doc = $doc]
        #[must_use]
        pub fn $f(mut self, $f: impl crate::IntoOption<$ty>) -> Self {
            self.$f = $f.into_option();
            self
        }
    };
    (@set patch $f:ident [$ty:ty] [$doc:expr]) => {
        #[doc = $doc]
        #[must_use]
        pub fn $f(mut self, $f: impl crate::IntoPatch<$ty>) -> Self {
            self.$f = $f.into_patch();
            self
        }
    };
    (@set into $f:ident [$ty:ty] [$doc:expr]) => {
        #[doc = $doc]
        #[must_use]
        pub fn $f(mut self, $f: impl Into<$ty>) -> Self {
            self.$f = $f.into();
            self
        }
    };
    (@set plain $f:ident [$ty:ty] [$doc:expr]) => {
        #[doc = $doc]
        #[must_use]
        pub fn $f(mut self, $f: $ty) -> Self {
            self.$f = $f;
            self
        }
    };
}
pub(crate) use object;
