package org.djlplan.integration.contract;

import org.djlplan.integration.support.Freed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A part of the contract. After each test, no memory of models is left. */
interface Contract {

    /** Returns the engine that is tested. */
    EngineCase engine();

    @BeforeEach
    default void prepareThread() {
        engine().prepareThread();
    }

    @AfterEach
    default void everythingIsFreed() {
        Freed.assertEverything();
    }
}
