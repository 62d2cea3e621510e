package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One forward pass that follows a plan: each created array is compared with the plan, and due
 * arrays are closed. After the first difference nothing more is closed early.
 */
final class Replay implements CreationScope.Listener {

    private static final Logger logger = LoggerFactory.getLogger(Replay.class);

    private final ReplayPlan plan;
    private final NDManager root;
    private final Optional<Supplier<Set<NDArray>>> held;
    private final List<NDArray> created;
    private final List<NDManager> managers;
    private final List<ReplayPlan.Form> forms = new ArrayList<>();
    private final Set<NDArray> wanted = Collections.newSetFromMap(new IdentityHashMap<>(2));
    private boolean diverged;
    private int closed;

    /**
     * Prepares a pass.
     *
     * @param root the call's manager
     * @param held finds the arrays that the block currently references; empty if the block is known
     *     to keep none
     */
    Replay(ReplayPlan plan, NDManager root, Optional<Supplier<Set<NDArray>>> held) {
        this.plan = plan;
        this.held = held;
        this.root = root;
        created = new ArrayList<>(plan.size());
        managers = new ArrayList<>(plan.size());
    }

    @Override
    public void created(NDArray array) {
        int number = created.size();
        created.add(array);
        managers.add(array.getManager());
        try {
            ReplayPlan.Form form = ReplayPlan.Form.of(array);
            if (!diverged && plan.admits(number, form)) {
                forms.add(form);
                closeDue(number);
            } else {
                diverged = true;
            }
        } catch (RuntimeException e) {
            // Called by the array's constructor, which must not fail because of djl-plan.
            logger.debug("Cannot follow the plan any further", e);
            diverged = true;
        }
    }

    @Override
    public void unregistered(NDArray array) {
        wanted.add(array);
    }

    /**
     * Ends a completed pass.
     *
     * @param outputs that the block returned
     * @return whether the outputs are intact; otherwise the pass diverged from the recording,
     *     undetected, and must be repeated without closing
     */
    boolean finish(List<NDArray> outputs) {
        wanted.addAll(outputs);
        if (created.size() != plan.size()) {
            diverged = true;
        }
        if (!diverged) {
            closeDue(created.size());
        }
        leave(created);
        for (NDArray output : outputs) {
            if (output != null && output.isReleased() && closed > 0) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether the pass diverged from the recording. */
    boolean diverged() {
        return diverged;
    }

    /** Returns the plan for inputs of these shapes, after a pass that followed a borrowed plan. */
    ReplayPlan learnt() {
        return plan.withForms(forms);
    }

    /** Returns whether arrays were closed early. */
    boolean hasClosed() {
        return closed > 0;
    }

    /** Moves remaining arrays to the scope that user code may have opened around the call. */
    static void leave(List<NDArray> arrays) {
        for (NDArray array : arrays) {
            if (!array.isReleased()) {
                NDScope.register(array);
            }
        }
    }

    private void closeDue(int number) {
        int[] allDue = plan.due(number);
        if (held.isPresent() && allDue.length > 0) {
            wanted.addAll(held.get().get());
        }
        for (int due : allDue) {
            NDArray array = created.get(due);
            if (!array.isReleased()
                    && !wanted.contains(array)
                    && !DirectBuffers.mayUseDirectBuffer(array)
                    && Managers.keepsOwnerDuringPass(managers.get(due), array.getManager(), root)) {
                array.close();
                closed++;
            }
        }
    }
}
