# What readers offer in a directory, as a table, JSON, metrics and a screen; other files are told apart.
need python3 curl
exec 2>&1
export TZ=UTC TERM=xterm
unset NO_COLOR APL_MONITOR
mkdir one many none

echo "- a reader"
APL_MONITOR=$PWD/one apldata stream --epochs 100000 "$SHARED/store" | (
    for _ in $(seq 100); do [ -n "$(ls one)" ] && break || sleep 0.1; done
    apldata top --once one | sed -E 's/^[0-9]+-1 .*( apldata|READER).*/\1/; s|^[0-9]+-1 .*store train.*|a row|; s|  +| |g; 3q'
    apldata top --json one | python3 -c '
import json, sys
(one,) = json.load(sys.stdin)["readers"]
print(one["state"], one["split"], one["length"], sorted(one["recent"]), sorted(one["recent"]["work"]))'
    apldata top --metrics one | sed -nE 's/^(apl_loader_threads\{loader=")[0-9]+(-1",store=").*(",split="train"\}).*/\1N\2\3/p'
    ! command -v promtool >check || { apldata top --metrics one | promtool check metrics; }
)
APL_MONITOR=$PWD/one apldata top --metrics
run ls one

cat >make.py <<'END'
"""Files of 30 readers of a process on another machine, and others."""
import json, os, time

pid = 4242  # elsewhere
work = dict.fromkeys(["reading", "decoding", "assembling", "callback", "planning", "idle"], 0.1)
stats = dict.fromkeys(
    ["elapsed", "starved", "loading", "reading", "assembling", "images", "planning", "blocked", "cpu"], 1.5
) | dict.fromkeys("batches records blocks memory memory_budget queued lent threads loaders consumers queue_depth".split(), 7)
stats |= {"bytes": dict.fromkeys(["read", "decoded", "assembled"], 8)}
stats |= {"remote": dict.fromkeys(["requests", "bytes", "retries", "cache_hits", "cache_bytes"], 9)}
good = {
    "apl_monitor": 1, "host": "elsewhere", "pid_namespace": os.stat("/proc/self/ns/pid").st_ino, "pid": pid,
    "started": 99, "time": time.time() + 3000, "version": "0.1.0", "command": "train.py --lr 0.1",
    "resident_bytes": 1000, "process_threads": 3, "store": "/data/set.db", "split": "train", "batch_size": 4,
    "world": 1, "ranks": [0], "epoch": 3, "position": 50, "length": 200, "step": 5, "steps": 20,
    "recent": {"seconds": 10.0, "records_per_second": 123456.7, "batches_per_second": 5.0,
               "bytes_read_per_second": 1e6, "stall": 0.25, "cores": 1.5, "work": work},
    "diagnosis": {"code": "decoding", "text": "training waits for decoding; two more threads would remove it.\nwaited"},
    "stats": stats,
}

def put(folder, number, of=pid, text=None, **other):
    with open(f"{folder}/{of}-{number}.json", "w") as f:
        f.write(json.dumps(good | {"pid": of} | other) if text is None else text)

for i in range(30):
    put("many", i + 1, recent=good["recent"] | {"stall": i / 40, "cores": i})
os.makedirs("odd")
put("odd", 1, store="/data/\033]0;x\007\u202e", command="a\033[2Jb", diagnosis={"text": "\033[31mc\nd"})
put("odd", 2, recent=good["recent"] | {"stall": 2})
put("odd", 3, text="{")
put("odd", 4, text="[" * 100000)
put("odd", 5, text=" " * 300000)
put("odd", 6, of=1, started=12, host=os.uname().nodename)
put("odd", 7, time=1)
put("odd", 8, stats={**stats, "records": -1})
with open(f"odd/{pid}-9.json", "w") as f:
    f.write(json.dumps(good | {"pid": 1}))
os.makedirs("wide")
put("wide", 1, of=1234567890, world=1024, ranks=list(range(128)), epoch=2**62, split="", command="\u00e9" * 300)
os.makedirs("crowd")
put("crowd", 1)
for i in range(2, 4099):
    os.link(f"crowd/{pid}-1.json", f"crowd/{pid}-{i}.json")
os.mkfifo(f"odd/{pid}-10.json")
os.symlink(f"{pid}-1.json", f"odd/{pid}-11.json")
open("odd/notes.json", "w").write("mine")
open(f"odd/{pid}-1.json.new", "w").write("mine")
END
python3 make.py

echo "- files of others"
apldata top --once odd | cat -v
apldata top --once --reader 4242-7 odd | tail -n 7 | head -n 3 | sed 's/for [0-9].*: it/for T: it/' | cat -v

run apldata top --reader 4242-99 odd

echo "- more than there is room for"
apldata top --once crowd | tail -n 1
apldata top --json crowd | tail -n 2
apldata top --once wide

echo "- misuse"
run apldata top
run apldata top absent
run apldata top one many
run apldata top --once --json one
run apldata top --metrics=x one
for where in x 1.2.3.4 localhost:x example.org:80 ::1:9 "[::1:9" 70000 127.0.0.1:; do
    apldata top --listen "$where" one 2>&1 | head -n 1
done

echo "- metrics served"
"$APLDATA" top --listen 0 many >told &
server=$!
for _ in $(seq 100); do [ -s told ] && break || sleep 0.1; done
url=$(sed -n 's/serving metrics at //p' told)
curl -s "$url" | grep -c '^apl_loader_records_total{.*,store="/data/set.db",split="train"} 7$'
curl -sH 'Accept: application/openmetrics-text;version=1.0.0' "$url" | sed -n '2p; $p'
for ask in "" "-H Accept:application/openmetrics-text" -I "-X POST" "-H X-Long:$(printf %09000d 1)"; do
    curl -so body -D head $ask "$url"
    sed -n 's/\r$//; /^HTTP\|^Content-Type/p' head
done
curl -s "${url%/metrics}/x"
python3 - "$url" <<'END'
import socket, sys
at = tuple(sys.argv[1].removeprefix("http://").removesuffix("/metrics").split(":"))
slow = [socket.create_connection(at) for _ in range(40)]
for one in slow[20:]:
    one.send(b"GET /metr")
for text in (b"\0\0\r\n\r\n", b"hello\r\n\r\n", b"GET /metrics\r\n\r\n", b"GET /metrics HTTP/1.0\n\n"):
    with socket.create_connection(at) as s:
        s.sendall(text)
        print(s.recv(100).split(b"\r\n")[0].decode())
END
curl -s "$url" | grep -c '^apl_loader_threads{'
port=${url##*:}
apldata top --listen "127.0.0.1:${port%/metrics}" many 2>&1 | sed "s/${port%/metrics}/PORT/"
kill $server
wait $server
echo "ended by $?"

echo "- screens"
cat >screen.py <<'END'
"""screen.py COLUMNS ROWS KEYS COMMAND...: what the command draws in a terminal of that size, then after the keys."""
import fcntl, os, pty, re, select, struct, sys, termios, time

columns, rows, keys, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode(), sys.argv[4:]
pid, fd = pty.fork()
if pid == 0:
    time.sleep(0.2)
    os.execv(command[0], command)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

def frame(until):
    out = b""
    while not until(out):
        if not select.select([fd], [], [], 10)[0]:
            break
        try:
            more = os.read(fd, 65536)
        except OSError:
            break
        if not more:
            break
        out += more
    return out

ends = (lambda out: b"\x1b[K\x1b[J" in out) if os.environ.get("TERM") != "dumb" else (lambda out: b"\n\n" in out.replace(b"\r", b""))
first = frame(ends)
before = termios.tcgetattr(fd)[3] & termios.ECHO
os.write(fd, keys)
rest = frame(lambda out: False)
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
text = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", first).decode().replace("\r", "")
lines = text.split("\n")
print("\n".join(re.sub(r"\d\d:\d\d:\d\d", "HH:MM:SS", line).rstrip() for line in lines))
fits, colours = len(lines) <= rows and max(map(len, lines)) < columns, b"[3" in first
print(f"fits: {fits}, colours: {colours}")
print(f"enters: {b'?1049h' in first}, leaves: {rest.endswith(b'?1049l') or b'?1049l' in rest[-40:]}, keys are shown: {bool(before)}, status: {status}")
END
screen()
{
    python3 screen.py "$@"
}
screen 80 24 q "$APLDATA" top many
screen 40 10 $'\003' "$APLDATA" top many
NO_COLOR=1 screen 60 9 jq "$APLDATA" top --reader 4242-2 many
screen 200 8 q "$APLDATA" top none
screen 60 9 q "$APLDATA" top wide
screen 60 9 "" "$APLDATA" top --once wide
TERM=dumb screen 80 24 $'\003' "$APLDATA" top none
