#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# python3 serving a load, with its debug package installed: at least 95 % of the weight is in named
# functions, and other code is module+0xoffset.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
cat >"$W/server.py" <<'P'
import http.server, json, sys, threading, urllib.request

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({str(i): sorted(range(i % 300, 0, -1)) for i in range(300)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
threading.Thread(target=server.serve_forever, daemon=True).start()
for _ in range(int(sys.argv[1])):
    json.loads(urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/").read())
P
run --service web --hz 499 --sampler perf -- /usr/bin/python3 "$W/server.py" 250 || fail "the server ended with $?"
profile '{service="web"}' -d limit=1000 >"$W/top.json"
/usr/bin/python3 - "$W/top.json" <<'P' || fail "too little has a name"
import json, re, sys
top = json.load(open(sys.argv[1]))
unnamed = sum(f["self"] for f in top["functions"] if re.search(r"\+0x[0-9a-f]+$", f["name"]))
listed = sum(f["self"] for f in top["functions"])
# Time that the sampler cannot see is no function: it is shown, but counts neither as named nor as
# unnamed.
seen = top["total"] - sum(f["self"] for f in top["functions"] if f["name"] in ("[kernel]", "[unsampled]"))
print(f"  named: {1 - unnamed / seen:.4f} of user weight, {1 - unnamed / top['total']:.4f} of all; {len(top['functions'])} functions, {top['samples']} samples")
for f in top["functions"][:5]:
    print(f"    {100 * f['self_share']:5.1f} %  {f['name']}  {f['module']}")
sys.exit(not (unnamed / seen <= .05 and abs(listed - top["total"]) <= 1e-6 * top["total"]))
P
