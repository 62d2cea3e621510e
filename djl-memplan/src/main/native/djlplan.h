/*
 * The native library of djl-plan. Java decides what is planned and where. This code executes the
 * plan, and checks at every use that the planned place still fits. It has two policies of its own:
 * an allocation without a plan gets the lowest free place in its arena (first_fit.h), and tensors of
 * rare shapes are placed by size (tflite_fit.c).
 *
 * Functions report their result in these ways, here and inside the library:
 *
 *   performs an action      int: DJLPLAN_OK, or another code of enum djlplan_status; errno from
 *                           djlplan_map. The reason for a failure is written to the caller's
 *                           `message`, cut to `message_bytes`, or is available from the session.
 *   creates an object       a pointer, NULL on failure
 *   answers a question      1 or 0: int if Java calls it, bool inside
 *   returns a count, number −1 if there is none
 *   may fail, inside        bool, true on success; or const char *, the problem, NULL on success
 *   the engine calls it     as the engine requires: TfLiteStatus, a pointer
 *
 * Nothing prints, or sets errno for others. Nothing ends the process except an exit() in the middle
 * of a pass (djlplan_torch_guard_exit). Functions that write a list return its number of elements,
 * and write at most `capacity` of them.
 *
 * No function may be called for one session from two threads at once. Functions that are
 * thread-safe beyond that say so. Shared fields and variables name the lock that guards them; those
 * without a note belong to one thread at a time, or do not change once other threads can see them.
 */
#ifndef DJLPLAN_H
#define DJLPLAN_H

#include <stddef.h>
#include <stdint.h>

#define DJLPLAN_API __attribute__((visibility("default")))

/* Checks at compile time a number or an offset that is also in Java's sources. */
#define DJLPLAN_AS_IN_JAVA(condition, where) _Static_assert(condition, "not as in Java's " where)

/*
 * The version of the interface between Java and this library. It is raised with every change of a
 * function in this header, of its meaning, or of a struct. Copies of djl-plan in several class
 * loaders share the library that the first one loaded, because libtorch can have only one
 * allocator.
 */
enum { DJLPLAN_ABI = 12 };
DJLPLAN_AS_IN_JAVA(DJLPLAN_ABI == 12, "NativeLoader.ABI");
DJLPLAN_API int djlplan_abi(void);

enum djlplan_status {
    DJLPLAN_OK = 0,
    DJLPLAN_ENGINE_ERROR = 1, /* the engine failed, or its version is not supported */
    DJLPLAN_MISMATCH = 2,     /* the plan does not fit the engine's needs; nothing ran */
    DJLPLAN_UNSOUND = 3       /* sizes or operands with which the engine would be unsafe */
};
DJLPLAN_AS_IN_JAVA(DJLPLAN_OK == 0 && DJLPLAN_MISMATCH == 2 && DJLPLAN_UNSOUND == 3,
                   "TfLiteNative.OK, MISMATCH, UNSOUND");

/* Offsets in an arena are multiples of this, in bytes. */
enum { DJLPLAN_ALIGNMENT = 64 };
DJLPLAN_AS_IN_JAVA(DJLPLAN_ALIGNMENT == 64, "UsageRecords.ALIGNMENT_BYTES");

/* ---- arena.c, mapping.c: arenas and file mappings -------------------------------------------- */

/*
 * Returns zeroed memory, aligned to 2 MiB, or NULL. The arena reserves as many addresses as it
 * needs, rounded up to 2 MiB; if `most` is larger and that many addresses are available, it
 * reserves `most`, so that it can grow.
 */
DJLPLAN_API void *djlplan_arena_create(int64_t bytes, int64_t most);
/* Grows the arena to this size if possible. Returns its size. */
DJLPLAN_API int64_t djlplan_arena_grow(void *arena, int64_t bytes);
/*
 * Maps the first bytes of a growable arena at once, for a caller that is about to write all of
 * them, outside runs. Runs do without it, because an operator may write only a part of a large
 * tensor, whose other pages then take no memory.
 */
DJLPLAN_API void djlplan_arena_map(void *arena, int64_t bytes);
/* Returns whether the arena holds a block of any run, ended or current. */
DJLPLAN_API int djlplan_arena_in_use(void *arena);
/*
 * Returns to the system the highest slice of pages without blocks, at most 1 MiB, between the
 * offsets `keep` and `below`. The result is the offset of the slice, from which the next call may
 * continue down; -1 if there is none. Must not run while the arena is freed.
 */
DJLPLAN_API int64_t djlplan_arena_trim(void *arena, int64_t keep, int64_t below);
/* Frees the arena, or marks it to be freed with its last block. No run may be using it. */
DJLPLAN_API void djlplan_arena_free(void *arena);

/* Returns to the system all free memory that the C library keeps, where possible. */
DJLPLAN_API void djlplan_trim(void);
/*
 * Writes how many bytes the C library has taken from the system, and how many of them are in use.
 * Returns 0 if the C library does not report this.
 */
DJLPLAN_API int djlplan_heap(int64_t *taken, int64_t *used);

struct djlplan_mapping {
    void *address;
    int64_t bytes;
    int64_t modified_nanos;
    int32_t file; /* stays open, so that a truncation in place is detected */
};
DJLPLAN_AS_IN_JAVA(sizeof(struct djlplan_mapping) == 32, "NativeMemory.MAPPING_BYTES");
DJLPLAN_AS_IN_JAVA(offsetof(struct djlplan_mapping, address) == 0, "NativeMemory.MAPPING_ADDRESS");
DJLPLAN_AS_IN_JAVA(offsetof(struct djlplan_mapping, bytes) == 8, "NativeMemory.MAPPING_LENGTH");
DJLPLAN_AS_IN_JAVA(offsetof(struct djlplan_mapping, file) == 24, "NativeMemory.MAPPING_FILE");

/* Maps a file read-only. Returns 0 or errno. */
DJLPLAN_API int djlplan_map(const char *path, struct djlplan_mapping *mapping);
/* Returns 1 if the file's size and modification time have not changed since it was mapped. */
DJLPLAN_API int djlplan_mapping_intact(const struct djlplan_mapping *mapping);
/* Releases the pages in memory; they are read again when needed. */
DJLPLAN_API void djlplan_mapping_release(const struct djlplan_mapping *mapping);
DJLPLAN_API void djlplan_unmap(struct djlplan_mapping *mapping);
/* Deallocates a part of a file, which reads as zeros from then on. Returns 0 or errno. */
DJLPLAN_API int djlplan_punch(const char *path, int64_t offset, int64_t bytes);
/* Drops the whole pages of a part of a file from the page cache, unless a process has mapped them. */
DJLPLAN_API void djlplan_drop_cached(const char *path, int64_t offset, int64_t bytes);

/* ---- stream.c: weights that are loaded into an arena while a model runs ---------------------- */

struct djlplan_stream;

/* How a piece is loaded from the file to its place. */
enum djlplan_io {
    DJLPLAN_IO_CACHED = 0, /* copied from the page cache */
    DJLPLAN_IO_MMAP = 1,   /* the page cache's pages are mapped at the place */
    DJLPLAN_IO_DIRECT = 2, /* read past the page cache */
    DJLPLAN_IO_DROPPED = 3 /* copied from the page cache, which then drops it */
};
DJLPLAN_AS_IN_JAVA(DJLPLAN_IO_CACHED == 0 && DJLPLAN_IO_MMAP == 1 && DJLPLAN_IO_DIRECT == 2 &&
                       DJLPLAN_IO_DROPPED == 3,
                   "WeightStream.Io");

/*
 * Opens a file of weights. If the file system refuses direct I/O, pages are dropped from the page
 * cache after reading; if pages have more than 4096 bytes, pieces are read instead of mapped. On
 * failure it returns NULL and writes the reason to `message`.
 */
DJLPLAN_API struct djlplan_stream *djlplan_stream_open(const char *path, int io, char *message,
                                                       int64_t message_bytes);
/* Closes the stream and frees its arena. Must not be called during an inference. */
DJLPLAN_API void djlplan_stream_close(struct djlplan_stream *stream);
/* Returns how pieces are loaded, as enum djlplan_io. */
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
 * Sets the loads, in order, and for each step the number of loads that must be done before it runs.
 * Replaces the arena by one of the given size. Rejects (MISMATCH) loads that are misaligned,
 * outside the file or the arena, or would deadlock; then nothing changes. Must not be called during
 * an inference.
 */
DJLPLAN_API int djlplan_stream_schedule(struct djlplan_stream *stream,
                                        const struct djlplan_load *loads, int load_count,
                                        const int32_t *needs, int step_count, int64_t arena_bytes);
/*
 * Returns the arena's memory to the system until the next inference. Must not be called during one.
 */
DJLPLAN_API void djlplan_stream_release(struct djlplan_stream *stream);

enum djlplan_loads_counter {
    DJLPLAN_LOADS_STALLED_NANOS = 0, /* how long steps waited for loads in the last inference */
    DJLPLAN_LOADS_LOADED_BYTES = 1,  /* in the last inference */
    DJLPLAN_LOADS_LOADED_NANOS = 2,  /* how long these loads took */
    DJLPLAN_LOADS_COUNTERS = 3
};
DJLPLAN_AS_IN_JAVA(DJLPLAN_LOADS_STALLED_NANOS == 0 && DJLPLAN_LOADS_LOADED_BYTES == 1 &&
                       DJLPLAN_LOADS_LOADED_NANOS == 2 && DJLPLAN_LOADS_COUNTERS == 3,
                   "WeightStream.Counters");
DJLPLAN_API void djlplan_stream_counters(struct djlplan_stream *stream, int64_t *out);

/* ---- priority.c: processes of a low priority ------------------------------------------------- */

/*
 * Gives all threads of a process a priority from 1 to 19, the lowest, which new threads inherit.
 * Returns the number of threads, or 0 if that is not allowed or the process does not exist.
 */
DJLPLAN_API int djlplan_give_way(int process, int nice);

/* ---- tflite_*.c: TensorFlow Lite interpreters whose tensors we place ------------------------- */

struct djlplan_tflite_session;

/*
 * Finds the engine's library among the loaded ones. If it returns another status than DJLPLAN_OK,
 * `message` has the reason: not loaded, unsupported version, or missing functions. Idempotent,
 * thread-safe.
 */
DJLPLAN_API int djlplan_tflite_attach(char *message, int64_t message_bytes);

/*
 * Returns whether the engine's release reports where outputs may lie, and lays out its own arena
 * accordingly.
 */
DJLPLAN_API int djlplan_tflite_tells_in_place(void);

/*
 * Sets the largest size that an operator may need; larger ones make a session fail (UNSOUND).
 * Thread-safe.
 */
DJLPLAN_API void djlplan_tflite_memory(int64_t bytes);

/* Creates a model from verified memory, which must outlive the model. Returns NULL on failure. */
DJLPLAN_API void *djlplan_tflite_model_create(const void *bytes, int64_t length);
DJLPLAN_API void djlplan_tflite_model_delete(void *model);

/*
 * A session is one interpreter. It is created by _new (NULL if there is no memory), configured by
 * _plan, _delegate or _preview, and _time, and built by _build. If _build fails,
 * djlplan_tflite_error has the reason, and the session can only be deleted. Without configuration
 * it is a stock interpreter.
 */
DJLPLAN_API struct djlplan_tflite_session *djlplan_tflite_session_new(void);
/*
 * `ids` are the tensors that the caller will place if a CPU kernel uses them. The engine places
 * variables, tensors that it keeps permanently, and tensors of delegate kernels. The caller also
 * places the kernels' temporaries.
 */
DJLPLAN_API int djlplan_tflite_session_plan(struct djlplan_tflite_session *session,
                                            const int32_t *ids, int count);
/* Offers these operators to the delegate, a TfLiteDelegate that must outlive the session. */
DJLPLAN_API int djlplan_tflite_session_delegate(struct djlplan_tflite_session *session,
                                                void *delegate, const int32_t *operators,
                                                int count);
/* Constants lie at `data` while the delegate prepares and packs them. Call after _delegate. */
DJLPLAN_API int djlplan_tflite_session_constants(struct djlplan_tflite_session *session,
                                                 const int32_t *ids, void *const *data, int count);
/*
 * Shows the delegate the tensors in the shapes of another session of the model, which must be
 * allocated and live until this one is built. XNNPACK plans at least as much memory as these shapes
 * need.
 */
DJLPLAN_API void djlplan_tflite_session_shapes(struct djlplan_tflite_session *session,
                                               const struct djlplan_tflite_session *allocated);
/* The delegate gets no operators; djlplan_tflite_partitions returns those that it would take. */
DJLPLAN_API void djlplan_tflite_session_preview(struct djlplan_tflite_session *session,
                                                void *delegate);
/* Records the time of each node in each inference. */
DJLPLAN_API void djlplan_tflite_session_time(struct djlplan_tflite_session *session);
/* DJLPLAN_MISMATCH if the delegate's packed weights are not those of the model. */
DJLPLAN_API int djlplan_tflite_session_build(struct djlplan_tflite_session *session,
                                             const void *model, int threads);
DJLPLAN_API void djlplan_tflite_session_delete(struct djlplan_tflite_session *session);

/* Returns the engine's message about the last failure; never NULL. */
DJLPLAN_API const char *djlplan_tflite_error(const struct djlplan_tflite_session *session);

/* Resizes an input; call djlplan_tflite_allocate and _place afterwards. */
DJLPLAN_API int djlplan_tflite_resize(struct djlplan_tflite_session *session, int input,
                                      const int32_t *shape, int rank);
/* Prepares the kernels for the current shapes, and forgets all places. */
DJLPLAN_API int djlplan_tflite_allocate(struct djlplan_tflite_session *session);

/* Resizes a string input to its new content and copies it; required before each inference. */
DJLPLAN_API int djlplan_tflite_fill(struct djlplan_tflite_session *session, int input,
                                    const void *content, int64_t bytes);

/*
 * The live graph as numbers.
 *
 * Nodes, in execution order: id (for an operator its index in the file), builtin code,
 * TfLiteRegistration's inplace_operator (−1 if the engine has none), then count and ids of the
 * operators that a delegate kernel replaces, of inputs, outputs and temporaries.
 *
 * Partitions: count and ids of their operators.
 *
 * Tensors: type, allocation type, 1 if variable, 1 if the caller places it, rank, dimensions.
 *
 * Sizes, for each tensor: bytes, and address or 0.
 */
DJLPLAN_API int64_t djlplan_tflite_nodes(const struct djlplan_tflite_session *session, int32_t *out,
                                         int64_t capacity);
DJLPLAN_API int64_t djlplan_tflite_partitions(const struct djlplan_tflite_session *session,
                                              int32_t *out, int64_t capacity);
DJLPLAN_API int64_t djlplan_tflite_tensors(const struct djlplan_tflite_session *session,
                                           int32_t *out, int64_t capacity);
DJLPLAN_API int64_t djlplan_tflite_sizes(const struct djlplan_tflite_session *session, int64_t *out,
                                         int64_t capacity);

/* Writes each node's nanoseconds in the last inference of a timed session, in execution order. */
DJLPLAN_API int64_t djlplan_tflite_times(const struct djlplan_tflite_session *session, int64_t *out,
                                         int64_t capacity);

/*
 * Sets the plan: an offset in bytes for every tensor that the caller places, by ascending id.
 * Rejects (MISMATCH) a plan with a missing, foreign or misaligned tensor, or one beyond
 * `arena_bytes`; then the session has no plan, and an earlier plan is dropped, too.
 */
DJLPLAN_API int djlplan_tflite_place(struct djlplan_tflite_session *session, const int32_t *ids,
                                     const int64_t *offsets, int count, int64_t arena_bytes);

/*
 * Computes and sets a plan, for shapes that occur only once. Writes to `places` the size of the
 * arena, a lower bound of what any plan needs, then the offset of each output, or −1 if the engine
 * places it. Returns MISMATCH if there is no plan, for instance because sizes are known only at run
 * time.
 */
DJLPLAN_API int djlplan_tflite_fit(struct djlplan_tflite_session *session, int64_t *places);

/*
 * Runs once with the planned tensors in `arena` (NULL for a stock session). It first checks that
 * the caller still places every planned tensor, and that each has its planned size and place. A
 * rejected run changes nothing, and the plan stays.
 */
DJLPLAN_API int djlplan_tflite_invoke(struct djlplan_tflite_session *session, void *arena,
                                      int64_t arena_bytes);

/*
 * Reads constants from places in a stream's arena instead of the model's memory. The same holds for
 * copies that kernels derive from constants in their first inference. Call before _build.
 */
DJLPLAN_API void djlplan_tflite_session_stream(struct djlplan_tflite_session *session);
/*
 * Writes what kernels derive, once the session is allocated: the step (position of the node in
 * execution order), the derived tensor, and the constant that is no longer read afterwards.
 */
DJLPLAN_API int64_t djlplan_tflite_derived(const struct djlplan_tflite_session *session,
                                           int32_t *out, int64_t capacity);
/* The place in the arena, at one step, of a constant or of a tensor derived from one. */
struct djlplan_binding {
    int32_t step;
    int32_t tensor;
    int64_t place;
};
DJLPLAN_AS_IN_JAVA(sizeof(struct djlplan_binding) == 16, "TfLiteSession.BINDING_BYTES");
/*
 * Sets the bindings, by ascending step. The stream must have a schedule of these steps, and live
 * until the session is deleted or gets another stream. `elided` is 1 for each step that is skipped
 * because its output lies in its input's place. Rejects (MISMATCH) bindings that do not fit the
 * model.
 */
DJLPLAN_API int djlplan_tflite_bind(struct djlplan_tflite_session *session,
                                    struct djlplan_stream *stream,
                                    const struct djlplan_binding *bindings, int count,
                                    const uint8_t *elided);
/* Runs once in the stream's arena, with the checks of djlplan_tflite_invoke. */
DJLPLAN_API int djlplan_tflite_invoke_streamed(struct djlplan_tflite_session *session);
/*
 * Like djlplan_tflite_invoke_streamed, and writes each derived tensor to its offset in a file, in
 * the order of _derived.
 */
DJLPLAN_API int djlplan_tflite_invoke_capturing(struct djlplan_tflite_session *session,
                                                const char *path, const int64_t *offsets);

/* Returns the tensor id of an input or output, −1 if there is none. */
DJLPLAN_API int djlplan_tflite_input(const struct djlplan_tflite_session *session, int index);
DJLPLAN_API int djlplan_tflite_output(const struct djlplan_tflite_session *session, int index);

/* ---- tflite_delegate.c: native delegates ----------------------------------------------------- */

struct djlplan_delegate;

/*
 * Creates a delegate: XNNPACK's if `library` is NULL, otherwise that of a library with TensorFlow
 * Lite's external-delegate interface, which is never unloaded. With `transient`, XNNPACK builds
 * indirection buffers for each inference, which takes less memory and more time. `packed` holds
 * XNNPACK's packed weights, or is NULL. A delegate belongs to one session, which must be deleted
 * first. On failure it returns NULL and writes the reason to `message`. Only after attaching.
 */
DJLPLAN_API struct djlplan_delegate *djlplan_delegate_create(const char *library, int threads,
                                                             int transient, void *packed,
                                                             char *message, int64_t message_bytes);
/* Returns the TfLiteDelegate. */
DJLPLAN_API void *djlplan_delegate_handle(const struct djlplan_delegate *delegate);
DJLPLAN_API void djlplan_delegate_delete(struct djlplan_delegate *delegate);

/* ---- xnnpack_weights.c: packed weights shared by the delegates of one model ------------------ */

/*
 * Reserves at most `bytes` for packed weights, and takes memory only as it is used. Returns NULL if
 * there is no room, or if the release does not support shared weights. The first delegate, when its
 * session is built, packs the weights. The same thread then calls _finish, before the session's
 * tensors are allocated, and gets the size of the weights. From then on other delegates with the
 * same operators of the same model use these weights, on any thread. Delete it after all of these
 * delegates.
 */
DJLPLAN_API void *djlplan_packed_create(int64_t bytes);
DJLPLAN_API int djlplan_packed_finish(void *packed, int64_t *bytes);
DJLPLAN_API void djlplan_packed_delete(void *packed);

/* ---- xnnpack_workspace.c: workspaces that share pages in turns ------------------------------- */

/*
 * Makes XNNPACK allocate through this library, permanently. Returns MISMATCH if the release does
 * not support that, and ENGINE_ERROR if XNNPACK was used in this process before. Idempotent,
 * thread-safe. Only after attaching.
 */
DJLPLAN_API int djlplan_workspaces_attach(void);
/*
 * Returns the size of the delegate's workspace in whole pages, or 0 if it cannot be moved, for
 * instance before the session's tensors are allocated.
 */
DJLPLAN_API int64_t djlplan_workspace_bytes(const struct djlplan_delegate *delegate);
/*
 * Moves the workspace to pages that are at least as large, or to pages of its own if `pages` is −1;
 * its content is lost. Must not be called during an inference. Workspaces on the same pages must not
 * be used at the same time. Returns MISMATCH if the workspace has pages of its own, and ENGINE_ERROR
 * if it has none and must not be used.
 */
DJLPLAN_API int djlplan_workspace_move(const struct djlplan_delegate *delegate, int pages);
/*
 * Whether the workspace is still where it was moved. XNNPACK replaces it by a larger one if other
 * shapes need that.
 */
DJLPLAN_API int djlplan_workspace_moved(const struct djlplan_delegate *delegate);

/* Creates an empty in-memory file, private to this process; −1 if the system has none. */
DJLPLAN_API int djlplan_pages_create(void);
/* Resizes the file; memory that it gains is allocated at once. */
DJLPLAN_API int djlplan_pages_resize(int pages, int64_t old_bytes, int64_t bytes);
DJLPLAN_API void djlplan_pages_close(int pages);

/* ---- run.c, plan.c, escapes.c: predictions of libtorch and of ONNX Runtime ------------------- */

/*
 * The plan of one prediction's allocations: sizes in bytes and offsets in an arena. Offset −1 means
 * that the allocation gets no planned place, for instance because it outlives the prediction.
 * Returns NULL if an offset is misaligned or otherwise negative, an allocation is empty or ends
 * beyond `arena_bytes`, or there is no memory. A plan may be deleted before its runs end, because
 * they hold it.
 */
struct djlplan_plan;
DJLPLAN_API struct djlplan_plan *djlplan_plan_create(const int64_t *bytes, const int64_t *offsets,
                                                     int count, int64_t arena_bytes);
DJLPLAN_API void djlplan_plan_delete(struct djlplan_plan *plan);

/*
 * The allocations of a model that outlive its predictions, identified by the allocations and frees
 * before them. Large ones get places in `arena`, in which no run may begin; the engine allocates
 * the others, and all of them if `arena` is NULL. Returns NULL if there is no memory. Thread-safe.
 * The arena and the escapes may be deleted before their runs end, because these hold them.
 */
struct djlplan_escapes;
DJLPLAN_API struct djlplan_escapes *djlplan_escapes_create(void *arena);
DJLPLAN_API void djlplan_escapes_delete(struct djlplan_escapes *escapes);

/*
 * A run is one prediction. The functions of its engine (djlplan_torch_*, djlplan_ort_*) begin and
 * pause it. While it is current on a thread, that thread's allocations get places in its arena:
 * planned places as long as sizes match the plan, and otherwise the lowest free places. The
 * engine's allocator serves allocations that find no room. Frees of the run's blocks are seen on
 * every thread.
 */
struct djlplan_run;
/*
 * Writes the record of each allocation: bytes, time of allocation, and time of free, which is −1 if
 * the block was not freed, was freed on another thread before the pause, or is the engine's. Writes
 * whole records only. Returns −1 if there were too many allocations, or too little memory to record
 * them.
 */
enum { DJLPLAN_EVENT_VALUES = 3, DJLPLAN_MOST_EVENTS = 1 << 18 };
DJLPLAN_AS_IN_JAVA(DJLPLAN_EVENT_VALUES == 3, "RunEvents.VALUES_PER_EVENT");
DJLPLAN_API int64_t djlplan_run_events(const struct djlplan_run *run, int64_t *out,
                                       int64_t capacity);
/*
 * Returns when the run was paused, on the clock of its events; −1 before the pause, or if nothing
 * is recorded.
 */
DJLPLAN_API int64_t djlplan_run_paused_at(const struct djlplan_run *run);

/*
 * Limits what a run needs, before its first allocation: up to the end of its highest block, and what
 * the engine allocates for it. An allocation beyond the limit fails like one of the engine's without
 * memory (libtorch).
 */
DJLPLAN_API void djlplan_run_limit(struct djlplan_run *run, int64_t bytes);
/* Returns the most bytes that a run needed so far; more than its limit if one was refused. */
DJLPLAN_API int64_t djlplan_run_needed(const struct djlplan_run *run);

enum djlplan_counter {
    DJLPLAN_PLACED = 0,       /* allocations that got a place in the arena */
    DJLPLAN_DIVERGED = 1,     /* allocations from the first unplanned size on, and missing ones */
    DJLPLAN_ALIVE = 2,        /* blocks still in use */
    DJLPLAN_OUTSIDE = 3,      /* allocations without room, which the engine served */
    DJLPLAN_REACHED = 4,      /* the end of the run's highest block */
    DJLPLAN_MOST_BYTES = 5,   /* peak bytes of the run's blocks, aligned */
    DJLPLAN_KEPT_REACHED = 6, /* the end of the run's highest block in the arena of escapes */
    DJLPLAN_BYTES = 7,        /* total bytes of the run's allocations, wherever they are */
    DJLPLAN_ALIVE_BYTES = 8,  /* total bytes of the blocks still in use */
    DJLPLAN_COUNTERS = 9
};
DJLPLAN_AS_IN_JAVA(DJLPLAN_PLACED == 0 && DJLPLAN_DIVERGED == 1 && DJLPLAN_ALIVE == 2 &&
                       DJLPLAN_OUTSIDE == 3 && DJLPLAN_REACHED == 4 && DJLPLAN_MOST_BYTES == 5 &&
                       DJLPLAN_KEPT_REACHED == 6 && DJLPLAN_BYTES == 7 &&
                       DJLPLAN_ALIVE_BYTES == 8 && DJLPLAN_COUNTERS == 9,
                   "RunCounters");

/*
 * Ends a paused run, on any thread, and writes its counters. The places of allocations that are
 * still in use stay reserved until they are freed.
 */
DJLPLAN_API void djlplan_run_finish(struct djlplan_run *run, int64_t *counters);

/* ---- torch*.c: the CPU allocator of libtorch ------------------------------------------------- */

/*
 * Intercepts libtorch's CPU allocator if all assumptions about its layout are confirmed. From then
 * on each allocation goes to the engine's own allocator, except while a run is current on its
 * thread. This is permanent. If it returns another status than DJLPLAN_OK, `message` has the
 * reason. Idempotent, thread-safe.
 */
DJLPLAN_API int djlplan_torch_attach(char *message, int64_t message_bytes);

/*
 * libtorch's per-thread settings that a forward pass depends on: the number of threads for an
 * operator, whether gradients are recorded (which keeps intermediates alive), and whether the
 * TorchScript executor optimizes.
 */
#define DJLPLAN_TORCH_THREADS INT64_C(0xFFFFFFFF)
#define DJLPLAN_TORCH_GRAD (INT64_C(1) << 32)
#define DJLPLAN_TORCH_OPTIMIZE (INT64_C(1) << 33)
DJLPLAN_AS_IN_JAVA(DJLPLAN_TORCH_GRAD == INT64_C(1) << 32, "TorchSettings.GRAD");
/* Returns this thread's settings without the number of threads, −1 if libtorch's layout is unknown. */
DJLPLAN_API int64_t djlplan_torch_settings(void);
/*
 * Returns this thread's number of threads, −1 if it is unknown. libtorch applies its own setting to
 * a thread only when an operator first asks for it; kernels that ran before, such as MKL's dot
 * product, used OpenMP's default. So the setting is applied here only if `apply` is not 0: it could
 * change the bits of a prediction.
 */
DJLPLAN_API int djlplan_torch_threads(int apply);
/* Sets this thread's settings; −1 changes nothing, and 0 threads leave their number unchanged. */
DJLPLAN_API void djlplan_torch_set_settings(int64_t wanted);

/*
 * Begins a run on this thread, alone in its arena, where blocks of earlier runs may lie. `plan` and
 * `escapes` may be NULL. With `logged` 1, allocations and frees are recorded. Returns NULL if this
 * thread already has a run, if there is no memory, or if the arena is not of this library, contains
 * weights, is too small for the plan, or has a run that is not finished.
 */
DJLPLAN_API struct djlplan_run *djlplan_torch_begin(struct djlplan_plan *plan, void *arena,
                                                    struct djlplan_escapes *escapes, int logged);
/*
 * Ends the current run's allocations; only on its own thread. Returns 1 if none of its blocks is in
 * use and nothing is recorded; then the run may be finished at once.
 */
DJLPLAN_API int djlplan_torch_pause(void);

/*
 * Count the passes through libtorch that are running, on any thread. A run counts from its
 * beginning to its pause; _pass_begin and _pass_end count passes in the engine's own memory.
 * Thread-safe.
 */
DJLPLAN_API void djlplan_torch_pass_begin(void);
DJLPLAN_API void djlplan_torch_pass_end(void);
DJLPLAN_API int djlplan_torch_passes(void);
/*
 * exit() destroys objects that libtorch's kernels use, such as oneDNN's cache of primitives, even
 * while a thread runs them. After this call, an exit() during a pass flushes all streams and then
 * ends the process at once with its status. Without a pass exit() continues as usual, and a pass
 * that would begin then waits for the process to end. Destructors registered after this call, such
 * as those of a library's lazily created objects, still run before. Thread-safe.
 */
DJLPLAN_API int djlplan_torch_guard_exit(void);

/*
 * Drops earlier records, observes operators from now on, and records which operator makes each
 * allocation of any run. If it fails, `message` has the reason. Works only for versions of libtorch
 * whose layout torch_abi.h describes.
 */
DJLPLAN_API int djlplan_torch_names_begin(char *message, int64_t message_bytes);
DJLPLAN_API void djlplan_torch_names_end(void);
/*
 * Returns the length in bytes of the records, and writes them if they fit; −1 if there was no
 * memory for them. Each allocation has a line "BYTES SHAPE NAME"; the name is empty if no operator
 * ran. SHAPE is the shape of the tensor for which the operator made the allocation, such as
 * 1,3,224,224, or ? if there is none.
 */
DJLPLAN_API int64_t djlplan_torch_names(char *out, int64_t capacity);

/* ---- torch_weights.c, torch_stream.c: weights of libtorch in a file -------------------------- */

/*
 * The large blocks that an engine allocates while it loads a model, in an unnamed file. Pages that
 * are not in memory are read from the file when they are touched. The mapping exists until the last
 * block is freed. All functions are thread-safe.
 */
struct djlplan_weights;
enum { DJLPLAN_LEAST_WEIGHT_BYTES = 64 << 10, DJLPLAN_WEIGHT_PIECE_BYTES = 2 << 20 };
DJLPLAN_AS_IN_JAVA(DJLPLAN_WEIGHT_PIECE_BYTES == 2 << 20, "WeightFile.PIECE_BYTES");
/*
 * Creates a file for at most `bytes` in a folder. Returns NULL on failure, with errno in `problem`.
 */
DJLPLAN_API struct djlplan_weights *djlplan_weights_create(const char *folder, int64_t bytes,
                                                           int32_t *problem);
/* Also ends a load that has not ended. */
DJLPLAN_API void djlplan_weights_close(struct djlplan_weights *weights);
/*
 * Between these two calls, large allocations of this thread are weights, which leave memory soon
 * after they are written. Any thread may make the second call. Both return 0 or errno. The second
 * returns the error of a file that could not grow; then the engine allocates the blocks that did
 * not fit. If it is called again after that, it only returns the same value. It must not run on two
 * threads at once.
 */
DJLPLAN_API int djlplan_weights_load(struct djlplan_weights *weights);
DJLPLAN_API int djlplan_weights_loaded(struct djlplan_weights *weights);
/* Writes the file's dirty pages to disk and drops them from the page cache. Returns 0 or errno. */
DJLPLAN_API int djlplan_weights_uncache(struct djlplan_weights *weights);
/*
 * Returns the bytes of all weights. They are loaded and dropped in pieces of
 * DJLPLAN_WEIGHT_PIECE_BYTES; the last piece may be shorter.
 */
DJLPLAN_API int64_t djlplan_weights_bytes(struct djlplan_weights *weights);
/*
 * Writes offset and bytes, in whole pages, of each allocation that is a weight, by ascending
 * offset. Writes at most `capacity` numbers, and returns how many there are.
 */
DJLPLAN_API int64_t djlplan_weights_blocks(struct djlplan_weights *weights, int64_t *out,
                                           int64_t capacity);

/*
 * The actions of the loader thread on pieces during a prediction, in order. The prediction has
 * `steps` steps: the first begins with the prediction, each other one with an allocation of the
 * given bytes. An action runs when its number of steps has finished and all earlier actions are
 * done. A step waits until the first `needs` actions are done. Returns NULL if a step would wait
 * forever, or there is no memory. A schedule may be deleted while it is in use.
 */
enum djlplan_action {
    DJLPLAN_DROP = 0,
    DJLPLAN_LOAD = 1,
    DJLPLAN_PIN = 2,    /* loaded, and kept at the end of a run */
    DJLPLAN_LOOK_UP = 3 /* not loaded; touching it reads only a few pages */
};
enum { DJLPLAN_ACTION_VALUES = 3 }; /* piece, kind, steps that have finished */
DJLPLAN_AS_IN_JAVA(DJLPLAN_DROP == 0 && DJLPLAN_LOAD == 1 && DJLPLAN_PIN == 2 &&
                       DJLPLAN_LOOK_UP == 3 && DJLPLAN_ACTION_VALUES == 3,
                   "ResidencyPlan.Kind, WeightFile.VALUES_PER_ACTION");
struct djlplan_schedule;
DJLPLAN_API struct djlplan_schedule *djlplan_schedule_create(const int64_t *bytes,
                                                             const int32_t *needs, int steps,
                                                             const int32_t *actions, int count);
DJLPLAN_API void djlplan_schedule_delete(struct djlplan_schedule *schedule);

/*
 * Begins a prediction on this thread; predictions of one model take turns. Without a schedule,
 * pieces are dropped at each allocation. The same happens from the first allocation on that
 * deviates from the schedule.
 */
enum {
    DJLPLAN_STREAM_WATCHED = 1, /* records which pieces each step touches; without a schedule */
    DJLPLAN_STREAM_DIRECT = 2   /* loads with direct I/O, past the page cache */
};
DJLPLAN_AS_IN_JAVA(DJLPLAN_STREAM_WATCHED == 1 && DJLPLAN_STREAM_DIRECT == 2,
                   "WeightFile.WATCHED, DIRECT");
DJLPLAN_API int djlplan_weights_begin(struct djlplan_weights *weights,
                                      struct djlplan_schedule *schedule, int flags);
enum djlplan_stream_figure {
    DJLPLAN_STREAM_AS_PLANNED = 0, /* 1 if the prediction followed the schedule */
    DJLPLAN_STREAM_WAITED_NANOS = 1,
    DJLPLAN_STREAM_FAILED = 2, /* errno of the first load that failed, or 0 */
    DJLPLAN_STREAM_FIGURES = 3
};
DJLPLAN_AS_IN_JAVA(DJLPLAN_STREAM_AS_PLANNED == 0 && DJLPLAN_STREAM_WAITED_NANOS == 1 &&
                       DJLPLAN_STREAM_FAILED == 2 && DJLPLAN_STREAM_FIGURES == 3,
                   "WeightFile.AS_PLANNED … FIGURES");
/* Ends the prediction, on its thread, and begins to load the first pieces of the next one. */
DJLPLAN_API void djlplan_weights_end(struct djlplan_weights *weights, int64_t *figures);
/*
 * Write the records of the last watched prediction, or return −1 if recording failed: bytes of the
 * first allocation and nanoseconds of each step; step, piece, and pages in memory of each touch.
 */
enum { DJLPLAN_TOUCH_VALUES = 3 };
DJLPLAN_AS_IN_JAVA(DJLPLAN_TOUCH_VALUES == 3, "WeightFile.VALUES_PER_TOUCH");
DJLPLAN_API int64_t djlplan_weights_steps(struct djlplan_weights *weights, int64_t *out,
                                          int64_t capacity);
DJLPLAN_API int64_t djlplan_weights_touches(struct djlplan_weights *weights, int32_t *out,
                                            int64_t capacity);

/* ---- ort.c: allocations of ONNX Runtime ------------------------------------------------------ */

/*
 * Registers this library's allocator with an environment (an OrtEnv), for sessions that ask for the
 * environment's allocators. `api` is the OrtApi that the application uses. If it returns another
 * status than DJLPLAN_OK, `message` has the reason: the table's layout is unknown, or the engine
 * rejects the allocator, as some releases do if the application has registered one. Idempotent,
 * thread-safe.
 */
DJLPLAN_API int djlplan_ort_attach(const void *api, void *env, char *message,
                                   int64_t message_bytes);
/* Unregisters the allocator. Sessions may free their blocks later. Thread-safe. */
DJLPLAN_API void djlplan_ort_detach(void);

/*
 * Begins a run on this thread: until it is paused, the thread's allocations get the lowest free
 * places in the arena. It is finished by djlplan_run_finish. `escapes` may be NULL; with
 * `recorded`, djlplan_run_events returns its events. An allocation that would end beyond
 * `limit_bytes` in the arena fails like one of the engine's. Returns NULL if this thread already
 * has a run of this engine, there is no memory, the arena is not of this library, or it has a run
 * that is not finished.
 */
DJLPLAN_API struct djlplan_run *djlplan_ort_begin(void *arena, struct djlplan_escapes *escapes,
                                                  int recorded, int64_t limit_bytes);
/*
 * Returns the end in the arena of the first allocation that this thread's last run was refused, or
 * 0.
 */
DJLPLAN_API int64_t djlplan_ort_refused(void);
/* Ends the current run's allocations, if there is a run. */
DJLPLAN_API void djlplan_ort_pause(void);

/*
 * Counts this thread's allocations as weights of the session that it creates, until _load_end or
 * its next run.
 */
DJLPLAN_API void djlplan_ort_load_begin(void);
/* Returns the bytes of weights that were allocated and not freed since _load_begin. */
DJLPLAN_API int64_t djlplan_ort_load_end(void);

enum djlplan_ort_figure {
    DJLPLAN_ORT_WEIGHTS_BYTES = 0, /* in use */
    DJLPLAN_ORT_OUTSIDE_BYTES = 1, /* in use: outputs, and allocations without room in an arena */
    DJLPLAN_ORT_ALLOCATIONS = 2,   /* the number of allocations so far */
    DJLPLAN_ORT_FIGURES = 3
};
DJLPLAN_AS_IN_JAVA(DJLPLAN_ORT_ALLOCATIONS == 2 && DJLPLAN_ORT_FIGURES == 3,
                   "OrtNative.ALLOCATIONS, FIGURES");
/* Writes the figures of all environments together. Thread-safe. */
DJLPLAN_API void djlplan_ort_figures(int64_t *out);

#endif
