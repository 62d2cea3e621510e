package org.djlplan.integration.current;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Prints the table that {@link VersionMatrixTest} compares with. */
@Tag("djl-current")
@Tag("bench")
class VersionMatrixBench {

    @TempDir Path folder;

    @Test
    void print() throws Exception {
        new VersionMatrix(folder).table().forEach(System.out::println);
    }
}
