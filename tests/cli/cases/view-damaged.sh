# A page of a damaged store has the images that are intact; what is not is told, and by the exit status.
need python3
exec 2>&1
mkdir -p photos/cat photos/dog
for i in 0 1 2; do gray >photos/cat/$i.jpg; gray >photos/dog/$i.jpg; done
aplingest -q photos db
flip db/data.mdb 15900
run apldata verify db
run apldata view -o db.html db
python3 - <<'END'
import re
page = open("db.html").read()
print(page.count('"why"'), "without an image;", len(re.findall('"image": ?"data:', page)), "with one")
END
