package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.junit.jupiter.api.Test;

/** Tests that the command line may set every option that an application may set. */
class PlannedLoadingTest {

    @Test
    void check_applicationOnlyOption_isAccepted() {
        assertDoesNotThrow(
                () ->
                        PlannedLoading.check(
                                ImmutableMap.of(
                                        "memplan.workers", "1000",
                                        "delegation.delegate", "/opt/libgpu.so",
                                        "width", "224")));
        assertThrows(
                IllegalArgumentException.class,
                () -> PlannedLoading.check(ImmutableMap.of("memplan.treads", "1")));
    }

    @Test
    void arguments_plannedOnly_switchDelegationOff() {
        RunOptions options =
                DjlPlanTest.parse(
                        "--threads=2",
                        "-o",
                        "memplan.workers=3",
                        "-o",
                        "delegation.objective=memory",
                        "a.tflite");
        assertEquals(
                Map.of(
                        "memplan.threads", "2",
                        "memplan.workers", "3",
                        "delegation.enabled", "false"),
                PlannedLoading.arguments(options, RunMode.PLANNED));
        assertEquals(
                Map.of(
                        "memplan.threads", "2",
                        "memplan.workers", "3",
                        "delegation.objective", "memory",
                        "delegation.profile", "off"),
                PlannedLoading.arguments(options, RunMode.DELEGATED));
    }

    @Test
    void djlArguments_mixed_excludeOptionsOfDjlPlan() {
        assertEquals(
                Map.of("width", "224"),
                PlannedLoading.othersArguments(
                        ImmutableMap.of("memplan.threads", "1", "width", "224")));
    }
}
