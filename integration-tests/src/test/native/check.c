/*
 * Drives the native library through good and bad uses, to be built with sanitizers.
 * usage: check ENGINE_LIBRARY MODEL
 * The model takes one image [1, h, w, c] of floats and runs for any h. Prints OK.
 */
#define _GNU_SOURCE
#include "check.h"
#include "djlplan.h"

#include <dlfcn.h>
#include <string.h>

enum { NUMBERS = 4096, ALIGNMENT = DJLPLAN_ALIGNMENT, ENGINE_CUSTOM = 6 };

struct plan {
    int32_t ids[NUMBERS];
    int64_t offsets[NUMBERS];
    int count;
    int64_t bytes;
};

/* A session's input and output memory. */
struct ends {
    float *input, *output;
    int64_t input_bytes, output_bytes;
};

static char message[256];

/* Reads a list: calls the function for its length, then with memory of exactly that length. */
#define READ(list, type, function, session)                                                        \
    int64_t list##_count = function(session, NULL, 0);                                             \
    type *list = malloc((size_t)list##_count * sizeof(type));                                      \
    CHECK(list_fits(list, list##_count, function(session, list, list##_count)))

static int list_fits(const void *list, int64_t expected, int64_t count) {
    return list != NULL && expected == count && count > 0;
}

static struct ends ends_of(const struct djlplan_tflite_session *session) {
    READ(sizes, int64_t, djlplan_tflite_sizes, session);
    int input = djlplan_tflite_input(session, 0), output = djlplan_tflite_output(session, 0);
    CHECK(input >= 0 && output >= 0 && 2 * input + 1 < sizes_count);
    struct ends ends = {(float *)(intptr_t)sizes[2 * input + 1],
                        (float *)(intptr_t)sizes[2 * output + 1], sizes[2 * input],
                        sizes[2 * output]};
    free(sizes);
    return ends;
}

/* Makes a plan in which every planned tensor has its own memory. */
static void naive_plan(const struct djlplan_tflite_session *session, struct plan *plan) {
    READ(tensors, int32_t, djlplan_tflite_tensors, session);
    READ(sizes, int64_t, djlplan_tflite_sizes, session);
    plan->count = 0;
    plan->bytes = 0;
    int64_t at = 0;
    for (int id = 0; at < tensors_count; id++) {
        if (tensors[at + 3] != 0 && sizes[2 * id] > 0) {
            CHECK(tensors[at + 1] == ENGINE_CUSTOM);
            plan->ids[plan->count] = id;
            plan->offsets[plan->count++] = plan->bytes;
            plan->bytes += (sizes[2 * id] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        }
        at += 5 + tensors[at + 4];
    }
    CHECK(at == tensors_count && plan->count > 1);
    free(tensors);
    free(sizes);
}

static int place(struct djlplan_tflite_session *session, const struct plan *plan) {
    return djlplan_tflite_place(session, plan->ids, plan->offsets, plan->count, plan->bytes);
}

/* Checks that no function writes more than its capacity. */
static void check_small_capacities(const struct djlplan_tflite_session *session) {
    for (int64_t capacity = 1; capacity < 20; capacity++) {
        int32_t *room = malloc((size_t)capacity * sizeof *room);
        int64_t *long_room = malloc((size_t)capacity * sizeof *long_room);
        CHECK(room != NULL && long_room != NULL);
        CHECK(djlplan_tflite_nodes(session, room, capacity) > capacity);
        CHECK(djlplan_tflite_tensors(session, room, capacity) > capacity);
        CHECK(djlplan_tflite_sizes(session, long_room, capacity) > capacity);
        free(room);
        free(long_room);
    }
}

static void refused(struct djlplan_tflite_session *session, const struct plan *bad,
                    const char *why) {
    CHECK(place(session, bad) == DJLPLAN_MISMATCH);
    CHECK(strstr(djlplan_tflite_error(session), why) != NULL);
    char byte[ALIGNMENT];
    CHECK(djlplan_tflite_invoke(session, byte, sizeof byte) == DJLPLAN_MISMATCH);
}

static void check_bad_plans(struct djlplan_tflite_session *session, const struct plan *good) {
    struct plan *bad = malloc(sizeof *bad);
    CHECK(bad != NULL);
    *bad = *good;
    bad->offsets[1] += 4;
    refused(session, bad, "misaligned");
    *bad = *good;
    bad->offsets[0] = -ALIGNMENT;
    refused(session, bad, "misaligned");
    *bad = *good;
    bad->bytes -= ALIGNMENT;
    refused(session, bad, "outside");
    *bad = *good;
    bad->offsets[0] = INT64_MAX - ALIGNMENT + 1;
    refused(session, bad, "outside");
    *bad = *good;
    bad->count--;
    refused(session, bad, "no place");
    *bad = *good;
    bad->ids[0] = djlplan_tflite_input(session, 0);
    refused(session, bad, "not ours");
    *bad = *good;
    bad->ids[0] = -7;
    refused(session, bad, "not ours");
    *bad = *good;
    bad->ids[bad->count - 1] = INT32_MAX;
    refused(session, bad, "not ours");
    *bad = *good;
    bad->ids[0] = good->ids[1];
    bad->ids[1] = good->ids[0];
    refused(session, bad, "not in order");
    *bad = *good;
    bad->ids[1] = bad->ids[0];
    refused(session, bad, "not in order");
    bad->count = 0;
    refused(session, bad, "no place");
    free(bad);
}

static void fill(const struct ends *ends, unsigned seed) {
    for (int64_t i = 0; i < ends->input_bytes / (int64_t)sizeof(float); i++) {
        seed = seed * 1664525 + 1013904223;
        ends->input[i] = (float)(seed >> 16) / 65536 - 0.5f;
    }
}

static float *stock_run(struct djlplan_tflite_session *stock, unsigned seed, int64_t *bytes) {
    struct ends ends = ends_of(stock);
    fill(&ends, seed);
    CHECK(djlplan_tflite_invoke(stock, NULL, 0) == DJLPLAN_OK);
    float *copy = malloc((size_t)ends.output_bytes);
    CHECK(copy != NULL);
    memcpy(copy, ends.output, (size_t)ends.output_bytes);
    *bytes = ends.output_bytes;
    return copy;
}

static float difference(const float *a, const float *b, int64_t bytes) {
    float largest = 0;
    for (int64_t i = 0; i < bytes / (int64_t)sizeof *a; i++) {
        float d = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        if (!(d <= largest)) largest = d;
    }
    return largest;
}

/*
 * Runs both sessions and compares outputs; the arena has exactly the planned size, and moves for
 * every run.
 */
static void compare(struct djlplan_tflite_session *planned, struct djlplan_tflite_session *stock,
                    const struct plan *plan, float most) {
    char *previous = NULL;
    for (unsigned seed = 1; seed <= 4; seed++) {
        int64_t bytes;
        float *expected = stock_run(stock, seed, &bytes);
        char *arena = aligned_alloc(ALIGNMENT, (size_t)plan->bytes);
        CHECK(arena != NULL);
        memset(arena, 0xff, (size_t)plan->bytes);
        struct ends ends = ends_of(planned);
        fill(&ends, seed);
        CHECK(djlplan_tflite_invoke(planned, arena, plan->bytes - 1) == DJLPLAN_MISMATCH);
        CHECK(djlplan_tflite_invoke(planned, NULL, plan->bytes) == DJLPLAN_MISMATCH);
        CHECK(djlplan_tflite_invoke(planned, arena, plan->bytes) == DJLPLAN_OK);
        CHECK(ends.output_bytes == bytes && difference(ends.output, expected, bytes) <= most);
        free(previous);
        previous = arena;
        free(expected);
    }
    free(previous);
    char *mapped = djlplan_arena_create(plan->bytes, 0);
    CHECK(mapped != NULL);
    djlplan_arena_map(mapped, plan->bytes);
    CHECK(djlplan_tflite_invoke(planned, mapped, plan->bytes) == DJLPLAN_OK);
    djlplan_arena_free(mapped);
}

/*
 * Opens a session that places all tensors except `input` and `output`; a stock session places none.
 */
static struct djlplan_tflite_session *open_session(const void *model, int planned, int input,
                                                   int output) {
    int32_t ids[NUMBERS];
    int count = 0;
    /* In descending order, with ids that no model has; the library sorts and ignores them. */
    for (int id = NUMBERS - 8; planned && id > -8; id--) {
        if (id != input && id != output) ids[count++] = id;
    }
    struct djlplan_tflite_session *session = djlplan_tflite_session_new();
    CHECK(session != NULL);
    if (planned) CHECK(djlplan_tflite_session_plan(session, ids, count) == DJLPLAN_OK);
    CHECK(djlplan_tflite_session_build(session, model, 2) == DJLPLAN_OK);
    CHECK(djlplan_tflite_input(session, 1) == -1 && djlplan_tflite_output(session, 7) == -1);
    return session;
}

static void check_sessions(const void *model) {
    struct djlplan_tflite_session *stock = open_session(model, 0, -1, -1);
    struct djlplan_tflite_session *planned =
        open_session(model, 1, djlplan_tflite_input(stock, 0), djlplan_tflite_output(stock, 0));
    struct plan *plan = malloc(sizeof *plan);
    CHECK(plan != NULL);
    for (int32_t height = 0; height <= 12; height += 3) {
        if (height > 0) {
            int32_t shape[] = {1, height, 6, 5};
            CHECK(djlplan_tflite_resize(planned, 0, shape, 4) == DJLPLAN_OK);
            CHECK(djlplan_tflite_resize(stock, 0, shape, 4) == DJLPLAN_OK);
        }
        CHECK(djlplan_tflite_allocate(planned) == DJLPLAN_OK);
        CHECK(djlplan_tflite_allocate(stock) == DJLPLAN_OK);
        naive_plan(planned, plan);
        check_small_capacities(planned);
        check_bad_plans(planned, plan);
        CHECK(place(planned, plan) == DJLPLAN_OK);
        compare(planned, stock, plan, 0);
    }
    djlplan_tflite_session_delete(stock);
    int32_t impossible[] = {1, 4};
    int status = djlplan_tflite_resize(planned, 0, impossible, 2);
    CHECK(status != DJLPLAN_OK || djlplan_tflite_allocate(planned) == DJLPLAN_ENGINE_ERROR);
    CHECK(djlplan_tflite_error(planned)[0] != '\0');
    char byte[ALIGNMENT];
    CHECK(djlplan_tflite_invoke(planned, byte, sizeof byte) != DJLPLAN_OK);
    CHECK(djlplan_tflite_resize(planned, 5, impossible, 2) == DJLPLAN_ENGINE_ERROR);
    djlplan_tflite_session_delete(planned);
    free(plan);
}

/* Writes the operators of at most two of the partitions that XNNPACK reports. */
static int preview(const void *model, int32_t *operators) {
    struct djlplan_delegate *delegate =
        djlplan_delegate_create(NULL, 2, 0, NULL, message, sizeof message);
    CHECK(delegate != NULL);
    struct djlplan_tflite_session *session = djlplan_tflite_session_new();
    CHECK(session != NULL);
    djlplan_tflite_session_preview(session, djlplan_delegate_handle(delegate));
    CHECK(djlplan_tflite_session_build(session, model, 2) == DJLPLAN_OK);
    READ(partitions, int32_t, djlplan_tflite_partitions, session);
    int count = 0, seen = 0;
    for (int64_t at = 0; at < partitions_count; at += partitions[at] + 1, seen++) {
        CHECK(partitions[at] == 1);
        if (seen != 1) operators[count++] = partitions[at + 1];
    }
    CHECK(seen == 3 && count == 2);
    free(partitions);
    djlplan_tflite_session_delete(session);
    djlplan_delegate_delete(delegate);
    return count;
}

static int count_delegated(const struct djlplan_tflite_session *session, const int32_t *chosen) {
    READ(nodes, int32_t, djlplan_tflite_nodes, session);
    int count = 0;
    for (int64_t at = 0; at < nodes_count;) {
        at += 3;
        if (nodes[at] == 1) CHECK(nodes[at + 1] == chosen[count++]);
        for (int list = 0; list < 4; list++) at += nodes[at] + 1;
    }
    free(nodes);
    return count;
}

/*
 * Opens a timed session that delegates the chosen operators and places all tensors except its input
 * and output.
 */
static struct djlplan_tflite_session *open_delegated(const void *model,
                                                     const struct djlplan_delegate *delegate,
                                                     const struct djlplan_tflite_session *stock,
                                                     const int32_t *chosen, int count) {
    struct djlplan_tflite_session *session = djlplan_tflite_session_new();
    CHECK(session != NULL);
    int32_t ids[64];
    int wanted = 0;
    int input = djlplan_tflite_input(stock, 0), output = djlplan_tflite_output(stock, 0);
    for (int id = 0; id < 64; id++) {
        if (id != input && id != output) ids[wanted++] = id;
    }
    CHECK(djlplan_tflite_session_plan(session, ids, wanted) == DJLPLAN_OK);
    void *handle = djlplan_delegate_handle(delegate);
    CHECK(djlplan_tflite_session_delegate(session, handle, chosen, count) == DJLPLAN_OK);
    djlplan_tflite_session_time(session);
    CHECK(djlplan_tflite_session_build(session, model, 2) == DJLPLAN_OK);
    CHECK(djlplan_tflite_allocate(session) == DJLPLAN_OK);
    CHECK(count_delegated(session, chosen) == 2);
    return session;
}

/* Checks a model with two of three convolutions delegated. */
static void check_delegated(const void *model) {
    int32_t chosen[2];
    int count = preview(model, chosen);
    struct djlplan_tflite_session *stock = open_session(model, 0, -1, -1);
    CHECK(djlplan_tflite_allocate(stock) == DJLPLAN_OK);
    struct djlplan_delegate *delegate =
        djlplan_delegate_create(NULL, 2, 0, NULL, message, sizeof message);
    CHECK(delegate != NULL);
    struct djlplan_tflite_session *session = open_delegated(model, delegate, stock, chosen, count);
    struct plan *plan = malloc(sizeof *plan);
    CHECK(plan != NULL);
    naive_plan(session, plan);
    CHECK(place(session, plan) == DJLPLAN_OK);
    compare(session, stock, plan, 1e-5f);
    READ(times, int64_t, djlplan_tflite_times, session);
    for (int64_t i = 0; i < times_count; i++) CHECK(times[i] > 0);
    free(times);
    free(plan);
    djlplan_tflite_session_delete(session);
    djlplan_delegate_delete(delegate);
    djlplan_tflite_session_delete(stock);
}

static void check_bad_delegates(const char *no_delegate) {
    message[0] = 0;
    const char *nowhere = "/nowhere/at/all.so";
    CHECK(djlplan_delegate_create(nowhere, 1, 0, NULL, message, sizeof message) == NULL);
    CHECK(strstr(message, nowhere) != NULL);
    CHECK(djlplan_delegate_create(no_delegate, 1, 0, NULL, message, sizeof message) == NULL);
    CHECK(strstr(message, "no external delegate") != NULL);
}

static void check_mappings(const char *no_file) {
    struct djlplan_mapping mapping;
    CHECK(djlplan_map(no_file, &mapping) != 0);
    CHECK(djlplan_map("/", &mapping) != 0);
    CHECK(djlplan_map("/dev/null", &mapping) != 0);
    CHECK(djlplan_arena_create(0, 0) == NULL && djlplan_arena_create(-5, 0) == NULL);
    CHECK(djlplan_arena_create(INT64_MAX, 0) == NULL);
    djlplan_arena_free(NULL);
}

int main(int count, char **arguments) {
    CHECK(count == 3);
    CHECK(djlplan_tflite_attach(message, sizeof message) != DJLPLAN_OK);
    CHECK(strcmp(message, "TensorFlow Lite is not loaded") == 0);
    CHECK(djlplan_tflite_attach(NULL, 0) != DJLPLAN_OK);
    CHECK(dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) != NULL);
    CHECK(djlplan_tflite_attach(message, sizeof message) == DJLPLAN_OK);
    CHECK(djlplan_tflite_attach(NULL, 0) == DJLPLAN_OK);
    check_mappings("/nowhere/at/all");
    struct djlplan_mapping mapping;
    CHECK(djlplan_map(arguments[2], &mapping) == 0);
    CHECK(djlplan_mapping_intact(&mapping) == 1);
    CHECK(djlplan_tflite_model_create("not a model", 11) == NULL);
    for (int i = 0; i < 2; i++) {
        void *model = djlplan_tflite_model_create(mapping.address, mapping.bytes);
        CHECK(model != NULL);
        check_sessions(model);
        check_delegated(model);
        djlplan_tflite_model_delete(model);
    }
    check_bad_delegates(arguments[1]);
    djlplan_mapping_release(&mapping);
    CHECK(*(const char *)mapping.address != 0);
    djlplan_unmap(&mapping);
    puts("OK");
    return 0;
}
