package org.djlplan.memplan.internal.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MountsTest {

    @TempDir private Path folder;

    private boolean allowExecution(Path of, String... mounts) throws IOException {
        Path list = Files.writeString(folder.resolve("mountinfo"), String.join("\n", mounts));
        return Mounts.allowExecution(of, list);
    }

    @ParameterizedTest
    @CsvSource({"inside, false", "other, true", "insider, true", "inside/below, true"})
    void allowExecution_mountsInOneAnother_isThatOfTheInnermost(String name, boolean allowed)
            throws IOException {
        Path of = Files.createDirectories(folder.resolve(name));
        Path inside = folder.toRealPath().resolve("inside");
        assertEquals(
                allowed,
                allowExecution(
                        of,
                        "22 1 0:1 / / rw,relatime - ext4 /dev/sda rw",
                        "23 22 0:2 / " + inside + " rw,nosuid,noexec - tmpfs tmpfs rw",
                        "24 23 0:3 / " + inside.resolve("below") + " rw - tmpfs tmpfs rw,noexec"));
    }

    @Test
    void allowExecution_mountedTwice_isThatOfTheLater() throws IOException {
        String place = folder.toRealPath().toString();
        assertTrue(
                allowExecution(
                        folder,
                        "22 1 0:1 / " + place + " rw,noexec - tmpfs tmpfs rw",
                        "23 22 0:2 / " + place + " rw - tmpfs tmpfs rw"));
    }

    @Test
    void allowExecution_anotherMountPointIsNoText_isThatOfTheFolder() throws IOException {
        Path list = folder.resolve("mountinfo");
        String place = folder.toRealPath().toString();
        Files.writeString(
                list,
                "22 1 0:1 / /mnt/caf\u00e9 rw - ext4 /dev/sda rw\n"
                        + "23 1 0:2 / /mnt/\0 rw - ext4 /dev/sda rw\n"
                        + "24 1 0:3 / "
                        + place
                        + " rw,noexec - tmpfs tmpfs rw\n",
                StandardCharsets.ISO_8859_1);
        assertFalse(Mounts.allowExecution(folder, list));
    }

    @Test
    void allowExecution_nothingKnown_isAssumed() throws IOException {
        assertTrue(Mounts.allowExecution(folder, folder.resolve("absent")));
        assertTrue(allowExecution(folder, "", "x"));
    }
}
