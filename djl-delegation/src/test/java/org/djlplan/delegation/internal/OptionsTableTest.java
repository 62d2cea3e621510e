package org.djlplan.delegation.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.spi.Option;
import org.djlplan.memplan.spi.Origin;
import org.junit.jupiter.api.Test;

/** Compares the table of options in the documentation with the options. */
class OptionsTableTest {

    private static final int MOST = 26;

    private static final Path TABLE = Path.of("..", "docs", "options.md");

    /** The generated table, for copying into outdated documentation. */
    private static final Path MADE = Path.of("target", "options.md");

    private static final String HEAD =
            """
            # Options

            <!-- Generated from OptionKey and DelegationKey. OptionsTableTest compares this file, and writes
            the expected content to djl-delegation/target/options.md. -->

            Options can be set in three places. If several of them set an option, the first one wins:

            1. the application's code: `PlannedTranslatorFactory.builder().optThreads(4).build()`, or `wrap(…).with("memplan.threads", 4)`. The method of
               `memplan.maxPredictions` is `optMaxPredictions`, that of `delegation.maxMemory` is `optDelegationMaxMemory`;
            2. a system property: `djlplan.` and the key, such as `-Ddjlplan.memplan.threads=4`, for all models of the JVM;
            3. DJL's *arguments*: `optArgument(key, value)`, a model zoo's metadata, the query of a model's URL, plain keys in a model folder's
               `serving.properties`. DJL merges them, so the origin of a value in them is unknown. Keys with dots may also be nested maps, as
               Spring Boot binds `djl.arguments.memplan.threads`.

            A model's folder is treated as data. Options that load code, name files, fill a disk, lower the precision, or can exceed the machine's resources are accepted only from the
            application. In arguments such a value is rejected with an error that says how to set it; if the application sets the same key, the value is ignored.
            A model loaded through `blockFactory` has no code in the application, so only the second and third place apply. Options on a command line
            (`djlplan run -o KEY=VALUE`, `--delegate`) count as set by the application.

            A folder may name factories (`translatorFactory`, `memplan.translatorFactory`, `blockFactory`, `memplan.blockFactory`) on the application's class path;
            djl-plan never searches a model's folder for them. DJL itself, with or without djl-plan, does. On loading it runs the static initializers of the classes
            in `classes` and in jars of a model's folder (for a `blockFactory`, even if none is named). For types `Input` and `Output` it does the same
            in `libs`, and compiles Java files there. Until DJL changes that, inspect folders from elsewhere before you load them.

            | key | default | who may set it | meaning |
            | --- | --- | --- | --- |
            """;

    private static Stream<Option> options() {
        return Stream.concat(
                Arrays.stream(OptionKey.values()), Arrays.stream(DelegationKey.values()));
    }

    private static String row(Option option) {
        return "| `%s` | %s | %s | %s |\n"
                .formatted(option.key(), option.defaultValue(), option.origin(), option.meaning());
    }

    @Test
    void table_inTheDocumentation_isUpToDate() throws Exception {
        StringBuilder text = new StringBuilder(HEAD);
        options().map(OptionsTableTest::row).forEach(text::append);
        Files.createDirectories(MADE.getParent());
        Files.writeString(MADE, text);
        assertEquals(
                text.toString(),
                Files.exists(TABLE) ? Files.readString(TABLE) : "",
                TABLE + " is out of date: copy djl-delegation/" + MADE);
    }

    @Test
    void options_all_haveUniqueKeysAndDescriptions() {
        List<Option> all = options().toList();
        assertTrue(all.size() <= MOST, all.size() + " options; a user reads at most " + MOST);
        assertEquals(all.size(), all.stream().map(Option::key).distinct().count());
        for (Option option : all) {
            assertTrue(
                    option.key().startsWith(OptionKey.PREFIX)
                            || option.key().startsWith(PlanOptions.DELEGATION_PREFIX),
                    option.key());
            assertTrue(
                    !option.meaning().contains("|") && !option.defaultValue().isEmpty(),
                    option.key());
        }
    }

    @Test
    void keysOfTheApplication_loadLibrariesNameFilesConcernOtherModelsOrLowerThePrecision() {
        assertEquals(
                List.of(
                        OptionKey.SHARED_BUDGET,
                        DelegationKey.DELEGATE,
                        DelegationKey.PROFILE_FROM,
                        DelegationKey.PRECISION),
                options().filter(o -> o.origin() == Origin.APPLICATION).toList());
    }
}
