package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ModelException;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.SharedBudget;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Test;

/** Tests {@link PlannedModels} in a budget: the process's, or one that the caller made. */
class AcquiredInBudgetTest extends SharedBudgetTests {

    private static Criteria<NDList, NDList> inProcess(Path file, long bytes) {
        return criteria(file, planned().with("memplan.sharedBudget", bytes));
    }

    /** Acquires a model in the budget of the process. */
    private static ZooModel<NDList, NDList> acquire(String key, Path file, long bytes)
            throws Exception {
        return PlannedModels.acquire(key, inProcess(file, bytes));
    }

    @Test
    void acquire_budgetOfTheProcess_isSharedByAllThatNameIt() throws Exception {
        long bytes = least * 3 / 2;
        System.setProperty("djlplan.memplan.sharedBudget", Long.toString(bytes));
        try (ZooModel<NDList, NDList> first = acquire("resnet", resnet, bytes);
                ZooModel<NDList, NDList> second = PlannedModels.acquire("vgg", criteria(vgg))) {
            long sum = budget(first) + budget(second);
            assertTrue(sum <= bytes && sum >= bytes - 2, sum + " of " + bytes);
            ofResnet.assertAnsweredBy(first);
            ofVgg.assertAnsweredBy(second);
            IllegalArgumentException e =
                    assertThrows(
                            IllegalArgumentException.class,
                            () -> acquire("other", vgg, bytes * 2).close());
            assertTrue(e.getMessage().startsWith("memplan.sharedBudget="), e.getMessage());
        } finally {
            System.clearProperty("djlplan.memplan.sharedBudget");
            closeUnused();
        }
        try (ZooModel<NDList, NDList> alone = acquire("alone", resnet, bytes * 2)) {
            assertEquals(bytes * 2, budget(alone));
        }
    }

    /** For example, jobs follow each other in one executor, and the first one's models are kept. */
    @Test
    void acquire_otherSizeWithFormerUnused_takesEffect() throws Exception {
        long bytes = leastOfResnet * 2;
        acquire("same", resnet, bytes).close();
        acquire("other", resnet, bytes).close();
        for (long next : new long[] {bytes * 3 / 4, bytes * 2}) {
            try (ZooModel<NDList, NDList> model = acquire("same", resnet, next)) {
                assertEquals(next, budget(model));
                ofResnet.assertAnsweredBy(model);
            }
        }
    }

    @Test
    void acquire_anotherSizeWhileOneIsUsed_isRejected() throws Exception {
        long bytes = leastOfResnet * 2;
        try (ZooModel<NDList, NDList> used = acquire("used", resnet, bytes)) {
            for (String key : List.of("used", "other")) {
                IllegalArgumentException e =
                        assertThrows(
                                IllegalArgumentException.class,
                                () -> acquire(key, resnet, bytes * 2).close());
                assertEquals(
                        "memplan.sharedBudget=%d: [%s] share %d bytes; another size counts when they are closed"
                                .formatted(bytes * 2, used.getName(), bytes),
                        e.getMessage());
            }
            assertEquals(bytes, budget(used));
            ofResnet.assertAnsweredBy(used);
        }
    }

    @Test
    void acquire_unusedModel_entersAndLeavesTheBudget() throws Exception {
        long bytes = leastOfResnet * 3 / 2;
        Criteria<NDList, NDList> outside =
                criteria(resnet, planned().with("memplan.budget", "none"));
        for (int i = 0; i < 2; i++) {
            try (ZooModel<NDList, NDList> model = PlannedModels.acquire("m", outside)) {
                assertTrue(PlanReport.of(model).orElseThrow().budget().isEmpty());
            }
            try (ZooModel<NDList, NDList> model = acquire("m", resnet, bytes)) {
                assertEquals(bytes, budget(model));
            }
        }
    }

    /** Unused models are kept for a minute unless other models need their memory. */
    @Test
    void acquire_roomHeldByUnusedModels_isFreed() throws Exception {
        long bytes = least * 9 / 10;
        SharedBudget shared = SharedBudget.of(bytes);
        PlannedModels.acquire("resnet", criteria(resnet), shared).close();
        try (ZooModel<NDList, NDList> model = PlannedModels.acquire("vgg", criteria(vgg), shared)) {
            assertEquals(bytes, budget(model));
            ofVgg.assertAnsweredBy(model);
            assertThrows(
                    ModelException.class,
                    () -> PlannedModels.acquire("resnet", criteria(resnet), shared).close());
            ofVgg.assertAnsweredBy(model);
        }
        try (ZooModel<NDList, NDList> model = acquire("resnet", resnet, bytes)) {
            assertEquals(bytes, budget(model));
        }
        try (ZooModel<NDList, NDList> model = acquire("vgg", vgg, bytes)) {
            assertEquals(bytes, budget(model));
        }
    }

    /** Such as a pipeline of two models. */
    @Test
    void acquire_factoryAcquiresAModelThatAnotherThreadLoads_getsIt() throws Exception {
        SharedBudget shared = SharedBudget.of(leastOfResnet * 3);
        Callable<Long> inner =
                () -> {
                    try (ZooModel<NDList, NDList> model =
                            PlannedModels.acquire("inner", criteria(resnet), shared)) {
                        return budget(model);
                    }
                };
        FutureTask<Long> other = new FutureTask<>(inner);
        Thread thread = new Thread(other, "other");
        Criteria<NDList, NDList> outer =
                criteria(
                        resnet,
                        () -> {
                            thread.start();
                            Await.until(() -> thread.getState() == Thread.State.BLOCKED);
                            assertTrue(inner.call() > 0);
                        });
        assertTimeoutPreemptively(
                Duration.ofMinutes(1), () -> PlannedModels.acquire("outer", outer, shared).close());
        assertTrue(other.get() > 0);
    }

    @Test
    void acquire_oneModelPerJvmInABudget_isLoadedOnce() throws Exception {
        SharedBudget shared = SharedBudget.of(leastOfResnet * 2);
        try (ZooModel<NDList, NDList> one = PlannedModels.acquire("m", criteria(resnet), shared);
                ZooModel<NDList, NDList> other =
                        PlannedModels.acquire("m", criteria(resnet), shared)) {
            assertNotSame(one, other);
            assertEquals(shared.bytes(), budget(one));
            assertEquals(shared.bytes(), budget(other));
        }
        closeUnused();
        try (ZooModel<NDList, NDList> next = shared.load(criteria(resnet))) {
            assertEquals(shared.bytes(), budget(next));
        }
    }
}
