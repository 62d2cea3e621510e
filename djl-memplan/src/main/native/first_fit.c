/*
 * First fit by address (Knuth, The Art of Computer Programming, vol. 1, 2.5, method "first fit").
 *
 * Blocks in use form a treap (Seidel and Aragon 1996) by offset. Free ranges are not stored: they
 * are the gaps between neighbours, so no ranges have to be merged when a block is freed. Each node
 * stores three values of its subtree: where the first block begins, where the last block ends, and
 * the largest gap.
 */
#include "first_fit.h"

#include <limits.h>
#include <stdlib.h>

enum { NONE = 0, FIRST_CAPACITY = 256 };

/* A node fills one cache line. */
struct djlplan_block_node {
    struct djlplan_block block;
    int64_t first, last, gap; /* of the subtree */
    int32_t left, right;      /* `right` is the next one in the list of unused entries */
    uint32_t priority;        /* at least as high as its children's */
};

typedef struct djlplan_block_node node;

static node *at(const struct djlplan_blocks *blocks, int32_t index) {
    return &blocks->nodes[index - 1];
}

static int64_t largest(int64_t a, int64_t b) { return a > b ? a : b; }

/* Computes a node's values for its subtree from those of its children. */
static void update(const struct djlplan_blocks *blocks, node *top) {
    top->first = top->block.offset;
    top->last = top->block.end;
    top->gap = 0;
    if (top->left != NONE) {
        const node *left = at(blocks, top->left);
        top->first = left->first;
        top->gap = largest(left->gap, top->block.offset - left->last);
    }
    if (top->right != NONE) {
        const node *right = at(blocks, top->right);
        top->last = right->last;
        top->gap = largest(top->gap, largest(right->gap, right->first - top->block.end));
    }
}

void djlplan_blocks_free(struct djlplan_blocks *blocks) {
    free(blocks->nodes);
    *blocks = (struct djlplan_blocks){0};
}

int64_t djlplan_blocks_find(const struct djlplan_blocks *blocks, int64_t bytes) {
    if (blocks->root == NONE) return 0;
    const node *top = at(blocks, blocks->root);
    if (top->first >= bytes) return 0;
    if (top->gap < bytes) return top->last;
    for (;;) {
        if (top->left != NONE) {
            const node *left = at(blocks, top->left);
            if (left->gap >= bytes) {
                top = left;
                continue;
            }
            if (top->block.offset - left->last >= bytes) return left->last;
        }
        const node *right = at(blocks, top->right);
        if (right->first - top->block.end >= bytes) return top->block.end;
        top = right;
    }
}

bool djlplan_blocks_after(const struct djlplan_blocks *blocks, int64_t offset,
                          struct djlplan_block *found) {
    bool any = false;
    for (int32_t top = blocks->root; top != NONE;) {
        const node *here = at(blocks, top);
        if (here->block.end > offset) {
            *found = here->block;
            any = true;
            top = here->left;
        } else {
            top = here->right;
        }
    }
    return any;
}

bool djlplan_blocks_before(const struct djlplan_blocks *blocks, int64_t offset,
                           struct djlplan_block *found) {
    bool any = false;
    for (int32_t top = blocks->root; top != NONE;) {
        const node *here = at(blocks, top);
        if (here->block.offset < offset) {
            *found = here->block;
            any = true;
            top = here->right;
        } else {
            top = here->left;
        }
    }
    return any;
}

/* Returns an unused entry for a node; NONE if there is no memory. */
static int32_t new_entry(struct djlplan_blocks *blocks) {
    if (blocks->unused != NONE) {
        int32_t index = blocks->unused;
        blocks->unused = at(blocks, index)->right;
        return index;
    }
    if (blocks->entries == blocks->capacity) {
        if (blocks->capacity > INT32_MAX / 2) return NONE;
        int32_t capacity = blocks->capacity == 0 ? FIRST_CAPACITY : 2 * blocks->capacity;
        node *nodes = realloc(blocks->nodes, (size_t)capacity * sizeof *nodes);
        if (nodes == NULL) return NONE;
        blocks->nodes = nodes;
        blocks->capacity = capacity;
    }
    return ++blocks->entries;
}

/* Marsaglia 2003, "Xorshift RNGs". */
static uint32_t next_random(struct djlplan_blocks *blocks) {
    uint32_t x = blocks->random == 0 ? 1 : blocks->random;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return blocks->random = x;
}

/* Splits a tree into the blocks before an offset and the blocks from the offset on. */
static void split(struct djlplan_blocks *blocks, int32_t top, int64_t offset, int32_t *before,
                  int32_t *after) {
    if (top == NONE) {
        *before = *after = NONE;
        return;
    }
    node *here = at(blocks, top);
    if (here->block.offset < offset) {
        split(blocks, here->right, offset, &here->right, after);
        *before = top;
    } else {
        split(blocks, here->left, offset, before, &here->left);
        *after = top;
    }
    update(blocks, here);
}

/* Joins two trees; all blocks of the first lie before those of the second. */
static int32_t join(struct djlplan_blocks *blocks, int32_t before, int32_t after) {
    if (before == NONE) return after;
    if (after == NONE) return before;
    node *first = at(blocks, before), *second = at(blocks, after);
    if (first->priority >= second->priority) {
        first->right = join(blocks, first->right, after);
        update(blocks, first);
        return before;
    }
    second->left = join(blocks, before, second->left);
    update(blocks, second);
    return after;
}

static int32_t insert(struct djlplan_blocks *blocks, int32_t top, int32_t added) {
    node *block = at(blocks, added);
    if (top == NONE || at(blocks, top)->priority < block->priority) {
        split(blocks, top, block->block.offset, &block->left, &block->right);
        update(blocks, block);
        return added;
    }
    node *here = at(blocks, top);
    if (block->block.offset < here->block.offset) {
        here->left = insert(blocks, here->left, added);
    } else {
        here->right = insert(blocks, here->right, added);
    }
    update(blocks, here);
    return top;
}

bool djlplan_blocks_add(struct djlplan_blocks *blocks, struct djlplan_block block) {
    struct djlplan_block next = {0};
    if (block.offset < 0 || block.end <= block.offset) return false;
    if (djlplan_blocks_after(blocks, block.offset, &next) && next.offset < block.end) return false;
    int32_t added = new_entry(blocks);
    if (added == NONE) return false;
    *at(blocks, added) = (node){.block = block, .priority = next_random(blocks)};
    blocks->root = insert(blocks, blocks->root, added);
    blocks->count++;
    return true;
}

/* Removes the node at an offset from a tree and returns the new root; `taken` is the node or NONE. */
static int32_t take_out(struct djlplan_blocks *blocks, int32_t top, int64_t offset,
                        int32_t *taken) {
    if (top == NONE) return NONE;
    node *here = at(blocks, top);
    if (here->block.offset == offset) {
        *taken = top;
        return join(blocks, here->left, here->right);
    }
    if (offset < here->block.offset) {
        here->left = take_out(blocks, here->left, offset, taken);
    } else {
        here->right = take_out(blocks, here->right, offset, taken);
    }
    update(blocks, here);
    return top;
}

bool djlplan_blocks_remove(struct djlplan_blocks *blocks, int64_t offset,
                           struct djlplan_block *removed) {
    int32_t taken = NONE;
    blocks->root = take_out(blocks, blocks->root, offset, &taken);
    if (taken == NONE) return false;
    *removed = at(blocks, taken)->block;
    at(blocks, taken)->right = blocks->unused;
    blocks->unused = taken;
    blocks->count--;
    return true;
}
