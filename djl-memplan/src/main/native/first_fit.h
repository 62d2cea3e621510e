/*
 * The ranges of an arena that are in use; new blocks get the lowest offset with room. It handles
 * numbers only, neither memory nor engines. Not thread-safe.
 */
#ifndef DJLPLAN_FIRST_FIT_H
#define DJLPLAN_FIRST_FIT_H

#include <stdbool.h>
#include <stdint.h>

/* A block in use, from `offset` to `end` − 1, with the identifiers of its owner. */
struct djlplan_block {
    int64_t offset, end;
    int32_t number;
    uint32_t run, structure;
};

/* All blocks in use of one arena. A zeroed struct is empty. */
struct djlplan_blocks {
    struct djlplan_block_node *nodes; /* a treap by offset, of entries of this list */
    int32_t root, unused; /* index + 1, 0 for none: the tree, the list of free entries */
    int32_t entries, capacity;
    int32_t count; /* blocks in use */
    uint32_t random;
};

void djlplan_blocks_free(struct djlplan_blocks *blocks);

/*
 * Returns the lowest offset with this many free bytes, possibly behind all blocks. Takes
 * logarithmic time, like the functions below.
 */
int64_t djlplan_blocks_find(const struct djlplan_blocks *blocks, int64_t bytes);
/* Adds a block. Returns false if another one overlaps it, it is empty, or there is no memory. */
bool djlplan_blocks_add(struct djlplan_blocks *blocks, struct djlplan_block block);
/*
 * Removes the block that begins at an offset, and returns it in the last argument. Returns false if
 * there is none.
 */
bool djlplan_blocks_remove(struct djlplan_blocks *blocks, int64_t offset,
                           struct djlplan_block *removed);
/* Finds the first block that ends after an offset. Returns false if there is none. */
bool djlplan_blocks_after(const struct djlplan_blocks *blocks, int64_t offset,
                          struct djlplan_block *found);
/* Finds the last block that begins before an offset. Returns false if there is none. */
bool djlplan_blocks_before(const struct djlplan_blocks *blocks, int64_t offset,
                           struct djlplan_block *found);

#endif
