/* Read-only file mappings, and functions about the C library and this library. */
#define _GNU_SOURCE
#include "djlplan.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <string.h>
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

int djlplan_punch(const char *path, int64_t offset, int64_t bytes) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return errno;
    int problem =
        fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes) == 0 ? 0 : errno;
    close(file);
    return problem;
}

void djlplan_drop_cached(const char *path, int64_t offset, int64_t bytes) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    posix_fadvise(file, offset, bytes, POSIX_FADV_DONTNEED);
    close(file);
}

void djlplan_trim(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/* glibc's mallinfo2, with 64-bit fields, exists since 2.33; before, mallinfo has 32-bit fields. */
struct heap_info {
    size_t heap, free_blocks, fast_blocks, mappings, mapped, unused, fast, used, free, top;
};
struct small_heap_info {
    unsigned heap, free_blocks, fast_blocks, mappings, mapped, unused, fast, used, free, top;
};

int djlplan_heap(int64_t *taken, int64_t *used) {
    struct heap_info (*info)(void);
    struct small_heap_info (*small_info)(void);
    *(void **)&info = dlsym(RTLD_DEFAULT, "mallinfo2");
    *(void **)&small_info = dlsym(RTLD_DEFAULT, "mallinfo");
    if (info != NULL) {
        struct heap_info now = info();
        *taken = (int64_t)(now.heap + now.mapped);
        *used = (int64_t)(now.used + now.mapped);
    } else if (small_info != NULL) {
        struct small_heap_info now = small_info();
        *taken = (int64_t)now.heap + (int64_t)now.mapped;
        *used = (int64_t)now.used + (int64_t)now.mapped;
    }
    return info != NULL || small_info != NULL;
}
