;; A component of a contract that no host speaks yet.
;;
;; The host refuses it, and says which contract it has and which ones the host speaks.
(component
  (core module $strategy
    (func (export "introspect") (result i32)
      i32.const 0))
  (core instance $inner (instantiate $strategy))
  (func $introspect (result u32) (canon lift (core func $inner "introspect")))
  (instance $exported (export "introspect" (func $introspect)))
  (export "baler:compaction/strategy@9.9.0" (instance $exported)))
