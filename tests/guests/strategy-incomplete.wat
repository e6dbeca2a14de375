;; A component of the right contract by name that has only one of its functions, of another type.
;;
;; The host refuses it when it loads it, not when it calls it.
(component
  (core module $strategy
    (func (export "introspect") (result i32)
      i32.const 0))
  (core instance $inner (instantiate $strategy))
  (func $introspect (result u32) (canon lift (core func $inner "introspect")))
  (instance $exported (export "introspect" (func $introspect)))
  (export "baler:compaction/strategy@0.1.0" (instance $exported)))
