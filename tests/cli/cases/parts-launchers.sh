# Which part it is, as launchers say it.
exec 2>&1
unset RANK WORLD_SIZE ${!OMPI_@} ${!PMI_@} ${!SLURM_@}
apldata export -q "$SHARED/store" npy --format npy
made() { [ -e set ] && (cd set && ls); rm -rf set; }
run env OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3 "$APLINGEST" -q npy set; made
run env PMI_RANK=0 PMI_SIZE=2 "$APLINGEST" -q npy set; made
run env SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 "$APLINGEST" -q npy set; made
echo "# a shell of one task, a batch script, torchrun's child, a job array: a store, unless asked"
run env SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 SLURM_NTASKS=1 "$APLINGEST" -q npy set; made
run env SLURM_PROCID=0 SLURM_NTASKS=4 "$APLINGEST" -q npy set; made
run env RANK=0 WORLD_SIZE=4 "$APLINGEST" -q npy set; made
run env RANK=0 WORLD_SIZE=4 "$APLINGEST" -q --part auto npy set; made
array="SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_STEP=5"
run env $array SLURM_ARRAY_TASK_ID=20 "$APLINGEST" -q npy set; made
run env $array SLURM_ARRAY_TASK_ID=20 "$APLINGEST" -q --part auto npy set; made
run env $array SLURM_ARRAY_TASK_ID=21 "$APLINGEST" -q --part auto npy set; made
run env $array SLURM_ARRAY_TASK_MAX=25 SLURM_ARRAY_TASK_ID=20 "$APLINGEST" -q --part auto npy set; made
array="SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_STEP=1" # --array=1,3,7
run env $array SLURM_ARRAY_TASK_ID=3 "$APLINGEST" -q --part auto npy set; made
array="SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_STEP=5"
echo "# mpirun below Slurm; what is said outweighs all"
mpi="OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3"
run env $mpi SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2 "$APLINGEST" -q npy set; made
run env $mpi "$APLINGEST" -q --part 1/2 npy set; made
run env $mpi "$APLINGEST" -q --part none npy set; made
echo "# contradictions"
run env $mpi $array SLURM_ARRAY_TASK_ID=10 "$APLINGEST" -q --part auto npy set; made
run env $mpi RANK=1 WORLD_SIZE=3 "$APLINGEST" -q --part auto npy set; made
run env $mpi RANK=2 WORLD_SIZE=3 "$APLINGEST" -q --part auto npy set; made
run env OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=3 "$APLINGEST" -q npy set; made
run env OMPI_COMM_WORLD_RANK=x OMPI_COMM_WORLD_SIZE=3 "$APLINGEST" -q npy set; made
run env PMI_RANK=0 PMI_SIZE=0 "$APLINGEST" -q npy set; made
echo "# misuse"
for part in auto 0/2 3/2 1 1/ /2 1/0 1/100000 -1/2 x; do run aplingest --part $part npy set; done
run aplingest --part 1/2 --split val=0.1 npy set
made
echo "# as JSON"
run aplingest --json --part 1/1 npy set | grep -A4 '"part"\|source_sha'
