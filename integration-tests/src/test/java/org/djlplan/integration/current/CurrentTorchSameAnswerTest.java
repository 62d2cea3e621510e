package org.djlplan.integration.current;

import org.djlplan.integration.torch.answer.TorchSameAnswerTest;
import org.junit.jupiter.api.Tag;

/** {@link TorchSameAnswerTest} on a current DJL. */
@Tag("djl-current")
class CurrentTorchSameAnswerTest extends TorchSameAnswerTest {}
