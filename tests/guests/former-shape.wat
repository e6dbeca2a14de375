;; A component of the contract as it was before it had plain functions: it imports a resource, which lends it the
;; conversation.
;;
;; The host refuses it when it loads it, and says to rebuild it.
(component
  (import "baler:compaction/history@0.1.0" (instance
    (export "conversation" (type (sub resource)))))
  (core module $strategy
    (func (export "introspect") (result i32)
      i32.const 0))
  (core instance $inner (instantiate $strategy))
  (func $introspect (result u32) (canon lift (core func $inner "introspect")))
  (instance $exported (export "introspect" (func $introspect)))
  (export "baler:compaction/strategy@0.1.0" (instance $exported)))
