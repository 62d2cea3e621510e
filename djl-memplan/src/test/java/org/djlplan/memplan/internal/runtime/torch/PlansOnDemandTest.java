package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Test;

class PlansOnDemandTest {

    /** Plans that count how often they are flushed. Tests call no other method. */
    private static final class Flushed implements AllocationPlans {

        private int times;

        @Override
        public OfInputs of(List<ArrayType> inputs, int threads) {
            throw new AssertionError();
        }

        @Override
        public OfShapes ofShapes(List<ArrayType> inputs, int threads) {
            throw new AssertionError();
        }

        @Override
        public void flush() {
            times++;
        }
    }

    private final AtomicInteger asked = new AtomicInteger();
    private final Flushed made = new Flushed();

    private AllocationPlans make() {
        asked.incrementAndGet();
        return made;
    }

    @Test
    void get_twice_asksOnce() {
        PlansOnDemand plans = new PlansOnDemand(this::make);
        assertEquals(0, asked.get());
        assertSame(made, plans.get());
        assertSame(made, plans.get());
        assertEquals(1, asked.get());
    }

    @Test
    void get_byTwoThreads_theSecondWaits() throws Exception {
        CountDownLatch making = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        PlansOnDemand plans =
                new PlansOnDemand(
                        () -> {
                            making.countDown();
                            await(go);
                            return make();
                        });
        FutureTask<AllocationPlans> first = new FutureTask<>(plans::get);
        new Thread(first).start();
        assertEquals(0, asked.get());
        await(making);
        FutureTask<AllocationPlans> second = new FutureTask<>(plans::get);
        Thread waiting = new Thread(second);
        waiting.start();
        Await.until(() -> waiting.getState() == Thread.State.BLOCKED);
        go.countDown();
        assertSame(made, first.get());
        assertSame(made, second.get());
        assertEquals(1, asked.get());
    }

    private static void await(CountDownLatch latch) {
        try {
            assertEquals(true, latch.await(30, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void get_failed_asksAgain() {
        PlansOnDemand plans =
                new PlansOnDemand(
                        () -> {
                            if (asked.get() == 0) {
                                asked.incrementAndGet();
                                throw new IllegalStateException("no file");
                            }
                            return make();
                        });
        assertThrows(IllegalStateException.class, plans::get);
        assertSame(made, plans.get());
    }

    @Test
    void close_asked_flushesAndKeepsThePlans() {
        PlansOnDemand plans = new PlansOnDemand(this::make);
        assertSame(made, plans.get());
        plans.close();
        assertEquals(1, made.times);
        assertSame(made, plans.get());
    }

    @Test
    void close_neverAsked_asksNothing() {
        PlansOnDemand plans = new PlansOnDemand(this::make);
        plans.close();
        assertThrows(IllegalStateException.class, plans::get);
        assertEquals(0, asked.get());
    }

    /** A supplier that references a model's block. */
    private record OfBlock(Object block) implements Supplier<AllocationPlans> {

        @Override
        public AllocationPlans get() {
            throw new AssertionError();
        }
    }

    private static PlansOnDemand closed(Consumer<Object> blocks) {
        Object block = new Object();
        blocks.accept(block);
        PlansOnDemand plans = new PlansOnDemand(new OfBlock(block));
        plans.close();
        return plans;
    }

    @Test
    void close_neverAsked_releasesTheBlock() throws Exception {
        List<WeakReference<Object>> blocks = new ArrayList<>();
        PlansOnDemand plans = closed(block -> blocks.add(new WeakReference<>(block)));
        try {
            Await.until(
                    () -> {
                        System.gc();
                        return blocks.get(0).refersTo(null);
                    });
        } finally {
            Reference.reachabilityFence(plans);
        }
    }
}
