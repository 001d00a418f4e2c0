# Records in a terminal: what is drawn has the pixels of the record, by whichever means; no byte of a value reaches the terminal unescaped.
need python3 script
exec 2>&1
export LC_ALL=C.UTF-8 COLORTERM=truecolor
unset TMUX STY KITTY_WINDOW_ID KONSOLE_VERSION TERM_PROGRAM
read_terminal()
{
    python3 "$CLI/read_terminal.py" "$1"
}

echo "- text"
apldata show "$SHARED/store" 0 899
apldata show "$SHARED/pstore" 3 --fields filename
run apldata show "$SHARED/store" 900
run apldata show "$SHARED/store" 0 --fields none
run apldata show "$SHARED/store"
run apldata show "$SHARED/store" x
run apldata show "$SHARED/store" 0 --as photo
run apldata show "$SHARED/store" 0 --columns 0

echo "- the same pixels"
apldata get "$SHARED/store" 7 --format ppm >want.ppm
apldata show "$SHARED/store" 7 --fields image --as blocks | tail -n +2 | read_terminal blocks | cmp - want.ppm
apldata show "$SHARED/store" 7 --fields image --as kitty | read_terminal kitty >7.png
python3 "$CLI/read_png.py" <7.png >kitty.rgb
apldata show "$SHARED/store" 7 --fields image --as sixel | read_terminal sixel >sixel.ppm
python3 - <<'END'
def pixels(path, width):
    data = open(path, "rb").read()[-3 * width * width :]
    return [data[3 * i : 3 * i + 3] for i in range(width * width)]

want, kitty, sixel = pixels("want.ppm", 32), pixels("kitty.rgb", 256), pixels("sixel.ppm", 256)
larger = [want[y // 8 * 32 + x // 8] for y in range(256) for x in range(256)]
print("kitty", kitty == larger)
means = []
for cell in range(1024):
    at = [(cell // 32 * 8 + y) * 256 + cell % 32 * 8 + x for y in range(8) for x in range(8)]
    means.append([sum(sixel[i][c] for i in at) / 64 - larger[at[0]][c] for c in range(3)])
print("sixel", sum(abs(d) for cell in means for d in cell) / 3072 < 8)
END

echo "- sizes and other colours"
apldata show "$SHARED/store" 7 --fields image --as blocks --columns 8 | tail -n +2 | read_terminal blocks | head -n 2 | tail -n 1
COLORTERM= apldata show "$SHARED/store" 7 --fields image --as blocks --columns 2 | cat -v
LC_ALL=C apldata show "$SHARED/store" 7 --fields image --as blocks --columns 4 | cat -v

echo "- files"
for id in 0 1; do
    apldata show "$CLI/../golden/indexed" $id --fields file --as blocks --columns 12 | tail -n +2 | read_terminal blocks | head -n 2 | tail -n 1
done
apldata show "$CLI/../golden/kept" 11
run apldata show "$CLI/../golden/kept" 11 --fields image --as blocks 2>&1 | sed 's|.*/golden|golden|'
python3 - <<'END'
import struct

def crc(data):
    c = 0xFFFFFFFF
    for byte in data:
        c ^= byte
        for _ in range(8):
            c = c >> 1 ^ (0x82F63B78 if c & 1 else 0)
    c ^= 0xFFFFFFFF
    return struct.pack("<I", ((c >> 15 | c << 17) + 0xA282EAD8) & 0xFFFFFFFF)

def wrap(number, data):
    size, length = b"", len(data)
    while length > 127:
        size, length = size + bytes([length & 127 | 128]), length >> 7
    return bytes([number << 3 | 2]) + size + bytes([length]) + data

png = open("7.png", "rb").read()
example = wrap(1, wrap(1, wrap(1, b"picture") + wrap(2, wrap(1, wrap(1, png)))))
length = struct.pack("<Q", len(example))
open("x.tfrecord", "wb").write(length + crc(length) + example + crc(example))
END
aplingest -q x.tfrecord pngs && apldata info pngs | grep -o 'image/png'
apldata show pngs 0 --as blocks --columns 32 | tail -n +2 | read_terminal blocks | cmp - want.ppm

echo "- escaped"
printf 'text,note\n"a\033]0;title\007b\nsecond \xe2\x80\xae line",\033[31mred\n"\033Pq#0~\033\\",plain\n' >hostile.csv
aplingest -q --format list hostile.csv hostile
apldata show hostile 0 1
for how in text blocks sixel kitty; do
    apldata show hostile 0 1 --as $how | LC_ALL=C grep -c $'[\001-\011\013-\037\177]'
done

echo "- as the terminal can"
drawn_by() # VARIABLE=VALUE...
{
    env "$@" script -qec "'$APLDATA' show '$SHARED/store' 7" /dev/null </dev/null | LC_ALL=C grep -oaE $'\033_G|\033P0|\342\226\200|u8\\[3' | sort -u | cat -v
}
drawn_by TERM=xterm-kitty
drawn_by TERM=foot
drawn_by TERM=xterm-256color
drawn_by TERM=xterm-kitty TMUX=x
drawn_by TERM=dumb
