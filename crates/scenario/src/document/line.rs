//! Keys that the tables of lines have alike: `[link]`, `[link.reverse]` and `[wired]`.

/// Declares a table as [`keys!`] does, in which `shared NAME;` stands for the rows of that name
/// below. A row whose sentence or default is the table's own is written out in it.
macro_rules! line_keys {
    // Row by row: the finished part, and the rest.
    (@rows $head:tt [$($done:tt)*] shared queue; $($left:tt)*) => {
        line_keys!(@rows $head [
            $($done)*
            /// The queue in front of the link.
            queue: QueueTable, holding keys;
        ] $($left)*);
    };
    (@rows $head:tt [$($done:tt)*] shared aqm; $($left:tt)*) => {
        // Less indented, so that the sentence's lines match the JSON Schema's.
        line_keys!(@rows $head [$($done)*
        /// Queue management: which waiting packet is served, dropped or marked. By default
        /// drop-tail.
        aqm: AqmTable, holding keys;
        ] $($left)*);
    };
    (@rows $head:tt [$($done:tt)*] shared variation; $($left:tt)*) => {
        line_keys!(@rows $head [
            $($done)*
            /// A delay that is drawn for each packet, in addition to `delay`.
            jitter: JitterTable, holding keys;
            /// Packets that come late, so that others overtake them.
            late: LateTable, holding keys;
            /// Delays and losses as they were recorded, in place of `delay` and `loss`.
            recorded: RecordedTable, holding keys;
        ] $($left)*);
    };
    (
        @rows $head:tt [$($done:tt)*]
        $(#[$attribute:meta])*
        $key:ident: $Key:ty $(= $default:expr)? $(, usually $usual:path)? $(, as $Written:ty)?
            $(, holding $table:tt)?;
        $($left:tt)*
    ) => {
        line_keys!(@rows $head [
            $($done)*
            $(#[$attribute])*
            $key: $Key $(= $default)? $(, usually $usual)? $(, as $Written)?
                $(, holding $table)?;
        ] $($left)*);
    };
    (@rows { $($head:tt)* } $done:tt) => {
        line_keys!(@table { $($head)* } $done);
    };
    (@table { $($head:tt)* } [$($done:tt)*]) => {
        keys! { $($head)* takes { $($done)* } }
    };
    (
        $(#[$attribute:meta])*
        pub struct $Table:ident takes { $($rows:tt)* }
    ) => {
        line_keys!(@rows { $(#[$attribute])* pub struct $Table } [] $($rows)*);
    };
}
