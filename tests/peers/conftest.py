"""Which of the tests of others are run, and which are known to fail."""

import re
from pathlib import Path
from typing import Any

import pytest
import sklearn
from sklearn import svm
from sklearn.utils.fixes import parse_version

_PAGE = Path(__file__).parents[2] / "docs" / "coming-from" / "svc.md"
_ROW = re.compile(r"^\| `(test_[^`]+)` \| (.+?) \|$", re.MULTILINE)
_NOT_OURS = (svm.NuSVC, svm.NuSVR)
# Tests of older versions of scikit-learn, which newer ones have without what we do not have.
_SINCE = parse_version("1.8")
_OLDER = dict.fromkeys(
    ("test_unicode_kernel", "test_svc_clone_with_callable_kernel", "test_consistent_proba"),
    "asks for probability=True, which newer versions deprecate",
) | {
    "test_n_iter_libsvm": "wants an array of counts: our n_iter_ are epochs, of all classes at once"
}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "thread_unsafe: a mark of scikit-learn's tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    """Leave out what is about other classes, and expect the failures that the page lists."""
    reasons = dict(_ROW.findall(_PAGE.read_text(encoding="utf-8")))
    theirs = [item for item in items if Path(item.path).parent == Path(__file__).parent]
    others = [item for item in theirs if _is_about_others(item)]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]
    for item in theirs:
        item.add_marker(pytest.mark.filterwarnings("default"))  # they have others than we
        for name in (item.name, item.name.partition("[")[0]):
            if name in reasons:
                item.add_marker(pytest.mark.xfail(reason=reasons[name], strict=True))
                break
            if name in _OLDER and parse_version(sklearn.__version__) < _SINCE:
                item.add_marker(pytest.mark.xfail(reason=_OLDER[name], strict=False))
                break


def _is_about_others(item: Any) -> bool:
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return any(one in _NOT_OURS or isinstance(one, _NOT_OURS) for one in values if one is not None)


@pytest.fixture
def global_random_seed() -> int:
    """Scikit-learn's tests run with several; this is the one that they use by default."""
    return 42
