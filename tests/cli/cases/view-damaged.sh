# A page of a damaged store has the images that are intact; what is not is told, and by the exit status.
need python3
exec 2>&1
mkdir -p photos/cat photos/dog
for i in 0 1 2; do gray >photos/cat/$i.jpg; gray >photos/dog/$i.jpg; done
aplingest -q photos db
# Values of kept files lie in the file as they are, maybe also in a page that is no longer used: a bit of the fourth of the last six.
at=$(python3 -c 'import re; print([m.end() for m in re.finditer(b"\xff\xd8\xff", open("db/data.mdb", "rb").read())][-3] + 60)')
flip db/data.mdb "$at"
run apldata verify db
run apldata view -o db.html db
python3 - <<'END'
import re
page = open("db.html").read()
print(page.count('"why"'), "without an image;", len(re.findall('"image": ?"data:', page)), "with one")
END
