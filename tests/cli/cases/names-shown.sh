# What turns the direction of text, ends a line or has no width is shown as bytes; other letters as they are.
for name in $'a\xe2\x80\xaeb' $'a\xe2\x80\xa8b' $'a\xe2\x80\x8bb' $'a\xc2\x9bb' $'a\xef\xbb\xbfb' $'\xd7\x90\xc3\xa9'; do
    run apldata info "$name" 2>&1                                 # by the library
    run apldata info --json "$SHARED/store" "$name" 2>&1 | head -n 1 # by the command
    run aplingest -q "$name" db 2>&1
done
