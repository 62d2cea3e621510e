package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class NativeLoaderTest {

    /** The errors are those of JDK 25, at the first use of JNA and at later ones. */
    @Test
    void reason_nativeAccessIsDenied_namesTheFlag() {
        ExceptionInInitializerError first =
                new ExceptionInInitializerError(
                        new IllegalStateException("Illegal native access from an unnamed module"));
        NoClassDefFoundError later =
                new NoClassDefFoundError("Could not initialize class com.sun.jna.Native");
        later.initCause(
                new ExceptionInInitializerError(
                        "Exception java.lang.IllegalCallerException: Illegal native access from an"
                                + " unnamed module"));
        for (Throwable problem : new Throwable[] {first, later}) {
            String reason = NativeLoader.reason(problem);
            assertTrue(reason.endsWith("add --enable-native-access=ALL-UNNAMED"), reason);
        }
    }

    @Test
    void reason_noMessage_isTheException() {
        assertEquals(
                "java.lang.UnsatisfiedLinkError",
                NativeLoader.reason(new UnsatisfiedLinkError(null)));
    }
}
