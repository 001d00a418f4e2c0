# test_failing_*.c: what failing.h wraps; `failing.h` and this list go together.
FAILING := malloc calloc aligned_alloc strdup strndup realloc free read pread write pwrite open openat close dup fsync fchmod \
           flock stat fstat fstatat fstatfs mkdir rmdir unlinkat renameat sched_getaffinity munmap mmap pthread_create \
           mdb_env_create mdb_env_open mdb_env_set_mapsize mdb_env_sync mdb_txn_begin mdb_dbi_open mdb_put mdb_txn_commit \
           ZSTD_createCCtx ZSTD_createDCtx ZSTD_CCtx_setParameter ZSTD_compress2 ZSTD_decompressDCtx archive_read_new \
           inflateInit2_ fcntl readdir fdopendir
$(filter $(OBJ)/tests/test_failing_%,$(TESTS)): TEST_LIBS += $(FAILING:%=-Wl,--wrap=%)
$(OBJ)/tests/test_readback: TEST_LIBS += -Wl,--wrap=ZSTD_compress2
