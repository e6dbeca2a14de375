"""Compiles a component in a child process with limits. The host starts this file; it is not for importing."""

import importlib.machinery
import importlib.util
import sys


def main() -> int:
    """Loads the native part by its path, since the child has no import path, and has it compile."""
    path = sys.argv[1]
    loader = importlib.machinery.ExtensionFileLoader("_baler", path)
    spec = importlib.util.spec_from_file_location("_baler", path, loader=loader)
    assert spec is not None
    native = importlib.util.module_from_spec(spec)
    loader.exec_module(native)
    code = native.compile_component(sys.argv)
    if code is None:
        print("this file is started by baler to compile a strategy", file=sys.stderr)
        return 2
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
