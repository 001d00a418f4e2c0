#!/bin/sh
# page.sh NAME PAGE.html FILE.css|FILE.js...: the page as lines of C, an array NAME that NULL ends. The styles take the place of the line
# @style@, the scripts that of @draw@, and a policy that allows exactly these and no other source of anything that of @policy@.
set -eu
name=$1 page=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo >"$folder/style" # as the line feed behind the tag
echo >"$folder/draw"
for file; do
    case $file in
    *.css) cat "$file" >>"$folder/style" ;;
    *) cat "$file" >>"$folder/draw" ;;
    esac
done

digest() # of standard input, as it is: by what coreutils have since 8.31, or else OpenSSL
{
    if command -v basenc >/dev/null; then
        sha256sum | cut -c 1-64 | tr a-f A-F | basenc --base16 -d
    else
        openssl dgst -sha256 -binary
    fi
}

source_of() # FILE: its hash, as policies have it
{
    hash=$(digest <"$1" | base64)
    [ ${#hash} -eq 44 ] && echo "'sha256-$hash'"
}

style=$(source_of "$folder/style")
draw=$(source_of "$folder/draw")
policy="default-src 'none'; img-src data:; style-src $style; script-src $draw"
echo "<meta http-equiv=\"Content-Security-Policy\" content=\"$policy; base-uri 'none'; form-action 'none'\">" >"$folder/policy"
sed -i 1d "$folder/style" "$folder/draw"

printf '/* Made of %s %s. */\nextern const char *const %s[];\nconst char *const %s[] = {\n' "$page" "$*" "$name" "$name"
sed -e "/^@policy@\$/{r $folder/policy" -e 'd}' -e "/^@style@\$/{r $folder/style" -e 'd}' -e "/^@draw@\$/{r $folder/draw" -e 'd}' "$page" |
    sed 's/["?\\]/\\&/g; s/.*/    "&\\n",/'
echo '    0};'
