package org.djlplan.memplan.rows;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.base.Preconditions.checkState;

import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import com.google.common.collect.Iterators;
import com.google.common.util.concurrent.Uninterruptibles;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.djlplan.memplan.thread.DaemonThreads;

/**
 * Predicts the rows of an iterator, such as a partition's, and returns the outputs in their order.
 *
 * <p>Every batch has the same size, so a model is planned for one shape: a last batch that is
 * smaller is filled up with its last row, whose further outputs are dropped. With several threads
 * one batch is pre-processed while another one runs. As many batches as threads are in memory at
 * once: rows are read, on the thread that asks for outputs, when there is room for them.
 *
 * <p>Delegates run a model in the shapes of its file: for TensorFlow Lite take its own batch, 1 for
 * most models. Not for several threads at once.
 *
 * <pre>{@code
 * try (RowPredictor<Image, Classifications> predictor = new RowPredictor<>(model, 8, 2)) {
 *     Iterator<Classifications> classes = predictor.predict(images);
 *     ...
 * }
 * }</pre>
 */
public final class RowPredictor<I, O> implements AutoCloseable {

    private static final long IDLE_SECONDS = 5;

    private final ZooModel<I, O> model;
    private final int batch;
    private final int threads;
    private final Queue<Predictor<I, O>> idle = new ConcurrentLinkedQueue<>();
    private final ThreadPoolExecutor pool;
    private final Queue<Batch> pending = new ArrayDeque<>();
    private final LongAdder rows = new LongAdder();
    private final LongAdder batches = new LongAdder();
    private final LongAdder padded = new LongAdder();
    private final LongAdder nanos = new LongAdder();
    private boolean closed;

    /** Rows that are predicted together. */
    private final class Batch {
        private final long first;
        private final List<I> inputs;
        private final Future<List<O>> outputs;

        private Batch(long first, List<I> inputs) {
            this.first = first;
            this.inputs = inputs;
            outputs = pool.submit(this::run);
        }

        private List<O> run() throws TranslateException {
            long begin = System.nanoTime();
            Predictor<I, O> predictor = idle.poll();
            if (predictor == null) {
                predictor = model.newPredictor();
            }
            try {
                List<O> all = predict(predictor);
                rows.add(inputs.size());
                batches.increment();
                padded.add(batch - inputs.size());
                return all;
            } finally {
                idle.add(predictor);
                nanos.add(System.nanoTime() - begin);
            }
        }

        private List<O> predict(Predictor<I, O> predictor) throws TranslateException {
            if (batch == 1) {
                return Collections.singletonList(predictor.predict(inputs.get(0)));
            }
            List<I> full = new ArrayList<>(inputs);
            full.addAll(Collections.nCopies(batch - inputs.size(), inputs.get(inputs.size() - 1)));
            return predictor.batchPredict(full).subList(0, inputs.size());
        }

        private List<O> await() {
            try {
                return outputs.get();
            } catch (ExecutionException e) {
                throw new RowFailedException(first, inputs.size(), e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new RowFailedException(first, inputs.size(), e);
            }
        }
    }

    /**
     * A predictor for a model, which it does not close.
     *
     * @param batch rows per prediction
     * @param threads batches that are under way at once, from their pre- to their post-processing
     */
    public RowPredictor(ZooModel<I, O> model, int batch, int threads) {
        checkArgument(batch > 0, "batches of %s rows", batch);
        checkArgument(threads > 0, "%s threads", threads);
        this.model = model;
        this.batch = batch;
        this.threads = threads;
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        pool =
                new ThreadPoolExecutor(
                        threads,
                        threads,
                        IDLE_SECONDS,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(),
                        task -> {
                            Thread thread = DaemonThreads.make(task, "djl-plan-rows");
                            thread.setContextClassLoader(loader);
                            return thread;
                        });
        // Nothing is left of a predictor that somebody forgets.
        pool.allowCoreThreadTimeOut(true);
    }

    /**
     * Returns the outputs of the rows, in their order. A {@link RowFailedException} of {@code next}
     * ends the iteration.
     *
     * @param inputs read by {@code hasNext} and {@code next} of what this returns, as far as there
     *     is room for rows in memory
     */
    public Iterator<O> predict(Iterator<? extends I> inputs) {
        checkState(pending.isEmpty(), "an earlier iteration has not ended");
        return new Outputs(inputs);
    }

    private final class Outputs implements Iterator<O> {
        private final Iterator<? extends I> inputs;
        private Iterator<O> ready = Collections.emptyIterator();
        private long read;

        private Outputs(Iterator<? extends I> inputs) {
            this.inputs = inputs;
        }

        @Override
        public boolean hasNext() {
            return ready.hasNext() || !pending.isEmpty() || inputs.hasNext();
        }

        @Override
        public O next() {
            if (!ready.hasNext()) {
                fill();
                Batch next = pending.poll();
                if (next == null) {
                    throw new NoSuchElementException();
                }
                ready = await(next).iterator();
                fill();
            }
            return ready.next();
        }

        private void fill() {
            checkState(!closed, "the predictor is closed");
            while (pending.size() < threads && inputs.hasNext()) {
                List<I> some = new ArrayList<>(batch);
                Iterators.addAll(some, Iterators.limit(inputs, batch));
                pending.add(new Batch(read, some));
                read += some.size();
            }
        }

        private List<O> await(Batch next) {
            try {
                return next.await();
            } catch (RowFailedException e) {
                cancel();
                throw e;
            }
        }
    }

    /** Returns figures as of now. */
    public RowFigures figures() {
        return new RowFigures(rows.sum(), batches.sum(), padded.sum(), nanos.sum());
    }

    /** Batches that have not begun do not; a prediction is never interrupted. */
    private void cancel() {
        pending.forEach(each -> each.outputs.cancel(false));
        pending.clear();
    }

    /** Ends when the predictions that are under way have. */
    @Override
    public void close() {
        closed = true;
        cancel();
        pool.shutdown();
        Uninterruptibles.awaitTerminationUninterruptibly(pool);
        idle.forEach(Predictor::close);
        idle.clear();
    }
}
