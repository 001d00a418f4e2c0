#!/bin/sh
# The page of `apldata view`: well formed, of itself alone, of the size asked for, with what is odd in a store that was made odd, and names
# that are not fit for HTML; drawn by a browser, where there is one, at the width of a telephone and of a desktop, in light and in dark, and
# used by keyboard.
. tests/lib.sh
BUILD=${BUILD:-build}
export BUILD
apldata=$(cd "$BUILD" && pwd)/apldata
scratch
evil='<img src=x onerror=hostile=1>'

have python3 || { skip page "needs python3"; exit 0; }

images() # a store of images with a split, and classes whose names are not fit for HTML; a record comes twice
{
    "$BUILD/mkshapes" --rows 200 "$scratch/shapes.tar" && "$BUILD/aplingest" -q --partial "$scratch/shapes.tar" "$scratch/shapes" &&
        "$apldata" export -q --format folder "$scratch/shapes" "$scratch/folder" || return
    rm -f "$scratch/folder/apldata-classes.json" # of folders that are renamed now
    for split in "$scratch/folder"/*/; do
        set -- "$split"/*/
        mv "$4" "$split/$(printf %0200d 0 | tr 0 W)" && mv "$1" "$split/$evil" && mv "$2" "$split/<script>hostile=1<" && mv "$3" "$split/$(printf '\327\251\327\234\327\225\327\235')" || return
    done
    cp "$(find "$scratch/folder/train/$evil" -type f | head -n 1)" "$scratch/folder/test/$evil/twice.png" &&
        "$BUILD/aplingest" -q "$scratch/folder" "$scratch/images" && "$apldata" split -q "$scratch/images" 'val=0.2'
}

image_page()
{
    images && "$apldata" view "$scratch/images" -o "$scratch/images.html" &&
        python3 tests/pages/view_page.py "$scratch/images.html" 20971520 val >"$scratch/images.json" &&
        python3 - "$scratch/images.json" <<'END'
import json
import sys

view = json.load(open(sys.argv[1]))
assert view["total"] == view["sampled"] == len(view["records"]) == 1201, view["total"]
assert {split["name"] for split in view["splits"]} == {"train", "test", "val", "train-val"}
assert view["pairs"]["equal"] == 1 and view["pairs"]["list"][0]["splits"], view["pairs"]
assert view["means"]["images"] == 1201 and len(view["means"]["classes"]) == 10
assert view["suspects"]["agree"] > 2 * view["suspects"]["chance"], view["suspects"]
assert "<script>hostile=1<" in view["classes"]
END
}

small_page() # of no more than a megabyte; of some of the records
{
    "$apldata" view -q "$scratch/images" --max-size 1M -o "$scratch/small.html" &&
        python3 tests/pages/view_page.py "$scratch/small.html" 1048576 >"$scratch/small.json" &&
        "$apldata" view -q "$scratch/images" --sample 100 -o "$scratch/some.html" &&
        python3 tests/pages/view_page.py "$scratch/some.html" 20971520 "100 of them, spread evenly over the store, were looked at" >"$scratch/some.json" &&
        python3 - "$scratch/small.json" "$scratch/some.json" <<'END'
import json
import sys

small, some = (json.load(open(path)) for path in sys.argv[1:])
assert small["sampled"] == 1201 > len(small["records"]) > 100, len(small["records"])
assert some["sampled"] == len(some["records"]) == 100 and {record["class"] for record in some["records"]} == set(range(10))
END
}

refused() # a file that is not a page
{
    before=$(cksum <"$1")
    "$apldata" view -q "$scratch/images" -o "$1" 2>"$scratch/refused" && return 1
    grep -q 'it is not a page, and is not replaced' "$scratch/refused" && [ "$(cksum <"$1")" = "$before" ]
}

table_page() # of no images, with values that are missing and odd
{
    python3 - "$scratch/table.csv" <<'END'
import csv
import sys

rows = [["text", "age", "height", "label", "serial"]]
for i in range(300):
    rows.append([f"word {i} " * (1 + i % 5), 20 + i % 60, 1.5 + i / 1000, ["red", "green", "</script><b>"][i % 3], 10**6 + 1 + i * 9000])
rows[5][0], rows[6][2], rows[7][1], rows[8][2] = "", "nan", 9999, "inf"
rows[9][0] = "line\nfeed \u202e turned </script><img src=x onerror=hostile=1>"
rows[10] = rows[9]
csv.writer(open(sys.argv[1], "w", encoding="utf-8")).writerows(rows)
END
    "$BUILD/aplingest" -q --format list --type height=f32 "$scratch/table.csv" "$scratch/table" &&
        "$apldata" view -q "$scratch/table" -o "$scratch/table.html" &&
        python3 tests/pages/view_page.py "$scratch/table.html" 20971520 >"$scratch/table.json" &&
        python3 - "$scratch/table.json" <<'END'
import json
import sys

view = json.load(open(sys.argv[1]))
fields = {field["name"]: field for field in view["fields"]}
odd = {(name, one["what"]): one["examples"] for name, field in fields.items() for one in field["odd"]}
assert odd == {("text", "empty"): [4], ("height", "not a number"): [5], ("height", "infinite"): [7]}, odd
assert fields["age"]["numbers"]["far_records"] == [6] and fields["age"]["numbers"]["most"] == 9999, fields["age"]
assert fields["text"]["distinct"] == 299
serial = fields["serial"]["numbers"]
assert serial["step"] == 89701 and serial["bins"] == [10] * 30, serial
assert [(pair["a"], pair["b"], pair["equal"]) for pair in view["pairs"]["list"]] == [(8, 9, True)], view["pairs"]
text = next(record for record in view["records"] if record["id"] == 8)["values"]
assert {record["id"]: record["values"][2] for record in view["records"] if record["id"] in (0, 1, 10)} == {0: "1.5", 1: "1.501", 10: "1.51"}
assert any(value and value.startswith("line\nfeed \\xe2\\x80\\xae turned </script>") for value in text), text
END
}

replaced() # a page is replaced as a whole; a page that cannot be written leaves nothing
{
    printf '<!DOCTYPE html>\nold\n' >"$scratch/out.html"
    "$apldata" view -q "$scratch/table" -o "$scratch/none/out.html"
    [ $? -eq 1 ] && "$apldata" view -q "$scratch/table" -o "$scratch/out.html" && grep -q 'script' "$scratch/out.html" &&
        [ "$(cd "$scratch" && find . -name '.*tmp*' | wc -l)" = 0 ]
}

check "a page of images" image_page
check "a page of a megabyte" small_page
check "no store is replaced by a page" refused "$scratch/images/data.mdb"
check "a page of a table" table_page
check "a page replaces a page, or nothing" replaced
if ! python3 -c 'import sys; sys.path.insert(0, "tests/pages"); import browser; sys.exit(not browser.found())'; then
    skip "drawn by a browser" "there is no chromium"
    exit 0
fi
check "a page of images, drawn" python3 tests/pages/view_page.py --drawn "$scratch/images.html" "<img src=x" Near-duplicates "Suspicious labels"
check "a page of a table, drawn" python3 tests/pages/view_page.py --drawn "$scratch/table.html" "far out" "Values of age" "Duplicates"
python3 -c 'import sys; sys.path.insert(0, "tests/pages"); import pages; sys.exit(not pages.axe_source())' ||
    skip "pages by the rules of axe-core" "it is not there"
