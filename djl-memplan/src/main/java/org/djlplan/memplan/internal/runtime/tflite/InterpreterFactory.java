package org.djlplan.memplan.internal.runtime.tflite;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.RecentMap;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Builds interpreters of one model: planned for their input shapes, or stock if that fails. */
public final class InterpreterFactory {

    private static final Logger logger = LoggerFactory.getLogger(InterpreterFactory.class);
    private static final int KEPT_PLANS = 64;
    private static final int KEPT_REASONS = 256;

    /** The number of shapes whose uses are counted. */
    private static final int KEPT_SHAPES = 256;

    /** Shapes that occur this often get a plan of the portfolio, if that can need less memory. */
    private static final int OFTEN = 64;

    /** Who places the tensors of an interpreter. */
    private enum Placer {
        /** The native library. */
        FIT,
        /** A plan, if places of the native library need clearly more than they might. */
        PLAN_WASTE,
        /** A plan. */
        PLAN
    }

    private final EngineSession.Source sessions;
    private final Graph file;
    private final PlanFinder planner;
    private final DelegateFactory delegates;
    private final ArenaPool arenas;
    private final boolean shares;
    private final PackedWeights packedWeights;
    private final List<Integer> plannable;
    private final List<List<Integer>> shapesInFile;
    private final Object planning = new Object();

    /** Plans by input shapes and candidate. */
    private final Map<Map.Entry<List<List<Integer>>, Candidate>, Placement> plans =
            RecentMap.ofMost(KEPT_PLANS);

    /** How often interpreters were allocated for shapes other than the file's. */
    private final Map<List<List<Integer>>, Integer> seen = RecentMap.ofMost(KEPT_SHAPES);

    /** Why interpreters for some shapes are stock ones; as many as a caller's shapes may fill. */
    private final Map<List<List<Integer>>, String> unplannable = RecentMap.ofMost(KEPT_REASONS);

    private final AtomicBoolean planNext = new AtomicBoolean();
    private volatile Optional<String> leftToEngine = Optional.empty();

    /** A plan in the format of the native library. */
    private static final class Placement {

        private final EvaluatedPlan plan;
        private final int[] ids;
        private final long[] offsets;

        Placement(EvaluatedPlan plan) {
            this.plan = plan;
            List<UsageRecord> records = plan.plan().problem().records();
            ids = new int[records.size()];
            offsets = new long[ids.length];
            for (int i = 0; i < ids.length; i++) {
                ids[i] = records.get(i).tensor();
                offsets[i] = plan.plan().offsetOf(ids[i]);
            }
        }

        /** Uses the plan if the sizes of all tensors equal the planned ones. */
        boolean fits(EngineSession session, List<EngineSession.LiveTensor> tensors) {
            List<UsageRecord> records = plan.plan().problem().records();
            for (int i = 0; i < ids.length; i++) {
                if (ids[i] >= tensors.size()
                        || tensors.get(ids[i]).bytes() > records.get(i).bytes()) {
                    return false;
                }
            }
            return session.place(ids, offsets, plan.plan().totalBytes());
        }
    }

    /**
     * @param sessions makes the engine's sessions of the model; outlives this factory
     * @param file the graph in the model's file
     * @param planner plans the graph that the engine executes
     * @param delegates make a delegate for each interpreter that needs one
     * @param arenas where planned interpreters lease their arenas
     * @param shares whether delegates share workspaces with other models, and packed weights with
     *     one another, where the engine allows it
     */
    public InterpreterFactory(
            EngineSession.Source sessions,
            Graph file,
            PlanFinder planner,
            DelegateFactory delegates,
            ArenaPool arenas,
            boolean shares) {
        this.sessions = sessions;
        this.file = file;
        this.planner = planner;
        this.delegates = delegates;
        this.arenas = arenas;
        this.shares = shares;
        packedWeights = new PackedWeights(file);
        plannable = EngineView.plannable(file, sessions.placesOutputs());
        List<List<Integer>> shapes = new ArrayList<>(file.inputs().size());
        for (int id : file.inputs()) {
            shapes.add(file.tensors().get(id).shape());
        }
        shapesInFile = Collections.unmodifiableList(shapes);
    }

    /** Has the next shapes planned, whatever they are: those in the file are placeholders. */
    public void planNext() {
        planNext.set(true);
    }

    /** Returns the shapes of the inputs in the file. */
    public List<List<Integer>> shapesInFile() {
        return shapesInFile;
    }

    /**
     * Returns an interpreter for a candidate.
     *
     * @param timed whether the time of each node is taken
     * @throws UnplannableException if it cannot be planned (see {@link #giveUp}), or the delegate
     *     refuses
     */
    public ModelInterpreter build(List<List<Integer>> shapes, Candidate candidate, boolean timed)
            throws UnplannableException {
        return buildFor(canonical(shapes), candidate, timed);
    }

    private ModelInterpreter buildFor(
            List<List<Integer>> shapes, Candidate candidate, boolean timed)
            throws UnplannableException {
        if (!candidate.delegates()) {
            return build(shapes, candidate, timed, Optional.empty(), Optional.empty());
        }
        Optional<PackedWeights.Share> packed =
                shares && Delegates.packs(delegates)
                        ? packedWeights.share(candidate.operators())
                        : Optional.empty();
        try {
            return delegating(shapes, candidate, timed, packed);
        } catch (UnplannableException e) {
            if (packed.filter(PackedWeights.Share::found).isEmpty()) {
                throw e;
            }
            packed.get().refuse();
            return delegating(shapes, candidate, timed, Optional.empty());
        }
    }

    private ModelInterpreter delegating(
            List<List<Integer>> shapes,
            Candidate candidate,
            boolean timed,
            Optional<PackedWeights.Share> packed)
            throws UnplannableException {
        NativeDelegate delegate = Delegates.create(delegates, candidate, packed);
        try {
            return build(shapes, candidate, timed, Optional.of(delegate), packed);
        } catch (UnplannableException | RuntimeException | Error e) {
            delegate.close();
            throw e;
        }
    }

    private ModelInterpreter build(
            List<List<Integer>> shapes,
            Candidate candidate,
            boolean timed,
            Optional<NativeDelegate> delegate,
            Optional<PackedWeights.Share> packed)
            throws UnplannableException {
        Optional<String> unplanned =
                leftToEngine.isPresent()
                        ? leftToEngine
                        : Optional.ofNullable(unplannable.get(shapes));
        EngineSession.Spec spec =
                new EngineSession.Spec(
                        candidate.threads(),
                        unplanned.isPresent() ? Optional.empty() : Optional.of(plannable),
                        delegate.map(
                                d ->
                                        new EngineSession.Delegated(
                                                d,
                                                candidate.operators(),
                                                shapes == shapesInFile ? List.of() : shapes)),
                        timed);
        EngineSession session = sessions.open(spec);
        Optional<ModelInterpreter> built = Optional.empty();
        try {
            if (packed.isPresent()) {
                packed.get().finish();
            }
            resize(session, shapesInFile, shapes);
            session.allocate();
            EngineView.Live live = EngineView.live(file, session);
            EngineView.requireChosen(
                    live.nodes(), delegate.isPresent() ? candidate.operators() : Set.of());
            built = Optional.of(new ModelInterpreter(session, delegate, candidate, shares));
            ModelInterpreter interpreter = built.get();
            interpreter.shareWorkspace();
            Placer placer = unplanned.isPresent() ? Placer.PLAN : note(shapes);
            if (placer == Placer.PLAN || !fit(interpreter, shapes, live.nodes(), placer)) {
                place(interpreter, shapes, live, unplanned);
            }
            return interpreter;
        } catch (UnplannableException | RuntimeException | Error e) {
            if (built.isPresent()) {
                built.get().close();
            } else {
                session.close();
            }
            throw e;
        }
    }

    /** Gives the tensors of an allocated session their places. */
    private void place(
            ModelInterpreter interpreter,
            List<List<Integer>> shapes,
            EngineView.Live live,
            Optional<String> unplanned)
            throws UnplannableException {
        Optional<Placement> placement =
                unplanned.isPresent()
                        ? Optional.empty()
                        : Optional.of(plan(key(interpreter, shapes), toPlan(live)));
        if (placement.isPresent() && !placement.get().fits(interpreter.session(), live.tensors())) {
            throw new UnplannableException(interpreter.session().error());
        }
        place(interpreter, shapes, live.nodes(), live.tensors(), placement, unplanned);
    }

    private void place(
            ModelInterpreter interpreter,
            List<List<Integer>> shapes,
            List<EngineSession.LiveNode> nodes,
            List<EngineSession.LiveTensor> tensors,
            Optional<Placement> placement,
            Optional<String> unplanned) {
        Optional<EvaluatedPlan> plan =
                placement.isPresent() ? Optional.of(placement.get().plan) : Optional.empty();
        long bytes = plan.isPresent() ? plan.get().plan().totalBytes() : 0;
        interpreter.allocated(
                shapes,
                nodes,
                tensors,
                new SessionTensors(
                        file,
                        tensors,
                        i -> placement.orElseThrow().plan.plan().offsetOf(file.outputs().get(i))),
                new ModelInterpreter.Places(plan, unplanned, bytes),
                need(interpreter, shapes, bytes),
                shapes != shapesInFile);
    }

    /** Places tensors by a known plan. Returns false if there is none, or if it does not fit. */
    private boolean placeAsKept(ModelInterpreter interpreter, List<List<Integer>> shapes) {
        Optional<Placement> kept = Optional.ofNullable(plans.get(key(interpreter, shapes)));
        if (kept.isEmpty()) {
            return false;
        }
        List<EngineSession.LiveTensor> tensors = interpreter.session().tensors();
        if (!kept.get().fits(interpreter.session(), tensors)) {
            return false;
        }
        place(interpreter, shapes, interpreter.nodes(), tensors, kept, Optional.empty());
        return true;
    }

    private static Map.Entry<List<List<Integer>>, Candidate> key(
            ModelInterpreter interpreter, List<List<Integer>> shapes) {
        Candidate candidate = interpreter.candidate();
        return Map.entry(
                shapes, interpreter.delegates() ? candidate : Candidate.cpu(candidate.threads()));
    }

    /** Returns the right to lease arenas. All shapes other than the file's have one in common. */
    private Optional<ArenaPool.Need> need(
            ModelInterpreter interpreter, List<List<Integer>> shapes, long bytes) {
        if (bytes == 0) {
            return Optional.empty();
        }
        return Optional.of(
                shapes == shapesInFile
                        ? arenas.announce(bytes)
                        : interpreter.growingNeed().orElseGet(arenas::announceAny));
    }

    /**
     * Has the native library find places.
     *
     * @param nodes that the session executes, as at its other shapes
     * @return whether it found some, and a plan would not pay
     */
    private boolean fit(
            ModelInterpreter interpreter,
            List<List<Integer>> shapes,
            List<EngineSession.LiveNode> nodes,
            Placer placer) {
        Optional<EngineSession.Fitted> fitted = interpreter.session().fit();
        if (fitted.isEmpty() || (placer == Placer.PLAN_WASTE && fitted.get().wastes())) {
            return false;
        }
        List<EngineSession.LiveTensor> tensors = interpreter.session().tensors();
        long bytes = fitted.get().arenaBytes();
        interpreter.allocated(
                shapes,
                nodes,
                tensors,
                new SessionTensors(file, tensors, i -> fitted.get().outputOffsets()[i]),
                new ModelInterpreter.Places(Optional.empty(), Optional.empty(), bytes),
                need(interpreter, shapes, bytes),
                true);
        return true;
    }

    /** Counts that there are inputs of these shapes, and returns when a plan pays for them. */
    private Placer note(List<List<Integer>> shapes) {
        boolean often = seen.merge(shapes, 1, Integer::sum) >= OFTEN;
        if (shapes == shapesInFile || planNext.getAndSet(false)) {
            return Placer.PLAN;
        }
        return often ? Placer.PLAN_WASTE : Placer.FIT;
    }

    /** Returns the same list for the shapes in the file. */
    private List<List<Integer>> canonical(List<List<Integer>> shapes) {
        return shapes.equals(shapesInFile) ? shapesInFile : shapes;
    }

    /**
     * Returns whether an interpreter can be allocated for other shapes. It needs a plan. If it
     * delegates, it must not be the one for the shapes in the file, because that one's delegate
     * shares memory with others.
     */
    public boolean reshapes(ModelInterpreter interpreter, List<List<Integer>> shapes) {
        return interpreter.planned()
                && leftToEngine.isEmpty()
                && !unplannable.containsKey(shapes)
                && (!interpreter.delegates()
                        || (!interpreter.hasShapesInFile() && !shapes.equals(shapesInFile)));
    }

    /**
     * Allocates an interpreter that {@link #reshapes} for other shapes. If that fails, it is only
     * good for closing.
     *
     * @throws UnplannableException if it cannot be planned (see {@link #giveUp})
     */
    public void reshape(ModelInterpreter interpreter, List<List<Integer>> shapes)
            throws UnplannableException {
        List<List<Integer>> wanted = canonical(shapes);
        resize(interpreter.session(), interpreter.shapes(), wanted);
        interpreter.session().allocate();
        interpreter.shareWorkspace();
        Placer placer = note(wanted);
        if (placeAsKept(interpreter, wanted)) {
            return;
        }
        if (placer == Placer.PLAN || !fit(interpreter, wanted, interpreter.nodes(), placer)) {
            place(
                    interpreter,
                    wanted,
                    EngineView.live(file, interpreter.session()),
                    Optional.empty());
        }
    }

    /** Gives back arena memory that only closed interpreters needed. */
    public void trimArenas() {
        arenas.trimAll();
    }

    /**
     * From now on, interpreters for these shapes are stock ones.
     *
     * @return false if they were already
     */
    public boolean giveUp(List<List<Integer>> shapes, String why) {
        boolean first = unplannable.putIfAbsent(shapes, String.valueOf(why)) == null;
        if (first) {
            logger.warn("{}: input shapes {} are not planned: {}", file.name(), shapes, why);
        }
        return first;
    }

    /** From now on, all interpreters are stock ones; one warning says why. */
    public void leaveToEngine(String why) {
        synchronized (this) {
            if (leftToEngine.isPresent()) {
                return;
            }
            leftToEngine = Optional.of(why);
        }
        plans.clear();
        logger.warn("{} runs in the engine's own memory from now on: {}", file.name(), why);
    }

    /** Returns why all interpreters are stock ones, if they are. */
    public Optional<String> leftToEngine() {
        return leftToEngine;
    }

    private static void resize(
            EngineSession session, List<List<Integer>> before, List<List<Integer>> shapes) {
        for (int i = 0; i < shapes.size(); i++) {
            if (!shapes.get(i).equals(before.get(i))) {
                session.resize(i, shapes.get(i));
            }
        }
    }

    private static Graph toPlan(EngineView.Live live) {
        return EngineView.withReadOutputs(
                live.graph(),
                ImmutableSortedSet.copyOf(
                        live.graph().outputs().stream()
                                .filter(id -> live.tensors().get(id).ours())
                                .toList()));
    }

    private Placement plan(Map.Entry<List<List<Integer>>, Candidate> key, Graph live) {
        Placement known = plans.get(key);
        if (known != null) {
            return known;
        }
        synchronized (planning) {
            known = plans.get(key);
            if (known == null) {
                known = new Placement(planner.find(live));
                plans.put(key, known);
            }
            return known;
        }
    }
}
