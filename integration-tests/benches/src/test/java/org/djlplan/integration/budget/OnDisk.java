package org.djlplan.integration.budget;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/**
 * Creates temporary folders beside the models, because the system's temporary folder is in memory
 * on some machines.
 */
final class OnDisk implements TempDirFactory {

    @Override
    public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context)
            throws Exception {
        Path parent = Files.createDirectories(Path.of("target", "budget-runs").toAbsolutePath());
        return Files.createTempDirectory(parent, "run");
    }
}
