package org.djlplan.delegation.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.delegation.internal.DelegationOptions.OnMissing;
import org.djlplan.delegation.internal.DelegationOptions.ProfileMode;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.spi.Precision;
import org.djlplan.memplan.spi.Tolerance;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DelegationOptionsTest {

    @Test
    void parse_nothing_isTheDefaults() {
        DelegationOptions options = DelegationOptions.parse(Map.of());
        assertEquals(
                new DelegationOptions(
                        true,
                        new Goal(Objective.LATENCY, OptionalLong.empty()),
                        ProfileMode.BACKGROUND,
                        Optional.empty(),
                        OnMissing.MEASURE,
                        Optional.empty(),
                        Tolerance.AUTO,
                        Precision.FLOAT32,
                        Exclusion.NONE),
                options);
    }

    @Test
    void parse_everything_isRead() {
        DelegationOptions options =
                DelegationOptions.parse(
                        Map.ofEntries(
                                Map.entry("delegation.enabled", "False"),
                                Map.entry("delegation.delegate", "class:org.example.Gpu"),
                                Map.entry("delegation.objective", "Balanced"),
                                Map.entry("delegation.maxMemory", "64MB"),
                                Map.entry("delegation.profile", "Blocking : 2m"),
                                Map.entry("delegation.profileFrom", " /choices/job 1.zip"),
                                Map.entry("delegation.onMissing", "Fail"),
                                Map.entry("delegation.tolerance", "1e-3"),
                                Map.entry("delegation.precision", "int8:0.98"),
                                Map.entry("delegation.exclude", " 17-23, CONV_2D,conv/Relu6,")));
        assertEquals(
                new DelegationOptions(
                        false,
                        new Goal(Objective.BALANCED, OptionalLong.of(64_000_000)),
                        ProfileMode.BLOCKING,
                        Optional.of(Path.of("/choices/job 1.zip")),
                        OnMissing.FAIL,
                        Optional.of(Duration.ofMinutes(2)),
                        Tolerance.of(1e-3),
                        new Precision("int8", .98),
                        new Exclusion(List.of("17-23", "CONV_2D", "conv/Relu6"))),
                options);
    }

    @Test
    void parse_everyShape_isEnabled() {
        assertTrue(DelegationOptions.parse(Map.of("delegation.enabled", "Every-Shape")).enabled());
    }

    @ParameterizedTest
    @CsvSource({
        "64MB, 64000000",
        "64MiB, 67108864",
        "1GB, 1000000000",
        "1.5 GiB, 1610612736",
        "64kb, 64000",
        "1KiB, 1024",
        "1234567, 1234567",
        "6.4E7, 64000000",
        "8000000000GB, 8000000000000000000",
    })
    void parse_size_isBytes(String text, long bytes) {
        assertEquals(
                OptionalLong.of(bytes),
                DelegationOptions.parse(Map.of("delegation.maxMemory", text))
                        .goal()
                        .maxMemoryBytes());
    }

    @ParameterizedTest
    @CsvSource({"10s, 10000", "500ms, 500", "2m, 120000", "1.5 s, 1500", "24h, 86400000"})
    void parse_duration_isMillis(String text, long millis) {
        assertEquals(
                Duration.ofMillis(millis),
                DelegationOptions.parse(Map.of("delegation.profile", "background:" + text))
                        .profileBudget()
                        .orElseThrow());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "enabled | maybe | true, false or every-shape",
                "objective | speed | latency, memory or balanced",
                "profileFrom | '' | the path of a folder or an archive, not a URL",
                "profileFrom | file:choices.zip | not a URL; put the result of `djlplan tune` into"
                        + " the",
                "profileFrom | file:///choices/job.zip | into the model's folder or archive",
                "profileFrom | https://host/job.zip | into the model's folder or archive",
                "profileFrom | HTTP://a b/c.zip | into the model's folder or archive",
                "profileFrom | s3://bucket/job.zip | into the model's folder or archive",
                "onMissing | wait | fail, cpu or measure",
                "maxMemory | 64XB | such as 64MB, 64MiB or 1GB",
                "maxMemory | -1MB | such as 64MB",
                "maxMemory | 0 | such as 64MB",
                "maxMemory | 0.1 | such as 64MB",
                "maxMemory | MB | such as 64MB",
                "maxMemory | 9999999999GB | such as 64MB",
                "maxMemory | 1e99 | such as 64MB",
                "maxMemory | '' | such as 64MB",
                "profile | on | background, blocking or off",
                "profile | off:10s | background, blocking or off",
                "profile | blocking: | such as blocking:10s",
                "profile | blocking:10 | such as blocking:10s",
                "profile | background:10 MB | such as blocking:10s",
                "profile | background:25h | at most 24h",
                "profile | blocking:0s | such as blocking:10s",
                "tolerance | -1e-4 | a number from 0 to 1",
                "tolerance | NaN | a number from 0 to 1",
                "tolerance | 1% | a number from 0 to 1",
                "precision | int4 | float32, float16, bfloat16 or int8",
                "precision | '' | float32, float16, bfloat16 or int8",
                "precision | int8:2 | cosine from 0.5 to 1, such as int8:0.98",
                "precision | int8:0.4 | cosine from 0.5 to 1",
                "precision | int8:NaN | cosine from 0.5 to 1",
                "precision | int8: | cosine from 0.5 to 1",
                "precision | float32:0.9 | the last three also with the least cosine",
            })
    void parse_wrongValue_namesKeyValueAndValidForms(String key, String value, String allowed) {
        Map<String, String> options = Map.of("delegation." + key, value);
        String message =
                assertThrows(
                                IllegalArgumentException.class,
                                () -> new MeasuredDelegation().check(options))
                        .getMessage();
        assertTrue(message.startsWith("delegation." + key + "=" + value + ": must be "), message);
        assertTrue(message.contains(allowed), message);
    }

    @Test
    void parse_unknownKey_namesTheNearest() {
        Map<String, String> options = Map.of("delegation.objektive", "latency");
        String message =
                assertThrows(IllegalArgumentException.class, () -> DelegationOptions.parse(options))
                        .getMessage();
        assertTrue(message.contains("nearest known one is delegation.objective"), message);
    }

    @Test
    void threadCandidates_noneGiven_arePowersOfTwoAndTheCores() {
        assertEquals(List.of(1), DelegationOptions.threadCandidates(-1, 1));
        assertEquals(List.of(1, 2), DelegationOptions.threadCandidates(-1, 2));
        assertEquals(List.of(1, 2, 4, 6), DelegationOptions.threadCandidates(-1, 6));
        assertEquals(List.of(1, 2, 4, 8), DelegationOptions.threadCandidates(-1, 8));
    }

    @Test
    void threadCandidates_given_isOnlyThatNumber() {
        assertEquals(List.of(3), DelegationOptions.threadCandidates(3, 8));
    }
}
