package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessMemoryTest {

    @TempDir Path folder;

    @Test
    void residentAndPeakBytes_status_areReadInBytes() throws IOException {
        Files.writeString(
                folder.resolve("status"), "Name:\tjava\nVmHWM:\t   2048 kB\nVmRSS:\t   1024 kB\n");
        ProcessMemory memory = new ProcessMemory(folder);
        assertEquals(OptionalLong.of(1 << 20), memory.residentBytes());
        assertEquals(OptionalLong.of(2 << 20), memory.peakBytes());
    }

    private void write(String file, String text) throws IOException {
        Files.writeString(folder.resolve(file), text, StandardCharsets.ISO_8859_1);
    }

    /** Linux cuts names of threads after 15 bytes, and writes those of files as they are. */
    @Test
    void everything_nameIsNoText_isRead() throws IOException {
        write("status", "Name:\tcaf\u00e9\nVmRSS:\t   1024 kB\n");
        write("stat", "42 (caf\u00e9) S 4 5 6 7 8 9 1234 11\n");
        write(
                "smaps",
                "7f0000000000-7f0000002000 r--s 00000000 fe:00 1 /caf\u00e9\nRss:       8 kB\n");
        ProcessMemory memory = new ProcessMemory(folder);
        assertEquals(OptionalLong.of(1 << 20), memory.residentBytes());
        assertEquals(OptionalLong.of(1234), memory.minorFaults());
        assertEquals(8 << 10, memory.mappings().orElseThrow().fileBytes());
    }

    @Test
    void mappings_smaps_areSummedByKind() throws IOException {
        Files.writeString(
                folder.resolve("smaps"),
                """
                7f0000000000-7f0000002000 r-xp 00000000 fe:00 1234   /lib/libc.so.6
                Rss:                   8 kB
                Pss:                   4 kB
                7f0000008000-7f000000a000 r--s 00000000 fe:00 1235   /model/weights.bin
                Rss:                   3 kB
                7f0000010000-7f0000012000 rwxp 00000000 00:00 0
                Rss:                   4 kB
                7f0000020000-7f0000022000 rw-p 00000000 00:00 0      [heap]
                Rss:                 100 kB
                """);
        assertEquals(
                Optional.of(new ProcessMemory.Mappings(11 << 10, 8 << 10, 4 << 10)),
                new ProcessMemory(folder).mappings());
    }

    @Test
    void mappings_otherUnitOrNoFile_isEmpty() throws IOException {
        assertEquals(Optional.empty(), new ProcessMemory(folder).mappings());
        Files.writeString(folder.resolve("smaps"), "Rss:   8 MB\n");
        assertEquals(Optional.empty(), new ProcessMemory(folder).mappings());
    }

    @Test
    void residentBytes_otherUnitOrNoNumber_isEmpty() throws IOException {
        Files.writeString(folder.resolve("status"), "VmRSS:\t 1 MB\nVmHWM:\t x kB\n");
        ProcessMemory memory = new ProcessMemory(folder);
        assertTrue(memory.residentBytes().isEmpty());
        assertTrue(memory.peakBytes().isEmpty());
    }

    @Test
    void minorFaults_nameWithSpacesAndParentheses_isFieldTen() throws IOException {
        Files.writeString(
                folder.resolve("stat"), "42 (a) (b c) S 4 5 6 7 8 9 1234 11 12 13 14 15\n");
        assertEquals(OptionalLong.of(1234), new ProcessMemory(folder).minorFaults());
    }

    @Test
    void minorFaults_cutOff_isEmpty() throws IOException {
        Files.writeString(folder.resolve("stat"), "42 (java) S 4 5");
        assertTrue(new ProcessMemory(folder).minorFaults().isEmpty());
    }

    @Test
    void everything_noProc_isEmpty() {
        ProcessMemory memory = new ProcessMemory(folder.resolve("absent"));
        assertTrue(memory.residentBytes().isEmpty());
        assertTrue(memory.peakBytes().isEmpty());
        assertTrue(memory.minorFaults().isEmpty());
        assertFalse(memory.resetPeak());
    }

    @Test
    void resetPeak_writableFile_writesTheResetCode() throws IOException {
        Path file = Files.createFile(folder.resolve("clear_refs"));
        assertTrue(new ProcessMemory(folder).resetPeak());
        assertEquals("5", Files.readString(file));
    }
}
