/*
 * Which ranges of an arena are in use, and where the next block goes: at the lowest offset with
 * room for it. Knows numbers only: neither memory nor an engine. Not thread-safe.
 */
#ifndef DJLPLAN_FIRST_FIT_H
#define DJLPLAN_FIRST_FIT_H

#include <stdbool.h>
#include <stdint.h>

/* A block in use: bytes `offset` … `end` − 1, and what its owner knows it by. */
struct djlplan_block {
    int64_t offset, end;
    int32_t number;
    uint32_t run, structure;
};

/* All blocks in use of one arena. Zeroed, there is none. */
struct djlplan_blocks {
    struct djlplan_block_node *nodes; /* a treap by offset, of entries of this list */
    int32_t root, unused; /* index + 1, 0 for none: the tree, the list of free entries */
    int32_t entries, capacity;
    int32_t count; /* blocks in use */
    uint32_t random;
};

void djlplan_blocks_free(struct djlplan_blocks *blocks);

/*
 * The lowest offset from which so many bytes are free, perhaps after all blocks. In logarithmic
 * time, as what follows.
 */
int64_t djlplan_blocks_find(const struct djlplan_blocks *blocks, int64_t bytes);
/* Adds a block. Returns false if another one overlaps it, it is empty, or there is no memory. */
bool djlplan_blocks_add(struct djlplan_blocks *blocks, struct djlplan_block block);
/* Removes the block that begins at an offset, and tells it. Returns false if there is none. */
bool djlplan_blocks_remove(struct djlplan_blocks *blocks, int64_t offset,
                           struct djlplan_block *removed);
/* Finds the first block that ends after an offset. Returns false if there is none. */
bool djlplan_blocks_after(const struct djlplan_blocks *blocks, int64_t offset,
                          struct djlplan_block *found);
/* Finds the last block that begins before an offset. Returns false if there is none. */
bool djlplan_blocks_before(const struct djlplan_blocks *blocks, int64_t offset,
                           struct djlplan_block *found);

#endif
