;; Makes handles of a resource of its own without end, when the component is instantiated.
;;
;; A handle is the host's memory: the host bounds how many there are.
(component
  (type $r (resource (rep i32)))
  (core func $new (canon resource.new $r))
  (core module $flood
    (import "host" "new" (func $new (param i32) (result i32)))
    (func $start
      (loop $again
        (drop (call $new (i32.const 7)))
        (br $again)))
    (start $start))
  (core instance (instantiate $flood
    (with "host" (instance (export "new" (func $new)))))))
