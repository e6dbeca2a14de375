"""Threads, forks, signals, event loops."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import baler
import baler.aio


def test_many_threads_get_the_same_result(body, host):
    expected = baler.compact(body, strategy="sliding-window", host=host).body
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: baler.compact(body, strategy="sliding-window", host=host).body, range(64)))
    assert all(result == expected for result in results)


def test_other_threads_go_on_meanwhile(body, host):
    """A strategy that waits must not hold the interpreter."""
    ticks = 0
    ended = threading.Event()

    def tick():
        nonlocal ticks
        while not ended.is_set():
            ticks += 1
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    slow = baler.Strategy.of(lambda request: time.sleep(0.5), name="slow")
    baler.compact(body, strategy=slow, host=host)
    ended.set()
    thread.join()
    assert ticks > 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_compacts(body, host):
    expected = baler.compact(body, host=host).body
    child = os.fork()
    if child == 0:
        # The engine's clock is a thread, which the child does not have: it must stop a loop all the same.
        code = 1
        try:
            same = baler.compact(body, host=host).body == expected
            tired = baler.Strategy("tiered", fuel=1_000)
            fell_back = baler.compact(body, strategy=tired, host=host).fell_back
            code = 0 if same and fell_back else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert baler.compact(body, host=host).body == expected


def test_ctrl_c_stops_a_compaction(tmp_path):
    script = textwrap.dedent("""
        import signal, sys, time, baler
        # A shell starts what it runs in the background with Ctrl-C ignored, and Python leaves that as it is.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        messages = [{"role": "user", "content": "dig"}, {"role": "assistant", "content": "ok " * 4000}] * 3
        host = baler.Host(state=sys.argv[1])

        def wait(request):
            print("asked", flush=True)
            time.sleep(60)

        try:
            baler.compact(messages, strategy=wait, host=host)
        except KeyboardInterrupt:
            print("stopped", flush=True)
            baler.compact(messages, strategy="native:truncate", host=host)
            print("goes on", flush=True)
            import os; os._exit(0)
    """)
    process = subprocess.Popen([sys.executable, "-c", script, tmp_path], stdout=subprocess.PIPE, text=True)
    # The time that comes before depends on the machine: imports, and the host's first use.
    assert process.stdout.readline() == "asked\n"
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "stopped\n"
    assert time.monotonic() - began < 20
    assert process.stdout.readline() == "goes on\n"
    assert process.wait(60) == 0


def test_asyncio_compacts_beside_other_tasks(body, host):
    async def main():
        return await asyncio.gather(*(baler.aio.compact(body, host=host) for _ in range(4)))

    results = asyncio.run(main())
    assert len({str(result.body) for result in results}) == 1 and results[0].is_compacted


def test_a_cancelled_task_ends_the_work(body, host):
    ended = threading.Event()
    slow = baler.Strategy.of(lambda request: time.sleep(20), name="endless")

    def work():
        try:
            return baler.compact(body, strategy=slow, host=host)
        finally:
            ended.set()

    async def main():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(baler.aio.run(work), 0.3)

    began = time.monotonic()
    asyncio.run(main())
    assert ended.wait(5) and time.monotonic() - began < 5


def test_trio_compacts(body, host):
    trio = pytest.importorskip("trio")

    async def main():
        result = await baler.aio.compact(body, host=host)
        with trio.move_on_after(0.3) as scope:
            await baler.aio.compact(body, strategy=lambda request: time.sleep(20), host=host)
        assert scope.cancelled_caught
        return result

    assert trio.run(main).is_compacted


def test_a_timeout_ends_the_call_with_the_conversation_unchanged(body, host):
    slow = baler.Strategy.of(lambda request: time.sleep(2), name="sleeper")
    began = time.monotonic()
    result = baler.compact(body, strategy=slow, timeout=0.3, host=host)
    assert time.monotonic() - began < 2
    assert not result.is_compacted and result.receipt["why"] == "out-of-time" and result.body == body


def test_a_program_ends_while_a_callable_hangs(tmp_path):
    script = textwrap.dedent("""
        import sys, time, baler
        messages = [{"role": "user", "content": "dig"}, {"role": "assistant", "content": "ok " * 4000}] * 3
        slow = baler.Strategy.of(lambda request: time.sleep(1), timeout=0.1, name="slow")
        print(baler.compact(messages, strategy=slow, host=baler.Host(state=sys.argv[1])).fell_back)
    """)
    began = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, "True\n")
    # Without a handler, Python prints warnings.
    assert ended.stderr.startswith("the strategy `slow` failed") and ended.stderr.count("\n") == 1
    assert time.monotonic() - began < 30
