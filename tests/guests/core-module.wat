;; A core module: what a compiler writes before it is wrapped as a component.
;;
;; The host says so and what to do about it, instead of that it cannot be parsed.
(module
  (memory (export "memory") 1)
  (func (export "compact") (result i32)
    i32.const 0))
