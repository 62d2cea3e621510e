/* A libtensorflowlite_jni.so of another version, which has next to nothing. */
__attribute__((visibility("default"))) const char *TfLiteVersion(void) { return "1.0.0"; }
