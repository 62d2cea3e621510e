package org.djlplan.delegation.internal.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.djlplan.memplan.spi.Precision;
import org.djlplan.memplan.spi.Tolerance;
import org.junit.jupiter.api.Test;

class RecipeRaceTest {

    private static final long MB = 1_000_000;
    private static final Goal LATENCY = new Goal(Objective.LATENCY, OptionalLong.empty());

    /** A simulated model whose times have a noise of two percent, or of another fraction. */
    private static final class FakeModel implements CandidateRunner {

        /** A candidate's milliseconds at each shape, its memory, and the error of its output. */
        private record Recipe(long bytes, double error, double... millis) {}

        private final Map<String, Recipe> recipes = new LinkedHashMap<>();
        private final Random random = new Random(7);
        private double nowNanos;
        private double noise = .02;

        FakeModel noisy(double spread) {
            noise = spread;
            return this;
        }

        FakeModel with(String recipe, long megabytes, double... millis) {
            recipes.put(recipe, new Recipe(megabytes * MB, 0, millis));
            return this;
        }

        FakeModel near(String recipe, long megabytes, double error, double millis) {
            recipes.put(recipe, new Recipe(megabytes * MB, error, millis));
            return this;
        }

        FakeModel wrong(String recipe, double error) {
            recipes.put(recipe, new Recipe(MB, error, 1));
            return this;
        }

        ProfileTable profile(Goal goal) throws InterruptedException {
            return profile(goal, Tolerance.AUTO);
        }

        ProfileTable profile(Goal goal, Tolerance tolerance) throws InterruptedException {
            List<String> names = recipes.keySet().stream().filter(n -> !n.isEmpty()).toList();
            Request request =
                    new Request(
                            new Graph("model", List.of(), List.of(), List.of(), List.of()),
                            goal,
                            List.of(-1),
                            Optional.of(Duration.ofHours(1)),
                            tolerance,
                            false,
                            Set.of(),
                            names);
            return Profiler.profile(
                    request, this, Optional.empty(), early -> {}, () -> (long) nowNanos);
        }

        ProfileTable permittingInt8() throws InterruptedException {
            return profile(LATENCY, Tolerance.AUTO.with(new Precision("int8", .98)));
        }

        String chosen(Goal goal) throws InterruptedException {
            return profile(goal).chosen().recipe();
        }

        @Override
        public Trial prepare(Candidate candidate) throws CandidateException {
            Recipe recipe = recipes.get(candidate.recipe());
            if (Double.isInfinite(recipe.error())) {
                throw new CandidateException(CandidateException.Kind.REFUSED, "not freezable");
            }
            List<OutputError> errors =
                    List.of(
                            new OutputError(
                                    ElementType.FLOAT32,
                                    new Deviation(recipe.error(), recipe.error(), 0),
                                    Deviation.NONE,
                                    1));
            return new Trial(0, errors, recipe.bytes(), 1);
        }

        @Override
        public long[] time(Candidate candidate, int inferences) {
            long[] nanos = new long[inferences];
            for (int i = 0; i < inferences; i++) {
                long[] each = timeEachShape(candidate);
                for (long time : each) {
                    nanos[i] += time / each.length;
                }
            }
            return nanos;
        }

        @Override
        public long[] timeEachShape(Candidate candidate) {
            double[] millis = recipes.get(candidate.recipe()).millis();
            long[] nanos = new long[millis.length];
            for (int i = 0; i < nanos.length; i++) {
                nanos[i] = Math.round(millis[i] * 1e6 * Math.exp(noise * random.nextGaussian()));
                nowNanos += nanos[i];
            }
            return nanos;
        }

        @Override
        public void release(Candidate candidate) {}

        @Override
        public void close() {}
    }

    private static FakeModel resnet() {
        return new FakeModel()
                .with("", 100, 100)
                .with("frozen", 101, 90)
                .with("optimized", 109, 73)
                .with("fused", 314, 67);
    }

    @Test
    void profile_twoNearlyAsFast_choosesTheOneWithLessMemory() throws InterruptedException {
        ProfileTable table = resnet().profile(LATENCY);

        assertEquals(Candidate.ofRecipe("optimized", -1), table.chosen());
        assertEquals(4, table.entries().size());
        assertTrue(
                table.reason()
                        .matches(
                                "optimized: 7[2-4].* ms in 109.0 MB, 1.3\\d times as fast as stock"
                                        + " \\(100.0 MB\\); faster, not taken: fused 6[6-8].* ms in"
                                        + " 314.0 MB"),
                table.reason());
    }

    @Test
    void profile_muchFaster_choosesItInSpiteOfItsMemory() throws InterruptedException {
        assertEquals("fused", resnet().with("fused", 314, 60).chosen(LATENCY));
    }

    @Test
    void profile_nearlyAsFastWithinTheNoiseOnly_choosesTheFastest() throws InterruptedException {
        assertEquals("fused", resnet().noisy(.2).chosen(LATENCY));
    }

    @Test
    void profile_memoryLimit_choosesTheFastestWithinIt() throws InterruptedException {
        Goal limited = new Goal(Objective.LATENCY, OptionalLong.of(105 * MB));
        assertEquals("frozen", resnet().chosen(limited));
    }

    @Test
    void profile_nothingWithinTheMemoryLimit_choosesStock() throws InterruptedException {
        ProfileTable table =
                resnet().profile(new Goal(Objective.LATENCY, OptionalLong.of(50 * MB)));
        assertTrue(table.chosen().isStock());
        assertEquals("stock: no candidate is within the memory limit", table.reason());
    }

    @Test
    void profile_leastMemory_choosesTheFastestOfTheLightest() throws InterruptedException {
        assertEquals("frozen", resnet().chosen(new Goal(Objective.MEMORY, OptionalLong.empty())));
    }

    @Test
    void profile_noRecipeIsFaster_choosesStock() throws InterruptedException {
        FakeModel model = new FakeModel().with("", 100, 50).with("frozen", 100, 50);
        assertTrue(model.profile(LATENCY).chosen().isStock());
    }

    @Test
    void profile_fasterOnAverageButSlowerAtOneShape_isNotTaken() throws InterruptedException {
        FakeModel model =
                new FakeModel()
                        .with("", 100, 10, 100)
                        .with("frozen", 100, 10, 90)
                        .with("fused", 100, 11, 60);
        assertEquals("frozen", model.chosen(LATENCY));
    }

    @Test
    void profile_hardlyFasterOfTheSameMemory_choosesStock() throws InterruptedException {
        FakeModel model = new FakeModel().with("", 100, 50).with("frozen", 100, 48.5);
        assertTrue(model.profile(LATENCY).chosen().isStock());
    }

    @Test
    void profile_gainWithinTheNoise_choosesStock() throws InterruptedException {
        FakeModel model = new FakeModel().noisy(.4).with("", 100, 50).with("frozen", 100, 46);
        assertTrue(model.profile(LATENCY).chosen().isStock());
    }

    @Test
    void profile_hardlyFasterIsLighterThanClearlyFaster_choosesTheClearlyFaster()
            throws InterruptedException {
        FakeModel model =
                new FakeModel()
                        .with("", 100, 50)
                        .with("frozen", 100, 48.5)
                        .with("optimized", 110, 44);
        assertEquals("optimized", model.chosen(LATENCY));
    }

    @Test
    void profile_lightButSlowerThanStock_isNotTaken() throws InterruptedException {
        FakeModel model = new FakeModel().with("", 100, 50).with("small", 50, 53);
        assertTrue(model.profile(LATENCY).chosen().isStock());
    }

    @Test
    void profile_lowerPrecision_isTakenIfItIsClearlyFaster() throws InterruptedException {
        ProfileTable table = resnet().near("int8", 30, .1, 40).permittingInt8();
        assertEquals("int8", table.chosen().recipe());
        assertTrue(table.reason().endsWith("; int8: cosine at least 0.99499"), table.reason());
    }

    @Test
    void profile_lowerPrecisionHardlyFaster_isNotTaken() throws InterruptedException {
        ProfileTable table = resnet().noisy(.01).near("int8", 30, .1, 71).permittingInt8();
        assertEquals("optimized", table.chosen().recipe());
        assertTrue(
                table.reason().contains("; int8: cosine at least 0.99499, not 5 % faster"),
                table.reason());
    }

    @Test
    void profile_lowerPrecisionTooInaccurate_isRefusedWithTheReason() throws InterruptedException {
        ProfileTable table = resnet().near("int8", 30, .3, 40).permittingInt8();
        assertEquals("optimized", table.chosen().recipe());
        assertTrue(
                table.reason()
                        .endsWith(
                                "; int8 is refused: the relative error of an output is 0.300, above"
                                        + " 0.200 (int8:0.98)"),
                table.reason());
    }

    @Test
    void profile_lowerPrecisionSlowerAtOneShape_isNotTaken() throws InterruptedException {
        FakeModel model =
                new FakeModel()
                        .with("", 100, 10, 100)
                        .with("frozen", 100, 10, 95)
                        .with("int8", 30, 11, 40);
        assertEquals("frozen", model.permittingInt8().chosen().recipe());
    }

    @Test
    void profile_wrongOrRefused_isAnEntryOfTheTable() throws InterruptedException {
        ProfileTable table =
                new FakeModel()
                        .with("", 100, 50)
                        .wrong("broken", .5)
                        .wrong("refused", Double.POSITIVE_INFINITY)
                        .with("frozen", 100, 40)
                        .profile(LATENCY);

        assertEquals("frozen", table.chosen().recipe());
        assertEquals(Entry.Wrong.class, table.entries().get(1).getClass());
        assertEquals(Entry.Failed.class, table.entries().get(2).getClass());
        assertTrue(table.reason().contains("; 2 candidates cannot be used"), table.reason());
    }
}
