;; A memory of 4 GiB from the start, beside a strategy that behaves.
;;
;; The host's memory limit holds before anything runs: the component is refused when it is loaded
;; or instantiated.
(component
  (core module $huge (memory 65536))
  (core instance (instantiate $huge)))
