/* Read-only file mappings, what the C library keeps, and what this library is. */
#define _GNU_SOURCE
#include "djlplan.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int djlplan_abi(void) { return DJLPLAN_ABI; }

static int64_t modified_nanos(const struct stat *status) {
    return (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
}

int djlplan_map(const char *path, struct djlplan_mapping *mapping) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    struct stat status;
    int problem = fstat(file, &status) != 0 ? errno : 0;
    if (problem == 0 && !S_ISREG(status.st_mode)) {
        problem = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    }
    if (problem == 0 && status.st_size == 0) problem = ENODATA;
    if (problem == 0) {
        void *address = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0);
        if (address == MAP_FAILED) {
            problem = errno;
        } else {
            mapping->address = address;
            mapping->bytes = status.st_size;
            mapping->modified_nanos = modified_nanos(&status);
            mapping->file = file;
            return 0;
        }
    }
    close(file);
    return problem;
}

int djlplan_mapping_intact(const struct djlplan_mapping *mapping) {
    struct stat status;
    return fstat(mapping->file, &status) == 0 && status.st_size == mapping->bytes &&
           modified_nanos(&status) == mapping->modified_nanos;
}

void djlplan_mapping_release(const struct djlplan_mapping *mapping) {
    madvise(mapping->address, (size_t)mapping->bytes, MADV_DONTNEED);
}

void djlplan_unmap(struct djlplan_mapping *mapping) {
    munmap(mapping->address, (size_t)mapping->bytes);
    close(mapping->file);
    mapping->address = NULL;
}

void djlplan_trim(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
