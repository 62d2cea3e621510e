/* A libtensorflowlite_jni.so of an unsupported version, with this function only. */
__attribute__((visibility("default"))) const char *TfLiteVersion(void) { return "1.0.0"; }
