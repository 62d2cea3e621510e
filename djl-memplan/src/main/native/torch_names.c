/*
 * Records which operator makes each allocation of a run, and the shape of the allocation's tensor,
 * through libtorch's observers of operators. For reports only; operators are observed only on
 * request.
 */
#define _GNU_SOURCE
#include "torch_names.h"

#include "functions.h"
#include "lists.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAME_BYTES = 200, MOST_DIMENSIONS = 8, NO_SHAPE = -1, MOST_NUMBER_BYTES = 16 };

struct noted {
    size_t bytes;
    const void *block;
    int dimensions; /* of the last tensor in this block that its operator returned, or NO_SHAPE */
    int64_t sizes[MOST_DIMENSIONS];
    char operator[MOST_NAME_BYTES + 1];
};

atomic_bool djlplan_names_kept;

static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static struct noted *notes; /* guarded by names_lock, like the following variables */
static int count, capacity;
static bool incomplete;

/*
 * Operators call one another. The outermost operator is the one that the model calls; it names all
 * allocations that it and its callees make.
 */
static _Thread_local struct {
    int depth;
    const char *outermost; /* the engine's string, until that operator ends */
    int first;             /* number of records before it began */
} running;

/*
 * Written under observers_lock. The function that reads names is written before any operator is
 * observed.
 */
static pthread_mutex_t observers_lock = PTHREAD_MUTEX_INITIALIZER;
static const char *(*name_of)(const void *);
static void (*remove_observer)(uint64_t);
static uint64_t observer; /* 0: none */

/* Not static, because it is called from assembly. */
void djlplan_operator_begins(const void *function);
void djlplan_operator_begins(const void *function) {
    if (running.depth++ > 0) return;
    running.outermost = name_of(function);
    pthread_mutex_lock(&names_lock);
    running.first = count;
    pthread_mutex_unlock(&names_lock);
}

/*
 * libtorch's observers return a unique_ptr; ours returns an empty one. C++ expects it at an address
 * that the caller passes: on x86-64 in a hidden first argument, on 64-bit ARM in a register that C
 * cannot name.
 */
#ifdef __x86_64__
static void **djlplan_observer_begins(void **context, const void *function) {
    *context = NULL;
    djlplan_operator_begins(function);
    return context;
}
#elif defined __aarch64__
void **djlplan_observer_begins(void **context, const void *function);
__asm__(".pushsection .text\n"
        ".globl djlplan_observer_begins\n"
        ".hidden djlplan_observer_begins\n"
        ".type djlplan_observer_begins, %function\n"
        "djlplan_observer_begins:\n"
        "    hint #34\n" /* a valid branch target (BTI) */
        "    str xzr, [x8]\n"
        "    b djlplan_operator_begins\n"
        ".size djlplan_observer_begins, . - djlplan_observer_begins\n"
        ".popsection\n");
#else
#error "unknown how this processor returns what has a destructor"
#endif

static bool is_shape_of(const struct noted *note, torch_sizes sizes) {
    if (sizes.count > MOST_DIMENSIONS) return false;
    size_t elements = 1;
    for (size_t i = 0; i < sizes.count; i++) {
        if (sizes.values[i] <= 0 || sizes.values[i] > INT32_MAX ||
            (size_t)sizes.values[i] > note->bytes / elements) {
            return false;
        }
        elements *= (size_t)sizes.values[i];
    }
    size_t each = note->bytes / elements;
    return each * elements == note->bytes && each <= 16 && (each & (each - 1)) == 0;
}

/* Records the shape of a tensor whose block the outermost operator allocated. */
static void note_shape(const void *block, torch_sizes sizes) {
    pthread_mutex_lock(&names_lock);
    int i = count - 1;
    while (i >= running.first && notes[i].block != block) i--;
    if (block != NULL && i >= running.first && is_shape_of(&notes[i], sizes)) {
        notes[i].dimensions = (int)sizes.count;
        memcpy(notes[i].sizes, sizes.values, sizes.count * sizeof *sizes.values);
    }
    pthread_mutex_unlock(&names_lock);
}

static void operator_ends(const void *function, void *context) {
    (void)context;
    djlplan_shapes_visit(function, atomic_load(&djlplan_names_kept) ? note_shape : NULL);
    if (running.depth > 0 && --running.depth == 0) running.outermost = NULL;
}

/* The caller holds observers_lock. */
static const char *observe(void) {
    if (observer != 0) return NULL;
    bool first = name_of == NULL;
    void *library = djlplan_loaded(TORCH_CPU);
    uint64_t (*add)(torch_record_callback);
    if (!djlplan_find(library, TORCH_ADD_CALLBACK, &add) ||
        !djlplan_find(library, TORCH_REMOVE_CALLBACK, &remove_observer) ||
        !djlplan_find(library, TORCH_OPERATOR_NAME, &name_of)) {
        return "libtorch does not tell them";
    }
    torch_record_callback callback = {.begins = djlplan_observer_begins,
                                      .ends = operator_ends,
                                      .probability = 1,
                                      .wanted = {[TORCH_OPERATORS] = true, [TORCH_OUTPUTS] = true}};
    observer = add(callback);
    if (first) djlplan_shapes_find();
    return NULL;
}

int djlplan_torch_names_begin(char *message, int64_t message_bytes) {
    pthread_mutex_lock(&names_lock);
    count = 0;
    incomplete = false;
    pthread_mutex_unlock(&names_lock);
    pthread_mutex_lock(&observers_lock);
    const char *problem = observe();
    pthread_mutex_unlock(&observers_lock);
    if (problem != NULL) {
        snprintf(message, (size_t)message_bytes, "%s", problem);
        return DJLPLAN_ENGINE_ERROR;
    }
    atomic_store(&djlplan_names_kept, true);
    return DJLPLAN_OK;
}

void djlplan_names_note(size_t bytes, const void *block) {
    pthread_mutex_lock(&names_lock);
    if (djlplan_list_ensure(&notes, count, &capacity, sizeof *notes)) {
        struct noted *note = &notes[count++];
        const char *name = running.outermost == NULL ? "" : running.outermost;
        *note = (struct noted){.bytes = bytes, .block = block, .dimensions = NO_SHAPE};
        snprintf(note->operator, sizeof note->operator, "%s", name);
    } else {
        incomplete = true;
    }
    pthread_mutex_unlock(&names_lock);
}

void djlplan_torch_names_end(void) {
    atomic_store(&djlplan_names_kept, false);
    pthread_mutex_lock(&observers_lock);
    if (observer != 0) remove_observer(observer);
    observer = 0;
    pthread_mutex_unlock(&observers_lock);
}

/* The longest line of a record. */
enum { MOST_LINE_BYTES = MOST_NAME_BYTES + MOST_NUMBER_BYTES * (MOST_DIMENSIONS + 3) };
static int write_line(char *line, const struct noted *note) {
    int length = snprintf(line, MOST_LINE_BYTES, "%zu ", note->bytes);
    for (int i = 0; i < note->dimensions; i++) {
        length += snprintf(line + length, (size_t)(MOST_LINE_BYTES - length), "%s%lld",
                           i == 0 ? "" : ",", (long long)note->sizes[i]);
    }
    const char *none = note->dimensions == NO_SHAPE ? "?" : "";
    return length + snprintf(line + length, (size_t)(MOST_LINE_BYTES - length), "%s %s\n", none,
                             note->operator);
}

int64_t djlplan_torch_names(char *out, int64_t room) {
    char line[MOST_LINE_BYTES];
    pthread_mutex_lock(&names_lock);
    int64_t bytes = 0, written = 0;
    for (int i = 0; i < count; i++) bytes += write_line(line, &notes[i]);
    for (int i = 0; i < count && bytes <= room; i++) {
        int length = write_line(line, &notes[i]);
        memcpy(out + written, line, (size_t)length);
        written += length;
    }
    if (incomplete) bytes = -1;
    pthread_mutex_unlock(&names_lock);
    return bytes;
}
