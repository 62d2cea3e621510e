package org.djlplan.memplan.internal.runtime.tflite;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.plan.EvaluatedPlan;
import org.djlplan.memplan.internal.runtime.RecentMap;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.spi.Candidate;

/**
 * Decides for each list of input shapes whether the native library or a plan places a model's
 * tensors, and makes and keeps the plans. Planning takes long compared with a prediction, so only
 * the shapes in the file and frequent shapes get a plan. The most recently used plans are kept. One
 * thread at a time plans. Thread-safe.
 */
final class Placements {

    private static final int KEPT_PLANS = 64;

    /** The number of shapes whose uses are counted. */
    private static final int KEPT_SHAPES = 256;

    /** Shapes that occur this often get a plan of the portfolio, if that can need less memory. */
    private static final int OFTEN = 64;

    private final PlanFinder planner;

    /** Held while the strategies plan, so that one thread at a time does. */
    private final Object planning = new Object();

    private final Map<Map.Entry<List<List<Integer>>, Candidate>, Placement> plans =
            RecentMap.ofMost(KEPT_PLANS);

    /** How often an interpreter had to be allocated for the shapes of a prediction. */
    private final Map<List<List<Integer>>, Integer> uses = RecentMap.ofMost(KEPT_SHAPES);

    private final AtomicBoolean planNext = new AtomicBoolean();

    /** What places the tensors of an interpreter. */
    enum Placer {
        /** The native library. */
        FIT,
        /** A plan, if the native library's places need clearly more memory than necessary. */
        PLAN_WASTE,
        /** A plan. */
        PLAN
    }

    /** A plan in the format of the native library. */
    static final class Placement {

        private final EvaluatedPlan plan;
        private final int[] ids;
        private final long[] offsets;

        private Placement(EvaluatedPlan plan) {
            this.plan = plan;
            List<UsageRecord> records = plan.plan().problem().records();
            ids = new int[records.size()];
            offsets = new long[ids.length];
            for (int i = 0; i < ids.length; i++) {
                ids[i] = records.get(i).tensor();
                offsets[i] = plan.plan().offsetOf(ids[i]);
            }
        }

        EvaluatedPlan plan() {
            return plan;
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
     * @param planner plans the graph that the engine executes
     */
    Placements(PlanFinder planner) {
        this.planner = planner;
    }

    /** Makes a plan for the next shapes, because those in the file are placeholders. */
    void planNext() {
        planNext.set(true);
    }

    /** Counts a prediction with inputs of these shapes. */
    void noteUse(List<List<Integer>> shapes) {
        uses.merge(shapes, 1, Integer::sum);
    }

    /**
     * Returns what places the tensors for inputs of these shapes.
     *
     * @param inFile whether these are the shapes in the model's file
     */
    Placer placer(List<List<Integer>> shapes, boolean inFile) {
        if (inFile || planNext.getAndSet(false)) {
            return Placer.PLAN;
        }
        return uses.getOrDefault(shapes, 0) >= OFTEN ? Placer.PLAN_WASTE : Placer.FIT;
    }

    /** Returns the plan for these shapes and an interpreter's candidate, if there is one. */
    Optional<Placement> kept(List<List<Integer>> shapes, ModelInterpreter interpreter) {
        return Optional.ofNullable(plans.get(key(shapes, interpreter)));
    }

    /**
     * Returns the plan for these shapes and an interpreter's candidate, and makes it if there is
     * none.
     *
     * @param live the graph that the engine executes
     */
    Placement plan(List<List<Integer>> shapes, ModelInterpreter interpreter, Graph live) {
        Map.Entry<List<List<Integer>>, Candidate> key = key(shapes, interpreter);
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

    private static Map.Entry<List<List<Integer>>, Candidate> key(
            List<List<Integer>> shapes, ModelInterpreter interpreter) {
        Candidate candidate = interpreter.candidate();
        return Map.entry(
                shapes, interpreter.delegates() ? candidate : Candidate.cpu(candidate.threads()));
    }

    /** Forgets all plans. */
    void clear() {
        plans.clear();
    }
}
