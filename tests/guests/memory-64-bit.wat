;; A memory with 64-bit addresses, beside a strategy that behaves.
;;
;; The host does not offer this feature: the component is refused when it is loaded.
(component
  (core module $wide (memory i64 1))
  (core instance (instantiate $wide)))
