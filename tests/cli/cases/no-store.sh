exec 2>&1
mkdir empty
touch file
for db in nowhere empty file; do
    run apldata info "$db"
    run apldata verify "$db"
    run apldata get "$db" 0
    run apldata export "$db" out --format npy
done
run apldata info ''
ls -A
