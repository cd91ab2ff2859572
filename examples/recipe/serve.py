"""Answer questions: python serve.py model.joblib 8000. Rows come as a JSON list, labels go back."""

import json
import math
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import joblib
import pandas as pd

path, port = sys.argv[1:]
model = joblib.load(path)  # only files of your own: who writes a pickle can run any program here
(_, _, numbers), *_ = model[0].transformers_  # the columns that train.py takes for numbers


def read_rows(text):
    """Return what was sent."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"this is not JSON: {error}") from error


def as_table(rows):
    """Return rows as the model knows them: a column that is left out is a gap, whether of numbers or of words."""
    if not (isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)):
        raise ValueError('rows are a list with an object for each: [{"column": value, ...}, ...]')
    table = pd.DataFrame(rows)
    unknown = [name for name in table if name not in model.feature_names_in_]
    if unknown:
        raise ValueError(
            f"there is no column {unknown[0]!r}, but {', '.join(model.feature_names_in_)}"
        )
    table = table.reindex(columns=model.feature_names_in_).astype(object)
    table = table.where(table.notna(), None)
    for name in table:
        fits, what = (is_number, "number") if name in numbers else (is_plain, "word")
        for value in table[name]:
            if not (value is None or fits(value)):
                raise ValueError(f"{name} is a {what}, not {json.dumps(value)}")
    return table


def is_plain(value):
    """Whether a value is one, and no list of some."""
    return not isinstance(value, (list, dict))


def is_number(value):
    """Whether a value is a number that is finite, or the text of one."""
    try:
        return is_plain(value) and math.isfinite(float(value))
    except (ValueError, OverflowError):
        return False


class Handler(BaseHTTPRequestHandler):
    """Predicts; several requests at a time are welcome."""

    def do_POST(self):
        """Read rows, and write labels or what is wrong with the rows."""
        try:
            rows = read_rows(self.rfile.read(int(self.headers["Content-Length"] or 0)))
            status, answer = 200, model.predict(as_table(rows)).tolist()
        except (ValueError, TypeError) as error:
            status, answer = 400, {"error": str(error)}
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())


try:
    server = ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
except (OSError, OverflowError, ValueError) as error:
    sys.exit(f"port {port} cannot be had: {error}")
server.serve_forever()
