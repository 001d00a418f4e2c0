# A simulation of clusters over the reader's own plan: included by the Makefile.

CLUSTER_SRC := $(sort $(wildcard tests/cluster/*.c))
CLUSTER     := $(OBJ)/tests/cluster/cluster

## cluster: simulate ten epochs of a cluster of 1,000 nodes, in a few minutes
cluster: $(CLUSTER)
	$(CLUSTER)
stress: $(CLUSTER)

$(CLUSTER): $(call objects,$(CLUSTER_SRC)) $(OBJ)/insides.a
	$(say) LD $@
	$(Q)$(CC) -pie $(ALL_LDFLAGS) -o $@ $^ $(INGEST_LIBS) $(STORE_LIBS)

-include $(CLUSTER_SRC:%.c=$(OBJ)/%.d)

.PHONY: cluster
