package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AnalysisTest {

    private static final Duration LONG = Duration.ofMinutes(1);
    private static final int PAUSE = 49;
    private static final long WORK_NANOS = 5_000_000;

    private static final long LONGEST_PAUSE_NANOS = 5_000_000_000L;

    /** Processor time after which the thread pauses for almost five seconds. */
    private static final long LONG_WORK_NANOS = 100_000_000;

    private record Span(long begin, long end) {}

    @Test
    void offer_work_pausesManyTimesAsLongAsTheWorkBeforeTook() throws Exception {
        Analysis.await(LONG);
        BlockingQueue<Span> spans = new LinkedBlockingQueue<>();
        for (int i = 0; i < 2; i++) {
            assertTrue(Analysis.offer(() -> spans.add(work(WORK_NANOS))));
        }
        Span first = spans.poll(1, TimeUnit.MINUTES);
        Span second = spans.poll(1, TimeUnit.MINUTES);
        assertTrue(
                second.begin() - first.end()
                        >= Math.min(PAUSE * (first.end() - first.begin()), LONGEST_PAUSE_NANOS),
                first + " " + second);
    }

    @Test
    void await_work_endsThePausesAndIsDoneInOrder() {
        List<Integer> done = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 20; i++) {
            int number = i;
            assertTrue(
                    Analysis.offer(
                            () -> {
                                Span unused = work(WORK_NANOS);
                                done.add(number);
                            }));
        }
        Analysis.await(LONG);
        assertEquals(20, done.size());
        assertEquals(done.stream().sorted().toList(), done);
    }

    @Test
    void offerAtOnce_otherWorkPauses_followsItWithoutThePause() throws Exception {
        Analysis.await(LONG);
        BlockingQueue<Span> spans = new LinkedBlockingQueue<>();
        assertTrue(Analysis.offer(() -> spans.add(work(LONG_WORK_NANOS))));
        Span first = spans.poll(1, TimeUnit.MINUTES);
        assertTrue(Analysis.offerAtOnce(() -> spans.add(work(0))));
        Span urgent = spans.poll(1, TimeUnit.MINUTES);
        assertTrue(urgent.begin() >= first.end(), first + " " + urgent);
        assertTrue(urgent.begin() - first.end() < PAUSE * LONG_WORK_NANOS, first + " " + urgent);
    }

    private static Span work(long nanos) {
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < nanos) {
            Thread.onSpinWait();
        }
        return new Span(begin, System.nanoTime());
    }
}
