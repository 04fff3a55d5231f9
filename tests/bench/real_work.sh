# SPDX-License-Identifier: Apache-2.0
# Sourced by comparisons of unwinders: Debian's programs at real work, some seconds each, in the
# folder $work. NAME_work runs its commands by `record COMMAND...`, which the caller defines.
# $started has the pid of a server recorded in the background, for the caller's trap. $as is the
# command prefix that changes to the required user, for the recorder too.
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
answers() { # answers PORT: waits until something listens there
  for _ in $(seq 100); do (: <>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return; sleep 0.1; done
  echo "nothing listens on port $1" >&2
  return 1
}
text() { /usr/bin/python3 -c 'import random, sys
random.seed(1)
words = [str(random.random())[2:7] for _ in range(2000)]
sys.stdout.write(" ".join(random.choice(words) for _ in range(int(sys.argv[1]))))' "$1"; }

python3_work() {
  cat >work.py <<'P'
import decimal, hashlib, json, pickle, random, re, sqlite3, time, zlib
random.seed(1)
end = time.process_time() + 8
text = " ".join(str(random.random()) for _ in range(5000))
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
class P:
    def __init__(self, x): self.x = x
    def __lt__(self, o): return self.x < o.x
while time.process_time() < end:
    json.loads(json.dumps({str(i): [i, str(i), {"a": i / 3}] for i in range(3000)}))
    re.findall(r"0\.(\d+?)5(\d*)", text)
    fib(17)
    sorted(P(random.random()) for _ in range(3000))
    zlib.compress(text.encode(), 9)
    hashlib.sha256(text.encode() * 5).hexdigest()
    pickle.loads(pickle.dumps([text.split(), set(range(2000))]))
    db = sqlite3.connect(":memory:")
    db.execute("create table t(a, b)")
    db.executemany("insert into t values(?, ?)", ((i, str(i)) for i in range(1000)))
    db.execute("select b, count(*) from t group by a % 7 order by b").fetchall()
    sum(decimal.Decimal(i).sqrt() for i in range(1, 200))
P
  record /usr/bin/python3 work.py
}

sqlite3_work() {
  cat >work.sql <<'S'
create table t(id integer primary key, a integer, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000)
  insert into t select i, i * 7919 % 10007, printf('%08d-%s', i * 31 % 99991, hex(i)), i / 3.0 from n;
create index t_a on t(a);
create index t_b on t(b);
select count(*), sum(x.c) from t x join t y on x.a = y.id;
select a % 100 as g, count(distinct b), avg(c), group_concat(substr(b, 1, 3)) from t group by g order by 3 desc limit 5;
select count(*) from t where b like '%99%' or b glob '*A[0-9]*';
select sum(json_extract(json_object('a', a, 'b', b), '$.a')) from t;
update t set b = upper(b) || a where id % 3 = 0;
select a, row_number() over (partition by a % 10 order by c desc) as r from t order by r, a limit 5;
delete from t where a % 2 = 1;
vacuum;
pragma integrity_check;
S
  record /usr/bin/sqlite3 work.db <work.sql >sqlite3.out
}

redis_work() {
  local at
  at=$(port)
  record /usr/bin/redis-server --port "$at" --bind 127.0.0.1 --save "" --dir "$work" >redis.log &
  started=$!
  answers "$at"
  redis-benchmark -p "$at" -q -n 60000 -P 8 -t set,get,incr,lpush,lpop,sadd,hset,spop,zadd,lrange_100,mset >bench.log
  redis-benchmark -p "$at" -q -n 20000 -P 8 eval "local s = 0 for i = 1, 50 do s = s + #redis.call('get', KEYS[1]) end return s" 1 key:__rand_int__ >>bench.log 2>&1 || true
  redis-cli -p "$at" rpush list $(seq 2000) >/dev/null
  redis-benchmark -p "$at" -q -n 300 sort list by nosort get '#' desc >>bench.log
  redis-cli -p "$at" bgsave >/dev/null
  redis-cli -p "$at" shutdown nosave >/dev/null
  wait "$started"
  started=
}

nginx_work() {
  local at
  at=$(port)
  mkdir -p www logs
  text 60000 >www/text.txt
  text 200 >www/small.txt
  cat >nginx.conf <<C
daemon off; master_process on; worker_processes 1; pid $work/nginx.pid; error_log $work/logs/error.log; user root;
events { worker_connections 64; }
http {
  access_log $work/logs/access.log; gzip on; gzip_types text/plain; default_type text/plain;
  client_body_temp_path $work/b; proxy_temp_path $work/p; fastcgi_temp_path $work/f; uwsgi_temp_path $work/u; scgi_temp_path $work/s;
  server { listen 127.0.0.1:$at; root $work/www; location ~ ^/r/(.*) { rewrite ^/r/(.*)\$ /\$1 last; }
    location /proxy/ { proxy_pass http://127.0.0.1:$at/; } autoindex on; }
}
C
  record /usr/sbin/nginx -p "$work" -c "$work/nginx.conf" 2>/dev/null &
  started=$!
  answers "$at"
  local url=http://127.0.0.1:$at
  curl -s --compressed -o /dev/null "$url/text.txt?[1-250]"
  curl -s -o /dev/null "$url/small.txt?[1-6000]" -o /dev/null "$url/r/small.txt?[1-3000]" -o /dev/null "$url/proxy/small.txt?[1-2000]" -o /dev/null "$url/?[1-1000]" -o /dev/null "$url/none?[1-2000]"
  kill -QUIT "$(cat nginx.pid)"
  wait "$started"
  started=
}

xz_work() {
  text 2500000 >big
  record /usr/bin/xz -T1 -6 -c big >big.xz
  record /usr/bin/xz -dc big.xz >/dev/null
  record /usr/bin/xz -T2 -0 --block-size=2MiB -c big >/dev/null
}

# A generated repository: 400 commits over 60 files. `gc` executes pack-objects.
git_work() {
  git init -q -b main repo
  /usr/bin/python3 - <<'P' | git -C repo fast-import --quiet
import random
random.seed(1)
files = {f"dir{i % 7}/file{i}.txt": [str(random.random()) for _ in range(300)] for i in range(60)}
for commit in range(400):
    print(f"commit refs/heads/main\ncommitter A <a@example> {1700000000 + commit} +0000\ndata 5\ncheck")
    for name in random.sample(sorted(files), 8) if commit else sorted(files):
        lines = files[name]
        for _ in range(20): lines[random.randrange(len(lines))] = str(random.random())
        data = "\n".join(lines) + "\n"
        print(f"M 100644 inline {name}\ndata {len(data)}\n{data}")
P
  record git -C repo --no-pager log -p --stat >/dev/null
  record git -C repo --no-pager log --oneline -M -C --find-copies-harder --stat -20 >/dev/null
  record git -C repo --no-pager blame main -- dir0/file0.txt >/dev/null
  record git -C repo --no-pager grep -c '0\.[0-9]*77' main >/dev/null
  record git -C repo pack-objects -q --all --no-reuse-delta --window=250 --depth=50 --threads=2 "$work/packed" >/dev/null </dev/null
  record git -C repo fsck >/dev/null 2>&1
}

node_work() {
  cat >work.js <<'J'
const crypto = require('crypto'), zlib = require('zlib');
const end = process.cpuUsage().user + 5e6;
const fib = n => n < 2 ? n : fib(n - 1) + fib(n - 2);
class Point { constructor(x) { this.x = x; } get far() { return this.x * 2; } }
let text = '';
for (let i = 0; i < 5000; i++) text += Math.sin(i) + ' ';
while (process.cpuUsage().user < end) {
  fib(22);
  JSON.parse(JSON.stringify([...Array(3000).keys()].map(i => ({ [i]: [i, String(i), { a: i / 3 }] }))));
  text.match(/0\.(\d+?)5(\d*)/g).length;
  [...Array(5000).keys()].map(i => new Point(Math.sin(i))).sort((a, b) => a.far - b.far);
  crypto.createHash('sha256').update(text.repeat(5)).digest('hex');
  zlib.deflateSync(text);
  const map = new Map();
  for (let i = 0; i < 5000; i++) map.set('k' + i, i);
}
J
  record node work.js
}

java_work() {
  cat >Work.java <<'J'
import java.util.*;
import java.util.stream.*;
public class Work {
  static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
  static long round(int seed) {
    Random random = new Random(seed);
    List<String> words = IntStream.range(0, 20000).mapToObj(i -> "w" + random.nextInt(5000)).collect(Collectors.toList());
    Map<String, Long> counts = words.stream().collect(Collectors.groupingBy(w -> w, Collectors.counting()));
    Collections.sort(words);
    StringBuilder text = new StringBuilder();
    for (String word : words) text.append(word).append(' ');
    return counts.size() + text.toString().hashCode() + fib(25);
  }
  public static void main(String[] args) throws Exception {
    Thread[] threads = new Thread[2];
    for (int t = 0; t < threads.length; t++) {
      final int seed = t;
      threads[t] = new Thread(() -> { for (int i = 0; i < 60; i++) round(seed + i); });
      threads[t].start();
    }
    for (Thread thread : threads) thread.join();
  }
}
J
  javac Work.java
  record java ${JAVA_FLAGS:-} -cp . Work
}

# Ten ciphers, by the instructions that this CPU has.
openssl_work() {
  local cipher
  for cipher in aes-128-gcm aes-256-gcm aes-128-cbc aes-256-ctr aes-128-ccm aes-256-xts aes-128-ocb chacha20 chacha20-poly1305 camellia-128-cbc; do
    record openssl speed -seconds "${OPENSSL_SECONDS:-1}" -bytes 8192 -evp $cipher >/dev/null 2>&1
  done
}

rust_work() {
  cat >service.rs <<'R'
use std::{collections::HashMap, io::{BufRead, BufReader, Write}, net::{TcpListener, TcpStream}, thread};
fn answer(line: &str) -> String {
    let mut counts: HashMap<char, usize> = HashMap::new();
    for _ in 0..40 { for c in line.chars() { *counts.entry(c).or_default() += 1; } }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    sorted.iter().map(|(c, n)| format!("{c}{n}")).collect()
}
fn serve(stream: TcpStream) {
    stream.set_nodelay(true).unwrap();
    let mut to = stream.try_clone().unwrap();
    for line in BufReader::new(stream).lines() { writeln!(to, "{}", answer(&line.unwrap())).unwrap(); }
}
fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let clients: Vec<_> = (0..4).map(|c| thread::spawn(move || {
        let mut to = TcpStream::connect(at).unwrap();
        to.set_nodelay(true).unwrap();
        let mut from = BufReader::new(to.try_clone().unwrap());
        for i in 0..6000 {
            let text: String = (0..200).map(|n| char::from(b'a' + ((n * i + c) % 26) as u8)).collect();
            writeln!(to, "{text}").unwrap();
            from.read_line(&mut String::new()).unwrap();
        }
    })).collect();
    let servers: Vec<_> = (0..4).map(|_| { let (stream, _) = listener.accept().unwrap(); thread::spawn(move || serve(stream)) }).collect();
    for thread in clients.into_iter().chain(servers) { thread.join().unwrap(); }
}
R
  rustc -O --edition 2021 -o service service.rs
  record ./service
}

# The same service as tasks of an asynchronous runtime with two threads; needs Debian's librust-tokio-dev.
tokio_work() {
  mkdir -p tokio/src
  cat >tokio/Cargo.toml <<'C'
[package]
name = "tokio-service"
version = "0.1.0"
edition = "2021"
[dependencies]
tokio = { version = "1", features = ["rt-multi-thread", "net", "io-util"] }
C
  cat >tokio/src/main.rs <<'R'
use std::collections::HashMap;
use tokio::{io::{AsyncBufReadExt, AsyncWriteExt, BufReader}, net::{TcpListener, TcpStream}};
fn answer(line: &str) -> String {
    let mut counts: HashMap<char, usize> = HashMap::new();
    for _ in 0..40 { for c in line.chars() { *counts.entry(c).or_default() += 1; } }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    sorted.iter().map(|(c, n)| format!("{c}{n}")).collect()
}
async fn serve(stream: TcpStream) {
    let (from, mut to) = stream.into_split();
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await { to.write_all((answer(&line) + "\n").as_bytes()).await.unwrap(); }
}
async fn ask(at: std::net::SocketAddr, c: usize) {
    let (from, mut to) = TcpStream::connect(at).await.unwrap().into_split();
    let mut from = BufReader::new(from);
    for i in 0..3000 {
        let text: String = (0..200).map(|n| char::from(b'a' + ((n * i + c) % 26) as u8)).collect();
        to.write_all((text + "\n").as_bytes()).await.unwrap();
        from.read_line(&mut String::new()).await.unwrap();
    }
}
fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_io().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let clients: Vec<_> = (0..4).map(|c| tokio::spawn(ask(at, c))).collect();
        for _ in 0..4 { let (stream, _) = listener.accept().await.unwrap(); tokio::spawn(serve(stream)); }
        for client in clients { client.await.unwrap(); }
    });
}
R
  (cd tokio && cargo build -q --release --offline --config 'source.crates-io.replace-with="debian"' \
    --config 'source.debian.directory="/usr/share/cargo/registry"')
  record tokio/target/release/tokio-service
}

go_work() {
  cat >service.go <<'G'
package main
import ("encoding/json"; "fmt"; "io"; "net"; "net/http"; "sort"; "strings"; "sync")
func handle(w http.ResponseWriter, r *http.Request) {
	counts := map[string]int{}
	for i := 0; i < 400; i++ { counts[fmt.Sprint(i*7919%97)] += i }
	keys := make([]string, 0, len(counts))
	for k := range counts { keys = append(keys, k) }
	sort.Strings(keys)
	json.NewEncoder(w).Encode(map[string]interface{}{"counts": counts, "keys": strings.Join(keys, ",")})
}
func main() {
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	go http.Serve(listener, http.HandlerFunc(handle))
	var all sync.WaitGroup
	for c := 0; c < 4; c++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := 0; i < 3000; i++ {
				answer, err := http.Get("http://" + listener.Addr().String())
				if err == nil { io.Copy(io.Discard, answer.Body); answer.Body.Close() }
			}
		}()
	}
	all.Wait()
}
G
  HOME=$work GOCACHE=$work/go go build -o goservice service.go
  record ./goservice
}

ffmpeg_work() {
  record ffmpeg -v error -f lavfi -i testsrc2=duration=${FFMPEG_SECONDS:-12}:size=640x360:rate=25 -c:v libx264 -preset medium -threads 2 -f null - </dev/null
}

postgres_work() {
  local at bin user
  bin=$(dirname "$(ls /usr/lib/postgresql/*/bin/postgres | tail -1)")
  user="setpriv --reuid=65534 --regid=65534 --clear-groups"
  at=$(port)
  mkdir -m 700 pg && chown 65534:65534 pg && chmod 1777 .
  $user "$bin/initdb" -D "$work/pg" -U bench -A trust >initdb.log
  as=$user record "$bin/postgres" -D "$work/pg" -p "$at" -k "$work/pg" -c listen_addresses=127.0.0.1 -c fsync=off >postgres.log 2>&1 &
  started=$!
  answers "$at"
  sleep 1
  "$bin/pgbench" -h 127.0.0.1 -p "$at" -U bench -i -s 3 postgres >pgbench.log 2>&1
  "$bin/pgbench" -h 127.0.0.1 -p "$at" -U bench -c 3 -T 5 postgres >>pgbench.log 2>&1
  psql -h 127.0.0.1 -p "$at" -U bench -c "select bid % 3, count(distinct abalance), sum(aid) from pgbench_accounts a join pgbench_branches using (bid) group by 1" postgres >>pgbench.log
  $user "$bin/pg_ctl" -D "$work/pg" -m fast stop >/dev/null
  wait "$started" || true
  started=
}

chromium_work() {
  cat >page.html <<'H'
<!doctype html><title>page</title><style>td { border: 1px solid; padding: 1px }</style><table id=t></table><canvas id=c width=600 height=400></canvas>
<script>
  for (let r = 0; r < 300; r++) { const row = t.insertRow(); for (let i = 0; i < 20; i++) row.insertCell().textContent = Math.sin(r * i).toFixed(4); }
  const g = c.getContext('2d');
  for (let i = 0; i < 20000; i++) { g.fillStyle = `hsl(${i % 360} 50% 50%)`; g.fillRect(i * 7 % 600, i * 13 % 400, 9, 9); }
  for (let i = 0; i < 60; i++) { t.style.width = 500 + i + 'px'; document.body.offsetHeight; }
</script>
H
  # Runs the binary: chromium is a script, and perf confuses mappings from before an exec with later
  # ones.
  record /usr/lib/chromium/chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" --screenshot="$work/page.png" "file://$work/page.html" >/dev/null 2>&1
}
