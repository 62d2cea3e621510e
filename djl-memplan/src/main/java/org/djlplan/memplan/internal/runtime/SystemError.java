package org.djlplan.memplan.internal.runtime;

import com.sun.jna.NativeLibrary;

/** Errors of the operating system's functions. */
public final class SystemError {

    private SystemError() {}

    /**
     * Returns what an error number means, such as "Read-only file system (errno 30)".
     *
     * @param errno as a function of the C library set it
     */
    public static String text(int errno) {
        String text =
                NativeLibrary.getProcess()
                        .getFunction("strerror")
                        .invokeString(new Object[] {errno}, false);
        return text + " (errno " + errno + ")";
    }
}
