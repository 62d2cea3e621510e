package org.djlplan.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.memplan.config.Option;
import org.djlplan.memplan.config.OptionKey;
import org.djlplan.memplan.config.Origin;
import org.djlplan.memplan.config.PlanOptions;
import org.junit.jupiter.api.Test;

/** The table of options in the documentation is what the options themselves say. */
class OptionsTableTest {

    private static final int MOST = 20;

    private static final Path TABLE = Path.of("..", "docs", "options.md");

    /** Where what it should be is written. */
    private static final Path MADE = Path.of("target", "options.md");

    private static final String HEAD =
            """
            # Options

            <!-- Generated from OptionKey and DelegationKey: OptionsTableTest compares it, and writes
            what it should be to djl-delegation/target/options.md. -->

            Three places set an option. The first of them that does counts:

            1. the application's code: `new PlannedTranslatorFactory().with("memplan.threads", 4)`, or `wrap(…).with(…)`;
            2. a system property: `djlplan.` and the key, such as `-Ddjlplan.memplan.threads=4`, for all models of the JVM;
            3. DJL's *arguments*: `optArgument(key, value)`, a model zoo's metadata, the query of a model's URL, plain keys in a model folder's
               `serving.properties`. DJL merges them, so that nobody can tell any more which of them a value is from. Keys with dots may be maps in maps, as
               Spring Boot binds `djl.arguments.memplan.threads`.

            A model's folder is data. What loads code, names files, fills a disk, or takes more than the machine has is the application's to decide, and such a value is an
            error in arguments, which says how to set it; it is without effect where the application sets the same key. On the route through `blockFactory` there
            is no code, and so the second place is the first. Who types a command (`djlplan run -o KEY=VALUE`, `--delegate`) is the application.

            A folder may name factories (`translatorFactory`, `memplan.translatorFactory`, `blockFactory`, `memplan.blockFactory`) on the application's class path.
            Ours are never looked for in a model's folder. DJL itself, with or without us, does look there: on loading it runs the static initializers of the classes
            in `classes` and in jars of a model's folder (for a `blockFactory`, whether or not one is named), and for types `Input` and `Output` those in `libs`, too,
            which it even compiles. Until DJL changes that, load folders from elsewhere only after a look at what is in them.

            | key | default | who may set it | meaning |
            | --- | --- | --- | --- |
            """;

    private static Stream<Option> options() {
        return Stream.concat(
                Arrays.stream(OptionKey.values()), Arrays.stream(DelegationKey.values()));
    }

    private static String row(Option option) {
        return "| `%s` | %s | %s | %s |\n"
                .formatted(option.key(), option.otherwise(), option.origin(), option.meaning());
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
    void options_all_haveAKeyOfTheirOwnAndSayWhatTheyAre() {
        List<Option> all = options().toList();
        assertTrue(all.size() <= MOST, all.size() + " options; a user reads at most " + MOST);
        assertEquals(all.size(), all.stream().map(Option::key).distinct().count());
        for (Option option : all) {
            assertTrue(
                    option.key().startsWith(OptionKey.PREFIX)
                            || option.key().startsWith(PlanOptions.DELEGATION_PREFIX),
                    option.key());
            assertTrue(
                    !option.meaning().contains("|") && !option.otherwise().isEmpty(), option.key());
        }
    }

    @Test
    void keysThatLoadLibrariesFillADiskOrConcernOtherModels_onlyThese_areTheApplications() {
        assertEquals(
                List.of(
                        OptionKey.SHARED_BUDGET,
                        DelegationKey.DELEGATE,
                        DelegationKey.PROFILE_FROM),
                options().filter(o -> o.origin() == Origin.APPLICATION).toList());
    }
}
