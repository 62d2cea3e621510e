// Preloaded in place of the C library's function: libtorch takes 20 ms to name the frames of the
// stack that each of its errors carries.

__attribute__((visibility("default"))) int backtrace(void **frames, int most) {
    (void) frames;
    (void) most;
    return 0;
}
