package org.djlplan.memplan.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DelegateIdentityTest {

    @TempDir private Path folder;

    @Test
    void of_name_isTheName() {
        assertEquals("xnnpack", DelegateIdentity.of("xnnpack"));
        assertEquals("class:a.B", DelegateIdentity.of("class:a.B"));
    }

    @Test
    void of_file_differsWhenItDoes() throws IOException {
        Path library = Files.writeString(folder.resolve("libdelegate.so"), "first");
        FileTime time = Files.getLastModifiedTime(library);
        String before = DelegateIdentity.of(library.toString());

        assertEquals(before, DelegateIdentity.of(library.toString()));
        Files.setLastModifiedTime(library, FileTime.fromMillis(time.toMillis() - 5000));
        assertNotEquals(before, DelegateIdentity.of(library.toString()));
        Files.writeString(library, "second");
        Files.setLastModifiedTime(library, time);
        assertNotEquals(before, DelegateIdentity.of(library.toString()));
    }

    @Test
    void of_absentFile_isTheName() {
        String absent = folder.resolve("absent.so").toString();
        assertEquals(absent, DelegateIdentity.of(absent));
    }
}
