package org.djlplan.memplan.spi;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Collection;
import java.util.Collections;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * A configuration of a model: how it is built, and the number of threads. It is built either by a
 * named recipe, or by giving operators to a delegate, or by neither: as stock.
 *
 * @param recipe name of the rewrite of the model, for example {@code frozen}; empty for none
 * @param operators that the delegate gets: their indices in the graph, in ascending order; empty
 *     for the CPU kernels alone, and with a recipe
 * @param threads the engine's and the delegate's threads per prediction, −1 for their default
 * @param transientBuffers whether the delegate builds its indirection buffers for each prediction
 *     instead of keeping them, which takes less memory and more time
 */
public record Candidate(
        String recipe, SortedSet<Integer> operators, int threads, boolean transientBuffers) {

    public Candidate {
        operators =
                Collections.unmodifiableSortedSet(new TreeSet<>((Collection<Integer>) operators));
        checkArgument(operators.isEmpty() || operators.first() >= 0, "operators: %s", operators);
        checkArgument(threads == -1 || threads > 0, "threads: %s", threads);
        checkArgument(recipe.isEmpty() || operators.isEmpty(), "%s with operators", recipe);
        checkArgument(!transientBuffers || !operators.isEmpty(), "buffers of no delegate");
    }

    /** Creates a candidate that delegates operators. */
    public Candidate(SortedSet<Integer> operators, int threads, boolean transientBuffers) {
        this("", operators, threads, transientBuffers);
    }

    /** Creates a candidate whose delegate keeps its buffers. */
    public Candidate(SortedSet<Integer> operators, int threads) {
        this(operators, threads, false);
    }

    /** Returns stock: the candidate that delegates nothing and has no recipe. */
    public static Candidate cpu(int threads) {
        return ofRecipe("", threads);
    }

    /** Returns the candidate of a recipe. */
    public static Candidate ofRecipe(String recipe, int threads) {
        return new Candidate(recipe, Collections.emptySortedSet(), threads, false);
    }

    /** Returns whether the engine runs the model as it does without djl-plan. */
    public boolean isStock() {
        return recipe.isEmpty() && operators.isEmpty();
    }

    /** Returns whether operators are delegated. */
    public boolean delegates() {
        return !operators.isEmpty();
    }

    /** Returns this candidate with another number of threads. */
    public Candidate withThreads(int other) {
        return new Candidate(recipe, operators, other, transientBuffers);
    }

    /** Returns this candidate with buffers that are built for each prediction. */
    public Candidate withTransientBuffers() {
        return new Candidate(operators, threads, true);
    }

    /**
     * Written out, because a record's generated methods cost a new JVM 15 ms at their first use.
     */
    @Override
    public final boolean equals(Object other) {
        return this == other
                || (other instanceof Candidate candidate
                        && recipe.equals(candidate.recipe)
                        && threads == candidate.threads
                        && transientBuffers == candidate.transientBuffers
                        && operators.equals(candidate.operators));
    }

    @Override
    public final int hashCode() {
        return Objects.hash(recipe, operators, threads, transientBuffers);
    }
}
