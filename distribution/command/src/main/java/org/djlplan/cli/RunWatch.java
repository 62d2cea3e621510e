package org.djlplan.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Longs;

/** Records every latency, and the memory of each mode over time, while a comparison is timed. */
final class RunWatch {

    private static final long SAMPLE_MILLIS = 10;

    /** More samples would not improve the picture. */
    private static final int MOST_SAMPLES = 12_000;

    private final Map<String, Seen> modes = new LinkedHashMap<>();
    private Thread sampler = new Thread();

    /** The observations of one mode. */
    private static final class Seen {
        private final List<Long> latencyNanos = new ArrayList<>();
        private final List<Sample> resident = new ArrayList<>();

        /** Of consecutive samples with the same bytes, only the first and the last are kept. */
        void add(Sample sample) {
            int last = resident.size() - 1;
            if (last > 0
                    && resident.get(last).bytes() == sample.bytes()
                    && resident.get(last - 1).bytes() == sample.bytes()) {
                resident.set(last, sample);
            } else {
                resident.add(sample);
            }
        }
    }

    /**
     * The memory of a process at one moment.
     *
     * @param nanos since timing began
     * @param bytes in memory then
     */
    record Sample(long nanos, long bytes) {}

    /** Starts to observe processes, by the names of their modes. */
    synchronized void begin(Map<String, WorkerProcess> workers) {
        workers.keySet().forEach(name -> modes.put(name, new Seen()));
        long start = System.nanoTime();
        sampler = new Thread(() -> sample(workers, start), "djl-plan-memory-samples");
        sampler.setDaemon(true);
        sampler.start();
    }

    private void sample(Map<String, WorkerProcess> workers, long start) {
        try {
            for (int i = 0; i < MOST_SAMPLES; i++) {
                for (Map.Entry<String, WorkerProcess> worker : workers.entrySet()) {
                    OptionalLong bytes = worker.getValue().residentBytes();
                    long nanos = System.nanoTime() - start;
                    synchronized (this) {
                        bytes.ifPresent(b -> modes.get(worker.getKey()).add(new Sample(nanos, b)));
                    }
                }
                Thread.sleep(SAMPLE_MILLIS);
            }
        } catch (InterruptedException e) {
            // Timing has ended.
            return;
        }
    }

    /** Adds the durations of predictions. */
    synchronized void timed(String mode, long[] nanos) {
        modes.get(mode).latencyNanos.addAll(Longs.asList(nanos));
    }

    /** Stops observing. */
    void end() {
        sampler.interrupt();
        try {
            sampler.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the nanoseconds of each prediction of a mode, in their order. */
    synchronized ImmutableList<Long> latencyNanos(String mode) {
        return ImmutableList.copyOf(modes.getOrDefault(mode, new Seen()).latencyNanos);
    }

    /** Returns the memory of a mode's process over time. */
    synchronized ImmutableList<Sample> resident(String mode) {
        return ImmutableList.copyOf(modes.getOrDefault(mode, new Seen()).resident);
    }
}
