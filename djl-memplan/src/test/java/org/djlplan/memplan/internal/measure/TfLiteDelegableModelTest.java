package org.djlplan.memplan.internal.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TfLiteDelegableModelTest {

    @TempDir private Path folder;

    @Test
    void identity_name_isTheName() {
        assertEquals("xnnpack", TfLiteDelegableModel.identity("xnnpack"));
        assertEquals("class:a.B", TfLiteDelegableModel.identity("class:a.B"));
    }

    @Test
    void identity_file_differsWhenItDoes() throws IOException {
        Path library = Files.writeString(folder.resolve("libdelegate.so"), "first");
        FileTime time = Files.getLastModifiedTime(library);
        String before = TfLiteDelegableModel.identity(library.toString());

        assertEquals(before, TfLiteDelegableModel.identity(library.toString()));
        Files.setLastModifiedTime(library, FileTime.fromMillis(time.toMillis() - 5000));
        assertNotEquals(before, TfLiteDelegableModel.identity(library.toString()));
        Files.writeString(library, "second");
        Files.setLastModifiedTime(library, time);
        assertNotEquals(before, TfLiteDelegableModel.identity(library.toString()));
    }

    @Test
    void identity_absentFile_isTheName() {
        String absent = folder.resolve("absent.so").toString();
        assertEquals(absent, TfLiteDelegableModel.identity(absent));
    }
}
