package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WeightFileTest {

    private static final long ROOM_BYTES = 1 << 20;

    @TempDir private Path folder;

    @Test
    void beginLoad_twoFilesOnOneThread_isRefused() throws Exception {
        try (WeightFile one = WeightFile.create(folder, ROOM_BYTES);
                WeightFile other = WeightFile.create(folder, ROOM_BYTES)) {
            one.beginLoad();
            assertThrows(IOException.class, other::beginLoad);
        }
    }

    /** A load may fail so that nothing ends it. */
    @Test
    void close_whileLoading_endsTheLoad() throws Exception {
        WeightFile failed = WeightFile.create(folder, ROOM_BYTES);
        failed.beginLoad();
        failed.close();
        try (WeightFile next = WeightFile.create(folder, ROOM_BYTES)) {
            assertDoesNotThrow(next::beginLoad);
        }
    }
}
