/*
 * The native library of djl-plan. It holds no policy: Java decides what is planned and where, this
 * code carries it out and checks, at every use, that the planned place still fits.
 *
 * How functions say what became of them, here and inside of the library:
 *
 *   carries something out   int: DJLPLAN_OK, or another code of enum djlplan_status; errno from
 *                           djlplan_map. Why it failed is written to the caller's `message`,
 *                           cut to `message_bytes`, or told by the session.
 *   makes something         a pointer, NULL if it could not
 *   answers a question      1 or 0: int where Java calls it, bool inside
 *   counts, gives a number  −1 if there is none
 *   may fail, inside        bool, true when done; or const char *, the problem, NULL when done
 *   the engine calls it     as the engine wants: TfLiteStatus, a pointer
 *
 * Nothing prints, exits or sets errno for others. Lists are written by functions that return how
 * many elements there are and write no more than `capacity` of them.
 *
 * Nothing here may be called for one session from two threads at once; what is safe beyond that
 * says so. Fields and variables that threads share name the lock that guards them; those without a
 * note belong to one thread at a time, or do not change once others can see them.
 */
#ifndef DJLPLAN_H
#define DJLPLAN_H

#include <stddef.h>
#include <stdint.h>

#define DJLPLAN_API __attribute__((visibility("default")))

/* Where Java has the same number, or place in a struct. */
#define DJLPLAN_AS_IN_JAVA(condition, where) _Static_assert(condition, "not as in Java's " where)

/*
 * What Java and this library agree on: raised with every change of a function here, of its meaning
 * or of a struct. Copies of djl-plan in several class loaders share the library that the first one
 * loaded, for libtorch can have one allocator only.
 */
enum { DJLPLAN_ABI = 2 };
DJLPLAN_AS_IN_JAVA(DJLPLAN_ABI == 2, "NativeLoader.ABI");
DJLPLAN_API int djlplan_abi(void);

enum djlplan_status {
    DJLPLAN_OK = 0,
    DJLPLAN_ENGINE_ERROR = 1, /* the engine failed, or is not one that can be used */
    DJLPLAN_MISMATCH = 2      /* the plan does not fit what the engine wants; nothing ran */
};
DJLPLAN_AS_IN_JAVA(DJLPLAN_OK == 0 && DJLPLAN_MISMATCH == 2, "TfLiteNative.OK, MISMATCH");

/* Offsets in an arena are multiples of this, in bytes. */
enum { DJLPLAN_ALIGNMENT = 64 };
DJLPLAN_AS_IN_JAVA(DJLPLAN_ALIGNMENT == 64, "UsageRecords.ALIGNMENT_BYTES");

/* ---- arena.c, mapping.c: arenas and file mappings -------------------------------------------- */

/*
 * Returns zeroed memory, aligned to 2 MiB, or NULL; with `huge_pages` the system is asked for pages
 * of that size. Of addresses it takes what it needs, rounded up to 2 MiB.
 */
DJLPLAN_API void *djlplan_arena_create(int64_t bytes, int huge_pages);
DJLPLAN_API void djlplan_arena_free(void *arena);

/* Gives all memory that the C library keeps for later back to the system, where it can. */
DJLPLAN_API void djlplan_trim(void);

struct djlplan_mapping {
    void *address;
    int64_t bytes;
    int64_t modified_nanos;
    int32_t file; /* kept open, so that a truncation in place can be noticed */
};
DJLPLAN_AS_IN_JAVA(sizeof(struct djlplan_mapping) == 32, "NativeMemory.MAPPING_BYTES");
DJLPLAN_AS_IN_JAVA(offsetof(struct djlplan_mapping, address) == 0, "NativeMemory.MAPPING_ADDRESS");
DJLPLAN_AS_IN_JAVA(offsetof(struct djlplan_mapping, bytes) == 8, "NativeMemory.MAPPING_LENGTH");

/* Maps a file read-only. Returns 0 or errno. */
DJLPLAN_API int djlplan_map(const char *path, struct djlplan_mapping *mapping);
/* Returns 1 while size and time of the mapped file are as they were. */
DJLPLAN_API int djlplan_mapping_intact(const struct djlplan_mapping *mapping);
/* Lets the system take the pages back that are in memory; they are read again when needed. */
DJLPLAN_API void djlplan_mapping_release(const struct djlplan_mapping *mapping);
DJLPLAN_API void djlplan_unmap(struct djlplan_mapping *mapping);

/* ---- priority.c: processes that give way ----------------------------------------------------- */

/*
 * Gives all threads of a process the least priority, which those that they start inherit. Returns
 * of how many threads; 0 where that is not allowed or there is no such process.
 */
DJLPLAN_API int djlplan_give_way(int process);

/* ---- tflite_*.c: TensorFlow Lite interpreters whose tensors we place ------------------------- */

struct djlplan_tflite_session;

/*
 * Finds the engine's library among those loaded in this process. Unless it returns DJLPLAN_OK,
 * `message` says why it cannot be used (not loaded, other version, missing functions). Idempotent,
 * thread-safe.
 */
DJLPLAN_API int djlplan_tflite_attach(char *message, int64_t message_bytes);

/* A model over memory that outlives it and that the caller has verified; NULL on failure. */
DJLPLAN_API void *djlplan_tflite_model_create(const void *bytes, int64_t length);
DJLPLAN_API void djlplan_tflite_model_delete(void *model);

/*
 * A session is one interpreter. Made by _new (NULL without memory), told what it shall be by _plan,
 * _delegate or _preview, and _time, and built by _build; when that fails, djlplan_tflite_error says
 * why and the session is only good for deleting. With none of the four it is a stock interpreter.
 */
DJLPLAN_API struct djlplan_tflite_session *djlplan_tflite_session_new(void);
/*
 * `ids` are the tensors whose memory the caller will place, if a CPU kernel uses them; those that
 * the engine keeps for good, variables, and those of delegate kernels are left to it. The kernels'
 * temporaries are the caller's, too.
 */
DJLPLAN_API int djlplan_tflite_session_plan(struct djlplan_tflite_session *session,
                                            const int32_t *ids, int count);
/* The delegate, a TfLiteDelegate that outlives the session, may take the operators if it will. */
DJLPLAN_API int djlplan_tflite_session_delegate(struct djlplan_tflite_session *session,
                                                void *delegate, const int32_t *operators,
                                                int count);
/* The delegate takes nothing, but djlplan_tflite_partitions tells what it would. */
DJLPLAN_API void djlplan_tflite_session_preview(struct djlplan_tflite_session *session,
                                                void *delegate);
/* Each inference notes how long each node takes. */
DJLPLAN_API void djlplan_tflite_session_time(struct djlplan_tflite_session *session);
DJLPLAN_API int djlplan_tflite_session_build(struct djlplan_tflite_session *session,
                                             const void *model, int threads);
DJLPLAN_API void djlplan_tflite_session_delete(struct djlplan_tflite_session *session);

/* The engine's words about the last failure; never NULL. */
DJLPLAN_API const char *djlplan_tflite_error(const struct djlplan_tflite_session *session);

/* Gives an input another shape; call djlplan_tflite_allocate and _place afterwards. */
DJLPLAN_API int djlplan_tflite_resize(struct djlplan_tflite_session *session, int input,
                                      const int32_t *shape, int rank);
/* Lets the kernels say what they need. Forgets the places given before. */
DJLPLAN_API int djlplan_tflite_allocate(struct djlplan_tflite_session *session);

/*
 * The live graph as numbers. Nodes, in execution order: id (an operator's is its index in the
 * file), builtin code, then count and ids of the operators that a delegate kernel replaces, of
 * inputs, outputs, temporaries. Partitions: count and ids of their operators. Tensors: type,
 * allocation type, 1 if variable, 1 if ours to place, rank, dimensions. Sizes, for each tensor:
 * bytes, address (0 when it has none).
 */
DJLPLAN_API int64_t djlplan_tflite_nodes(const struct djlplan_tflite_session *session, int32_t *out,
                                         int64_t capacity);
DJLPLAN_API int64_t djlplan_tflite_partitions(const struct djlplan_tflite_session *session,
                                              int32_t *out, int64_t capacity);
DJLPLAN_API int64_t djlplan_tflite_tensors(const struct djlplan_tflite_session *session,
                                           int32_t *out, int64_t capacity);
DJLPLAN_API int64_t djlplan_tflite_sizes(const struct djlplan_tflite_session *session, int64_t *out,
                                         int64_t capacity);

/* Nanoseconds of each node in the last inference of a timed session, in execution order. */
DJLPLAN_API int64_t djlplan_tflite_times(const struct djlplan_tflite_session *session, int64_t *out,
                                         int64_t capacity);

/*
 * Takes the plan: an offset in bytes for every tensor that is ours to place, by ascending id.
 * Refuses (MISMATCH) a plan that leaves one out, names another, misaligns one, or reaches beyond
 * `arena_bytes`; then there is no plan, not even one that was taken before.
 */
DJLPLAN_API int djlplan_tflite_place(struct djlplan_tflite_session *session, const int32_t *ids,
                                     const int64_t *offsets, int count, int64_t arena_bytes);

/*
 * Runs once with the planned tensors in `arena` (NULL for a stock session). Checks before that
 * every planned tensor still is ours, as large as planned, and at its place. A refused run changes
 * nothing: the plan stays.
 */
DJLPLAN_API int djlplan_tflite_invoke(struct djlplan_tflite_session *session, void *arena,
                                      int64_t arena_bytes);

DJLPLAN_API int djlplan_tflite_input_count(const struct djlplan_tflite_session *session);
DJLPLAN_API int djlplan_tflite_output_count(const struct djlplan_tflite_session *session);
/* Tensor id of an input or output, −1 when there is none. */
DJLPLAN_API int djlplan_tflite_input(const struct djlplan_tflite_session *session, int index);
DJLPLAN_API int djlplan_tflite_output(const struct djlplan_tflite_session *session, int index);

/* ---- tflite_delegate.c: native delegates ----------------------------------------------------- */

struct djlplan_delegate;

/*
 * Creates XNNPACK's delegate (`library` NULL) or the one of a library with TensorFlow Lite's
 * interface of external delegates, which is never unloaded. Each belongs to one session, which is
 * deleted first. Writes to `message` why it returned NULL. Only when attached.
 */
DJLPLAN_API struct djlplan_delegate *djlplan_delegate_create(const char *library, int threads,
                                                             char *message, int64_t message_bytes);
/* The TfLiteDelegate. */
DJLPLAN_API void *djlplan_delegate_handle(const struct djlplan_delegate *delegate);
DJLPLAN_API void djlplan_delegate_delete(struct djlplan_delegate *delegate);

/* ---- torch*.c: the CPU allocator of libtorch ------------------------------------------------- */

/*
 * Takes the allocator over, if everything we know about its layout proves right. From then on each
 * allocation goes to the engine's own allocator, unless a run is current on its thread. Never
 * undone. Unless it returns DJLPLAN_OK, `message` says why not. Idempotent, thread-safe.
 */
DJLPLAN_API int djlplan_torch_attach(char *message, int64_t message_bytes);

/*
 * What libtorch keeps for each thread and a forward pass depends on: the number of threads for an
 * operator, whether gradients are recorded (which keeps intermediates alive), whether the executor
 * of TorchScript optimizes.
 */
#define DJLPLAN_TORCH_THREADS INT64_C(0xFFFFFFFF)
#define DJLPLAN_TORCH_GRAD (INT64_C(1) << 32)
#define DJLPLAN_TORCH_OPTIMIZE (INT64_C(1) << 33)
DJLPLAN_AS_IN_JAVA(DJLPLAN_TORCH_THREADS == 0xFFFFFFFF, "TorchSettings.THREADS");
DJLPLAN_AS_IN_JAVA(DJLPLAN_TORCH_GRAD == INT64_C(1) << 32, "TorchSettings.GRAD");
/* Returns those of this thread, −1 if libtorch is not as we know it. */
DJLPLAN_API int64_t djlplan_torch_settings(void);
/* Sets those of this thread; −1 changes nothing. */
DJLPLAN_API void djlplan_torch_set_settings(int64_t wanted);

/*
 * What the allocations of one prediction shall be: sizes in bytes and offsets in an arena, −1 for
 * one that is left to the engine. NULL if an offset is misaligned or negative otherwise, an
 * allocation is empty or reaches beyond `arena_bytes`, or there is no memory. A plan may be deleted
 * before the runs that use it end: they hold on to it.
 */
struct djlplan_torch_plan;
DJLPLAN_API struct djlplan_torch_plan *djlplan_torch_plan_create(const int64_t *bytes,
                                                                 const int64_t *offsets, int count,
                                                                 int64_t arena_bytes);
DJLPLAN_API void djlplan_torch_plan_delete(struct djlplan_torch_plan *plan);

/*
 * A run is one prediction. While it is current on a thread, that thread's allocations are recorded
 * or placed; frees of its blocks are noticed on every thread, also after the pause, until the run
 * is finished.
 */
struct djlplan_torch_run;
/*
 * Both return NULL if a run is current on this thread already or there is no memory; the second
 * also if the arena is too small, none of ours, or has a run.
 */
DJLPLAN_API struct djlplan_torch_run *djlplan_torch_record(void);
/* `arena` must be one of ours that nobody else uses until the run is finished. */
DJLPLAN_API struct djlplan_torch_run *djlplan_torch_replay(struct djlplan_torch_plan *plan,
                                                           void *arena);
/*
 * Ends the allocations of the current run; only on its own thread. Returns 1 if its plan was used
 * and none of its blocks is in use any more: then the run may be finished at once.
 */
DJLPLAN_API int djlplan_torch_pause(void);

/*
 * What was recorded of each allocation: bytes, time of allocation, time of free (−1: not freed, or
 * before the pause on another thread). Writes whole allocations only, and returns −1 if the
 * record is not complete for lack of memory.
 */
enum { DJLPLAN_EVENT_VALUES = 3 };
DJLPLAN_AS_IN_JAVA(DJLPLAN_EVENT_VALUES == 3, "NativeRun.VALUES_PER_EVENT");
DJLPLAN_API int64_t djlplan_torch_events(const struct djlplan_torch_run *run, int64_t *out,
                                         int64_t capacity);
/* When the recorded run was paused, in the time of its events; −1 before. */
DJLPLAN_API int64_t djlplan_torch_paused_at(const struct djlplan_torch_run *run);

enum djlplan_counter {
    DJLPLAN_PLACED = 0,   /* allocations that got their planned place */
    DJLPLAN_REFUSED = 1,  /* planned ones whose place was still in use: from the engine */
    DJLPLAN_DIVERGED = 2, /* those after the first of another size than planned: from the engine */
    DJLPLAN_MISSING = 3,  /* planned allocations that were not made */
    DJLPLAN_ALIVE = 4,    /* blocks still in use */
    DJLPLAN_COUNTERS = 5
};
DJLPLAN_AS_IN_JAVA(DJLPLAN_PLACED == 0 && DJLPLAN_REFUSED == 1 && DJLPLAN_DIVERGED == 2 &&
                       DJLPLAN_MISSING == 3 && DJLPLAN_ALIVE == 4 && DJLPLAN_COUNTERS == 5,
                   "TorchNative.PLACED … COUNTERS");

/*
 * Ends a paused run, on any thread. Writes the counters and the numbers of the allocations that
 * still are in use, at most `capacity`. When there are any, the arena is no longer the caller's: it
 * is freed with the last of them.
 */
DJLPLAN_API void djlplan_torch_finish(struct djlplan_torch_run *run, int64_t *counters,
                                      int32_t *alive, int capacity);

#endif
