package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.util.Progress;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider;
import org.djlplan.memplan.spi.Option;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DelegationProvidersTest {

    @TempDir private Path folder;

    /** A provider that {@code ServiceLoader} can create, and that nobody is to ask. */
    public static final class Fitting implements DelegationProvider {
        @Override
        public List<Option> options() {
            return List.of();
        }

        @Override
        public void check(Map<String, String> options) {}

        @Override
        public Choosing choose(
                DelegableModel model,
                Map<String, String> options,
                Optional<Progress> progress,
                Consumer<DelegationChoice> better) {
            throw new AssertionError("not to be asked");
        }
    }

    private List<DelegationProvider> found(String services) throws IOException {
        Path file = folder.resolve("META-INF/services/" + DelegationProvider.class.getName());
        Files.createDirectories(file.getParent());
        Files.writeString(file, services);
        URL[] urls = {folder.toUri().toURL()};
        try (URLClassLoader loader = new URLClassLoader(urls, getClass().getClassLoader())) {
            return DelegationProviders.of(loader);
        }
    }

    @Test
    void of_oneAmongThoseThatDoNotFit_itAlone() throws IOException {
        List<DelegationProvider> found =
                found(
                        "java.lang.Object\nnot.There\n"
                                + Fitting.class.getName()
                                + "\nneither.One\n");

        assertEquals(List.of(Fitting.class), found.stream().map(Object::getClass).toList());
    }

    @Test
    void of_noNamesAtAll_empty() throws IOException {
        assertEquals(List.of(), found(""));
        assertEquals(List.of(), found("! \u0000 <jar>\n".repeat(1_000)));
    }
}
