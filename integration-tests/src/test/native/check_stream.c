/*
 * Checks weights that are loaded into an arena: the right bytes in the right places, with every
 * kind of I/O.
 */
#define _GNU_SOURCE
#include "check.h"
#include "stream.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, PIECES = 8, ROUNDS = 20, ARENA = 4 * PAGE };

static char path[] = "/tmp/check_stream.XXXXXX";

static void write_file(void) {
    int file = mkstemp(path);
    CHECK(file >= 0);
    char page[PAGE];
    for (int i = 0; i < PIECES; i++) {
        memset(page, i + 1, PAGE);
        CHECK(write(file, page, PAGE) == PAGE);
    }
    close(file);
}

static struct djlplan_stream *open_stream(int io) {
    char message[256];
    struct djlplan_stream *stream = djlplan_stream_open(path, io, message, sizeof message);
    CHECK(stream != NULL);
    CHECK(djlplan_stream_io(stream) == io || io == DJLPLAN_IO_DIRECT);
    return stream;
}

/* Piece i goes to one of three places in rotation; the first piece stays in a fourth. */
static void fill(struct djlplan_load *loads, int32_t *needs) {
    loads[0] = (struct djlplan_load){0, PAGE, 3 * PAGE, 0, 1};
    needs[0] = 1;
    for (int i = 1; i < PIECES; i++) {
        loads[i] = (struct djlplan_load){i * PAGE, PAGE, (i % 3) * PAGE, i <= 3 ? 0 : i - 2, 0};
        needs[i] = i + 1;
    }
}

static void check_run(struct djlplan_stream *stream) {
    CHECK(djlplan_stream_begin(stream) == NULL);
    char *arena = djlplan_stream_arena(stream);
    for (int step = 0; step < PIECES; step++) {
        CHECK(djlplan_stream_await(stream, step));
        int place = step == 0 ? 3 : step % 3;
        for (int i = 0; i < PAGE; i += 512) {
            CHECK(arena[place * PAGE + i] == step + 1);
            CHECK(arena[3 * PAGE + i] == 1);
        }
        /* Overwrites the place, as an activation would. */
        if (step > 0) memset(arena + place * PAGE, 99, PAGE);
        djlplan_stream_finished(stream, step);
    }
    CHECK(djlplan_stream_end(stream) == NULL);
}

static void check_io(int io) {
    struct djlplan_stream *stream = open_stream(io);
    struct djlplan_load loads[PIECES];
    int32_t needs[PIECES];
    fill(loads, needs);
    CHECK(djlplan_stream_schedule(stream, loads, PIECES, needs, PIECES, ARENA) == DJLPLAN_OK);
    for (int i = 0; i < ROUNDS; i++) {
        check_run(stream);
        int64_t counters[DJLPLAN_LOADS_COUNTERS];
        djlplan_stream_counters(stream, counters);
        CHECK(counters[DJLPLAN_LOADS_LOADED_BYTES] == (i % 5 == 0 ? PIECES : PIECES - 1) * PAGE);
        if (i % 5 == 4) djlplan_stream_release(stream);
    }
    djlplan_stream_close(stream);
}

static void check_refused(void) {
    struct djlplan_stream *stream = open_stream(DJLPLAN_IO_CACHED);
    CHECK(djlplan_stream_steps(stream) == -1);
    struct djlplan_load loads[PIECES];
    int32_t needs[PIECES];
    const struct djlplan_load bad[] = {
        {PIECES * PAGE, PAGE, 0, 0, 0},
        {0, PAGE, ARENA, 0, 0},
        {0, PAGE, 64, 0, 0},
        {0, 100, 0, 0, 0},
        {100, PAGE, 0, 0, 0},
        {0, PAGE, 0, 2, 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        fill(loads, needs);
        loads[1] = bad[i];
        CHECK(djlplan_stream_schedule(stream, loads, PIECES, needs, PIECES, ARENA) ==
              DJLPLAN_MISMATCH);
    }
    fill(loads, needs);
    needs[PIECES - 1] = PIECES + 1;
    CHECK(djlplan_stream_schedule(stream, loads, PIECES, needs, PIECES, ARENA) == DJLPLAN_MISMATCH);
    djlplan_stream_close(stream);
    char message[256];
    CHECK(djlplan_stream_open("/nonexistent", 0, message, sizeof message) == NULL);
}

/* Checks that a failed inference ends, and that it does not affect the next one. */
static void check_cut_off(int io) {
    struct djlplan_stream *stream = open_stream(io);
    struct djlplan_load loads[PIECES];
    int32_t needs[PIECES];
    fill(loads, needs);
    CHECK(djlplan_stream_schedule(stream, loads, PIECES, needs, PIECES, ARENA) == DJLPLAN_OK);
    CHECK(djlplan_stream_begin(stream) == NULL);
    CHECK(djlplan_stream_await(stream, 0));
    CHECK(truncate(path, 5 * PAGE) == 0);
    bool went_on = true;
    for (int step = 0; step < PIECES && went_on; step++) {
        went_on = djlplan_stream_await(stream, step);
        if (went_on) djlplan_stream_finished(stream, step);
    }
    CHECK(!went_on);
    CHECK(djlplan_stream_end(stream) != NULL);
    CHECK(djlplan_stream_begin(stream) != NULL);
    djlplan_stream_close(stream);
    CHECK(unlink(path) == 0);
    strcpy(path, "/tmp/check_stream.XXXXXX");
    write_file();
}

/* Checks that an inference that ends before its loads affects nothing later. */
static void check_early_end(void) {
    struct djlplan_stream *stream = open_stream(DJLPLAN_IO_CACHED);
    struct djlplan_load loads[PIECES];
    int32_t needs[PIECES];
    fill(loads, needs);
    CHECK(djlplan_stream_schedule(stream, loads, PIECES, needs, PIECES, ARENA) == DJLPLAN_OK);
    check_run(stream);
    CHECK(djlplan_stream_begin(stream) == NULL);
    CHECK(djlplan_stream_end(stream) == NULL);
    check_run(stream);
    djlplan_stream_close(stream);
}

int main(void) {
    write_file();
    for (int io = DJLPLAN_IO_CACHED; io <= DJLPLAN_IO_DROPPED; io++) {
        check_io(io);
        check_cut_off(io);
    }
    check_refused();
    check_early_end();
    unlink(path);
    puts("OK");
    return 0;
}
