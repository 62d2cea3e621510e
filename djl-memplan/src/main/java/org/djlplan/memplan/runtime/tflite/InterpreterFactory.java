package org.djlplan.memplan.runtime.tflite;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReference;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.runtime.ArenaPool;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.NativeDelegate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Builds interpreters of one model: planned for their input shapes, with the chosen operators
 * delegated; or stock where that fails.
 */
final class InterpreterFactory {

    private static final Logger logger = LoggerFactory.getLogger(InterpreterFactory.class);
    private static final int KEPT_PLANS = 64;
    private static final int KEPT_REASONS = 256;

    private final EngineSession.Source sessions;
    private final Graph file;
    private final PlanFinder planner;
    private final DelegateFactory delegates;
    private final ArenaPool arenas;
    private final List<Integer> plannable;
    private final List<List<Integer>> shapesInFile;
    private final Cache<PlanFor, ShapePlan> plans =
            CacheBuilder.newBuilder().maximumSize(KEPT_PLANS).build();

    /** Why interpreters for some shapes are stock ones; as many as a caller's shapes may fill. */
    private final ConcurrentMap<List<List<Integer>>, String> unplannable =
            CacheBuilder.newBuilder()
                    .maximumSize(KEPT_REASONS)
                    .<List<List<Integer>>, String>build()
                    .asMap();

    private final AtomicReference<ThreadGovernor> governor;
    private volatile Optional<String> leftToEngine = Optional.empty();

    private record PlanFor(List<List<Integer>> shapes, Candidate candidate) {}

    /**
     * @param sessions makes the engine's interpreters of the model, which outlives this factory
     * @param file its graph as the file has it
     * @param planner plans what the engine makes of it
     * @param delegates make a delegate for each interpreter that needs one
     * @param choice what is delegated to begin with
     */
    InterpreterFactory(
            EngineSession.Source sessions,
            Graph file,
            RuntimeOptions options,
            PlanFinder planner,
            DelegateFactory delegates,
            DelegationChoice choice) {
        this.sessions = sessions;
        this.file = file;
        this.planner = planner;
        this.delegates = delegates;
        boolean stateful = isStateful(file);
        // State is in the interpreter and cannot move to another if an arena is not to be had
        // again; nor to another candidate's.
        governor =
                new AtomicReference<>(
                        new ThreadGovernor(stateful ? choice.only(choice.lightest()) : choice));
        boolean shared = options.sharedArena() && !stateful;
        arenas = shared ? ArenaPool.shared() : new ArenaPool();
        plannable = LiveGraph.plannable(file);
        shapesInFile = file.inputs().stream().map(id -> file.tensors().get(id).shape()).toList();
    }

    /** Returns whether a model keeps values from one prediction to the next. */
    static boolean isStateful(Graph graph) {
        return graph.tensors().stream().anyMatch(t -> t.storage() == Storage.VARIABLE);
    }

    /** Returns the shapes of the inputs in the file. */
    List<List<Integer>> shapesInFile() {
        return shapesInFile;
    }

    /** Returns what decides which candidate of the present choice serves. */
    ThreadGovernor governor() {
        return governor.get();
    }

    /** Returns what is delegated now, and why. */
    DelegationChoice choice() {
        return governor().choice();
    }

    /** Delegates something else from now on. */
    void choose(DelegationChoice better) {
        governor.set(new ThreadGovernor(better));
    }

    /** Returns a candidate if it is one of the present choice, else the one of fewest threads. */
    Candidate chosen(Candidate wanted) {
        DelegationChoice now = choice();
        return now.candidate().equals(wanted) || now.lighter().contains(wanted)
                ? wanted
                : now.lightest();
    }

    /**
     * Returns an interpreter for these input shapes and a candidate that is chosen, or was just
     * now. If the delegate refuses, another candidate of the choice is taken; if it is the one of
     * the fewest threads, nothing is delegated from now on. One warning says so.
     *
     * @throws UnplannableException if it cannot be planned; see {@link #giveUp}
     */
    ModelInterpreter build(List<List<Integer>> shapes, Candidate wanted)
            throws UnplannableException {
        while (true) {
            ThreadGovernor now = governor.get();
            Candidate candidate = chosen(wanted);
            if (!candidate.delegates() || !shapes.equals(shapesInFile)) {
                return build(shapes, candidate, false);
            }
            try {
                return build(shapes, candidate, false);
            } catch (UnplannableException | RuntimeException e) {
                String why = UnplannableException.reason(e);
                ThreadGovernor instead = new ThreadGovernor(without(now, candidate, why));
                // Not if another choice was made meanwhile, which is tried instead.
                if (governor.compareAndSet(now, instead)) {
                    logger.warn(
                            "{}: {} delegated with {} threads: {}",
                            file.name(),
                            instead.choice().candidate().delegates() ? "not" : "nothing is",
                            candidate.threads(),
                            why);
                }
            }
        }
    }

    private static DelegationChoice without(ThreadGovernor governor, Candidate failed, String why) {
        DelegationChoice choice = governor.choice();
        List<Candidate> others =
                choice.candidates().stream().filter(other -> !other.equals(failed)).toList();
        return failed.equals(choice.lightest())
                ? new DelegationChoice(
                        Candidate.cpu(failed.threads()), choice.origin(), "it failed: " + why)
                : new DelegationChoice(
                        others.get(0),
                        others.subList(1, others.size()),
                        choice.origin(),
                        choice.reason(),
                        choice.outputs());
    }

    /**
     * Returns an interpreter for a candidate. Only with the shapes in the file is anything
     * delegated: delegates look at the shapes once.
     *
     * @param timed whether the time of each node is taken
     * @throws UnplannableException if it cannot be planned, or the delegate refuses
     */
    ModelInterpreter build(List<List<Integer>> shapes, Candidate candidate, boolean timed)
            throws UnplannableException {
        if (!candidate.delegates() || !shapes.equals(shapesInFile)) {
            return build(shapes, candidate, timed, Optional.empty());
        }
        NativeDelegate delegate = Delegates.create(delegates, candidate.threads());
        try {
            return build(shapes, candidate, timed, Optional.of(delegate));
        } catch (UnplannableException | RuntimeException | Error e) {
            delegate.close();
            throw e;
        }
    }

    private ModelInterpreter build(
            List<List<Integer>> shapes,
            Candidate candidate,
            boolean timed,
            Optional<NativeDelegate> delegate)
            throws UnplannableException {
        Optional<String> unplanned =
                leftToEngine.or(() -> Optional.ofNullable(unplannable.get(shapes)));
        boolean stock = unplanned.isPresent();
        SessionSpec spec =
                new SessionSpec(
                        candidate.threads(),
                        stock ? Optional.empty() : Optional.of(plannable),
                        delegate.map(d -> new SessionSpec.Delegated(d, candidate.operators())),
                        timed);
        EngineSession session = sessions.open(spec);
        Optional<ArenaPool.Need> need = Optional.empty();
        try {
            resize(session, shapes);
            session.allocate();
            List<LiveNode> nodes = session.nodes();
            Graph live = LiveGraph.of(file, nodes, session);
            Candidate effective =
                    delegate.isPresent() ? candidate : Candidate.cpu(candidate.threads());
            Optional<ShapePlan> plan =
                    stock
                            ? Optional.empty()
                            : Optional.of(plan(new PlanFor(shapes, effective), live));
            if (plan.isPresent() && !plan.get().place(session)) {
                throw new UnplannableException(session.error());
            }
            need = plan.flatMap(p -> p.announce(arenas));
            return new ModelInterpreter(
                    new DelegatedSession(session, delegate, candidate, nodes),
                    live,
                    shapes,
                    plan,
                    unplanned,
                    need);
        } catch (UnplannableException | RuntimeException | Error e) {
            need.ifPresent(ArenaPool.Need::close);
            session.close();
            throw e;
        }
    }

    /**
     * From now on, interpreters for these shapes are stock ones.
     *
     * @return false if they were already
     */
    boolean giveUp(List<List<Integer>> shapes, String why) {
        boolean first = unplannable.putIfAbsent(shapes, String.valueOf(why)) == null;
        if (first) {
            logger.warn("{}: input shapes {} are not planned: {}", file.name(), shapes, why);
        }
        return first;
    }

    /** From now on, all interpreters are stock ones; one warning says why. */
    void leaveToEngine(String why) {
        synchronized (this) {
            if (leftToEngine.isPresent()) {
                return;
            }
            leftToEngine = Optional.of(why);
        }
        plans.invalidateAll();
        logger.warn("{} runs in the engine's own memory from now on: {}", file.name(), why);
    }

    /** Returns why all interpreters are stock ones, if they are. */
    Optional<String> leftToEngine() {
        return leftToEngine;
    }

    private void resize(EngineSession session, List<List<Integer>> shapes) {
        for (int i = 0; i < shapes.size(); i++) {
            List<Integer> inFile = file.tensors().get(file.inputs().get(i)).shape();
            if (!shapes.get(i).equals(inFile)) {
                session.resize(i, shapes.get(i));
            }
        }
    }

    private ShapePlan plan(PlanFor key, Graph live) {
        ShapePlan known = plans.getIfPresent(key);
        if (known != null) {
            return known;
        }
        synchronized (plans) {
            known = plans.getIfPresent(key);
            if (known == null) {
                boolean whileLoading = key.shapes().equals(shapesInFile);
                known =
                        new ShapePlan(
                                planner.find(
                                        new PlanFinder.Request(
                                                live, key.candidate().threads(), whileLoading)));
                plans.put(key, known);
            }
            return known;
        }
    }
}
