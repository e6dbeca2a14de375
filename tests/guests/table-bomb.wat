;; Grows a table until it is refused, when the component is instantiated.
;;
;; Elements of a table are the host's memory: the host bounds them as it bounds memories.
(component
  (core module $bomb
    (table $t 1 funcref)
    (func $grow
      (loop $more
        (br_if $more
          (i32.ne (table.grow $t (ref.null func) (i32.const 65536)) (i32.const -1))))
      unreachable)
    (start $grow))
  (core instance (instantiate $bomb)))
