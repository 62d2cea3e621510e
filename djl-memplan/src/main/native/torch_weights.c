/*
 * Weights in a file. While a model is loaded, its large blocks are placed one after another in a
 * shared mapping of an unnamed file. Writes to them go to the file, so pages may leave memory at
 * any time; they are read again when they are touched, which is slow but correct.
 */
#define _GNU_SOURCE
#include "torch_weights.h"
#include "arena.h"
#include "files.h"
#include "lists.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SWEEP_NANOS = 500 * 1000 };

_Thread_local struct djlplan_weights *djlplan_weights_current;

/* The same while this thread loads, for threads that end before they see that loading has ended. */
static pthread_key_t loaded_by_thread;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool has_key;

static void thread_ends(void *argument) {
    struct djlplan_weights *weights = argument;
    djlplan_weights_current = NULL;
    pthread_mutex_lock(&weights->lock);
    djlplan_weights_release(weights);
}

static void make_key(void) { has_key = pthread_key_create(&loaded_by_thread, thread_ends) == 0; }

/* Sets the weights that this thread loads; NULL if it loads none. */
static void set_loaded(struct djlplan_weights *weights) {
    djlplan_weights_current = weights;
    if (has_key) pthread_setspecific(loaded_by_thread, weights);
}

/* Forgets weights that this thread loaded until another thread ended the load. */
static void forget_ended_load(void) {
    struct djlplan_weights *weights = djlplan_weights_current;
    if (weights == NULL) return;
    pthread_mutex_lock(&weights->lock);
    if (weights->loading || weights->stream.mode != STREAM_IDLE) {
        pthread_mutex_unlock(&weights->lock);
        return;
    }
    set_loaded(NULL);
    djlplan_weights_release(weights);
}

static int64_t round_up(int64_t bytes, int64_t to) { return (bytes + to - 1) / to * to; }

/* Creates a file without a name, which only this process can access; −1 on failure. */
static int open_file(const char *folder) {
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/weights-XXXXXX", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) unlink(path);
    return file;
}

/* Opens the same file for direct I/O; −1 if that is not possible. */
static int open_direct(int file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
}

/* Maps the file over addresses of an arena, so that a free finds the weights by the address. */
static int map_file(struct djlplan_weights *weights) {
    if (ftruncate(weights->file, weights->capacity) != 0) return errno;
    void *base = djlplan_arena_create(weights->capacity, 0);
    if (base == NULL) return ENOMEM;
    if (mmap(base, (size_t)weights->capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             weights->file, 0) == MAP_FAILED) {
        int problem = errno;
        djlplan_arena_free(base);
        return problem;
    }
    /*
     * Otherwise the system would map 2 MB of the page cache at once, including neighbouring pieces.
     */
    madvise(base, (size_t)weights->capacity, MADV_NOHUGEPAGE);
    weights->base = base;
    djlplan_arena_of(base)->weights = weights;
    return 0;
}

static bool init_stream(struct stream *stream) {
    return pthread_cond_init(&stream->wake, NULL) == 0 &&
           pthread_cond_init(&stream->done, NULL) == 0;
}

struct djlplan_weights *djlplan_weights_create(const char *folder, int64_t bytes,
                                               int32_t *problem) {
    struct djlplan_weights *weights = calloc(1, sizeof *weights);
    *problem = ENOMEM;
    if (weights == NULL || !init_stream(&weights->stream)) {
        free(weights);
        return NULL;
    }
    pthread_mutex_init(&weights->lock, NULL);
    weights->holders = 1;
    weights->capacity = round_up(bytes, DJLPLAN_WEIGHT_PIECE_BYTES);
    weights->file = open_file(folder);
    *problem = weights->file < 0 ? errno : map_file(weights);
    if (*problem != 0) {
        if (weights->file >= 0) close(weights->file);
        free(weights);
        return NULL;
    }
    weights->direct_file = open_direct(weights->file);
    return weights;
}

/* ---- loading --------------------------------------------------------------------------------- */

int djlplan_weights_start(pthread_t *thread, void *(*runs)(void *),
                          struct djlplan_weights *weights) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int problem = pthread_create(thread, NULL, runs, weights);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return problem;
}

/* Repeatedly drops pages that the engine has written, so that few of them are in memory. */
static void *sweep(void *argument) {
    struct djlplan_weights *weights = argument;
    const struct timespec pause = {0, SWEEP_NANOS};
    pthread_mutex_lock(&weights->lock);
    while (weights->loading) {
        int64_t used = weights->used;
        pthread_mutex_unlock(&weights->lock);
        if (used > 0) madvise(weights->base, (size_t)used, MADV_DONTNEED);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&weights->lock);
    }
    pthread_mutex_unlock(&weights->lock);
    return NULL;
}

int djlplan_weights_load(struct djlplan_weights *weights) {
    pthread_once(&key_once, make_key);
    forget_ended_load();
    if (djlplan_weights_current != NULL) return EBUSY;
    pthread_mutex_lock(&weights->lock);
    int problem = weights->loading ? EBUSY : 0;
    if (problem == 0) {
        weights->loading = true;
        problem = djlplan_weights_start(&weights->sweeper, sweep, weights);
        weights->loading = problem == 0;
        weights->holders +=
            problem == 0; /* for this thread, until it sees that loading has ended */
    }
    pthread_mutex_unlock(&weights->lock);
    if (problem == 0) set_loaded(weights);
    return problem;
}

/*
 * Divides the file into pieces of the size that the system may map at once, so that touching one
 * never reads pages of another. The caller holds the lock.
 */
static bool cut(struct djlplan_weights *weights) {
    int64_t size = DJLPLAN_WEIGHT_PIECE_BYTES;
    int count = (int)((weights->used + size - 1) / size);
    weights->pieces = calloc((size_t)count + 1, sizeof *weights->pieces);
    if (weights->pieces == NULL) return false;
    for (int i = 0; i < count; i++) {
        int64_t left = weights->used - i * size;
        weights->pieces[i] = (struct piece){.offset = i * size, .bytes = left < size ? left : size};
    }
    weights->piece_count = count;
    return true;
}

int djlplan_weights_loaded(struct djlplan_weights *weights) {
    pthread_mutex_lock(&weights->lock);
    if (djlplan_weights_current == weights) {
        set_loaded(NULL);
        weights->holders--; /* never the last holder, because the caller is one */
    }
    bool ends = weights->loading;
    weights->loading = false;
    if (ends && weights->problem == 0 && weights->pieces == NULL && !cut(weights)) {
        weights->problem = ENOMEM;
    }
    int problem = weights->problem;
    int64_t used = weights->used;
    pthread_mutex_unlock(&weights->lock);
    /* Later, pieces may be private copies, whose bytes are lost when they are dropped. */
    if (!ends) return problem;
    pthread_join(weights->sweeper, NULL);
    if (used > 0) madvise(weights->base, (size_t)used, MADV_DONTNEED);
    return problem;
}

int djlplan_weights_uncache(struct djlplan_weights *weights) {
    if (fdatasync(weights->file) != 0) return errno;
    return posix_fadvise(weights->file, 0, 0, POSIX_FADV_DONTNEED);
}

/*
 * Allocates the next place in the file and its disk blocks, so that a full disk shows here and not
 * at a touch. The caller holds the lock.
 */
static void *take_block(struct djlplan_weights *weights, size_t bytes) {
    if (bytes > (size_t)(weights->capacity - weights->used) ||
        !djlplan_list_ensure(&weights->blocks, weights->block_count, &weights->block_capacity,
                             sizeof *weights->blocks)) {
        return NULL;
    }
    int64_t offset = weights->used;
    int64_t whole = round_up((int64_t)bytes, WEIGHTS_PAGE);
    int problem = djlplan_files_allocate(weights->file, offset, whole);
    if (problem != 0) {
        weights->problem = problem;
        return NULL;
    }
    /* Drops earlier pages, because the sweeper may come late. */
    if (offset > 0) madvise(weights->base, (size_t)offset, MADV_DONTNEED);
    weights->blocks[weights->block_count++] = (struct weight_block){offset, whole, true};
    weights->used = offset + whole;
    weights->holders++;
    return weights->base + offset;
}

void *djlplan_weights_allocate(struct djlplan_weights *weights, size_t bytes) {
    void *block = NULL;
    pthread_mutex_lock(&weights->lock);
    if (!weights->loading) {
        /* Another thread has ended the load. */
        set_loaded(NULL);
        djlplan_weights_release(weights);
        return NULL;
    } else if (bytes >= DJLPLAN_LEAST_WEIGHT_BYTES) {
        block = take_block(weights, bytes);
    }
    pthread_mutex_unlock(&weights->lock);
    return block;
}

/* ---- frees ----------------------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b) {
    int64_t first = ((const struct weight_block *)a)->offset;
    int64_t second = ((const struct weight_block *)b)->offset;
    return (first > second) - (first < second);
}

/* Frees the last place for the next block. The caller holds the lock. */
static void give_back(struct djlplan_weights *weights) {
    while (weights->loading && weights->block_count > 0 &&
           !weights->blocks[weights->block_count - 1].alive) {
        weights->used = weights->blocks[--weights->block_count].offset;
    }
}

void djlplan_weights_free(struct djlplan_weights *weights, const void *block) {
    const struct weight_block key = {(const char *)block - weights->base, 0, true};
    pthread_mutex_lock(&weights->lock);
    struct weight_block *found =
        weights->block_count == 0
            ? NULL
            : bsearch(&key, weights->blocks, (size_t)weights->block_count, sizeof key, by_offset);
    if (found == NULL || !found->alive) {
        pthread_mutex_unlock(&weights->lock);
        return;
    }
    found->alive = false;
    give_back(weights);
    djlplan_weights_release(weights);
}

static void free_stream(struct stream *stream) {
    djlplan_schedule_delete(stream->schedule);
    pthread_cond_destroy(&stream->wake);
    pthread_cond_destroy(&stream->done);
    free(stream->steps);
    free(stream->touches);
}

void djlplan_weights_release(struct djlplan_weights *weights) {
    bool last = --weights->holders == 0;
    pthread_mutex_unlock(&weights->lock);
    if (!last) return;
    djlplan_arena_free(weights->base);
    close(weights->file);
    if (weights->direct_file >= 0) close(weights->direct_file);
    free_stream(&weights->stream);
    pthread_mutex_destroy(&weights->lock);
    free(weights->blocks);
    free(weights->pieces);
    free(weights);
}

/* ---- figures --------------------------------------------------------------------------------- */

int64_t djlplan_weights_bytes(struct djlplan_weights *weights) {
    pthread_mutex_lock(&weights->lock);
    int64_t bytes = weights->used;
    pthread_mutex_unlock(&weights->lock);
    return bytes;
}

int64_t djlplan_weights_blocks(struct djlplan_weights *weights, int64_t *out, int64_t capacity) {
    pthread_mutex_lock(&weights->lock);
    int64_t count = 2 * (int64_t)weights->block_count;
    for (int64_t i = 0; i + 1 < count && i + 1 < capacity; i += 2) {
        out[i] = weights->blocks[i / 2].offset;
        out[i + 1] = weights->blocks[i / 2].bytes;
    }
    pthread_mutex_unlock(&weights->lock);
    return count;
}
