package org.djlplan.memplan.internal.runtime.torch;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.budget.ResidencyPlan;
import org.djlplan.memplan.internal.budget.ResidencyPlanner;
import org.djlplan.memplan.internal.budget.ResidentWeights;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.djlplan.memplan.internal.budget.WeightUse;
import org.djlplan.memplan.internal.config.BudgetOptions;
import org.djlplan.memplan.internal.config.BudgetResolver;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.report.BudgetReportRecord;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.SystemError;
import org.djlplan.memplan.internal.runtime.VirtualThreads;
import org.djlplan.memplan.internal.store.Store;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.WeightIo;
import org.djlplan.thirdparty.guava.cache.CacheBuilder;
import org.djlplan.thirdparty.guava.cache.RemovalNotification;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The weights of one model with a byte budget. A first prediction with inputs of certain types
 * shows which pieces of the weights it uses at which time; for later ones these are loaded in time,
 * and little more. One prediction of the model runs at a time; others wait.
 *
 * <p>The weights that a prediction needs next are derived from its allocations. A prediction that
 * allocates differently reads weights on access, and is recorded again after a few times.
 */
public final class StreamedWeights implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(StreamedWeights.class);

    private static final double MEGA = 1e6;
    private static final int FIRST_PATIENCE = 3;

    /** A model that sees more kinds of inputs forgets those that it has not seen longest. */
    private static final int MOST_KINDS = 64;

    private static final int MOST_NAMES = 3;

    private final String model;
    private final WeightFile file;
    private final int slicedOperators;
    private final ReentrantLock turn = new ReentrantLock(true);
    private final Map<Kind, Streamed> kinds = // guarded by turn
            CacheBuilder.newBuilder()
                    .concurrencyLevel(1)
                    .maximumSize(MOST_KINDS)
                    .removalListener(StreamedWeights::dropped)
                    .build()
                    .asMap();
    private final OtherMemory other; // changes with the turn

    private volatile BudgetResolver budget;
    private final WeightIo io;
    private final boolean bestEffort;
    private volatile long otherBytes;
    private Supplier<Map<String, Long>> names = Map::of;
    private volatile OptionalLong lastWaitedNanos = OptionalLong.empty();
    private volatile Optional<Streamed> last = Optional.empty();
    private volatile Optional<Kept> kept = Optional.empty();
    private boolean told; // guarded by turn
    private boolean warned; // guarded by turn
    private volatile boolean closed;

    /** The conditions that determine the allocations of predictions. */
    private record Kind(ImmutableList<ArrayType> inputs, int threads) {}

    /** The store of traces. */
    private record Kept(Store<WeightTrace> store, StoreKey model) {

        StoreKey key(Kind kind) {
            return new StoreKey(
                    model.model(),
                    ImmutableMap.<String, String>builder()
                            .putAll(model.facts())
                            .put("inputs", kind.inputs().toString())
                            .put("threads", Integer.toString(kind.threads()))
                            .buildOrThrow());
        }
    }

    /** The recorded data of one kind of predictions. */
    private static final class Streamed {

        private Optional<WeightTrace> trace = Optional.empty();
        private Optional<ResidencyPlanner> planner = Optional.empty();
        private volatile Optional<ResidencyPlan> plan = Optional.empty();
        private Optional<WeightFile.Schedule> schedule = Optional.empty();
        private int divergences;
        private int patience = FIRST_PATIENCE;
        private int predictions;
        private boolean unwatchable;

        /** It was held in the budget once it was known what that takes. */
        private boolean accepted;

        void learn(WeightTrace learnt) {
            forget();
            trace = Optional.of(learnt);
            planner =
                    Optional.of(
                            new ResidencyPlanner(
                                    learnt.uses(), learnt.lookups(), learnt.stepNanos()));
        }

        void forget() {
            trace = Optional.empty();
            planner = Optional.empty();
            drop();
        }

        private void drop() {
            plan = Optional.empty();
            schedule.ifPresent(WeightFile.Schedule::close);
            schedule = Optional.empty();
        }

        /** Plans for a window, or for the least that will do if that is more. */
        void plan(long windowBytes) {
            if (planner.isEmpty()) {
                return;
            }
            long window = Math.max(windowBytes, planner.get().leastBytes());
            if (plan.filter(now -> now.windowBytes() == window).isEmpty()) {
                drop();
                ResidencyPlan made = planner.get().plan(window);
                schedule = Optional.of(WeightFile.schedule(trace.orElseThrow(), made));
                plan = Optional.of(made);
            }
        }
    }

    /**
     * @param model its name, for people
     * @param budget what the model may take above the idle runtime
     * @param options how weights are read; whether a prediction fails that cannot be held inside
     *     the budget
     * @param file its weights, loaded; closed with this
     * @param slicedOperators how many of its layers run in slices
     * @throws IOException if the weights cannot be written to disk
     * @throws IllegalStateException caused by a {@link BudgetTooSmallException}, if no prediction
     *     could be held inside the budget, and all must be
     */
    public StreamedWeights(
            String model,
            BudgetResolver budget,
            BudgetOptions options,
            WeightFile file,
            int slicedOperators)
            throws IOException {
        this.slicedOperators = slicedOperators;
        this.model = model;
        this.budget = budget;
        this.io = options.io() == WeightIo.AUTO ? best(file.bytes()) : options.io();
        bestEffort = options.bestEffort();
        this.file = file;
        other = new OtherMemory(file.before());
        otherBytes = other.bytes();
        refuseAtOnce();
        ProcessMemory.trim();
        if (direct()) {
            file.uncache();
        }
    }

    private void refuseAtOnce() {
        long budgetBytes = budget.bytes(0);
        long leastBytes = otherBytes + file.largestPieceBytes();
        if (budgetBytes < leastBytes && !bestEffort) {
            throw refusal(
                    new BudgetTooSmallException(
                            "%s: a budget of %.1f MB is too small: the engine takes %.1f MB"
                                    .formatted(model, budgetBytes / MEGA, otherBytes / MEGA),
                            leastBytes));
        }
    }

    /** Wraps the exception, because a forward pass declares no checked exceptions. */
    private static IllegalStateException refusal(BudgetTooSmallException problem) {
        return new IllegalStateException(problem.getMessage(), problem);
    }

    /**
     * Says what weights are called, for people.
     *
     * @param bytes of each, by name; asked for when a budget is too small
     */
    public void name(Supplier<Map<String, Long>> bytes) {
        names = bytes;
    }

    private static void dropped(RemovalNotification<Kind, Streamed> notification) {
        notification.getValue().forget();
    }

    /** Says where it is kept what predictions use when. */
    public void keep(Store<WeightTrace> store, StoreKey key) {
        kept = Optional.of(new Kept(store, key));
    }

    /**
     * Chooses how weights are read: cached reads are fastest, if the page cache has room for all
     * weights and a reserve.
     */
    private static WeightIo best(long bytes) {
        return new Machine().memoryRoom().freeBytes() > 2 * bytes ? WeightIo.MMAP : WeightIo.DIRECT;
    }

    private boolean direct() {
        return io == WeightIo.DIRECT;
    }

    /** A prediction that has its turn. */
    interface Turn {

        /**
         * Ends it, on its thread.
         *
         * @throws IllegalStateException as {@link #begin}
         */
        void end();
    }

    /**
     * Waits for this model's turn and begins a prediction on this thread.
     *
     * @param arenaBytes what it needs for activations, as far as that is known
     * @throws IllegalStateException caused by a {@link BudgetTooSmallException}, if it is known
     *     that the budget cannot be held, and it must be
     */
    Turn begin(List<ArrayType> inputs, int threads, long arenaBytes) {
        if (turn.isHeldByCurrentThread()) {
            return () -> {};
        }
        turn.lock();
        try {
            if (closed) {
                return turn::unlock;
            }
            Kind kind = new Kind(ImmutableList.copyOf(inputs), threads);
            Streamed streamed = kinds.computeIfAbsent(kind, this::newKind);
            judge(streamed, arenaBytes);
            streamed.plan(windowBytes(arenaBytes));
            boolean watched = streamed.schedule.isEmpty() && !streamed.unwatchable;
            if (VirtualThreads.isCurrent() || !file.begin(streamed.schedule, watched, direct())) {
                return turn::unlock;
            }
            return () -> {
                try {
                    end(kind, streamed, watched, arenaBytes);
                } finally {
                    turn.unlock();
                }
            };
        } catch (RuntimeException | Error e) {
            turn.unlock();
            throw e;
        }
    }

    /**
     * Waits for this model's turn and begins a pass on this thread that is like no other: weights
     * leave memory at each allocation.
     */
    Turn beginOneOff() {
        if (turn.isHeldByCurrentThread()) {
            return () -> {};
        }
        turn.lock();
        if (closed
                || VirtualThreads.isCurrent()
                || !file.begin(Optional.empty(), false, direct())) {
            return turn::unlock;
        }
        return () -> {
            try {
                WeightFile.Figures unused = file.end();
            } finally {
                turn.unlock();
            }
        };
    }

    private Streamed newKind(Kind kind) {
        Streamed streamed = new Streamed();
        kept.flatMap(known -> known.store().load(known.key(kind)))
                .filter(trace -> trace.pieces().equals(file.pieces()))
                .ifPresent(streamed::learn);
        return streamed;
    }

    private void end(Kind kind, Streamed streamed, boolean watched, long arenaBytes) {
        WeightFile.Figures figures = file.end();
        if (closed) {
            return;
        }
        tell(figures);
        other.predicted();
        otherBytes = other.bytes();
        last = Optional.of(streamed);
        streamed.predictions++;
        if (watched) {
            learn(kind, streamed);
        } else {
            compare(figures, streamed);
        }
        judge(streamed, arenaBytes);
    }

    private void compare(WeightFile.Figures figures, Streamed streamed) {
        lastWaitedNanos = OptionalLong.of(figures.waitedNanos());
        if (streamed.schedule.isEmpty() || figures.asPlanned()) {
            streamed.divergences = 0;
        } else if (++streamed.divergences >= streamed.patience) {
            streamed.patience = Math.min(2 * streamed.patience, Integer.MAX_VALUE / 2);
            streamed.divergences = 0;
            streamed.forget();
        }
    }

    /**
     * Fails if a kind of predictions cannot be held inside the budget, whatever else this process
     * does, and must be. One that was held once goes on: its window gets smaller as far as that
     * goes. So does one for which only the memory that was measured leaves too little, as other
     * models and threads may have allocated that.
     */
    private void judge(Streamed streamed, long arenaBytes) {
        if (streamed.planner.isEmpty()) {
            return;
        }
        long budgetBytes = budgetBytes(arenaBytes);
        long leastBytes = leastBytes(streamed, arenaBytes);
        if (budgetBytes >= leastBytes) {
            streamed.accepted |= streamed.predictions >= OtherMemory.SETTLING;
            return;
        }
        boolean certain = budgetBytes < certainLeastBytes(streamed, arenaBytes);
        if (certain && !bestEffort && !streamed.accepted) {
            throw refusal(tooSmall(streamed, budgetBytes, leastBytes));
        }
        if (!warned && other.settled()) {
            warned = true;
            logger.warn(tooSmall(streamed, budgetBytes, leastBytes).getMessage());
        }
    }

    private long leastBytes(Streamed streamed, long arenaBytes) {
        return windowLeastBytes(streamed) + otherBytes + arenaBytes;
    }

    private static long windowLeastBytes(Streamed streamed) {
        return streamed.planner.map(ResidencyPlanner::leastBytes).orElse(0L);
    }

    /** Returns the smallest budget without memory that other code may have allocated. */
    private static long certainLeastBytes(Streamed streamed, long arenaBytes) {
        return windowLeastBytes(streamed) + OtherMemory.LEAST_BYTES + arenaBytes;
    }

    private BudgetTooSmallException tooSmall(Streamed streamed, long budgetBytes, long leastBytes) {
        ResidencyPlanner planner = streamed.planner.orElseThrow();
        return new BudgetTooSmallException(
                "%s: a budget of %.1f MB is too small: one operator uses %.1f MB of weights at once%s; at least %.1f MB, of which %.1f MB are for activations and the engine"
                        .formatted(
                                model,
                                budgetBytes / MEGA,
                                planner.leastBytes() / MEGA,
                                names(streamed.trace.orElseThrow(), planner.hungriestStep()),
                                Math.ceil(leastBytes / MEGA * 10) / 10,
                                (leastBytes - planner.leastBytes()) / MEGA),
                leastBytes);
    }

    /** Says which weights are as large as the largest one that a step uses, if that is known. */
    private String names(WeightTrace trace, int step) {
        long largest = largestWeightBytes(trace, step);
        List<String> alike =
                names.get().entrySet().stream()
                        .filter(named -> WeightFile.inPages(named.getValue()) == largest)
                        .map(Map.Entry::getKey)
                        .toList();
        if (alike.isEmpty()) {
            return "";
        }
        List<String> some = alike.subList(0, Math.min(MOST_NAMES, alike.size()));
        return " ("
                + String.join(" or ", some)
                + (alike.size() > MOST_NAMES ? " or one as large" : "")
                + ")";
    }

    private long largestWeightBytes(WeightTrace trace, int step) {
        Set<Integer> used =
                trace.uses().stream()
                        .filter(use -> use.first() <= step && step <= use.last())
                        .map(WeightUse::piece)
                        .collect(Collectors.toSet());
        return file.blocks().stream()
                .filter(
                        block ->
                                used.stream()
                                        .map(trace.pieces()::get)
                                        .anyMatch(piece -> overlap(piece, block)))
                .mapToLong(WeightFile.Block::bytes)
                .max()
                .orElse(0);
    }

    private static boolean overlap(WeightTrace.Piece piece, WeightFile.Block block) {
        return piece.offsetBytes() < block.offsetBytes() + block.bytes()
                && block.offsetBytes() < piece.offsetBytes() + piece.bytes();
    }

    private void tell(WeightFile.Figures figures) {
        if (figures.errno() != 0) {
            logger.debug(
                    "{}: weights were read on access: {}",
                    model,
                    SystemError.text(figures.errno()));
        }
    }

    /** Returns the size of the window, which is minimal until the model's other memory is known. */
    private long windowBytes(long arenaBytes) {
        return other.settled() ? budgetBytes(arenaBytes) - otherBytes - arenaBytes : 0;
    }

    private long budgetBytes(long arenaBytes) {
        long window = last.flatMap(now -> now.plan).map(ResidencyPlan::windowBytes).orElse(0L);
        return budget.bytes(otherBytes + arenaBytes + window);
    }

    private void learn(Kind kind, Streamed streamed) {
        Optional<WeightTrace> trace = file.watched();
        streamed.unwatchable = trace.isEmpty();
        if (trace.isEmpty()) {
            if (!told) {
                logger.warn(
                        "{}: weights are read on access, because the system does not report "
                                + "which of their pages are in memory",
                        model);
            }
            told = true;
            return;
        }
        streamed.learn(trace.get());
        kept.ifPresent(known -> known.store().save(known.key(kind), trace.get()));
        tell(trace.get(), streamed);
    }

    private void tell(WeightTrace trace, Streamed streamed) {
        if (told) {
            return;
        }
        told = true;
        logger.info(
                "{}: {} MB of weights in {} pieces, of which {} MB are used at once",
                model,
                file.bytes() / MEGA,
                trace.pieces().size(),
                streamed.planner.orElseThrow().leastBytes() / MEGA);
    }

    /** Returns how the model keeps inside its budget. */
    public BudgetReport report(long arenaBytes) {
        Optional<ResidencyPlan> plan = last.flatMap(streamed -> streamed.plan);
        return new BudgetReportRecord(
                budgetBytes(arenaBytes),
                last.map(streamed -> leastBytes(streamed, arenaBytes))
                        .orElse(otherBytes + arenaBytes),
                arenaBytes + plan.map(ResidencyPlan::windowBytes).orElse(0L),
                file.bytes(),
                plan.map(ResidencyPlan::pinnedBytes).orElse(0L),
                file.pieces().size(),
                slicedOperators,
                0,
                0,
                plan.map(ResidencyPlan::loadedBytes).orElse(0L),
                0,
                lastWaitedNanos,
                direct() ? WeightIo.DIRECT : WeightIo.MMAP);
    }

    /**
     * Returns which weights are in memory when, in predictions like the last one; empty before
     * there is a plan. Waits for the prediction that has its turn.
     */
    public Optional<ResidentWeights> resident() {
        turn.lock();
        try {
            return last.filter(known -> known.plan.isPresent())
                    .map(
                            known ->
                                    ResidentWeights.of(
                                            known.plan.orElseThrow(),
                                            known.trace.orElseThrow(),
                                            known.planner.orElseThrow().hungriestStep()));
        } finally {
            turn.unlock();
        }
    }

    /**
     * Gives the model another budget, from the next prediction on.
     *
     * @throws BudgetTooSmallException if it cannot be held, whatever else this process does, and it
     *     must be
     */
    void setBudget(BudgetResolver resolver, boolean bestEffort, long arenaBytes)
            throws BudgetTooSmallException {
        checkState(!closed, "%s is closed", model);
        long least = report(arenaBytes).leastBudgetBytes();
        long certain =
                last.map(streamed -> certainLeastBytes(streamed, arenaBytes))
                        .orElse(OtherMemory.LEAST_BYTES + arenaBytes);
        long bytes = resolver.bytes(0);
        if (bytes < certain && !bestEffort) {
            throw new BudgetTooSmallException(
                    model + " needs at least " + least + " bytes, more than " + bytes, least);
        }
        boolean less = bytes < budgetBytes(arenaBytes);
        budget = resolver;
        if (less) {
            // A model that nobody asks for a while holds nothing of what it had.
            beginOneOff().end();
        }
    }

    /** Returns the size of all weights that are in the file, in bytes. */
    public long bytes() {
        return file.bytes();
    }

    /**
     * Waits for the prediction that has its turn; those that wait for theirs run without pieces.
     */
    @Override
    public void close() {
        turn.lock();
        try {
            if (!closed) {
                closed = true;
                file.close();
                kinds.clear();
            }
        } finally {
            turn.unlock();
        }
    }
}
