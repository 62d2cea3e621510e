/* How check_torch.c commands fake_c10.c. */
#ifndef FAKE_C10_H
#define FAKE_C10_H

/* The differences from the real library. */
enum fake_fault {
    FAKE_SOUND,
    FAKE_NO_ALLOCATOR,
    FAKE_TABLE_OUTSIDE,  /* the virtual table lies in another library */
    FAKE_TABLE_LONGER,   /* it has an entry more */
    FAKE_TABLE_NAMELESS, /* it has no symbol */
    FAKE_TABLE_MOVED,    /* two entries changed places (only of the later layout) */
    FAKE_ENTRY_OUTSIDE,  /* its last function is another library's */
    FAKE_NO_BLOCK,
    FAKE_CONTEXT, /* a context that is not the block */
    FAKE_DEVICE,
    FAKE_INDEX,
    FAKE_DELETER_OUTSIDE, /* blocks are freed by another library */
    FAKE_DELETER_OTHER,   /* … by another function than raw_deleter says */
    FAKE_MISALIGNED,
    FAKE_EMPTY_BLOCK, /* an empty allocation returns a block */
    FAKE_SETTER_REFUSES,
    FAKE_FAULTS
};

/* `outside` is memory for a copy of the virtual table. */
void fake_c10_break(enum fake_fault fault, void **outside);
/* Returns the number of blocks in use. */
int fake_c10_live(void);
/* Sets whether the last freed block is reused for the next allocation of its size. */
void fake_c10_reuse(int reuse);

#endif
