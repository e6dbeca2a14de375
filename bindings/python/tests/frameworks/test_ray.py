"""A local Ray cluster of three nodes, each with processes of its own, one of which is killed in the middle."""

import json
import os
import re
import subprocess
import sysconfig
import threading
import time
from pathlib import Path

import pytest

import baler

ray = pytest.importorskip("ray")

from ray.cluster_utils import Cluster  # noqa: E402

import baler.ray  # noqa: E402

TASK = "Check the soil of all beds. Never water the cacti. 仙人掌"


def session(number: int) -> bytes:
    messages = [{"role": "user", "content": f"{TASK} Garden {number}."}]
    for bed in range(20 + number % 7):
        call = {"id": f"c{bed}", "type": "function", "function": {"name": "soil", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        output = f"garden {number}, bed {bed}: soil 24 %, light 900 lx, at noon by the north wall"
        messages.append({"role": "tool", "tool_call_id": f"c{bed}", "content": output})
    return json.dumps({"model": "gpt-4o", "messages": messages}, ensure_ascii=False).encode()


def work(number: int) -> bytes:
    """A session in which names come up again, as an evaluation needs."""
    messages = [{"role": "user", "content": f"{TASK} Write it down in notes/garden_{number}.md."}]
    for step in range(30):
        path = f"src/beds/{'abcdefg'[step % 7]}_{number}_{step // 2}.toml"
        call = {
            "id": f"c{step}",
            "type": "function",
            "function": {"name": "read", "arguments": json.dumps({"path": path})},
        }
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        later = f"src/beds/{'abcdefg'[(step + 7) % 7]}_{number}_{(step + 7) // 2}.toml"
        output = f"{path}: soil 24 %, see {later} and moisture_{step}_{number}"
        messages.append({"role": "tool", "tool_call_id": f"c{step}", "content": output * 3})
    return json.dumps({"model": "gpt-4o", "messages": messages}, ensure_ascii=False).encode()


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    cluster.wait_for_nodes()
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def folder(tmp_path) -> Path:
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    for number in range(40):
        (sessions / f"{number:03}.json").write_bytes(session(number))
    (sessions / "900-cut-off.json").write_bytes(session(1)[:200])
    (sessions / "901-no-utf8.json").write_bytes(b'{"messages": "\xff"}')
    return sessions


def alone(folder: Path, **options) -> dict[str, str]:
    """What one machine makes of the sessions."""
    host = baler.Host(state=None)
    results = {}
    for file in sorted(folder.iterdir()):
        try:
            results[file.name] = baler.compact(file.read_bytes(), host=host, **options).body
        except baler.ConversationError:
            results[file.name] = None
    return results


def test_a_cluster_makes_what_one_machine_makes(cluster, folder):
    options = {"budget": "40%", "strategy": "sliding-window"}
    rows = baler.ray.compact(baler.ray.read_files(str(folder)), batch_size=4, **options).take_all()
    # Marks are sealed with the key of each host, so only texts of one's own would differ; a window has none but notes.
    found = {Path(row["path"]).name: row for row in rows}
    expected = alone(folder, **options)
    assert set(found) == set(expected)
    for name, body in expected.items():
        row = found[name]
        if body is None:
            assert row["compacted"] is None and "ConversationError" in row["error"]
            continue
        assert row["error"] is None and row["outcome"] == "compacted" and row["tokens_after"] < row["tokens_before"]
        assert len(json.loads(row["compacted"])["messages"]) == len(json.loads(body)["messages"])
        assert json.loads(row["receipt"])["strategy"] == row["strategy"] == "sliding-window"


def test_a_key_makes_results_equal_byte_for_byte(cluster, folder, tmp_path):
    """Workers that share a state folder, and so its key, make the same bytes as one machine with that folder."""
    state = tmp_path / "state"
    host = baler.Host(state=state, archive="off")
    rows = baler.ray.compact(baler.ray.read_files(str(folder)), host={"state": str(state), "archive": "off"}).take_all()
    assert len(rows) == 42
    for row in rows:
        if row["error"] is None:
            assert row["compacted"] == baler.compact(Path(row["path"]).read_bytes(), host=host).body


def test_strategies_and_lines_and_parquet(cluster, tmp_path):
    lines = tmp_path / "sessions.jsonl"
    lines.write_bytes(b"\n".join([session(1), b'{"damaged', session(2)]) + b"\n")
    strategy = baler.Strategy("sliding-window", config={"keep": {"units": 3}})
    dataset = baler.ray.compact(baler.ray.read_lines(str(lines)), strategy=strategy)
    dataset.write_parquet(str(tmp_path / "out"))
    rows = ray.data.read_parquet(str(tmp_path / "out")).take_all()
    assert sorted(row["outcome"] or "-" for row in rows) == ["-", "compacted", "compacted"]
    found = baler.ray.validate(baler.ray.read_lines(str(lines))).take_all()
    assert sorted(str(row["valid"]) for row in found) == ["None", "True", "True"]
    with pytest.raises(TypeError, match="`host`"):
        baler.ray.validate(baler.ray.read_lines(str(lines)), host=baler.Host(state=None))


def test_a_node_that_is_killed_loses_nothing(cluster, folder):
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()

    def slowly(request):
        import time

        time.sleep(0.3)
        units = request["units"]
        return [place for place, unit in enumerate(units) if "protected" in unit["traits"] or place > len(units) - 5]

    killed = []

    def kill():
        cluster.remove_node(node, allow_graceful=False)
        killed.append(time.monotonic())

    killer = threading.Timer(8, kill)
    killer.start()
    dataset = baler.ray.read_files(str(folder), override_num_blocks=20)
    strategy = baler.Strategy.of(slowly, name="slow")
    rows = baler.ray.compact(dataset, strategy=strategy, batch_size=1).take_all()
    ended = time.monotonic()
    killer.join()
    assert killed and killed[0] < ended, "the node was killed too late to matter"
    names = [Path(row["path"]).name for row in rows]
    assert len(names) == len(set(names)) == 42
    assert sum(row["error"] is not None for row in rows) == 2
    assert {row["strategy"] for row in rows if row["error"] is None} == {"slow"}


def without_times(tables: str) -> str:
    """Returns tables without the figures that differ from run to run: milliseconds, median and 95 %."""
    return re.sub(r"\| [\d.]+, [\d.]+ \|", "| times |", tables)


def test_an_evaluation_gives_the_figures_of_one_machine(cluster, tmp_path):
    corpus = tmp_path / "corpus/gardens"
    corpus.mkdir(parents=True)
    for number in range(9):
        (corpus / f"{number}.json").write_bytes(work(number))
    arguments = ["--strategy", "sliding-window", "--strategy", "native:digest", "--budget", "25%"]
    program = Path(sysconfig.get_path("scripts")) / "baler"
    expected = without_times(subprocess.check_output([program, "eval", corpus.parent, *arguments], text=True))
    assert "sliding-window" in expected and "| times |" in expected
    assert without_times(baler.ray.evaluate(corpus.parent, *arguments, parts=4)) == expected
    # More parts than conversations.
    assert without_times(baler.ray.evaluate(corpus.parent, *arguments, parts=12)) == expected
    with pytest.raises(ray.exceptions.RayTaskError, match="no set called"):
        baler.ray.evaluate(corpus.parent, "--set", "roses", parts=2)
    with pytest.raises(baler.OptionError, match="--resume"):
        baler.ray.evaluate(corpus.parent, "--resume", "x.jsonl")
    # The program starts the same.
    bin = str(program.parent)
    environment = {**os.environ, "RAY_ADDRESS": cluster.address, "PATH": f"{bin}:{os.environ['PATH']}"}
    command = [program, "eval", *arguments, "--engine", "ray", corpus.parent]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert without_times(ended.stdout) == expected, ended.stderr[-2000:]


def test_a_strategy_from_a_file_needs_no_file_in_another_process(tmp_path, host, body):
    import pickle

    file = tmp_path / "mine.wasm"
    file.write_bytes(bytes(dict(baler._baler.strategies())["sliding-window"]))
    strategy = baler.Strategy.load(file, config={"keep": {"units": 3}})
    expected = baler.compact(body, strategy=strategy, host=host).body
    copy = pickle.dumps(strategy)
    file.unlink()
    assert baler.compact(body, strategy=pickle.loads(copy), host=host).body == expected
