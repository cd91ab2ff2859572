"""The command line of the experiments."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("experiments", reason="the experiments are not part of what is installed")
pytest.importorskip("budgetsvm.datasets")

from experiments import __main__ as command
from experiments.running.jobs import Job
from experiments.running.runner import InterruptedRunError
from tools.doubles import fake_experiment, fake_jobs


def _failing_section(scope: Any, results: Any) -> Any:
    return results["no such job"]


@pytest.fixture(autouse=True)
def experiments(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Put experiments in place that take no time."""
    failing = [Job("bad", fake_jobs.fail, {"text": "no such luck"})]
    found = {
        "fake-one": fake_experiment,
        "bad-job": SimpleNamespace(
            __doc__="Fails early.\n\nMore.", jobs=lambda _: failing, section=_failing_section
        ),
        "bad-section": SimpleNamespace(
            __doc__="Fails late.", jobs=lambda _: [], section=_failing_section
        ),
    }
    monkeypatch.setattr(command, "EXPERIMENTS", found)
    return found


def _read(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_quick_run_writes_a_report(tmp_path: Path) -> None:
    arguments = ["--quick", "--out", str(tmp_path), "--workers", "2", "--only", "fake_one"]
    assert command.main(arguments) == 0
    page = _read(tmp_path)
    assert "This is a quick run" in page
    assert "Table 4. Time taken" in page.replace("</strong>", "")
    assert "two noisy rings" in page
    assert "no verdicts" in page
    assert "verdict held" not in page, "rings say nothing about the paper"
    assert not (tmp_path / "data" / "claims.csv").exists()
    assert "is missing" not in page
    assert (tmp_path / "jobs" / "run.json").exists()
    assert command.main(arguments) == 0
    assert _read(tmp_path) == page, "nothing was done, so nothing has changed"


@pytest.mark.slow
def test_what_failed_is_told_and_the_rest_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["--quick", "--out", str(tmp_path), "--workers", "2"]) == 1
    page, err = _read(tmp_path), capsys.readouterr().err
    assert "Accuracy &amp; time" in page
    assert ">Fails early<" in page
    assert "These jobs failed: <code>bad</code>." in page
    assert "Its jobs are done, but writing it failed." in page
    assert "FAILED: bad\nTraceback" in err
    assert "ValueError: no such luck" in err
    assert "KeyError: 'no such job'" in err
    assert err.endswith("2 failed: bad, section bad-section\n")


def test_an_interrupted_run_ends_with_its_own_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: Any) -> None:
        raise InterruptedRunError("stopped: 1 of 2")

    monkeypatch.setattr(command, "run_jobs", interrupt)
    assert command.main(["--quick", "--out", str(tmp_path)]) == 130
    assert "stopped: 1 of 2" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_an_empty_table_is_named(
    tmp_path: Path, experiments: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    del experiments["bad-job"], experiments["bad-section"]
    section = fake_experiment.section
    experiments["fake-one"] = SimpleNamespace(
        __doc__="Empty.", jobs=fake_experiment.jobs, section=lambda *_: _emptied(section(*_))
    )
    assert command.main(["--quick", "--out", str(tmp_path), "--workers", "2"]) == 1
    assert "table 'fake-table' is empty; the report was not written" in capsys.readouterr().err
    assert not (tmp_path / "report.html").exists()


def _emptied(section: Any) -> Any:
    from dataclasses import replace

    from experiments.report.content import Data

    return replace(section, parts=[replace(section.parts[1], shown=Data(["a"], []))])


def test_names_are_listed_and_unknown_ones_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        command.main(["--help"])
    assert end.value.code == 0
    assert "bad-job       Fails early\n" in capsys.readouterr().out
    with pytest.raises(SystemExit) as end:
        command.main(["--only", "nonsense"])
    assert end.value.code == 2
    assert "fake-one" in capsys.readouterr().err


def test_without_data_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("BUDGETSVM_DATA", raising=False)
    with pytest.raises(SystemExit, match=r"Where are .* --data or BUDGETSVM_DATA, or use --quick"):
        command.main([])
    with pytest.raises(SystemExit, match=r"There is no folder .*gone\. Name"):
        command.main(["--data", str(tmp_path / "gone")])
    monkeypatch.setenv("BUDGETSVM_DATA", str(tmp_path / "away"))
    with pytest.raises(SystemExit, match=r"There is no folder .*away\. Name"):
        command.main([])
