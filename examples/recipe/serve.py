"""Answer questions: python serve.py model.joblib 8000. Rows come as a JSON list, labels go back.

The answer is {"labels": [...]}, with "unknown": {column: [words]} beside them if words came that training has never seen.
"""

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
except OSError as error:
    sys.exit(f"{path} is no model of train.py: {error.strerror or error}")
except ImportError as error:
    sys.exit(f"{path} wants other packages than there are: {error}")
except Exception:  # whatever else comes of bytes that mean something else
    sys.exit(f"{path} is no model of train.py, which writes model.joblib")


def texts_of(word):
    """Return what a word of the table may be in a request: a number may be a text there, 3.0 also 3."""
    whole = isinstance(word, float) and word.is_integer()
    return (str(word), str(int(word))) if whole else (str(word),)


known = {
    name: {text: word for word in found for text in texts_of(word)}
    for name, found in zip(words, getattr(encoder, "categories_", ()), strict=False)
}
used = [name for name in model.feature_names_in_ if name in {*numbers, *words}]
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
        example = ", ".join(f'"{name}": {kind_of(name)}' for name in used)
        raise ValueError(f"rows are a list with an object for each: [{{{example}}}, ...]")
    unknown = [name for row in rows for name in row if name not in columns]
    if unknown:
        raise ValueError(f"there is no column {unknown[0]!r}, but {', '.join(used)}")
    table = {
        name: [as_value(name, row.get(name), place) for place, row in enumerate(rows, 1)]
        for name in columns
    }
    return pd.DataFrame(table, dtype=object)


def unknown_words(table):
    """Return the words of every column that training has never seen: the model takes them for rare ones."""
    found = {}
    for name in words:
        seen = {*known[name].values()}
        some = [word for word in table[name].dropna().unique().tolist() if word not in seen]
        found |= {name: some} if some else {}
    return found


def answer_to(table):
    """Return the labels of rows, and what is to be said of these."""
    unknown = unknown_words(table)
    return {"labels": model.predict(table).tolist()} | ({"unknown": unknown} if unknown else {})


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
            length = self.headers["Content-Length"] or "0"
            if not (length.isascii() and length.isdigit()):
                raise ValueError(f"Content-Length is a number of bytes, not {length[:80]!r}")
            if len(length) > 20 or int(length) > MOST_BYTES:
                raise ValueError(f"at most {MOST_BYTES:,} bytes at a time, please")
            text = self.rfile.read(int(length))
            self.answer(200, answer_to(as_table(read_rows(text))))
        except (ValueError, TypeError) as error:
            self.answer(400, {"error": str(error)})

    def do_GET(self):
        """Say which columns of rows matter; those that training has left out may come, too."""
        self.answer(200, {"columns": used})

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
