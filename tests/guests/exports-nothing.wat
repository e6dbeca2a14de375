;; A component that exports nothing.
;;
;; The host refuses it and names the export that is missing.
(component)
