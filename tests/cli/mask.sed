# What differs from run to run, from machine to machine, or with the version of a library.
s/[0-9.]+ s, [0-9.]+ MB\/s/TIME, RATE/
s/"seconds": [0-9.e-]+/"seconds": TIME/
s/ -> [0-9.]+ [kMG]?B \([0-9.]+\)/ -> SIZE (RATIO)/
s/"(file_bytes|stored_bytes|source_bytes)": [0-9]+/"\1": BYTES/
s/"(ratio)": [0-9.]+/"\1": RATIO/
s/"(level)": -?[0-9]+/"\1": LEVEL/
s/[0-9a-f]{64}/DIGEST/g
s/(libapldata|jansson|libpng|aplingest|apldata) [0-9]+\.[0-9]+(\.[0-9]+)?/\1 VERSION/g
s/^(image|label|fine_label|coarse_label|filename|field|position) +([^ ]+) +(input|target|name|role|position) +([a-z]+)( -?[0-9]+)? +([0-9.]+ k?M?B|raw) +([0-9.]+ k?M?B|stored) +([0-9.]+|ratio)$/\1 | \2 | \3 | \4 | \6 | \7 | \8/
s/^(image|label|fine_label|coarse_label|filename|field|position) +([^ ]+) +(input|target|name|role|position) +([^ ]+( \([a-z]+\))?) +([a-z]+)( -?[0-9]+)? +([0-9.]+ k?M?B|raw) +(([0-9.]+ k?M?B|stored) +([0-9.]+|ratio))$/\1 | \2 | \3 | \4 | \6 | \8 | \9/
s/ \| ([0-9.]+ k?M?B|stored) +([0-9.]+|ratio)$/ | \1 | \2/
s/\| [0-9.]+ k?M?B \| [0-9.]+$/| STORED | RATIO/
