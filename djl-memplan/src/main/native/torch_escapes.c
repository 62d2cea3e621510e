/*
 * Which allocations outlive predictions: hashes of what was allocated and freed before, in a table
 * that is read without a lock. It has room for the outputs of many structures; what finds none there
 * stays in arenas, where it is in nobody's way but takes room.
 */
#include "torch_run.h"

#include <stdlib.h>

enum { ENTRIES = 1024, MOST = 512 };

struct djlplan_torch_escapes {
    atomic_int holders; /* the caller and every run */
    pthread_mutex_t lock;
    int count;                        /* guarded by the lock */
    _Atomic(uint32_t) table[ENTRIES]; /* 0: free; written under the lock */
};

struct djlplan_torch_escapes *djlplan_torch_escapes_create(void) {
    struct djlplan_torch_escapes *escapes = calloc(1, sizeof *escapes);
    if (escapes == NULL) return NULL;
    atomic_store(&escapes->holders, 1);
    pthread_mutex_init(&escapes->lock, NULL);
    return escapes;
}

void djlplan_torch_escapes_delete(struct djlplan_torch_escapes *escapes) {
    if (atomic_fetch_sub(&escapes->holders, 1) > 1) return;
    pthread_mutex_destroy(&escapes->lock);
    free(escapes);
}

void djlplan_escapes_hold(struct djlplan_torch_escapes *escapes) {
    atomic_fetch_add(&escapes->holders, 1);
}

/* Where the structure is, or would be. */
static int find(const struct djlplan_torch_escapes *escapes, uint32_t structure) {
    int index = (int)(structure % ENTRIES);
    for (;;) {
        uint32_t there = atomic_load_explicit(&escapes->table[index], memory_order_relaxed);
        if (there == 0 || there == structure) return index;
        index = (index + 1) % ENTRIES;
    }
}

bool djlplan_escapes_has(const struct djlplan_torch_escapes *escapes, uint32_t structure) {
    int index = find(escapes, structure);
    return atomic_load_explicit(&escapes->table[index], memory_order_relaxed) == structure;
}

void djlplan_escapes_add(struct djlplan_torch_escapes *escapes, uint32_t structure) {
    pthread_mutex_lock(&escapes->lock);
    int index = find(escapes, structure);
    if (escapes->table[index] == 0 && escapes->count < MOST) {
        atomic_store(&escapes->table[index], structure);
        escapes->count++;
    }
    pthread_mutex_unlock(&escapes->lock);
}
