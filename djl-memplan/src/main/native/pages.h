/* Pages of memory that is about to be written. */
#ifndef DJLPLAN_PAGES_H
#define DJLPLAN_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* from Linux 5.14 on */
#endif

/* Of x86-64, and of 64-bit ARM with pages of 4 KiB. */
#define DJLPLAN_HUGE_PAGE ((uintptr_t)2 << 20)

/*
 * Makes the system map a range at once, with huge pages where possible, because page faults and, in
 * virtual machines, the first access to each page take long. It requests only huge pages within the
 * range, so that it takes no more memory; the exception is at most one huge page, if a part of the
 * range was returned and is used again. Before Linux 5.14, pages are mapped when they are written.
 */
static inline void djlplan_pages_map(void *address, size_t bytes) {
    uintptr_t before = (uintptr_t)address % DJLPLAN_HUGE_PAGE;
    uintptr_t skipped = before == 0 ? 0 : DJLPLAN_HUGE_PAGE - before;
    if (bytes >= skipped + DJLPLAN_HUGE_PAGE) {
        size_t whole = (bytes - skipped) / DJLPLAN_HUGE_PAGE * DJLPLAN_HUGE_PAGE;
        (void)madvise((char *)address + skipped, whole, MADV_HUGEPAGE);
    }
    (void)madvise(address, bytes, MADV_POPULATE_WRITE);
}

#endif
