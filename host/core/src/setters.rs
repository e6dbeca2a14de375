//! Setters of options, which can get more fields later.

/// Writes `with_FIELD` methods, which take the options and return them with another value of the
/// field. A field of type `Option<T>` takes a `T` as well.
macro_rules! setters {
    ($($name:ident $field:ident: $($t:ident)::+ $(<$some:ident>)?;)*) => {
        $( setters!(@ $name $field $($t)::+ $(<$some>)?); )*
    };
    (@ $name:ident $field:ident Option<$t:ident>) => {
        #[doc = concat!("Returns the same options with another value of [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
        #[must_use]
        pub fn $name(mut self, $field: impl Into<Option<$t>>) -> Self {
            self.$field = $field.into();
            self
        }
    };
    (@ $name:ident $field:ident $t:ty) => {
        #[doc = concat!("Returns the same options with another value of [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
        #[must_use]
        pub fn $name(mut self, $field: $t) -> Self {
            self.$field = $field;
            self
        }
    };
}

/// Writes methods of a builder, each called as the field that it sets. A field of type `Option<T>` takes a `T` as well.
macro_rules! builder_setters {
    ($($(#[$doc:meta])* $field:ident: $t:ty;)*) => { $(
        $(#[$doc])*
        #[must_use]
        pub fn $field(mut self, $field: impl Into<$t>) -> Self {
            self.$field = $field.into();
            self
        }
    )* };
}
