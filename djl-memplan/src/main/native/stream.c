/*
 * Loads weights into an arena during an inference.
 *
 * A loader thread executes the loads of the schedule in order. The thread that runs the model
 * reports finished steps, and waits for the loads that its next step needs. Nothing is unloaded:
 * the next load to a place replaces its content, so the resident memory is at most the arena.
 * Mapped pieces are private copies, so writes of the model do not reach the file.
 */
#define _GNU_SOURCE
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

enum { PAGE = 4096, CHUNK = 4 << 20 };

struct djlplan_stream {
    /* the file */
    enum djlplan_io io;
    int file;
    int64_t file_bytes;
    struct timespec modified;
    /* the schedule; changes only between inferences */
    struct djlplan_load *loads;
    int load_count;
    int32_t *needs; /* by step: the number of loads that must be done */
    int step_count; /* −1 until there is a schedule */
    char *arena;
    int64_t arena_bytes;
    bool pinned_there;
    /* one inference */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t loader;
    bool started;  /* guarded by lock, like the following fields */
    bool stopping; /* the stream is about to be deleted */
    bool running;  /* between begin and end */
    bool loading;  /* the loader runs a load, without the lock */
    int loaded;    /* finished loads */
    int finished;  /* finished steps */
    char error[256];
    int64_t counters[DJLPLAN_LOADS_COUNTERS];
};

int64_t djlplan_now_nanos(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void say(struct djlplan_stream *stream, const char *what, int error) {
    snprintf(stream->error, sizeof stream->error, "%s: %s", what, strerror(error));
}

/* ---- one load -------------------------------------------------------------------------- */

/* Touches each page, as MADV_POPULATE_READ of newer kernels does in one call. */
static void touch(const volatile char *place, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += PAGE) (void)place[at];
}

/* Returns 0 or errno. */
static int map_piece(const struct djlplan_stream *stream, const struct djlplan_load *load) {
    char *place = stream->arena + load->place;
    struct stat status;
    if (fstat(stream->file, &status) != 0) return errno;
    if (status.st_size < load->file_offset + load->bytes) return ENODATA;
    void *mapped = mmap(place, (size_t)load->bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, stream->file, load->file_offset);
    if (mapped == MAP_FAILED) return errno;
    if (madvise(place, (size_t)load->bytes, MADV_POPULATE_READ) == 0) return 0;
    if (errno != EINVAL) return errno;
    touch(place, load->bytes);
    return 0;
}

/* Returns 0 or errno. */
static int read_piece(const struct djlplan_stream *stream, const struct djlplan_load *load) {
    char *place = stream->arena + load->place;
    int64_t done = 0;
    while (done < load->bytes) {
        int64_t wanted = load->bytes - done < CHUNK ? load->bytes - done : CHUNK;
        ssize_t got = pread(stream->file, place + done, (size_t)wanted, load->file_offset + done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        if (got == 0) return ENODATA;
        done += got;
    }
    if (stream->io == DJLPLAN_IO_DROPPED) {
        posix_fadvise(stream->file, load->file_offset, load->bytes, POSIX_FADV_DONTNEED);
    }
    return 0;
}

static int carry_out(const struct djlplan_stream *stream, const struct djlplan_load *load) {
    return stream->io == DJLPLAN_IO_MMAP ? map_piece(stream, load) : read_piece(stream, load);
}

/* ---- the loader ------------------------------------------------------------------------ */

/* Returns the next load to execute, NULL if there is none now. The caller holds the lock. */
static const struct djlplan_load *due(const struct djlplan_stream *stream) {
    if (!stream->running || stream->error[0] != '\0' || stream->loaded == stream->load_count) {
        return NULL;
    }
    const struct djlplan_load *load = &stream->loads[stream->loaded];
    return load->after <= stream->finished ? load : NULL;
}

static void *load_all(void *argument) {
    struct djlplan_stream *stream = argument;
    pthread_mutex_lock(&stream->lock);
    while (!stream->stopping) {
        const struct djlplan_load *load = due(stream);
        if (load == NULL) {
            pthread_cond_wait(&stream->changed, &stream->lock);
            continue;
        }
        int problem = 0;
        stream->loading = true;
        pthread_mutex_unlock(&stream->lock);
        int64_t start = djlplan_now_nanos();
        bool there = load->pinned && stream->pinned_there;
        if (!there) problem = carry_out(stream, load);
        int64_t nanos = djlplan_now_nanos() - start;
        pthread_mutex_lock(&stream->lock);
        stream->loading = false;
        if (problem != 0) {
            say(stream, "weights cannot be read", problem);
        } else {
            stream->loaded++;
            if (!there) {
                stream->counters[DJLPLAN_LOADS_LOADED_BYTES] += load->bytes;
                stream->counters[DJLPLAN_LOADS_LOADED_NANOS] += nanos;
            }
        }
        pthread_cond_broadcast(&stream->changed);
    }
    pthread_mutex_unlock(&stream->lock);
    return NULL;
}

/* ---- making and deleting --------------------------------------------------------------- */

struct djlplan_stream *djlplan_stream_open(const char *path, int io, char *message,
                                           int64_t message_bytes) {
    struct djlplan_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) {
        snprintf(message, (size_t)message_bytes, "out of memory");
        return NULL;
    }
    stream->io = (enum djlplan_io)io;
    if (io == DJLPLAN_IO_MMAP && sysconf(_SC_PAGESIZE) > PAGE) stream->io = DJLPLAN_IO_CACHED;
    stream->step_count = -1;
    stream->file = open(path, O_RDONLY | O_CLOEXEC | (io == DJLPLAN_IO_DIRECT ? O_DIRECT : 0));
    if (stream->file < 0 && io == DJLPLAN_IO_DIRECT && errno == EINVAL) {
        /* In-memory and some overlay file systems have no direct I/O. */
        stream->io = DJLPLAN_IO_DROPPED;
        stream->file = open(path, O_RDONLY | O_CLOEXEC);
    }
    struct stat status;
    if (stream->file < 0 || fstat(stream->file, &status) != 0) {
        snprintf(message, (size_t)message_bytes, "%s: %s", path, strerror(errno));
        if (stream->file >= 0) close(stream->file);
        free(stream);
        return NULL;
    }
    stream->file_bytes = status.st_size;
    stream->modified = status.st_mtim;
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->changed, NULL);
    return stream;
}

static void unmap_arena(struct djlplan_stream *stream) {
    if (stream->arena != NULL) munmap(stream->arena, (size_t)stream->arena_bytes + PAGE);
    stream->arena = NULL;
}

void djlplan_stream_close(struct djlplan_stream *stream) {
    pthread_mutex_lock(&stream->lock);
    stream->stopping = true;
    bool started = stream->started;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    if (started) pthread_join(stream->loader, NULL);
    unmap_arena(stream);
    close(stream->file);
    pthread_cond_destroy(&stream->changed);
    pthread_mutex_destroy(&stream->lock);
    free(stream->loads);
    free(stream->needs);
    free(stream);
}

int djlplan_stream_io(const struct djlplan_stream *stream) { return (int)stream->io; }

/* ---- the schedule ---------------------------------------------------------------------- */

static bool load_holds(const struct djlplan_stream *stream, const struct djlplan_load *load,
                       int64_t arena_bytes) {
    return load->bytes > 0 && load->bytes % PAGE == 0 && load->place >= 0 &&
           load->place % PAGE == 0 && load->bytes <= arena_bytes &&
           load->place <= arena_bytes - load->bytes && load->file_offset >= 0 &&
           load->file_offset % PAGE == 0 && load->bytes <= stream->file_bytes &&
           load->file_offset <= stream->file_bytes - load->bytes && load->after >= 0;
}

/*
 * Returns whether the schedule cannot deadlock: no step waits for a load that waits for this step
 * or a later one.
 */
static bool no_deadlock(const struct djlplan_load *loads, int load_count, const int32_t *needs,
                        int step_count) {
    for (int step = 0; step < step_count; step++) {
        if (needs[step] < 0 || needs[step] > load_count) return false;
        for (int i = step == 0 ? 0 : needs[step - 1]; i < needs[step]; i++) {
            if (loads[i].after > step) return false;
        }
        if (step > 0 && needs[step] < needs[step - 1]) return false;
    }
    return true;
}

static int install(struct djlplan_stream *stream, const struct djlplan_load *loads, int load_count,
                   const int32_t *needs, int step_count, int64_t arena_bytes) {
    struct djlplan_load *own_loads = calloc((size_t)load_count + 1, sizeof *own_loads);
    int32_t *own_needs = calloc((size_t)step_count + 1, sizeof *own_needs);
    /* One page more, because vector kernels may read a little beyond a tensor's end. */
    char *arena = mmap(NULL, (size_t)arena_bytes + PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (own_loads == NULL || own_needs == NULL || arena == MAP_FAILED) {
        free(own_loads);
        free(own_needs);
        if (arena != MAP_FAILED) munmap(arena, (size_t)arena_bytes + PAGE);
        say(stream, "no memory for an arena", ENOMEM);
        return DJLPLAN_ENGINE_ERROR;
    }
    /* Huge pages would make more memory resident than is used. */
    madvise(arena, (size_t)arena_bytes + PAGE, MADV_NOHUGEPAGE);
    memcpy(own_loads, loads, (size_t)load_count * sizeof *loads);
    memcpy(own_needs, needs, (size_t)step_count * sizeof *needs);
    unmap_arena(stream);
    free(stream->loads);
    free(stream->needs);
    stream->loads = own_loads;
    stream->load_count = load_count;
    stream->needs = own_needs;
    stream->step_count = step_count;
    stream->arena = arena;
    stream->arena_bytes = arena_bytes;
    stream->pinned_there = false;
    return DJLPLAN_OK;
}

int djlplan_stream_schedule(struct djlplan_stream *stream, const struct djlplan_load *loads,
                            int load_count, const int32_t *needs, int step_count,
                            int64_t arena_bytes) {
    bool holds = arena_bytes > 0 && no_deadlock(loads, load_count, needs, step_count);
    for (int i = 0; holds && i < load_count; i++) {
        holds = load_holds(stream, &loads[i], arena_bytes);
    }
    if (!holds) return DJLPLAN_MISMATCH;
    return install(stream, loads, load_count, needs, step_count, arena_bytes);
}

char *djlplan_stream_arena(const struct djlplan_stream *stream) { return stream->arena; }

int64_t djlplan_stream_arena_bytes(const struct djlplan_stream *stream) {
    return stream->arena_bytes;
}

int djlplan_stream_steps(const struct djlplan_stream *stream) { return stream->step_count; }

void djlplan_stream_release(struct djlplan_stream *stream) {
    if (stream->arena == NULL) return;
    /* Not MADV_DONTNEED, because pages of a mapped piece would come back from the file. */
    void *fresh = mmap(stream->arena, (size_t)stream->arena_bytes + PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (fresh != MAP_FAILED) madvise(fresh, (size_t)stream->arena_bytes + PAGE, MADV_NOHUGEPAGE);
    stream->pinned_there = false;
}

/* ---- an inference ---------------------------------------------------------------------- */

static const char *unchanged(struct djlplan_stream *stream) {
    struct stat status;
    if (fstat(stream->file, &status) != 0) {
        say(stream, "weights cannot be read", errno);
        return stream->error;
    }
    if (status.st_size != stream->file_bytes || status.st_mtim.tv_sec != stream->modified.tv_sec ||
        status.st_mtim.tv_nsec != stream->modified.tv_nsec) {
        snprintf(stream->error, sizeof stream->error,
                 "the file of the weights was changed in place");
        return stream->error;
    }
    return NULL;
}

static const char *start_loader(struct djlplan_stream *stream) {
    if (stream->started || stream->load_count == 0) return NULL;
    int problem = pthread_create(&stream->loader, NULL, load_all, stream);
    if (problem != 0) {
        say(stream, "no thread to load weights", problem);
        return stream->error;
    }
    pthread_setname_np(stream->loader, "djlplan-loader"); /* at most 15 bytes */
    stream->started = true;
    return NULL;
}

const char *djlplan_stream_begin(struct djlplan_stream *stream) {
    pthread_mutex_lock(&stream->lock);
    stream->error[0] = '\0';
    const char *problem = unchanged(stream);
    if (problem == NULL) problem = start_loader(stream);
    if (problem == NULL) {
        stream->loaded = 0;
        stream->finished = 0;
        stream->running = true;
        memset(stream->counters, 0, sizeof stream->counters);
        pthread_cond_broadcast(&stream->changed);
    }
    pthread_mutex_unlock(&stream->lock);
    return problem;
}

bool djlplan_stream_await(struct djlplan_stream *stream, int step) {
    int needed = stream->needs[step];
    pthread_mutex_lock(&stream->lock);
    if (stream->loaded < needed && stream->error[0] == '\0') {
        int64_t start = djlplan_now_nanos();
        while (stream->loaded < needed && stream->error[0] == '\0') {
            pthread_cond_wait(&stream->changed, &stream->lock);
        }
        stream->counters[DJLPLAN_LOADS_STALLED_NANOS] += djlplan_now_nanos() - start;
    }
    bool there = stream->loaded >= needed;
    pthread_mutex_unlock(&stream->lock);
    return there;
}

void djlplan_stream_finished(struct djlplan_stream *stream, int step) {
    pthread_mutex_lock(&stream->lock);
    stream->finished = step + 1;
    if (due(stream) != NULL && !stream->loading) pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
}

const char *djlplan_stream_end(struct djlplan_stream *stream) {
    pthread_mutex_lock(&stream->lock);
    stream->running = false;
    while (stream->loading) pthread_cond_wait(&stream->changed, &stream->lock);
    const char *problem = stream->error[0] == '\0' ? NULL : stream->error;
    if (problem == NULL && stream->loaded == stream->load_count) stream->pinned_there = true;
    pthread_mutex_unlock(&stream->lock);
    return problem;
}

void djlplan_stream_counters(struct djlplan_stream *stream, int64_t *out) {
    pthread_mutex_lock(&stream->lock);
    memcpy(out, stream->counters, sizeof stream->counters);
    pthread_mutex_unlock(&stream->lock);
}
