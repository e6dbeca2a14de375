;; Never returns from a core module's start function, which runs when the component is
;; instantiated, before any export is called.
;;
;; Instantiating a guest is running it: the limits hold there too.
(component
  (core module $endless
    (func $start
      (loop $again (br $again)))
    (start $start))
  (core instance (instantiate $endless)))
