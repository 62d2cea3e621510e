package org.djlplan.memplan.store;

import java.util.Optional;

/**
 * Keeps plans between runs of a JVM. Never throws for what is wrong with a file, a folder or a
 * disk: that is reported in a warning, once, and the plan is made anew.
 */
public interface PlanStore {

    /** Returns the plan that was saved under an equal key, if it is intact. */
    Optional<StoredPlan> load(PlanKey key);

    /** Keeps a plan; one saved under an equal key before is replaced. */
    void save(PlanKey key, StoredPlan plan);
}
