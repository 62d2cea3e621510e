package org.djlplan.memplan.rows;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;
import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.djlplan.memplan.internal.djl.ScopedTranslator;
import org.djlplan.memplan.internal.thread.DaemonThreads;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.djlplan.thirdparty.guava.collect.Iterators;
import org.djlplan.thirdparty.guava.util.concurrent.ExecutionError;
import org.djlplan.thirdparty.guava.util.concurrent.Futures;
import org.djlplan.thirdparty.guava.util.concurrent.UncheckedExecutionException;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;

/**
 * Predicts the rows of an iterator, such as a partition's, and returns the outputs in their order.
 *
 * <p>Every batch has the same size, so that a model is planned for one shape: a smaller last batch
 * is padded with copies of its last row, whose outputs are dropped. With several threads one batch
 * is pre-processed while another one runs. The number of batches in memory equals the number of
 * threads: the thread that requests outputs reads further rows when there is room for them.
 *
 * <p>Rows of different lengths, such as texts, are padded to the longest of their batch. With a
 * {@link RowGrouping} each row is pre-processed once, alone; the rows of a window are grouped by
 * length, so that there is little padding, and no batch exceeds the limit of tokens or bytes.
 * Outputs keep the order of the rows. How rows are combined into batches affects only the last
 * digits of outputs. Shorter rows are padded with zeros, so the model must have a mask, or treat
 * tokens independently.
 *
 * <p>Delegates run a model only in the shapes of its file, so for TensorFlow Lite use the file's
 * batch size, which is 1 for most models. Not thread-safe.
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
    private final RowCounts counts = new RowCounts();
    private final Optional<Grouped> grouped;

    /** The iteration that has rows in memory. */
    private Optional<Iteration> underWay = Optional.empty();

    private boolean closed;

    /** Predicts rows that are grouped by length. */
    private final class Grouped {
        private final RowGroups groups;
        private final Translator<I, O> translator;
        private final Translator<List<PreparedRow>, List<O>> stacking;
        private final Queue<Predictor<List<PreparedRow>, List<O>>> ready =
                new ConcurrentLinkedQueue<>();

        /** Of arrays that the translator keeps for all rows. */
        private final NDManager manager;

        private boolean prepared;

        private Grouped(RowGrouping grouping) {
            groups = new RowGroups(grouping);
            translator = ScopedTranslator.unwrap(model.getTranslator());
            checkArgument(
                    translator.getBatchifier() != null,
                    "the translator of %s makes its batches itself",
                    model.getName());
            stacking =
                    ScopedTranslator.wrapLike(
                            model.getTranslator(),
                            new PreparedRows<>(translator, grouping.isCutting()));
            manager = model.getNDManager().newSubManager();
        }

        private PreparedRow prepare(I input, long number) {
            PreparedRow row = new PreparedRow(number, model, manager);
            try {
                if (!prepared) {
                    translator.prepare(row);
                    prepared = true;
                }
                row.process(translator, input);
                return row;
            } catch (Exception e) {
                row.close();
                throw new RowFailedException(number, 1, e);
            } catch (Error e) {
                row.close();
                throw e;
            }
        }

        private List<O> run(List<PreparedRow> batch) throws TranslateException {
            long begin = System.nanoTime();
            Predictor<List<PreparedRow>, List<O>> predictor = ready.poll();
            if (predictor == null) {
                predictor = model.newPredictor(stacking);
            }
            try {
                List<O> all = predictor.predict(batch);
                long own = batch.stream().mapToLong(PreparedRow::length).sum();
                counts.addBatch(batch.size(), 0);
                counts.addTokens(own, RowGroups.tokens(batch) - own);
                return all;
            } finally {
                ready.add(predictor);
                counts.addNanos(System.nanoTime() - begin);
            }
        }

        private void close() {
            ready.forEach(Predictor::close);
            ready.clear();
            manager.close();
        }
    }

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
                counts.addBatch(inputs.size(), batch - inputs.size());
                return all;
            } finally {
                idle.add(predictor);
                counts.addNanos(System.nanoTime() - begin);
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
     * Creates a predictor for a model, which it does not close.
     *
     * @param batch rows per prediction
     * @param threads number of batches at once, from pre- to post-processing
     */
    public RowPredictor(ZooModel<I, O> model, int batch, int threads) {
        this(model, batch, threads, Optional.empty());
    }

    /**
     * Creates a predictor that groups rows by length; it does not close the model.
     *
     * @param grouping assignment of rows to batches
     * @param threads number of batches at once
     * @throws IllegalArgumentException if the model's translator makes batches itself
     */
    public RowPredictor(ZooModel<I, O> model, RowGrouping grouping, int threads) {
        this(model, 1, threads, Optional.of(grouping));
    }

    private RowPredictor(
            ZooModel<I, O> model, int batch, int threads, Optional<RowGrouping> grouping) {
        checkArgument(batch > 0, "batches of %s rows", batch);
        checkArgument(threads > 0, "%s threads", threads);
        this.model = model;
        this.batch = batch;
        this.threads = threads;
        grouped = grouping.map(Grouped::new);
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
        // So that an unreferenced predictor leaves no threads behind.
        pool.allowCoreThreadTimeOut(true);
    }

    /**
     * Returns the outputs of the rows, in their order. If a row fails, {@code next} throws a {@link
     * RowFailedException}; if {@code inputs} fails, it throws that exception. In both cases the
     * iteration ends: {@code hasNext} is false, and outputs that were not returned are lost.
     *
     * <p>Only one iteration at a time has rows in memory. While an iteration has begun and has
     * outputs left, another one cannot begin: its {@code next} throws an {@link
     * IllegalStateException}.
     *
     * @param inputs read by {@code hasNext} and {@code next} of the returned iterator when there is
     *     room for rows in memory
     * @throws IllegalStateException if an earlier iteration has begun and has outputs left
     */
    public Iterator<O> predict(Iterator<? extends I> inputs) {
        requireNoneUnderWay();
        return grouped.isPresent()
                ? new GroupedOutputs(grouped.get(), inputs)
                : new Outputs(inputs);
    }

    private void requireNoneUnderWay() {
        checkState(underWay.isEmpty(), "an earlier iteration has not ended");
    }

    /** The outputs of one call of {@link #predict}. */
    private abstract class Iteration implements Iterator<O> {
        final Iterator<? extends I> inputs;

        /** The number of rows that were read. */
        long read;

        /** After an error; the rows that were read by then are lost. */
        private boolean ended;

        private Iteration(Iterator<? extends I> inputs) {
            this.inputs = inputs;
        }

        /** Returns whether there are rows whose outputs were not returned. */
        abstract boolean hasRows();

        /** Returns the output of the next row. */
        abstract O output();

        /** Cancels predictions that have not started; a running one is never interrupted. */
        abstract void cancel();

        @Override
        public boolean hasNext() {
            return !ended && (hasRows() || inputs.hasNext());
        }

        @Override
        public O next() {
            checkState(!closed || hasRows(), "the predictor is closed");
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            if (!hasRows()) {
                requireNoneUnderWay();
            }
            underWay = Optional.of(this);
            boolean done = false;
            try {
                O output = output();
                done = true;
                return output;
            } finally {
                if (!done) {
                    ended = true;
                    cancel();
                }
                if (ended || !hasRows()) {
                    underWay = Optional.empty();
                }
            }
        }
    }

    /** Rows of similar length that are predicted together. */
    private final class Group {
        private final List<PreparedRow> members;
        private final AtomicBoolean begun = new AtomicBoolean();
        private final FutureTask<List<O>> outputs;

        private Group(Grouped how, List<PreparedRow> members) {
            this.members = members;
            outputs = new FutureTask<>(() -> run(how));
        }

        private List<O> run(Grouped how) throws TranslateException {
            checkState(!begun.getAndSet(true), "the iteration has ended");
            try {
                return how.run(members);
            } finally {
                members.forEach(PreparedRow::close);
            }
        }

        /** Frees the group's rows, unless its prediction has started: that frees them itself. */
        private void abandon() {
            if (!begun.getAndSet(true)) {
                members.forEach(PreparedRow::close);
            }
        }

        private O await(PreparedRow row) {
            try {
                return outputs.get().get(members.indexOf(row));
            } catch (ExecutionException e) {
                throw RowFailedException.ofGroup(row.number(), members.size(), e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw RowFailedException.ofGroup(row.number(), members.size(), e);
            }
        }
    }

    /** Outputs of rows that are grouped by length, one window after another. */
    private final class GroupedOutputs extends Iteration {
        private final Grouped how;
        private final Queue<PreparedRow> window = new ArrayDeque<>();

        /** The group of each row of the window. */
        private final Map<PreparedRow, Group> groupOf = new HashMap<>();

        private GroupedOutputs(Grouped how, Iterator<? extends I> inputs) {
            super(inputs);
            this.how = how;
        }

        @Override
        boolean hasRows() {
            return !window.isEmpty();
        }

        @Override
        O output() {
            if (window.isEmpty()) {
                fill();
            }
            PreparedRow row = window.remove();
            return groupOf.remove(row).await(row);
        }

        @Override
        void cancel() {
            window.clear();
            groupOf.values().forEach(Group::abandon);
            groupOf.clear();
        }

        private void fill() {
            List<PreparedRow> rows = new ArrayList<>();
            List<List<PreparedRow>> split;
            try {
                while (rows.size() < how.groups.window() && inputs.hasNext()) {
                    rows.add(how.prepare(inputs.next(), read++));
                }
                split = Futures.getUnchecked(pool.submit(() -> how.groups.split(rows)));
            } catch (UncheckedExecutionException | ExecutionError e) {
                rows.forEach(PreparedRow::close);
                Throwables.throwIfUnchecked(e.getCause());
                throw e;
            } catch (RuntimeException | Error e) {
                rows.forEach(PreparedRow::close);
                throw e;
            }
            List<Group> groups = new ArrayList<>();
            for (List<PreparedRow> members : split) {
                Group group = new Group(how, members);
                groups.add(group);
                members.forEach(row -> groupOf.put(row, group));
            }
            window.addAll(rows);
            // If a thread cannot be started, the iteration ends, and frees the rows of all groups.
            groups.forEach(group -> pool.execute(group.outputs));
        }
    }

    /** Outputs of rows in batches of one size. */
    private final class Outputs extends Iteration {
        private final Queue<Batch> pending = new ArrayDeque<>();
        private Iterator<O> ready = Collections.emptyIterator();

        private Outputs(Iterator<? extends I> inputs) {
            super(inputs);
        }

        @Override
        boolean hasRows() {
            return ready.hasNext() || !pending.isEmpty();
        }

        @Override
        O output() {
            if (!ready.hasNext()) {
                fill();
                ready = pending.remove().await().iterator();
                fill();
            }
            return ready.next();
        }

        @Override
        void cancel() {
            pending.forEach(each -> each.outputs.cancel(false));
            pending.clear();
        }

        private void fill() {
            while (pending.size() < threads && inputs.hasNext()) {
                List<I> some = new ArrayList<>(batch);
                Iterators.addAll(some, Iterators.limit(inputs, batch));
                pending.add(new Batch(read, some));
                read += some.size();
            }
        }
    }

    /** Returns the current counts. */
    public RowFigures figures() {
        return counts.figures();
    }

    /** Returns when the running predictions have ended. */
    @Override
    public void close() {
        closed = true;
        underWay.ifPresent(Iteration::cancel);
        pool.shutdown();
        Uninterruptibles.awaitTerminationUninterruptibly(pool);
        idle.forEach(Predictor::close);
        idle.clear();
        grouped.ifPresent(Grouped::close);
    }
}
