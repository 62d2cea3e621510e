package org.djlplan.integration.torch;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Tests of PyTorch models on one thread, which must leave no memory in use. */
public interface TorchTests {

    @BeforeEach
    default void oneThread() {
        Torch.threads(1);
    }

    @AfterEach
    default void everythingIsFreed() {
        Torch.assertNoArenas();
    }
}
