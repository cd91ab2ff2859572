"""``budgetsvm train --checkpoint``: killed, and asked again."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sklearn.datasets import dump_svmlight_file, make_moons

import budgetsvm
from budgetsvm import cli

TRAIN = ["train", "-q", "-B", "30", "-g", "2", "--scale", "standard", "--no-polish"]
KEPT = ["--checkpoint", "run.ckpt", "--checkpoint-every", "0"]
# The core makes few visits at a time.
SLOWLY = """
import sys
from budgetsvm import cli
from budgetsvm._learn import trainer
trainer._CALL_WORK = 1e5
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    X, y = make_moons(6000, noise=0.2, random_state=0)
    dump_svmlight_file(X, y, "data")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_a_command_that_was_killed_goes_on() -> None:
    command = [sys.executable, "-c", SLOWLY, *TRAIN, *KEPT, "--resume", "data", "killed"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    while not Path("run.ckpt").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.001)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert Path("run.ckpt").exists()
    assert not Path("killed").exists()
    assert cli.main([*TRAIN, *KEPT, "--resume", "data", "killed"]) == 0
    assert cli.main([*TRAIN, "data", "whole"]) == 0
    assert sorted(one.name for one in Path().iterdir()) == ["data", "killed", "whole"]
    killed, whole = (budgetsvm.load(name)[-1] for name in ("killed", "whole"))
    assert (killed.dual_coef_ == whole.dual_coef_).all()
    assert (killed.support_vectors_ == whole.support_vectors_).all()


def test_a_checkpoint_outlives_a_model_that_cannot_be_written(capsys) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budgetsvm, "save", _fail)
        assert cli.main([*TRAIN, *KEPT, "data", "out"]) == 1
    assert "no room" in capsys.readouterr().err
    assert Path("run.ckpt").exists()
    assert cli.main([*TRAIN, *KEPT, "--resume", "data", "out"]) == 0
    assert not Path("run.ckpt").exists()


def _fail(*_: object) -> None:
    raise OSError("no room")


def test_options_that_do_not_go_together(capsys) -> None:
    for words, said in (
        (["--resume"], "--resume needs the --checkpoint"),
        ([*KEPT, "-v", "3"], "leaves no checkpoints"),
        ([*KEPT, "--checkpoint-every", "-1"], "-1"),
    ):
        assert cli.main([*TRAIN, *words, "data"]) == 2
        assert said in capsys.readouterr().err
    Path("run.ckpt").write_text("something")
    assert cli.main([*TRAIN, *KEPT, "data"]) == 2
    assert "go on from it by --resume, or delete it" in capsys.readouterr().err
    assert cli.main([*TRAIN, *KEPT, "--resume", "data"]) == 1
    assert (
        "run.ckpt' is not a checkpoint of budgetsvm; give another path" in capsys.readouterr().err
    )
    assert cli.main([*TRAIN, "--checkpoint", "none/run.ckpt", "data"]) == 1
    assert "there is no folder" in capsys.readouterr().err


def test_nothing_is_left_of_a_run_that_is_done(capsys) -> None:
    assert cli.main(["train", "--json", *TRAIN[2:], *KEPT, "--resume", "data", "model"]) == 0
    assert json.loads(capsys.readouterr().out)["terms"] <= 30
    assert sorted(one.name for one in Path().iterdir()) == ["data", "model"]
