package org.djlplan.memplan.internal.runtime.tflite;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.plan.EvaluatedPlan;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.Keeping;
import org.djlplan.memplan.internal.runtime.RecentMap;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.NativeDelegate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Builds interpreters of one model: planned for their input shapes, or stock (in the engine's own
 * memory) if planning fails.
 */
public final class InterpreterFactory {

    private static final Logger logger = LoggerFactory.getLogger(InterpreterFactory.class);
    private static final int KEPT_REASONS = 256;

    private final EngineSession.Source sessions;
    private final Graph file;
    private final DelegateFactory delegates;
    private final ArenaPool arenas;
    private final boolean shares;
    private final PackedWeights packedWeights;
    private final List<Integer> plannable;
    private final List<List<Integer>> shapesInFile;
    private final Placements placements;

    /**
     * Why interpreters for some shapes are stock ones. Limited, because a caller may use any number
     * of shapes.
     */
    private final Map<List<List<Integer>>, String> unplannable = RecentMap.ofMost(KEPT_REASONS);

    private volatile Optional<String> leftToEngine = Optional.empty();

    /**
     * @param sessions makes the engine's sessions of the model; outlives this factory
     * @param file the graph in the model's file
     * @param planner plans the graph that the engine executes
     * @param delegates make a delegate for each interpreter that needs one
     * @param arenas where planned interpreters lease their arenas
     * @param shares whether delegates share workspaces with other models, and packed weights with
     *     one another, if the engine allows it
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
        this.delegates = delegates;
        this.arenas = arenas;
        this.shares = shares;
        placements = new Placements(planner);
        packedWeights = new PackedWeights(file);
        plannable = EngineView.plannable(file, sessions.placesOutputs());
        List<List<Integer>> shapes = new ArrayList<>(file.inputs().size());
        for (int id : file.inputs()) {
            shapes.add(file.tensors().get(id).shape());
        }
        shapesInFile = Collections.unmodifiableList(shapes);
    }

    /** Makes a plan for the next shapes, because those in the file are placeholders. */
    public void planNext() {
        placements.planNext();
    }

    /**
     * Counts a prediction for whose shapes an interpreter is built or reallocated: shapes that
     * occur often are planned. An interpreter that is built ahead of predictions does not count.
     */
    public void noteUse(List<List<Integer>> shapes) {
        placements.noteUse(shapes);
    }

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
        } catch (PackedWeightsMissedException e) {
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
            Placements.Placer placer =
                    unplanned.isPresent() ? Placements.Placer.PLAN : placer(shapes);
            if (placer == Placements.Placer.PLAN
                    || !fit(interpreter, shapes, live.nodes(), placer)) {
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

    /** Places the tensors of an allocated session. */
    private void place(
            ModelInterpreter interpreter,
            List<List<Integer>> shapes,
            EngineView.Live live,
            Optional<String> unplanned)
            throws UnplannableException {
        Optional<Placements.Placement> placement =
                unplanned.isPresent()
                        ? Optional.empty()
                        : Optional.of(placements.plan(shapes, interpreter, toPlan(live)));
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
            Optional<Placements.Placement> placement,
            Optional<String> unplanned) {
        Optional<EvaluatedPlan> plan =
                placement.isPresent() ? Optional.of(placement.get().plan()) : Optional.empty();
        long bytes = plan.isPresent() ? plan.get().plan().totalBytes() : 0;
        interpreter.allocated(
                shapes,
                nodes,
                tensors,
                new SessionTensors(
                        file,
                        tensors,
                        i -> placement.orElseThrow().plan().plan().offsetOf(file.outputs().get(i))),
                new ModelInterpreter.Places(plan, unplanned, bytes),
                need(interpreter, shapes, bytes),
                shapes != shapesInFile);
    }

    /** Places tensors by a known plan. Returns false if there is none, or if it does not fit. */
    private boolean placeAsKept(ModelInterpreter interpreter, List<List<Integer>> shapes) {
        Optional<Placements.Placement> kept = placements.kept(shapes, interpreter);
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

    /** Returns the right to lease arenas. All shapes other than the file's share one. */
    private Optional<ArenaPool.Need> need(
            ModelInterpreter interpreter, List<List<Integer>> shapes, long bytes) {
        if (bytes == 0) {
            return Optional.empty();
        }
        return Optional.of(
                shapes == shapesInFile
                        ? arenas.announce(bytes)
                        : interpreter
                                .growingNeed()
                                .orElseGet(() -> arenas.announceAny(Keeping.LONG)));
    }

    /**
     * Makes the native library find places.
     *
     * @param nodes that the session executes, the same at all shapes
     * @return whether it found places that a plan would not clearly improve
     */
    private boolean fit(
            ModelInterpreter interpreter,
            List<List<Integer>> shapes,
            List<EngineSession.LiveNode> nodes,
            Placements.Placer placer) {
        Optional<EngineSession.Fitted> fitted = interpreter.session().fit();
        if (fitted.isEmpty() || (placer == Placements.Placer.PLAN_WASTE && fitted.get().wastes())) {
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

    private Placements.Placer placer(List<List<Integer>> shapes) {
        return placements.placer(shapes, shapes == shapesInFile);
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
     * Allocates an interpreter that {@link #reshapes} for other shapes. If that fails, it can only
     * be closed.
     *
     * @throws UnplannableException if it cannot be planned (see {@link #giveUp})
     */
    public void reshape(ModelInterpreter interpreter, List<List<Integer>> shapes)
            throws UnplannableException {
        List<List<Integer>> wanted = canonical(shapes);
        resize(interpreter.session(), interpreter.shapes(), wanted);
        interpreter.session().allocate();
        interpreter.shareWorkspace();
        Placements.Placer placer = placer(wanted);
        if (placeAsKept(interpreter, wanted)) {
            return;
        }
        if (placer == Placements.Placer.PLAN
                || !fit(interpreter, wanted, interpreter.nodes(), placer)) {
            place(
                    interpreter,
                    wanted,
                    EngineView.live(file, interpreter.session()),
                    Optional.empty());
        }
    }

    /** Returns to the system the arena memory that only closed interpreters needed. */
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
        placements.clear();
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
                new TreeSet<>(
                        live.graph().outputs().stream()
                                .filter(id -> live.tensors().get(id).ours())
                                .toList()));
    }
}
