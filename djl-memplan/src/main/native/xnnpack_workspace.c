/*
 * Lets the XNNPACK workspaces of several delegates use the same pages in turns.
 *
 *   delegate A   workspace at its address ──┐
 *                                           ├─► the pages of an in-memory file
 *   delegate B   workspace at its address ──┘
 *
 * A workspace holds the data that a delegate's operators pass to each other within one inference,
 * and nothing from one inference to the next. XNNPACK stores addresses inside it, so it cannot move,
 * but its pages can be exchanged.
 *
 * XNNPACK takes all its memory through an allocator that is set once, before its first use. The one
 * set here uses the C library, except for large allocations during the allocation of a model's
 * tensors: each of these gets a region, which is a mapping with its own pages. The workspace is the
 * region whose address and size are in XNNPACK's descriptor of the workspace; this allocator saw the
 * descriptor's allocation when the delegate was made.
 */
#define _GNU_SOURCE
#include "xnnpack_workspace.h"

#include "files.h"
#include "pages.h"
#include "tflite_session.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The layout in XNNPACK of the releases with `shares_workspaces`. */
struct xnn_allocator {
    void *context;
    void *(*allocate)(void *, size_t);
    void *(*reallocate)(void *, void *, size_t);
    void (*deallocate)(void *, void *);
    void *(*aligned_allocate)(void *, size_t alignment, size_t);
    void (*aligned_deallocate)(void *, void *);
};
struct xnn_workspace {
    void *data;
    size_t size;
    void *first_user;
    size_t ref_count;
};

/* Smaller allocations would not save memory on shared pages. */
enum { SMALLEST_REGION = 64 << 10 };

struct region {
    char *address;
    size_t size;  /* that XNNPACK asked for */
    size_t bytes; /* of whole pages */
    bool shared;  /* lies on pages that others may lie on as well */
    struct region *next;
};

static pthread_mutex_t regions_lock = PTHREAD_MUTEX_INITIALIZER;
static struct region *regions; /* guarded by regions_lock */

static _Thread_local bool noting;
static _Thread_local struct workspace noted;
static _Thread_local bool allocating_tensors;

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* ---- the allocator --------------------------------------------------------------------- */

static void *allocate(void *context, size_t bytes) {
    (void)context;
    void *memory = malloc(bytes);
    if (noting && bytes == sizeof(struct xnn_workspace)) {
        noted.descriptor = memory;
        noted.descriptors++;
    }
    return memory;
}

static void *reallocate(void *context, void *memory, size_t bytes) {
    (void)context;
    return realloc(memory, bytes);
}

static void deallocate(void *context, void *memory) {
    (void)context;
    free(memory);
}

static void *map_own(void *address, size_t bytes) {
    int fixed = address == NULL ? 0 : MAP_FIXED;
    void *mapped =
        mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

/* Returns the address of a new region, NULL without memory. */
static void *make_region(size_t size) {
    struct region *region = malloc(sizeof *region);
    if (region == NULL) return NULL;
    size_t bytes = (size + page_bytes() - 1) / page_bytes() * page_bytes();
    char *address = map_own(NULL, bytes);
    if (address == NULL) {
        free(region);
        return NULL;
    }
    pthread_mutex_lock(&regions_lock);
    *region = (struct region){address, size, bytes, false, regions};
    regions = region;
    pthread_mutex_unlock(&regions_lock);
    djlplan_pages_map(address, bytes); /* XNNPACK writes all of it at once. */
    return address;
}

static bool free_region(const void *address) {
    struct region *found = NULL;
    pthread_mutex_lock(&regions_lock);
    for (struct region **r = &regions; *r != NULL; r = &(*r)->next) {
        if ((*r)->address == address) {
            found = *r;
            *r = found->next;
            break;
        }
    }
    pthread_mutex_unlock(&regions_lock);
    if (found == NULL) return false;
    munmap(found->address, found->bytes);
    free(found);
    return true;
}

static void *allocate_aligned(void *context, size_t alignment, size_t size) {
    (void)context;
    void *memory = NULL;
    if (allocating_tensors && size >= SMALLEST_REGION && alignment <= page_bytes()) {
        memory = make_region(size);
    }
    return memory != NULL || posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
}

static void deallocate_aligned(void *context, void *memory) {
    (void)context;
    bool may_be_region = memory != NULL && (uintptr_t)memory % page_bytes() == 0;
    if (!may_be_region || !free_region(memory)) free(memory);
}

static const struct xnn_allocator allocator = {
    NULL, allocate, reallocate, deallocate, allocate_aligned, deallocate_aligned,
};

/* Returns whether XNNPACK uses this allocator; creating a workspace shows it. */
static bool asks_us(void) {
    int (*create)(struct xnn_workspace **);
    int (*release)(struct xnn_workspace *);
    if (!djlplan_tflite_function("xnn_create_workspace", &create) ||
        !djlplan_tflite_function("xnn_release_workspace", &release)) {
        return false;
    }
    struct xnn_workspace *made = NULL;
    djlplan_workspace_begin();
    int status = create(&made);
    struct workspace seen = djlplan_workspace_end();
    if (status != 0) return false;
    bool ours = seen.descriptors == 1 && seen.descriptor == made;
    release(made);
    return ours;
}

int djlplan_workspaces_attach(void) {
    int (*initialize)(const struct xnn_allocator *);
    if (!djlplan_tflite_release->shares_workspaces) return DJLPLAN_MISMATCH;
    if (!djlplan_tflite_function("xnn_initialize", &initialize)) return DJLPLAN_MISMATCH;
    return initialize(&allocator) == 0 && asks_us() ? DJLPLAN_OK : DJLPLAN_ENGINE_ERROR;
}

void djlplan_workspace_begin(void) {
    noted = (struct workspace){NULL, 0};
    noting = true;
}

struct workspace djlplan_workspace_end(void) {
    noting = false;
    return noted;
}

void djlplan_workspace_allocating(bool allocating) { allocating_tensors = allocating; }

/* ---- workspaces ------------------------------------------------------------------------ */

/* Returns the region of the workspace. Only other delegates' regions change meanwhile. */
static struct region *region_of(const struct djlplan_delegate *delegate) {
    const struct workspace *workspace = &delegate->workspace;
    if (workspace->descriptors != 1) return NULL;
    pthread_mutex_lock(&regions_lock);
    struct region *region = regions;
    while (region != NULL && (region->address != workspace->descriptor->data ||
                              region->size != workspace->descriptor->size)) {
        region = region->next;
    }
    pthread_mutex_unlock(&regions_lock);
    return region;
}

int64_t djlplan_workspace_bytes(const struct djlplan_delegate *delegate) {
    const struct region *region = region_of(delegate);
    return region == NULL ? 0 : (int64_t)region->bytes;
}

int djlplan_workspace_moved(const struct djlplan_delegate *delegate) {
    const struct region *region = region_of(delegate);
    return region != NULL && region->shared;
}

int djlplan_workspace_move(const struct djlplan_delegate *delegate, int pages) {
    struct region *region = region_of(delegate);
    if (region == NULL) return DJLPLAN_MISMATCH;
    void *mapped = mmap(region->address, region->bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED, pages, 0);
    if (mapped != MAP_FAILED) {
        /* Not MAP_POPULATE, after which each page has a fault at its first write. */
        djlplan_pages_map(mapped, region->bytes);
        /* A forked process would write into the inferences of this one. */
        madvise(mapped, region->bytes, MADV_DONTFORK);
        region->shared = true;
        return DJLPLAN_OK;
    }
    region->shared = false;
    if (map_own(region->address, region->bytes) != NULL) return DJLPLAN_MISMATCH;
    region->bytes = 0; /* Another mapping may be at this address by now. */
    return DJLPLAN_ENGINE_ERROR;
}

/* ---- pages ----------------------------------------------------------------------------- */

int djlplan_pages_create(void) { return (int)syscall(SYS_memfd_create, "djl-plan", MFD_CLOEXEC); }

int djlplan_pages_resize(int pages, int64_t old_bytes, int64_t bytes) {
    /*
     * Allocates pages at once, because the process would die if a page were missing when it is
     * touched.
     */
    int problem = bytes > old_bytes ? djlplan_files_allocate(pages, old_bytes, bytes - old_bytes)
                                    : ftruncate(pages, bytes);
    return problem == 0 ? DJLPLAN_OK : DJLPLAN_ENGINE_ERROR;
}

void djlplan_pages_close(int pages) { close(pages); }
