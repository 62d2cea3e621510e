package org.djlplan.delegation.internal;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.djlplan.delegation.internal.Measurement.Profiling;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.delegation.internal.store.ProfileStore;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.spi.DelegationProvider.Choosing;
import org.djlplan.memplan.spi.Tolerance;

/**
 * Loads models as jobs do, with {@code delegation.profileFrom} and tables that other jobs stored.
 */
abstract class PinnedFixture extends ProviderFixture {

    private static final Goal GOAL = new Goal(Objective.LATENCY, OptionalLong.empty());

    static final Profiling NEVER = (request, runner, progress, verified) -> fail();

    StoreKey key(List<Integer> threads) throws IOException {
        return ProfileStore.key(
                model, new Request(model.graph(), GOAL, threads, Optional.empty(), Tolerance.AUTO));
    }

    /** Returns the folder of a copy of the model with a table beside it. */
    Path keptElsewhere(ProfileTable table, StoreKey key) throws IOException {
        FakeModel other = new FakeModel(folder.resolve("tuned"));
        ProfileStore.of(other).save(key, table);
        return other.file().getParent();
    }

    Choosing choose(Profiling profiling, Map<String, String> options) {
        return provider(profiling).choose(model, options, Optional.empty(), better::add);
    }

    Choosing from(Path place, String... more) {
        Map<String, String> options = new HashMap<>();
        options.put("delegation.profileFrom", place.toString());
        for (int i = 0; i < more.length; i += 2) {
            options.put(more[i], more[i + 1]);
        }
        return choose(NEVER, options);
    }

    static Path archived(String form, Path tuned) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(tuned)) {
            files = all.filter(Files::isRegularFile).toList();
        }
        Path archive = tuned.resolveSibling("archive-without-ending");
        try (OutputStream out = Files.newOutputStream(archive)) {
            if (form.equals("tar.gz")) {
                try (TarArchiveOutputStream tar =
                        new TarArchiveOutputStream(new GZIPOutputStream(out))) {
                    for (Path file : files) {
                        String name = "net/" + tuned.relativize(file);
                        tar.putArchiveEntry(new TarArchiveEntry(file, name));
                        Files.copy(file, tar);
                        tar.closeArchiveEntry();
                    }
                }
            } else {
                try (ZipOutputStream zip = new ZipOutputStream(out)) {
                    for (Path file : files) {
                        String inside = form.equals("zip with a folder") ? "net/" : "";
                        zip.putNextEntry(new ZipEntry(inside + tuned.relativize(file)));
                        Files.copy(file, zip);
                    }
                }
            }
        }
        return archive;
    }
}
