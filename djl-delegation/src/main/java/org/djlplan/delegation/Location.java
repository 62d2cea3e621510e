package org.djlplan.delegation;

import static com.google.common.base.Preconditions.checkArgument;

import java.net.URI;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.memplan.config.Masked;

/** Where something was kept that a job reads and never writes. */
public sealed interface Location {

    /**
     * Returns what a text names: a path, or a {@code file:}, {@code http:} or {@code https:} URL;
     * empty if it is none.
     */
    static Optional<Location> parse(String text) {
        try {
            if (text.matches("(?i)https?:.*")) {
                return Optional.of(new Remote(URI.create(text)));
            }
            if (text.isEmpty()) {
                return Optional.empty();
            }
            return Optional.of(
                    new Local(
                            text.startsWith("file:") ? Path.of(URI.create(text)) : Path.of(text)));
        } catch (IllegalArgumentException | FileSystemNotFoundException e) {
            return Optional.empty();
        }
    }

    /** A folder or an archive of this machine. */
    record Local(Path path) implements Location {

        @Override
        public String toString() {
            return path.toString();
        }
    }

    /** An archive of a web server or an object store. */
    record Remote(URI uri) implements Location {

        public Remote {
            checkArgument(uri.getHost() != null, "a URL without a host");
        }

        /** Without a user or a query, which may be secrets. */
        @Override
        public String toString() {
            return Masked.text(uri.toString());
        }
    }
}
