package org.djlplan.delegation.explain;

/** What is known of the operators that a delegate takes. */
@FunctionalInterface
public interface DelegateRules {

    /** A delegate of which nothing is known. */
    DelegateRules UNKNOWN = operator -> "the delegate does not take it";

    /**
     * Returns why the delegate does not take an operator, for one that it does not take.
     *
     * @param operator its place in the graph
     */
    String refusal(int operator);
}
