;; A table of four billion elements from the start, beside a strategy that behaves.
;;
;; The host bounds tables as it bounds memories: 32 GiB of pointers are never reserved.
(component
  (core module $huge (table 4294967295 funcref))
  (core instance (instantiate $huge)))
