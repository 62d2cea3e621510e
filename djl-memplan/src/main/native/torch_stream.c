/*
 * Keeps a few pieces of the weights in memory during a prediction. An allocation of the predicting
 * thread begins a step. A loader thread executes the schedule's actions in order, each when enough
 * steps have finished. A step waits until its actions are done. A prediction without a schedule
 * drops all pieces at each allocation. So does a prediction from its first allocation on that
 * deviates from the schedule.
 */
#define _GNU_SOURCE
#include "files.h"
#include "lists.h"
#include "stream.h"
#include "torch_weights.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

enum { PAGEMAP_ENTRIES = 4096, LOOKED_UP_BYTES = 512 << 10 };

/* The usual limit of a process's mappings; the parts of a file may be one in so many of it. */
enum { USUAL_MAPPINGS = 65530, MAPPINGS_PER_PART = 8 };

/* Returns whether the weights have all pieces of a schedule. The caller holds the lock. */
static bool fits(const struct djlplan_weights *weights, const struct djlplan_schedule *schedule) {
    for (int i = 0; i < schedule->actions; i++) {
        int piece = schedule->action[i].piece;
        if (piece < 0 || piece >= weights->piece_count) return false;
    }
    return true;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static uint64_t checksum(const char *bytes, int64_t count) {
    uint64_t lanes[8] = {0};
    for (int64_t i = 0; i < count; i += (int64_t)sizeof lanes) {
        uint64_t words[8];
        memcpy(words, bytes + i, sizeof words);
        for (int lane = 0; lane < 8; lane++) {
            lanes[lane] = (lanes[lane] + words[lane]) * UINT64_C(0x9E3779B97F4A7C15);
        }
    }
    uint64_t sum = 0;
    for (int lane = 0; lane < 8; lane++) sum = (sum ^ lanes[lane]) * UINT64_C(0x9E3779B97F4A7C15);
    return sum;
}

/* Reads with direct I/O, or through the page cache if the file system refuses that. */
static bool read_piece(const struct djlplan_weights *weights, const struct piece *piece, char *to) {
    int file = weights->direct_file >= 0 ? weights->direct_file : weights->file;
    for (int64_t done = 0; done < piece->bytes;) {
        ssize_t count = pread(file, to + done, (size_t)(piece->bytes - done), piece->offset + done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0 && file != weights->file) {
            file = weights->file;
            continue;
        }
        if (count <= 0) return false;
        done += count;
    }
    if (file == weights->file) {
        posix_fadvise(file, piece->offset, piece->bytes, POSIX_FADV_DONTNEED);
    }
    return true;
}

/*
 * Maps a copy over the pages of the file. A thread that touches them earlier reads the file, never
 * zeros.
 */
static bool copy_piece(struct djlplan_weights *weights, struct piece *piece) {
    size_t bytes = (size_t)piece->bytes;
    char *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) return false;
    if (read_piece(weights, piece, copy)) {
        piece->checksum = checksum(copy, piece->bytes);
        if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                   weights->base + piece->offset) != MAP_FAILED) {
            piece->copied = true;
            return true;
        }
    }
    munmap(copy, bytes);
    return false;
}

/* Loads a piece; if that fails, its pages are read when they are touched. */
static int load_piece(struct djlplan_weights *weights, struct piece *piece, bool direct) {
    if (piece->copied || (direct && copy_piece(weights, piece))) return 0;
    return madvise(weights->base + piece->offset, (size_t)piece->bytes, MADV_POPULATE_READ) == 0
               ? 0
               : errno;
}

/*
 * Drops a piece. A copy that the model changed is first written to the file; if that fails, it
 * stays.
 */
static void drop_piece(struct djlplan_weights *weights, struct piece *piece) {
    char *address = weights->base + piece->offset;
    if (!piece->copied) {
        madvise(address, (size_t)piece->bytes, MADV_DONTNEED);
        return;
    }
    if (checksum(address, piece->bytes) != piece->checksum &&
        !djlplan_files_write(weights->file, address, piece->bytes, piece->offset)) {
        return;
    }
    piece->copied = mmap(address, (size_t)piece->bytes, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_FIXED, weights->file, piece->offset) == MAP_FAILED;
    if (!piece->copied) madvise(address, (size_t)piece->bytes, MADV_NOHUGEPAGE);
}

/* Drops all pieces that are not pinned. The loader must be idle; the caller holds the lock. */
static void drop_all(struct djlplan_weights *weights) {
    bool same = true;
    for (int i = 0; i < weights->piece_count; i++) {
        same &= !weights->pieces[i].copied && !weights->pieces[i].pinned;
    }
    if (same) {
        if (weights->used > 0) madvise(weights->base, (size_t)weights->used, MADV_DONTNEED);
        return;
    }
    for (int i = 0; i < weights->piece_count; i++) {
        if (!weights->pieces[i].pinned) drop_piece(weights, &weights->pieces[i]);
    }
}

/* ---- the loader ------------------------------------------------------------------------------ */

static bool has_work(const struct stream *stream) {
    return stream->schedule != NULL && stream->next < stream->schedule->actions &&
           stream->schedule->action[stream->next].after <= stream->step;
}

static void carry_out(struct djlplan_weights *weights, const struct action *action) {
    struct piece *piece = &weights->pieces[action->piece];
    bool direct = weights->stream.direct;
    pthread_mutex_unlock(&weights->lock);
    int problem = 0;
    switch (action->kind) {
    case DJLPLAN_DROP: drop_piece(weights, piece); break;
    case DJLPLAN_LOAD:
    case DJLPLAN_PIN: problem = load_piece(weights, piece, direct); break;
    case DJLPLAN_LOOK_UP: break;
    }
    pthread_mutex_lock(&weights->lock);
    if (weights->stream.failed == 0) weights->stream.failed = problem;
}

static void *load(void *argument) {
    struct djlplan_weights *weights = argument;
    struct stream *stream = &weights->stream;
    pthread_setname_np(pthread_self(), "djlplan-loader");
    pthread_mutex_lock(&weights->lock);
    while (!stream->stops) {
        if (!has_work(stream)) {
            pthread_cond_wait(&stream->wake, &weights->lock);
            continue;
        }
        const struct action *action = &stream->schedule->action[stream->next];
        stream->busy = true;
        carry_out(weights, action);
        stream->busy = false;
        if (stream->next < stream->schedule->actions) stream->next++;
        pthread_cond_broadcast(&stream->done);
    }
    pthread_mutex_unlock(&weights->lock);
    return NULL;
}

static bool ensure_loader(struct djlplan_weights *weights) {
    struct stream *stream = &weights->stream;
    if (stream->runs) return true;
    return stream->runs = djlplan_weights_start(&stream->loader, load, weights) == 0;
}

/* Stops the loader, and drops all pieces. The caller holds the lock. */
static void stand_back(struct djlplan_weights *weights) {
    struct stream *stream = &weights->stream;
    if (stream->schedule != NULL) stream->next = stream->schedule->actions;
    while (stream->busy) pthread_cond_wait(&stream->done, &weights->lock);
    drop_all(weights);
}

static void stop(struct djlplan_weights *weights) {
    struct stream *stream = &weights->stream;
    stand_back(weights);
    if (!stream->runs) return;
    stream->stops = true;
    stream->runs = false;
    pthread_cond_broadcast(&stream->wake);
    pthread_mutex_unlock(&weights->lock);
    pthread_join(stream->loader, NULL);
    pthread_mutex_lock(&weights->lock);
}

/* ---- watched runs ---------------------------------------------------------------------------- */

static bool note_step(struct stream *stream, int64_t bytes) {
    if (!djlplan_list_ensure(&stream->steps, stream->step_count, &stream->step_capacity,
                             2 * sizeof *stream->steps)) {
        return false;
    }
    stream->steps[2 * stream->step_count] = bytes;
    stream->steps[2 * stream->step_count++ + 1] = 0;
    return true;
}

static bool note_touch(struct stream *stream, int piece, int pages) {
    if (!djlplan_list_ensure(&stream->touches, stream->touch_count, &stream->touch_capacity,
                             sizeof *stream->touches)) {
        return false;
    }
    stream->touches[stream->touch_count++] = (struct touch){stream->step_count - 1, piece, pages};
    return true;
}

/*
 * Returns how many units of WEIGHTS_PAGE bytes (the smallest page) are in memory, or all if that is
 * unknown.
 */
static int present(int pagemap, const char *address, int64_t bytes) {
    const int64_t page = sysconf(_SC_PAGESIZE);
    uint64_t entries[PAGEMAP_ENTRIES];
    int64_t found = 0;
    for (int64_t pages = (bytes + page - 1) / page; pages > 0;) {
        size_t wanted = (size_t)(pages < PAGEMAP_ENTRIES ? pages : PAGEMAP_ENTRIES);
        ssize_t got = pread(pagemap, entries, wanted * sizeof *entries,
                            (off_t)((uintptr_t)address / (size_t)page * sizeof *entries));
        if (got <= 0) {
            found += pages;
            break;
        }
        size_t count = (size_t)got / sizeof *entries;
        for (size_t i = 0; i < count; i++) {
            found += (int64_t)(entries[i] >> 63);
        }
        pages -= (int64_t)count;
        address += (int64_t)count * page;
    }
    return (int)((found * page < bytes ? found * page : bytes) / WEIGHTS_PAGE);
}

/* Records the pieces that the step touched, and its time. The caller holds the lock. */
static void note_touches(struct djlplan_weights *weights, int pagemap) {
    struct stream *stream = &weights->stream;
    stream->steps[2 * stream->step_count - 1] = djlplan_now_nanos() - stream->since;
    for (int i = 0; i < weights->piece_count; i++) {
        const struct piece *piece = &weights->pieces[i];
        int pages = present(pagemap, weights->base + piece->offset, piece->bytes);
        if (pages > 0 && !note_touch(stream, i, pages)) stream->incomplete = true;
    }
}

static void end_watched_step(struct djlplan_weights *weights) {
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (pagemap < 0) {
        weights->stream.incomplete = true;
        return;
    }
    note_touches(weights, pagemap);
    close(pagemap);
}

static void watched_step(struct djlplan_weights *weights, int64_t bytes) {
    struct stream *stream = &weights->stream;
    if (stream->step_count > 0 && !stream->incomplete) end_watched_step(weights);
    if (!stream->incomplete && !note_step(stream, bytes)) stream->incomplete = true;
    drop_all(weights);
    stream->since = djlplan_now_nanos();
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Waits until all pieces that the step needs are loaded. The caller holds the lock. */
static void await(struct djlplan_weights *weights) {
    struct stream *stream = &weights->stream;
    int needed = stream->schedule->needs[stream->step];
    if (has_work(stream) && !stream->busy) pthread_cond_signal(&stream->wake);
    if (stream->next >= needed) return;
    int64_t since = djlplan_now_nanos();
    while (stream->next < needed) pthread_cond_wait(&stream->done, &weights->lock);
    stream->waited_nanos += djlplan_now_nanos() - since;
}

static void scheduled_step(struct djlplan_weights *weights, int64_t bytes) {
    struct stream *stream = &weights->stream;
    int step = stream->step + 1;
    if (step >= stream->schedule->steps || stream->schedule->bytes[step] != bytes) {
        stand_back(weights);
        stream->mode = STREAM_LAZY;
        return;
    }
    stream->step = step;
    await(weights);
}

bool djlplan_stream_notice(struct djlplan_weights *weights, size_t bytes) {
    pthread_mutex_lock(&weights->lock);
    bool streams = weights->stream.mode != STREAM_IDLE;
    switch (weights->stream.mode) {
    case STREAM_SCHEDULED: scheduled_step(weights, (int64_t)bytes); break;
    case STREAM_WATCHED: watched_step(weights, (int64_t)bytes); break;
    case STREAM_LAZY: drop_all(weights); break;
    case STREAM_IDLE: break;
    }
    pthread_mutex_unlock(&weights->lock);
    return streams;
}

/* Returns the most mappings that a process may have. */
static int64_t most_mappings(void) {
    char text[32];
    int file = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
    ssize_t count = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    text[count < 0 ? 0 : count] = 0;
    int64_t most = strtoll(text, NULL, 10);
    return most > 0 ? most : USUAL_MAPPINGS;
}

/*
 * Returns the size of the parts into which a mapping is cut, such that the parts of the whole file
 * are a small share of the process's mappings.
 */
static int64_t part_bytes(const struct djlplan_weights *weights) {
    int64_t most = most_mappings() / MAPPINGS_PER_PART, size = LOOKED_UP_BYTES;
    while (weights->used / size > most) size *= 2;
    return size;
}

/*
 * Makes a touch read few pages: it splits the mapping into parts with alternating attributes, which
 * cannot use the large pages that a file may have in the page cache.
 */
static void cut_mapping(struct djlplan_weights *weights, int64_t offset, int64_t bytes,
                        int64_t part) {
    for (int64_t from = offset, to = 0; from < offset + bytes; from = to) {
        to = (from / part + 1) * part;
        if (to > offset + bytes) to = offset + bytes;
        if (from / part % 2 == 0) {
            madvise(weights->base + from, (size_t)(to - from), MADV_RANDOM);
        }
    }
}

static void join_mapping(struct djlplan_weights *weights) {
    if (weights->used > 0) madvise(weights->base, (size_t)weights->used, MADV_NORMAL);
}

/* Sets the schedule of this run and later ones. The caller holds the lock. */
static void take_schedule(struct djlplan_weights *weights, struct djlplan_schedule *schedule) {
    struct stream *stream = &weights->stream;
    if (stream->schedule == schedule) return;
    for (int i = 0; i < weights->piece_count; i++) weights->pieces[i].pinned = false;
    stand_back(weights);
    djlplan_schedule_delete(stream->schedule);
    stream->schedule = schedule;
    stream->step = stream->next = 0;
    if (schedule == NULL) return;
    atomic_fetch_add(&schedule->holders, 1);
    int64_t part = part_bytes(weights);
    for (int i = 0; i < schedule->actions; i++) {
        const struct action *action = &schedule->action[i];
        if (action->kind == DJLPLAN_PIN) weights->pieces[action->piece].pinned = true;
        if (action->kind == DJLPLAN_LOOK_UP) {
            const struct piece *piece = &weights->pieces[action->piece];
            cut_mapping(weights, piece->offset, piece->bytes, part);
        }
    }
}

static void begin(struct djlplan_weights *weights, struct djlplan_schedule *schedule, int flags) {
    struct stream *stream = &weights->stream;
    bool direct = (flags & DJLPLAN_STREAM_DIRECT) != 0;
    if (direct != stream->direct) take_schedule(weights, NULL);
    stream->direct = direct;
    bool scheduled = schedule != NULL && fits(weights, schedule) && ensure_loader(weights);
    take_schedule(weights, scheduled ? schedule : NULL);
    stream->waited_nanos = 0;
    stream->failed = 0;
    if (scheduled) {
        stream->mode = STREAM_SCHEDULED;
        await(weights);
        return;
    }
    stream->mode = (flags & DJLPLAN_STREAM_WATCHED) != 0 ? STREAM_WATCHED : STREAM_LAZY;
    if (stream->mode == STREAM_WATCHED) {
        stream->step_count = stream->touch_count = 0;
        stream->incomplete = false;
        cut_mapping(weights, 0, weights->used, part_bytes(weights));
        watched_step(weights, 0);
    }
}

int djlplan_weights_begin(struct djlplan_weights *weights, struct djlplan_schedule *schedule,
                          int flags) {
    if (djlplan_weights_current != NULL) return DJLPLAN_ENGINE_ERROR;
    pthread_mutex_lock(&weights->lock);
    bool idle = weights->stream.mode == STREAM_IDLE && !weights->loading && !weights->stream.stops;
    if (idle) {
        weights->holders++;
        begin(weights, schedule, flags);
        djlplan_weights_current = weights;
    }
    pthread_mutex_unlock(&weights->lock);
    return idle ? DJLPLAN_OK : DJLPLAN_ENGINE_ERROR;
}

void djlplan_weights_end(struct djlplan_weights *weights, int64_t *figures) {
    djlplan_weights_current = NULL;
    pthread_mutex_lock(&weights->lock);
    struct stream *stream = &weights->stream;
    if (stream->mode == STREAM_WATCHED) {
        if (!stream->incomplete) end_watched_step(weights);
        join_mapping(weights);
    }
    figures[DJLPLAN_STREAM_AS_PLANNED] =
        stream->mode == STREAM_SCHEDULED && stream->step == stream->schedule->steps - 1;
    figures[DJLPLAN_STREAM_WAITED_NANOS] = stream->waited_nanos;
    figures[DJLPLAN_STREAM_FAILED] = stream->failed;
    stand_back(weights);
    stream->mode = STREAM_IDLE;
    stream->step = stream->next = 0;
    /* Wakes the loader for the first loads of the next run. */
    if (has_work(stream)) pthread_cond_signal(&stream->wake);
    djlplan_weights_release(weights);
}

int64_t djlplan_weights_steps(struct djlplan_weights *weights, int64_t *out, int64_t capacity) {
    pthread_mutex_lock(&weights->lock);
    const struct stream *stream = &weights->stream;
    int64_t count = stream->incomplete ? -1 : 2 * (int64_t)stream->step_count;
    for (int64_t i = 0; i < count && i < capacity; i++) out[i] = stream->steps[i];
    pthread_mutex_unlock(&weights->lock);
    return count;
}

int64_t djlplan_weights_touches(struct djlplan_weights *weights, int32_t *out, int64_t capacity) {
    pthread_mutex_lock(&weights->lock);
    const struct stream *stream = &weights->stream;
    int64_t count = stream->incomplete ? -1 : DJLPLAN_TOUCH_VALUES * (int64_t)stream->touch_count;
    for (int64_t i = 0; i + 2 < count && i + 2 < capacity; i += DJLPLAN_TOUCH_VALUES) {
        const struct touch *touch = &stream->touches[i / DJLPLAN_TOUCH_VALUES];
        out[i] = touch->step;
        out[i + 1] = touch->piece;
        out[i + 2] = touch->pages;
    }
    pthread_mutex_unlock(&weights->lock);
    return count;
}

void djlplan_weights_close(struct djlplan_weights *weights) {
    pthread_mutex_lock(&weights->lock);
    bool loading = weights->loading;
    pthread_mutex_unlock(&weights->lock);
    if (loading) (void)djlplan_weights_loaded(weights);
    pthread_mutex_lock(&weights->lock);
    stop(weights);
    djlplan_weights_release(weights);
}
