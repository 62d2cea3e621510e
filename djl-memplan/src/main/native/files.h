/* Allocates and writes parts of files. */
#ifndef DJLPLAN_FILES_H
#define DJLPLAN_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

/*
 * Allocates disk blocks, or pages of a memory file system, before they are written. Returns 0 or
 * errno. In a memory file system a pending signal makes the allocation fail and, if it
 * is repeated, start over. So signals wait until it is done, except for those that no thread can
 * block.
 */
static inline int djlplan_files_allocate(int file, int64_t offset, int64_t bytes) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int problem;
    do {
        problem = posix_fallocate(file, offset, bytes);
    } while (problem == EINTR);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return problem;
}

/* Writes all bytes. Returns false, with errno, if that fails. */
static inline bool djlplan_files_write(int file, const char *bytes, int64_t count, int64_t offset) {
    for (int64_t done = 0; done < count;) {
        ssize_t written = pwrite(file, bytes + done, (size_t)(count - done), offset + done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        done += written;
    }
    return true;
}

#endif
