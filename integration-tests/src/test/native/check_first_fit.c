/* Compares first fit by address with a naive version that scans all blocks. */
#include "check.h"
#include "first_fit.h"

#include <string.h>

enum { GRANULES = 1 << 14, UNIT = 64, MOST = 600, ROUNDS = 40000 };

static uint64_t state = 1;
static char used[GRANULES]; /* the naive record: 1 for a granule in use */
static int64_t offsets[MOST], ends[MOST];
static int count;

static int draw(int limit) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (int)((state >> 33) % (unsigned)limit);
}

static int64_t naive_find(int64_t bytes) {
    int64_t wanted = bytes / UNIT;
    for (int64_t from = 0; from + wanted <= GRANULES;) {
        const char *taken = memchr(used + from, 1, (size_t)wanted);
        if (taken == NULL) return from * UNIT;
        from = taken - used + 1;
    }
    return -1;
}

static void mark(int64_t offset, int64_t end, int value) {
    memset(used + offset / UNIT, value, (size_t)((end - offset) / UNIT));
}

static void add(struct djlplan_blocks *blocks, int64_t offset, int64_t bytes) {
    int64_t end = offset + bytes;
    bool free = memchr(used + offset / UNIT, 1, (size_t)(bytes / UNIT)) == NULL;
    struct djlplan_block block = {.offset = offset, .end = end, .number = count};
    CHECK(djlplan_blocks_add(blocks, block) == free);
    if (!free) return;
    mark(offset, end, 1);
    offsets[count] = offset;
    ends[count++] = end;
}

static void remove_one(struct djlplan_blocks *blocks, int which) {
    struct djlplan_block removed;
    CHECK(djlplan_blocks_remove(blocks, offsets[which], &removed));
    CHECK(removed.offset == offsets[which] && removed.end == ends[which]);
    CHECK(!djlplan_blocks_remove(blocks, offsets[which], &removed));
    mark(offsets[which], ends[which], 0);
    count--;
    offsets[which] = offsets[count];
    ends[which] = ends[count];
}

static void check_neighbours(const struct djlplan_blocks *blocks) {
    int64_t at = draw(GRANULES) * (int64_t)UNIT;
    struct djlplan_block after, before;
    int64_t first = INT64_MAX, last = -1;
    for (int i = 0; i < count; i++) {
        if (ends[i] > at && offsets[i] < first) first = offsets[i];
        if (offsets[i] < at && offsets[i] > last) last = offsets[i];
    }
    CHECK(djlplan_blocks_after(blocks, at, &after) == (first < INT64_MAX));
    CHECK(first == INT64_MAX || after.offset == first);
    CHECK(djlplan_blocks_before(blocks, at, &before) == (last >= 0));
    CHECK(last < 0 || before.offset == last);
}

static void check_random(void) {
    struct djlplan_blocks blocks = {0};
    for (int round = 0; round < ROUNDS; round++) {
        int64_t bytes = UNIT * (int64_t)(1 + (draw(4) == 0 ? draw(400) : draw(20)));
        if (count == MOST || (count > 0 && draw(100) < 48)) {
            remove_one(&blocks, draw(count));
        } else if (draw(4) == 0) { /* at a planned offset */
            int64_t offset = UNIT * (int64_t)draw(GRANULES - (int)(bytes / UNIT));
            add(&blocks, offset, bytes);
        } else {
            int64_t lowest = naive_find(bytes), found = djlplan_blocks_find(&blocks, bytes);
            CHECK(lowest >= 0 ? found == lowest : found + bytes > (int64_t)GRANULES * UNIT);
            if (lowest >= 0) add(&blocks, lowest, bytes);
        }
        CHECK(blocks.count == count);
        if (round % 16 == 0) check_neighbours(&blocks);
    }
    while (count > 0) remove_one(&blocks, draw(count));
    CHECK(blocks.count == 0 && djlplan_blocks_find(&blocks, UNIT) == 0);
    djlplan_blocks_free(&blocks);
}

/*
 * Checks a very large number of blocks in the worst order for a tree: the lowest place, and no deep
 * recursion.
 */
static void check_ascending(void) {
    enum { BLOCKS = 100000 };
    struct djlplan_blocks blocks = {0};
    struct djlplan_block removed;
    for (int64_t i = 0; i < BLOCKS; i++) {
        CHECK(djlplan_blocks_find(&blocks, UNIT) == i * UNIT);
        CHECK(
            djlplan_blocks_add(&blocks, (struct djlplan_block){i * UNIT, (i + 1) * UNIT, 0, 0, 0}));
    }
    for (int64_t i = BLOCKS - 2; i >= 0; i -= 2) {
        CHECK(djlplan_blocks_remove(&blocks, i * UNIT, &removed));
        CHECK(djlplan_blocks_find(&blocks, UNIT) == i * UNIT);
        CHECK(djlplan_blocks_find(&blocks, UNIT + 1) == BLOCKS * (int64_t)UNIT);
    }
    djlplan_blocks_free(&blocks);
}

static void check_refusals(void) {
    struct djlplan_blocks blocks = {0};
    struct djlplan_block found;
    CHECK(!djlplan_blocks_add(&blocks, (struct djlplan_block){64, 64, 0, 0, 0}));
    CHECK(!djlplan_blocks_add(&blocks, (struct djlplan_block){64, 0, 0, 0, 0}));
    CHECK(!djlplan_blocks_add(&blocks, (struct djlplan_block){-64, 64, 0, 0, 0}));
    CHECK(!djlplan_blocks_remove(&blocks, 0, &found) && !djlplan_blocks_after(&blocks, 0, &found));
    CHECK(!djlplan_blocks_before(&blocks, INT64_MAX, &found) && blocks.count == 0);
    djlplan_blocks_free(&blocks);
}

int main(void) {
    check_refusals();
    check_random();
    check_ascending();
    puts("OK");
    return 0;
}
