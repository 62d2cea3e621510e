package org.djlplan.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;
import org.djlplan.delegation.SimulatedFleet.Kind;
import org.djlplan.delegation.SimulatedFleet.Outage;
import org.djlplan.delegation.SimulatedFleet.Outcome;
import org.djlplan.delegation.SimulatedFleet.Troubles;

/** One measures, all use it: whatever becomes of machines and store. */
class SimulatedFleetTest {

    private static Path folder;

    @BeforeContainer
    static void makeFolder() throws Exception {
        folder = Files.createTempDirectory("fleet");
    }

    @AfterContainer
    static void removeFolder() throws Exception {
        MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
    }

    private static void assertAgreed(Outcome outcome, int machines) {
        int living = 0;
        for (Kind kind : outcome.kinds()) {
            assertEquals(1, kind.choices.size());
            assertEquals(1, kind.measuringAtOnce, "never more than one measures");
            assertEquals(kind.machines - kind.died, kind.chosenAfter.size());
            living += kind.machines;
        }
        assertEquals(machines, living);
    }

    @Property(tries = 10)
    void run_nothingGoesWrong_oneMeasurementForEachKind(
            @ForAll @IntRange(min = 3, max = 60) int machines, @ForAll long seed) {
        Outcome outcome = SimulatedFleet.run(machines, Troubles.NONE, seed, folder);
        assertAgreed(outcome, machines);
        for (Kind kind : outcome.kinds()) {
            assertEquals(1, kind.begun);
            assertEquals(1, kind.completed);
        }
        assertTrue(outcome.allChosen().compareTo(Duration.ofSeconds(80)) < 0, outcome::toString);
    }

    /** Each death costs one measurement more, and the time until its lease has lapsed. */
    @Property(tries = 15)
    void run_machinesDieWhileTheyMeasure_oneMeasurementMoreForEach(
            @ForAll @IntRange(min = 20, max = 60) int machines,
            @ForAll @IntRange(min = 1, max = 5) int deaths,
            @ForAll boolean tornWrites,
            @ForAll long seed) {
        Troubles troubles = new Troubles(deaths, tornWrites, Outage.NONE, Outage.NONE);
        Outcome outcome = SimulatedFleet.run(machines, troubles, seed, folder);
        assertAgreed(outcome, machines);
        int died = 0;
        for (Kind kind : outcome.kinds()) {
            assertEquals(1 + kind.died, kind.begun);
            assertEquals(1, kind.completed);
            died += kind.died;
        }
        assertEquals(deaths, died);
    }

    /** Nobody measures because the store fails, and none has two choices after it. */
    @Property(tries = 25)
    void run_storeFailsForAWhile_sameChoiceForAll(
            @ForAll @IntRange(min = 3, max = 40) int machines,
            @ForAll @IntRange(min = 0, max = 60) int slowFrom,
            @ForAll @IntRange(min = 0, max = 120) int slowSeconds,
            @ForAll @IntRange(min = 0, max = 60) int deadFrom,
            @ForAll @IntRange(min = 0, max = 600) int deadSeconds,
            @ForAll @IntRange(min = 0, max = 1) int deaths,
            @ForAll long seed) {
        Troubles troubles =
                new Troubles(
                        machines < 20 ? 0 : deaths,
                        false,
                        outage(slowFrom, slowSeconds),
                        outage(deadFrom, deadSeconds));
        Outcome outcome = SimulatedFleet.run(machines, troubles, seed, folder);
        assertAgreed(outcome, machines);
        for (Kind kind : outcome.kinds()) {
            assertEquals(1 + kind.died + kind.lost, kind.begun);
            assertEquals(1, kind.completed);
        }
    }

    /** The store wrote what its machine gave up, which then took the lease once more. */
    @Example
    void run_leaseOfAGhostAndThenOfItsMachine_oneMeasures() {
        run_storeFailsForAWhile_sameChoiceForAll(4, 26, 35, 0, 17, 0, 0);
    }

    private static Outage outage(int fromSeconds, int seconds) {
        return new Outage(
                Duration.ofSeconds(fromSeconds), Duration.ofSeconds(fromSeconds + seconds));
    }
}
