"""Answer questions: python serve.py model.joblib 8000. Rows come as a JSON list, labels go back."""

import json
import math
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import joblib
import pandas as pd

if len(sys.argv) != 3:
    sys.exit("a model and a port, please: python serve.py model.joblib 8000")
path, port = sys.argv[1:]
try:
    model = joblib.load(path)  # of your own: who writes a pickle can run any program here
    (_, _, numbers), (_, encoder, words) = model[0].transformers_[:2]
except Exception as error:
    sys.exit(f"{path} is no model of train.py: {error!r}")
# A word may be a number in the table, and a text in a request.
known = {
    name: {str(word): word for word in found}
    for name, found in zip(words, getattr(encoder, "categories_", ()), strict=False)
}
GAPS = None, ""  # as in a table
MOST_BYTES = 10_000_000


def read_rows(text):
    """Return what was sent."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is not JSON: {error}") from error


def as_table(rows):
    """Return rows as the model knows them: a column that is left out is a gap, whether of numbers or of words."""
    columns = list(model.feature_names_in_)
    if not (isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)):
        example = ", ".join(f'"{name}": {kind_of(name)}' for name in (*numbers, *words))
        raise ValueError(f"rows are a list with an object for each: [{{{example}}}, ...]")
    unknown = [name for row in rows for name in row if name not in columns]
    if unknown:
        raise ValueError(f"there is no column {unknown[0]!r}, but {', '.join(columns)}")
    table = {
        name: [as_value(name, row.get(name), place) for place, row in enumerate(rows, 1)]
        for name in columns
    }
    return pd.DataFrame(table, dtype=object)


def kind_of(name):
    """Return what the values of a column are."""
    return "number" if name in numbers else "word"


def as_value(name, value, place):
    """Return a value as the table of training would have it."""
    if value in GAPS:
        return math.nan
    if name not in numbers and not isinstance(value, (list, dict)):
        return known.get(name, {}).get(str(value), value)
    try:
        number = float(value)
    except (ValueError, OverflowError, TypeError):
        number = math.inf
    if math.isinf(number):
        found = json.dumps(value)[:80]
        raise ValueError(f"{name} is a {kind_of(name)}, not {found}, as in row {place}")
    return number


class Handler(BaseHTTPRequestHandler):
    """Predicts; several requests at a time are welcome."""

    def do_POST(self):
        """Read rows, and write labels or what is wrong with the rows."""
        try:
            length = int(self.headers["Content-Length"] or 0)
            if not 0 <= length <= MOST_BYTES:
                raise ValueError(f"at most {MOST_BYTES:,} bytes at a time, please")
            self.answer(200, model.predict(as_table(read_rows(self.rfile.read(length)))).tolist())
        except (ValueError, TypeError) as error:
            self.answer(400, {"error": str(error)})

    def do_GET(self):
        """Say which columns rows have."""
        self.answer(200, {"columns": list(model.feature_names_in_)})

    def answer(self, status, content):
        """Write a status, and JSON."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())


try:
    server = ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
except (OSError, OverflowError, ValueError) as error:
    sys.exit(f"port {port} cannot be had: {error}")
server.serve_forever()
