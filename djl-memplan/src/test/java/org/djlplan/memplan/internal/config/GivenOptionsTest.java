package org.djlplan.memplan.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.spi.Option;
import org.djlplan.memplan.spi.Origin;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class GivenOptionsTest {

    private static final List<Option> DELEGATION =
            List.of(
                    new SampleOption("delegation.delegate", "xnnpack", Origin.APPLICATION),
                    new SampleOption("delegation.maxMemory", "none", Origin.UP_TO_THE_MEMORY),
                    new SampleOption("delegation.profile", "background", Origin.UP_TO_A_MINUTE));

    private static Map<String, Object> of(
            Map<String, ?> code, Map<String, ?> properties, Map<String, ?> arguments) {
        return GivenOptions.of(code, properties, arguments, DELEGATION).values();
    }

    private static String problem(
            Map<String, ?> code, Map<String, ?> properties, Map<String, ?> arguments) {
        return assertThrows(IllegalArgumentException.class, () -> of(code, properties, arguments))
                .getMessage();
    }

    @Test
    void of_threeSources_codeCountsMostAndArgumentsLeast() {
        assertEquals(
                Map.of("memplan.threads", 1, "memplan.budget", "1MB", "memplan.liveness", "op"),
                of(
                        Map.of("memplan.threads", 1),
                        Map.of("djlplan.memplan.threads", "2", "djlplan.memplan.budget", "1MB"),
                        Map.of(
                                "memplan.threads", "-1",
                                "memplan.budget", "none",
                                "memplan.liveness", "op")));
    }

    @Test
    void of_othersArgumentsAndProperties_doNotMatter() {
        assertEquals(
                Map.of(),
                of(
                        Map.of(),
                        Map.of("memplan.threads", "1", "djlplan.home", "/", "djlplan", ""),
                        Map.of("width", 224, "memplanner.x", 1, "memplan", "on")));
    }

    @Test
    void of_argumentsAsMapsInMaps_areTheSameAsKeysWithDots() {
        Map<String, Object> nested = new HashMap<>();
        nested.put("threads", -1);
        nested.put("warmup", null);
        nested.put("liveness", "off");
        assertEquals(
                Map.of(
                        "memplan.threads", -1,
                        "memplan.warmup", "null",
                        "memplan.liveness", "op",
                        "delegation.maxMemory", "1MB"),
                of(
                        Map.of(),
                        Map.of(),
                        Map.of(
                                "memplan",
                                nested,
                                "memplan.liveness",
                                "op",
                                "delegation",
                                Map.of("maxMemory", "1MB"),
                                "image",
                                Map.of("width", 224))));
        assertEquals(
                "unknown option memplan.warmup.length; the nearest known one is memplan.warmup",
                problem(
                        Map.of(),
                        Map.of(),
                        Map.of("memplan", Map.of("warmup", Map.of("length", 1)))));
        assertTrue(
                problem(Map.of(), Map.of(), Map.of("delegation", Map.of("delegate", "/evil.so")))
                        .contains("delegation.delegate"));
    }

    @Test
    void of_unknownProperty_namesTheNearest() {
        assertEquals(
                "unknown option djlplan.memplan.thread; the nearest known one is"
                        + " djlplan.memplan.threads",
                problem(Map.of(), Map.of("djlplan.memplan.thread", "1"), Map.of()));
    }

    @ParameterizedTest
    @CsvSource({
        "delegation.delegate, /models/evil.so",
        "delegation.delegate, class:org.example.Evil",
        "delegation.maxMemory, 9000000GB",
        "delegation.profile, blocking:61s",
        "memplan.threads, 2147483647",
        "memplan.threads, 1e300",
        "memplan.workers, 100000",
        "memplan.budget, 9000000GB",
        "memplan.budget, 9000000GB:best-effort",
        "memplan.sharedBudget, 1MB",
        "memplan.warmup, '1000000,1000000,1000000'",
        "memplan.warmup, '1;9999999999,9999999999,9999999999,9999999999'",
    })
    void of_argumentThatIsTheApplications_isAnErrorThatSaysHowToSetIt(String key, String value) {
        String message = problem(Map.of(), Map.of(), Map.of(key, value));
        assertTrue(message.startsWith(key + "=" + value + ": not in DJL's arguments"), message);
        assertTrue(message.contains("-Ddjlplan." + key + "=" + value + " "), message);
        assertTrue(message.endsWith(".with(\"" + key + "\", \"" + value + "\")"), message);

        Map<String, ?> given = Map.of(key, value);
        assertEquals(given, of(given, Map.of(), Map.of()));
        assertEquals(given, of(given, Map.of(), given), "the application's value takes its place");
        assertEquals(given, of(Map.of(), Map.of("djlplan." + key, value), given));
    }

    @Test
    void of_threadsUpToTheCores_areAnyones() {
        int cores = Machine.cores();
        Map<String, ?> most = Map.of("memplan.threads", cores, "memplan.workers", cores + ".0");
        assertEquals(most, of(Map.of(), Map.of(), most));
        assertTrue(
                problem(Map.of(), Map.of(), Map.of("memplan.threads", cores + 1))
                        .contains("anyone up to the machine's cores"));
    }

    @ParameterizedTest
    @CsvSource({
        "delegation.delegate, xnnpack",
        "delegation.delegate, ' xnnpack '",
        "delegation.maxMemory, 64MB",
        "delegation.profile, off",
        "delegation.profile, background:60s",
        "memplan.threads, -1",
        "memplan.budget, 1",
        "memplan.budget, 25%",
        "memplan.budget, auto",
        "memplan.budget, 64MB:best-effort:direct",
        "memplan.warmup, true",
        "memplan.warmup, '1,3,224,224'",
        "memplan.translatorFactory, org.example.Factory",
    })
    void of_argumentThatIsHarmless_isAnyones(String key, String value) {
        assertEquals(Map.of(key, value), of(Map.of(), Map.of(), Map.of(key, value)));
    }

    /** The error appears when the option is read. */
    @ParameterizedTest
    @CsvSource({
        "memplan.threads, many",
        "memplan.threads, NaN",
        "memplan.budget, much:1GB",
        "delegation.maxMemory, much",
        "delegation.profile, blocking:10",
    })
    void of_argumentThatCannotBeRead_isLeftToTheReader(String key, String value) {
        assertEquals(Map.of(key, value), of(Map.of(), Map.of(), Map.of(key, value)));
    }

    @ParameterizedTest
    @EnumSource
    void of_defaultOfEveryOption_isAnyones(OptionKey key) {
        Map<String, ?> arguments = Map.of(key.key(), key.defaultValue());
        assertEquals(arguments, of(Map.of(), Map.of(), arguments));
    }

    @Test
    void of_argumentWithoutAValue_isNamedLater() {
        Map<String, Object> arguments = new HashMap<>();
        arguments.put("memplan.warmup", null);
        assertEquals(Map.of("memplan.warmup", "null"), of(Map.of(), Map.of(), arguments));
    }
}
