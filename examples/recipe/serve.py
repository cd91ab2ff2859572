"""Answer questions: python serve.py model.joblib 8000. Rows come as a JSON list, labels go back."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import joblib
import pandas as pd

path, port = sys.argv[1:]
model = joblib.load(path)  # only files of your own: who writes a pickle can run any program here


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
    return table.where(table.notna(), None)


class Handler(BaseHTTPRequestHandler):
    """Predicts; several requests at a time are welcome."""

    def do_POST(self):
        """Read rows, and write labels or what is wrong with the rows."""
        try:
            rows = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = 200, model.predict(as_table(rows)).tolist()
        except (ValueError, TypeError) as error:
            status, answer = 400, {"error": str(error)}
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
