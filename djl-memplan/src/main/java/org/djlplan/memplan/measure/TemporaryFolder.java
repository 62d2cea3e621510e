package org.djlplan.memplan.measure;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The folder of a measuring process's files. */
final class TemporaryFolder {

    private static final Logger logger = LoggerFactory.getLogger(TemporaryFolder.class);

    private TemporaryFolder() {}

    static Path create() throws IOException {
        return Files.createTempDirectory("djlplan-measuring");
    }

    /** Deletes it with all that is in it; does nothing if it is gone. */
    static void delete(Path folder) {
        try {
            if (Files.exists(folder)) {
                MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
            }
        } catch (IOException e) {
            logger.debug("{} is left behind", folder, e);
        }
    }
}
