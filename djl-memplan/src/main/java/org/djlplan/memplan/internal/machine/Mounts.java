package org.djlplan.memplan.internal.machine;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.thirdparty.guava.base.Splitter;

/** The mounted file systems of this process, as Linux lists them. */
public final class Mounts {

    private static final Splitter FIELDS = Splitter.on(' ');

    /** Positions in a line: 35 31 0:32 ROOT MOUNT_POINT OPTIONS [TAGS] - TYPE SOURCE … */
    private static final int MOUNT_POINT = 4;

    private static final int OPTIONS = 5;

    private Mounts() {}

    /**
     * Returns whether libraries in a folder can be loaded: its file system is not mounted {@code
     * noexec}, as far as is known.
     */
    public static boolean allowExecution(Path folder) {
        return allowExecution(folder, Path.of("/proc/self/mountinfo"));
    }

    static boolean allowExecution(Path folder, Path mounts) {
        try {
            Path real = folder.toRealPath();
            String options = "";
            int depth = -1;
            for (String line : SystemFile.lines(mounts)) {
                List<String> fields = FIELDS.splitToList(line);
                if (fields.size() > OPTIONS) {
                    Path point = path(fields.get(MOUNT_POINT).replace("\\040", " "));
                    // A later mount at the same place hides an earlier one.
                    if (real.startsWith(point) && point.getNameCount() >= depth) {
                        depth = point.getNameCount();
                        options = fields.get(OPTIONS);
                    }
                }
            }
            return !List.of(options.split(",", -1)).contains("noexec");
        } catch (IOException | RuntimeException e) {
            return true;
        }
    }

    /** Returns a path that is in no folder if the locale cannot express the name. */
    private static Path path(String name) {
        try {
            return Path.of(name);
        } catch (InvalidPathException e) {
            return Path.of("");
        }
    }
}
