/*
 * The native library of djl-plan. Java decides what is planned and where; this code carries it out
 * and checks, at every use, that the planned place still fits. It holds one policy: an allocation
 * for which there is no plan gets the lowest place in its arena that is free (first_fit.h).
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
 * Nothing prints or sets errno for others; nothing ends the process but an exit() in the middle of a
 * pass (djlplan_torch_guard_exit). Lists are written by functions that return how
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
enum { DJLPLAN_ABI = 8 };
DJLPLAN_AS_IN_JAVA(DJLPLAN_ABI == 8, "NativeLoader.ABI");
DJLPLAN_API int djlplan_abi(void);

enum djlplan_status {
    DJLPLAN_OK = 0,
    DJLPLAN_ENGINE_ERROR = 1, /* the engine failed, or is not one that can be used */
    DJLPLAN_MISMATCH = 2,     /* the plan does not fit what the engine wants; nothing ran */
    DJLPLAN_UNSOUND = 3       /* sizes or operands that the engine must not go on with */
};
DJLPLAN_AS_IN_JAVA(DJLPLAN_OK == 0 && DJLPLAN_MISMATCH == 2 && DJLPLAN_UNSOUND == 3,
                   "TfLiteNative.OK, MISMATCH, UNSOUND");

/* Offsets in an arena are multiples of this, in bytes. */
enum { DJLPLAN_ALIGNMENT = 64 };
DJLPLAN_AS_IN_JAVA(DJLPLAN_ALIGNMENT == 64, "UsageRecords.ALIGNMENT_BYTES");

/* ---- arena.c, mapping.c: arenas and file mappings -------------------------------------------- */

/*
 * Returns zeroed memory, aligned to 2 MiB, or NULL; with `huge_pages` the system is asked for pages
 * of that size. Of addresses it takes what it needs, rounded up to 2 MiB; or as many as `most`, if
 * that is more and there are so many, to grow into.
 */
DJLPLAN_API void *djlplan_arena_create(int64_t bytes, int64_t most);
/* Makes it as large, if it can; for who touches it other than by runs. Returns its size. */
DJLPLAN_API int64_t djlplan_arena_grow(void *arena, int64_t bytes);
/* Whether a block of a run that has ended, or of one that goes on, lies there. */
DJLPLAN_API int djlplan_arena_in_use(void *arena);
/* Gives pages in which no block lies back to the system, from an offset on. Not while it is freed. */
DJLPLAN_API void djlplan_arena_trim(void *arena, int64_t keep);
/*
 * Frees it, once no block is in use there any more: until then the memory of those stays. No run may
 * go on there.
 */
DJLPLAN_API void djlplan_arena_free(void *arena);

/* Gives all memory that the C library keeps for later back to the system, where it can. */
DJLPLAN_API void djlplan_trim(void);
/*
 * Bytes that the C library has of the system, in use or kept for later, and those in use. Returns 0
 * where it does not tell.
 */
DJLPLAN_API int djlplan_heap(int64_t *taken, int64_t *used);

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
/* Gives the room of a part of a file back, which is zeros from then on. Returns 0 or errno. */
DJLPLAN_API int djlplan_punch(const char *path, int64_t offset, int64_t bytes);
/* Drops the whole pages of a part of a file from the page cache, unless a process has mapped them. */
DJLPLAN_API void djlplan_drop_cached(const char *path, int64_t offset, int64_t bytes);

/* ---- stream.c: weights that are loaded into an arena while a model runs ---------------------- */

struct djlplan_stream;

/* The way of a piece from the file to its place. */
enum djlplan_io {
    DJLPLAN_IO_CACHED = 0, /* copied from the page cache */
    DJLPLAN_IO_MMAP = 1,   /* pages of the page cache are mapped there */
    DJLPLAN_IO_DIRECT = 2, /* read past the page cache */
    DJLPLAN_IO_DROPPED = 3 /* copied from the page cache, and dropped from it */
};
DJLPLAN_AS_IN_JAVA(DJLPLAN_IO_CACHED == 0 && DJLPLAN_IO_MMAP == 1 && DJLPLAN_IO_DIRECT == 2 &&
                       DJLPLAN_IO_DROPPED == 3,
                   "WeightStream.Io");

/*
 * Opens a file of weights. Where direct I/O is refused, what is read is dropped from the page
 * cache; where pages have more than 4096 bytes, pieces are read and not mapped. Writes to `message`
 * why it returned NULL.
 */
DJLPLAN_API struct djlplan_stream *djlplan_stream_open(const char *path, int io, char *message,
                                                       int64_t message_bytes);
/* Not during an inference. Frees the arena. */
DJLPLAN_API void djlplan_stream_close(struct djlplan_stream *stream);
/* The way that pieces take: one of enum djlplan_io. */
DJLPLAN_API int djlplan_stream_io(const struct djlplan_stream *stream);

/* A piece of the file, its place in the arena, and when it may be loaded. */
struct djlplan_load {
    int64_t file_offset; /* a multiple of 4096, as `bytes` and `place` */
    int64_t bytes;
    int64_t place;
    int32_t after;  /* the number of steps that must have finished before */
    int32_t pinned; /* stays from one inference to the next */
};
DJLPLAN_AS_IN_JAVA(sizeof(struct djlplan_load) == 32, "WeightStream.LOAD_BYTES");

/*
 * Takes the loads, in the order to carry them out, and for each step the number of loads that must
 * be done before it runs; makes an arena of that size in the place of the one before. Refuses
 * (MISMATCH) what is misaligned, outside of the file or the arena, or would wait for ever; then all
 * stays as it was. Not during an inference.
 */
DJLPLAN_API int djlplan_stream_schedule(struct djlplan_stream *stream,
                                        const struct djlplan_load *loads, int load_count,
                                        const int32_t *needs, int step_count, int64_t arena_bytes);
/* Gives the arena's memory back to the system until the next inference. Not during one. */
DJLPLAN_API void djlplan_stream_release(struct djlplan_stream *stream);

enum djlplan_loads_counter {
    DJLPLAN_LOADS_STALLED_NANOS = 0, /* that steps waited for loads in the last inference */
    DJLPLAN_LOADS_LOADED_BYTES = 1,  /* in the last inference */
    DJLPLAN_LOADS_LOADED_NANOS = 2,  /* that those took */
    DJLPLAN_LOADS_COUNTERS = 3
};
DJLPLAN_AS_IN_JAVA(DJLPLAN_LOADS_STALLED_NANOS == 0 && DJLPLAN_LOADS_LOADED_BYTES == 1 &&
                       DJLPLAN_LOADS_LOADED_NANOS == 2 && DJLPLAN_LOADS_COUNTERS == 3,
                   "WeightStream.Counters");
DJLPLAN_API int64_t djlplan_stream_counters(struct djlplan_stream *stream, int64_t *out,
                                            int64_t capacity);
/* Every load takes so much longer from now on: to show that steps wait. */
DJLPLAN_API void djlplan_stream_delay(struct djlplan_stream *stream, int64_t nanos);

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

/* Whether the engine's release tells where outputs may lie, and lays out its own arena by that. */
DJLPLAN_API int djlplan_tflite_tells_in_place(void);

/* What an operator may need at most; sessions fail (UNSOUND) that would need more. Thread-safe. */
DJLPLAN_API void djlplan_tflite_memory(int64_t bytes);

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
/* While the delegate prepares, when it packs constants, these lie at `data`. Told after _delegate. */
DJLPLAN_API int djlplan_tflite_session_constants(struct djlplan_tflite_session *session,
                                                 const int32_t *ids, void *const *data, int count);
/*
 * The delegate sees the tensors in the shapes that another session of the model, which lives until
 * this one is built, was allocated for. XNNPACK plans no less memory than for what it saw.
 */
DJLPLAN_API void djlplan_tflite_session_shapes(struct djlplan_tflite_session *session,
                                               const struct djlplan_tflite_session *allocated);
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
 * Makes an input of strings as long as its new content, which is copied; anew before each
 * inference.
 */
DJLPLAN_API int djlplan_tflite_fill(struct djlplan_tflite_session *session, int input,
                                    const void *content, int64_t bytes);

/*
 * The live graph as numbers. Nodes, in execution order: id (an operator's is its index in the
 * file), builtin code, where the first output may lie (TfLiteRegistration's inplace_operator, −1
 * when the engine does not tell), then count and ids of the operators that a delegate kernel
 * replaces, of inputs, outputs, temporaries. Partitions: count and ids of their operators.
 * Tensors: type, allocation type, 1 if variable, 1 if ours to place, rank, dimensions. Sizes, for each tensor:
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
 * Makes a plan and takes it, as _place does: for shapes that come only once. Writes how large an
 * arena it needs to `places`, and after it where in it each output lies, -1 for one that is the
 * engine's. MISMATCH if there is none, for instance as sizes are known only at run time.
 */
DJLPLAN_API int djlplan_tflite_fit(struct djlplan_tflite_session *session, int64_t *places);

/*
 * Runs once with the planned tensors in `arena` (NULL for a stock session). Checks before that
 * every planned tensor still is ours, as large as planned, and at its place. A refused run changes
 * nothing: the plan stays.
 */
DJLPLAN_API int djlplan_tflite_invoke(struct djlplan_tflite_session *session, void *arena,
                                      int64_t arena_bytes);

/*
 * Constants are not read from the model's memory, but from places in a stream's arena; so are the
 * copies that kernels derive from them in their first inference. Told before _build.
 */
DJLPLAN_API void djlplan_tflite_session_stream(struct djlplan_tflite_session *session);
/* What kernels derive, once allocated: step (the node's place in execution order), tensor, and the
 * constant that is not read any more once it is there. */
DJLPLAN_API int64_t djlplan_tflite_derived(const struct djlplan_tflite_session *session,
                                           int32_t *out, int64_t capacity);
/* At a step, a constant or what was derived from one lies at a place in the arena. */
struct djlplan_binding {
    int32_t step;
    int32_t tensor;
    int64_t place;
};
DJLPLAN_AS_IN_JAVA(sizeof(struct djlplan_binding) == 16, "TfLiteSession.BINDING_BYTES");
/*
 * Takes the bindings, by ascending step, for a stream that has a schedule of these steps and lives
 * until the session is deleted or given another one; and, for each step, 1 if it does nothing
 * because its output lies where its input is. Refuses (MISMATCH) what does not fit the model.
 */
DJLPLAN_API int djlplan_tflite_bind(struct djlplan_tflite_session *session,
                                    struct djlplan_stream *stream,
                                    const struct djlplan_binding *bindings, int count,
                                    const uint8_t *elided);
/* Runs once in the stream's arena, as djlplan_tflite_invoke does in another. */
DJLPLAN_API int djlplan_tflite_invoke_streamed(struct djlplan_tflite_session *session);
/* The same; writes what each kernel derived to an offset in a file, in the order of _derived. */
DJLPLAN_API int djlplan_tflite_invoke_capturing(struct djlplan_tflite_session *session,
                                                const char *path, const int64_t *offsets);

DJLPLAN_API int djlplan_tflite_input_count(const struct djlplan_tflite_session *session);
DJLPLAN_API int djlplan_tflite_output_count(const struct djlplan_tflite_session *session);
/* Tensor id of an input or output, −1 when there is none. */
DJLPLAN_API int djlplan_tflite_input(const struct djlplan_tflite_session *session, int index);
DJLPLAN_API int djlplan_tflite_output(const struct djlplan_tflite_session *session, int index);

/* ---- tflite_delegate.c: native delegates ----------------------------------------------------- */

struct djlplan_delegate;

/*
 * Creates XNNPACK's delegate (`library` NULL; `transient`: the one that builds indirection buffers
 * for each inference, which takes less memory and more time; `packed`: what has its weights, or
 * NULL) or the one of a library with TensorFlow Lite's interface of external delegates, which is
 * never unloaded. Each belongs to one session, which is deleted first. Writes to `message` why it
 * returned NULL. Only when attached.
 */
DJLPLAN_API struct djlplan_delegate *djlplan_delegate_create(const char *library, int threads,
                                                             int transient, void *packed,
                                                             char *message, int64_t message_bytes);
/* The TfLiteDelegate. */
DJLPLAN_API void *djlplan_delegate_handle(const struct djlplan_delegate *delegate);
DJLPLAN_API void djlplan_delegate_delete(struct djlplan_delegate *delegate);

/* ---- xnnpack_weights.c: weights that delegates of one model have in common ------------------- */

/*
 * Room for the packed weights of one delegate, as many bytes at most, of which those that are used
 * take memory; NULL where there is none, or the release has no such thing. A session is built with
 * the first delegate, which packs them; then the same thread finishes them, before its tensors are
 * allocated, and is told the bytes that they take. From then on further delegates, which are given the same operators of the same model, find
 * theirs there, from any thread. Deleted after all of them.
 */
DJLPLAN_API void *djlplan_packed_create(int64_t bytes);
DJLPLAN_API int djlplan_packed_finish(void *packed, int64_t *bytes);
DJLPLAN_API void djlplan_packed_delete(void *packed);

/* ---- xnnpack_workspace.c: workspaces that take turns on the same pages ----------------------- */

/*
 * Has XNNPACK take its memory through us, which never ends. Returns MISMATCH where a release does
 * not let us, ENGINE_ERROR where it was used in this process before. Idempotent, thread-safe. Only
 * when attached.
 */
DJLPLAN_API int djlplan_workspaces_attach(void);
/*
 * Bytes of the delegate's workspace, in whole pages; 0 without one that may lie on other pages, as
 * before the tensors of its session are allocated.
 */
DJLPLAN_API int64_t djlplan_workspace_bytes(const struct djlplan_delegate *delegate);
/*
 * Has the workspace lie on pages that are at least as large; its content is lost. Not during an
 * inference, and no two that lie on the same pages may be used at once. Returns MISMATCH where it
 * lies on pages of its own instead, ENGINE_ERROR where it lies on none and must not be used.
 */
DJLPLAN_API int djlplan_workspace_move(const struct djlplan_delegate *delegate, int pages);

/* A file in memory, empty, that no other process gets; −1 where the system has none. */
DJLPLAN_API int djlplan_pages_create(void);
/* Gives the file another size; what it grows by is memory that is there, not promised. */
DJLPLAN_API int djlplan_pages_resize(int pages, int64_t old_bytes, int64_t bytes);
DJLPLAN_API void djlplan_pages_close(int pages);

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
 * one that outlives the prediction or has no place for another reason. NULL if an offset is misaligned or negative otherwise, an
 * allocation is empty or reaches beyond `arena_bytes`, or there is no memory. A plan may be deleted
 * before the runs that use it end: they hold on to it.
 */
struct djlplan_torch_plan;
DJLPLAN_API struct djlplan_torch_plan *djlplan_torch_plan_create(const int64_t *bytes,
                                                                 const int64_t *offsets, int count,
                                                                 int64_t arena_bytes);
DJLPLAN_API void djlplan_torch_plan_delete(struct djlplan_torch_plan *plan);

/*
 * Which allocations of a model outlive its predictions: by what was allocated and freed before in the
 * same prediction. Those of many bytes get places in `arena`, where no run may be; others, and all
 * if it is NULL, are left to the engine. Thread-safe. NULL without memory. Both may be deleted before
 * the runs that use them end: they hold on to them.
 */
struct djlplan_torch_escapes;
DJLPLAN_API struct djlplan_torch_escapes *djlplan_torch_escapes_create(void *arena);
DJLPLAN_API void djlplan_torch_escapes_delete(struct djlplan_torch_escapes *escapes);

/*
 * A run is one prediction. While it is current on a thread, that thread's allocations get places in
 * its arena: those of the plan, if there is one, as long as they are as planned; others the lowest
 * that are free. The engine's allocator serves what finds no room. Frees of its blocks are noticed
 * on every thread.
 */
struct djlplan_torch_run;
/*
 * Begins one on this thread. `arena` must be one of ours that no other run uses until this one is
 * finished; blocks of runs before may lie there. `plan` and `escapes` may be NULL; `logged` is 1 if
 * it is noted what is allocated and freed. Returns NULL if a
 * run is current on this thread already, there is no memory, or the arena is too small for the plan,
 * none of ours, or has a run.
 */
DJLPLAN_API struct djlplan_torch_run *djlplan_torch_begin(struct djlplan_torch_plan *plan,
                                                          void *arena,
                                                          struct djlplan_torch_escapes *escapes,
                                                          int logged);
/*
 * Ends the allocations of the current run; only on its own thread. Returns 1 if none of its blocks
 * is in use any more, and nothing is noted: then the run may be finished at once.
 */
DJLPLAN_API int djlplan_torch_pause(void);

/*
 * Passes through libtorch that are under way, on any thread. A run is one from its beginning to its
 * pause; passes in the engine's own memory are counted by these two. Thread-safe.
 */
DJLPLAN_API void djlplan_torch_pass_begin(void);
DJLPLAN_API void djlplan_torch_pass_end(void);
DJLPLAN_API int djlplan_torch_passes(void);
/*
 * exit() destroys what libtorch's kernels use, such as oneDNN's cache of primitives, even if a thread
 * runs them. From now on an exit() in the middle of a pass flushes all streams and then ends the
 * process with its status at once; otherwise it goes on as usual, and passes that would begin from
 * then on wait for the process to end. Destructors that are registered
 * after this call, as those of a library's lazily created objects, still run before. Thread-safe.
 */
DJLPLAN_API int djlplan_torch_guard_exit(void);

/*
 * What was noted of each allocation: bytes, time of allocation, time of free (−1: not freed, before
 * the pause on another thread, or left to the engine). Writes whole allocations only, and returns
 * −1 if there were too many, or not enough memory for them.
 */
enum { DJLPLAN_EVENT_VALUES = 3, DJLPLAN_MOST_EVENTS = 1 << 18 };
DJLPLAN_AS_IN_JAVA(DJLPLAN_EVENT_VALUES == 3, "RunEvents.VALUES_PER_EVENT");
DJLPLAN_API int64_t djlplan_torch_events(const struct djlplan_torch_run *run, int64_t *out,
                                         int64_t capacity);
/* When the run was paused, in the time of its events; −1 before, and if nothing is noted. */
DJLPLAN_API int64_t djlplan_torch_paused_at(const struct djlplan_torch_run *run);

enum djlplan_counter {
    DJLPLAN_PLACED = 0,   /* allocations that got their planned place */
    DJLPLAN_REFUSED = 1,  /* planned ones whose place was still in use: found another */
    DJLPLAN_DIVERGED = 2, /* those after the first of another size than planned: found places */
    DJLPLAN_MISSING = 3,  /* planned allocations that were not made */
    DJLPLAN_ALIVE = 4,    /* blocks still in use */
    DJLPLAN_FITTED = 5,   /* allocations that got a place without a plan */
    DJLPLAN_OUTSIDE = 6,  /* those for which there was no room: from the engine */
    DJLPLAN_REACHED = 7,  /* up to which offset there were blocks of this run */
    DJLPLAN_MOST_BYTES = 8, /* that blocks of this run had in use at once, aligned */
    DJLPLAN_KEPT_REACHED = 9, /* up to which offset there were blocks of it in the arena of escapes */
    DJLPLAN_COUNTERS = 10
};
DJLPLAN_AS_IN_JAVA(DJLPLAN_PLACED == 0 && DJLPLAN_REFUSED == 1 && DJLPLAN_DIVERGED == 2 &&
                       DJLPLAN_MISSING == 3 && DJLPLAN_ALIVE == 4 && DJLPLAN_FITTED == 5 &&
                       DJLPLAN_OUTSIDE == 6 && DJLPLAN_REACHED == 7 && DJLPLAN_MOST_BYTES == 8 &&
                       DJLPLAN_KEPT_REACHED == 9 && DJLPLAN_COUNTERS == 10,
                   "RunCounters");

/*
 * Ends a paused run, on any thread. Writes the counters and the numbers of the allocations that
 * still are in use, at most `capacity`. Their places stay theirs until they are freed.
 */
DJLPLAN_API void djlplan_torch_finish(struct djlplan_torch_run *run, int64_t *counters,
                                      int32_t *alive, int capacity);

/*
 * From now on, until the end, observes operators, and notes which makes each allocation of any run,
 * forgetting what was noted before. `message` says why not. Only for versions of libtorch that are
 * known to be as torch_abi.h says.
 */
DJLPLAN_API int djlplan_torch_names_begin(char *message, int64_t message_bytes);
DJLPLAN_API void djlplan_torch_names_end(void);
/*
 * What was noted: a line "BYTES SHAPE NAME" for each allocation, with no name where no operator ran.
 * The shape is that of the tensor for which its operator made it, such as 1,3,224,224, or ? if there
 * is none. Returns how many bytes that is, and writes them if they fit; −1 if there was no memory for them.
 */
DJLPLAN_API int64_t djlplan_torch_names(char *out, int64_t capacity);

/* ---- torch_weights.c, torch_stream.c: weights of libtorch in a file -------------------------- */

/*
 * The large blocks that an engine allocates while it loads a model, in a file without a name. They
 * are read from it when they are touched and not in memory. The memory is there until the last
 * block is freed, whenever that is. All functions are thread-safe.
 */
struct djlplan_weights;
enum { DJLPLAN_LEAST_WEIGHT_BYTES = 64 << 10, DJLPLAN_WEIGHT_PIECE_BYTES = 2 << 20 };
DJLPLAN_AS_IN_JAVA(DJLPLAN_WEIGHT_PIECE_BYTES == 2 << 20, "WeightFile.PIECE_BYTES");
/* Makes a file in a folder for at most so many bytes. NULL on failure, with errno in `problem`. */
DJLPLAN_API struct djlplan_weights *djlplan_weights_create(const char *folder, int64_t bytes,
                                                           int32_t *problem);
DJLPLAN_API void djlplan_weights_close(struct djlplan_weights *weights);
/*
 * Between these two, large allocations of this thread are weights. They leave memory soon after
 * they are written. The second may be called by another thread. Both return 0 or errno; the second
 * that of a file that could not grow: blocks that did not fit are the engine's own.
 */
DJLPLAN_API int djlplan_weights_load(struct djlplan_weights *weights);
DJLPLAN_API int djlplan_weights_loaded(struct djlplan_weights *weights);
/* Writes to disk what is in the page cache only, and drops it from there. Returns 0 or errno. */
DJLPLAN_API int djlplan_weights_uncache(struct djlplan_weights *weights);
/*
 * How many bytes of weights there are. They are loaded and dropped in pieces of
 * DJLPLAN_WEIGHT_PIECE_BYTES, the last of which may be shorter.
 */
DJLPLAN_API int64_t djlplan_weights_bytes(struct djlplan_weights *weights);
/*
 * Offset and bytes, in whole pages, of each allocation that is a weight, in the order of the
 * offsets. Writes at most `capacity` numbers, returns how many there are.
 */
DJLPLAN_API int64_t djlplan_weights_blocks(struct djlplan_weights *weights, int64_t *out,
                                           int64_t capacity);

/*
 * What one thread does in which order with the pieces, while a prediction runs. The prediction has
 * `steps` steps: the first begins with it, each other with the allocation of as many bytes as said.
 * An action is carried out when so many steps have finished and those before it are done; a step
 * waits until the first `needs` actions are done. NULL if it would wait for ever, or there is no
 * memory. May be deleted while it is in use.
 */
enum djlplan_action {
    DJLPLAN_DROP = 0,
    DJLPLAN_LOAD = 1,
    DJLPLAN_PIN = 2,    /* loaded, and not dropped at the end of a run */
    DJLPLAN_LOOK_UP = 3 /* not loaded: a touch of it brings in few pages, and no others */
};
enum { DJLPLAN_ACTION_VALUES = 3 }; /* piece, kind, steps that have finished */
DJLPLAN_AS_IN_JAVA(DJLPLAN_DROP == 0 && DJLPLAN_LOAD == 1 && DJLPLAN_PIN == 2 &&
                       DJLPLAN_LOOK_UP == 3 && DJLPLAN_ACTION_VALUES == 3,
                   "WeightSchedule.DROP … VALUES_PER_ACTION");
struct djlplan_schedule;
DJLPLAN_API struct djlplan_schedule *djlplan_schedule_create(const int64_t *bytes,
                                                             const int32_t *needs, int steps,
                                                             const int32_t *actions, int count);
DJLPLAN_API void djlplan_schedule_delete(struct djlplan_schedule *schedule);

/*
 * Begins a prediction on this thread, one at a time. Without a schedule pieces are dropped at each
 * allocation; so they are from the first allocation on that is another than scheduled.
 */
enum {
    DJLPLAN_STREAM_WATCHED = 1, /* notes which pieces each step touches; without a schedule */
    DJLPLAN_STREAM_DIRECT = 2   /* loads past the page cache */
};
DJLPLAN_AS_IN_JAVA(DJLPLAN_STREAM_WATCHED == 1 && DJLPLAN_STREAM_DIRECT == 2,
                   "WeightFile.WATCHED, DIRECT");
DJLPLAN_API int djlplan_weights_begin(struct djlplan_weights *weights,
                                      struct djlplan_schedule *schedule, int flags);
enum djlplan_stream_figure {
    DJLPLAN_STREAM_AS_PLANNED = 0, /* 1 if the schedule was kept to */
    DJLPLAN_STREAM_WAITED_NANOS = 1,
    DJLPLAN_STREAM_LOADED_BYTES = 2,
    DJLPLAN_STREAM_FAILED = 3, /* errno of the first load that failed, or 0 */
    DJLPLAN_STREAM_FIGURES = 4
};
DJLPLAN_AS_IN_JAVA(DJLPLAN_STREAM_AS_PLANNED == 0 && DJLPLAN_STREAM_FAILED == 3 &&
                       DJLPLAN_STREAM_FIGURES == 4,
                   "WeightFile.AS_PLANNED … FIGURES");
/* Ends it, on its thread, and begins to load what the next one needs first. */
DJLPLAN_API void djlplan_weights_end(struct djlplan_weights *weights, int64_t *figures);
/*
 * Of the last prediction that was watched, −1 if that was not possible: bytes of the allocation and
 * nanoseconds of each step; step and piece of each touch, and how many pages are in memory then.
 */
enum { DJLPLAN_TOUCH_VALUES = 3 };
DJLPLAN_AS_IN_JAVA(DJLPLAN_TOUCH_VALUES == 3, "WeightFile.VALUES_PER_TOUCH");
DJLPLAN_API int64_t djlplan_weights_steps(struct djlplan_weights *weights, int64_t *out,
                                          int64_t capacity);
DJLPLAN_API int64_t djlplan_weights_touches(struct djlplan_weights *weights, int32_t *out,
                                            int64_t capacity);

/* ---- ort.c: allocations of ONNX Runtime ------------------------------------------------------ */

/*
 * Registers an allocator of ours with an environment, an OrtEnv, for sessions that ask for the
 * allocators of their environment. `api` is the OrtApi that the application uses. Unless it returns
 * DJLPLAN_OK, `message` says why not: the table is not as we know it, or the engine refuses, as some
 * releases do if the application has registered an allocator. Idempotent, thread-safe.
 */
DJLPLAN_API int djlplan_ort_attach(const void *api, void *env, char *message,
                                   int64_t message_bytes);
/* Unregisters it. Blocks that sessions have may be freed later. Thread-safe. */
DJLPLAN_API void djlplan_ort_detach(void);

/*
 * Returns a copy of the engine's table of functions whose function that creates a session from a
 * file is ours; NULL if there is no allocator of ours, or the end of the table is not known. The
 * copy stays valid. Until djlplan_ort_expect it does what the engine does. Idempotent, thread-safe.
 */
DJLPLAN_API const void *djlplan_ort_table(void);
/*
 * The next session that this thread creates through the copy, within ten minutes, uses the
 * allocator and no memory patterns. If it cannot be created so, it is created as it was asked for.
 */
DJLPLAN_API void djlplan_ort_expect(void);
/*
 * Returns the session that was created so since the last call, an OrtSession, and the bytes of its
 * weights; NULL if there is none. Nothing is expected on this thread any more.
 */
DJLPLAN_API void *djlplan_ort_arrived(int64_t *weights_bytes);

/*
 * Begins a run on this thread: until it is paused, allocations of the thread get the lowest places
 * in the arena that are free. It is finished as a run of libtorch is. `escapes` may be NULL; with
 * `recorded` its events can be read as those of such a run. An allocation that would reach further
 * than `limit_bytes` in the arena fails as one of the engine's. Returns NULL if a run of this engine
 * is current on this thread, there is no memory, the arena is none of ours, or a run with a plan
 * goes on there.
 */
DJLPLAN_API struct djlplan_torch_run *djlplan_ort_begin(void *arena,
                                                        struct djlplan_torch_escapes *escapes,
                                                        int recorded, int64_t limit_bytes);
/* How far the last run of this thread would have reached with what it was refused first, or 0. */
DJLPLAN_API int64_t djlplan_ort_refused(void);
/* Ends the allocations of the current run. Returns how many bytes they had in total, or −1. */
DJLPLAN_API int64_t djlplan_ort_pause(void);

/* Between these two calls all allocations of this thread are weights of the session it creates. */
DJLPLAN_API void djlplan_ort_load_begin(void);
/* Returns how many bytes of weights were allocated, and not freed, since. */
DJLPLAN_API int64_t djlplan_ort_load_end(void);

enum djlplan_ort_figure {
    DJLPLAN_ORT_WEIGHTS_BYTES = 0, /* in use */
    DJLPLAN_ORT_OUTSIDE_BYTES = 1, /* in use: outputs, and what found no place in an arena */
    DJLPLAN_ORT_ALLOCATIONS = 2,   /* that have arrived until now */
    DJLPLAN_ORT_FIGURES = 3
};
DJLPLAN_AS_IN_JAVA(DJLPLAN_ORT_ALLOCATIONS == 2 && DJLPLAN_ORT_FIGURES == 3,
                   "OrtNative.ALLOCATIONS, FIGURES");
/* Of all environments together. Thread-safe. */
DJLPLAN_API void djlplan_ort_figures(int64_t *out);

#endif
