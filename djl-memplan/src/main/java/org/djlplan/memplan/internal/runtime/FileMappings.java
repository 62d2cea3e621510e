package org.djlplan.memplan.internal.runtime;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.djlplan.memplan.internal.machine.SystemFile;

/** The sizes of the files that this process maps, at one moment. */
public final class FileMappings {

    private static final Path MAPPINGS = Path.of("/proc/self/maps");
    private static final Pattern MAPPING =
            Pattern.compile("([0-9a-f]+)-([0-9a-f]+) \\S+ \\S+ \\S+ \\d+ +(/.*)");

    private final Map<Path, Long> bytes = new HashMap<>();

    private FileMappings() {}

    /** Returns the present mappings; none if the system does not report them. */
    public static FileMappings now() {
        FileMappings now = new FileMappings();
        try {
            for (String line : SystemFile.lines(MAPPINGS)) {
                Matcher mapping = MAPPING.matcher(line);
                if (mapping.matches()) {
                    long size = address(mapping.group(2)) - address(mapping.group(1));
                    now.bytes.merge(Path.of(mapping.group(3)), size, Long::sum);
                }
            }
        } catch (IOException | IllegalArgumentException e) {
            now.bytes.clear();
        }
        return now;
    }

    private static long address(String text) {
        return Long.parseUnsignedLong(text, 16);
    }

    /** Returns how many more bytes of a folder's files are mapped than in earlier mappings. */
    public long addedBytes(FileMappings earlier, Path folder) {
        Path real;
        try {
            real = folder.toRealPath();
        } catch (IOException e) {
            return 0;
        }
        return bytes.entrySet().stream()
                .filter(each -> each.getKey().startsWith(real))
                .mapToLong(each -> each.getValue() - earlier.bytes.getOrDefault(each.getKey(), 0L))
                .filter(added -> added > 0)
                .sum();
    }
}
