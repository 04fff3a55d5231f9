#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 10: calls with timeouts that the kernel never restarts end as without the agent: no EINTR.
# Transfers on loopback, both ends sampled at the highest rate, deliver the sent data: curl by TLS,
# git, SFTP by pipes and, where an SSH server is available, by SSH (OpenSSH and libssh2), ZeroMQ.
# The single clock of a process (itimer) signals the process, so occasionally a waiting thread: at
# most one call in a thousand, as README states.
. "$(dirname "$0")/lib.sh"
HZ=10000
board eintr
SAMPLES=5 outlasts "$torture/eintr" "$(pick 1 200)"
if ! is_refused; then
  sampled itimer "$torture/eintr" "$(pick 1 200)" >"$W/run.out" 2>"$W/run.err" || [ ! -s "$W/run.err" ] || fail "itimer: $(tail -n 3 "$W/run.err")"
  awk 'END { exit !($7 == "kinds" && 1000 * $1 <= $3) }' "$W/run.out" || fail "itimer: $(cat "$W/run.out")"
  say "itimer: $(tail -n 1 "$W/run.out")"
  samplers+=(itimer)
fi
# Our signal interrupts nothing on the running kernel; on an older kernel the handler requests a
# restart.
asks_for_restart() {
  sampled timer /usr/bin/python3 -c 'import ctypes, os, sys
SIGURG, SA_RESTART, action = 23, 0x10000000, (ctypes.c_ulong * 4)()
ctypes.CDLL(None).syscall({"x86_64": 13, "aarch64": 134}[os.uname().machine], SIGURG, None, action, 8)
sys.exit(not action[1] & SA_RESTART)'
}
until_true 2 asks_for_restart || fail "the handler does not ask that calls be restarted"
say "kernel $(uname -r); kernels before 5.9 need a board of their own (a virtual machine), not run here"

mkdir "$W/served" "$W/got"
head -c "$(pick 20000000 500000000)" /dev/zero | openssl enc -aes-128-ctr -pass pass:noise -nosalt -pbkdf2 >"$W/served/file" 2>/dev/null
# serve NAME COMMAND...: in the background, sampled by any available agent.
is_refused && by_agent=auto || by_agent=timer
serve() {
  fleetprof run --state "$B" --flush-timeout 0s --sampler $by_agent --hz $HZ -- "${@:2}" >"$W/$1.log" 2>&1 &
  server=$!
  started+=($server)
}
end_server() { kill $server && wait $server; } 2>/dev/null # run hands it on
is_listening() { (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
# brings COMMAND...: without us and under each sampler: status 0, and got/file is served/file.
brings() {
  local sampler how before
  for sampler in plain "${samplers[@]}"; do
    rm -rf "$W/got" && mkdir "$W/got"
    [ $sampler = plain ] && how=() || how=(sampled "$sampler")
    before=$(produced)
    "${how[@]}" "$@" >"$W/run.out" 2>"$W/run.err" </dev/null || fail "$sampler: $*: ended with $?: $(tail -n 3 "$W/run.out" "$W/run.err" "$W"/*.log)"
    cmp "$W/served/file" "$W/got/file" || fail "$sampler: $*: another file came"
    say "$sampler: ${1##*/}: $(stat -c %s "$W/got/file") bytes, $(($(produced) - before)) samples"
  done
}

cat >"$W/serve.py" <<'P'
import functools, http.server, ssl, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[2])
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[3] + "/cert.pem", sys.argv[3] + "/key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
P
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout "$W/key.pem" -out "$W/cert.pem" 2>/dev/null || fail "no certificate"
at=$(port)
serve https /usr/bin/python3 "$W/serve.py" "$at" "$W/served" "$W"
until_true 10 is_listening "$at" || fail "the HTTPS server does not start: $(cat "$W/https.log")"
brings curl -fsS --cacert "$W/cert.pem" --connect-to "localhost:$at:127.0.0.1:$at" --max-time 120 -o "$W/got/file" "https://localhost:$at/file"
end_server

if command -v git >/dev/null && [ -e "$(git --exec-path)/git-daemon" ]; then
  at=$(port)
  git -C "$W/served" init -q && git -C "$W/served" add file && git -C "$W/served" -c user.name=n -c user.email=e commit -qm file || fail "git"
  serve git git daemon --reuseaddr --listen=127.0.0.1 --port="$at" --export-all --base-path="$W" "$W/served"
  until_true 10 is_listening "$at" || fail "git daemon does not start: $(cat "$W/git.log")"
  brings bash -c "rmdir $W/got && git -c safe.directory='*' clone -q git://127.0.0.1:$at/served $W/got"
  end_server
else
  without "a transfer by git" "git daemon is not installed"
fi

sftp_server=/usr/lib/openssh/sftp-server
if ! id -un >/dev/null 2>&1; then
  without "SFTP" "its server serves only users with a name, and uid $(id -u) has none"
elif command -v sftp >/dev/null && [ -x $sftp_server ]; then
  echo "get $W/served/file $W/got/file" >"$W/batch"
  brings sftp -q -b "$W/batch" -D $sftp_server
else
  without "SFTP" "sftp or $sftp_server is not installed"
fi

# An SSH server of this test's own lets root in with a key of this test's own: it sees another /root.
if [ "$(id -u)" != 0 ] || ! unshare -m true 2>/dev/null; then
  without "SSH" "only root can give the server a home of its own"
elif ! command -v dropbear >/dev/null || ! command -v ssh >/dev/null || [ ! -x $sftp_server ]; then
  without "SSH (OpenSSH's client, libssh2)" "dropbear, ssh or $sftp_server is not installed"
else
  at=$(port)
  openssl genrsa -traditional -out "$W/id" 2048 2>/dev/null && chmod 600 "$W/id" && ssh-keygen -y -f "$W/id" >"$W/id.pub" || fail "no key"
  dropbearkey -t ecdsa -f "$W/host" >/dev/null 2>&1 || fail "no host key"
  serve ssh unshare -m sh -c "mount -t tmpfs -o mode=700 none /root && mkdir -m 700 /root/.ssh && cp $W/id.pub /root/.ssh/authorized_keys \
    && exec dropbear -F -E -s -r $W/host -P $W/dropbear.pid -p 127.0.0.1:$at"
  until_true 10 is_listening "$at" || fail "the SSH server does not start: $(cat "$W/ssh.log")"
  options="-F none -i $W/id -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o BatchMode=yes -o PubkeyAcceptedAlgorithms=+ssh-rsa"
  brings bash -c "exec ssh $options -p $at root@127.0.0.1 'cat $W/served/file' >$W/got/file"
  if curl -V | grep -q '^Protocols:.* sftp'; then
    brings curl -fsS --insecure --key "$W/id" --pubkey "$W/id.pub" --max-time 120 -o "$W/got/file" "sftp://root@127.0.0.1:$at$W/served/file"
  else
    without "SFTP by libssh2" "curl does not have it"
  fi
  end_server
fi

cat >"$W/zmq_transfer.py" <<'P'
import sys, threading, zmq  # a file in pieces over TCP, each acknowledged by a reply
context, piece = zmq.Context(), 65536
answers = context.socket(zmq.REP)
port = answers.bind_to_random_port("tcp://127.0.0.1")
def serve():
    with open(sys.argv[1], "rb") as file:
        while True:
            answers.recv()
            part = file.read(piece)
            answers.send(part)
            if not part:
                return
server = threading.Thread(target=serve)
server.start()
asks = context.socket(zmq.REQ)
asks.connect(f"tcp://127.0.0.1:{port}")
with open(sys.argv[2], "wb") as got:
    while True:
        asks.send(b"more")
        part = asks.recv()
        if not part:
            break
        got.write(part)
server.join()
P
if /usr/bin/python3 -c 'import zmq' 2>/dev/null; then
  brings /usr/bin/python3 "$W/zmq_transfer.py" "$W/served/file" "$W/got/file"
else
  without ZeroMQ "Python's zmq is not installed"
fi
