exec 2>&1
run apldata
run apldata frobnicate db
run apldata -x
run apldata --no-such
run apldata --help=1
for command in info verify get export extract merge split bench stream serve; do
    run apldata $command
    run apldata $command --no-such db
    run apldata $command -x db
done
run apldata info a b
run apldata info --json=1 a
run apldata verify a b
run apldata verify -j 0 a
run apldata verify -j
run apldata verify --threads=many a
run apldata get db
run apldata get db one
run apldata get db -1
run apldata get db 1 2x
run apldata get db 18446744073709551616
run apldata get db 1 --format jpeg
run apldata get db 1 -o picture.jpg
run apldata get db 1 -o ''
run apldata get db 1 --fields
run apldata split db
run apldata split db val
run apldata split db =0.1
run apldata split db val=0.1@
run apldata split db val=1
run apldata split db val=-0.1
run apldata split db val=10%
run apldata split db val=0.1 extra
run apldata split db val=0.1 --seed x
run apldata split db val=0.1 --stratify ''
run apldata split db val=0.1 -j 0
run apldata split db cv=0.1 --folds 5
run apldata split db @train --folds 5
run apldata split db --folds 5
run apldata split db cv --folds 1
run apldata split db cv --folds 5 --iid
run apldata split db cv --folds 5 --clients 5 --iid
run apldata split db c --clients 10001
run apldata split db c --clients 5
run apldata split db c --clients 5 --iid --dirichlet 1
run apldata split db c --clients 5 --dirichlet 0
run apldata split db c --clients 5 --dirichlet 1e3
run apldata split db c --clients 5 --dirichlet 0.5 --dirichlet 1e3
run apldata split db c --clients 5 --dirichlet ''
run apldata split db c --dirichlet 1
run apldata serve db
run apldata serve db --socket s
run apldata serve db --socket s --ranks ''
run apldata serve db --socket s --ranks 1-
run apldata serve db --socket s --ranks 3-1
run apldata serve db --socket s --ranks 0-2,1
run apldata serve db --socket s --ranks 0-5000
run apldata serve db --socket s --ranks 0 --idle 0
run apldata serve db --socket s --ranks 0 --threads none
run apldata serve db --socket s --ranks 0 --order free
run apldata export db
run apldata export db out
run apldata export db out extra --format npy
run apldata export db out --format pickle
run apldata export db out --format npy -j 0

# An abbreviation is not taken for another option than the one that has its name; limits are told by the option's name.
run apldata serve "$SHARED/store" --socket s --rank 1
run apldata serve "$SHARED/store" --socket s --rank=1
run apldata serve "$SHARED/store" --socket s --ranks 0-99999999
run apldata serve "$SHARED/store" --socket s --ranks 0-1024
run apldata serve "$SHARED/store" --socket s --ranks 0 --idle 99999999999
apldata bench "$SHARED/store" --thread 1 --epochs 1 | head -n 1
run apldata view "$SHARED/store" -o -
[ -e - ] || echo 'and makes none'
