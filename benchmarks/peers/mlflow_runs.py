"""Logs runs to an MLflow server as its users do: metrics, tags, and a table of the questions.

Run in MLflow's own environment. Each file of the folder is a run: its numbers in `NAME.json`, its
questions in `NAME.parquet`.
"""

import json
import sys
from pathlib import Path
from typing import Any

import mlflow
import pandas as pd

TABLE = "questions.json"


def main() -> None:
    address, folder = sys.argv[1], Path(sys.argv[2])
    mlflow.set_tracking_uri(address)
    experiment = mlflow.set_experiment("nightly")
    runs = [logged(path, json.loads(path.read_text())) for path in sorted(folder.glob("*.json"))]
    told = {"version": mlflow.__version__, "experiment": experiment.experiment_id, "runs": runs}
    print(json.dumps(told | {"table": TABLE}))


def logged(path: Path, run: dict[str, Any]) -> str:
    """The id of the run, logged."""
    with mlflow.start_run(run_name=run["name"], tags=run["labels"]) as started:
        mlflow.log_metrics(run["metrics"])
        mlflow.log_table(pd.read_parquet(path.with_suffix(".parquet")), TABLE)
    return str(started.info.run_id)


if __name__ == "__main__":
    main()
