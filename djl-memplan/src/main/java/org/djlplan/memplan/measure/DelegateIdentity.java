package org.djlplan.memplan.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What tells a delegate from another of the same name. */
final class DelegateIdentity {

    private DelegateIdentity() {}

    /**
     * Returns the name of a delegate and, if it is a library in a file of its own, that file's size
     * and time of change.
     *
     * @param delegate as in {@code delegation.delegate}
     */
    static String of(String delegate) {
        if (!delegate.contains("/")) {
            return delegate;
        }
        try {
            Path library = Path.of(delegate).toAbsolutePath();
            return "%s, %d bytes of %s"
                    .formatted(library, Files.size(library), Files.getLastModifiedTime(library));
        } catch (IOException e) {
            return delegate;
        }
    }
}
