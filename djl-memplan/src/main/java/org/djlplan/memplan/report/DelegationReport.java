package org.djlplan.memplan.report;

import java.util.List;

/** The operators of a model that run in the engine's delegate, and the reason for this choice. */
public interface DelegationReport {

    /** The origin of a choice. */
    enum Origin {
        /** Nothing was measured; the choice is the CPU kernels. */
        UNVERIFIED,
        /** Its outputs were compared with the CPU kernels'; other sets may be better. */
        VERIFIED,
        /** Measured now. */
        MEASURED,
        /** Measured earlier and stored. */
        STORED
    }

    /** Returns the name of the delegate. */
    String delegate();

    /** Returns the number of operators of the model. */
    int operators();

    /** Returns the number of delegated operators. */
    int delegatedOperators();

    /**
     * Returns the number of delegate kernels; 0 as long as only other shapes than those in the file
     * were predicted.
     */
    int partitions();

    /** Returns the threads per prediction, −1 for the engine's default. */
    int threads();

    /** Returns the origin of the choice. */
    Origin origin();

    /** Returns the reason of the choice, in one line. */
    String reason();

    /**
     * Returns an identifier of the choice among all choices for this model: 12 hexadecimal digits,
     * a hash of engine, delegate, acceptance rule, and all operators and thread counts that may
     * serve. It is equal in every JVM with the same choice.
     */
    String choiceId();

    /**
     * Returns the measured differences of its outputs from the CPU kernels'; empty if nothing is
     * delegated.
     */
    List<OutputAgreement> outputs();

    /**
     * Returns, in one line, which kernels run inputs of other shapes than in the file, and why;
     * empty if other shapes were not measured, so that the CPU kernels run them.
     */
    String otherShapes();

    /**
     * Returns the report for people: a line for the delegated operators, one per output, and one
     * for other shapes if they were measured.
     */
    @Override
    String toString();
}
