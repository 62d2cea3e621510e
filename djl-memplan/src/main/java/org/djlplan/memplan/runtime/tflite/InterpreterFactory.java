package org.djlplan.memplan.runtime.tflite;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import com.google.common.collect.Sets;
import com.sun.jna.Pointer;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.plan.portfolio.MemoryPlanner;
import org.djlplan.memplan.runtime.ArenaPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Builds interpreters of one model: planned for their input shapes, or stock where that fails. */
final class InterpreterFactory {

    private static final Logger logger = LoggerFactory.getLogger(InterpreterFactory.class);
    private static final int KEPT_PLANS = 64;

    private final Pointer model;
    private final Graph file;
    private final RuntimeOptions options;
    private final ArenaPool arenas;
    private final List<Integer> plannable;
    private final Cache<List<List<Integer>>, ShapePlan> plans =
            CacheBuilder.newBuilder().maximumSize(KEPT_PLANS).build();
    private final Set<List<List<Integer>>> unplannable = Sets.newConcurrentHashSet();

    /**
     * @param model the engine's model, which outlives this factory
     * @param file its graph as the file has it
     */
    InterpreterFactory(Pointer model, Graph file, RuntimeOptions options) {
        this.model = model;
        this.file = file;
        this.options = options;
        arenas = options.sharedArena() ? ArenaPool.shared() : new ArenaPool();
        plannable = LiveGraph.plannable(file);
    }

    /**
     * Returns an interpreter for these input shapes.
     *
     * @throws UnplannableException if it cannot be planned; see {@link #giveUp}
     */
    PlannedInterpreter build(List<List<Integer>> shapes) throws UnplannableException {
        boolean stock = unplannable.contains(shapes);
        TfLiteSession session =
                TfLiteSession.create(
                        model, options.threads(), stock ? List.of() : plannable, !stock);
        try {
            resize(session, shapes);
            session.allocate();
            Graph live = LiveGraph.of(file, session);
            Optional<ShapePlan> plan = stock ? Optional.empty() : Optional.of(plan(shapes, live));
            if (plan.isPresent() && !plan.get().place(session)) {
                throw new UnplannableException(session.error());
            }
            return new PlannedInterpreter(
                    session, live, shapes, plan, plan.flatMap(p -> p.announce(arenas)));
        } catch (UnplannableException | RuntimeException e) {
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
        boolean first = unplannable.add(shapes);
        if (first) {
            logger.warn("{}: input shapes {} are not planned: {}", file.name(), shapes, why);
        }
        return first;
    }

    private void resize(TfLiteSession session, List<List<Integer>> shapes) {
        for (int i = 0; i < shapes.size(); i++) {
            List<Integer> inFile = file.tensors().get(file.inputs().get(i)).shape();
            if (!shapes.get(i).equals(inFile)) {
                session.resize(i, shapes.get(i));
            }
        }
    }

    private ShapePlan plan(List<List<Integer>> shapes, Graph live) {
        ShapePlan known = plans.getIfPresent(shapes);
        if (known != null) {
            return known;
        }
        synchronized (plans) {
            known = plans.getIfPresent(shapes);
            if (known == null) {
                known =
                        new ShapePlan(
                                MemoryPlanner.plan(live, options.strategy(), options.inPlace()));
                plans.put(shapes, known);
            }
            return known;
        }
    }
}
