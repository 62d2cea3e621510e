/* Disk blocks, or pages of a memory file system, that are allocated before they are written. */
#ifndef DJLPLAN_FILES_H
#define DJLPLAN_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>

/*
 * Returns 0 or errno. In a memory file system a pending signal makes the allocation fail and, if it
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

#endif
